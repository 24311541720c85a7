// RUN: infc_opt %s | FileCheck %s
// RUN: infc_opt %s | infc_opt - | diff <(infc_opt %s) -
// Weights of up to 16 elements, and those with one value throughout, show their values and read back; NaN, -0,
// denormals, every element type, no elements at all.

func.func @main(%x: tensor<1xf32>) -> tensor<1xf32> {
  // CHECK: name = "nan", value = dense<[0x7FC00001, -0.000000e+00, 1.401300e-45, 0xFF800000]>
  %0 = "infc.weight"() {name = "nan", value = dense<[0x7FC00001, -0.0, 1.4012985e-45, 0xFF800000]> : tensor<4xf32>} : () -> tensor<4xf32>
  // CHECK: dense<[true, false, true]> : tensor<3xi1>
  %1 = "infc.weight"() {value = dense<[true, false, true]> : tensor<3xi1>} : () -> tensor<3xi1>
  // CHECK: dense<true> : tensor<70000xi1>
  %2 = "infc.weight"() {value = dense<true> : tensor<70000xi1>} : () -> tensor<70000xi1>
  // CHECK: dense<[-128, 127]> : tensor<2xi8>
  %3 = "infc.weight"() {value = dense<[-128, 127]> : tensor<2xi8>} : () -> tensor<2xi8>
  // CHECK: dense<[0, 255]> : tensor<2xui8>
  %4 = "infc.weight"() {value = dense<[0, 255]> : tensor<2xui8>} : () -> tensor<2xui8>
  // CHECK: dense<[1.000000e+00, -2.000000e+00]> : tensor<2xf16>
  %5 = "infc.weight"() {value = dense<[1.0, -2.0]> : tensor<2xf16>} : () -> tensor<2xf16>
  // CHECK: dense<[1.000000e+00, 3.000000e+00]> : tensor<2xbf16>
  %6 = "infc.weight"() {value = dense<[1.0, 3.0]> : tensor<2xbf16>} : () -> tensor<2xbf16>
  // CHECK: dense<-9223372036854775808> : tensor<2xi64>
  %7 = "infc.weight"() {value = dense<-9223372036854775808> : tensor<2xi64>} : () -> tensor<2xi64>
  // CHECK: dense<18446744073709551615> : tensor<ui64>
  %8 = "infc.weight"() {value = dense<18446744073709551615> : tensor<ui64>} : () -> tensor<ui64>
  // CHECK: dense<> : tensor<0x3xf32>
  %9 = "infc.weight"() {value = dense<> : tensor<0x3xf32>} : () -> tensor<0x3xf32>
  return %x : tensor<1xf32>
}
