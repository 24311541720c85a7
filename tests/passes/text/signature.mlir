// RUN: not infc_opt %s 2>&1 | FileCheck %s
// CHECK: error: {{.*}}operand type mismatch
func.func @main(%x: tensor<3xf32>) -> tensor<3xf32> {
  %0 = func.call @other(%x) : (tensor<3xf32>) -> tensor<3xf32>
  return %0 : tensor<3xf32>
}
func.func private @other(%x: tensor<4xf32>) -> tensor<3xf32> {
  %0 = "infc.weight"() {value = dense<1.0> : tensor<3xf32>} : () -> tensor<3xf32>
  return %0 : tensor<3xf32>
}
