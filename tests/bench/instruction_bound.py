#!/usr/bin/env python3
"""Instructions of the f32 and int8 matmul kernels, whole with tails, beside the fewest that their tile could do with.

usage: instruction_bound.py INFC [--json F]
Counted by `infc compare` under the emulator, so the same on every machine. The bound, for a tile of R rows and 16
columns: its multiply-accumulate instructions, and one load for each vector of weights and for each element (f32) or
four bytes (int8) of a row. Only targets with fma or dot products in vectors have one; docs/targets.md has the table.
"""
import argparse
import json
import pathlib
import re
import subprocess
import sys
import tempfile

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

M, K, N = 33, 200, 100
# target -> lanes of f32 in a register, sums of four bytes that a dot product makes (0: there is none)
TARGETS = {
    "x86-64-v3": (8, 0), "aarch64": (4, 0), "aarch64+dotprod": (4, 4), "aarch64+i8mm": (4, 4), "aarch64+sve": (4, 0),
    "aarch64+sve2": (4, 4), "riscv64+v": (4, 0), "riscv64+v+zvl256b": (8, 0), "riscv64+v+zvl512b": (16, 0),
}


def model(kind, folder):
    rng = np.random.default_rng(1)
    value = helper.make_tensor_value_info
    if kind == "f32":
        weights = numpy_helper.from_array(rng.standard_normal((K, N), np.float32), "w")
        nodes = [helper.make_node("MatMul", ["x", "w"], ["y"])]
        x, y = value("x", TensorProto.FLOAT, [M, K]), value("y", TensorProto.FLOAT, [M, N])
    else:
        weights = numpy_helper.from_array(rng.integers(-127, 127, (K, N)).astype(np.int8), "w")
        nodes = [helper.make_node("MatMulInteger", ["x", "w"], ["y"])]
        x, y = value("x", TensorProto.UINT8, [M, K]), value("y", TensorProto.INT32, [M, N])
    graph = helper.make_graph(nodes, kind, [x], [y], [weights])
    path = folder / f"{kind}.onnx"
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)
    return path


def bound(kind, rows, lanes, dot):
    """Of all tiles together, the last ones of a row or column no cheaper than whole ones in what they load."""
    columns, total = -(-N // 16), 0
    for m in range(0, M, rows):
        r = min(rows, M - m)
        vectors = 16 // (lanes if kind == "f32" else dot)
        steps = K if kind == "f32" else -(-K // 4)
        total += columns * steps * (vectors * r + vectors + r)
    return total


def rows_of(infc, path, target, folder):
    out = folder / f"{path.stem}-{target}"
    subprocess.run([infc, "compile", path, "--target", target, "--set", "output.kinds=[static-library]", "-o", out],
                   check=True, capture_output=True)
    for step in json.loads((out / "report.json").read_text())["steps"]:
        tile = re.search(r"matmul_(?:wide)?(\d+)x", step["kernel"] or "")
        if tile:
            return step["function"], step["kernel"], int(tile[1])
    raise SystemExit(f"{target}: no matmul kernel in report.json")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("infc", type=pathlib.Path)
    parser.add_argument("--json", type=pathlib.Path)
    args, results = parser.parse_args(), {}
    infc = args.infc.resolve()
    with tempfile.TemporaryDirectory() as temp:
        folder = pathlib.Path(temp)
        for kind in ("f32", "int8"):
            path = model(kind, folder)
            wanted = [t for t, (_, dot) in TARGETS.items() if kind == "f32" or dot]
            done = subprocess.run([infc, "compare", path, "--json", *[a for t in wanted for a in ("--target", t)]],
                                  capture_output=True, text=True)
            for result in json.loads(done.stdout)["targets"]:
                target = result["name"]
                function, kernel, rows = rows_of(infc, path, target, folder)
                counts = [f["instructions"] for f in result["functions"] if f["name"].endswith("_" + function)]
                if not counts:
                    print(f"{target} was not counted: {result.get('why', result['status'])}")
                    continue
                least = bound(kind, rows, *TARGETS[target])
                results[f"{kind}_{target}"] = {"instructions": counts[0], "bound": least, "kernel": kernel}
                print(f"RESULT {kind}_{target} {counts[0] / least:.2f} of bound"
                      f"  # {counts[0]:,} of {least:,}, {kernel}", flush=True)
    if args.json:
        args.json.write_text(json.dumps(results, indent=2) + "\n")


if __name__ == "__main__":
    sys.exit(main())
