// RUN: not infc_opt %s 2>&1 | FileCheck %s
// CHECK: error: weight: the value is f32[2], the result f32[1]
func.func @main(%x: tensor<1xf32>) -> tensor<1xf32> {
  %0 = "infc.weight"() {value = dense<1.0> : tensor<2xf32>} : () -> tensor<1xf32>
  return %0 : tensor<1xf32>
}
