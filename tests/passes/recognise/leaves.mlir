// RUN: infc_opt %s --only recognise | diff <(infc_opt %s) -
// A sum that is divided by another count; a deviation of something else; the maximum of another axis; a factor that is
// not a half; the sigmoid of something else.
func.func @main(%x: tensor<8x8xf32>, %y: tensor<8x8xf32>) -> (tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>) {
  %n = "infc.weight"() {value = dense<8.0> : tensor<f32>} : () -> tensor<f32>
  %m = "infc.weight"() {value = dense<7.0> : tensor<f32>} : () -> tensor<f32>
  %one = "infc.weight"() {value = dense<1.0> : tensor<f32>} : () -> tensor<f32>
  %root2 = "infc.weight"() {value = dense<1.41421354> : tensor<f32>} : () -> tensor<f32>
  %xx = "infc.map2"(%x, %x) {fn = "mul"} : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %s = "infc.reduce_sum"(%xx) {axes = array<i64: 1>} : (tensor<8x8xf32>) -> tensor<8x1xf32>
  %v7 = "infc.map2"(%s, %m) {fn = "div"} : (tensor<8x1xf32>, tensor<f32>) -> tensor<8x1xf32>
  %d7 = "infc.map1"(%v7) {fn = "sqrt"} : (tensor<8x1xf32>) -> tensor<8x1xf32>
  %a = "infc.map2"(%x, %d7) {fn = "div"} : (tensor<8x8xf32>, tensor<8x1xf32>) -> tensor<8x8xf32>
  %v8 = "infc.map2"(%s, %n) {fn = "div"} : (tensor<8x1xf32>, tensor<f32>) -> tensor<8x1xf32>
  %d8 = "infc.map1"(%v8) {fn = "sqrt"} : (tensor<8x1xf32>) -> tensor<8x1xf32>
  %b = "infc.map2"(%y, %d8) {fn = "div"} : (tensor<8x8xf32>, tensor<8x1xf32>) -> tensor<8x8xf32>
  %mx = "infc.reduce_max"(%x) {axes = array<i64: 0>} : (tensor<8x8xf32>) -> tensor<1x8xf32>
  %sh = "infc.map2"(%x, %mx) {fn = "sub"} : (tensor<8x8xf32>, tensor<1x8xf32>) -> tensor<8x8xf32>
  %ex = "infc.map1"(%sh) {fn = "exp"} : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %es = "infc.reduce_sum"(%ex) {axes = array<i64: 1>} : (tensor<8x8xf32>) -> tensor<8x1xf32>
  %c = "infc.map2"(%ex, %es) {fn = "div"} : (tensor<8x8xf32>, tensor<8x1xf32>) -> tensor<8x8xf32>
  %g0 = "infc.map2"(%x, %root2) {fn = "div"} : (tensor<8x8xf32>, tensor<f32>) -> tensor<8x8xf32>
  %g1 = "infc.map1"(%g0) {fn = "erf"} : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %g2 = "infc.map2"(%g1, %one) {fn = "add"} : (tensor<8x8xf32>, tensor<f32>) -> tensor<8x8xf32>
  %d = "infc.map2"(%x, %g2) {fn = "mul"} : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %s0 = "infc.map1"(%y) {fn = "sigmoid"} : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %e = "infc.map2"(%s0, %x) {fn = "mul"} : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  return %a, %b, %c, %d, %e : tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>
}
