// RUN: infc_opt %s --only import-check 2>&1 | diff <(infc_opt %s) -
func.func @main(%x: tensor<4xf32> {infc.name = "x"}) -> (tensor<4xf32> {infc.name = "y"}) {
  %0 = "infc.map1"(%x) {fn = "neg", out = "y"} : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
