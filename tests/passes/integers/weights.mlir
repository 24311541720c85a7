// RUN: infc_opt %s --only integers | FileCheck %s
// int8 weights beside a float, transposed, a scale per output; and a table looked up, a scale per row.

// CHECK: %[[R:.*]] = "infc.gather"(%[[RS:.*]], %arg1) {axis = 0 : i64} : (tensor<3x1xf32>, tensor<2xi64>) -> tensor<2x1xf32>
// CHECK: %[[T:.*]] = "infc.gather"(%[[Q:.*]], %arg1) {axis = 0 : i64} : (tensor<3x2xi8>, tensor<2xi64>) -> tensor<2x2xi8>
// CHECK: %[[E:.*]] = "infc.convert"(%[[T]]) {to = "f32"}
// CHECK: %[[X:.*]] = "infc.map2"(%[[E]], %[[R]]) {fn = "mul"}
// CHECK: %[[S:.*]] = "infc.transpose"({{.*}}) {{.*}} : (tensor<3x1xf32>) -> tensor<1x3xf32>
// CHECK: %[[W:.*]] = "infc.transpose"(%[[Q]]) {{.*}} : (tensor<3x2xi8>) -> tensor<2x3xi8>
// CHECK: %[[P:.*]] = "infc.matmul"(%[[X]], %[[W]]) : (tensor<2x2xf32>, tensor<2x3xi8>) -> tensor<2x3xf32>
// CHECK: %[[Y:.*]] = "infc.map2"(%[[P]], %{{.*}}) {fn = "mul"}
// CHECK: "infc.map2"(%[[Y]], %arg0) {fn = "add"}
func.func @main(%a: tensor<2x3xf32>, %i: tensor<2xi64>) -> tensor<2x3xf32> {
  %q = "infc.weight"() {value = dense<[[1, -2], [3, 4], [-5, 6]]> : tensor<3x2xi8>} : () -> tensor<3x2xi8>
  %s = "infc.weight"() {value = dense<[[0.5], [0.25], [2.0]]> : tensor<3x1xf32>} : () -> tensor<3x1xf32>
  %0 = "infc.convert"(%q) {to = "f32"} : (tensor<3x2xi8>) -> tensor<3x2xf32>
  %1 = "infc.map2"(%0, %s) {fn = "mul"} : (tensor<3x2xf32>, tensor<3x1xf32>) -> tensor<3x2xf32>
  %2 = "infc.gather"(%1, %i) {axis = 0 : i64} : (tensor<3x2xf32>, tensor<2xi64>) -> tensor<2x2xf32>
  %3 = "infc.transpose"(%1) {perm = array<i64: 1, 0>} : (tensor<3x2xf32>) -> tensor<2x3xf32>
  %4 = "infc.matmul"(%2, %3) : (tensor<2x2xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %5 = "infc.map2"(%4, %a) {fn = "add"} : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  return %5 : tensor<2x3xf32>
}
