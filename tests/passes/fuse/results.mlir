// RUN: infc_opt %s --target x86-64 --only fuse | FileCheck %s
// A product with twelve results: a step has eight at most, so those that come last are steps of their own, which read
// the product.

// CHECK-LABEL: func.func @main
// CHECK: %[[R:.*]]:8 = call @matmul_{{[^(]*}}({{.*}})
// CHECK-COUNT-5: = call @map_{{[^(]*}}(%[[R]]#0)
// CHECK-NOT: call
// CHECK: return
func.func @main(%x: tensor<4x8xf32>) -> (tensor<4x16xf32>, tensor<4x16xf32>, tensor<4x16xf32>, tensor<4x16xf32>, tensor<4x16xf32>, tensor<4x16xf32>, tensor<4x16xf32>, tensor<4x16xf32>, tensor<4x16xf32>, tensor<4x16xf32>, tensor<4x16xf32>, tensor<4x16xf32>) {
  %v = "infc.weight"() {value = dense<2.0> : tensor<8x16xf32>} : () -> tensor<8x16xf32>
  %p = "infc.relayout"(%v) {layout = "panel"} : (tensor<8x16xf32>) -> tensor<8x16xf32, "panel">
  %y = "infc.matmul"(%x, %p) : (tensor<4x8xf32>, tensor<8x16xf32, "panel">) -> tensor<4x16xf32>
  %0 = "infc.map1"(%y) {fn = "relu"} : (tensor<4x16xf32>) -> tensor<4x16xf32>
  %1 = "infc.map1"(%y) {fn = "neg"} : (tensor<4x16xf32>) -> tensor<4x16xf32>
  %2 = "infc.map1"(%y) {fn = "abs"} : (tensor<4x16xf32>) -> tensor<4x16xf32>
  %3 = "infc.map1"(%y) {fn = "exp"} : (tensor<4x16xf32>) -> tensor<4x16xf32>
  %4 = "infc.map1"(%y) {fn = "sqrt"} : (tensor<4x16xf32>) -> tensor<4x16xf32>
  %5 = "infc.map1"(%y) {fn = "tanh"} : (tensor<4x16xf32>) -> tensor<4x16xf32>
  %6 = "infc.map1"(%y) {fn = "sigmoid"} : (tensor<4x16xf32>) -> tensor<4x16xf32>
  %7 = "infc.map1"(%y) {fn = "log"} : (tensor<4x16xf32>) -> tensor<4x16xf32>
  %8 = "infc.map1"(%y) {fn = "sin"} : (tensor<4x16xf32>) -> tensor<4x16xf32>
  %9 = "infc.map1"(%y) {fn = "cos"} : (tensor<4x16xf32>) -> tensor<4x16xf32>
  %10 = "infc.map1"(%y) {fn = "floor"} : (tensor<4x16xf32>) -> tensor<4x16xf32>
  %11 = "infc.map1"(%y) {fn = "ceil"} : (tensor<4x16xf32>) -> tensor<4x16xf32>
  return %0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11 : tensor<4x16xf32>, tensor<4x16xf32>, tensor<4x16xf32>, tensor<4x16xf32>, tensor<4x16xf32>, tensor<4x16xf32>, tensor<4x16xf32>, tensor<4x16xf32>, tensor<4x16xf32>, tensor<4x16xf32>, tensor<4x16xf32>, tensor<4x16xf32>
}
