#!/usr/bin/env python3
"""Outputs of kind classes: what is shown is decided by the spec and by what the model ends in, never by the data; inputs of
kind image with a batch are refused by its name.

usage: classes.py INFC SOURCE_DIR WORK_DIR
"""
import json
import subprocess
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper

import documented

CHAINS = {"sigmoid": ["Sigmoid"], "softmax": ["Softmax", "Identity"], "log": ["LogSoftmax"], "plain": ["Identity"], "negative": ["Sigmoid", "Neg"]}
SUMS_TO_1, LOGITS = np.array([[0.5, 0.3, 0.2]], np.float32), np.array([[2, 1.5, -2]], np.float32)


def softmax(x):
    e = np.exp(x.astype(np.float64))
    return e / e.sum()


def sigmoid(x):
    return 1 / (1 + np.exp(-x.astype(np.float64)))


def build(infc, work, ops, keys, shape=(1, 3), more="", outputs=True):
    names = ["x", *(f"v{i}" for i in range(len(ops) - 1)), "y"]
    ports = [helper.make_tensor_value_info(n, TensorProto.FLOAT, shape) for n in ("x", "y")]
    nodes = [helper.make_node(op, [names[i]], [names[i + 1]]) for i, op in enumerate(ops)]
    onnx.save(helper.make_model(helper.make_graph(nodes, "g", ports[:1], ports[1:]), opset_imports=[helper.make_opsetid("", 17)], ir_version=9), work / "m.onnx")
    (work / "spec.yaml").write_text("infc: 1\nmodel: m.onnx\nname: classes\n" + (f"outputs: {{y: {{kind: classes, labels: [a, b, c]{keys}}}}}\n" if outputs else "") + more)
    return subprocess.run([infc, "compile", work / "spec.yaml", "-o", work / "out"], capture_output=True, text=True)


def shown(work, x):
    np.save(work / "x.npy", x)
    done = subprocess.run([work / "out/classes", "run", "--input", work / "x.npy", "--outputs", work / "y.npz", "--json"], check=True, capture_output=True, text=True)
    classes = json.loads(done.stdout)["outputs"][0]["classes"]
    key = "confidence" if "confidence" in classes[0] else "score"
    return key, {c["label"]: c[key] for c in classes}, [c["label"] for c in classes], np.load(work / "y.npz")["y"]


def scores(infc, work):
    rows = [("sigmoid", "", "confidence", sigmoid, sigmoid), ("softmax", "", "confidence", softmax, softmax), ("plain", "", "score", lambda x: x, lambda x: x),
            ("log", ", scores: as_is", "score", lambda x: np.log(softmax(x)), lambda x: np.log(softmax(x))), ("negative", "", "score", lambda x: -sigmoid(x), lambda x: -sigmoid(x)),
            ("plain", ", scores: softmax", "confidence", softmax, lambda x: x), ("plain", ", scores: sigmoid", "confidence", sigmoid, lambda x: x),
            ("log", ", scores: softmax", "confidence", softmax, lambda x: np.log(softmax(x)))]
    for chain, keys, name, value, raw in rows:
        done = build(infc, work, CHAINS[chain], keys)
        assert done.returncode == 0, done.stderr
        for x in (SUMS_TO_1, LOGITS):
            key, got, order, y = shown(work, x)
            want = value(x)[0]
            assert key == name and max(abs(got[label] - want[i]) for i, label in enumerate("abc")) < 1e-5, (chain, keys, key, got, want)
            assert order == ["abc"[i] for i in np.argsort(-want)], (chain, keys, order)
            assert np.abs(y - raw(x)).max() < 1e-5, (chain, keys, y)  # files have the values of the model
    return True


def refused(infc, work):
    for ops, keys, said in [(["Softmax", "Identity"], ", scores: softmax", 'output "y" comes from Softmax in the model already; remove scores: softmax'),
                            (["Sigmoid"], ", scores: softmax", "comes from Sigmoid"), (["Identity"], ", scores: probability", "outputs.y.scores")]:
        done = build(infc, work, ops, keys)
        assert done.returncode == 2 and said in done.stderr and "spec.yaml:4:" in done.stderr, (keys, done.returncode, done.stderr)
    return True


def batches(infc, work):
    for shape, more, said in [((4, 3, 8, 8), "", "a batch of 4, and a file is one image"),
                              (("n", 3, 8, 8), "shapes: {n: 1..4}\n", "a batch of a size known only at run time, and a file is one image")]:
        done = build(infc, work, ["Identity"], "", shape, more + "inputs: {x: {kind: image}}\n", outputs=False)
        assert done.returncode == 2 and said in done.stderr and "change channels" not in done.stderr, done.stderr
    return True


def checks(infc, _, work):
    return {"scores": lambda: scores(infc, work), "refused": lambda: refused(infc, work), "batches": lambda: batches(infc, work)}


if __name__ == "__main__":
    sys.exit(documented.run(checks))
