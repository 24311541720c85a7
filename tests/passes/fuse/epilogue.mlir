// RUN: infc_opt %s --target x86-64 --only fuse | FileCheck %s
// Bias and relu join the product; the product's own value is used elsewhere too, so the group has two results.

// CHECK-LABEL: func.func @main
// CHECK: %[[V:.*]] = "infc.weight"() {{.*}} -> tensor<8x16xf32>
// CHECK: %[[R:.*]]:2 = call @matmul_relu({{.*}})
// CHECK: %[[S:.*]] = call @softmax(%[[R]]#0)
// CHECK: return %[[R]]#1, %[[S]]
// CHECK: func.func private @matmul_relu
// CHECK: %[[M:.*]] = "infc.matmul"
// CHECK: %[[A:.*]] = "infc.map2"(%[[M]], {{.*}}) {fn = "add"}
// CHECK: %[[B:.*]] = "infc.map1"(%[[A]]) {fn = "relu"}
// CHECK: return %[[M]], %[[B]]
func.func @main(%x: tensor<4x8xf32>) -> (tensor<4x16xf32>, tensor<4x16xf32>) {
  %v = "infc.weight"() {value = dense<2.0> : tensor<8x16xf32>} : () -> tensor<8x16xf32>
  %p = "infc.relayout"(%v) {layout = "panel"} : (tensor<8x16xf32>) -> tensor<8x16xf32, "panel">
  %0 = "infc.matmul"(%x, %p) : (tensor<4x8xf32>, tensor<8x16xf32, "panel">) -> tensor<4x16xf32>
  %1 = "infc.softmax"(%0) {axis = 1 : i64} : (tensor<4x16xf32>) -> tensor<4x16xf32>
  %b = "infc.weight"() {value = dense<1.0> : tensor<16xf32>} : () -> tensor<16xf32>
  %2 = "infc.map2"(%0, %b) {fn = "add"} : (tensor<4x16xf32>, tensor<16xf32>) -> tensor<4x16xf32>
  %3 = "infc.map1"(%2) {fn = "relu"} : (tensor<4x16xf32>) -> tensor<4x16xf32>
  return %3, %1 : tensor<4x16xf32>, tensor<4x16xf32>
}
