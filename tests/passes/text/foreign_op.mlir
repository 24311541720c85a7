// RUN: not infc_opt %s 2>&1 | FileCheck %s
// CHECK: error: an operation that is neither infc's nor func.call or func.return
func.func @main(%x: tensor<3xf32>) -> tensor<3xf32> {
  %0 = func.constant @main : (tensor<3xf32>) -> tensor<3xf32>
  return %x : tensor<3xf32>
}
