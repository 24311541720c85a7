// RUN: infc_opt %s --only fold-constants | FileCheck %s
// 100 * 100 results, each the maximum of 400 * 400: over a billion operations, so the pool stays.

// CHECK-LABEL: func.func @main
// CHECK: "infc.pool_max"
// CHECK: return
func.func @main() -> tensor<1x1x100x100xf32> {
  %a = "infc.weight"() {value = dense<0.5> : tensor<1x1x499x499xf32>} : () -> tensor<1x1x499x499xf32>
  %0 = "infc.pool_max"(%a) {kernel = array<i64: 400, 400>, strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : (tensor<1x1x499x499xf32>) -> tensor<1x1x100x100xf32>
  return %0 : tensor<1x1x100x100xf32>
}
