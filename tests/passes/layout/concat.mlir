// RUN: infc_opt %s --target x86-64 --only layout | FileCheck %s
// Channel blocks join where the first ends with a block; 20 channels do not, so they become plain. A plain operand
// beside a blocked one is brought into blocks.

// CHECK-LABEL: func.func @main
// CHECK: %[[A:.*]] = "infc.conv"(%arg0, {{.*}} -> tensor<1x16x4x4xf32, "c16">
// CHECK: %[[B:.*]] = "infc.conv"(%arg0, {{.*}} -> tensor<1x20x4x4xf32, "c16">
// CHECK: "infc.concat2"(%[[A]], %[[B]]) {axis = 1 : i64} {{.*}} -> tensor<1x36x4x4xf32, "c16">
// CHECK: %[[P:.*]] = "infc.relayout"(%[[B]]) {layout = "plain"}
// CHECK: %[[Q:.*]] = "infc.relayout"(%[[A]]) {layout = "plain"}
// CHECK: "infc.concat2"(%[[P]], %[[Q]]) {axis = 1 : i64} {{.*}} -> tensor<1x36x4x4xf32>
// CHECK: %[[X:.*]] = "infc.relayout"(%arg0) {layout = "c16"}
// CHECK: "infc.concat2"(%[[A]], %[[X]]) {axis = 1 : i64} {{.*}} -> tensor<1x19x4x4xf32, "c16">
func.func @main(%x: tensor<1x3x4x4xf32>) -> (tensor<1x36x4x4xf32>, tensor<1x36x4x4xf32>, tensor<1x19x4x4xf32>) {
  %w = "infc.weight"() {value = dense<0.5> : tensor<16x3x1x1xf32>} : () -> tensor<16x3x1x1xf32>
  %v = "infc.weight"() {value = dense<0.5> : tensor<20x3x1x1xf32>} : () -> tensor<20x3x1x1xf32>
  %0 = "infc.conv"(%x, %w) {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x3x4x4xf32>, tensor<16x3x1x1xf32>) -> tensor<1x16x4x4xf32>
  %1 = "infc.conv"(%x, %v) {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x3x4x4xf32>, tensor<20x3x1x1xf32>) -> tensor<1x20x4x4xf32>
  %2 = "infc.concat2"(%0, %1) {axis = 1 : i64} : (tensor<1x16x4x4xf32>, tensor<1x20x4x4xf32>) -> tensor<1x36x4x4xf32>
  %3 = "infc.concat2"(%1, %0) {axis = 1 : i64} : (tensor<1x20x4x4xf32>, tensor<1x16x4x4xf32>) -> tensor<1x36x4x4xf32>
  %4 = "infc.concat2"(%0, %x) {axis = 1 : i64} : (tensor<1x16x4x4xf32>, tensor<1x3x4x4xf32>) -> tensor<1x19x4x4xf32>
  return %2, %3, %4 : tensor<1x36x4x4xf32>, tensor<1x36x4x4xf32>, tensor<1x19x4x4xf32>
}
