// RUN: infc_opt %s > /dev/null
// RUN: infc_opt %s --only simplify | diff <(infc_opt %s) -
// What must stay, since a bit would change: x + 0 and x - -0 make -0 into +0; 0 - x and 1 / x are no identities;
// a clip with infinite limits makes NaN into a limit; a factor 1 that broadcasts x to more elements; a constant
// that is 1 but for one element; a transpose that moves elements.
func.func @main(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<2x4xf32>, tensor<4xf32>, tensor<4x2xf32>) {
  %zero = "infc.weight"() {value = dense<0.0> : tensor<f32>} : () -> tensor<f32>
  %minus = "infc.weight"() {value = dense<-0.0> : tensor<f32>} : () -> tensor<f32>
  %one = "infc.weight"() {value = dense<1.0> : tensor<f32>} : () -> tensor<f32>
  %low = "infc.weight"() {value = dense<0xFF800000> : tensor<f32>} : () -> tensor<f32>
  %high = "infc.weight"() {value = dense<0x7F800000> : tensor<f32>} : () -> tensor<f32>
  %ones = "infc.weight"() {value = dense<1.0> : tensor<2x4xf32>} : () -> tensor<2x4xf32>
  %nearly = "infc.weight"() {value = dense<[1.0, 1.0, 2.0, 1.0]> : tensor<4xf32>} : () -> tensor<4xf32>
  %0 = "infc.map2"(%x, %zero) {fn = "add"} : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %1 = "infc.map2"(%x, %minus) {fn = "sub"} : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %2 = "infc.map2"(%zero, %x) {fn = "sub"} : (tensor<f32>, tensor<4xf32>) -> tensor<4xf32>
  %3 = "infc.map2"(%one, %x) {fn = "div"} : (tensor<f32>, tensor<4xf32>) -> tensor<4xf32>
  %4 = "infc.map3"(%x, %low, %high) {fn = "clip"} : (tensor<4xf32>, tensor<f32>, tensor<f32>) -> tensor<4xf32>
  %5 = "infc.map2"(%x, %ones) {fn = "mul"} : (tensor<4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  %6 = "infc.map2"(%x, %nearly) {fn = "mul"} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %7 = "infc.transpose"(%5) {perm = array<i64: 1, 0>} : (tensor<2x4xf32>) -> tensor<4x2xf32>
  return %0, %1, %2, %3, %4, %5, %6, %7 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<2x4xf32>, tensor<4xf32>, tensor<4x2xf32>
}
