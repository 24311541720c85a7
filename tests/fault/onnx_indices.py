"""Operators that choose elements by index, by mask or by order, and windows that overlap, compared with ONNX Runtime:
python onnx_indices.py ONNX_EVAL FOLDER [CASE]"""
import sys

import numpy as np

import onnx_cases as oc
from onnx_cases import f32, i64
from onnx_compare import Table

CASES = Table()
case = CASES.case
X = [1, 3, 7, 9]


def indices(low, high, shape, name="i", dtype=np.int64):
    return oc.rng(name + str(shape)).integers(low, high, shape).astype(dtype)


# ---- transposed convolution ----
for name, kernel, attrs in [
        ("overlap", [3, 3], {"strides": [2, 2]}), ("pads", [4, 4], {"strides": [2, 2], "pads": [1, 1, 1, 1]}),
        ("uneven_pads", [5, 3], {"strides": [3, 2], "pads": [2, 0, 1, 1]}), ("stride_1", [3, 3], {"pads": [1, 1, 1, 1]}),
        ("gaps", [2, 1], {"strides": [3, 4]}), ("output_padding", [3, 3], {"strides": [2, 2], "pads": [1, 1, 1, 1], "output_padding": [1, 1]}),
        ("output_padding_beyond", [2, 2], {"strides": [4, 4], "output_padding": [3, 1]}),
        ("dilations", [3, 2], {"strides": [2, 2], "dilations": [2, 3]}), ("dilations_stride_1", [3, 3], {"dilations": [2, 2], "pads": [2, 1, 0, 3]}),
        ("dilations_wide", [2, 2], {"strides": [3, 3], "dilations": [3, 5]}), ("wide_pads", [3, 3], {"strides": [2, 1], "pads": [3, 2, 4, 2]}),
        ("same_upper", [3, 4], {"strides": [2, 2], "auto_pad": "SAME_UPPER"}), ("same_lower", [3, 4], {"strides": [2, 3], "auto_pad": "SAME_LOWER"}),
        ("output_shape", [3, 3], {"strides": [3, 2], "output_shape": [20, 17]})]:
    case("convtranspose_" + name, "ConvTranspose", [X], [f32([3, 4] + kernel)], **attrs)
case("convtranspose_bias", "ConvTranspose", [X], [f32([3, 5, 3, 3]), f32([5])], strides=[2, 2], pads=[1, 1, 1, 1])
case("convtranspose_groups", "ConvTranspose", [[2, 4, 3, 5]], [f32([4, 3, 4, 4]), f32([6])], strides=[2, 2], pads=[1, 1, 1, 1], group=2)
case("convtranspose_depthwise", "ConvTranspose", [[1, 20, 4, 5]], [f32([20, 1, 4, 4])], strides=[2, 2], pads=[1, 1, 1, 1], group=20)
case("convtranspose_1d", "ConvTranspose", [[2, 3, 7]], [f32([3, 4, 5])], strides=[2], pads=[1, 2], output_padding=[1])
case("convtranspose_1d_output_shape", "ConvTranspose", [[2, 3, 7]], [f32([3, 4, 5])], strides=[2], output_shape=[15])
case("convtranspose_computed", "ConvTranspose", [X, [3, 4, 3, 3]], strides=[2, 2], pads=[1, 0, 1, 0])
case("convtranspose_many_channels", "ConvTranspose", [[1, 33, 5, 6]], [f32([33, 17, 4, 4])], strides=[2, 2], pads=[1, 1, 1, 1])

# ---- GatherElements, GatherND ----
for axis in [0, 1, 2, -1]:
    case(f"gather_elements_{axis}", "GatherElements", [[3, 4, 5]], [indices(-3, 3, [3, 4, 5])], axis=axis)
    case(f"gather_elements_computed_{axis}", "GatherElements", [[3, 4, 5], indices(-3, 3, [2, 3, 5])], axis=axis)
case("gather_elements_i32", "GatherElements", [[6], indices(-6, 6, [9], dtype=np.int32)])
case("gather_elements_i64_data", "GatherElements", [i64(7, -8, 9), i64(2, 0, -3, 1)], result=np.int64)
case("gather_elements_bool", "GatherElements", [np.array([[True, False], [False, False]]), i64(1, 0).reshape(1, 2)], result=np.bool_)
case("gather_nd_all", "GatherND", [[3, 4], i64(0, 1, 2, -1, -3, 0).reshape(3, 2)])
case("gather_nd_rows", "GatherND", [[3, 4, 5]], [i64(2, 0, -1).reshape(3, 1)])
case("gather_nd_pairs", "GatherND", [[3, 4, 5], i64(2, 0, -1, 3).reshape(1, 2, 2)])
case("gather_nd_batch", "GatherND", [[2, 3, 4, 5], indices(-3, 3, [2, 6, 2])], batch_dims=1)
case("gather_nd_batch_2", "GatherND", [[2, 3, 4, 5], indices(-4, 4, [2, 3, 1])], batch_dims=2)
case("gather_nd_opset11", "GatherND", [[3, 4]], [i64(1, 3).reshape(1, 2)], opset=11)
case("gather_nd_single", "GatherND", [[3, 4]], [i64(1, 3)])
case("gather_nd_truth", "GatherND", [np.arange(12).reshape(3, 4) % 3 == 0, i64(0, 0, 2, 3).reshape(2, 2)], result=np.bool_)

# ---- masks ----
for upper in [0, 1]:
    for k in [None, 0, 1, -2, 9]:
        case(f"trilu_{upper}_{k}", "Trilu", [[2, 4, 5]], [] if k is None else [np.int64(k)], upper=upper)
case("trilu_i64", "Trilu", [np.arange(12).reshape(3, 4)], result=np.int64)
case("trilu_bool", "Trilu", [np.ones([3, 4], bool)], [np.int64(1)], result=np.bool_)
case("trilu_infinite", "Trilu", [np.full([3, 4], -np.inf, np.float32)], [np.int64(1)])
case("one_hot", "OneHot", [i64(0, 2, -1, 5, -9)], [np.int64(3), np.array([-1, 2], np.float32)])
case("one_hot_axis", "OneHot", [indices(0, 4, [2, 3])], [np.int64(4), np.array([0, 1], np.float32)], axis=1)
case("one_hot_axis_first", "OneHot", [indices(0, 4, [2, 3], dtype=np.int32)], [np.int32(4), i64(5, 7)], axis=0, result=np.int64)
case("one_hot_constant", "OneHot", [], [i64(1, 0), np.int64(2), np.array([0, 1], np.float32)])
case("eye_like", "EyeLike", [[3, 4]])
case("eye_like_k", "EyeLike", [[4, 4]], k=-1, dtype=7, result=np.int64)
case("eye_like_bool", "EyeLike", [[2, 3]], k=1, dtype=9, result=np.bool_)

# ---- others ----
case("cast_like", "CastLike", [[3, 4]], [i64(0)], result=np.int64, low=-9, high=9)
case("cast_like_float", "CastLike", [i64(1, -2), [1]])
case("cast_like_opset19", "CastLike", [[3, 4]], [np.zeros([1], bool)], opset=19, result=np.bool_)
case("is_inf", "IsInf", [np.array([np.inf, -np.inf, 1, np.nan], np.float32)], result=np.bool_)
for flag in ["detect_negative", "detect_positive"]:
    case("is_inf_" + flag, "IsInf", [np.array([np.inf, -np.inf, 1, np.nan], np.float32)], result=np.bool_, **{flag: 0})
case("shrink", "Shrink", [[3, 40]])
case("shrink_soft", "Shrink", [[3, 40]], lambd=0.9, bias=0.9)
for p in [1, 2, 3]:
    case(f"lp_pool_{p}", "LpPool", [X], kernel_shape=[2, 3], strides=[2, 1], pads=[1, 0, 0, 1], p=p)
    case(f"global_lp_pool_{p}", "GlobalLpPool", [X], p=p)
case("lp_pool_1d", "LpPool", [[2, 3, 11]], kernel_shape=[4], strides=[3])
case("lp_pool_same", "LpPool", [X], kernel_shape=[3, 3], strides=[2, 2], auto_pad="SAME_UPPER")
case("lp_pool_ceil", "LpPool", [X], kernel_shape=[2, 2], strides=[2, 2], ceil_mode=1, opset=18)
case("lp_pool_dilations", "LpPool", [X], kernel_shape=[2, 2], dilations=[2, 3], opset=18)

# ---- order ----
BOTH = (np.float32, np.int64)
TIES = np.array([[3, 1, 3, -2, -2, 1], [0, 0, 0, 0, 0, 0]], np.float32)
for op in ["ArgMax", "ArgMin"]:
    for axis in [0, 1, 2, -1]:
        case(f"{op.lower()}_{axis}", op, [[3, 4, 37]], result=np.int64, axis=axis)
    case(op.lower() + "_default", op, [[5, 3]], result=np.int64)
    case(op.lower() + "_dropped", op, [[5, 40, 3]], result=np.int64, axis=1, keepdims=0)
    for last in [0, 1]:
        case(f"{op.lower()}_ties_{last}", op, [TIES], result=np.int64, axis=1, select_last_index=last)
        case(f"{op.lower()}_ties_down_{last}", op, [TIES], result=np.int64, axis=0, select_last_index=last)
    case(op.lower() + "_int8", op, [np.array([[5, -128, 127, 127]], np.int8)], result=np.int64, axis=1)
    case(op.lower() + "_opset7", op, [[5, 3]], opset=7, result=np.int64, axis=1)
for largest in [0, 1]:
    case(f"topk_{largest}", "TopK", [[3, 20]], [i64(5)], n_out=2, all_out=True, result=BOTH, largest=largest)
    case(f"topk_axis_{largest}", "TopK", [[3, 9, 4]], [i64(4)], n_out=2, all_out=True, result=BOTH, axis=1, largest=largest)
    case(f"topk_ties_{largest}", "TopK", [TIES], [i64(6)], n_out=2, all_out=True, result=BOTH, axis=1, largest=largest)
case("topk_all", "TopK", [[700]], [i64(700)], n_out=2, all_out=True, result=BOTH)
case("topk_opset10", "TopK", [[3, 20]], [i64(2)], opset=10, n_out=2, all_out=True, result=BOTH)
case("topk_opset7", "TopK", [[3, 20]], opset=7, n_out=2, all_out=True, result=BOTH, k=2)
case("hardmax", "Hardmax", [[3, 20]])
case("hardmax_axis", "Hardmax", [[3, 4, 5]], axis=1)
case("hardmax_ties", "Hardmax", [TIES])
case("hardmax_opset11", "Hardmax", [[3, 4, 5]], opset=11, axis=1)
for axis in [0, 1, -1]:
    for attrs in [{}, {"exclusive": 1}, {"reverse": 1}, {"exclusive": 1, "reverse": 1}]:
        case(f"cumsum_{axis}_" + "_".join(attrs), "CumSum", [[3, 17, 4]], [np.int64(axis)], **attrs)
case("cumsum_i64", "CumSum", [np.array([[1, 1, 0, 1], [1 << 40, -3, 5, 0]])], [np.int32(1)], result=np.int64)
case("cumsum_i32", "CumSum", [np.array([7, -8, 9], np.int32)], [i64(0)], result=np.int32)

# ---- ScatterElements, ScatterND ----
case("scatter_elements_0", "ScatterElements", [[3, 4, 2]], [np.array([[[2, 0], [1, 1]]]), f32([1, 2, 2])], axis=0)
case("scatter_elements_1", "ScatterElements", [[3, 4, 2]], [np.array([[[3, 0], [-3, 2]]]), f32([1, 2, 2])], axis=1)
case("scatter_elements_last", "ScatterElements", [[3, 4, 2], np.array([[[1, 0], [-2, 1]]]), [1, 2, 2]], axis=-1)
for how in ["add", "mul", "max", "min"]:
    case("scatter_elements_" + how, "ScatterElements", [[5, 2], indices(-5, 5, [7, 2]), [7, 2]], opset=18, reduction=how)
    case("scatter_nd_" + how, "ScatterND", [[4, 5], indices(-4, 4, [6, 1]), [6, 5]], opset=18, reduction=how)
case("scatter_elements_opset11", "ScatterElements", [[5]], [i64(3, -5), f32([2])], opset=11)
case("scatter_opset9", "Scatter", [[5]], [i64(3, 0), f32([2])], opset=9)
case("scatter_nd_rows", "ScatterND", [[4, 5]], [i64(2, -4).reshape(2, 1), f32([2, 5])])
case("scatter_nd_elements", "ScatterND", [[4, 5], i64(0, 1, 3, 4, 2, 2).reshape(3, 2), [3]])
case("scatter_nd_i64", "ScatterND", [np.arange(8), i64(4, 3).reshape(2, 1), i64(-1, -2)], result=np.int64)
case("scatter_nd_bool", "ScatterND", [np.zeros([3, 2], bool), i64(1).reshape(1, 1), np.ones([1, 2], bool)], result=np.bool_)
case("scatter_nd_constant", "ScatterND", [], [f32([3, 4]), i64(0, 1).reshape(1, 2), f32([1])])

# ---- GridSample ----
GRID = [2, 5, 6, 2]
for mode in ["bilinear", "nearest", "bicubic"]:
    for padding in ["zeros", "border", "reflection"]:
        for align in [0, 1]:
            case(f"grid_sample_{mode}_{padding}_{align}", "GridSample", [[2, 3, 4, 7], GRID], opset=16, low=-1.7, high=1.7, mode=mode,
                 padding_mode=padding, align_corners=align)
case("grid_sample_opset20", "GridSample", [[2, 3, 4, 7], GRID], opset=20, mode="linear")
case("grid_sample_default", "GridSample", [[2, 3, 1, 1], GRID])

# ---- Einsum ----
for i, (equation, *shapes) in enumerate([
        ("ij->ji", [2, 3]), ("ij->", [2, 3]), ("ijk->k", [2, 3, 4]), ("ii->i", [4, 4]), ("ii", [4, 4]), ("bii->bi", [2, 3, 3]),
        ("...ii->...i", [2, 3, 3]), ("iji->j", [3, 4, 3]), ("ij,jk->ik", [2, 3], [3, 4]), ("ij,jk", [2, 3], [3, 4]),
        ("bij,bjk->bik", [2, 3, 4], [2, 4, 5]), ("bhqd,bhkd->bhqk", [2, 2, 3, 4], [2, 2, 5, 4]), ("bhqk,bkhd->bqhd", [2, 2, 3, 5], [2, 5, 2, 4]),
        ("i,i->", [5], [5]), ("i,j->ij", [3], [4]), ("ij,ij->ij", [3, 4], [3, 4]), ("...ij,...jk->...ik", [2, 3, 4], [2, 4, 5]),
        ("...ij,jk->...ik", [2, 2, 3, 4], [4, 5]), ("...,...", [2, 1, 3], [4, 3]), ("ij,kj->ki", [2, 3], [4, 3]), ("ijk,il->jl", [2, 3, 4], [2, 5]),
        ("ij,jk,kl->il", [2, 3], [3, 4], [4, 5]), ("a,b,c->abc", [2], [3], [4]), ("bn , anm , bm -> ba", [2, 5], [3, 5, 4], [2, 4]),
        ("nlhd,nhdv->nlhv", [2, 3, 2, 4], [2, 2, 4, 5]), ("Aa,aB->AB", [2, 3], [3, 4])]):
    case(f"einsum_{i}", "Einsum", list(shapes), equation=equation)


if __name__ == "__main__":
    sys.exit(oc.main(CASES.runs))
