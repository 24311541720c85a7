// RUN: infc_opt %s --only quantize --weights int8 2>&1 | FileCheck %s
// RUN: infc_opt %s --only quantize --weights f32 | diff <(infc_opt %s) -
// Output 0: max|w| = 127, scale 1; 0.5 and 1.5 round to even: 0 and 2. Output 1: zeros, scale 1. Output 2:
// max|w| = 254, scale 2: -127, 100, and 1 / 2 rounds to even: 0. Relative error: the squares of 0.5, 0.5 and 1 over
// those of all weights: sqrt(1.5 / (127^2 + 0.5^2 + 1.5^2 + 254^2 + 200^2 + 1)) = sqrt(1.5 / 120648.5) = 0.003526.

// CHECK: quantize conv.w to int8: relative error 0.0035
// CHECK: %[[Q:.*]] = "infc.weight"() {{.*}}name = "conv.w", value = dense<{{\[\[\[\[}}127, 0, 2]]], {{\[\[\[}}0, 0, 0]]], {{\[\[\[}}-127, 100, 0]]]]> : tensor<3x1x1x3xi8>
// CHECK: %[[Y:.*]] = "infc.conv"(%arg0, %[[Q]]) {{.*}} : (tensor<1x1x1x3xf32>, tensor<3x1x1x3xi8>) -> tensor<1x3x1x1xf32>
// CHECK: %[[S:.*]] = "infc.weight"() {{.*}}name = "conv.w.scale", value = dense<{{\[\[\[}}1.000000e+00]], {{\[\[}}1.000000e+00]], {{\[\[}}2.000000e+00]]]>
// CHECK: %[[Z:.*]] = "infc.map2"(%[[Y]], %[[S]]) {fn = "mul", out = "conv"}
// CHECK: "infc.map2"(%[[Z]], %{{.*}}) {fn = "add"}
func.func @main(%x: tensor<1x1x1x3xf32>) -> tensor<1x3x1x1xf32> {
  %w = "infc.weight"() {name = "conv.w", value = dense<[[[[127.0, 0.5, 1.5]]], [[[0.0, 0.0, 0.0]]], [[[-254.0, 200.0, 1.0]]]]> : tensor<3x1x1x3xf32>} : () -> tensor<3x1x1x3xf32>
  %b = "infc.weight"() {name = "conv.b", value = dense<1.0> : tensor<3x1x1xf32>} : () -> tensor<3x1x1xf32>
  %0 = "infc.conv"(%x, %w) {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, groups = 1 : i64, out = "conv"} : (tensor<1x1x1x3xf32>, tensor<3x1x1x3xf32>) -> tensor<1x3x1x1xf32>
  %1 = "infc.map2"(%0, %b) {fn = "add"} : (tensor<1x3x1x1xf32>, tensor<3x1x1xf32>) -> tensor<1x3x1x1xf32>
  return %1 : tensor<1x3x1x1xf32>
}
