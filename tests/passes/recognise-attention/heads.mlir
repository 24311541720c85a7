// RUN: infc_opt %s --only recognise-attention | FileCheck %s
// Heads split from [B,S,H*D] and joined again: q, k and v are read as they are, but for views, and nothing moves. 1 / 8^(1/2) is
// 0x3eb504f3.
// CHECK: %[[Q:.*]] = "infc.reshape"(%{{.*}}) {{.*}} -> tensor<2x5x24xf32>
// CHECK: %[[K:.*]] = "infc.reshape"(%{{.*}}) {{.*}} -> tensor<2x7x24xf32>
// CHECK: %[[V:.*]] = "infc.reshape"(%{{.*}}) {{.*}} -> tensor<2x7x12xf32>
// CHECK: %[[A:.*]] = "infc.attention_masked"(%[[Q]], %[[K]], %[[V]], %arg3) {at = array<i64: 0, 0, 0>, dims = array<i64: 8, 4>, heads = array<i64: 3, 3>, past = array<i64: 0, 0>, scale = 1052050675 : i64
// CHECK: %[[SPLIT:.*]] = "infc.reshape"(%[[A]]) {{.*}} -> tensor<2x5x3x4xf32>
// CHECK: %[[Y:.*]] = "infc.reshape"(%[[SPLIT]]) {{.*}} -> tensor<2x5x12xf32>
// CHECK: return %[[Y]]
func.func @main(%q: tensor<2x5x24xf32>, %k: tensor<2x7x24xf32>, %v: tensor<2x7x12xf32>, %mask: tensor<2x1x1x7xf32>) -> tensor<2x5x12xf32> {
  %root = "infc.weight"() {value = dense<2.82842708> : tensor<f32>} : () -> tensor<f32>
  %q0 = "infc.reshape"(%q) {shape = array<i64: 2, 5, 3, 8>} : (tensor<2x5x24xf32>) -> tensor<2x5x3x8xf32>
  %q1 = "infc.transpose"(%q0) {perm = array<i64: 0, 2, 1, 3>} : (tensor<2x5x3x8xf32>) -> tensor<2x3x5x8xf32>
  %q2 = "infc.reshape"(%q1) {shape = array<i64: 6, 5, 8>} : (tensor<2x3x5x8xf32>) -> tensor<6x5x8xf32>
  %k0 = "infc.reshape"(%k) {shape = array<i64: 2, 7, 3, 8>} : (tensor<2x7x24xf32>) -> tensor<2x7x3x8xf32>
  %k1 = "infc.transpose"(%k0) {perm = array<i64: 0, 2, 3, 1>} : (tensor<2x7x3x8xf32>) -> tensor<2x3x8x7xf32>
  %k2 = "infc.reshape"(%k1) {shape = array<i64: 6, 8, 7>} : (tensor<2x3x8x7xf32>) -> tensor<6x8x7xf32>
  %v0 = "infc.reshape"(%v) {shape = array<i64: 2, 7, 3, 4>} : (tensor<2x7x12xf32>) -> tensor<2x7x3x4xf32>
  %v1 = "infc.transpose"(%v0) {perm = array<i64: 0, 2, 1, 3>} : (tensor<2x7x3x4xf32>) -> tensor<2x3x7x4xf32>
  %v2 = "infc.reshape"(%v1) {shape = array<i64: 6, 7, 4>} : (tensor<2x3x7x4xf32>) -> tensor<6x7x4xf32>
  %s0 = "infc.matmul"(%q2, %k2) : (tensor<6x5x8xf32>, tensor<6x8x7xf32>) -> tensor<6x5x7xf32>
  %s1 = "infc.reshape"(%s0) {shape = array<i64: 2, 3, 5, 7>} : (tensor<6x5x7xf32>) -> tensor<2x3x5x7xf32>
  %s2 = "infc.map2"(%s1, %root) {fn = "div"} : (tensor<2x3x5x7xf32>, tensor<f32>) -> tensor<2x3x5x7xf32>
  %s3 = "infc.map2"(%s2, %mask) {fn = "add"} : (tensor<2x3x5x7xf32>, tensor<2x1x1x7xf32>) -> tensor<2x3x5x7xf32>
  %s4 = "infc.softmax"(%s3) {axis = 3 : i64} : (tensor<2x3x5x7xf32>) -> tensor<2x3x5x7xf32>
  %s5 = "infc.reshape"(%s4) {shape = array<i64: 6, 5, 7>} : (tensor<2x3x5x7xf32>) -> tensor<6x5x7xf32>
  %y0 = "infc.matmul"(%s5, %v2) : (tensor<6x5x7xf32>, tensor<6x7x4xf32>) -> tensor<6x5x4xf32>
  %y1 = "infc.reshape"(%y0) {shape = array<i64: 2, 3, 5, 4>} : (tensor<6x5x4xf32>) -> tensor<2x3x5x4xf32>
  %y2 = "infc.transpose"(%y1) {perm = array<i64: 0, 2, 1, 3>} : (tensor<2x3x5x4xf32>) -> tensor<2x5x3x4xf32>
  %y3 = "infc.reshape"(%y2) {shape = array<i64: 2, 5, 12>} : (tensor<2x5x3x4xf32>) -> tensor<2x5x12xf32>
  return %y3 : tensor<2x5x12xf32>
}
