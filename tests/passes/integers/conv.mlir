// RUN: infc_opt %s --only integers | FileCheck %s
// (u8 - 3) * 0.5 with int8 weights of scales 0.25 and 2, and a bias whose scales are 0.125 and 1: it enters the sum.

// CHECK: func.func @main(%[[X:.*]]: tensor<1x1x2x2xui8>
// CHECK: %[[P:.*]] = "infc.qpack"(%[[W:.*]], %[[B:.*]]) : (tensor<2x1x2x2xi8>, tensor<2xi32>) -> tensor<2x1x2x2xi8, "qpanel">
// CHECK: %[[Z:.*]] = "infc.convert"(%{{.*}}) {to = "u8"}
// CHECK: %[[S:.*]] = "infc.qconv"(%[[X]], %[[P]], %[[Z]]) {{.*}} -> tensor<1x2x1x1xi32>
// CHECK: %[[F:.*]] = "infc.convert"(%[[S]]) {to = "f32"}
// CHECK: %[[K:.*]] = "infc.map2"({{.*}}) {fn = "mul"} : (tensor<f32>, tensor<2x1x1xf32>) -> tensor<2x1x1xf32>
// CHECK: %[[Y:.*]] = "infc.map2"(%[[F]], %[[K]]) {fn = "mul", out = "y"}
// CHECK-NEXT: return %[[Y]]
func.func @main(%x: tensor<1x1x2x2xui8>) -> tensor<1x2x1x1xf32> {
  %zx = "infc.weight"() {value = dense<3.0> : tensor<f32>} : () -> tensor<f32>
  %sx = "infc.weight"() {value = dense<0.5> : tensor<f32>} : () -> tensor<f32>
  %w = "infc.weight"() {value = dense<[[[[1, -2], [3, -4]]], [[[5, 6], [7, 8]]]]> : tensor<2x1x2x2xi8>} : () -> tensor<2x1x2x2xi8>
  %sw = "infc.weight"() {value = dense<[[[[0.25]]], [[[2.0]]]]> : tensor<2x1x1x1xf32>} : () -> tensor<2x1x1x1xf32>
  %b = "infc.weight"() {value = dense<[100, -200]> : tensor<2xi32>} : () -> tensor<2xi32>
  %sb = "infc.weight"() {value = dense<[0.125, 1.0]> : tensor<2xf32>} : () -> tensor<2xf32>
  %0 = "infc.convert"(%x) {to = "f32"} : (tensor<1x1x2x2xui8>) -> tensor<1x1x2x2xf32>
  %1 = "infc.map2"(%0, %zx) {fn = "sub"} : (tensor<1x1x2x2xf32>, tensor<f32>) -> tensor<1x1x2x2xf32>
  %2 = "infc.map2"(%1, %sx) {fn = "mul"} : (tensor<1x1x2x2xf32>, tensor<f32>) -> tensor<1x1x2x2xf32>
  %3 = "infc.convert"(%w) {to = "f32"} : (tensor<2x1x2x2xi8>) -> tensor<2x1x2x2xf32>
  %4 = "infc.map2"(%3, %sw) {fn = "mul"} : (tensor<2x1x2x2xf32>, tensor<2x1x1x1xf32>) -> tensor<2x1x2x2xf32>
  %5 = "infc.conv"(%2, %4) {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x1x2x2xf32>, tensor<2x1x2x2xf32>) -> tensor<1x2x1x1xf32>
  %6 = "infc.convert"(%b) {to = "f32"} : (tensor<2xi32>) -> tensor<2xf32>
  %7 = "infc.map2"(%6, %sb) {fn = "mul"} : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %8 = "infc.reshape"(%7) {shape = array<i64: 2, 1, 1>} : (tensor<2xf32>) -> tensor<2x1x1xf32>
  %9 = "infc.map2"(%5, %8) {fn = "add", out = "y"} : (tensor<1x2x1x1xf32>, tensor<2x1x1xf32>) -> tensor<1x2x1x1xf32>
  return %9 : tensor<1x2x1x1xf32>
}
