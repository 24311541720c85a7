"""Every operator and attribute combination that infc imports, compared with ONNX Runtime; recurrent layers and attention
are in onnx_recurrent.py and onnx_attention.py, what chooses by index in onnx_indices.py:
python onnx_semantics.py ONNX_EVAL FOLDER [CASE]"""
import sys

import numpy as np
import onnx
from onnx import helper

import onnx_cases as oc
from onnx_cases import f32, i64
from onnx_compare import Table

CASES = Table()
case, graph = CASES.case, CASES.graph
X = [1, 3, 7, 9]  # an image with odd sides

# ---- element-wise ----
for op in ["Abs", "Neg", "Relu", "Sigmoid", "Tanh", "Exp"]:
    case(op.lower(), op, [[2, 3, 5]])
case("sqrt", "Sqrt", [[4, 5]], low=0, high=9)
case("relu_scalar", "Relu", [[]])
case("sigmoid_wide", "Sigmoid", [[64]], low=-30, high=30)
case("tanh_wide", "Tanh", [[64]], low=-12, high=12)
case("exp_wide", "Exp", [[64]], low=-60, high=60)
case("leaky_default", "LeakyRelu", [[3, 4]])
case("leaky_alpha", "LeakyRelu", [[3, 4]], alpha=0.3)
case("relu_opset7", "Relu", [[3]], opset=7)
case("relu_opset14", "Relu", [[3]], opset=14)
for op in ["Add", "Sub", "Mul", "Div"]:
    case(op.lower() + "_same", op, [[2, 3], [2, 3]], low=0.5)
    case(op.lower() + "_broadcast", op, [[2, 1, 4], [3, 1]], low=0.5)
case("add_constant", "Add", [X], [f32([3, 1, 1])])
case("add_scalar", "Add", [X], [f32([])])
case("add_row_opset7", "Add", [[2, 3]], [f32([3])], opset=7)
case("mul_self_rank", "Mul", [[4], [2, 3, 4]])
for op in ["Max", "Min"]:
    case(op.lower() + "_one", op, [[3]])
    case(op.lower() + "_two", op, [[2, 3], [3]])
    case(op.lower() + "_four", op, [[2, 1], [3], [2, 3], [1]])
    case(op.lower() + "_opset8", op, [[2, 3], [3]], opset=8)
case("clip_attr", "Clip", [[3, 5]], opset=6 + 1, min=-0.5, max=0.75)
case("clip_attr_min", "Clip", [[3, 5]], opset=10, min=-0.5)
case("clip_attr_none", "Clip", [[3, 5]], opset=10)
case("clip_inputs", "Clip", [[3, 5]], [np.float32(-0.5), np.float32(0.75)])
case("clip_min_only", "Clip", [[3, 5]], [np.float32(-0.5)])
case("clip_max_only", "Clip", [[3, 5]], [None, np.float32(0.25)])
case("clip_relu6", "Clip", [[3, 5]], [np.float32(0), np.float32(6)], opset=11, high=9)
case("clip_crossed", "Clip", [[3, 5]], [np.float32(1), np.float32(-1)], opset=13)
case("clip_computed_bound", "Clip", [[3, 5], []], low=-1, high=1)

for op in ["Sin", "Cos", "Floor", "Ceil", "Round", "Erf", "Sign", "Softplus", "Softsign", "HardSwish"]:
    case(op.lower(), op, [[3, 30]], low=-4, high=4)
case("lrn", "LRN", [[2, 7, 3, 4]], size=3)
case("lrn_other", "LRN", [[1, 5, 4, 1]], size=3, alpha=0.7, beta=0.5, bias=0.3)
case("lrn_wide", "LRN", [[1, 3, 2, 2]], size=5, alpha=2.0)
case("mish", "Mish", [[3, 30]], opset=18, low=-9, high=9)
for op in ["Log", "Reciprocal"]:
    case(op.lower(), op, [[4, 20]], low=0.01, high=9)
case("sin_far", "Sin", [[200]], low=-9000, high=9000)
case("cos_far", "Cos", [[200]], low=-9000, high=9000)
case("round_half", "Round", [], [np.arange(-4, 4, 0.5, dtype=np.float32)], opset=11)
case("softplus_wide", "Softplus", [[64]], low=-60, high=60)
case("log_opset7", "Log", [[3]], opset=7, low=0.5)
case("erf_opset9", "Erf", [[3]], opset=9)
case("sign_zero", "Sign", [], [f32([]) * 0], opset=13)
case("hardsigmoid", "HardSigmoid", [[3, 30]], low=-4, high=4)
case("hardsigmoid_alpha_beta", "HardSigmoid", [[3, 30]], alpha=0.3, beta=0.1, low=-4, high=4)
for op, opset in [("Elu", 7), ("Celu", 12), ("ThresholdedRelu", 10), ("Selu", 7), ("Elu", 22)]:
    case(f"{op.lower()}_default_{opset}", op, [[3, 20]], opset=opset, low=-4, high=4)
    case(f"{op.lower()}_alpha_{opset}", op, [[3, 20]], opset=opset, low=-4, high=4, alpha=0.7)
case("selu_gamma", "Selu", [[3, 20]], alpha=1.5, gamma=0.6)
case("gelu", "Gelu", [[3, 50]], opset=20, low=-4, high=4)
case("gelu_none", "Gelu", [[3, 50]], opset=20, low=-4, high=4, approximate="none")
case("gelu_tanh", "Gelu", [[3, 50]], opset=20, low=-4, high=4, approximate="tanh")
case("swish", "Swish", [[3, 50]], opset=24, low=-4, high=4)
case("swish_alpha", "Swish", [[3, 50]], opset=24, low=-4, high=4, alpha=1.7)
case("prelu_channel", "PRelu", [X], [f32([3, 1, 1])])
case("prelu_one", "PRelu", [X], [f32([1])], opset=7)
case("prelu_all", "PRelu", [[2, 3], [2, 3]])
for exponent in [0, 1, 2, 3, 4, 0.5, -1, -2, -0.5, 1.7, 300]:
    low = 0.95 if exponent == 300 else 0.05 if exponent != int(exponent) else -2
    case(f"pow_{exponent}", "Pow", [[3, 20]], [np.float32(exponent)], low=low, high=1.1 if low > 0.5 else 3)
case("pow_int64", "Pow", [[3, 20]], [np.int64(2)])
case("pow_int64_list", "Pow", [[3, 20]], [i64(5)])
case("pow_wider", "Pow", [[3]], [f32([1, 1]) + 2], low=0.5)
case("pow_computed", "Pow", [[3, 20], [20]], low=0.1, high=4)
case("pow_constants", "Pow", [[3, 4]], [np.array([0, 1, 2, 3], np.float32)])
case("pow_opset7", "Pow", [[3]], [np.float32(2)], opset=7)
for op in ["Sum", "Mean"]:
    case(op.lower() + "_one", op, [[2, 3]])
    case(op.lower() + "_three", op, [[2, 1], [3], [2, 3]])
    case(op.lower() + "_opset8", op, [[2, 3], [2, 3]], opset=8)

# ---- convolution ----
W = f32([4, 3, 3, 3])
case("conv", "Conv", [X], [W])
case("conv_bias", "Conv", [X], [W, f32([4])])
case("conv_pads", "Conv", [X], [W], pads=[1, 2, 0, 1])
case("conv_strides", "Conv", [X], [W], strides=[2, 3], pads=[1, 1, 1, 1])
case("conv_dilations", "Conv", [X], [W], dilations=[2, 3], pads=[2, 3, 2, 3])
case("conv_kernel_shape", "Conv", [X], [W], kernel_shape=[3, 3])
case("conv_groups", "Conv", [[2, 4, 5, 5]], [f32([6, 2, 3, 3])], group=2)
case("conv_depthwise", "Conv", [[1, 4, 5, 5]], [f32([4, 1, 3, 3]), f32([4])], group=4, pads=[1, 1, 1, 1])
case("conv_pointwise", "Conv", [[2, 5, 3, 3]], [f32([7, 5, 1, 1])])
case("conv_17_channels", "Conv", [[1, 17, 4, 4]], [f32([33, 17, 3, 3])], pads=[1, 1, 1, 1])
for pad in ["SAME_UPPER", "SAME_LOWER", "VALID"]:
    case("conv_" + pad.lower(), "Conv", [X], [f32([4, 3, 3, 2])], auto_pad=pad, strides=[2, 2])
case("conv_notset", "Conv", [X], [W], auto_pad="NOTSET", pads=[1, 1, 1, 1])
case("conv_same_even", "Conv", [[1, 2, 8, 8]], [f32([3, 2, 4, 4])], auto_pad="SAME_UPPER")
case("conv_same_dilated", "Conv", [[1, 2, 8, 8]], [f32([3, 2, 3, 3])], auto_pad="SAME_LOWER", dilations=[2, 2])
case("conv_1d", "Conv", [[2, 3, 11]], [f32([5, 3, 4])])
case("conv_1d_all", "Conv", [[2, 4, 11]], [f32([6, 2, 3]), f32([6])], pads=[2, 1], strides=[2], dilations=[2], group=2)
case("conv_1d_same", "Conv", [[1, 2, 10]], [f32([3, 2, 4])], auto_pad="SAME_UPPER", strides=[3])
case("conv_computed_weight", "Conv", [X, [4, 3, 3, 3]])
case("conv_opset7", "Conv", [X], [W], opset=7, pads=[1, 1, 1, 1])
case("conv_opset11", "Conv", [X], [W], opset=11, pads=[1, 1, 1, 1])
case("conv_opset22", "Conv", [X], [W], opset=22, pads=[1, 1, 1, 1])

# ---- normalisation ----
BN = [f32([3], "s"), f32([3], "b"), f32([3], "m"), np.abs(f32([3], "v"))]
case("batchnorm", "BatchNormalization", [X], BN)
case("batchnorm_epsilon", "BatchNormalization", [X], BN, epsilon=0.01, momentum=0.5)
case("batchnorm_rank2", "BatchNormalization", [[4, 3]], BN)
case("batchnorm_rank3", "BatchNormalization", [[4, 3, 5]], BN)
case("batchnorm_opset7", "BatchNormalization", [X], BN, opset=7, spatial=1)
case("batchnorm_opset9", "BatchNormalization", [X], BN, opset=9)
case("batchnorm_opset14", "BatchNormalization", [X], BN, opset=14, training_mode=0)
case("batchnorm_computed", "BatchNormalization", [X, [3], [3], [3], [3]], low=0.2)

for axis in [-1, 0, 1, -2]:
    tail = [3, 4, 5][axis:] if axis < 0 else [3, 4, 5][axis:]
    case(f"layernorm_{axis}", "LayerNormalization", [[3, 4, 5]], [f32(tail), f32(tail, "b")], axis=axis)
case("layernorm_default", "LayerNormalization", [[2, 7, 50]], [f32([50]), f32([50], "b")])
case("layernorm_no_bias", "LayerNormalization", [[2, 7, 33]], [f32([33])], epsilon=0.1, stash_type=1)
case("layernorm_outputs_unused", "LayerNormalization", [[2, 16]], [f32([16]), f32([16], "b")], n_out=3)
case("layernorm_scale_broadcast", "LayerNormalization", [[2, 4, 16]], [f32([1])], axis=1)
case("layernorm_computed", "LayerNormalization", [[2, 16], [16], [16]])
case("rmsnorm", "RMSNormalization", [[2, 7, 50]], [f32([50])], opset=23)
case("rmsnorm_axis", "RMSNormalization", [[2, 3, 5]], [f32([3, 5])], opset=24, axis=1, epsilon=1e-3)
case("instancenorm", "InstanceNormalization", [X], [f32([3]), f32([3], "b")])
case("instancenorm_1d", "InstanceNormalization", [[2, 3, 20]], [f32([3]), f32([3], "b")], epsilon=0.01, opset=7)
case("instancenorm_3d", "InstanceNormalization", [[2, 3, 4, 2, 3]], [f32([3]), f32([3], "b")], opset=22)
case("groupnorm_opset18", "GroupNormalization", [[2, 6, 4, 5]], [f32([3]), f32([3], "b")], opset=18, num_groups=3)
case("groupnorm_opset18_one", "GroupNormalization", [[2, 6, 4]], [f32([1]), f32([1], "b")], opset=20, num_groups=1)
case("groupnorm", "GroupNormalization", [[2, 6, 4, 5]], [f32([6]), f32([6], "b")], opset=21, num_groups=3)
case("groupnorm_one", "GroupNormalization", [[2, 6, 4]], [f32([6]), f32([6], "b")], opset=22, num_groups=1, epsilon=0.1)
case("lpnorm_default", "LpNormalization", [[3, 10]])
case("lpnorm_1", "LpNormalization", [[3, 4, 5]], p=1, axis=1)
case("lpnorm_2", "LpNormalization", [[3, 4, 5]], p=2, axis=0, opset=22)
for p in [1, 2]:  # a row of zeros stays one
    case(f"lpnorm_zero_{p}", "LpNormalization", [np.array([[0, 0, 0], [3, -4, 0], [0, 0, 1e-3]], np.float32)], p=p)

# ---- pools ----
for op in ["MaxPool", "AveragePool"]:
    p = op[:3].lower() + "pool_"
    case(p + "kernel", op, [X], kernel_shape=[2, 3])
    case(p + "strides", op, [X], kernel_shape=[3, 2], strides=[2, 2])
    case(p + "pads", op, [X], kernel_shape=[3, 3], strides=[2, 2], pads=[1, 0, 2, 1])
    case(p + "ceil", op, [[1, 2, 8, 9]], kernel_shape=[3, 3], strides=[2, 2], ceil_mode=1)
    case(p + "ceil_exact", op, [[1, 2, 7, 9]], kernel_shape=[3, 3], strides=[2, 2], ceil_mode=1)
    case(p + "ceil_pads", op, [[1, 2, 6, 7]], kernel_shape=[3, 3], strides=[3, 3], pads=[1, 1, 1, 1], ceil_mode=1)
    for pad in ["SAME_UPPER", "SAME_LOWER", "VALID"]:
        case(p + pad.lower(), op, [X], kernel_shape=[2, 3], strides=[2, 2], auto_pad=pad)
    case(p + "1d", op, [[2, 3, 10]], kernel_shape=[3], strides=[2], pads=[1, 1])
    case(p + "opset8", op, [X], opset=8, kernel_shape=[2, 2], strides=[2, 2])
    case(p + "opset10", op, [X], opset=10, kernel_shape=[2, 2], strides=[2, 2])
    case(p + "opset22", op, [X], opset=22, kernel_shape=[2, 2], strides=[2, 2])
    case(p + "dilations", op, [X], opset=19, kernel_shape=[3, 2], dilations=[2, 3])
case("maxpool_indices_unused", "MaxPool", [X], n_out=2, kernel_shape=[2, 2])
case("avepool_include_pad", "AveragePool", [X], kernel_shape=[3, 3], pads=[1, 1, 1, 1], count_include_pad=1)
case("avepool_exclude_pad", "AveragePool", [X], kernel_shape=[3, 3], pads=[1, 1, 1, 1], count_include_pad=0)
case("avepool_include_same", "AveragePool", [X], kernel_shape=[3, 2], auto_pad="SAME_UPPER", count_include_pad=1)
case("avepool_ceil_include_exact", "AveragePool", [[1, 2, 7, 9]], kernel_shape=[3, 3], strides=[2, 2], ceil_mode=1,
     count_include_pad=1)
for op in ["GlobalAveragePool", "GlobalMaxPool"]:
    case(op.lower(), op, [[2, 3, 5, 6]])
    case(op.lower() + "_1d", op, [[2, 3, 7]])
    case(op.lower() + "_opset7", op, [[1, 2, 3, 3]], opset=7)

# ---- pixels from channels and back ----
case("convtranspose_2x2", "ConvTranspose", [X], [f32([3, 4, 2, 2])], strides=[2, 2])
case("convtranspose_bias", "ConvTranspose", [X], [f32([3, 5, 2, 3]), f32([5])], strides=[2, 3], kernel_shape=[2, 3])
case("convtranspose_groups", "ConvTranspose", [[2, 4, 3, 5]], [f32([4, 3, 2, 2]), f32([6])], strides=[2, 2], group=2)
case("convtranspose_1x1", "ConvTranspose", [X], [f32([3, 4, 1, 1])], opset=7, pads=[0, 0, 0, 0])
case("convtranspose_1d", "ConvTranspose", [[2, 3, 7]], [f32([3, 4, 4])], strides=[4], output_padding=[0])
case("convtranspose_valid", "ConvTranspose", [X], [f32([3, 17, 2, 2])], strides=[2, 2], auto_pad="VALID", opset=22)
case("convtranspose_computed", "ConvTranspose", [X, [3, 4, 2, 2]], strides=[2, 2])
case("depth_to_space", "DepthToSpace", [[2, 12, 3, 5]], blocksize=2)
case("depth_to_space_crd", "DepthToSpace", [[2, 12, 3, 5]], blocksize=2, mode="CRD")
case("depth_to_space_opset7", "DepthToSpace", [[1, 18, 3, 2]], opset=7, blocksize=3)
case("space_to_depth", "SpaceToDepth", [[2, 3, 4, 6]], blocksize=2)
case("space_to_depth_opset7", "SpaceToDepth", [[1, 3, 9, 6]], opset=7, blocksize=3)
for mode in ["DCR", "CRD"]:
    case(f"space_to_depth_{mode.lower()}", "SpaceToDepth", [[2, 3, 4, 6]], opset=28, blocksize=2, mode=mode)

# ---- resizing ----
def scales(*values):
    return np.array(values, np.float32)


I = [2, 3, 5, 6]
for mode in ["nearest", "linear"]:
    case(f"upsample7_{mode}", "Upsample", [I], opset=7, mode=mode, scales=[1.0, 1.0, 2.0, 3.0])
    case(f"upsample9_{mode}", "Upsample", [I], [scales(1, 1, 2, 2)], opset=9, mode=mode)
    case(f"resize10_{mode}", "Resize", [I], [scales(1, 1, 2, 1.5)], opset=10, mode=mode)
    case(f"resize10_down_{mode}", "Resize", [I], [scales(1, 1, 0.6, 0.5)], opset=10, mode=mode)
    for coordinates in ["half_pixel", "asymmetric", "align_corners", "pytorch_half_pixel"]:
        c = dict(mode=mode, coordinate_transformation_mode=coordinates)
        case(f"resize_{mode}_{coordinates}", "Resize", [I], [None, scales(1, 1, 2, 2.5)], opset=13, **c)
        case(f"resize_down_{mode}_{coordinates}", "Resize", [I], [None, scales(1, 1, 0.6, 0.8)], opset=13, **c)
        case(f"resize_sizes_{mode}_{coordinates}", "Resize", [I], [None, None, i64(2, 3, 7, 4)], opset=18, **c)
        case(f"resize_one_{mode}_{coordinates}", "Resize", [I], [None, None, i64(2, 3, 1, 4)], opset=13, **c)
for nearest in ["round_prefer_floor", "round_prefer_ceil", "floor", "ceil"]:
    for coordinates in ["half_pixel", "asymmetric"]:
        case(f"resize_{nearest}_{coordinates}", "Resize", [I], [None, scales(1, 1, 2, 0.5)], opset=13,
             nearest_mode=nearest, coordinate_transformation_mode=coordinates)
case("resize_opset11", "Resize", [I], [scales(), scales(1, 1, 2, 2)], opset=11, mode="linear")
case("resize_opset11_sizes", "Resize", [I], [scales(), scales(), i64(2, 3, 10, 10)], opset=11)
case("resize_default", "Resize", [I], [None, scales(1, 1, 3, 2)])
case("resize_axes", "Resize", [I], [None, scales(2, 3)], opset=18, axes=[3, 2], mode="linear")
case("resize_axes_sizes", "Resize", [I], [None, None, i64(9)], opset=19, axes=[-1], mode="linear")
case("resize_1d", "Resize", [[2, 3, 7]], [None, scales(1, 1, 2)], mode="linear")
case("resize_17_channels", "Resize", [[1, 17, 4, 4]], [None, scales(1, 1, 2, 2)], mode="linear")

# ---- reductions ----
R = [2, 3, 4, 5]
for op, old, new in [("ReduceSum", 11, 13), ("ReduceMean", 13, 18), ("ReduceMax", 13, 18)]:
    p = op[6:].lower() + "_"
    case(p + "all", op, [R], opset=old)
    case(p + "last", op, [R], opset=old, axes=[-1])
    case(p + "first", op, [R], opset=old, axes=[0], keepdims=0)
    case(p + "middle", op, [R], opset=old, axes=[1, 2])
    case(p + "apart", op, [R], opset=old, axes=[0, 2])
    case(p + "apart_dropped", op, [R], opset=old, axes=[3, 1], keepdims=0)
    case(p + "three_apart", op, [R], opset=old, axes=[0, 1, 3], keepdims=0)
    case(p + "over_one", op, [[2, 1, 3]], opset=old, axes=[0, 2])
    case(p + "opset7", op, [R], opset=7, axes=[1])
    case(p + "input", op, [R], [i64(2, -1)], opset=new, keepdims=0)
    case(p + "input_absent", op, [R], opset=new)
    case(p + "input_empty", op, [R], [i64()], opset=new)
    case(p + "noop", op, [R], [i64()], opset=new, noop_with_empty_axes=1)
    case(p + "noop_absent", op, [R], opset=new, noop_with_empty_axes=1)
for op in ["Min", "L1", "L2", "SumSquare", "LogSumExp", "LogSum"]:
    p, low = "reduce_" + op.lower() + "_", 0.1 if op == "LogSum" else -2
    case(p + "all", "Reduce" + op, [R], opset=11, low=low)
    case(p + "apart_dropped", "Reduce" + op, [R], opset=13, axes=[3, 1], keepdims=0, low=low)
    case(p + "first", "Reduce" + op, [R], opset=7, axes=[0], low=low)
    case(p + "input", "Reduce" + op, [R], [i64(2, -1)], opset=18, low=low)
    case(p + "input_absent", "Reduce" + op, [R], opset=18, keepdims=0, low=low)
case("reduce_min_noop", "ReduceMin", [R], [i64()], opset=18, noop_with_empty_axes=1)
for dtype in [np.int8, np.uint8, np.int32, np.int64]:  # the ends of each range: -MIN would be MIN again
    ends = np.array([[0, np.iinfo(dtype).max, 1], [np.iinfo(dtype).min, 5, np.iinfo(dtype).min], [7, 7, 3]], dtype)
    for op in ["ReduceMin", "ReduceMax"]:
        case(f"{op}_{np.dtype(dtype)}", op, [ends], opset=13, axes=[1], result=dtype)
        case(f"{op}_{np.dtype(dtype)}_all", op, [ends], opset=13, result=dtype)
for dtype, ops in [(np.int32, ["Mean", "L1", "SumSquare", "Prod"]), (np.int64, ["SumSquare", "Prod"])]:
    for op in ops:  # a mean of integers goes towards 0
        case(f"Reduce{op}_{np.dtype(dtype)}", "Reduce" + op, [np.array([[-3, 2, -1], [9, -4, 3]], dtype)], opset=13, axes=[1], result=dtype)
    for exponent in [0, 1, 2, 3, 10]:
        case(f"pow_{np.dtype(dtype)}_{exponent}", "Pow", [np.arange(-7, 8, dtype=dtype)], [np.array(exponent, dtype)], opset=15, result=dtype)
case("reduce_prod_apart", "ReduceProd", [R], opset=13, axes=[0, 2])
case("reduce_prod_input", "ReduceProd", [[2, 3, 2]], [i64(1)], opset=18, keepdims=0)
case("reduce_logsumexp_far", "ReduceLogSumExp", [R], opset=13, axes=[1], low=-200, high=200)
case("max_axes_opset20", "ReduceMax", [R], [i64(1)], opset=20)
case("sum_long", "ReduceSum", [[3, 1000]], [i64(1)], opset=13, low=0)

# ---- products ----
A, B, C = [3, 4], [4, 5], f32([5])
case("gemm", "Gemm", [A], [f32(B), C])
case("gemm_no_c", "Gemm", [A], [f32(B)])
case("gemm_alpha_beta", "Gemm", [A], [f32(B), C], alpha=0.5, beta=2.0)
case("gemm_beta_zero", "Gemm", [A], [f32(B), C], beta=0.0)
case("gemm_trans_a", "Gemm", [[4, 3]], [f32(B), C], transA=1)
case("gemm_trans_b", "Gemm", [A], [f32([5, 4]), C], transB=1)
case("gemm_trans_both", "Gemm", [[4, 3]], [f32([5, 4])], transA=1, transB=1)
for shape in [[], [1], [1, 5], [3, 1], [3, 5], [1, 1]]:
    case("gemm_c_" + "x".join(map(str, shape)), "Gemm", [A], [f32(B), f32(shape)])
case("gemm_computed", "Gemm", [A, B, [3, 5]])
case("gemm_opset7", "Gemm", [A], [f32(B), C], opset=7, transB=0)
case("gemm_opset9", "Gemm", [A], [f32(B), C], opset=9)
case("matmul", "MatMul", [A], [f32(B)])
case("matmul_computed", "MatMul", [A, B])
case("matmul_batch", "MatMul", [[2, 3, 4], [2, 4, 5]])
case("matmul_batch2", "MatMul", [[2, 3, 4, 5], [2, 3, 5, 2]])
case("matmul_shared_right", "MatMul", [[2, 3, 4]], [f32(B)])
case("matmul_shared_left", "MatMul", [A, [2, 4, 5]])
case("matmul_ones", "MatMul", [[1, 3, 4], [6, 4, 5]])
case("matmul_vector_left", "MatMul", [[4]], [f32(B)])
case("matmul_vector_right", "MatMul", [A], [f32([4])])
case("matmul_vectors", "MatMul", [[4], [4]])
case("matmul_vector_batch", "MatMul", [[4], [2, 4, 5]])
case("matmul_batch_vector", "MatMul", [[2, 3, 4], [4]])
case("matmul_opset7", "MatMul", [A], [f32(B)], opset=7)

# ---- shapes ----
S = [2, 3, 4]
case("reshape", "Reshape", [S], [i64(6, 4)])
case("reshape_open", "Reshape", [S], [i64(2, -1)])
case("reshape_keep", "Reshape", [S], [i64(0, -1, 2)])
case("reshape_keep_all", "Reshape", [S], [i64(0, 0, 0)])
case("reshape_scalar", "Reshape", [[1, 1]], [i64()])
case("reshape_opset7", "Reshape", [S], [i64(24)], opset=7)
case("reshape_allowzero", "Reshape", [S], [i64(4, 6)], opset=14, allowzero=1)
case("reshape_allowzero_open", "Reshape", [S], [i64(4, -1)], opset=14, allowzero=1)
for axis in [0, 1, 2, 3, -1, -3]:
    case(f"flatten_{axis}", "Flatten", [S], axis=axis)
case("flatten_default", "Flatten", [X])
case("flatten_opset9", "Flatten", [S], opset=9, axis=2)
case("squeeze_attr", "Squeeze", [[1, 3, 1, 2]], opset=11, axes=[0])
case("squeeze_attr_negative", "Squeeze", [[1, 3, 1, 2]], opset=11, axes=[-2, 0])
case("squeeze_all", "Squeeze", [[1, 3, 1, 2]])
case("squeeze_input", "Squeeze", [[1, 3, 1, 2]], [i64(2)])
case("squeeze_to_scalar", "Squeeze", [[1, 1]])
case("unsqueeze_attr", "Unsqueeze", [[3, 2]], opset=11, axes=[0, 3])
case("unsqueeze_negative", "Unsqueeze", [[3, 2]], [i64(-1, 0)])
case("unsqueeze_unsorted", "Unsqueeze", [[3, 2]], [i64(3, 1)])
case("transpose_default", "Transpose", [S])
case("transpose", "Transpose", [S], perm=[1, 0, 2])
case("transpose_nhwc", "Transpose", [X], perm=[0, 2, 3, 1])
case("transpose_identity", "Transpose", [S], perm=[0, 1, 2])
case("transpose_6d", "Transpose", [[2, 3, 2, 3, 2, 3]], perm=[5, 0, 3, 2, 1, 4])

# ---- parts ----
case("slice", "Slice", [S], [i64(0, 1), i64(2, 3)])
case("slice_axes", "Slice", [S], [i64(1), i64(3), i64(-1)])
case("slice_steps", "Slice", [[5, 9]], [i64(0, 1), i64(5, 9), i64(0, 1), i64(2, 3)])
case("slice_back", "Slice", [[5, 9]], [i64(-1, 7), i64(-9, 1), i64(0, 1), i64(-1, -2)])
case("slice_back_all", "Slice", [[5, 9]], [i64(9999), i64(-(1 << 63)), i64(1), i64(-1)])
case("slice_to_end", "Slice", [[5, 9]], [i64(-3), i64((1 << 63) - 1), i64(1)])
case("slice_int32", "Slice", [S], [np.array([1], np.int32), np.array([2], np.int32), np.array([1], np.int32)])
case("slice_no_axes_steps", "Slice", [S], [i64(0, 0, 1), i64(2, 3, 4), None, i64(1, 2, 2)])
case("slice_step_beyond", "Slice", [S], [i64(1), i64(4), i64(2), i64(1 << 62)])
case("slice_whole", "Slice", [S], [i64(0), i64(99), i64(1)])
case("slice_attr", "Slice", [S], opset=9, starts=[1, 0], ends=[3, -1], axes=[1, 2])
case("slice_attr_no_axes", "Slice", [S], opset=7, starts=[1, 0], ends=[2, 2])
case("slice_image", "Slice", [X], [i64(0, 0), i64(9, 9), i64(2, 3), i64(2, 2)])
case("split_equal", "Split", [[6, 4]], opset=13, n_out=3, all_out=True)
case("split_attr", "Split", [[6, 4]], opset=11, n_out=2, all_out=True, axis=1, split=[1, 3])
case("split_attr_equal", "Split", [[6, 4]], opset=7, n_out=2, all_out=True, axis=-1)
case("split_input", "Split", [[6, 4]], [i64(1, 2, 3)], n_out=3, all_out=True)
case("split_num_outputs", "Split", [[7, 4]], opset=18, n_out=3, all_out=True, num_outputs=3)
case("split_one_used", "Split", [[6, 4]], [i64(4, 2)], n_out=2)
case("split_one", "Split", [[6, 4]], n_out=1, axis=1)
case("gather_scalar", "Gather", [S], [np.array(1, np.int64)])
case("gather_axis", "Gather", [S], [i64(0, 2, 1)], axis=1)
case("gather_negative", "Gather", [S], [i64(-1, -3)], axis=-1)
case("gather_matrix", "Gather", [S], [np.array([[0, 2], [1, 1], [3, 0]])], axis=2)
case("gather_run", "Gather", [[9, 4]], [i64(1, 3, 5, 7)])
case("gather_runs", "Gather", [[9, 4]], [i64(1, 3, 5, 4, 3, 2, 2, 2, 8)])
case("gather_int32", "Gather", [S], [np.array([1, 0], np.int32)], axis=0)
case("gather_opset7", "Gather", [S], [i64(1)], opset=7, axis=1)

# ---- joining ----
case("concat", "Concat", [S, [2, 5, 4]], axis=1)
case("concat_first", "Concat", [S, S], axis=0)
case("concat_last", "Concat", [S, [2, 3, 1], [2, 3, 7]], axis=-1)
case("concat_four", "Concat", [[1, 4], [2, 4], [3, 4], [1, 4]], axis=0)
case("concat_nine", "Concat", [[2, n] for n in range(1, 10)], axis=1)
case("concat_one", "Concat", [S], axis=0)
case("concat_constant", "Concat", [S], [f32([2, 3, 2])], axis=2)
case("concat_empty", "Concat", [S], [f32([2, 0, 4])], axis=1)
case("concat_blocks", "Concat", [[1, 16, 3, 3], [1, 32, 3, 3], [1, 5, 3, 3]], axis=1)
case("concat_opset7", "Concat", [S, S], opset=7, axis=1)
case("expand", "Expand", [[3, 1]], [i64(2, 3, 4)])
case("expand_both_ways", "Expand", [[3, 4]], [i64(2, 1, 1)])
case("expand_same", "Expand", [S], [i64(2, 3, 4)])
case("expand_scalar", "Expand", [[]], [i64(2, 2)])
case("tile", "Tile", [S], [i64(2, 1, 3)])
case("tile_none", "Tile", [S], [i64(1, 1, 1)])
case("tile_ones", "Tile", [[1, 3, 1]], [i64(4, 2, 5)])
for mode in ["constant", "edge", "reflect"]:
    case(f"pad_{mode}", "Pad", [X], [i64(0, 0, 1, 2, 0, 0, 3, 4)], mode=mode)
    case(f"pad_{mode}_all", "Pad", [S], [i64(1, 2, 0, 0, 1, 3)], mode=mode)
    case(f"pad_{mode}_opset7", "Pad", [X], opset=7, mode=mode, pads=[0, 0, 1, 2, 0, 0, 3, 4])
case("pad_value", "Pad", [S], [i64(0, 1, 0, 0, 1, 3), np.float32(-1.5)])
case("pad_value_one", "Pad", [S], [i64(0, 1, 0, 0, 1, 3), f32([1])])
case("pad_value_attr", "Pad", [S], opset=10, pads=[0, 1, 0, 0, 1, 3], value=2.5)
case("pad_axes", "Pad", [S], [i64(1, 2, 3, 4), None, i64(2, -2)], opset=18)
case("pad_cut", "Pad", [[4, 5]], [i64(-1, 2, 0, -3)])
case("pad_none", "Pad", [S], [i64(0, 0, 0, 0, 0, 0)])

# ---- shapes that the graph computes ----
graph("shape_chain", ["Shape x0 -> s", "Gather s,c0 -> n", "Unsqueeze n,c1 -> u", ("Concat u,c2 -> t", {"axis": 0}), "Reshape x0,t -> y"],
      [["batch", 3, 4]], [np.array(0), i64(0), i64(-1)], dims=["batch=4"])
graph("shape_chain_opset11", ["Shape x0 -> s", "Gather s,c0 -> n", ("Unsqueeze n -> u", {"axes": [0]}),
                              ("Concat u,c1 -> t", {"axis": 0}), "Reshape x0,t -> y"], [S], [np.array(0), i64(-1)], opset=11)
graph("shape_arithmetic", ["Shape x0 -> s", "Slice s,c0,c1 -> h", "Mul h,c2 -> m", "Div m,c3 -> d", "Sub d,c4 -> e",
                           "Add e,c4 -> f", "Reshape x0,f -> y"], [S], [i64(1), i64(3), i64(4, 3), i64(3, 2), i64(7)])
graph("shape_cast", ["Shape x0 -> s", ("Cast s -> f", {"to": 1}), "Mul f,c0 -> g", "Floor g -> h", ("Cast h -> i", {"to": 7}),
                     "Reshape x0,i -> y"], [[2, 6]], [f32([2]) * 0 + np.float32([1.5, 0.67])])
graph("shape_where", ["Shape x0 -> s", "Equal c0,c1 -> q", "Where q,s,c0 -> t", "Expand x0,t -> y"], [[3, 1]],
      [i64(-1, 4), i64(-1)])
graph("shape_range", ["Shape x0 -> s", ("Gather s,c0 -> n", {}), "Range c1,n,c2 -> r", ("Gather x0,r -> y", {"axis": 1})],
      [[3, 7]], [np.array(1), np.array(0), np.array(2)])
graph("shape_start_end", [("Shape x0 -> s", {"start": 1, "end": -1}), "Reshape x0,s -> y"], [[1, 2, 3, 1]])
graph("shape_size", ["Size x0 -> n", "Unsqueeze n,c0 -> s", "Reshape x0,s -> y"], [S], [i64(0)])
graph("shape_constant_of", [("ConstantOfShape c0 -> z", {"value": helper.make_tensor("v", 1, [1], [2.5])}), "Add x0,z -> y"],
      [S], [i64(3, 4)])
graph("shape_zeros", ["Shape x0 -> s", "ConstantOfShape s -> z", ("Concat x0,z -> y", {"axis": 0})], [S])
graph("shape_min_max", ["Shape x0 -> s", "Max s,c0 -> a", "Min a,c1 -> b", "Mod b,c2 -> m", "Neg m -> n", "Abs n -> p",
                        "Tile x0,p -> y"], [[2, 3, 4]], [i64(3), i64(2, 6, 9), i64(100)], opset=13)
graph("shape_logic", ["Shape x0 -> s", "Greater s,c0 -> a", "Less s,c1 -> b", "And a,b -> c", "Not c -> d", "Or d,a -> e",
                      "Xor e,b -> f", "Where f,s,c2 -> t", "Expand x0,t -> y"], [[1, 1, 4]], [i64(2), i64(9), i64(4)])
graph("mask_bool", ["Equal c0,c1 -> q", ("Cast q -> f", {"to": 1}), "Mul x0,f -> y"], [[5]], [i64(1, 2, 1, 3, 1), i64(1)])
graph("cast_f64", [("Cast c0 -> w", {"to": 1}), "Mul x0,w -> y"], [[3]], [np.array([0.1, 1e-9, 3])])
graph("cast_f16", [("Cast c0 -> w", {"to": 1}), "Mul x0,w -> y"], [[3]], [np.array([0.1, 1e-4, 3], np.float16)])
graph("cast_i8", [("Cast c0 -> w", {"to": 1}), "Mul x0,w -> y"], [[3]], [np.array([-128, 1, 127], np.int8)])
graph("cast_to_i8", [("Cast c0 -> i", {"to": 3}), ("Cast i -> w", {"to": 1}), "Mul x0,w -> y"], [[3]], [np.array([-3.7, 1.2, 9.9], np.float32)])
graph("range_float", ["Range c0,c1,c2 -> r", "Add x0,r -> y"], [[4]], [np.float32(1), np.float32(2), np.float32(0.25)])
graph("range_back", ["Range c0,c1,c2 -> r", ("Cast r -> f", {"to": 1}), "Add x0,f -> y"], [[4]], [np.array(5), np.array(1), np.array(-1)])
graph("transpose_ints", ["Transpose c0 -> t", ("Cast t -> f", {"to": 1}), "Add x0,f -> y"], [[3, 2]], [np.arange(6).reshape(2, 3)])
graph("div_negative", ["Div c0,c1 -> q", ("Cast q -> f", {"to": 1}), "Add x0,f -> y"], [[3]], [i64(-7, 7, -6), i64(2, -2, 3)])
graph("slice_of_split", [("Split x0,c0 -> a,b", {"axis": 1}), "Relu a -> p", "Neg b -> q", ("Concat q,p,b -> y", {"axis": 1})],
      [[2, 6, 3]], [i64(2, 4)])

# ---- softmax ----
case("softmax", "Softmax", [[3, 10]])
for axis in [0, 1, 2, -2]:
    case(f"softmax_{axis}", "Softmax", [S], axis=axis)
    case(f"softmax_old_{axis}", "Softmax", [S], opset=11, axis=axis)
case("softmax_old_default", "Softmax", [S], opset=7)
case("logsoftmax", "LogSoftmax", [[3, 10]])
case("logsoftmax_wide", "LogSoftmax", [[2, 33]], low=-80, high=80)
for axis in [0, 1, -1]:
    case(f"logsoftmax_{axis}", "LogSoftmax", [S], axis=axis)
    case(f"logsoftmax_old_{axis}", "LogSoftmax", [S], opset=11, axis=axis)
case("softmax_wide", "Softmax", [[2, 33]], low=-80, high=80)

# ---- what passes its input on ----
case("identity", "Identity", [S])
case("dropout_opset7", "Dropout", [S], opset=7, ratio=0.9)
case("dropout_mask_unused", "Dropout", [S], opset=10, n_out=2)
case("dropout_inputs", "Dropout", [S], [np.float32(0.5)], opset=13)
case("dropout_training_false", "Dropout", [S], [np.float32(0.5), np.array(False)], opset=13)
case("cast_same", "Cast", [S], to=1)

# ---- the newest opsets ----
NEWEST = 28
case("newest_relu", "Relu", [S], opset=NEWEST)
case("newest_reshape", "Reshape", [S], [i64(6, 4)], opset=NEWEST)
case("newest_mean", "ReduceMean", [R], [i64(1)], opset=NEWEST)
case("newest_conv", "Conv", [X], [W], opset=NEWEST)
case("newest_softmax", "Softmax", [S], opset=NEWEST)


# ---- symbolic dims ----
case("dim_param", "Relu", [["batch", 3]], dims=["batch=4"])
case("dim_axis", "Relu", [[None, 3]], dims=["x0.0=4"])
case("dim_both", "Add", [["n", "c"], ["c"]], dims=["n=2", "x0.1=3", "c=3"])
case("dim_declared_output", "Relu", [["batch", 3]], dims=["batch=4"], declared=["batch", 3])


# ---- integers, booleans, choices, lookups ----
def ints(shape, low=-9, high=9, dtype=np.int64):
    return oc.rng(f"{shape} {low} {high} {dtype}").integers(low, high, shape).astype(dtype)


TRUTH, OTHER_TRUTH = ints([2, 1, 4], 0, 2).astype(bool), ints([3, 1], 0, 2).astype(bool)
for op in ["Add", "Sub", "Mul", "Min", "Max"]:
    case(op.lower() + "_integers", op, [ints([2, 1, 4]), ints([3, 1])], result=np.int64)
case("add_wraps", "Add", [np.array([2**31 - 1, -(2**31)], np.int32), np.array([1, -1], np.int32)], result=np.int32)
case("div_integers", "Div", [ints([40]), ints([40], 1, 9) * (1 - 2 * (ints([40]) % 2))], result=np.int64)
case("mod_integers", "Mod", [ints([40]), ints([40], 1, 9) * (1 - 2 * (ints([40]) % 2))], result=np.int64)
case("mod_as_c", "Mod", [ints([40]), ints([40], 1, 9) * (1 - 2 * (ints([40]) % 2))], result=np.int64, fmod=1)
for op in ["Neg", "Abs", "Sign"]:
    case(op.lower() + "_integers", op, [ints([17], dtype=np.int32)], result=np.int32)
case("clip_integers", "Clip", [ints([33]), np.array(-3), np.array(4)], result=np.int64)
case("clip_crossed_integers", "Clip", [ints([33]), np.array(4), np.array(-3)], result=np.int64)
for op in ["Equal", "Greater", "GreaterOrEqual", "Less", "LessOrEqual"]:
    case(op.lower() + "_integers", op, [ints([2, 1, 4]), ints([3, 1])], result=bool)
    case(op.lower() + "_floats", op, [ints([2, 1, 4], -3, 3).astype(np.float32), ints([3, 1], -3, 3).astype(np.float32)], result=bool)
case("equal_truths", "Equal", [TRUTH, OTHER_TRUTH], result=bool)
for op in ["And", "Or", "Xor"]:
    case(op.lower() + "_truths", op, [TRUTH, OTHER_TRUTH], result=bool)
case("not_truth", "Not", [TRUTH], result=bool)
case("isnan", "IsNaN", [np.array([1, np.nan, np.inf, -np.nan, 0], np.float32)], result=bool)
case("where_floats", "Where", [TRUTH, [3, 4], [2, 3, 1]])
case("where_integers", "Where", [TRUTH, ints([3, 4]), ints([2, 3, 1])], result=np.int64)
case("where_truths", "Where", [TRUTH, OTHER_TRUTH, TRUTH], result=bool)
case("where_lowest", "Where", [TRUTH, np.array(np.finfo(np.float32).min), [3, 4]])
for to, dtype in [("INT64", np.int64), ("INT32", np.int32), ("INT8", np.int8), ("UINT8", np.uint8), ("BOOL", bool)]:
    case("cast_to_" + to.lower(), "Cast", [[3, 20]], low=0 if to == "UINT8" else -9, high=9, result=dtype, to=getattr(onnx.TensorProto, to))
    case("cast_from_" + to.lower(), "Cast", [ints([20], 0, 99).astype(dtype)], to=onnx.TensorProto.FLOAT)
    case("cast_integers_" + to.lower(), "Cast", [ints([20], -300, 300)], result=dtype, to=getattr(onnx.TensorProto, to))
INDEX = np.array([[0, 3, -1], [-4, 2, 2]])
for axis in range(3):
    case(f"gather_computed_{axis}", "Gather", [[4, 5, 6], INDEX], axis=axis)
case("gather_integers", "Gather", [ints([4, 5]), INDEX.astype(np.int32)], result=np.int64)
case("gather_one", "Gather", [[4, 5], np.array(-2)])
case("gather_many_runs", "Gather", [[200, 3]], [np.array([i * i % 199 for i in range(150)])])
graph("mask_chain", [("Cast x0 -> m", {"to": onnx.TensorProto.FLOAT}), "Unsqueeze m,c0 -> u", "Sub c1,u -> s",
                     "Mul s,c2 -> bias", "Add x1,bias -> y"],
      [np.array([[1, 1, 0], [1, 0, 0]]), [2, 4, 5, 3]], [i64(1, 2), np.float32(1), np.float32(-10000)])


if __name__ == "__main__":
    sys.exit(oc.main(CASES.runs))
