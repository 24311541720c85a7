// RUN: infc_opt %s --target x86-64 --only fuse | FileCheck %s
// The addition reads a value computed after the first product, so it joins the second one (a residual). The last
// addition broadcasts its group's value up, so it stands alone. Nothing joins a transpose.

// CHECK-LABEL: func.func @main
// CHECK: %[[A:.*]] = call @matmul(
// CHECK: %[[B:.*]] = call @matmul_0(
// CHECK: %[[T:.*]] = call @transpose(
// CHECK: %[[N:.*]] = call @map_neg(%[[T]])
// CHECK: %[[U:.*]] = call @map(
// CHECK: return %[[B]], %[[N]], %[[U]]
// CHECK: func.func private @matmul(
// CHECK-NOT: "infc.map2"
// CHECK: func.func private @matmul_0(
// CHECK: "infc.map2"
func.func @main(%x: tensor<8x8xf32>, %y: tensor<3x8x8xf32>) -> (tensor<8x8xf32>, tensor<8x8xf32>, tensor<3x8x8xf32>) {
  %v = "infc.weight"() {value = dense<2.0> : tensor<8x8xf32>} : () -> tensor<8x8xf32>
  %p = "infc.relayout"(%v) {layout = "panel"} : (tensor<8x8xf32>) -> tensor<8x8xf32, "panel">
  %0 = "infc.matmul"(%x, %p) : (tensor<8x8xf32>, tensor<8x8xf32, "panel">) -> tensor<8x8xf32>
  %1 = "infc.matmul"(%0, %p) : (tensor<8x8xf32>, tensor<8x8xf32, "panel">) -> tensor<8x8xf32>
  %2 = "infc.map2"(%0, %1) {fn = "add"} : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %3 = "infc.transpose"(%2) {perm = array<i64: 1, 0>} : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %4 = "infc.map1"(%3) {fn = "neg"} : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %5 = "infc.map2"(%y, %2) {fn = "add"} : (tensor<3x8x8xf32>, tensor<8x8xf32>) -> tensor<3x8x8xf32>
  return %2, %4, %5 : tensor<8x8xf32>, tensor<8x8xf32>, tensor<3x8x8xf32>
}
