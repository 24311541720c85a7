// dumped by infc: integers
module {
  func.func @main(%arg0: tensor<1x1x8x8xf32> {infc.name = "image"}) -> (tensor<1x10xf32> {infc.name = "probabilities"}) {
    %0 = "infc.weight"() {hash = "50a55a05e3cf7cee09a90d0e273f4b02", id = 0 : i64, name = "conv1.weight"} : () -> tensor<16x1x3x3xf32>
    %1 = "infc.conv"(%arg0, %0) {dilations = array<i64: 1, 1>, groups = 1 : i64, out = "/conv1/Conv_output_0", pads = array<i64: 1, 1, 1, 1>, strides = array<i64: 1, 1>} : (tensor<1x1x8x8xf32>, tensor<16x1x3x3xf32>) -> tensor<1x16x8x8xf32>
    %2 = "infc.weight"() {id = 1 : i64, name = "bn1.running_var", value = dense<[[[0.0903149396]], [[0.118751645]], [[1.016060e+00]], [[0.199005857]], [[0.0968902111]], [[0.393030912]], [[9.442450e-02]], [[0.261299163]], [[0.0895620882]], [[0.0740753189]], [[0.115392447]], [[0.218038425]], [[0.074638158]], [[0.208226353]], [[0.169667065]], [[0.0863484293]]]> : tensor<16x1x1xf32>} : () -> tensor<16x1x1xf32>
    %3 = "infc.weight"() {id = 2 : i64, name = "/bn1/BatchNormalization.epsilon", value = dense<9.99999974E-6> : tensor<f32>} : () -> tensor<f32>
    %4 = "infc.map2"(%2, %3) {fn = "add"} : (tensor<16x1x1xf32>, tensor<f32>) -> tensor<16x1x1xf32>
    %5 = "infc.map1"(%4) {fn = "sqrt"} : (tensor<16x1x1xf32>) -> tensor<16x1x1xf32>
    %6 = "infc.weight"() {id = 3 : i64, name = "bn1.weight", value = dense<[[[1.038400e+00]], [[0.910873591]], [[0.981619119]], [[1.00177133]], [[1.05157733]], [[1.06828976]], [[0.936500966]], [[1.03567553]], [[0.956945896]], [[0.965833544]], [[0.969992041]], [[1.03650951]], [[0.967334389]], [[1.14963758]], [[0.936895847]], [[0.958248317]]]> : tensor<16x1x1xf32>} : () -> tensor<16x1x1xf32>
    %7 = "infc.map2"(%6, %5) {fn = "div"} : (tensor<16x1x1xf32>, tensor<16x1x1xf32>) -> tensor<16x1x1xf32>
    %8 = "infc.weight"() {id = 4 : i64, name = "bn1.running_mean", value = dense<[[[-0.120206386]], [[-0.236767545]], [[-1.0853889]], [[-0.446866035]], [[-0.0335860252]], [[0.166430801]], [[0.137421489]], [[-0.368499219]], [[0.255309045]], [[-0.0440660343]], [[0.016112119]], [[-0.0477802828]], [[-0.130805925]], [[-0.236127049]], [[-0.0957086235]], [[0.0317536108]]]> : tensor<16x1x1xf32>} : () -> tensor<16x1x1xf32>
    %9 = "infc.map2"(%8, %7) {fn = "mul"} : (tensor<16x1x1xf32>, tensor<16x1x1xf32>) -> tensor<16x1x1xf32>
    %10 = "infc.weight"() {id = 5 : i64, name = "bn1.bias", value = dense<[[[0.0609434135]], [[-0.117845729]], [[-2.120020e-02]], [[-0.0439944156]], [[-0.126677245]], [[-0.077606149]], [[-0.0847139135]], [[-0.0543365143]], [[0.0555758253]], [[-0.0720250383]], [[0.0389168188]], [[-0.0394427031]], [[-0.0160349347]], [[-0.150415853]], [[0.0183934588]], [[-0.157194376]]]> : tensor<16x1x1xf32>} : () -> tensor<16x1x1xf32>
    %11 = "infc.map2"(%10, %9) {fn = "sub"} : (tensor<16x1x1xf32>, tensor<16x1x1xf32>) -> tensor<16x1x1xf32>
    %12 = "infc.map2"(%1, %7) {fn = "mul"} : (tensor<1x16x8x8xf32>, tensor<16x1x1xf32>) -> tensor<1x16x8x8xf32>
    %13 = "infc.map2"(%12, %11) {fn = "add", out = "/bn1/BatchNormalization_output_0"} : (tensor<1x16x8x8xf32>, tensor<16x1x1xf32>) -> tensor<1x16x8x8xf32>
    %14 = "infc.map1"(%13) {fn = "relu", out = "/relu1/Relu_output_0"} : (tensor<1x16x8x8xf32>) -> tensor<1x16x8x8xf32>
    %15 = "infc.weight"() {hash = "66d85fe82f981235c461b3ab981fb15f", id = 6 : i64, name = "conv2.weight"} : () -> tensor<32x16x3x3xf32>
    %16 = "infc.conv"(%14, %15) {dilations = array<i64: 1, 1>, groups = 1 : i64, out = "/conv2/Conv_output_0", pads = array<i64: 1, 1, 1, 1>, strides = array<i64: 1, 1>} : (tensor<1x16x8x8xf32>, tensor<32x16x3x3xf32>) -> tensor<1x32x8x8xf32>
    %17 = "infc.weight"() {hash = "e3603125251e6310b7b4b07181430a52", id = 7 : i64, name = "bn2.running_var"} : () -> tensor<32x1x1xf32>
    %18 = "infc.weight"() {id = 8 : i64, name = "/bn2/BatchNormalization.epsilon", value = dense<9.99999974E-6> : tensor<f32>} : () -> tensor<f32>
    %19 = "infc.map2"(%17, %18) {fn = "add"} : (tensor<32x1x1xf32>, tensor<f32>) -> tensor<32x1x1xf32>
    %20 = "infc.map1"(%19) {fn = "sqrt"} : (tensor<32x1x1xf32>) -> tensor<32x1x1xf32>
    %21 = "infc.weight"() {hash = "88f24443ae4ba70dceaf8e493841f860", id = 9 : i64, name = "bn2.weight"} : () -> tensor<32x1x1xf32>
    %22 = "infc.map2"(%21, %20) {fn = "div"} : (tensor<32x1x1xf32>, tensor<32x1x1xf32>) -> tensor<32x1x1xf32>
    %23 = "infc.weight"() {hash = "876472e92ab07f1b7e8bcaec019d5026", id = 10 : i64, name = "bn2.running_mean"} : () -> tensor<32x1x1xf32>
    %24 = "infc.map2"(%23, %22) {fn = "mul"} : (tensor<32x1x1xf32>, tensor<32x1x1xf32>) -> tensor<32x1x1xf32>
    %25 = "infc.weight"() {hash = "1fad8c62bef8d510748dca7627594764", id = 11 : i64, name = "bn2.bias"} : () -> tensor<32x1x1xf32>
    %26 = "infc.map2"(%25, %24) {fn = "sub"} : (tensor<32x1x1xf32>, tensor<32x1x1xf32>) -> tensor<32x1x1xf32>
    %27 = "infc.map2"(%16, %22) {fn = "mul"} : (tensor<1x32x8x8xf32>, tensor<32x1x1xf32>) -> tensor<1x32x8x8xf32>
    %28 = "infc.map2"(%27, %26) {fn = "add", out = "/bn2/BatchNormalization_output_0"} : (tensor<1x32x8x8xf32>, tensor<32x1x1xf32>) -> tensor<1x32x8x8xf32>
    %29 = "infc.map1"(%28) {fn = "relu", out = "/relu2/Relu_output_0"} : (tensor<1x32x8x8xf32>) -> tensor<1x32x8x8xf32>
    %30 = "infc.pool_max"(%29) {dilations = array<i64: 1, 1>, kernel = array<i64: 2, 2>, out = "/pool/MaxPool_output_0", pads = array<i64: 0, 0, 0, 0>, strides = array<i64: 2, 2>} : (tensor<1x32x8x8xf32>) -> tensor<1x32x4x4xf32>
    %31 = "infc.weight"() {hash = "affbdad90e3f6d0e83d323a0f4e74631", id = 12 : i64, name = "conv3.weight"} : () -> tensor<32x32x3x3xf32>
    %32 = "infc.conv"(%30, %31) {dilations = array<i64: 1, 1>, groups = 1 : i64, out = "/conv3/Conv_output_0", pads = array<i64: 1, 1, 1, 1>, strides = array<i64: 1, 1>} : (tensor<1x32x4x4xf32>, tensor<32x32x3x3xf32>) -> tensor<1x32x4x4xf32>
    %33 = "infc.weight"() {hash = "d7bbfdf03196e88008c1775b85ec154d", id = 13 : i64, name = "bn3.running_var"} : () -> tensor<32x1x1xf32>
    %34 = "infc.weight"() {id = 14 : i64, name = "/bn3/BatchNormalization.epsilon", value = dense<9.99999974E-6> : tensor<f32>} : () -> tensor<f32>
    %35 = "infc.map2"(%33, %34) {fn = "add"} : (tensor<32x1x1xf32>, tensor<f32>) -> tensor<32x1x1xf32>
    %36 = "infc.map1"(%35) {fn = "sqrt"} : (tensor<32x1x1xf32>) -> tensor<32x1x1xf32>
    %37 = "infc.weight"() {hash = "238769f64f2bf5b5bd0a6477a9f22720", id = 15 : i64, name = "bn3.weight"} : () -> tensor<32x1x1xf32>
    %38 = "infc.map2"(%37, %36) {fn = "div"} : (tensor<32x1x1xf32>, tensor<32x1x1xf32>) -> tensor<32x1x1xf32>
    %39 = "infc.weight"() {hash = "7cfa108698903e39a1f4d9aa370eb814", id = 16 : i64, name = "bn3.running_mean"} : () -> tensor<32x1x1xf32>
    %40 = "infc.map2"(%39, %38) {fn = "mul"} : (tensor<32x1x1xf32>, tensor<32x1x1xf32>) -> tensor<32x1x1xf32>
    %41 = "infc.weight"() {hash = "288aaa421cd9c070766668faac4099c4", id = 17 : i64, name = "bn3.bias"} : () -> tensor<32x1x1xf32>
    %42 = "infc.map2"(%41, %40) {fn = "sub"} : (tensor<32x1x1xf32>, tensor<32x1x1xf32>) -> tensor<32x1x1xf32>
    %43 = "infc.map2"(%32, %38) {fn = "mul"} : (tensor<1x32x4x4xf32>, tensor<32x1x1xf32>) -> tensor<1x32x4x4xf32>
    %44 = "infc.map2"(%43, %42) {fn = "add", out = "/bn3/BatchNormalization_output_0"} : (tensor<1x32x4x4xf32>, tensor<32x1x1xf32>) -> tensor<1x32x4x4xf32>
    %45 = "infc.map1"(%44) {fn = "relu", out = "/relu3/Relu_output_0"} : (tensor<1x32x4x4xf32>) -> tensor<1x32x4x4xf32>
    %46 = "infc.pool_avg"(%45) {count_include_pad = 0 : i64, dilations = array<i64: 1, 1>, kernel = array<i64: 4, 4>, out = "/gap/GlobalAveragePool_output_0", pads = array<i64: 0, 0, 0, 0>, strides = array<i64: 1, 1>} : (tensor<1x32x4x4xf32>) -> tensor<1x32x1x1xf32>
    %47 = "infc.reshape"(%46) {out = "/flatten/Flatten_output_0", shape = array<i64: 1, 32>} : (tensor<1x32x1x1xf32>) -> tensor<1x32xf32>
    %48 = "infc.weight"() {hash = "a3d2e00fea8937dc5280b5014f2731f0", id = 18 : i64, name = "head.weight"} : () -> tensor<10x32xf32>
    %49 = "infc.transpose"(%48) {perm = array<i64: 1, 0>} : (tensor<10x32xf32>) -> tensor<32x10xf32>
    %50 = "infc.matmul"(%47, %49) : (tensor<1x32xf32>, tensor<32x10xf32>) -> tensor<1x10xf32>
    %51 = "infc.weight"() {id = 19 : i64, name = "head.bias", value = dense<[-0.0524544194, -0.0412406437, 0.0453754738, -0.0133981481, 0.0173153616, 0.0457303897, -0.0308169704, 0.0624696277, 0.0860575139, -0.0624178685]> : tensor<10xf32>} : () -> tensor<10xf32>
    %52 = "infc.map2"(%50, %51) {fn = "add", out = "/head/Gemm_output_0"} : (tensor<1x10xf32>, tensor<10xf32>) -> tensor<1x10xf32>
    %53 = "infc.softmax"(%52) {axis = 1 : i64, out = "probabilities"} : (tensor<1x10xf32>) -> tensor<1x10xf32>
    return %53 : tensor<1x10xf32>
  }
}

