// RUN: infc_opt %s --only quantize --weights int8 | FileCheck %s
// A weight that is computed stays f32; a constant that two ops share is quantised once.

func.func @main(%x: tensor<2x2xf32>) -> (tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xf32>) {
  %w = "infc.weight"() {name = "w", value = dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>} : () -> tensor<2x2xf32>
  // CHECK: "infc.matmul"(%arg0, %arg0) : (tensor<2x2xf32>, tensor<2x2xf32>)
  %0 = "infc.matmul"(%x, %x) : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  // CHECK: "infc.weight"() {id = 1 : i64, name = "w"
  // CHECK: "infc.weight"() {id = 2 : i64, name = "w.scale"
  %1 = "infc.matmul"(%x, %w) : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  // CHECK: "infc.weight"() {id = 1 : i64, name = "w"
  // CHECK: "infc.weight"() {id = 2 : i64, name = "w.scale"
  %2 = "infc.matmul"(%0, %w) : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  return %0, %1, %2 : tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xf32>
}
