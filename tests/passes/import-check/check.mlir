// RUN: not infc_opt %s --only import-check 2>&1 | FileCheck %s
// All problems at once, warnings among them.

// CHECK-DAG: warning: input "unused" is not used
// CHECK-DAG: error: tensor "empty", f32[0,4], has no elements; empty tensors are not supported
// CHECK-DAG: error: output 0, f32[0,4], has no elements; empty tensors are not supported
// CHECK-DAG: error: another tensor is named "twice" too
// CHECK-DAG: error: another tensor is named "x" too
// CHECK-DAG: error: two outputs are named "out"
// CHECK-DAG: warning: output "constant" is the same for all inputs
func.func @main(%x: tensor<4xf32> {infc.name = "x"}, %u: tensor<4xf32> {infc.name = "unused"}, %e: tensor<0x4xf32> {infc.name = "empty"}) -> (tensor<4xf32> {infc.name = "out"}, tensor<4xf32> {infc.name = "out"}, tensor<f32> {infc.name = "constant"}, tensor<0x4xf32> {infc.name = "nothing"}) {
  %c = "infc.weight"() {value = dense<2.0> : tensor<f32>} : () -> tensor<f32>
  %0 = "infc.map1"(%x) {fn = "neg", out = "twice"} : (tensor<4xf32>) -> tensor<4xf32>
  %1 = "infc.map1"(%0) {fn = "abs", out = "twice"} : (tensor<4xf32>) -> tensor<4xf32>
  %2 = "infc.map1"(%1) {fn = "relu", out = "x"} : (tensor<4xf32>) -> tensor<4xf32>
  %3 = "infc.map1"(%c) {fn = "relu"} : (tensor<f32>) -> tensor<f32>
  %4 = "infc.map1"(%e) {fn = "abs"} : (tensor<0x4xf32>) -> tensor<0x4xf32>
  return %1, %2, %3, %4 : tensor<4xf32>, tensor<4xf32>, tensor<f32>, tensor<0x4xf32>
}
