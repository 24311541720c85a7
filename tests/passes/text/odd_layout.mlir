// RUN: not infc_opt %s 2>&1 | FileCheck %s
// CHECK: error: argument 0: unknown layout
func.func @main(%x: tensor<3xf32, "sideways">) -> tensor<3xf32, "sideways"> {
  return %x : tensor<3xf32, "sideways">
}
