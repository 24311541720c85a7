// RUN: infc_opt %s --only simplify | infc_opt - --only dce | FileCheck %s
// RUN: diff <(infc_opt %s --only simplify --eval | sed -n 's|^// before ||p') <(infc_opt %s --only simplify --eval | sed -n 's|^// after ||p')
// What is done to channels last between two convolutions is done to channels first; pads go into the windows.

func.func @main(%x: tensor<1x3x5x5xf32>) -> (tensor<1x2x2x2xf32>, tensor<1x1x1x2xf32>, tensor<1x5x5x4xf32>) {
  %w = "infc.weight"() {value = dense<0.25> : tensor<2x3x1x1xf32>} : () -> tensor<2x3x1x1xf32>
  %v = "infc.weight"() {value = dense<0.5> : tensor<2x2x3x3xf32>} : () -> tensor<2x2x3x3xf32>
  %b = "infc.weight"() {value = dense<[1.0, -2.0]> : tensor<2xf32>} : () -> tensor<2xf32>
  // CHECK: %[[A:.*]] = "infc.conv"(%arg0,
  %a = "infc.conv"(%x, %w) {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x3x5x5xf32>, tensor<2x3x1x1xf32>) -> tensor<1x2x5x5xf32>
  %t = "infc.transpose"(%a) {perm = array<i64: 0, 2, 3, 1>} : (tensor<1x2x5x5xf32>) -> tensor<1x5x5x2xf32>
  // CHECK: %[[M:.*]] = "infc.map2"(%[[A]], %{{.*}}) {fn = "add"} : (tensor<1x2x5x5xf32>, tensor<2x1x1xf32>) -> tensor<1x2x5x5xf32>
  %m = "infc.map2"(%t, %b) {fn = "add"} : (tensor<1x5x5x2xf32>, tensor<2xf32>) -> tensor<1x5x5x2xf32>
  // CHECK-NOT: infc.pad
  %p = "infc.pad"(%m) {before = array<i64: 0, 1, 0, 0>, after = array<i64: 0, 0, 1, 0>, mode = "constant", fill = 0 : i64} : (tensor<1x5x5x2xf32>) -> tensor<1x6x6x2xf32>
  %u = "infc.transpose"(%p) {perm = array<i64: 0, 3, 1, 2>} : (tensor<1x6x6x2xf32>) -> tensor<1x2x6x6xf32>
  // CHECK: %[[C:.*]] = "infc.conv"(%[[M]], {{.*}} pads = array<i64: 1, 0, 0, 1>
  %c = "infc.conv"(%u, %v) {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x2x6x6xf32>, tensor<2x2x3x3xf32>) -> tensor<1x2x4x4xf32>
  %q = "infc.pad"(%c) {before = array<i64: 0, 0, 0, 0>, after = array<i64: 0, 0, 1, 1>, mode = "edge", fill = 0 : i64} : (tensor<1x2x4x4xf32>) -> tensor<1x2x5x5xf32>
  // CHECK: "infc.pool_max"(%[[C]]) {{.*}} pads = array<i64: 0, 0, 1, 1>
  %y = "infc.pool_max"(%q) {kernel = array<i64: 3, 3>, strides = array<i64: 2, 2>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : (tensor<1x2x5x5xf32>) -> tensor<1x2x2x2xf32>
  // CHECK: %[[S:.*]] = "infc.reduce_sum"(%[[M]]) {axes = array<i64: 2, 3>}
  // CHECK: "infc.reshape"(%[[S]])
  %s = "infc.reduce_sum"(%m) {axes = array<i64: 1, 2>} : (tensor<1x5x5x2xf32>) -> tensor<1x1x1x2xf32>
  // CHECK: "infc.concat2"(%[[A]], %[[M]]) {axis = 1 : i64}
  %j = "infc.concat2"(%t, %m) {axis = 3 : i64} : (tensor<1x5x5x2xf32>, tensor<1x5x5x2xf32>) -> tensor<1x5x5x4xf32>
  // CHECK: return
  return %y, %s, %j : tensor<1x2x2x2xf32>, tensor<1x1x1x2xf32>, tensor<1x5x5x4xf32>
}
