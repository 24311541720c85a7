#!/usr/bin/env python3
"""Instructions of the f32 and int8 matmul kernels, whole with tails, beside the fewest that their tile could do with.

usage: instruction_bound.py INFC [--json F] [--update docs/targets.md]
Counted by `infc compare` under the emulator, so the same on every machine. The bound, for a tile of R rows and 16
columns: its multiply-accumulate instructions, one load for each vector of weights, and for each element of a row, or
for the 16 bytes of one where products take a lane of a vector. Only targets with fma or dot products of bytes in
vectors have one, the others only a figure; --update writes the table of docs/targets.md anew.
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
# target -> lanes of f32 that an fma works on (of a group of registers on RISC-V), sums of four bytes that a dot product
# makes (0: there is none)
TARGETS = {
    "x86-64": (0, 0), "x86-64-v2": (0, 0), "x86-64-v3": (8, 0),
    "aarch64": (4, 0), "aarch64+dotprod": (4, 4), "aarch64+i8mm": (4, 4), "aarch64+sve": (4, 4), "aarch64+sve2": (4, 4),
    "riscv64": (0, 0), "riscv64+v": (16, 0), "riscv64+v+zvl256b": (16, 0), "riscv64+v+zvl512b": (16, 0),
    "wasm32": (0, 0), "wasm32+simd128": (0, 0), "cortex-m4": (0, 0), "cortex-m7": (0, 0), "s390x": (0, 0),
}
TABLE = "| target | f32: instructions | of bound | int8: instructions | of bound |\n|---|---:|---:|---:|---:|\n"


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
        steps, of_row = (K, r) if kind == "f32" else (-(-K // 4), r / 4)
        total += columns * steps * (vectors * r + vectors + of_row)
    return int(total)


def rows_of(infc, path, target, folder):
    out = folder / f"{path.stem}-{target}"
    subprocess.run([infc, "compile", path, "--target", target, "--set", "output.kinds=[static-library]", "-o", out],
                   check=True, capture_output=True)
    for step in json.loads((out / "report.json").read_text())["steps"]:
        tile = re.search(r"matmul_(?:wide)?(\d+)x", step["kernel"] or "")
        if tile:
            return step["function"], step["kernel"], int(tile[1])
    raise SystemExit(f"{target}: no matmul kernel in report.json")


def cells(results, target):
    """The two of f32, then of int8."""
    for kind, lanes, lacks in zip(("f32", "int8"), TARGETS[target], ("no fma in vectors", "no dot products of bytes")):
        found = results.get(f"{kind}_{target}")
        yield f"{found['instructions']:,}" if found else "-"
        yield f"{found['instructions'] / found['bound']:.2f}" if found and lanes else lacks


def table(results):
    return TABLE + "".join(f"| {target} | {' | '.join(cells(results, target))} |\n" for target in TARGETS)


def update(page, results):
    text = page.read_text()
    start = text.index(TABLE)
    page.write_text(text[:start] + table(results) + text[text.index("\n\n", start) + 1:])


def measure(infc, kind, folder):
    path, results = model(kind, folder), {}
    done = subprocess.run([infc, "compare", path, "--json", *[a for t in TARGETS for a in ("--target", t)]],
                          capture_output=True, text=True)
    for result in json.loads(done.stdout)["targets"]:
        target = result["name"]
        function, kernel, rows = rows_of(infc, path, target, folder)
        counts = [f["instructions"] for f in result["functions"] if f["name"].endswith("_" + function)]
        if not counts:
            print(f"{kind}_{target} was not counted: {result.get('why', result['status'])}")
            continue
        called = sum(f["instructions"] for f in result["functions"] if f["name"].startswith("v_"))
        count = counts[0] + called  # what it calls: fma in software
        lanes = TARGETS[target][kind == "int8"]
        least = bound(kind, rows, *TARGETS[target]) if lanes else None
        results[f"{kind}_{target}"] = {"instructions": count, "bound": least, "kernel": kernel}
        said = f"{count / least:.2f} of bound  # {count:,} of {least:,}" if lanes else f"{count} instructions  #"
        print(f"RESULT {kind}_{target} {said}, {kernel}", flush=True)
    return results


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("infc", type=pathlib.Path)
    parser.add_argument("--json", type=pathlib.Path)
    parser.add_argument("--update", type=pathlib.Path)
    args, results = parser.parse_args(), {}
    with tempfile.TemporaryDirectory() as temp:
        for kind in ("f32", "int8"):
            results |= measure(args.infc.resolve(), kind, pathlib.Path(temp))
    if args.json:
        args.json.write_text(json.dumps(results, indent=2) + "\n")
    if args.update:
        update(args.update, results)


if __name__ == "__main__":
    sys.exit(main())
