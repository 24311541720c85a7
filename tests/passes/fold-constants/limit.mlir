// RUN: infc_opt %s --only fold-constants | FileCheck %s
// 128 * 128 results of 1000 * 1000 products each: over a billion operations, so the convolution stays. The sum is folded.

// CHECK-LABEL: func.func @main
// CHECK: "infc.conv"
// CHECK-NOT: "infc.map2"
// CHECK: return
func.func @main(%x: tensor<1x1x128x128xf32>) -> (tensor<1x1x128x128xf32>, tensor<4xf32>) {
  %a = "infc.weight"() {value = dense<0.5> : tensor<1x1x1127x1127xf32>} : () -> tensor<1x1x1127x1127xf32>
  %w = "infc.weight"() {value = dense<2.0> : tensor<1x1x1000x1000xf32>} : () -> tensor<1x1x1000x1000xf32>
  %0 = "infc.conv"(%a, %w) {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x1x1127x1127xf32>, tensor<1x1x1000x1000xf32>) -> tensor<1x1x128x128xf32>
  %b = "infc.weight"() {value = dense<1.0> : tensor<4xf32>} : () -> tensor<4xf32>
  %1 = "infc.map2"(%b, %b) {fn = "add"} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %0, %1 : tensor<1x1x128x128xf32>, tensor<4xf32>
}
