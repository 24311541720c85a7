// RUN: infc_opt %s --only recognise-attention | FileCheck %s
// Products that were batched before: sequences of one head. No mask, no scale: 1 is 0x3f800000.
// CHECK: %[[A:.*]] = "infc.attention"(%arg0, %arg1, %arg2) {at = array<i64: 0, 0, 0>, dims = array<i64: 8, 4>, heads = array<i64: 1, 1>, past = array<i64: 0, 0>, scale = 1065353216 : i64
// CHECK: return %[[A]]
func.func @main(%q: tensor<6x5x8xf32>, %k: tensor<6x7x8xf32>, %v: tensor<6x7x4xf32>) -> tensor<6x5x4xf32> {
  %kt = "infc.transpose"(%k) {perm = array<i64: 0, 2, 1>} : (tensor<6x7x8xf32>) -> tensor<6x8x7xf32>
  %s = "infc.matmul"(%q, %kt) : (tensor<6x5x8xf32>, tensor<6x8x7xf32>) -> tensor<6x5x7xf32>
  %p = "infc.softmax"(%s) {axis = 2 : i64} : (tensor<6x5x7xf32>) -> tensor<6x5x7xf32>
  %y = "infc.matmul"(%p, %v) : (tensor<6x5x7xf32>, tensor<6x7x4xf32>) -> tensor<6x5x4xf32>
  return %y : tensor<6x5x4xf32>
}
