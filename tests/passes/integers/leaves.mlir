// RUN: infc_opt %s --only integers | diff <(infc_opt %s) -
// Left alone: a float beside quantised activations; scales per input on either side.
func.func @main(%a: tensor<2x3xui8>, %b: tensor<3x4xf32>, %q: tensor<3x4xi8>) -> tensor<2x4xf32> {
  %s = "infc.weight"() {value = dense<0.5> : tensor<f32>} : () -> tensor<f32>
  %k = "infc.weight"() {value = dense<[[0.5], [0.25], [2.0]]> : tensor<3x1xf32>} : () -> tensor<3x1xf32>
  %c = "infc.weight"() {value = dense<[0.5, 0.25, 2.0]> : tensor<3xf32>} : () -> tensor<3xf32>
  %0 = "infc.convert"(%a) {to = "f32"} : (tensor<2x3xui8>) -> tensor<2x3xf32>
  %1 = "infc.map2"(%0, %s) {fn = "mul"} : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  %2 = "infc.map2"(%0, %c) {fn = "mul"} : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  %3 = "infc.convert"(%q) {to = "f32"} : (tensor<3x4xi8>) -> tensor<3x4xf32>
  %4 = "infc.map2"(%3, %k) {fn = "mul"} : (tensor<3x4xf32>, tensor<3x1xf32>) -> tensor<3x4xf32>
  %5 = "infc.map2"(%3, %s) {fn = "mul"} : (tensor<3x4xf32>, tensor<f32>) -> tensor<3x4xf32>
  %6 = "infc.matmul"(%1, %b) : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
  %7 = "infc.matmul"(%1, %4) : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
  %8 = "infc.matmul"(%2, %5) : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
  %9 = "infc.map3"(%6, %7, %8) {fn = "clip"} : (tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  return %9 : tensor<2x4xf32>
}
