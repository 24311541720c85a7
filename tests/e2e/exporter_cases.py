#!/usr/bin/env python3
"""What exporters write and users of other compilers report as failing, each case named in words: the model is compiled,
and its results are compared with the reference interpreter and with ONNX Runtime; or the refusal must say why.

usage: exporter_cases.py INFC SOURCE_DIR WORK_DIR [CASE...]

Cases of the same list elsewhere: sizes known at run time (run_time_sizes.py), two libraries and threads in one process
(two_models.py), control flow (fault/onnx_control.py), quantised oddities (fault/onnx_quantized.py), external data that
leaves its folder (fault/onnx_malformed.py), functions within functions (fault/onnx_structure.py).
"""
import os
import pathlib
import shutil
import subprocess
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from exporter_bench import RNG, Bench, f32, i64, info, model, node

CASES = {}


def case(make):
    CASES[make.__name__] = make
    return make


# ---- shapes ----------------------------------------------------------------------------------------------------------


@case
def pad_with_an_empty_optional_input(b):
    b.agrees(model([node("Pad", "x pads", "y"), helper.make_node("Pad", ["x", "pads2", "", "axes"], ["z"], name="p")], {"x": [2, 3]}, ["y", "z"],
                   {"pads": i64(1, 0, 0, 2), "pads2": i64(1, 2), "axes": i64(1)}, opset=18))


@case
def resize_sizes_computed_at_run_time(b):
    b.refuses(model([helper.make_node("Resize", ["x", "", "", "s"], ["y"], name="the resize")],
                    {"x": [1, 2, 3, 4], "s": info("s", [4], TensorProto.INT64)}, ["y"]), '"the resize" (Resize)', "input 3", "must be a constant")


@case
def an_input_of_unknown_rank(b):
    unknown = helper.make_tensor_value_info("x", TensorProto.FLOAT, None)
    b.refuses(model([node("Relu", "x", "y")], {"x": unknown}, ["y"]), 'input "x"')


@case
def sizes_by_name_without_a_spec(b):
    b.refuses(model([node("Relu", "x", "y")], {"x": ["batch", 3]}, ["y"]), "batch", code=2)


@case
def value_infos_and_output_shapes_missing(b):
    b.agrees(model([node("Conv", "x w", "a"), node("Relu", "a", "b"), node("Flatten", "b", "y")], {"x": [1, 3, 6, 6]}, ["y"], {"w": f32(4, 3, 3, 3)}))


# ---- odd exports -----------------------------------------------------------------------------------------------------


@case
def names_of_two_hundred_characters(b):
    long = "a/very.long:name of an exporter's module " * 5
    made = model([node("Relu", "x", "r"), node("Add", "r w", "y")], {"x": [2, 3]}, ["y"], {"w": f32(3)})
    for n in made.graph.node:
        n.name = long + n.op_type
        n.input[:] = [long + i for i in n.input]
        n.output[:] = [long + o for o in n.output]
    for port in [*made.graph.input, *made.graph.output, *made.graph.initializer]:
        port.name = long + port.name
    b.agrees(made)


@case
def a_constant_that_nothing_uses(b):
    b.agrees(model([node("Constant", "", "c", value=numpy_helper.from_array(f32(4))), node("Relu", "x", "y")], {"x": [2, 3]}, ["y"], {"unused": f32(9)}))


@case
def initializers_not_among_the_inputs_at_ir_version_3(b):
    made = model([node("Add", "x w", "y")], {"x": [2, 3]}, ["y"], {"w": f32(3)}, opset=9, ir=3)
    path = b.save(made)
    code, text = b.infc_run("verify", path)
    assert code == 0, text
    made.graph.input.append(info("w", [3]))
    b.agrees(made)


@case
def upsample_of_opset_7_and_9(b):
    b.agrees(model([node("Upsample", "x", "y", mode="nearest", scales=[1.0, 1.0, 2.0, 3.0])], {"x": [1, 2, 3, 4]}, ["y"], opset=7, ir=3))
    b.agrees(model([node("Upsample", "x s", "y", mode="linear")], {"x": [1, 2, 3, 4]}, ["y"], {"s": np.array([1, 1, 2, 2], np.float32)}, opset=9))


@case
def batchnorm_of_opset_7_with_spatial(b):
    constants = {"s": f32(3), "b": f32(3), "m": f32(3), "v": f32(3) ** 2}
    b.agrees(model([node("BatchNormalization", "x s b m v", "y", spatial=1)], {"x": [1, 3, 4, 4]}, ["y"], constants, opset=7))
    b.refuses(model([node("BatchNormalization", "x s b m v", "y", spatial=0)], {"x": [1, 3, 4, 4]}, ["y"], constants, opset=7), "spatial=0", "(BatchNormalization)")


@case
def an_operator_that_its_opset_does_not_have(b):
    b.refuses(model([node("LayerNormalization", "x s", "y"), node("Gelu", "y", "z")], {"x": [2, 3]}, ["z"], {"s": f32(3)}, opset=16), "operator Gelu", '"the Gelu of z"')


@case
def optional_outputs_left_out_or_empty(b):
    lstm = helper.make_node("LSTM", ["x", "w", "r"], ["", "h", ""], name="the lstm", hidden_size=5)
    drop = helper.make_node("Dropout", ["h"], ["y", ""], name="the dropout")
    b.agrees(model([lstm, drop], {"x": [3, 1, 4]}, ["y"], {"w": f32(1, 20, 4), "r": f32(1, 20, 5)}))


@case
def functions_of_the_new_pytorch_exporter(b):
    gelu = helper.make_function("pkg.torch", "gelu", ["x"], ["y"], [node("Gelu", "x", "y")], [helper.make_opsetid("", 20)])
    block = helper.make_function("pkg.torch", "block", ["x", "w"], ["y"], [node("MatMul", "x w", "a"), node("gelu", "a", "y", domain="pkg.torch")],
                                 [helper.make_opsetid("", 20), helper.make_opsetid("pkg.torch", 1)])
    b.agrees(model([node("block", "x w", "a", domain="pkg.torch"), node("block", "a w", "y", domain="pkg.torch")], {"x": [2, 4]}, ["y"],
                   {"w": f32(4, 4)}, opset=20, ir=10, functions=[gelu, block]))


@case
def a_model_made_for_channels_last(b):
    nodes = [node("Transpose", "x", "a", perm=[0, 3, 1, 2]), node("Conv", "a w", "c", pads=[1, 1, 1, 1]), node("Transpose", "c", "d", perm=[0, 2, 3, 1]),
             node("Add", "d bias", "e"), node("Relu", "e", "f"), node("Transpose", "f", "g", perm=[0, 3, 1, 2]), node("GlobalAveragePool", "g", "h"),
             node("Squeeze", "h axes", "y")]
    b.agrees(model(nodes, {"x": [1, 6, 6, 3]}, ["y"], {"w": f32(17, 3, 3, 3), "bias": f32(17), "axes": i64(2, 3)}))


@case
def casts_of_every_kind(b):
    nodes = [node("Cast", "x", "i", to=TensorProto.INT64), node("Cast", "i", "f", to=TensorProto.FLOAT), node("Cast", "x", "b", to=TensorProto.BOOL),
             node("Cast", "b", "n", to=TensorProto.INT32), node("Cast", "n", "u", to=TensorProto.UINT8), node("Cast", "half", "h", to=TensorProto.FLOAT),
             node("Cast", "double", "d", to=TensorProto.FLOAT), node("Add", "f h", "a"), node("Mul", "a d", "y")]
    b.agrees(model(nodes, {"x": [2, 3]}, ["y", "i", "b", "u"], {"half": f32(3).astype(np.float16), "double": f32(1).astype(np.float64)}), x=9 * f32(2, 3))


def in_halves(type, numpy_type):
    """Convolution, normalisation, softmax and a product, as a converter to half floats writes them."""
    def half(*shape):
        return f32(*shape).astype(numpy_type)
    nodes = [node("Conv", "x w bias", "c", pads=[1, 1, 1, 1]), node("Relu", "c", "r"), node("Reshape", "r shape", "s"),
             node("LayerNormalization", "s scale shift", "l"), node("MatMul", "l m", "p"), node("Softmax", "p", "q"),
             node("Cast", "q", "f", to=TensorProto.FLOAT), node("Cast", "f", "h", to=type), node("Clip", "h low high", "k"),
             node("Mul", "k two", "y")]
    constants = {"w": half(8, 3, 3, 3), "bias": half(8), "shape": i64(8, 36), "scale": half(36), "shift": half(36), "m": half(36, 20),
                 "low": np.array(0.01, numpy_type), "high": np.array(0.5, numpy_type), "two": np.array([2], numpy_type)}
    return model(nodes, {"x": info("x", [1, 3, 6, 6], type)}, [info("y", [8, 20], type)], constants)


@case
def weights_and_activations_in_float16(b):
    b.agrees_in_halves(in_halves(TensorProto.FLOAT16, np.float16), TensorProto.FLOAT16, x=f32(1, 3, 6, 6).astype(np.float16).astype(np.float32))


@case
def weights_and_activations_in_bfloat16(b):
    import ml_dtypes  # a part of the onnx package
    b.agrees_in_halves(in_halves(TensorProto.BFLOAT16, ml_dtypes.bfloat16), TensorProto.BFLOAT16, x=f32(1, 3, 6, 6))


@case
def large_weights_in_float16(b):
    """Halves of 64 KiB and more are widened as the payload is written: whatever reads the weight."""
    def half(*shape):
        return (f32(*shape) / 8).astype(np.float16)
    type = TensorProto.FLOAT16
    nodes = [node("Gather", "table ids", "rows"), node("Slice", "table starts ends", "part"), node("Add", "rows part", "a"),
             node("MatMul", "a m", "p"), node("Gemm", "p g bias", "q", transB=1), node("Reshape", "q square", "s"),
             node("Conv", "s w", "c", group=1), node("Reshape", "c flat", "f"), node("Transpose", "kept", "turned", perm=[1, 0]),
             node("MatMul", "f turned", "t"), node("Add", "t half_of_sum", "u"), node("Mul", "u scale", "y")]
    nodes.insert(0, helper.make_node("Constant", [], ["kept"], name="a large Constant", value=numpy_helper.from_array(half(192, 192))))
    constants = {"table": half(300, 192), "ids": i64(299, 0, 7), "starts": i64(3), "ends": i64(6), "m": half(192, 192), "g": half(192, 192),
                 "bias": half(192), "square": i64(1, 192, 1, 3), "w": half(192, 192, 1, 1), "flat": i64(3, 192),
                 "half_of_sum": half(192), "scale": half(171, 3, 192)}
    made = model(nodes, {"x": info("x", [3, 192], type)}, [info("y", [171, 3, 192], type), info("z", [3, 192], type)], constants)
    made.graph.node.append(node("MatMul", "x m", "z"))
    b.agrees_in_halves(made, type, x=f32(3, 192).astype(np.float16).astype(np.float32))


# ---- quantised -------------------------------------------------------------------------------------------------------


@case
def a_scale_of_one_dimension_along_an_axis(b):
    nodes = [node("QuantizeLinear", "x s z", "q"), node("DequantizeLinear", "q s z", "a"), node("DequantizeLinear", "w ws wz", "d", axis=1),
             node("MatMul", "a d", "y")]
    constants = {"s": np.float32(0.02), "z": np.uint8(120), "w": RNG.integers(-127, 127, (4, 6)).astype(np.int8), "ws": np.abs(f32(6)) / 99, "wz": np.zeros(6, np.int8)}
    b.agrees(model(nodes, {"x": [2, 4]}, ["y"], constants))


@case
def qlinear_conv_and_contrib_qlinear_add(b):
    one = lambda v: np.float32(v)  # noqa: E731
    nodes = [node("QuantizeLinear", "x s z", "q"), node("QLinearConv", "q s z w ws wz cs cz", "c"),
             node("QLinearAdd", "c cs cz c cs cz ys yz", "a", domain="com.microsoft"), node("DequantizeLinear", "a ys yz", "y")]
    constants = {"s": one(0.01), "z": np.uint8(128), "w": RNG.integers(-127, 127, (5, 3, 3, 3)).astype(np.int8), "ws": one(0.01), "wz": np.int8(0),
                 "cs": one(0.05), "cz": np.uint8(100), "ys": one(0.1), "yz": np.uint8(90)}
    b.agrees(model(nodes, {"x": [1, 3, 6, 6]}, ["y"], constants))


# ---- weights ---------------------------------------------------------------------------------------------------------


@case
def large_weights_are_not_c_text(b):
    made = model([node("MatMul", "x w", "a"), node("MatMul", "a v", "y")], {"x": [1, 1000]}, ["y"], {"w": f32(1000, 2000), "v": f32(2000, 10)})
    code, text = b.infc_run("compile", b.save(made), "-o", "out")
    assert code == 0, text
    largest = max((p.stat().st_size, p.name) for p in (b.work / "out/src").rglob("*.[ch]") if "infrt" not in str(p))
    assert largest[0] < 300_000, largest


@case
def a_weight_of_two_nodes_is_stored_once(b):
    sizes = []
    for second in ("w", "v"):
        shutil.rmtree(b.work / "out", ignore_errors=True)
        made = model([node("MatMul", "x w", "a"), node("MatMul", f"a {second}", "y")], {"x": [1, 500]}, ["y"], {"w": f32(500, 500), "v": f32(500, 500)})
        code, text = b.infc_run("compile", b.save(made), "-o", "out")
        assert code == 0, text
        sizes.append((b.work / "out/model").stat().st_size)
    assert sizes[1] - sizes[0] > 900_000, sizes


@case
def external_data_beside_the_model_and_links_to_elsewhere(b):
    weights = f32(64, 64)
    made = model([node("MatMul", "x w", "y")], {"x": [2, 64]}, ["y"], {"w": weights})
    onnx.save(made, b.work / "model.onnx", save_as_external_data=True, location="weights.bin", size_threshold=0)
    code, text = b.infc_run("verify", "model.onnx")
    assert code == 0, text
    outside = b.work.parent / "outside.bin"
    outside.write_bytes(weights.tobytes())
    for link, text_wanted in ((os.symlink, "symbolic link"), (os.link, "several hard links")):
        (b.work / "weights.bin").unlink()
        link(outside, b.work / "weights.bin")
        code, text = b.infc_run("compile", "model.onnx", "-o", "out")
        assert code == 3 and text_wanted in text, f"exit {code}: {text}"
    (b.work / "model.onnx").write_bytes((b.work / "model.onnx").read_bytes().replace(b"weights.bin", b"../side.bin"))
    code, text = b.infc_run("compile", "model.onnx", "-o", "out")
    assert code == 3 and '".." is not allowed' in text, f"exit {code}: {text}"


# ---- sizes that the run knows ------------------------------------------------------------------------------------------


@case
def a_causal_mask_by_trilu_of_an_open_size(b):
    """PyTorch's scaled_dot_product_attention(is_causal=True) up to opset 22; other triangles, and the identity, beside it."""
    made = model([node("Shape", "x", "s", start=1), node("Gather", "s first", "n"), node("Concat", "n n", "nn", axis=0), node("Expand", "one nn", "all"),
                  node("Trilu", "all", "low", upper=0), node("Equal", "low zero", "hidden"), node("Where", "hidden never zero", "mask"),
                  node("Transpose", "x", "xt", perm=[0, 2, 1]), node("MatMul", "x xt", "p"), node("Add", "p mask", "pm"), node("Softmax", "pm", "y", axis=-1),
                  node("Trilu", "x k2", "up"), node("Trilu", "x k3", "down", upper=0), node("EyeLike", "all", "eye", k=1)], {"x": ["b", "n", 5]}, ["y", "up", "down", "eye"],
                 {"first": i64(0), "one": np.ones(1, np.float32), "zero": np.zeros(1, np.float32), "never": np.full(1, -np.inf, np.float32),
                  "k2": np.int64(2), "k3": np.int64(-3)})
    b.agrees_at(made, {"b": "1..2", "n": "1..9"}, *({"x": f32(*dims, 5)} for dims in ((1, 1), (2, 9), (1, 4))))


@case
def a_float_range_over_an_open_size(b):
    """torch.arange(T, dtype=torch.float32)."""
    nodes = [node("Shape", "x", "s"), node("Cast", "s", "f", to=1), node("Squeeze", "f", "n")]
    for bounds, start, step in (("start n step", 0, 1), ("start n step", -2, 3), ("n start step", -1, -2)):
        b.agrees_at(model([*nodes, node("Range", bounds, "y")], {"x": ["t"]}, ["y"], {"start": np.float32(start), "step": np.float32(step)}),
                    {"t": "1..9"}, *({"x": f32(n)} for n in (1, 4, 9)))


@case
def reductions_of_sizes_and_over_open_axes(b):
    made = model([node("ReduceMean", "x", "m", axes=[1, 3]), node("Shape", "x", "s"), node("ReduceProd", "s", "p", keepdims=0), node("Unsqueeze", "p zero", "q"),
                  node("Reshape", "x q", "flat")], {"x": ["n", 4, "h", "w"]}, ["m", "flat"], {"zero": i64(0)}, opset=13)
    b.agrees_at(made, {"n": "1..2", "h": "1..8", "w": "1..8"}, *({"x": f32(n, 4, h, w)} for n, h, w in ((1, 1, 1), (2, 8, 3), (1, 5, 6))))


# ---- operators of detectors, language models and decoders, compiled ---------------------------------------------------


@case
def elements_by_computed_indices(b):
    nodes = [node("TopK", "x k", "values places", axis=1), node("GatherElements", "x places", "again", axis=1), node("ArgMax", "x", "best", axis=-1, keepdims=0),
             node("ArgMin", "x", "down", axis=1), node("GatherND", "x pairs", "nd"), node("OneHot", "best depth onoff", "hot"),
             node("Hardmax", "x", "hard", axis=1), node("CumSum", "x one", "sums"), node("CumSum", "places one", "whole", reverse=1),
             node("ReduceSum", "places axes", "total", keepdims=0), node("ReduceMax", "places", "most"),
             node("ScatterElements", "x places values", "put", axis=1), node("ScatterND", "x pairs row", "rows"), node("Trilu", "x", "upper")]
    outputs = ["values", "places", "again", "best", "down", "nd", "hot", "hard", "sums", "whole", "total", "most", "put", "rows", "upper"]
    b.agrees(model(nodes, {"x": [2, 9, 33], "pairs": info("pairs", [3, 2], TensorProto.INT64)}, outputs,
                   {"k": i64(4), "depth": np.int64(33), "onoff": np.array([0, 1], np.float32), "one": np.int64(1), "axes": i64(0, 2), "row": f32(3, 33)}),
             pairs=i64(0, 8, 1, -1, -2, 3).reshape(3, 2))


@case
def an_index_out_of_range_at_run_time(b):
    made = model([node("GatherND", "x i", "y")], {"x": [2, 3], "i": info("i", [1, 2], TensorProto.INT64)}, [info("y", [1])])
    code, text = b.infc_run("compile", b.save(made), "-o", "out")
    assert code == 0, text
    for pair, want in ((i64(1, 2), 0), (i64(0, 3), None), (i64(-3, 0), None)):  # (0, 3) would be x[1, 0] in memory
        np.savez(b.work / "in.npz", x=f32(2, 3), i=pair.reshape(1, 2))
        done = subprocess.run([b.work / "out/model", "run", "--inputs", b.work / "in.npz", "--outputs", b.work / "out.npz"], capture_output=True, text=True)
        assert (done.returncode == 0) == (want == 0) and done.returncode >= 0, f"{pair}: exit {done.returncode}: {done.stderr}"


@case
def overlapping_transposed_convolutions(b):
    nodes = [node("ConvTranspose", "x w bias", "a", strides=[2, 2], pads=[1, 1, 1, 1]), node("Relu", "a", "r"),
             node("ConvTranspose", "r v", "y", strides=[3, 2], output_padding=[1, 1], dilations=[1, 2]), node("ConvTranspose", "x d", "z", group=20, strides=[2, 2])]
    b.agrees(model(nodes, {"x": [1, 20, 5, 6]}, ["y", "z"], {"w": f32(20, 18, 4, 4), "bias": f32(18), "v": f32(18, 3, 3, 3), "d": f32(20, 1, 3, 3)}))


@case
def attention_written_as_einsum_and_a_sampled_grid(b):
    nodes = [node("Einsum", "q k", "s", equation="bqhd,bkhd->bhqk"), node("Softmax", "s", "p", axis=-1), node("Einsum", "p k", "y", equation="bhqk,bkhd->bqhd"),
             node("GridSample", "image grid", "z", mode="bilinear", padding_mode="border")]
    b.agrees(model(nodes, {"q": [1, 5, 2, 8], "k": [1, 7, 2, 8], "image": [1, 3, 8, 8], "grid": [1, 4, 5, 2]}, ["y", "z"]))


# ---- the rest of the list, by the report -----------------------------------------------------------------------------


@case
def slices_of_bert_with_ends_beyond_and_backwards(b):
    """kraiskil/onnx2c#47"""
    nodes = [node("Slice", "ids starts ends axes", "p"), node("Slice", "x s2 e2 a2 t2", "y"), node("Gather", "table p", "z")]
    constants = {"ids": np.arange(512)[None], "starts": i64(0), "ends": i64(7), "axes": i64(1), "table": f32(512, 8), "s2": i64(-1, 2**31 - 1),
                 "e2": i64(-(2**63), -(2**63)), "a2": i64(-1, 0), "t2": i64(-2, -1)}
    b.agrees(model(nodes, {"x": [3, 6]}, ["y", "z"], constants))


@case
def shape_arithmetic_between_operators(b):
    """kendryte/nncase#193: Shape, Gather, Unsqueeze, Concat, Range and Expand of sizes, as exporters write a view."""
    nodes = [node("Shape", "x", "s"), node("Gather", "s two", "c", axis=0), node("Mul", "c half", "d"), node("Unsqueeze", "d zero", "u"),
             node("Concat", "minus u u2", "t", axis=0), node("Reshape", "x t", "y"), node("Range", "n0 c n1", "r"), node("Shape", "x", "e", start=2),
             node("Expand", "r e", "z")]
    constants = {"two": np.int64(2), "half": np.int64(2), "zero": i64(0), "minus": i64(-1), "u2": i64(2), "n0": np.int64(0), "n1": np.int64(1)}
    b.agrees(model(nodes, {"x": [2, 4, 6]}, ["y", "z"], constants))


@case
def detection_models_whose_counts_the_run_decides(b):
    """pytorch/glow#4891: refused by name, with the reason."""
    boxes = [node("NonMaxSuppression", "boxes scores n iou t", "y")]
    b.refuses(model(boxes, {"boxes": [1, 6, 4], "scores": [1, 1, 6]}, ["y"], {"n": i64(3), "iou": np.float32([0.5]), "t": np.float32([0])}, opset=11),
              '"the NonMaxSuppression of y"', "NonMaxSuppression")
    b.refuses(model([node("NonZero", "x", "y")], {"x": [2, 3]}, ["y"]), '"the NonZero of y"', "NonZero")


@case
def instance_normalisation_and_convolutions_that_leave_attributes_out(b):
    """onnx/onnx-mlir#3141, #1775, pytorch/glow#5995"""
    nodes = [node("Conv", "x w", "a"), node("InstanceNormalization", "a g h", "i"), node("ConvTranspose", "i v", "y"), node("MaxPool", "y", "z", kernel_shape=[2, 2])]
    b.agrees(model(nodes, {"x": [2, 3, 6, 7]}, ["y", "z"], {"w": f32(4, 3, 3, 2), "g": f32(4), "h": f32(4), "v": f32(4, 2, 2, 3)}))


@case
def an_attribute_that_must_be_there(b):
    """pytorch/glow#5995"""
    b.refuses(model([node("MaxPool", "x", "y")], {"x": [1, 2, 4, 4]}, ["y"]), '"the MaxPool of y"', "kernel_shape")


@case
def log_softmax_of_any_axis_and_before_opset_13(b):
    """kendryte/nncase#457"""
    for axis in (0, 1, -1):
        b.agrees(model([node("LogSoftmax", "x", "y", axis=axis)], {"x": [2, 3, 4]}, ["y"]))
    b.agrees(model([node("LogSoftmax", "x", "y", axis=1)], {"x": [2, 3, 4]}, ["y"], opset=11, ir=6))


@case
def lstm_in_both_directions_with_states_and_a_batch(b):
    """kendryte/nncase#465"""
    lstm = helper.make_node("LSTM", ["x", "w", "r", "b", "", "h", "c"], ["s", "hy", "cy"], name="the lstm", hidden_size=5, direction="bidirectional")
    b.agrees(model([lstm], {"x": [3, 2, 4]}, ["s", "hy", "cy"], {"w": f32(2, 20, 4), "r": f32(2, 20, 5), "b": f32(2, 40), "h": f32(2, 2, 5), "c": f32(2, 2, 5)}))


@case
def every_operator_that_is_missing_is_told_at_once(b):
    """onnx/onnx-mlir#1496, iree-org/iree#9142: named with node and domain, all of them."""
    nodes = [node("Fancy", "x", "a", domain="my.ops"), node("Relu", "a", "r"), node("Fancier", "r", "y", domain="my.ops")]
    b.refuses(model(nodes, {"x": [2, 3]}, [info("y", [2, 3])]), '"the Fancy of a"', '"the Fancier of y"', "my.ops")


@case
def quantise_and_dequantise_along_every_axis(b):
    """onnx/onnx-mlir#1784, #246, #1966"""
    for axis, n in ((0, 2), (1, 3), (-1, 4)):
        nodes = [node("QuantizeLinear", "x s z", "q", axis=axis), node("DequantizeLinear", "q s z", "y", axis=axis)]
        constants = {"s": np.abs(f32(n)) + np.float32(0.01), "z": RNG.integers(-5, 5, n).astype(np.int8)}
        b.agrees(model(nodes, {"x": [2, 3, 4]}, ["y"], constants))


@case
def weights_of_four_bits_in_blocks(b):
    """What exporters write for weight-only quantisation since opset 21: an odd number of values, packed and typed."""
    def made(kind, values, raw, nodes=(), scales=(3, 5)):
        low = [node("DequantizeLinear", "q s z", "w", axis=0, block_size=3), node("MatMul", "x w", "y"), *nodes]
        packed = helper.make_tensor("q", kind, values.shape, values.flatten().tolist())
        zero = helper.make_tensor("z", kind, scales, RNG.integers(0, 8, scales).flatten().tolist())
        result = model(low, {"x": [2, 9]}, ["y"], {"s": np.abs(f32(*scales))}, opset=21, ir=10)
        result.graph.initializer.extend([packed, zero])
        if raw:
            packed, = (i for i in result.graph.initializer if i.name == "q")
            packed.raw_data = bytes(packed.int32_data)
            packed.ClearField("int32_data")
        return result
    for raw in False, True:
        b.agrees(made(TensorProto.INT4, RNG.integers(-8, 8, (9, 5)), raw))
        b.agrees(made(TensorProto.UINT4, RNG.integers(0, 16, (9, 5)), raw))
    short = made(TensorProto.INT4, RNG.integers(-8, 8, (9, 5)), True)
    packed, = (i for i in short.graph.initializer if i.name == "q")
    packed.raw_data = packed.raw_data[:-1]
    b.refuses(short, 'initializer "q"', "raw_data has 22 bytes, but the shape needs 23")
    again = [node("QuantizeLinear", "x s0 z0", "q2")]
    both = made(TensorProto.INT4, RNG.integers(-8, 8, (9, 5)), False, again)
    both.graph.initializer.extend([numpy_helper.from_array(np.float32(0.1), "s0"), helper.make_tensor("z0", TensorProto.INT4, (), [1])])
    both.graph.output.append(helper.make_value_info("q2", onnx.TypeProto()))
    b.refuses(both, 'initializer "z0"', "only DequantizeLinear")


@case
def an_integer_convolution_with_padding_of_its_zero_point(b):
    """onnx/onnx-mlir#2948, nod-ai/AMD-SHARK-ModelDev#894"""
    nodes = [node("QuantizeLinear", "x xs xz", "q"), node("ConvInteger", "q w xz wz", "i", pads=[1, 1, 1, 1]), node("Cast", "i", "y", to=TensorProto.FLOAT)]
    constants = {"xs": np.float32(0.01), "xz": np.uint8(128), "w": RNG.integers(0, 255, (4, 3, 3, 3)).astype(np.uint8), "wz": np.uint8(120)}
    b.agrees(model(nodes, {"x": [1, 3, 5, 5]}, ["y"], constants))


def main():
    infc, _, work = (pathlib.Path(a).resolve() for a in sys.argv[1:4])
    failed = 0
    chosen = {k: v for k, v in CASES.items() if k in sys.argv[4:] or not sys.argv[4:]}
    for name, make in chosen.items():
        folder = work / name
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        try:
            make(Bench(infc, folder))
        except Exception as problem:  # whatever it is, the other cases still run
            failed += 1
            print(f"{name.replace('_', ' ')}: FAILED: {type(problem).__name__}: {problem}", flush=True)
    print(f"{len(chosen)} cases, {failed} failed")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
