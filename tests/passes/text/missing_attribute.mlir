// RUN: not infc_opt %s 2>&1 | FileCheck %s
// CHECK: error: {{.*}}fn
func.func @main(%x: tensor<1xf32>) -> tensor<1xf32> {
  %0 = "infc.map1"(%x) : (tensor<1xf32>) -> tensor<1xf32>
  return %0 : tensor<1xf32>
}
