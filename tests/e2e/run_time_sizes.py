#!/usr/bin/env python3
"""An encoder layer, as exporters write it, whose batch and sequence are known only at run time: at the ends of their
ranges and between it agrees with ONNX Runtime, has the bits of a compile of the same steps for that size alone, and the same for 1 and 2
workers; other sizes are refused by name.

usage: run_time_sizes.py INFC SOURCE_DIR WORK_DIR
"""
import pathlib
import shutil
import subprocess
import sys

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

WIDTH, HEADS = 32, 4


def encoder(path):
    rng = np.random.default_rng(1)
    nodes, weights = [], []

    def weight(name, *shape):
        values = rng.standard_normal(shape) / np.sqrt(shape[0])
        weights.append(numpy_helper.from_array(values.astype(np.float32), name))

    def integers(name, value):
        weights.append(numpy_helper.from_array(np.array(value, np.int64), name))

    def node(op, inputs, output, **attributes):
        nodes.append(helper.make_node(op, inputs, [output], name=output, **attributes))

    for name, shape in {"wq": (WIDTH, WIDTH), "wk": (WIDTH, WIDTH), "wv": (WIDTH, WIDTH), "bias": (WIDTH,),
                        "g": (WIDTH,), "b": (WIDTH,), "w1": (WIDTH, 64), "b1": (64,), "w2": (64, WIDTH)}.items():
        weight(name, *shape)
    for name, value in {"i0": 0, "i1": 1, "heads": [HEADS], "each": [WIDTH // HEADS], "width": [WIDTH],
                        "front": [0]}.items():
        integers(name, value)
    weights.append(numpy_helper.from_array(np.float32(0.35), "factor"))
    node("Shape", ["x"], "shape")
    for i in "01":
        node("Gather", ["shape", "i" + i], "dim" + i, axis=0)
        node("Unsqueeze", ["dim" + i, "front"], "list" + i)
    node("Concat", ["list0", "list1", "heads", "each"], "split", axis=0)
    node("Concat", ["list0", "list1", "width"], "joined", axis=0)
    node("LayerNormalization", ["x", "g", "b"], "normed")
    for part in "qkv":
        node("MatMul", ["normed", "w" + part], part)
        node("Add", [part, "bias"], part + "_biased")
        node("Reshape", [part + "_biased", "split"], part + "_split")
        node("Transpose", [part + "_split"], part + "_heads", perm=[0, 2, 3, 1] if part == "k" else [0, 2, 1, 3])
    node("MatMul", ["q_heads", "k_heads"], "products")
    node("Mul", ["products", "factor"], "scores")
    node("Softmax", ["scores"], "shares", axis=-1)
    node("MatMul", ["shares", "v_heads"], "values")
    node("Transpose", ["values"], "turned", perm=[0, 2, 1, 3])
    node("Reshape", ["turned", "joined"], "attended")
    node("Add", ["attended", "x"], "middle")
    node("MatMul", ["middle", "w1"], "wide")
    node("Add", ["wide", "b1"], "wide_biased")
    node("Relu", ["wide_biased"], "hidden")
    node("MatMul", ["hidden", "w2"], "narrow")
    node("Add", ["narrow", "middle"], "y")
    ports = [[helper.make_tensor_value_info(name, TensorProto.FLOAT, ["batch", "tokens", WIDTH])] for name in "xy"]
    graph = helper.make_graph(nodes, "encoder", *ports, weights)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    onnx.save(model, path)


# They see through fixed sizes only so far, and what they make of a model has other roundings.
RECOGNISERS = ("recognise", "recognise-attention", "merge-matmuls")


def compile_to(infc, model, out, sizes):
    sets = [word for name, size in sizes.items() for word in ("--set", f"shapes.{name}={size}")]
    subprocess.run([infc, "compile", model, "--set", "name=encoder", *sets, "-o", out,
                    *(a for name in RECOGNISERS for a in ("--without", name))], check=True,
                   capture_output=True, text=True)
    return out / "encoder"


def run(binary, work, x, threads="1"):
    np.savez(work / "in.npz", x=x)
    subprocess.run([binary, "run", "--inputs", work / "in.npz", "--outputs", work / "out.npz", "--threads", threads],
                   check=True, capture_output=True)
    return np.load(work / "out.npz")["y"]


def refused(binary, work, x, *words):
    np.savez(work / "in.npz", x=x)
    done = subprocess.run([binary, "run", "--inputs", work / "in.npz"], capture_output=True, text=True)
    missing = [word for word in words if word not in done.stderr]
    if done.returncode != 3 or missing:
        sys.exit(f"{x.shape}: exit {done.returncode}, missing {missing} in\n{done.stderr}")


def main():
    infc, work = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[3]).resolve()
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    encoder(work / "encoder.onnx")
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    reference = onnxruntime.InferenceSession(work / "encoder.onnx", options)
    binary = compile_to(infc, work / "encoder.onnx", work / "open", {"batch": "1..3", "tokens": "1..50"})
    rng = np.random.default_rng(2)
    for batch, tokens, alone in [(1, 1, True), (3, 50, True), (2, 17, True), (1, 16, False), (3, 33, False)]:
        x = rng.standard_normal((batch, tokens, WIDTH)).astype(np.float32)
        y, expected = run(binary, work, x), reference.run(None, {"x": x})[0]
        error = np.abs(y - expected).max() / np.abs(expected).max()
        if y.shape != expected.shape or not error < 1e-5:
            sys.exit(f"{x.shape}: {y.shape}, off by {error}")
        others = [run(binary, work, x, "2")]
        if alone:
            fixed = compile_to(infc, work / "encoder.onnx", work / "fixed", {"batch": batch, "tokens": tokens})
            others.append(run(fixed, work, x))
        if any((other.view(np.int32) != y.view(np.int32)).any() for other in others):
            sys.exit(f"{x.shape}: other bits with two workers or compiled for this size")
    refused(binary, work, np.zeros((1, 51, WIDTH), np.float32), 'axis 1 is 51 long', 'tokens from 1 to 50')
    refused(binary, work, np.zeros((1, 5, WIDTH + 1), np.float32), '"x"')
    subprocess.run([binary, "verify"], check=True, capture_output=True)
    subprocess.run([infc, "verify", work / "encoder.onnx", "--set", "shapes.batch=1..3", "--set", "shapes.tokens=1..50"],
                   check=True)
    print("RESULT run_time_sizes.checked 5 shapes")


main()
