// RUN: not infc_opt %s 2>&1 | FileCheck %s
// CHECK: error: argument 0: dimension 0 is negative
func.func @main(%x: tensor<?x3xf32>) -> tensor<?x3xf32> {
  return %x : tensor<?x3xf32>
}
