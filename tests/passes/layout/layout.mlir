// RUN: infc_opt %s --target x86-64 --only layout | FileCheck %s
// A convolution writes channel blocks and reads a plain input; its weight becomes panels. The pool stays in blocks,
// and so does the addition of a bias per channel. A pool down to one pixel needs no blocks. matmul wants rows.

// CHECK-LABEL: func.func @main
// CHECK: %[[W:.*]] = "infc.weight"() {{.*}} -> tensor<20x3x3x3xf32>
// CHECK: %[[B:.*]] = "infc.weight"() {{.*}} -> tensor<20x1x1xf32>
// CHECK: %[[V:.*]] = "infc.weight"() {{.*}} -> tensor<20x4xf32>
// CHECK: %[[WP:.*]] = "infc.relayout"(%[[W]]) {layout = "panel"} : (tensor<20x3x3x3xf32>) -> tensor<20x3x3x3xf32, "panel">
// CHECK: %[[C:.*]] = "infc.conv"(%arg0, %[[WP]]) {{.*}} -> tensor<1x20x8x8xf32, "c16">
// CHECK: %[[A:.*]] = "infc.map2"(%[[C]], %[[B]]) {fn = "add"} {{.*}} -> tensor<1x20x8x8xf32, "c16">
// CHECK: %[[M:.*]] = "infc.pool_max"(%[[A]]) {{.*}} -> tensor<1x20x4x4xf32, "c16">
// CHECK: %[[G:.*]] = "infc.pool_avg"(%[[M]]) {{.*}} -> tensor<1x20x1x1xf32>
// CHECK: %[[F:.*]] = "infc.reshape"(%[[G]])
// CHECK: %[[VP:.*]] = "infc.relayout"(%[[V]]) {layout = "panel"}
// CHECK: "infc.matmul"(%[[F]], %[[VP]])
func.func @main(%x: tensor<1x3x8x8xf32>) -> tensor<1x4xf32> {
  %w = "infc.weight"() {value = dense<0.5> : tensor<20x3x3x3xf32>} : () -> tensor<20x3x3x3xf32>
  %b = "infc.weight"() {value = dense<1.0> : tensor<20x1x1xf32>} : () -> tensor<20x1x1xf32>
  %v = "infc.weight"() {value = dense<2.0> : tensor<20x4xf32>} : () -> tensor<20x4xf32>
  %0 = "infc.conv"(%x, %w) {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x3x8x8xf32>, tensor<20x3x3x3xf32>) -> tensor<1x20x8x8xf32>
  %1 = "infc.map2"(%0, %b) {fn = "add"} : (tensor<1x20x8x8xf32>, tensor<20x1x1xf32>) -> tensor<1x20x8x8xf32>
  %2 = "infc.pool_max"(%1) {kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : (tensor<1x20x8x8xf32>) -> tensor<1x20x4x4xf32>
  %3 = "infc.pool_avg"(%2) {kernel = array<i64: 4, 4>, strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, count_include_pad = 0 : i64} : (tensor<1x20x4x4xf32>) -> tensor<1x20x1x1xf32>
  %4 = "infc.reshape"(%3) {shape = array<i64: 1, 20>} : (tensor<1x20x1x1xf32>) -> tensor<1x20xf32>
  %5 = "infc.matmul"(%4, %v) : (tensor<1x20xf32>, tensor<20x4xf32>) -> tensor<1x4xf32>
  return %5 : tensor<1x4xf32>
}
