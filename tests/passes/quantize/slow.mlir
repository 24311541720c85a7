// RUN: not infc_opt %s --only quantize --rule '^(a+)+$=int8' 2>&1 | FileCheck %s
// CHECK: error: precision.rules.match: matching "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab" takes too long; simplify the expression
func.func @main(%x: tensor<2x2xf32>) -> tensor<2x2xf32> {
  %w = "infc.weight"() {name = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab", value = dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>} : () -> tensor<2x2xf32>
  %0 = "infc.matmul"(%x, %w) : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  return %0 : tensor<2x2xf32>
}
