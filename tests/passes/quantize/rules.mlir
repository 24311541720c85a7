// RUN: infc_opt %s --only quantize --rule '^head=int8' | FileCheck %s --check-prefix=HEAD
// RUN: infc_opt %s --only quantize --weights int8 --rule '^head=f32' --rule 'head=int8' | FileCheck %s --check-prefix=BODY
// RUN: infc_opt %s --only quantize --rule '^nothing=int8' 2>&1 | FileCheck %s --check-prefix=IDLE
// IDLE: warning: precision.rules: "^nothing" matches no weight
// RUN: not infc_opt %s --only quantize --rule '(=int8' 2>&1 | FileCheck %s --check-prefix=BAD
// RUN: infc_opt %s --only fold-constants | infc_opt - --only quantize --rule '^head=int8' | FileCheck %s --check-prefix=HEAD
// Rules are searched for in weight names, the first that matches wins; a weight goes by its own name when
// it is transposed, and after that was folded.

// HEAD: "infc.matmul"({{.*}}) : (tensor<1x2xf32>, tensor<2x2xf32>)
// HEAD: "infc.matmul"({{.*}}) : (tensor<1x2xf32>, tensor<2x2xi8>)
// BODY: "infc.matmul"({{.*}}) : (tensor<1x2xf32>, tensor<2x2xi8>)
// BODY: "infc.matmul"({{.*}}) : (tensor<1x2xf32>, tensor<2x2xf32>)
// BAD: error: "(" at character 2: missing closing parenthesis
func.func @main(%x: tensor<1x2xf32>) -> tensor<1x2xf32> {
  %w = "infc.weight"() {name = "body.w", value = dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>} : () -> tensor<2x2xf32>
  %h = "infc.weight"() {name = "head.w", value = dense<[[1.0, 2.0], [3.0, 5.0]]> : tensor<2x2xf32>} : () -> tensor<2x2xf32>
  %t = "infc.transpose"(%h) {perm = array<i64: 1, 0>} : (tensor<2x2xf32>) -> tensor<2x2xf32>
  %0 = "infc.matmul"(%x, %w) : (tensor<1x2xf32>, tensor<2x2xf32>) -> tensor<1x2xf32>
  %1 = "infc.matmul"(%0, %t) : (tensor<1x2xf32>, tensor<2x2xf32>) -> tensor<1x2xf32>
  return %1 : tensor<1x2xf32>
}
