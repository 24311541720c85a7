// RUN: infc_opt %s --only dce | FileCheck %s
// RUN: diff <(infc_opt %s --only dce --eval | sed -n 's|^// before ||p') <(infc_opt %s --only dce --eval | sed -n 's|^// after ||p')
// A chain without uses goes in one sweep, its constant too; what is used, and arguments, stay.

// CHECK: func.func @main(%arg0: tensor<4xf32>, %arg1: tensor<4xf32>)
// CHECK-NEXT: "infc.map1"(%arg0) {fn = "neg"}
// CHECK-NEXT: return
func.func @main(%x: tensor<4xf32>, %unused: tensor<4xf32>) -> tensor<4xf32> {
  %w = "infc.weight"() {value = dense<2.0> : tensor<4xf32>} : () -> tensor<4xf32>
  %0 = "infc.map2"(%x, %w) {fn = "mul"} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %1 = "infc.map1"(%0) {fn = "relu"} : (tensor<4xf32>) -> tensor<4xf32>
  %2 = "infc.map1"(%x) {fn = "neg"} : (tensor<4xf32>) -> tensor<4xf32>
  return %2 : tensor<4xf32>
}
