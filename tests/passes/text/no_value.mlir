// RUN: not infc_opt %s 2>&1 | FileCheck %s
// CHECK: error: weight: text holds no value for it
func.func @main(%x: tensor<1xf32>) -> tensor<1xf32> {
  %0 = "infc.weight"() {id = 0 : i64} : () -> tensor<1xf32>
  return %0 : tensor<1xf32>
}
