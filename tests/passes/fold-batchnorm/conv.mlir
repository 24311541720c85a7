// RUN: infc_opt %s --only fold-batchnorm | FileCheck %s
// A 1x1 convolution with w = [[1, 2], [3, 4]], then + c1, * s, + c2 per channel: BatchNormalization as imported.
// w * s = [[2, 4], [-3, -4]];  c1 * s + c2 = [10 * 2 + 1, 20 * -1 + 5] = [21, -15].

// CHECK-LABEL: func.func @main
// CHECK: %[[W:.*]] = "infc.weight"() {{.*}} name = "w", value = dense<{{\[\[\[\[}}2.000000e+00]], {{\[\[}}4.000000e+00]]], {{\[\[\[}}-3.000000e+00]], {{\[\[}}-4.000000e+00]]]]>
// CHECK: %[[Y:.*]] = "infc.conv"(%arg0, %[[W]])
// CHECK-NOT: out =
// CHECK: %[[B:.*]] = "infc.weight"() {{.*}} name = "c2", value = dense<{{\[\[\[}}2.100000e+01]], {{\[\[}}-1.500000e+01]]]> : tensor<2x1x1xf32>
// CHECK: %[[Z:.*]] = "infc.map2"(%[[Y]], %[[B]]) {fn = "add", out = "bn"}
// CHECK-NOT: "infc.map2"
// CHECK: %[[R:.*]] = "infc.map1"(%[[Z]]) {fn = "relu"}
// CHECK: return %[[R]]
func.func @main(%x: tensor<1x2x2x2xf32>) -> tensor<1x2x2x2xf32> {
  %w = "infc.weight"() {name = "w", value = dense<[[[[1.0]], [[2.0]]], [[[3.0]], [[4.0]]]]> : tensor<2x2x1x1xf32>} : () -> tensor<2x2x1x1xf32>
  %c1 = "infc.weight"() {value = dense<[[[10.0]], [[20.0]]]> : tensor<2x1x1xf32>} : () -> tensor<2x1x1xf32>
  %s = "infc.weight"() {value = dense<[[[[2.0]], [[-1.0]]]]> : tensor<1x2x1x1xf32>} : () -> tensor<1x2x1x1xf32>
  %c2 = "infc.weight"() {name = "c2", value = dense<[[[1.0]], [[5.0]]]> : tensor<2x1x1xf32>} : () -> tensor<2x1x1xf32>
  %0 = "infc.conv"(%x, %w) {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, groups = 1 : i64, out = "conv"} : (tensor<1x2x2x2xf32>, tensor<2x2x1x1xf32>) -> tensor<1x2x2x2xf32>
  %1 = "infc.map2"(%0, %c1) {fn = "add"} : (tensor<1x2x2x2xf32>, tensor<2x1x1xf32>) -> tensor<1x2x2x2xf32>
  %2 = "infc.map2"(%s, %1) {fn = "mul"} : (tensor<1x2x1x1xf32>, tensor<1x2x2x2xf32>) -> tensor<1x2x2x2xf32>
  %3 = "infc.map2"(%2, %c2) {fn = "add", out = "bn"} : (tensor<1x2x2x2xf32>, tensor<2x1x1xf32>) -> tensor<1x2x2x2xf32>
  %4 = "infc.map1"(%3) {fn = "relu"} : (tensor<1x2x2x2xf32>) -> tensor<1x2x2x2xf32>
  return %4 : tensor<1x2x2x2xf32>
}
