// RUN: not infc_opt %s 2>&1 | FileCheck %s
// CHECK: error: argument 0: unknown element type
func.func @main(%x: index) -> index {
  return %x : index
}
