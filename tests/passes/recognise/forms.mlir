// RUN: infc_opt %s --only recognise | FileCheck %s
// Layer normalisation by division and by the reciprocal, RMS normalisation, softmax, activations in other orders of
// their factors. The constants are what exporters write.
func.func @main(%x: tensor<2x8xf32>) -> (tensor<2x8xf32>, tensor<2x8xf32>, tensor<2x8xf32>, tensor<2x8xf32>, tensor<2x8xf32>, tensor<2x8xf32>, tensor<2x8xf32>, tensor<2x8xf32>, tensor<2x8xf32>) {
  %n = "infc.weight"() {value = dense<8.0> : tensor<f32>} : () -> tensor<f32>
  %eps = "infc.weight"() {value = dense<1.0e-5> : tensor<f32>} : () -> tensor<f32>
  %one = "infc.weight"() {value = dense<1.0> : tensor<f32>} : () -> tensor<f32>
  %half = "infc.weight"() {value = dense<0.5> : tensor<f32>} : () -> tensor<f32>
  %two = "infc.weight"() {value = dense<2.0> : tensor<f32>} : () -> tensor<f32>
  %three = "infc.weight"() {value = dense<3.0> : tensor<f32>} : () -> tensor<f32>
  %zero = "infc.weight"() {value = dense<0.0> : tensor<f32>} : () -> tensor<f32>
  %six = "infc.weight"() {value = dense<6.0> : tensor<f32>} : () -> tensor<f32>
  %root2 = "infc.weight"() {value = dense<1.41421354> : tensor<f32>} : () -> tensor<f32>
  %k = "infc.weight"() {value = dense<0.797884583> : tensor<f32>} : () -> tensor<f32>
  %c = "infc.weight"() {value = dense<0.044715> : tensor<f32>} : () -> tensor<f32>
  %quick = "infc.weight"() {value = dense<1.702> : tensor<f32>} : () -> tensor<f32>
  %s = "infc.reduce_sum"(%x) {axes = array<i64: 1>} : (tensor<2x8xf32>) -> tensor<2x1xf32>
  %mean = "infc.map2"(%s, %n) {fn = "div"} : (tensor<2x1xf32>, tensor<f32>) -> tensor<2x1xf32>
  %d = "infc.map2"(%x, %mean) {fn = "sub"} : (tensor<2x8xf32>, tensor<2x1xf32>) -> tensor<2x8xf32>
  %dd = "infc.map2"(%d, %d) {fn = "mul"} : (tensor<2x8xf32>, tensor<2x8xf32>) -> tensor<2x8xf32>
  %ss = "infc.reduce_sum"(%dd) {axes = array<i64: 1>} : (tensor<2x8xf32>) -> tensor<2x1xf32>
  %var = "infc.map2"(%ss, %n) {fn = "div"} : (tensor<2x1xf32>, tensor<f32>) -> tensor<2x1xf32>
  %ve = "infc.map2"(%eps, %var) {fn = "add"} : (tensor<f32>, tensor<2x1xf32>) -> tensor<2x1xf32>
  %sd = "infc.map1"(%ve) {fn = "sqrt"} : (tensor<2x1xf32>) -> tensor<2x1xf32>
  // CHECK: %[[LN:.*]] = "infc.norm"({{.*}}) {center = 1 : i64, epsilon = 925353388 : i64
  %ln = "infc.map2"(%d, %sd) {fn = "div"} : (tensor<2x8xf32>, tensor<2x1xf32>) -> tensor<2x8xf32>
  %inv = "infc.map2"(%one, %sd) {fn = "div"} : (tensor<f32>, tensor<2x1xf32>) -> tensor<2x1xf32>
  // CHECK: %[[LN2:.*]] = "infc.norm"({{.*}}) {center = 1 : i64, epsilon = 925353388 : i64
  %ln2 = "infc.map2"(%inv, %d) {fn = "mul"} : (tensor<2x1xf32>, tensor<2x8xf32>) -> tensor<2x8xf32>
  %xx = "infc.map2"(%x, %two) {fn = "pow"} : (tensor<2x8xf32>, tensor<f32>) -> tensor<2x8xf32>
  %sx = "infc.reduce_sum"(%xx) {axes = array<i64: 1>} : (tensor<2x8xf32>) -> tensor<2x1xf32>
  %ms = "infc.map2"(%sx, %n) {fn = "div"} : (tensor<2x1xf32>, tensor<f32>) -> tensor<2x1xf32>
  %me = "infc.map2"(%ms, %eps) {fn = "add"} : (tensor<2x1xf32>, tensor<f32>) -> tensor<2x1xf32>
  %rs = "infc.map1"(%me) {fn = "sqrt"} : (tensor<2x1xf32>) -> tensor<2x1xf32>
  %ri = "infc.map1"(%rs) {fn = "reciprocal"} : (tensor<2x1xf32>) -> tensor<2x1xf32>
  // CHECK: %[[RMS:.*]] = "infc.norm"({{.*}}) {center = 0 : i64, epsilon = 925353388 : i64
  %rms = "infc.map2"(%x, %ri) {fn = "mul"} : (tensor<2x8xf32>, tensor<2x1xf32>) -> tensor<2x8xf32>
  %mx = "infc.reduce_max"(%x) {axes = array<i64: 1>} : (tensor<2x8xf32>) -> tensor<2x1xf32>
  %sh = "infc.map2"(%x, %mx) {fn = "sub"} : (tensor<2x8xf32>, tensor<2x1xf32>) -> tensor<2x8xf32>
  %ex = "infc.map1"(%sh) {fn = "exp"} : (tensor<2x8xf32>) -> tensor<2x8xf32>
  %es = "infc.reduce_sum"(%ex) {axes = array<i64: 1>} : (tensor<2x8xf32>) -> tensor<2x1xf32>
  // CHECK: %[[SM:.*]] = "infc.softmax"({{.*}}) {axis = 1 : i64
  %sm = "infc.map2"(%ex, %es) {fn = "div"} : (tensor<2x8xf32>, tensor<2x1xf32>) -> tensor<2x8xf32>
  %g0 = "infc.map2"(%x, %root2) {fn = "div"} : (tensor<2x8xf32>, tensor<f32>) -> tensor<2x8xf32>
  %g1 = "infc.map1"(%g0) {fn = "erf"} : (tensor<2x8xf32>) -> tensor<2x8xf32>
  %g2 = "infc.map2"(%g1, %one) {fn = "add"} : (tensor<2x8xf32>, tensor<f32>) -> tensor<2x8xf32>
  %g3 = "infc.map2"(%x, %g2) {fn = "mul"} : (tensor<2x8xf32>, tensor<2x8xf32>) -> tensor<2x8xf32>
  // CHECK: %[[GELU:.*]] = "infc.map1"({{.*}}) {fn = "gelu"
  %gelu = "infc.map2"(%g3, %half) {fn = "mul"} : (tensor<2x8xf32>, tensor<f32>) -> tensor<2x8xf32>
  %t0 = "infc.map2"(%x, %three) {fn = "pow"} : (tensor<2x8xf32>, tensor<f32>) -> tensor<2x8xf32>
  %t1 = "infc.map2"(%c, %t0) {fn = "mul"} : (tensor<f32>, tensor<2x8xf32>) -> tensor<2x8xf32>
  %t2 = "infc.map2"(%x, %t1) {fn = "add"} : (tensor<2x8xf32>, tensor<2x8xf32>) -> tensor<2x8xf32>
  %t3 = "infc.map2"(%k, %t2) {fn = "mul"} : (tensor<f32>, tensor<2x8xf32>) -> tensor<2x8xf32>
  %t4 = "infc.map1"(%t3) {fn = "tanh"} : (tensor<2x8xf32>) -> tensor<2x8xf32>
  %t5 = "infc.map2"(%one, %t4) {fn = "add"} : (tensor<f32>, tensor<2x8xf32>) -> tensor<2x8xf32>
  %t6 = "infc.map2"(%half, %x) {fn = "mul"} : (tensor<f32>, tensor<2x8xf32>) -> tensor<2x8xf32>
  // CHECK: %[[TANH:.*]] = "infc.map1"({{.*}}) {fn = "gelu_tanh"
  %tanh = "infc.map2"(%t6, %t5) {fn = "mul"} : (tensor<2x8xf32>, tensor<2x8xf32>) -> tensor<2x8xf32>
  %s0 = "infc.map1"(%x) {fn = "sigmoid"} : (tensor<2x8xf32>) -> tensor<2x8xf32>
  // CHECK: %[[SILU:.*]] = "infc.map1"({{.*}}) {fn = "silu"
  %silu = "infc.map2"(%s0, %x) {fn = "mul"} : (tensor<2x8xf32>, tensor<2x8xf32>) -> tensor<2x8xf32>
  %q0 = "infc.map2"(%x, %quick) {fn = "mul"} : (tensor<2x8xf32>, tensor<f32>) -> tensor<2x8xf32>
  %q1 = "infc.map1"(%q0) {fn = "sigmoid"} : (tensor<2x8xf32>) -> tensor<2x8xf32>
  // CHECK: %[[QUICK:.*]] = "infc.map1"({{.*}}) {fn = "gelu_quick"
  %q2 = "infc.map2"(%x, %q1) {fn = "mul"} : (tensor<2x8xf32>, tensor<2x8xf32>) -> tensor<2x8xf32>
  %h0 = "infc.map2"(%x, %three) {fn = "add"} : (tensor<2x8xf32>, tensor<f32>) -> tensor<2x8xf32>
  %h1 = "infc.map3"(%h0, %zero, %six) {fn = "clip"} : (tensor<2x8xf32>, tensor<f32>, tensor<f32>) -> tensor<2x8xf32>
  %h2 = "infc.map2"(%x, %h1) {fn = "mul"} : (tensor<2x8xf32>, tensor<2x8xf32>) -> tensor<2x8xf32>
  // CHECK: %[[SWISH:.*]] = "infc.map1"({{.*}}) {fn = "hardswish"
  %h3 = "infc.map2"(%h2, %six) {fn = "div"} : (tensor<2x8xf32>, tensor<f32>) -> tensor<2x8xf32>
  // CHECK: return %[[LN]], %[[LN2]], %[[RMS]], %[[SM]], %[[GELU]], %[[TANH]], %[[SILU]], %[[QUICK]], %[[SWISH]]
  return %ln, %ln2, %rms, %sm, %gelu, %tanh, %silu, %q2, %h3 : tensor<2x8xf32>, tensor<2x8xf32>, tensor<2x8xf32>, tensor<2x8xf32>, tensor<2x8xf32>, tensor<2x8xf32>, tensor<2x8xf32>, tensor<2x8xf32>, tensor<2x8xf32>
}
