// RUN: infc_opt %s --only import-check 2>&1 | FileCheck %s --implicit-check-not=error
// A constant without elements may be returned, for nothing computes on it.

// CHECK-DAG: warning: output "nothing" is the same for all inputs
// CHECK-DAG: "infc.weight"() {{.*}} -> tensor<0x4xf32>
func.func @main(%x: tensor<4xf32> {infc.name = "x"}) -> (tensor<4xf32> {infc.name = "y"}, tensor<0x4xf32> {infc.name = "nothing"}) {
  %c = "infc.weight"() {value = dense<> : tensor<0x4xf32>} : () -> tensor<0x4xf32>
  %0 = "infc.map1"(%x) {fn = "neg", out = "y"} : (tensor<4xf32>) -> tensor<4xf32>
  return %0, %c : tensor<4xf32>, tensor<0x4xf32>
}
