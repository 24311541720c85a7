// RUN: infc_opt %s --only merge-matmuls | FileCheck %s
// k and v come of one input, q of another: two products become one, and k and v are columns of it.
// CHECK-DAG: %[[W:.*]] = "infc.weight"() {{.*}}value = dense<{{\[\[}}1.000000e+00, 2.000000e+00, 5.000000e+00, 6.000000e+00], [3.000000e+00, 4.000000e+00, 7.000000e+00, 8.000000e+00]]>
// CHECK-DAG: %[[P:.*]] = "infc.matmul"(%arg1, %[[W]]) {{.*}}-> tensor<1x3x4xf32>
// CHECK: %[[T:.*]] = "infc.map2"(%[[P]], %{{.*}}) {fn = "add"} : (tensor<1x3x4xf32>, tensor<4xf32>)
// CHECK: "infc.attention"(%arg0, %[[T]], %[[T]]) {at = array<i64: 0, 0, 2>
func.func @main(%q: tensor<1x2x2xf32>, %x: tensor<1x3x2xf32>) -> tensor<1x2x2xf32> {
  %wk = "infc.weight"() {value = dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>} : () -> tensor<2x2xf32>
  %wv = "infc.weight"() {value = dense<[[5.0, 6.0], [7.0, 8.0]]> : tensor<2x2xf32>} : () -> tensor<2x2xf32>
  %bk = "infc.weight"() {value = dense<[1.0, 2.0]> : tensor<2xf32>} : () -> tensor<2xf32>
  %bv = "infc.weight"() {value = dense<[3.0, 4.0]> : tensor<2xf32>} : () -> tensor<2xf32>
  %k0 = "infc.matmul"(%x, %wk) : (tensor<1x3x2xf32>, tensor<2x2xf32>) -> tensor<1x3x2xf32>
  %k1 = "infc.map2"(%bk, %k0) {fn = "add"} : (tensor<2xf32>, tensor<1x3x2xf32>) -> tensor<1x3x2xf32>
  %v0 = "infc.matmul"(%x, %wv) : (tensor<1x3x2xf32>, tensor<2x2xf32>) -> tensor<1x3x2xf32>
  %v1 = "infc.map2"(%v0, %bv) {fn = "add"} : (tensor<1x3x2xf32>, tensor<2xf32>) -> tensor<1x3x2xf32>
  %y = "infc.attention"(%q, %k1, %v1) {heads = array<i64: 1, 1>, dims = array<i64: 2, 2>, at = array<i64: 0, 0, 0>, scale = 1065353216 : i64, past = array<i64: 0, 0>} : (tensor<1x2x2xf32>, tensor<1x3x2xf32>, tensor<1x3x2xf32>) -> tensor<1x2x2xf32>
  return %y : tensor<1x2x2xf32>
}
