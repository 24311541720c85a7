// RUN: infc_opt %s --only cse | FileCheck %s
// RUN: diff <(infc_opt %s --only cse --eval | sed -n 's|^// before ||p') <(infc_opt %s --only cse --eval | sed -n 's|^// after ||p')
// Equal ops become one, whatever their tensor names; the first keeps its name, or takes the other's. Equal
// constants are one even under two ids; equal bytes of another shape are not, nor are other attributes.

func.func @main(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<2x2xf32>) {
  // CHECK: %[[C:.*]] = "infc.weight"() {id = 0
  %c = "infc.weight"() {name = "c", value = dense<2.0> : tensor<4xf32>} : () -> tensor<4xf32>
  %d = "infc.weight"() {name = "d", value = dense<2.0> : tensor<4xf32>} : () -> tensor<4xf32>
  // CHECK: %[[E:.*]] = "infc.weight"() {id = 2
  %e = "infc.weight"() {name = "e", value = dense<2.0> : tensor<2x2xf32>} : () -> tensor<2x2xf32>
  // CHECK: %[[M:.*]] = "infc.map2"(%arg0, %[[C]]) {fn = "mul", out = "second"}
  %0 = "infc.map2"(%x, %c) {fn = "mul"} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %1 = "infc.map2"(%x, %d) {fn = "mul", out = "second"} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  // CHECK: %[[A:.*]] = "infc.map2"(%arg0, %[[C]]) {fn = "add"}
  %2 = "infc.map2"(%x, %d) {fn = "add"} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  // CHECK: return %[[M]], %[[M]], %[[A]], %[[E]]
  return %0, %1, %2, %e : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<2x2xf32>
}
