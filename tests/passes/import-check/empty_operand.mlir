// RUN: not infc_opt %s --only import-check 2>&1 | FileCheck %s
// Returned, but an op takes it too.

// CHECK-DAG: error: output 0, f32[0,4], has no elements; empty tensors are not supported
// CHECK-DAG: error: tensor "z", f32[0,4], has no elements; empty tensors are not supported
func.func @main(%x: tensor<4xf32> {infc.name = "x"}) -> (tensor<4xf32> {infc.name = "y"}, tensor<0x4xf32> {infc.name = "nothing"}) {
  %c = "infc.weight"() {value = dense<> : tensor<0x4xf32>} : () -> tensor<0x4xf32>
  %0 = "infc.map1"(%x) {fn = "neg", out = "y"} : (tensor<4xf32>) -> tensor<4xf32>
  %1 = "infc.map1"(%c) {fn = "neg", out = "z"} : (tensor<0x4xf32>) -> tensor<0x4xf32>
  return %0, %c : tensor<4xf32>, tensor<0x4xf32>
}
