// RUN: infc_opt %s --target x86-64 --only layout | FileCheck %s
// A convolution of one channel a group reads blocks, also where what comes before is plain; of a few channels, and of
// several channels a group, it takes what there is.

// CHECK-LABEL: func.func @main
// CHECK: %[[T:.*]] = "infc.transpose"
// CHECK: %[[B:.*]] = "infc.relayout"(%[[T]]) {layout = "c16"}
// CHECK: "infc.conv"(%[[B]], {{.*}}groups = 20
// CHECK: "infc.conv"(%[[T]], {{.*}}groups = 10
// CHECK: "infc.conv"(%arg1, {{.*}}groups = 3
func.func @main(%x: tensor<20x1x4x4xf32>, %y: tensor<1x3x4x4xf32>) -> (tensor<1x20x2x2xf32>, tensor<1x20x2x2xf32>, tensor<1x3x2x2xf32>) {
  %w = "infc.weight"() {value = dense<0.5> : tensor<20x1x3x3xf32>} : () -> tensor<20x1x3x3xf32>
  %v = "infc.weight"() {value = dense<0.5> : tensor<20x2x3x3xf32>} : () -> tensor<20x2x3x3xf32>
  %u = "infc.weight"() {value = dense<0.5> : tensor<3x1x3x3xf32>} : () -> tensor<3x1x3x3xf32>
  %0 = "infc.transpose"(%x) {perm = array<i64: 1, 0, 2, 3>} : (tensor<20x1x4x4xf32>) -> tensor<1x20x4x4xf32>
  %1 = "infc.conv"(%0, %w) {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, groups = 20 : i64} : (tensor<1x20x4x4xf32>, tensor<20x1x3x3xf32>) -> tensor<1x20x2x2xf32>
  %2 = "infc.conv"(%0, %v) {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, groups = 10 : i64} : (tensor<1x20x4x4xf32>, tensor<20x2x3x3xf32>) -> tensor<1x20x2x2xf32>
  %3 = "infc.conv"(%y, %u) {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, groups = 3 : i64} : (tensor<1x3x4x4xf32>, tensor<3x1x3x3xf32>) -> tensor<1x3x2x2xf32>
  return %1, %2, %3 : tensor<1x20x2x2xf32>, tensor<1x20x2x2xf32>, tensor<1x3x2x2xf32>
}
