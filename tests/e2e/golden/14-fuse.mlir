// dumped by infc: fuse
module {
  func.func @main(%arg0: tensor<1x1x8x8xf32> {infc.name = "image"}) -> (tensor<1x10xf32> {infc.name = "probabilities"}) {
    %0 = "infc.weight"() {hash = "122d2b09d3eaf2187338c5d03644e06c", id = 36 : i64, name = "conv1.weight"} : () -> tensor<16x1x3x3xf32>
    %1 = "infc.relayout"(%0) {layout = "panel"} : (tensor<16x1x3x3xf32>) -> tensor<16x1x3x3xf32, "panel">
    %2 = "infc.weight"() {id = 37 : i64, name = "bn1.bias", value = dense<[[[0.476268739]], [[0.507963836]], [[1.03577924]], [[0.959470391]], [[-0.0132186413]], [[-0.361204594]], [[-0.503505111]], [[0.692254901]], [[-0.760756969]], [[0.0843401923]], [[-0.00708906352]], [[0.0666158125]], [[0.447086096]], [[0.444462836]], [[0.236079603]], [[-0.260736912]]]> : tensor<16x1x1xf32>} : () -> tensor<16x1x1xf32>
    %3 = "infc.weight"() {hash = "29af96a5b48ece2659b285c61d87cf2e", id = 38 : i64, name = "conv2.weight"} : () -> tensor<32x16x3x3xf32>
    %4 = "infc.relayout"(%3) {layout = "panel"} : (tensor<32x16x3x3xf32>) -> tensor<32x16x3x3xf32, "panel">
    %5 = "infc.weight"() {hash = "738f1181c87b860acdf813e4aa4fc2dc", id = 39 : i64, name = "bn2.bias"} : () -> tensor<32x1x1xf32>
    %6 = "infc.weight"() {hash = "3b2168398adcfbecc7757998ab7cf81d", id = 40 : i64, name = "conv3.weight"} : () -> tensor<32x32x3x3xf32>
    %7 = "infc.relayout"(%6) {layout = "panel"} : (tensor<32x32x3x3xf32>) -> tensor<32x32x3x3xf32, "panel">
    %8 = "infc.weight"() {hash = "94e25da9961289e676b3856b83e51a43", id = 41 : i64, name = "bn3.bias"} : () -> tensor<32x1x1xf32>
    %9 = "infc.weight"() {hash = "27a2f3e8ea17c756e10c3b5c1609235d", id = 35 : i64, name = "head.weight"} : () -> tensor<32x10xf32>
    %10 = "infc.relayout"(%9) {layout = "panel"} : (tensor<32x10xf32>) -> tensor<32x10xf32, "panel">
    %11 = "infc.weight"() {id = 19 : i64, name = "head.bias", value = dense<[-0.0524544194, -0.0412406437, 0.0453754738, -0.0133981481, 0.0173153616, 0.0457303897, -0.0308169704, 0.0624696277, 0.0860575139, -0.0624178685]> : tensor<10xf32>} : () -> tensor<10xf32>
    %12 = call @conv1_relu(%arg0, %1, %2) : (tensor<1x1x8x8xf32>, tensor<16x1x3x3xf32, "panel">, tensor<16x1x1xf32>) -> tensor<1x16x8x8xf32, "c16">
    %13 = call @conv2_relu(%12, %4, %5) : (tensor<1x16x8x8xf32, "c16">, tensor<32x16x3x3xf32, "panel">, tensor<32x1x1xf32>) -> tensor<1x32x8x8xf32, "c16">
    %14 = call @pool(%13) : (tensor<1x32x8x8xf32, "c16">) -> tensor<1x32x4x4xf32, "c16">
    %15 = call @conv3_relu(%14, %7, %8) : (tensor<1x32x4x4xf32, "c16">, tensor<32x32x3x3xf32, "panel">, tensor<32x1x1xf32>) -> tensor<1x32x4x4xf32, "c16">
    %16 = call @gap(%15) : (tensor<1x32x4x4xf32, "c16">) -> tensor<1x32x1x1xf32>
    %17 = "infc.reshape"(%16) {out = "/flatten/Flatten_output_0", shape = array<i64: 1, 32>} : (tensor<1x32x1x1xf32>) -> tensor<1x32xf32>
    %18 = call @head(%17, %10, %11) : (tensor<1x32xf32>, tensor<32x10xf32, "panel">, tensor<10xf32>) -> tensor<1x10xf32>
    %19 = call @softmax(%18) : (tensor<1x10xf32>) -> tensor<1x10xf32>
    return %19 : tensor<1x10xf32>
  }
  func.func private @conv1_relu(%arg0: tensor<1x1x8x8xf32>, %arg1: tensor<16x1x3x3xf32, "panel">, %arg2: tensor<16x1x1xf32>) -> tensor<1x16x8x8xf32, "c16"> {
    %0 = "infc.conv"(%arg0, %arg1) {dilations = array<i64: 1, 1>, groups = 1 : i64, pads = array<i64: 1, 1, 1, 1>, strides = array<i64: 1, 1>} : (tensor<1x1x8x8xf32>, tensor<16x1x3x3xf32, "panel">) -> tensor<1x16x8x8xf32, "c16">
    %1 = "infc.map2"(%0, %arg2) {fn = "add", out = "/bn1/BatchNormalization_output_0"} : (tensor<1x16x8x8xf32, "c16">, tensor<16x1x1xf32>) -> tensor<1x16x8x8xf32, "c16">
    %2 = "infc.map1"(%1) {fn = "relu", out = "/relu1/Relu_output_0"} : (tensor<1x16x8x8xf32, "c16">) -> tensor<1x16x8x8xf32, "c16">
    return %2 : tensor<1x16x8x8xf32, "c16">
  }
  func.func private @conv2_relu(%arg0: tensor<1x16x8x8xf32, "c16">, %arg1: tensor<32x16x3x3xf32, "panel">, %arg2: tensor<32x1x1xf32>) -> tensor<1x32x8x8xf32, "c16"> {
    %0 = "infc.conv"(%arg0, %arg1) {dilations = array<i64: 1, 1>, groups = 1 : i64, pads = array<i64: 1, 1, 1, 1>, strides = array<i64: 1, 1>} : (tensor<1x16x8x8xf32, "c16">, tensor<32x16x3x3xf32, "panel">) -> tensor<1x32x8x8xf32, "c16">
    %1 = "infc.map2"(%0, %arg2) {fn = "add", out = "/bn2/BatchNormalization_output_0"} : (tensor<1x32x8x8xf32, "c16">, tensor<32x1x1xf32>) -> tensor<1x32x8x8xf32, "c16">
    %2 = "infc.map1"(%1) {fn = "relu", out = "/relu2/Relu_output_0"} : (tensor<1x32x8x8xf32, "c16">) -> tensor<1x32x8x8xf32, "c16">
    return %2 : tensor<1x32x8x8xf32, "c16">
  }
  func.func private @pool(%arg0: tensor<1x32x8x8xf32, "c16">) -> tensor<1x32x4x4xf32, "c16"> {
    %0 = "infc.pool_max"(%arg0) {dilations = array<i64: 1, 1>, kernel = array<i64: 2, 2>, out = "/pool/MaxPool_output_0", pads = array<i64: 0, 0, 0, 0>, strides = array<i64: 2, 2>} : (tensor<1x32x8x8xf32, "c16">) -> tensor<1x32x4x4xf32, "c16">
    return %0 : tensor<1x32x4x4xf32, "c16">
  }
  func.func private @conv3_relu(%arg0: tensor<1x32x4x4xf32, "c16">, %arg1: tensor<32x32x3x3xf32, "panel">, %arg2: tensor<32x1x1xf32>) -> tensor<1x32x4x4xf32, "c16"> {
    %0 = "infc.conv"(%arg0, %arg1) {dilations = array<i64: 1, 1>, groups = 1 : i64, pads = array<i64: 1, 1, 1, 1>, strides = array<i64: 1, 1>} : (tensor<1x32x4x4xf32, "c16">, tensor<32x32x3x3xf32, "panel">) -> tensor<1x32x4x4xf32, "c16">
    %1 = "infc.map2"(%0, %arg2) {fn = "add", out = "/bn3/BatchNormalization_output_0"} : (tensor<1x32x4x4xf32, "c16">, tensor<32x1x1xf32>) -> tensor<1x32x4x4xf32, "c16">
    %2 = "infc.map1"(%1) {fn = "relu", out = "/relu3/Relu_output_0"} : (tensor<1x32x4x4xf32, "c16">) -> tensor<1x32x4x4xf32, "c16">
    return %2 : tensor<1x32x4x4xf32, "c16">
  }
  func.func private @gap(%arg0: tensor<1x32x4x4xf32, "c16">) -> tensor<1x32x1x1xf32> {
    %0 = "infc.pool_avg"(%arg0) {count_include_pad = 0 : i64, dilations = array<i64: 1, 1>, kernel = array<i64: 4, 4>, out = "/gap/GlobalAveragePool_output_0", pads = array<i64: 0, 0, 0, 0>, strides = array<i64: 1, 1>} : (tensor<1x32x4x4xf32, "c16">) -> tensor<1x32x1x1xf32>
    return %0 : tensor<1x32x1x1xf32>
  }
  func.func private @head(%arg0: tensor<1x32xf32>, %arg1: tensor<32x10xf32, "panel">, %arg2: tensor<10xf32>) -> tensor<1x10xf32> {
    %0 = "infc.matmul"(%arg0, %arg1) : (tensor<1x32xf32>, tensor<32x10xf32, "panel">) -> tensor<1x10xf32>
    %1 = "infc.map2"(%0, %arg2) {fn = "add", out = "/head/Gemm_output_0"} : (tensor<1x10xf32>, tensor<10xf32>) -> tensor<1x10xf32>
    return %1 : tensor<1x10xf32>
  }
  func.func private @softmax(%arg0: tensor<1x10xf32>) -> tensor<1x10xf32> {
    %0 = "infc.softmax"(%arg0) {axis = 1 : i64, out = "probabilities"} : (tensor<1x10xf32>) -> tensor<1x10xf32>
    return %0 : tensor<1x10xf32>
  }
}

