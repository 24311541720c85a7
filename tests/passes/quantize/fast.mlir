// RUN: infc_opt %s --only quantize --float fast | FileCheck %s
// RUN: infc_opt %s --only quantize --float fast --weights f32 | FileCheck %s --check-prefix=F32
// RUN: infc_opt %s --only quantize --float fast --rule '^w=int8' | FileCheck %s --check-prefix=RULE
// Constant matrices become bf16, to nearest, half to even; once, where two ops share one. What is computed stays f32, as
// does what the spec says is f32.

// CHECK: "infc.weight"() {id = 1 : i64, name = "w", value = dense<{{\[\[}}1.000000e+00, 1.007810e+00], [1.015630e+00, 4.000000e+00]]> : tensor<2x2xbf16>}
// CHECK: "infc.weight"() {id = 1 : i64, name = "w"
// F32-NOT: bf16
// RULE-NOT: bf16
// RULE: tensor<2x2xi8>
func.func @main(%x: tensor<2x2xf32>) -> (tensor<2x2xf32>, tensor<2x2xf32>) {
  %w = "infc.weight"() {name = "w", value = dense<[[1.0, 1.0078125], [1.01171875, 4.0]]> : tensor<2x2xf32>} : () -> tensor<2x2xf32>
  %0 = "infc.matmul"(%x, %w) : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  %1 = "infc.matmul"(%0, %w) : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  return %0, %1 : tensor<2x2xf32>, tensor<2x2xf32>
}
