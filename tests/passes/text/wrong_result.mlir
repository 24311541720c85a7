// RUN: not infc_opt %s 2>&1 | FileCheck %s
// CHECK: input.mlir:4:{{[0-9]+}}: error: map2: the result is f32[1,3] but should be f32[2,3]
func.func @main(%x: tensor<2x3xf32>, %y: tensor<3xf32>) -> tensor<1x3xf32> {
  %0 = "infc.map2"(%x, %y) {fn = "add"} : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<1x3xf32>
  return %0 : tensor<1x3xf32>
}
