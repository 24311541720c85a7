#!/usr/bin/env python3
"""How long graphs of 20,000 nodes take from the file to the plan.

usage: big_graphs.py INFC WORK_DIR [--nodes N] [--seconds LIMIT] [KIND...]

Prints `RESULT big_graph.<kind>.seconds` (of processor time for import, passes and plan, median of three), `.wall` and
`.mib` (peak memory); exits 1 when a kind takes longer than the limit (2 s; 0: none). The binary is not built.
"""
import os
import pathlib
import statistics
import subprocess
import sys
import time

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

OPSETS = [helper.make_opsetid("", 18), helper.make_opsetid("local", 1)]


def weight(name, *dims):
    return numpy_helper.from_array(np.full(dims, 0.5, np.float32), name)


def model(nodes, outputs, weights=(), dims=(4, 16), functions=()):
    ports = [helper.make_tensor_value_info(o, TensorProto.FLOAT, None) for o in outputs]
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, dims)
    graph = helper.make_graph(nodes, "g", [x], ports, list(weights))
    return helper.make_model(graph, opset_imports=OPSETS, ir_version=8, functions=list(functions))


def chain(n):
    """Each node uses the one before; names as long as exporters make them."""
    kinds = ["Relu", "Sigmoid", "Tanh", "Neg"]
    name = "/encoder/layers/attention/self/output/dense/activation/Output_{}".format
    nodes = [helper.make_node(kinds[i % 4], [name(i - 1) if i else "x"], [name(i)], name=name(i)) for i in range(n)]
    return model(nodes, [name(n - 1)])


def wide(n):
    """One value with n uses, summed two by two."""
    leaves = n // 2
    nodes = [helper.make_node("Mul", ["x", f"w{i}"], [f"m{i}"]) for i in range(leaves)]
    live = [f"m{i}" for i in range(leaves)]
    while len(live) > 1:
        pairs = [live[i:i + 2] for i in range(0, len(live) - 1, 2)]
        made = [f"s{len(nodes) + i}" for i in range(len(pairs))]
        nodes += [helper.make_node("Add", p, [m]) for p, m in zip(pairs, made)]
        live = made + live[2 * len(pairs):]
    weights = [numpy_helper.from_array(np.full((4, 16), i, np.float32), f"w{i}") for i in range(leaves)]
    return model(nodes, live, weights)


def outputs(n):
    """One value that 50 outputs of the model are made of, and n - 50 nodes that nothing uses."""
    nodes = [helper.make_node("Add", ["x", "w"], ["y"])]
    nodes += [helper.make_node("LeakyRelu", ["y"], [f"o{i}"], alpha=i / n) for i in range(n - 1)]
    return model(nodes, [f"o{i}" for i in range(0, n - 1, max(1, n // 50))], [weight("w", 4, 16)])


def layers(n):
    """A product, a residual sum and shape arithmetic, again and again."""
    nodes, last = [], "x"
    for i in range(n // 9):
        p, w = f"l{i}.", f"w{i % 16}"
        nodes += [helper.make_node("MatMul", [last, w], [p + "m"]),
                  helper.make_node("Add", [p + "m", "b"], [p + "a"]),
                  helper.make_node("Relu", [p + "a"], [p + "r"]),
                  helper.make_node("Shape", [p + "r"], [p + "s"]),
                  helper.make_node("Gather", [p + "s", "one"], [p + "g"]),
                  helper.make_node("Concat", [p + "g", "minus"], [p + "c"], axis=0),
                  helper.make_node("Reshape", [p + "r", p + "c"], [p + "t"]),
                  helper.make_node("Reshape", [p + "t", "back"], [p + "y"]),
                  helper.make_node("Add", [p + "y", last], [p + "o"])]
        last = p + "o"
    weights = [weight(f"w{i}", 16, 16) for i in range(16)] + [weight("b", 16)]
    weights += [numpy_helper.from_array(np.array(v, np.int64), k) for k, v in
                {"one": [1], "minus": [-1], "back": [4, 16]}.items()]
    return model(nodes, [last], weights)


def initialisers(n):
    """2,000 weights (n / 10), each of a product."""
    count = n // 10
    nodes = [helper.make_node("MatMul", [f"y{i - 1}" if i else "x", f"w{i}"], [f"y{i}"]) for i in range(count)]
    return model(nodes, [f"y{count - 1}"], [weight(f"w{i}", 16, 16) for i in range(count)])


def functions(n):
    """Functions that call one another, 10 deep: each level calls the next twice, and at the end are n nodes."""
    depth = 10
    per = max(1, n >> depth)
    body = [helper.make_node("Relu" if i % 2 else "Neg", [f"v{i}" if i else "a"], [f"v{i + 1}"]) for i in range(per)]
    made = [helper.make_function("local", "f0", ["a"], [f"v{per}"], body, OPSETS)]
    for d in range(1, depth + 1):
        calls = [helper.make_node(f"f{d - 1}", ["a"], ["b"], domain="local"),
                 helper.make_node(f"f{d - 1}", ["b"], ["c"], domain="local")]
        made.append(helper.make_function("local", f"f{d}", ["a"], ["c"], calls, OPSETS))
    return model([helper.make_node(f"f{depth}", ["x"], ["y"], domain="local")], ["y"], functions=made)


KINDS = {f.__name__: f for f in (chain, wide, outputs, layers, initialisers, functions)}


def measure(command):
    start = time.perf_counter()
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as run:
        text = run.stderr.read()
        _, status, usage = os.wait4(run.pid, 0)
        run.returncode = os.waitstatus_to_exitcode(status)
    if run.returncode:
        sys.exit(f"big_graphs.py: {' '.join(command)} failed: {text}")
    return usage.ru_utime + usage.ru_stime, time.perf_counter() - start, usage.ru_maxrss / 1024


def main():
    arguments, options = [], {"--nodes": 20000, "--seconds": 2}
    rest = iter(sys.argv[1:])
    for a in rest:
        if a in options:
            options[a] = float(next(rest))
        else:
            arguments.append(a)
    if len(arguments) < 2 or not set(arguments[2:]) <= set(KINDS):
        sys.exit(__doc__)
    infc, work = arguments[0], pathlib.Path(arguments[1])
    work.mkdir(parents=True, exist_ok=True)
    slow = 0
    for kind in arguments[2:] or KINDS:
        path = work / f"{kind}.onnx"
        onnx.save(KINDS[kind](int(options["--nodes"])), path)
        runs = [measure([infc, "compile", str(path), "--stop-after", "plan"]) for _ in range(3)]
        seconds, wall, mib = (statistics.median(r[i] for r in runs) for i in range(3))
        slow += 0 < options["--seconds"] < seconds
        for name, value, unit in ("seconds", seconds, "s"), ("wall", wall, "s"), ("mib", mib, "MiB"):
            print(f"RESULT big_graph.{kind}.{name} {value:.3g} {unit}", flush=True)
    return slow > 0


if __name__ == "__main__":
    sys.exit(main())
