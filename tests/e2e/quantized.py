#!/usr/bin/env python3
"""A graph of quantised operators, compiled for each x86-64 level that runs here: every output equals exact integers,
odd sizes and extremes included, and a graph of DequantizeLinear, Conv and QuantizeLinear runs in integers.

usage: quantized.py INFC SOURCE_DIR WORK_DIR
"""
import json
import pathlib
import shutil
import subprocess
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "fault"))
import onnx_quantized as exact

TARGETS = ["x86-64", "x86-64-v3", "x86-64-v4", "x86-64-v4+vnni"]


def requantize(total, factor, zero, dtype):
    info = np.iinfo(dtype)
    return np.clip(np.rint(total.astype(np.float32) * factor.astype(np.float32)) + zero, info.min, info.max).astype(dtype)


def graph():
    """Nodes, inputs, constants and expected outputs."""
    r = np.random.default_rng(7)
    a = r.integers(0, 256, (13, 67)).astype(np.uint8)
    a[0] = 255
    b = r.integers(-128, 128, (67, 35)).astype(np.int8)
    b[:, 0] = -128
    image = r.integers(0, 256, (2, 17, 7, 23)).astype(np.uint8)
    dense = r.integers(-128, 128, (33, 17, 3, 3)).astype(np.int8)
    depth = r.integers(-128, 128, (17, 1, 3, 3)).astype(np.int8)
    bias = r.integers(-2**20, 2**20, 33).astype(np.int32)
    scales = r.uniform(0.001, 0.01, 33).astype(np.float32)
    f = np.float32
    constants = {"b": b, "za": np.uint8(9), "w": dense, "d": depth, "bias": bias, "ws": scales, "wz": np.zeros(33, np.int8),
                 "xs": f(0.02), "xz": np.uint8(131), "ys": f(0.9), "yz": np.uint8(120), "bs": (f(0.02) * scales).astype(f),
                 "bz": np.zeros(33, np.int32), "ds": f(0.01), "dz": np.int8(0)}
    conv = {"pads": [1] * 4}
    signed = r.integers(-128, 128, (3, 14, 67)).astype(np.int8)
    right = r.integers(0, 256, (3, 67, 49)).astype(np.uint8)
    left = r.integers(-128, 128, (2, 32, 5, 9)).astype(np.int8)
    unsigned = r.integers(0, 256, (67, 35)).astype(np.uint8)
    point = r.integers(0, 256, (20, 32, 1, 1)).astype(np.uint8)
    grouped = r.integers(-128, 128, (32, 16, 3, 3)).astype(np.int8)
    after = r.integers(-128, 128, (5, 33, 1, 1)).astype(np.int8)
    constants |= {"after": after, "u": unsigned, "p": point, "g": grouped, "least": np.int8(-128), "most": np.uint8(255), "none": np.uint8(0),
                  "middle": np.uint8(128), "high": np.int8(127)}
    nodes = [
        helper.make_node("MatMulInteger", ["a", "b", "za"], ["sums"]),
        helper.make_node("QLinearConv", ["image", "xs", "xz", "w", "ws", "wz", "ys", "yz", "bias"], ["convolved"], strides=[2, 1], **conv),
        helper.make_node("ConvInteger", ["image", "d", "xz"], ["depthwise"], group=17, **conv),
        helper.make_node("DequantizeLinear", ["image", "xs", "xz"], ["x"]),
        helper.make_node("DequantizeLinear", ["w", "ws", "wz"], ["wf"], axis=0),
        helper.make_node("DequantizeLinear", ["bias", "bs", "bz"], ["bf"], axis=0),
        helper.make_node("Conv", ["x", "wf", "bf"], ["y"], **conv),
        helper.make_node("Relu", ["y"], ["relu"]),
        helper.make_node("QuantizeLinear", ["relu", "ys", "yz"], ["island"]),
        helper.make_node("MatMulInteger", ["signed", "right", "least", "most"], ["products"]),
        helper.make_node("MatMulInteger", ["a", "u", "most", "none"], ["above"]),
        helper.make_node("MatMulInteger", ["signed", "u", "high", "middle"], ["halfway"]),
        helper.make_node("ConvInteger", ["left", "p", "least", "middle"], ["points"]),
        helper.make_node("ConvInteger", ["left", "g", "high"], ["groups"], group=2, **conv),
        helper.make_node("MaxPool", ["convolved"], ["pooled"], kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 0], ceil_mode=1),
        helper.make_node("ConvInteger", ["pooled", "after", "yz"], ["onward"]),
        helper.make_node("MaxPool", ["left"], ["signed_pool"], kernel_shape=[2, 3], dilations=[2, 1], pads=[1, 1, 1, 1]),
    ]
    whole = exact.conv_exact(image, dense, 131, np.zeros(33), 1, 1, 1) + bias.reshape(-1, 1, 1)
    strided = whole[:, :, ::2]
    factor = (f(0.02) * scales / f(0.9)).reshape(-1, 1, 1)
    convolved = requantize(strided, factor, 120, np.uint8)
    pooled = exact.pool_exact(convolved, (3, 3), (2, 2), (1, 1, 1, 0), ceil=True)
    relu = np.maximum(whole.astype(f) * (f(0.02) * scales).reshape(-1, 1, 1), f(0))
    expected = {
        "sums": ((a.astype(np.int64) - 9) @ b.astype(np.int64)).astype(np.int32),
        "convolved": convolved,
        "pooled": pooled,
        "onward": exact.conv_exact(pooled, after, 120, np.zeros(5), 1, 0, 1),
        "signed_pool": exact.pool_exact(left, (2, 3), (1, 1), (1, 1, 1, 1), (2, 1)),
        "depthwise": exact.conv_exact(image, depth, 131, np.zeros(17), 1, 1, 17),
        "products": ((signed.astype(np.int64) + 128) @ (right.astype(np.int64) - 255)).astype(np.int32),
        "above": ((a.astype(np.int64) - 255) @ unsigned.astype(np.int64)).astype(np.int32),
        "halfway": ((signed.astype(np.int64) - 127) @ (unsigned.astype(np.int64) - 128)).astype(np.int32),
        "points": exact.conv_exact(left, point, -128, np.full(20, 128), 1, 0, 1),
        "groups": exact.conv_exact(left, grouped, 127, np.zeros(32), 1, 1, 2),
        "island": exact.quantize(relu, f(0.9), 120, np.uint8),
    }
    return nodes, {"a": a, "image": image, "signed": signed, "right": right, "left": left}, constants, expected


def make_model(path):
    nodes, inputs, constants, expected = graph()
    kind = helper.np_dtype_to_tensor_dtype
    made = helper.make_graph(nodes, "g", [helper.make_tensor_value_info(k, kind(v.dtype), v.shape) for k, v in inputs.items()],
                             [helper.make_tensor_value_info(k, kind(v.dtype), v.shape) for k, v in expected.items()],
                             [numpy_helper.from_array(np.asarray(v), k) for k, v in constants.items()])
    onnx.save(helper.make_model(made, opset_imports=[helper.make_opsetid("", 21)], ir_version=10), path)
    return inputs, expected


def attempt(infc, work, target, expected):
    out = work / target
    command = [infc, "compile", work / "quantized.onnx", "--set", "name=quantized", "--target", target, "-o", out]
    subprocess.run([str(c) for c in command], check=True, capture_output=True)
    run = [out / "quantized", "run", "--inputs", work / "in.npz", "--outputs", out / "out.npz"]
    done = subprocess.run([str(c) for c in run], capture_output=True, text=True)
    if done.returncode and "needs" in done.stderr:
        return [f"skipped {target}: {done.stderr.strip()}"], 0
    got = np.load(out / "out.npz")
    wrong = [name for name, want in expected.items()
             if got[name].dtype != want.dtype or not np.array_equal(got[name], want)]
    report = json.loads((out / "report.json").read_text())
    floats = [s["kernel"] for s in report["steps"] if s["kernel"] and s["kernel"].startswith("infk_f32")
              and "pool_max" not in s["kernel"]]  # exact for 8 bits
    wrong += floats + [n["node"] for n in report["stayed_float"]]
    return [f"FAILED {target}: {w}" for w in wrong] or [f"ok      {target}"], len(wrong)


def main():
    infc, work = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[3]).resolve()
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    inputs, expected = make_model(work / "quantized.onnx")
    np.savez(work / "in.npz", **inputs)
    failed = 0
    for target in TARGETS:
        lines, wrong = attempt(infc, work, target, expected)
        print("\n".join(lines))
        failed += wrong
    print(f"{len(TARGETS)} targets, {failed} failed")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
