// RUN: not infc_opt %s 2>&1 | FileCheck %s
// CHECK: error: @main may not call itself
func.func @main(%x: tensor<3xf32>) -> tensor<3xf32> {
  %0 = func.call @main(%x) : (tensor<3xf32>) -> tensor<3xf32>
  return %0 : tensor<3xf32>
}
