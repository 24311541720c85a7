// RUN: not infc_opt %s --only quantize --weights int8 2>&1 | FileCheck %s
// CHECK: error: weight "w" holds NaN or infinity and cannot be int8; keep it f32 with a rule in precision.rules
func.func @main(%x: tensor<2x2xf32>) -> tensor<2x2xf32> {
  %w = "infc.weight"() {name = "w", value = dense<[[1.0, 0x7FC00000], [3.0, 4.0]]> : tensor<2x2xf32>} : () -> tensor<2x2xf32>
  %0 = "infc.matmul"(%x, %w) : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  return %0 : tensor<2x2xf32>
}
