// RUN: not infc_opt %s 2>&1 | FileCheck %s
// CHECK: input.mlir:4:{{[0-9]+}}: error: expected
func.func @main(%x: tensor<1xf32>) -> tensor<1xf32> {
  return %x : tensor<
}
