// RUN: not infc_opt %s 2>&1 | FileCheck %s
// CHECK: input.mlir: error: there is no @main
func.func @other(%x: tensor<1xf32>) -> tensor<1xf32> {
  return %x : tensor<1xf32>
}
