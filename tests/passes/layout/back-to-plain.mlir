// RUN: infc_opt %s --target x86-64 --only layout | FileCheck %s
// Two readers that need rows share one relayout, and so does the result. An input whose 20 channels are no multiple
// of 16 may not be read in whole vectors, so adding it per channel happens on plain tensors.

// CHECK-LABEL: func.func @main
// CHECK: %[[C:.*]] = "infc.conv"
// CHECK: %[[P:.*]] = "infc.relayout"(%[[C]]) {layout = "plain"}
// CHECK: "infc.transpose"(%[[P]])
// CHECK: %[[S:.*]] = "infc.softmax"(%[[P]])
// CHECK-NOT: "infc.relayout"
// CHECK: %[[A:.*]] = "infc.map2"(%[[P]], %arg1) {{.*}} -> tensor<1x20x4x4xf32>
// CHECK-NOT: "infc.relayout"
// CHECK: return {{.*}}, %[[S]], %[[A]]
func.func @main(%x: tensor<1x3x4x4xf32>, %c: tensor<20x1x1xf32>) -> (tensor<20x1x4x4xf32>, tensor<1x20x4x4xf32>, tensor<1x20x4x4xf32>) {
  %w = "infc.weight"() {value = dense<0.5> : tensor<20x3x1x1xf32>} : () -> tensor<20x3x1x1xf32>
  %0 = "infc.conv"(%x, %w) {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x3x4x4xf32>, tensor<20x3x1x1xf32>) -> tensor<1x20x4x4xf32>
  %1 = "infc.transpose"(%0) {perm = array<i64: 1, 0, 2, 3>} : (tensor<1x20x4x4xf32>) -> tensor<20x1x4x4xf32>
  %2 = "infc.softmax"(%0) {axis = 3 : i64} : (tensor<1x20x4x4xf32>) -> tensor<1x20x4x4xf32>
  %3 = "infc.map2"(%0, %c) {fn = "add"} : (tensor<1x20x4x4xf32>, tensor<20x1x1xf32>) -> tensor<1x20x4x4xf32>
  return %1, %2, %3 : tensor<20x1x4x4xf32>, tensor<1x20x4x4xf32>, tensor<1x20x4x4xf32>
}
