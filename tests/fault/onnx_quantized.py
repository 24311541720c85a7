"""Quantised operators: results from exact integers of numpy, ONNX Runtime and the onnx package's own node tests; and
the ways to get them wrong: python onnx_quantized.py ONNX_EVAL FOLDER"""
import sys

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper
from onnx.backend.test.case.node import collect_testcases

import onnx_cases as oc

MICROSOFT = "com.microsoft"
REFUSED_TYPES = ("e4m3", "e5m2", "int4", "uint4", "int2", "uint2", "float4", "uint16", "float8", "e8m0")


def build(op, feeds, constants, outputs=("y",), domain="", **attributes):
    order = attributes.pop("order", list(feeds) + list(constants))
    node = helper.make_node(op, order, list(outputs), name="n", domain=domain, **attributes)
    graph = helper.make_graph([node], "g", [oc.tensor_info(k, v) for k, v in feeds.items()],
                              [helper.make_value_info(o, onnx.TypeProto()) for o in outputs],
                              [numpy_helper.from_array(np.asarray(v), k) for k, v in constants.items()])
    opsets = [helper.make_opsetid("", 21)] + ([helper.make_opsetid(domain, 1)] if domain else [])
    return helper.make_model(graph, opset_imports=opsets, ir_version=10)


def runtime(made, feeds):
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    return onnxruntime.InferenceSession(made.SerializeToString(), options, ["CPUExecutionProvider"]).run(None, feeds)


def compare(tool, folder, name, made, feeds, want, tolerance=0.0):
    path = oc.save(folder, name, made)
    got, shapes = oc.evaluate(tool, folder, name, path, list(feeds.values()), len(want), (), [w.dtype for w in want])
    for g, w, shape in zip(got, want, shapes):
        assert "[" + ",".join(map(str, w.shape)) + "]" in shape, f"{shape}, expected {w.shape}"
        off = np.abs(np.nan_to_num(g.astype(np.float64)) - np.nan_to_num(w.reshape(-1).astype(np.float64)))
        assert off.size == 0 or off.max() <= tolerance * max(1, np.abs(w).max()), f"off by {off.max()}"


def quantize(x, scale, zero, dtype):
    low, high = np.iinfo(dtype).min, np.iinfo(dtype).max
    ratio = (x.astype(np.float32) / np.float32(scale)).astype(np.float32)
    return np.clip(np.rint(ratio).astype(np.float64) + zero, low, high).astype(dtype)


# ---- exact integers ------------------------------------------------------------------------------------------------


def exact_matmul():
    r = np.random.default_rng(1)
    for m, k, n, b_type in ((1, 1, 1, np.int8), (3, 33, 18, np.int8), (5, 64, 31, np.uint8), (2, 7, 40, np.int8)):
        info = np.iinfo(b_type)
        for extreme in (False, True):
            a = np.full((m, k), 255, np.uint8) if extreme else r.integers(0, 256, (m, k)).astype(np.uint8)
            b = np.full((k, n), info.min, b_type) if extreme else r.integers(info.min, info.max + 1, (k, n)).astype(b_type)
            za, zb = np.uint8(0 if extreme else 3), np.array(r.integers(info.min, info.max, n), b_type)
            want = (a.astype(object) - int(za)).dot(b.astype(object) - zb.astype(object)).astype(np.int32)
            yield f"matmul_{m}_{k}_{n}_{extreme}", build("MatMulInteger", {"a": a}, {"b": b, "za": za, "zb": zb}), {"a": a}, want


def conv_exact(x, w, zx, zw, stride, pad, groups):
    x = x.astype(object) - int(zx)
    w = w.astype(object) - np.asarray(zw, object).reshape(-1, 1, 1, 1)
    n, c, h, v = x.shape
    o, ic, kh, kw = w.shape
    wide = np.zeros((n, c, h + 2 * pad, v + 2 * pad), object)
    wide[:, :, pad:pad + h, pad:pad + v] = x
    oh, ow = (h + 2 * pad - kh) // stride + 1, (v + 2 * pad - kw) // stride + 1
    y = np.zeros((n, o, oh, ow), object)
    for out in range(o):
        first = out // (o // groups) * ic
        for i in range(oh):
            for j in range(ow):
                part = wide[:, first:first + ic, i * stride:i * stride + kh, j * stride:j * stride + kw]
                y[:, out, i, j] = (part * w[out]).sum(axis=(1, 2, 3))
    return y.astype(np.int32)


def exact_conv():
    r = np.random.default_rng(2)
    for c, o, groups, k, stride, pad in ((1, 4, 1, 3, 1, 1), (3, 17, 1, 3, 2, 1), (18, 18, 18, 3, 1, 1), (8, 6, 2, 2, 1, 0), (17, 5, 1, 1, 1, 0)):
        x = r.integers(0, 256, (2, c, 6, 5)).astype(np.uint8)
        w = r.integers(-128, 128, (o, c // groups, k, k)).astype(np.int8)
        w[0] = -128
        x[0, :, 0] = 255
        zw = r.integers(-128, 128, o).astype(np.int8) if c == 3 else np.int8(0)
        want = conv_exact(x, w, 119, np.broadcast_to(zw, (o,)), stride, pad, groups)
        made = build("ConvInteger", {"x": x}, {"w": w, "zx": np.uint8(119), "zw": zw}, strides=[stride] * 2,
                     pads=[pad] * 4, group=groups)
        yield f"conv_{c}_{o}_{k}", made, {"x": x}, want


def exact_qlinear():
    r = np.random.default_rng(3)
    a, b = r.integers(0, 256, (4, 30)).astype(np.uint8), r.integers(-128, 128, (30, 19)).astype(np.int8)
    bs = r.uniform(0.001, 0.02, 19).astype(np.float32)
    total = (a.astype(np.int64) - 11) @ b.astype(np.int64)
    factor = np.float32(0.03) * bs / np.float32(0.4)
    want = np.clip(np.rint(total.astype(np.float32) * factor) + 100, 0, 255).astype(np.uint8)
    constants = {"as": np.float32(0.03), "az": np.uint8(11), "b": b, "bs": bs, "bz": np.zeros(19, np.int8),
                 "ys": np.float32(0.4), "yz": np.uint8(100)}
    yield "qlinear_matmul", build("QLinearMatMul", {"a": a}, constants), {"a": a}, want
    x, w = r.integers(0, 256, (1, 5, 7, 6)).astype(np.uint8), r.integers(-128, 128, (9, 5, 3, 3)).astype(np.int8)
    ws, bias = r.uniform(0.001, 0.02, 9).astype(np.float32), r.integers(-2**25, 2**25, 9).astype(np.int32)
    total = conv_exact(x, w, 77, np.zeros(9), 1, 1, 1).astype(np.int64) + bias.reshape(-1, 1, 1)
    factor = (np.float32(0.05) * ws / np.float32(900)).reshape(-1, 1, 1)
    want = np.clip(np.rint(total.astype(np.float32) * factor) - 3, -128, 127).astype(np.int8)
    constants = {"xs": np.float32(0.05), "xz": np.uint8(77), "w": w, "ws": ws, "wz": np.zeros(9, np.int8),
                 "ys": np.float32(900), "yz": np.int8(-3), "b": bias}
    yield "qlinear_conv", build("QLinearConv", {"x": x}, constants, pads=[1] * 4), {"x": x}, want
    halves = np.array([-2.5, -1.5, -0.5, 0.5, 1.5, 2.5, 126.5, 127.5, 1e30, -1e30, np.inf, -np.inf], np.float32)
    yield ("round_half_even", build("QuantizeLinear", {"x": halves}, {"s": np.float32(1), "z": np.int8(0)}), {"x": halves},
           np.array([-2, -2, 0, 0, 2, 2, 126, 127, 127, -128, 127, -128], np.int8))
    x = r.uniform(-4, 4, (3, 4, 6)).astype(np.float32)
    scale, zero = r.uniform(0.01, 0.1, 4).astype(np.float32), r.integers(0, 256, 4).astype(np.uint8)
    want = quantize(x, scale.reshape(4, 1), zero.reshape(4, 1).astype(np.float64), np.uint8)
    yield "per_axis", build("QuantizeLinear", {"x": x}, {"s": scale, "z": zero}, axis=-2), {"x": x}, want
    scale = r.uniform(0.01, 0.1, (3, 4, 3)).astype(np.float32)
    want = quantize(x, np.repeat(scale, 2, 2), 0, np.int8)
    yield ("blocked", build("QuantizeLinear", {"x": x}, {"s": scale, "z": np.zeros((3, 4, 3), np.int8)}, axis=2,
                            block_size=2), {"x": x}, want)


def pool_exact(x, kernel, strides, pads=(0, 0, 0, 0), dilations=(1, 1), ceil=False):
    """The largest of each window of x [N,C,H,W] that lies in the image; the last window begins within it."""
    n, c, *extents = x.shape
    starts = []
    for k in range(2):
        room = extents[k] + pads[k] + pads[2 + k] - (kernel[k] - 1) * dilations[k] - 1
        count = -(-room // strides[k]) + 1 if ceil else room // strides[k] + 1
        first = [i * strides[k] - pads[k] for i in range(count)]
        starts.append([f for f in first if f < extents[k]])
    y = np.empty((n, c, len(starts[0]), len(starts[1])), x.dtype)
    for i, top in enumerate(starts[0]):
        rows = [r for r in range(top, top + kernel[0] * dilations[0], dilations[0]) if 0 <= r < extents[0]]
        for j, left in enumerate(starts[1]):
            columns = [v for v in range(left, left + kernel[1] * dilations[1], dilations[1]) if 0 <= v < extents[1]]
            y[:, :, i, j] = x[:, :, rows][:, :, :, columns].max(axis=(2, 3))
    return y


def exact_pool():
    r = np.random.default_rng(5)
    for dtype in (np.int8, np.uint8):
        info = np.iinfo(dtype)
        for name, extents, kernel, more in (("plain", (4, 4), (2, 2), {}), ("pads", (7, 5), (3, 3), {"strides": (2, 2), "pads": (1, 0, 2, 1)}),
                                            ("ceil", (6, 8), (3, 3), {"strides": (2, 3), "ceil": True}),
                                            ("ceil_pads", (6, 7), (3, 3), {"strides": (3, 3), "pads": (1, 1, 1, 1), "ceil": True}),
                                            ("dilations", (9, 8), (3, 2), {"dilations": (2, 3), "pads": (1, 0, 0, 1)})):
            x = r.integers(info.min, info.max + 1, (2, 18, *extents)).astype(dtype)
            x[0] = info.min
            x[1, 0] = np.minimum(x[1, 0], info.min + 2)  # what lies beyond the image must not win
            attributes = {k: list(v) for k, v in more.items() if k != "ceil"} | {"kernel_shape": list(kernel), "ceil_mode": int("ceil" in more)}
            want = pool_exact(x, kernel, **({"strides": (1, 1)} | more))
            yield f"pool_{name}_{dtype.__name__}", build("MaxPool", {"x": x}, {}, **attributes), {"x": x}, want
        x = r.integers(info.min, info.max + 1, (2, 3, 1, 10)).astype(dtype)
        want = pool_exact(x, (1, 3), (1, 2), (0, 1, 0, 1))[:, :, 0]
        yield (f"pool_1d_{dtype.__name__}", build("MaxPool", {"x": x[:, :, 0]}, {}, kernel_shape=[3], strides=[2], pads=[1, 1]),
               {"x": x[:, :, 0]}, want)


# ---- against ONNX Runtime ------------------------------------------------------------------------------------------


def with_lengths(r):
    """x is quantised by its extremes within the longest row's steps, padding of shorter rows included. R is 0, as ONNX
    Runtime quantises h by the whole batch; what lies in the padding must be without any influence."""
    x = r.uniform(-1, 1, (5, 2, 6)).astype(np.float32)
    x[3:] = 40
    x[4, 0] = np.nan
    x[1, 1] = 9
    for name, lengths, columns in (("", [3, 1], 1), ("_one", [1, 0], 1), ("_late", [0, 3], 1), ("_none", [0, 0], 1), ("_state", [2], 0)):
        for direction, dirs in (("forward", 1), ("reverse", 1), ("bidirectional", 2)):
            for fixed in (False, True):
                some = np.ascontiguousarray(x[:, :len(lengths)])
                feeds = {"x": some, "l": np.array(lengths, np.int32)}
                recurrent = np.zeros((dirs, 11, 44)) if columns else r.integers(-128, 128, (dirs, 11, 44))
                constants = {"w": r.integers(-128, 128, (dirs, 6, 44)).astype(np.int8), "r": recurrent.astype(np.int8),
                             "b": r.uniform(-1, 1, (dirs, 88)).astype(np.float32), "s": np.full(dirs, 0.01, np.float32), "z": np.zeros(dirs, np.int8)}
                if fixed:
                    constants["l"] = feeds.pop("l")
                made = build("DynamicQuantizeLSTM", feeds, constants, ("y", "yh", "yc"), domain=MICROSOFT,
                             order=["x", "w", "r", "b", "l", "", "", "", "s", "z", "s", "z"], hidden_size=11, direction=direction)
                yield f"lengths{name}_{direction}_{fixed}", made, feeds, 1e-5


def with_runtime():
    r = np.random.default_rng(4)
    a, b = (r.integers(0, 256, (2, 18, 5)).astype(np.uint8) for _ in range(2))
    grids = {"as": np.float32(0.02), "az": np.uint8(120), "b": b, "bs": np.float32(0.03), "bz": np.uint8(99),
             "ys": np.float32(0.05), "yz": np.uint8(110)}
    for op in ("QLinearAdd", "QLinearMul"):
        yield op, build(op, {"a": a}, grids, domain=MICROSOFT), {"a": a}, 1
    x = {"a": r.integers(0, 256, (2, 5, 4, 4)).astype(np.uint8)}
    grid = {"as": np.float32(0.02), "az": np.uint8(120), "ys": np.float32(0.01), "yz": np.uint8(3)}
    yield "QLinearSigmoid", build("QLinearSigmoid", x, grid, domain=MICROSOFT), x, 1
    yield "QLinearLeakyRelu", build("QLinearLeakyRelu", x, grid, domain=MICROSOFT, alpha=0.1), x, 1
    yield "QLinearGlobalAveragePool", build("QLinearGlobalAveragePool", x, grid, domain=MICROSOFT), x, 1
    yield "QLinearAveragePool", build("QLinearAveragePool", x, grid, domain=MICROSOFT, kernel_shape=[3, 2], strides=[2, 1], pads=[1, 0, 1, 1]), x, 1
    yield "QLinearSoftmax", build("QLinearSoftmax", x, {**grid, "ys": np.float32(1 / 256), "yz": np.uint8(0)},
                                  domain=MICROSOFT, axis=-1, opset=21), x, 1
    constants = {"ys": np.float32(0.04), "yz": np.uint8(100), "as": np.float32(0.02), "az": np.uint8(120), "b": b,
                 "bs": np.float32(0.03), "bz": np.uint8(99)}
    yield ("QLinearConcat", build("QLinearConcat", {"a": a}, constants, domain=MICROSOFT, axis=1,
                                  order=["ys", "yz", "a", "as", "az", "b", "bs", "bz"]), {"a": a}, 1)
    a = r.integers(0, 256, (3, 20)).astype(np.uint8)
    b = r.integers(-64, 64, (20, 7)).astype(np.int8)
    constants = {"b": b, "as": np.float32(0.02), "bs": r.uniform(0.01, 0.02, 7).astype(np.float32),
                 "az": np.uint8(9), "bz": np.zeros(7, np.int8), "bias": r.uniform(-1, 1, 7).astype(np.float32)}
    yield "MatMulIntegerToFloat", build("MatMulIntegerToFloat", {"a": a}, constants, domain=MICROSOFT), {"a": a}, 1e-6
    x = r.uniform(-1, 3, (3, 20)).astype(np.float32)
    constants = {"b": b, "bs": np.float32(0.02), "bz": np.int8(0), "bias": r.uniform(-1, 1, 7).astype(np.float32)}
    yield "DynamicQuantizeMatMul", build("DynamicQuantizeMatMul", {"x": x}, constants, domain=MICROSOFT), {"x": x}, 1e-6
    constants = {"as": np.float32(0.02), "az": np.uint8(9), "b": b, "bs": np.float32(0.01), "bz": np.int8(0),
                 "c": r.integers(-900, 900, 7).astype(np.int32), "ys": np.float32(0.1), "yz": np.uint8(128)}
    yield "QGemm", build("QGemm", {"a": a}, constants, domain=MICROSOFT), {"a": a}, 0
    for name, dirs, dtype, columns, attrs in (("", 1, np.uint8, False, {}), ("_both", 2, np.int8, False, {"direction": "bidirectional"}),
                                              ("_columns", 1, np.int8, True, {"direction": "reverse", "input_forget": 1})):
        info, grid = np.iinfo(dtype), (dirs, 44) if columns else (dirs,)
        zero = np.zeros(grid, dtype) if columns else np.full(grid, 7, dtype)
        constants = {"w": r.integers(info.min, info.max, (dirs, 6, 44)).astype(dtype), "r": r.integers(info.min, info.max, (dirs, 11, 44)).astype(dtype),
                     "b": r.uniform(-1, 1, (dirs, 88)).astype(np.float32), "ws": r.uniform(0.005, 0.01, grid).astype(np.float32), "wz": zero,
                     "rs": r.uniform(0.005, 0.01, grid).astype(np.float32), "rz": zero}
        made = build("DynamicQuantizeLSTM", {"x": np.zeros((4, 1, 6), np.float32)}, constants, ("y", "yh", "yc"), domain=MICROSOFT,
                     order=["x", "w", "r", "b", "", "", "", "", "ws", "wz", "rs", "rz"], hidden_size=11, **attrs)
        yield "DynamicQuantizeLSTM" + name, made, {"x": r.uniform(-1, 3, (4, 1, 6)).astype(np.float32)}, 1e-5
    yield from with_lengths(r)
    for name, x in (("mixed", r.uniform(-1, 3, (4, 9))), ("positive", r.uniform(1, 3, (4, 9))), ("zeros", np.zeros((2, 3)))):
        x = x.astype(np.float32)
        yield ("DynamicQuantizeLinear_" + name, build("DynamicQuantizeLinear", {"x": x}, {}, ("y", "s", "z")),
               {"x": x}, 0)


def node_tests():
    """The onnx package's own cases of these operators, as far as their types are supported."""
    seen = set()
    for op in ("QuantizeLinear", "DequantizeLinear", "DynamicQuantizeLinear", "MatMulInteger", "ConvInteger",
               "QLinearMatMul", "QLinearConv"):
        for case in collect_testcases(op):
            if case.name in seen:
                continue
            seen.add(case.name)
            inputs, outputs = case.data_sets[0]
            outputs = [o if isinstance(o, np.ndarray) else numpy_helper.to_array(o) for o in outputs]
            float16 = any(i.type.tensor_type.elem_type == TensorProto.FLOAT16 for i in case.model.graph.input)
            if "expanded" in case.name or float16 or any(t in case.name for t in REFUSED_TYPES):
                continue
            feeds = dict(zip([i.name for i in case.model.graph.input], inputs))
            yield case.name, case.model, feeds, outputs


# ---- wrong ones ----------------------------------------------------------------------------------------------------


def wrong():
    x = np.zeros((2, 3, 4), np.float32)
    q = np.zeros((2, 3, 4), np.uint8)
    one = np.float32(1)
    yield "zero_scale", build("QuantizeLinear", {"x": x}, {"s": np.float32(0), "z": np.uint8(0)}), "scale 0 is 0"
    yield "nan_scale", build("QuantizeLinear", {"x": x}, {"s": np.float32(np.nan), "z": np.uint8(0)}), "is nan"
    yield "infinite_scale", build("DequantizeLinear", {"q": q}, {"s": np.float32(np.inf), "z": np.uint8(0)}), "is inf"
    yield "negative_scale", build("DequantizeLinear", {"q": q}, {"s": np.float32(-1), "z": np.uint8(0)}), "is -1"
    yield "zero_type", build("DequantizeLinear", {"q": q}, {"s": one, "z": np.int8(0)}), "the zero point is i8, but input 0 is u8"
    yield "zero_shape", build("DequantizeLinear", {"q": q}, {"s": one, "z": np.zeros(3, np.uint8)}), "the zero point is u8[3]"
    yield "axis", build("QuantizeLinear", {"x": x}, {"s": np.ones(3, np.float32)}, axis=3), "axis 3"
    yield "channels", build("QuantizeLinear", {"x": x}, {"s": np.ones(5, np.float32)}), "along axis 1: 3 values"
    yield "scale_shape", build("QuantizeLinear", {"x": x}, {"s": np.ones((3, 1), np.float32)}), "the scale is f32[3,1]"
    yield "block", build("QuantizeLinear", {"x": x}, {"s": np.ones((2, 3, 2), np.float32)}, axis=2, block_size=3), "whole blocks"
    yield "i32_zero", build("DequantizeLinear", {"q": np.zeros(3, np.int32)}, {"s": one, "z": np.int32(4)}), "i32 and not 0"
    yield "float_matrix", build("MatMulInteger", {"x": x}, {"b": np.zeros((4, 2), np.int8)}), "is f32; i8 and u8"
    yield "inner", build("MatMulInteger", {"q": q}, {"b": np.zeros((5, 2), np.int8)}), "inner dimensions 4 and 5"
    yield "row_zeros", build("MatMulInteger", {"q": q[0]}, {"b": np.zeros((4, 2), np.int8), "z": np.zeros(2, np.uint8)}), "along axis 0: 3 values"
    yield "other_zero", build("MatMulInteger", {"q": q}, {"b": np.zeros((4, 2), np.int8), "z": np.int8(0)}), "the zero point of a is i8"
    w = np.zeros((2, 3, 1, 1), np.int8)
    image = np.zeros((1, 3, 2, 2), np.uint8)
    grids = {"xs": one, "xz": np.uint8(0), "w": w, "ws": one, "wz": np.int8(0), "ys": one, "yz": np.uint8(0)}
    for name, change, text in (
            ("bias_type", {"b": np.zeros(2, np.float32)}, "the bias is f32[2]; i32[2]"),
            ("bias_length", {"b": np.zeros(3, np.int32)}, "the bias is i32[3]; i32[2]"),
            ("weight_scales", {"ws": np.ones(3, np.float32)}, "along axis 0: 2 values"),
            ("result_zero", {"ys": np.float32(0)}, "scale is 0"),
            ("input_scales", {"xs": np.ones(3, np.float32)}, "as a whole: one value")):
        yield name, build("QLinearConv", {"x": image}, {**grids, **change}), text
    yield "pool_type", build("MaxPool", {"x": np.zeros((1, 1, 4, 4), np.int32)}, {}, kernel_shape=[2, 2]), "is i32; only f32"
    yield "concat_count", build("QLinearConcat", {"q": q}, {"s": one, "z": np.uint8(0)}, domain=MICROSOFT,
                                order=["s", "z", "q", "s", "z", "q"], axis=0), "3 for each operand"
    yield "unknown", build("QLinearReduceMean", {"q": q}, {"s": one}, domain=MICROSOFT), "com.microsoft::QLinearReduceMean is not supported"


def all_cases(tool, folder):
    for cases in (exact_matmul, exact_conv, exact_qlinear, exact_pool):
        for name, made, feeds, want in cases():
            yield name, lambda: compare(tool, folder, name, made, feeds, [want])
    for name, made, feeds, tolerance in with_runtime():
        yield name, lambda: compare(tool, folder, name, made, feeds, runtime(made, feeds), tolerance)
    for name, made, feeds, want in node_tests():
        yield name, lambda: compare(tool, folder, name, made, feeds, want, 1e-6)
    for name, made, text in wrong():
        def refused():
            code, _, err = oc.run(tool, oc.save(folder, name, made))
            assert code != 0 and text in err and ('"n"' in err or "operator" in err), f"exit {code}: {err}"
        yield name, refused


if __name__ == "__main__":
    sys.exit(oc.main(all_cases))
