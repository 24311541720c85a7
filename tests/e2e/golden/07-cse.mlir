// dumped by infc: cse
module {
  func.func @main(%arg0: tensor<1x1x8x8xf32> {infc.name = "image"}) -> (tensor<1x10xf32> {infc.name = "probabilities"}) {
    %0 = "infc.weight"() {hash = "50a55a05e3cf7cee09a90d0e273f4b02", id = 0 : i64, name = "conv1.weight"} : () -> tensor<16x1x3x3xf32>
    %1 = "infc.weight"() {hash = "122d2b09d3eaf2187338c5d03644e06c", id = 36 : i64, name = "conv1.weight"} : () -> tensor<16x1x3x3xf32>
    %2 = "infc.conv"(%arg0, %1) {dilations = array<i64: 1, 1>, groups = 1 : i64, pads = array<i64: 1, 1, 1, 1>, strides = array<i64: 1, 1>} : (tensor<1x1x8x8xf32>, tensor<16x1x3x3xf32>) -> tensor<1x16x8x8xf32>
    %3 = "infc.weight"() {id = 37 : i64, name = "bn1.bias", value = dense<[[[0.476268739]], [[0.507963836]], [[1.03577924]], [[0.959470391]], [[-0.0132186413]], [[-0.361204594]], [[-0.503505111]], [[0.692254901]], [[-0.760756969]], [[0.0843401923]], [[-0.00708906352]], [[0.0666158125]], [[0.447086096]], [[0.444462836]], [[0.236079603]], [[-0.260736912]]]> : tensor<16x1x1xf32>} : () -> tensor<16x1x1xf32>
    %4 = "infc.map2"(%2, %3) {fn = "add", out = "/bn1/BatchNormalization_output_0"} : (tensor<1x16x8x8xf32>, tensor<16x1x1xf32>) -> tensor<1x16x8x8xf32>
    %5 = "infc.weight"() {id = 1 : i64, name = "bn1.running_var", value = dense<[[[0.0903149396]], [[0.118751645]], [[1.016060e+00]], [[0.199005857]], [[0.0968902111]], [[0.393030912]], [[9.442450e-02]], [[0.261299163]], [[0.0895620882]], [[0.0740753189]], [[0.115392447]], [[0.218038425]], [[0.074638158]], [[0.208226353]], [[0.169667065]], [[0.0863484293]]]> : tensor<16x1x1xf32>} : () -> tensor<16x1x1xf32>
    %6 = "infc.weight"() {id = 2 : i64, name = "/bn1/BatchNormalization.epsilon", value = dense<9.99999974E-6> : tensor<f32>} : () -> tensor<f32>
    %7 = "infc.weight"() {id = 20 : i64, name = "bn1.running_var", value = dense<[[[0.0903249382]], [[0.118761644]], [[1.016070e+00]], [[0.199015856]], [[0.0969002097]], [[0.393040925]], [[0.0944344997]], [[0.261309177]], [[0.0895720869]], [[0.0740853176]], [[0.115402445]], [[0.218048424]], [[0.0746481568]], [[0.208236352]], [[0.169677064]], [[0.086358428]]]> : tensor<16x1x1xf32>} : () -> tensor<16x1x1xf32>
    %8 = "infc.weight"() {id = 21 : i64, name = "bn1.running_var", value = dense<[[[0.300541073]], [[0.344618112]], [[1.008003]], [[0.446111917]], [[3.112880e-01]], [[0.626929759]], [[0.307301968]], [[0.511184096]], [[0.299285948]], [[0.27218619]], [[0.339709342]], [[0.466956556]], [[0.273218155]], [[0.456329226]], [[0.411918759]], [[0.293868035]]]> : tensor<16x1x1xf32>} : () -> tensor<16x1x1xf32>
    %9 = "infc.weight"() {id = 3 : i64, name = "bn1.weight", value = dense<[[[1.038400e+00]], [[0.910873591]], [[0.981619119]], [[1.00177133]], [[1.05157733]], [[1.06828976]], [[0.936500966]], [[1.03567553]], [[0.956945896]], [[0.965833544]], [[0.969992041]], [[1.03650951]], [[0.967334389]], [[1.14963758]], [[0.936895847]], [[0.958248317]]]> : tensor<16x1x1xf32>} : () -> tensor<16x1x1xf32>
    %10 = "infc.weight"() {id = 22 : i64, name = "bn1.weight", value = dense<[[[3.45510197]], [[2.64313912]], [[0.973825573]], [[2.24556065]], [[3.37814927]], [[1.70400226]], [[3.04749417]], [[2.02603245]], [[3.19743013]], [[3.54842973]], [[2.85535884]], [[2.21971297]], [[3.54052019]], [[2.5193162]], [[2.27446747]], [[3.26081157]]]> : tensor<16x1x1xf32>} : () -> tensor<16x1x1xf32>
    %11 = "infc.weight"() {id = 4 : i64, name = "bn1.running_mean", value = dense<[[[-0.120206386]], [[-0.236767545]], [[-1.0853889]], [[-0.446866035]], [[-0.0335860252]], [[0.166430801]], [[0.137421489]], [[-0.368499219]], [[0.255309045]], [[-0.0440660343]], [[0.016112119]], [[-0.0477802828]], [[-0.130805925]], [[-0.236127049]], [[-0.0957086235]], [[0.0317536108]]]> : tensor<16x1x1xf32>} : () -> tensor<16x1x1xf32>
    %12 = "infc.weight"() {id = 23 : i64, name = "bn1.running_mean", value = dense<[[[-0.415325314]], [[-0.62580955]], [[-1.05697942]], [[-1.00346482]], [[-0.113458604]], [[0.283598453]], [[0.418791175]], [[-0.746591389]], [[0.816332817]], [[-0.156365231]], [[0.0460058823]], [[-0.106058516]], [[-0.463121027]], [[-0.594878673]], [[-0.217686146]], [[0.103542544]]]> : tensor<16x1x1xf32>} : () -> tensor<16x1x1xf32>
    %13 = "infc.weight"() {id = 5 : i64, name = "bn1.bias", value = dense<[[[0.0609434135]], [[-0.117845729]], [[-2.120020e-02]], [[-0.0439944156]], [[-0.126677245]], [[-0.077606149]], [[-0.0847139135]], [[-0.0543365143]], [[0.0555758253]], [[-0.0720250383]], [[0.0389168188]], [[-0.0394427031]], [[-0.0160349347]], [[-0.150415853]], [[0.0183934588]], [[-0.157194376]]]> : tensor<16x1x1xf32>} : () -> tensor<16x1x1xf32>
    %14 = "infc.map1"(%4) {fn = "relu", out = "/relu1/Relu_output_0"} : (tensor<1x16x8x8xf32>) -> tensor<1x16x8x8xf32>
    %15 = "infc.weight"() {hash = "66d85fe82f981235c461b3ab981fb15f", id = 6 : i64, name = "conv2.weight"} : () -> tensor<32x16x3x3xf32>
    %16 = "infc.weight"() {hash = "29af96a5b48ece2659b285c61d87cf2e", id = 38 : i64, name = "conv2.weight"} : () -> tensor<32x16x3x3xf32>
    %17 = "infc.conv"(%14, %16) {dilations = array<i64: 1, 1>, groups = 1 : i64, pads = array<i64: 1, 1, 1, 1>, strides = array<i64: 1, 1>} : (tensor<1x16x8x8xf32>, tensor<32x16x3x3xf32>) -> tensor<1x32x8x8xf32>
    %18 = "infc.weight"() {hash = "738f1181c87b860acdf813e4aa4fc2dc", id = 39 : i64, name = "bn2.bias"} : () -> tensor<32x1x1xf32>
    %19 = "infc.map2"(%17, %18) {fn = "add", out = "/bn2/BatchNormalization_output_0"} : (tensor<1x32x8x8xf32>, tensor<32x1x1xf32>) -> tensor<1x32x8x8xf32>
    %20 = "infc.weight"() {hash = "e3603125251e6310b7b4b07181430a52", id = 7 : i64, name = "bn2.running_var"} : () -> tensor<32x1x1xf32>
    %21 = "infc.weight"() {hash = "addb0e212d8f9ea0d24ebcc8bb34ce15", id = 25 : i64, name = "bn2.running_var"} : () -> tensor<32x1x1xf32>
    %22 = "infc.weight"() {hash = "eac36f71ce3fc29191ededa942e3eec0", id = 26 : i64, name = "bn2.running_var"} : () -> tensor<32x1x1xf32>
    %23 = "infc.weight"() {hash = "88f24443ae4ba70dceaf8e493841f860", id = 9 : i64, name = "bn2.weight"} : () -> tensor<32x1x1xf32>
    %24 = "infc.weight"() {hash = "ae4d196677023c71917d39a983fa4a2c", id = 27 : i64, name = "bn2.weight"} : () -> tensor<32x1x1xf32>
    %25 = "infc.weight"() {hash = "876472e92ab07f1b7e8bcaec019d5026", id = 10 : i64, name = "bn2.running_mean"} : () -> tensor<32x1x1xf32>
    %26 = "infc.weight"() {hash = "ebb1652db63cf357193b47c7c09243e6", id = 28 : i64, name = "bn2.running_mean"} : () -> tensor<32x1x1xf32>
    %27 = "infc.weight"() {hash = "1fad8c62bef8d510748dca7627594764", id = 11 : i64, name = "bn2.bias"} : () -> tensor<32x1x1xf32>
    %28 = "infc.map1"(%19) {fn = "relu", out = "/relu2/Relu_output_0"} : (tensor<1x32x8x8xf32>) -> tensor<1x32x8x8xf32>
    %29 = "infc.pool_max"(%28) {dilations = array<i64: 1, 1>, kernel = array<i64: 2, 2>, out = "/pool/MaxPool_output_0", pads = array<i64: 0, 0, 0, 0>, strides = array<i64: 2, 2>} : (tensor<1x32x8x8xf32>) -> tensor<1x32x4x4xf32>
    %30 = "infc.weight"() {hash = "affbdad90e3f6d0e83d323a0f4e74631", id = 12 : i64, name = "conv3.weight"} : () -> tensor<32x32x3x3xf32>
    %31 = "infc.weight"() {hash = "3b2168398adcfbecc7757998ab7cf81d", id = 40 : i64, name = "conv3.weight"} : () -> tensor<32x32x3x3xf32>
    %32 = "infc.conv"(%29, %31) {dilations = array<i64: 1, 1>, groups = 1 : i64, pads = array<i64: 1, 1, 1, 1>, strides = array<i64: 1, 1>} : (tensor<1x32x4x4xf32>, tensor<32x32x3x3xf32>) -> tensor<1x32x4x4xf32>
    %33 = "infc.weight"() {hash = "94e25da9961289e676b3856b83e51a43", id = 41 : i64, name = "bn3.bias"} : () -> tensor<32x1x1xf32>
    %34 = "infc.map2"(%32, %33) {fn = "add", out = "/bn3/BatchNormalization_output_0"} : (tensor<1x32x4x4xf32>, tensor<32x1x1xf32>) -> tensor<1x32x4x4xf32>
    %35 = "infc.weight"() {hash = "d7bbfdf03196e88008c1775b85ec154d", id = 13 : i64, name = "bn3.running_var"} : () -> tensor<32x1x1xf32>
    %36 = "infc.weight"() {hash = "b9f7067db445cde5ae302021d23e6276", id = 30 : i64, name = "bn3.running_var"} : () -> tensor<32x1x1xf32>
    %37 = "infc.weight"() {hash = "51cbc6d0e547ea5c72c3d75edd30a7ef", id = 31 : i64, name = "bn3.running_var"} : () -> tensor<32x1x1xf32>
    %38 = "infc.weight"() {hash = "238769f64f2bf5b5bd0a6477a9f22720", id = 15 : i64, name = "bn3.weight"} : () -> tensor<32x1x1xf32>
    %39 = "infc.weight"() {hash = "c2929bc069c5b1ba4990b1b3ba96a279", id = 32 : i64, name = "bn3.weight"} : () -> tensor<32x1x1xf32>
    %40 = "infc.weight"() {hash = "7cfa108698903e39a1f4d9aa370eb814", id = 16 : i64, name = "bn3.running_mean"} : () -> tensor<32x1x1xf32>
    %41 = "infc.weight"() {hash = "eb902709b3057e409b8b184e30ae7382", id = 33 : i64, name = "bn3.running_mean"} : () -> tensor<32x1x1xf32>
    %42 = "infc.weight"() {hash = "288aaa421cd9c070766668faac4099c4", id = 17 : i64, name = "bn3.bias"} : () -> tensor<32x1x1xf32>
    %43 = "infc.map1"(%34) {fn = "relu", out = "/relu3/Relu_output_0"} : (tensor<1x32x4x4xf32>) -> tensor<1x32x4x4xf32>
    %44 = "infc.pool_avg"(%43) {count_include_pad = 0 : i64, dilations = array<i64: 1, 1>, kernel = array<i64: 4, 4>, out = "/gap/GlobalAveragePool_output_0", pads = array<i64: 0, 0, 0, 0>, strides = array<i64: 1, 1>} : (tensor<1x32x4x4xf32>) -> tensor<1x32x1x1xf32>
    %45 = "infc.reshape"(%44) {out = "/flatten/Flatten_output_0", shape = array<i64: 1, 32>} : (tensor<1x32x1x1xf32>) -> tensor<1x32xf32>
    %46 = "infc.weight"() {hash = "a3d2e00fea8937dc5280b5014f2731f0", id = 18 : i64, name = "head.weight"} : () -> tensor<10x32xf32>
    %47 = "infc.weight"() {hash = "27a2f3e8ea17c756e10c3b5c1609235d", id = 35 : i64, name = "head.weight"} : () -> tensor<32x10xf32>
    %48 = "infc.matmul"(%45, %47) : (tensor<1x32xf32>, tensor<32x10xf32>) -> tensor<1x10xf32>
    %49 = "infc.weight"() {id = 19 : i64, name = "head.bias", value = dense<[-0.0524544194, -0.0412406437, 0.0453754738, -0.0133981481, 0.0173153616, 0.0457303897, -0.0308169704, 0.0624696277, 0.0860575139, -0.0624178685]> : tensor<10xf32>} : () -> tensor<10xf32>
    %50 = "infc.map2"(%48, %49) {fn = "add", out = "/head/Gemm_output_0"} : (tensor<1x10xf32>, tensor<10xf32>) -> tensor<1x10xf32>
    %51 = "infc.softmax"(%50) {axis = 1 : i64, out = "probabilities"} : (tensor<1x10xf32>) -> tensor<1x10xf32>
    return %51 : tensor<1x10xf32>
  }
}

