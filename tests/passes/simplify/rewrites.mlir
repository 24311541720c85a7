// RUN: infc_opt %s --only simplify | infc_opt - --only dce | FileCheck %s
// RUN: diff <(infc_opt %s --only simplify --eval | sed -n 's|^// before ||p') <(infc_opt %s --only simplify --eval | sed -n 's|^// after ||p')
// Each result is the argument, or one op of it.

func.func @main(%x: tensor<2x3x4xf32>) -> (tensor<2x3x4xf32>, tensor<4x6xf32>, tensor<2x3x4xf32>, tensor<3x4x2xf32>, tensor<2x1x3x4xf32>, tensor<2x3x4xf32>, tensor<2x3x4xf32>, tensor<2x3x4xf32>) {
  // CHECK: %[[SHAPE:.*]] = "infc.reshape"(%arg0) {shape = array<i64: 4, 6>}
  %same = "infc.reshape"(%x) {shape = array<i64: 2, 3, 4>} : (tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
  %r1 = "infc.reshape"(%x) {shape = array<i64: 24>} : (tensor<2x3x4xf32>) -> tensor<24xf32>
  %r2 = "infc.reshape"(%r1) {shape = array<i64: 4, 6>} : (tensor<24xf32>) -> tensor<4x6xf32>
  // there and back
  %t1 = "infc.transpose"(%x) {perm = array<i64: 1, 2, 0>} : (tensor<2x3x4xf32>) -> tensor<3x4x2xf32>
  %t2 = "infc.transpose"(%t1) {perm = array<i64: 2, 0, 1>} : (tensor<3x4x2xf32>) -> tensor<2x3x4xf32>
  // axes 2, 0, 1 twice are axes 1, 2, 0
  // CHECK: %[[PERM:.*]] = "infc.transpose"(%arg0) {perm = array<i64: 1, 2, 0>}
  %t3 = "infc.transpose"(%x) {perm = array<i64: 2, 0, 1>} : (tensor<2x3x4xf32>) -> tensor<4x2x3xf32>
  %t4 = "infc.transpose"(%t3) {perm = array<i64: 2, 0, 1>} : (tensor<4x2x3xf32>) -> tensor<3x4x2xf32>
  // only an axis of extent 1 moves
  // CHECK: %[[ONE:.*]] = "infc.reshape"(%arg0) {shape = array<i64: 2, 1, 3, 4>}
  %u = "infc.reshape"(%x) {shape = array<i64: 1, 2, 3, 4>} : (tensor<2x3x4xf32>) -> tensor<1x2x3x4xf32>
  %t5 = "infc.transpose"(%u) {perm = array<i64: 1, 0, 2, 3>} : (tensor<1x2x3x4xf32>) -> tensor<2x1x3x4xf32>
  %t6 = "infc.reshape"(%t5) {shape = array<i64: 2, 1, 3, 4>} : (tensor<2x1x3x4xf32>) -> tensor<2x1x3x4xf32>
  %one = "infc.weight"() {value = dense<1.0> : tensor<4xf32>} : () -> tensor<4xf32>
  %m1 = "infc.map2"(%x, %one) {fn = "mul"} : (tensor<2x3x4xf32>, tensor<4xf32>) -> tensor<2x3x4xf32>
  %m2 = "infc.map2"(%one, %m1) {fn = "mul"} : (tensor<4xf32>, tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
  %m3 = "infc.map2"(%m2, %one) {fn = "div"} : (tensor<2x3x4xf32>, tensor<4xf32>) -> tensor<2x3x4xf32>
  %zero = "infc.weight"() {value = dense<0.0> : tensor<f32>} : () -> tensor<f32>
  %minus = "infc.weight"() {value = dense<-0.0> : tensor<f32>} : () -> tensor<f32>
  %a1 = "infc.map2"(%x, %minus) {fn = "add"} : (tensor<2x3x4xf32>, tensor<f32>) -> tensor<2x3x4xf32>
  %a2 = "infc.map2"(%minus, %a1) {fn = "add"} : (tensor<f32>, tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
  %a3 = "infc.map2"(%a2, %zero) {fn = "sub"} : (tensor<2x3x4xf32>, tensor<f32>) -> tensor<2x3x4xf32>
  // CHECK: %[[RELU:.*]] = "infc.map1"(%arg0) {fn = "relu"}
  %p1 = "infc.map1"(%x) {fn = "relu"} : (tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
  %p2 = "infc.map1"(%p1) {fn = "relu"} : (tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
  // CHECK: return %arg0, %[[SHAPE]], %arg0, %[[PERM]], %[[ONE]], %arg0, %arg0, %[[RELU]] :
  return %same, %r2, %t2, %t4, %t6, %m3, %a3, %p2 : tensor<2x3x4xf32>, tensor<4x6xf32>, tensor<2x3x4xf32>, tensor<3x4x2xf32>, tensor<2x1x3x4xf32>, tensor<2x3x4xf32>, tensor<2x3x4xf32>, tensor<2x3x4xf32>
}
