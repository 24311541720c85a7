// RUN: infc_opt %s --only fold-batchnorm | FileCheck %s
// x [1,2] times the transpose of [[1, 2], [3, 4], [5, 6]], then * [1, 2, 3], - [1, 1, 1].
// The transposed weight scaled by column: [[1, 6, 15], [2, 8, 18]]; bias -1.

// CHECK: %[[W:.*]] = "infc.weight"() {{.*}} dense<{{\[\[}}1.000000e+00, 6.000000e+00, 1.500000e+01], [2.000000e+00, 8.000000e+00, 1.800000e+01]]>
// CHECK: %[[Y:.*]] = "infc.matmul"(%arg0, %[[W]])
// CHECK: %[[B:.*]] = "infc.weight"() {{.*}} dense<-1.000000e+00> : tensor<3xf32>
// CHECK: %[[Z:.*]] = "infc.map2"(%[[Y]], %[[B]]) {fn = "add"
// CHECK: return %[[Z]]
func.func @main(%x: tensor<1x2xf32>) -> tensor<1x3xf32> {
  %w = "infc.weight"() {value = dense<[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]> : tensor<3x2xf32>} : () -> tensor<3x2xf32>
  %s = "infc.weight"() {value = dense<[1.0, 2.0, 3.0]> : tensor<3xf32>} : () -> tensor<3xf32>
  %c = "infc.weight"() {value = dense<1.0> : tensor<f32>} : () -> tensor<f32>
  %t = "infc.transpose"(%w) {perm = array<i64: 1, 0>} : (tensor<3x2xf32>) -> tensor<2x3xf32>
  %0 = "infc.matmul"(%x, %t) : (tensor<1x2xf32>, tensor<2x3xf32>) -> tensor<1x3xf32>
  %1 = "infc.map2"(%0, %s) {fn = "mul"} : (tensor<1x3xf32>, tensor<3xf32>) -> tensor<1x3xf32>
  %2 = "infc.map2"(%1, %c) {fn = "sub"} : (tensor<1x3xf32>, tensor<f32>) -> tensor<1x3xf32>
  return %2 : tensor<1x3xf32>
}
