// RUN: infc_opt %s --only integers | FileCheck %s
// Sums of int8 values less -5, with weights that have a zero point: both are taken as they are, the values raised by
// 128. A depthwise convolution, and a zero point per column, stay with int16.

// CHECK: %[[UP:.*]] = "infc.weight"{{.*}} dense<1.28
// CHECK: %[[R:.*]] = "infc.map2"(%{{.*}}, %[[UP]]) {fn = "add"} : (tensor<3x5xf32>, tensor<f32>)
// CHECK: %[[X:.*]] = "infc.convert"(%[[R]]) {to = "u8"}
// CHECK: %[[P:.*]] = "infc.qpack"(%{{.*}}, %{{.*}}) : (tensor<5x2xui8>, tensor<2xi32>) -> tensor<5x2xi8, "qpanel">
// CHECK: "infc.qmatmul_both"(%[[X]], %[[P]], %{{.*}}, %{{.*}}) : (tensor<3x5xui8>, tensor<5x2xi8, "qpanel">, tensor<ui8>, tensor<ui8>) -> tensor<3x2xi32>
// CHECK: "infc.imatmul"
// CHECK: "infc.iconv"
func.func @main(%x: tensor<3x5xi8>, %w: tensor<5x2xui8>, %image: tensor<1x2x3x3xui8>) -> (tensor<3x2xi32>, tensor<3x2xi32>, tensor<1x2x1x1xi32>) {
  %none = "infc.weight"() {value = dense<[0, 0]> : tensor<2xi32>} : () -> tensor<2xi32>
  %zx = "infc.weight"() {value = dense<-5.0> : tensor<f32>} : () -> tensor<f32>
  %zw = "infc.weight"() {value = dense<7.0> : tensor<f32>} : () -> tensor<f32>
  %zc = "infc.weight"() {value = dense<[7.0, 8.0]> : tensor<2xf32>} : () -> tensor<2xf32>
  %0 = "infc.convert"(%x) {to = "f32"} : (tensor<3x5xi8>) -> tensor<3x5xf32>
  %1 = "infc.map2"(%0, %zx) {fn = "sub"} : (tensor<3x5xf32>, tensor<f32>) -> tensor<3x5xf32>
  %2 = "infc.convert"(%1) {to = "i16"} : (tensor<3x5xf32>) -> tensor<3x5xi16>
  %3 = "infc.convert"(%w) {to = "f32"} : (tensor<5x2xui8>) -> tensor<5x2xf32>
  %4 = "infc.map2"(%3, %zw) {fn = "sub"} : (tensor<5x2xf32>, tensor<f32>) -> tensor<5x2xf32>
  %5 = "infc.convert"(%4) {to = "i16"} : (tensor<5x2xf32>) -> tensor<5x2xi16>
  %6 = "infc.ipack"(%5, %none) : (tensor<5x2xi16>, tensor<2xi32>) -> tensor<5x2xi16, "ipanel">
  %7 = "infc.imatmul"(%2, %6) : (tensor<3x5xi16>, tensor<5x2xi16, "ipanel">) -> tensor<3x2xi32>
  %8 = "infc.map2"(%3, %zc) {fn = "sub"} : (tensor<5x2xf32>, tensor<2xf32>) -> tensor<5x2xf32>
  %9 = "infc.convert"(%8) {to = "i16"} : (tensor<5x2xf32>) -> tensor<5x2xi16>
  %10 = "infc.ipack"(%9, %none) : (tensor<5x2xi16>, tensor<2xi32>) -> tensor<5x2xi16, "ipanel">
  %11 = "infc.imatmul"(%2, %10) : (tensor<3x5xi16>, tensor<5x2xi16, "ipanel">) -> tensor<3x2xi32>
  %12 = "infc.convert"(%image) {to = "f32"} : (tensor<1x2x3x3xui8>) -> tensor<1x2x3x3xf32>
  %13 = "infc.convert"(%12) {to = "i16"} : (tensor<1x2x3x3xf32>) -> tensor<1x2x3x3xi16>
  %14 = "infc.weight"() {value = dense<1> : tensor<2x1x3x3xi8>} : () -> tensor<2x1x3x3xi8>
  %15 = "infc.ipack"(%14, %none) : (tensor<2x1x3x3xi8>, tensor<2xi32>) -> tensor<2x1x3x3xi8, "ipanel">
  %16 = "infc.iconv"(%13, %15) {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, groups = 2 : i64} : (tensor<1x2x3x3xi16>, tensor<2x1x3x3xi8, "ipanel">) -> tensor<1x2x1x1xi32>
  return %7, %11, %16 : tensor<3x2xi32>, tensor<3x2xi32>, tensor<1x2x1x1xi32>
}
