// RUN: infc_opt %s --only fold-constants | FileCheck %s
// RUN: diff <(infc_opt %s --only fold-constants --eval | sed -n 's|^// before ||p') <(infc_opt %s --only fold-constants --eval | sed -n 's|^// after ||p')
// BatchNormalization's s = scale / sqrt(var + eps) of scale 3 and 8, var 4 and 16, eps 0: 1.5 and 2.
// Results over 64 KiB (tensor<16385xf32>) and relayouts stay; so does what needs an input.

func.func @main(%x: tensor<2xf32>) -> (tensor<2xf32>, tensor<16385xf32>, tensor<1x1x2x2xf32, "c16">, tensor<2xf32>, tensor<2x2xi64>) {
  // CHECK: %[[S:.*]] = "infc.weight"() {{.*}}out = "s", value = dense<[1.500000e+00, 2.000000e+00]>
  %scale = "infc.weight"() {value = dense<[3.0, 8.0]> : tensor<2xf32>} : () -> tensor<2xf32>
  %var = "infc.weight"() {value = dense<[4.0, 16.0]> : tensor<2xf32>} : () -> tensor<2xf32>
  %eps = "infc.weight"() {value = dense<0.0> : tensor<f32>} : () -> tensor<f32>
  %0 = "infc.map2"(%var, %eps) {fn = "add"} : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
  %1 = "infc.map1"(%0) {fn = "sqrt"} : (tensor<2xf32>) -> tensor<2xf32>
  %2 = "infc.map2"(%scale, %1) {fn = "div", out = "s"} : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  // CHECK: %[[BIG:.*]] = "infc.map1"({{.*}}) {fn = "neg"}
  %big = "infc.weight"() {value = dense<2.0> : tensor<16385xf32>} : () -> tensor<16385xf32>
  %3 = "infc.map1"(%big) {fn = "neg"} : (tensor<16385xf32>) -> tensor<16385xf32>
  // CHECK: %[[R:.*]] = "infc.relayout"
  %img = "infc.weight"() {value = dense<2.0> : tensor<1x1x2x2xf32>} : () -> tensor<1x1x2x2xf32>
  %4 = "infc.relayout"(%img) {layout = "c16"} : (tensor<1x1x2x2xf32>) -> tensor<1x1x2x2xf32, "c16">
  // CHECK: %[[X:.*]] = "infc.map2"(%arg0, %[[S]]) {fn = "add"}
  %5 = "infc.map2"(%x, %2) {fn = "add"} : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  // CHECK: %[[T:.*]] = "infc.weight"() {{.*}}dense<{{\[\[}}1, 3], [2, -9223372036854775808]]> : tensor<2x2xi64>
  %n = "infc.weight"() {value = dense<[[1, 2], [3, -9223372036854775808]]> : tensor<2x2xi64>} : () -> tensor<2x2xi64>
  %6 = "infc.transpose"(%n) {perm = array<i64: 1, 0>} : (tensor<2x2xi64>) -> tensor<2x2xi64>
  // CHECK: return %[[S]], %[[BIG]], %[[R]], %[[X]], %[[T]]
  return %2, %3, %4, %5, %6 : tensor<2xf32>, tensor<16385xf32>, tensor<1x1x2x2xf32, "c16">, tensor<2xf32>, tensor<2x2xi64>
}
