// RUN: not infc_opt %s 2>&1 | FileCheck %s
// CHECK: error: only @main may call functions
func.func @main(%x: tensor<3xf32>) -> tensor<3xf32> {
  %0 = func.call @again(%x) : (tensor<3xf32>) -> tensor<3xf32>
  return %0 : tensor<3xf32>
}
func.func private @again(%x: tensor<3xf32>) -> tensor<3xf32> {
  %0 = func.call @again(%x) : (tensor<3xf32>) -> tensor<3xf32>
  return %0 : tensor<3xf32>
}
