#!/usr/bin/env python3
"""Outputs of kind embedding: vectors of tokens pooled to one per text, against NumPy; and what is refused.

usage: embedding.py INFC SOURCE_DIR WORK_DIR
"""
import subprocess
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

import documented

SIZE = 24
TABLE = np.random.default_rng(3).normal(0, 1, (50, SIZE)).astype(np.float32)


def model(path, mask="attention_mask"):
    """tokens [texts,tokens] -> vectors [texts,tokens,SIZE] and sums [texts,SIZE]; the mask does not matter to either."""
    names = ["input_ids", mask]
    ports = [helper.make_tensor_value_info(n, TensorProto.INT64, ["texts", "tokens"]) for n in names]
    nodes = [helper.make_node("Add", names, ["both"]), helper.make_node("Sub", ["both", mask], ["ids"]), helper.make_node("Gather", ["table", "ids"], ["vectors"]),
             helper.make_node("ReduceSum", ["vectors", "axes"], ["sums"], keepdims=0)]
    outs = [helper.make_tensor_value_info("vectors", TensorProto.FLOAT, ["texts", "tokens", SIZE]), helper.make_tensor_value_info("sums", TensorProto.FLOAT, ["texts", SIZE])]
    weights = [numpy_helper.from_array(TABLE, "table"), numpy_helper.from_array(np.array([1]), "axes")]
    onnx.save(helper.make_model(helper.make_graph(nodes, "g", ports, outs, weights), opset_imports=[helper.make_opsetid("", 13)]), path)


def compile_spec(infc, work, outputs, shapes="{texts: 2, tokens: 1..32}"):
    spec = work / "spec.yaml"
    spec.write_text(f"infc: 1\nmodel: m.onnx\nname: embed\nshapes: {shapes}\noutputs:\n  {outputs}\n")
    return subprocess.run([infc, "compile", spec, "-o", work / "out"], capture_output=True, text=True)


def expected(vectors, mask, pooling, normalize):
    if pooling == "mean":
        m = mask[:, :, None].astype(np.float64)
        vectors = (vectors * m).sum(1) / np.maximum(m.sum(1), 1e-9)
    elif pooling == "first":
        vectors = vectors[:, 0]
    return vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12) if normalize else vectors


def accepted(infc, work):
    rng = np.random.default_rng(1)
    cases = [("vectors: {kind: embedding}", "mean", True, "attention_mask"), ("vectors: {kind: embedding, pooling: first, normalize: false}", "first", False, "attention_mask"),
             ("vectors: {kind: embedding, mask: counts}", "mean", True, "counts"), ("vectors: {kind: embedding, normalize: false}", "mean", False, "other"),
             ("sums: {kind: embedding, pooling: none}", "none", True, "attention_mask")]
    for outputs, pooling, normalize, name in cases:
        model(work / "m.onnx", name)
        done = compile_spec(infc, work, outputs)
        assert done.returncode == 0, done.stderr
        ids, mask = rng.integers(0, 50, (2, 9)), np.array([[1] * 9, [1] * 4 + [0] * 5])
        if pooling == "mean":
            mask[1] *= normalize  # a text without tokens: zeros, not NaN
        np.savez(work / "in.npz", **{"input_ids": ids, name: mask})
        subprocess.run([work / "out/embed", "run", "--inputs", work / "in.npz", "--outputs", work / "out.npz"], check=True, capture_output=True)
        key, counts = outputs.split(":")[0], np.ones_like(mask) if name == "other" else mask
        vectors = TABLE[ids].astype(np.float64)
        want, got = expected(vectors if key == "vectors" else vectors.sum(1), counts, pooling, normalize), np.load(work / "out.npz")[key]
        assert got.shape == (2, SIZE) and np.abs(got - want).max() < 1e-6, (outputs, np.abs(got - want).max())
    return True


def refused(infc, work):
    model(work / "m.onnx")
    for outputs, said in [("nothing: {kind: embedding}", 'the model has no output "nothing"'), ("sums: {kind: embedding}", "or say pooling: none"),
                          ("vectors: {kind: embedding, mask: nothing}", 'no input "nothing"'), ("vectors: {kind: embedding, labels: [a]}", "is not a key of kind embedding"),
                          ("vectors: {kind: embedding, pooling: first, mask: attention_mask}", "is a key of pooling: mean"), ("sums: {kind: classes}", "classes need labels"),
                          ("sums: {kind: classes, labels: [a], pooling: mean}", "is not a key of kind classes")]:
        done = compile_spec(infc, work, outputs)
        assert done.returncode in (2, 3) and said in done.stderr and "spec.yaml:6" in done.stderr, (outputs, done.returncode, done.stderr)
    return True


def checks(infc, _, work):
    return {"accepted": lambda: accepted(infc, work), "refused": lambda: refused(infc, work)}


if __name__ == "__main__":
    sys.exit(documented.run(checks))
