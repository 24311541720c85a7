#!/usr/bin/env python3
"""Dimensions that the model names apart and the spec makes one (`shapes: {m: n}`), as torch's dynamic_axes of lists leave them.

usage: same_sizes.py INFC SOURCE_DIR WORK_DIR
"""
import subprocess
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper

import documented

A, B = "x_dynamic_axes_1", "y_dynamic_axes_1"


def build(infc, work, shapes, names=(A, B)):
    x, y = (helper.make_tensor_value_info(port, TensorProto.FLOAT, [name, 3]) for port, name in zip("xy", names))
    z = helper.make_tensor_value_info("z", TensorProto.FLOAT, [names[0], 3])
    graph = helper.make_graph([helper.make_node("Add", ["x", "y"], ["z"])], "g", [x, y], [z])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9), work / "m.onnx")
    (work / "spec.yaml").write_text(f"infc: 1\nmodel: m.onnx\nname: same\nshapes: {shapes}\n")
    return subprocess.run([infc, "compile", work / "spec.yaml", "-o", work / "out"], capture_output=True, text=True)


def run(work, rows_x, rows_y):
    x, y = (np.arange(rows * 3, dtype=np.float32).reshape(rows, 3) for rows in (rows_x, rows_y))
    np.savez(work / "in.npz", x=x, y=y)
    done = subprocess.run([work / "out/same", "run", "--inputs", work / "in.npz", "--outputs", work / "out.npz"], capture_output=True, text=True)
    return done, x


def one_size(infc, work):
    for shapes, names in [(f"{{{A}: 1..8, {B}: {A}}}", (A, B)), (f"{{{A}: {B}, {B}: 1..8}}", (A, B)), ("{x.0: 1..8, y.0: x.0}", (A, B)),
                          ("{x.0: y.0, y.0: 1..8}", (None, None)), (f"{{{A}: 1..8, y.0: {A}}}", (A, B)), (f"{{{A}: k, k: {B}, {B}: 1..8}}", None)]:
        done = build(infc, work, shapes, names or (A, B))
        if names is None:  # a step on the way that the model does not have
            assert done.returncode == 2 and 'no dimension "k"' in done.stderr, done.stderr
            continue
        assert done.returncode == 0, (shapes, done.stderr)
        for rows in (1, 5, 8):
            done, x = run(work, rows, rows)
            assert done.returncode == 0 and np.array_equal(np.load(work / "out.npz")["z"], x + x), (shapes, rows, done.stderr)
        done, _ = run(work, 5, 4)
        assert done.returncode == 3, (shapes, done.returncode, done.stderr)
    assert build(infc, work, f"{{{A}: 4, {B}: {A}}}").returncode == 0
    return run(work, 4, 4)[0].returncode == 0 and run(work, 3, 3)[0].returncode == 3


def refused(infc, work):
    for shapes, said in [(f"{{{A}: 1..8, {B}: 1..8}}", "let one have the other's name: shapes: {A: B}"), (f"{{{A}: 1..8, {B}: rows}}", 'another one in shapes; got "rows"'),
                         (f"{{{A}: {B}, {B}: {A}}}", "names lead in a circle"), (f"{{{A}: {B}}}", f'another one in shapes; got "{B}"')]:
        done = build(infc, work, shapes)
        assert done.returncode in (2, 3) and said in done.stderr, (shapes, done.returncode, done.stderr)
    return True


def checks(infc, _, work):
    return {"one_size": lambda: one_size(infc, work), "refused": lambda: refused(infc, work)}


if __name__ == "__main__":
    sys.exit(documented.run(checks))
