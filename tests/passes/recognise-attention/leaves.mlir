// RUN: infc_opt %s --only recognise-attention | diff <(infc_opt %s) -
// The weights are a result too; softmax over the queries; k is not turned; v is shared by all products.
func.func @main(%q: tensor<6x7x7xf32>, %k: tensor<6x7x7xf32>, %v: tensor<6x7x4xf32>, %w: tensor<7x4xf32>) -> (tensor<6x7x4xf32>, tensor<6x7x7xf32>, tensor<6x7x4xf32>, tensor<6x7x4xf32>, tensor<6x7x4xf32>) {
  %kt = "infc.transpose"(%k) {perm = array<i64: 0, 2, 1>} : (tensor<6x7x7xf32>) -> tensor<6x7x7xf32>
  %s1 = "infc.matmul"(%q, %kt) : (tensor<6x7x7xf32>, tensor<6x7x7xf32>) -> tensor<6x7x7xf32>
  %p1 = "infc.softmax"(%s1) {axis = 2 : i64} : (tensor<6x7x7xf32>) -> tensor<6x7x7xf32>
  %y1 = "infc.matmul"(%p1, %v) : (tensor<6x7x7xf32>, tensor<6x7x4xf32>) -> tensor<6x7x4xf32>
  %s2 = "infc.matmul"(%k, %kt) : (tensor<6x7x7xf32>, tensor<6x7x7xf32>) -> tensor<6x7x7xf32>
  %p2 = "infc.softmax"(%s2) {axis = 1 : i64} : (tensor<6x7x7xf32>) -> tensor<6x7x7xf32>
  %y2 = "infc.matmul"(%p2, %v) : (tensor<6x7x7xf32>, tensor<6x7x4xf32>) -> tensor<6x7x4xf32>
  %s3 = "infc.matmul"(%q, %k) : (tensor<6x7x7xf32>, tensor<6x7x7xf32>) -> tensor<6x7x7xf32>
  %p3 = "infc.softmax"(%s3) {axis = 2 : i64} : (tensor<6x7x7xf32>) -> tensor<6x7x7xf32>
  %y3 = "infc.matmul"(%p3, %v) : (tensor<6x7x7xf32>, tensor<6x7x4xf32>) -> tensor<6x7x4xf32>
  %s4 = "infc.matmul"(%q, %kt) : (tensor<6x7x7xf32>, tensor<6x7x7xf32>) -> tensor<6x7x7xf32>
  %p4 = "infc.softmax"(%s4) {axis = 2 : i64} : (tensor<6x7x7xf32>) -> tensor<6x7x7xf32>
  %y4 = "infc.matmul"(%p4, %w) : (tensor<6x7x7xf32>, tensor<7x4xf32>) -> tensor<6x7x4xf32>
  return %y1, %p1, %y2, %y3, %y4 : tensor<6x7x4xf32>, tensor<6x7x7xf32>, tensor<6x7x4xf32>, tensor<6x7x4xf32>, tensor<6x7x4xf32>
}
