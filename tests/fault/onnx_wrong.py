"""Every line of onnx_ops.def and onnx_ops_microsoft.def with each thing wrong that can be: too few or too many inputs
and outputs, unknown and mistyped attributes, axes out of range, wrong ranks and element types, dimensions of 0. What
ONNX Runtime does not run must be refused with exit code 3 by a message that names the node and its operator; and
whatever is done, nothing may crash: python onnx_wrong.py ONNX_EVAL FOLDER [--sample] [OPERATOR]...

Each line starts from a node that is right: a case of the tables that onnx_compare.py runs, or of RIGHT below."""
import concurrent.futures
import os
import pathlib
import re
import sys
import warnings

import numpy as np
import onnx
import onnxruntime
from onnx import helper

import onnx_cases as oc
import onnx_attention
import onnx_indices
import onnx_recurrent
import onnx_semantics
from onnx_cases import f32, i64

MS = "com.microsoft"
FOLDER = pathlib.Path(__file__).resolve().parents[2] / "compiler/frontend/onnx"
LINE = re.compile(r'INFC_ONNX_OP\((\w+),\s*(\d+),\s*(\d+),\s*(\d+),\s*(\w+),\s*(\w+),\s*"([^"]*)"')
VALUES = {"int": 1, "float": 1.0, "str": "text", "ints": [1, 1], "floats": [1.0], "strings": ["text"],
          "tensor": onnx.numpy_helper.from_array(np.float32(1)), "graph": helper.make_graph([], "g", [], [])}
q8, s1, z8 = np.zeros([2, 3, 4], np.uint8), np.float32(1), np.uint8(0)
w8, image8 = np.zeros([3, 3, 1, 1], np.int8), np.zeros([1, 3, 4, 4], np.uint8)
# (operator, domain): a right node's inputs, a shape for one given at run time, and attributes.
RIGHT = {
    ("Constant", ""): ([], {"value": VALUES["tensor"]}),
    ("ConstantOfShape", ""): ([i64(2, 3)], {}),
    ("Range", ""): ([np.int64(0), np.int64(4), np.int64(1)], {}),
    ("Expand", ""): ([[2, 1], i64(2, 3)], {}),
    ("Shape", ""): ([[2, 3]], {}), ("Size", ""): ([[2, 3]], {}),
    ("IsNaN", ""): ([[2, 3]], {}),
    ("DequantizeLinear", ""): ([q8, s1, z8], {}), ("QuantizeLinear", ""): ([[2, 3, 4], s1, z8], {}),
    ("DynamicQuantizeLinear", ""): ([[2, 3]], {}),
    ("ConvInteger", ""): ([image8, w8, z8, np.int8(0)], {}),
    ("MatMulInteger", ""): ([q8, np.zeros([4, 5], np.int8), z8, np.int8(0)], {}),
    ("QLinearConv", ""): ([image8, s1, z8, w8, s1, np.int8(0), s1, z8], {}),
    ("QLinearMatMul", ""): ([q8, s1, z8, np.zeros([4, 5], np.int8), s1, np.int8(0), s1, z8], {}),
    ("DynamicQuantizeMatMul", MS): ([[3, 4], np.zeros([4, 5], np.int8), s1, np.int8(0)], {}),
    ("DynamicQuantizeLSTM", MS): ([[3, 1, 4], np.zeros([1, 4, 20], np.int8), np.zeros([1, 5, 20], np.int8), None, None, None, None, None,
                                   f32([1]), np.zeros([1], np.int8), f32([1]), np.zeros([1], np.int8)], {"hidden_size": 5}),
    ("MatMulIntegerToFloat", MS): ([q8, np.zeros([4, 5], np.int8), s1, s1, z8, np.int8(0)], {}),
    ("QGemm", MS): ([q8[0], s1, z8, np.zeros([4, 5], np.int8), s1, np.int8(0)], {}),
    ("QLinearAdd", MS): ([q8, s1, z8, q8, s1, z8, s1, z8], {}), ("QLinearMul", MS): ([q8, s1, z8, q8, s1, z8, s1, z8], {}),
    ("QLinearConcat", MS): ([s1, z8, q8, s1, z8, q8, s1, z8], {"axis": 1}),
    ("QLinearAveragePool", MS): ([image8, s1, z8, s1, z8], {"kernel_shape": [2, 2]}),
    ("QLinearGlobalAveragePool", MS): ([image8, s1, z8, s1, z8], {}),
    ("QLinearLeakyRelu", MS): ([q8, s1, z8, s1, z8], {}), ("QLinearSigmoid", MS): ([q8, s1, z8, s1, z8], {}),
    ("QLinearSoftmax", MS): ([q8, s1, z8, s1, z8], {"axis": -1, "opset": 13}),
    ("SimplifiedLayerNormalization", MS): ([[2, 4], f32([4])], {}),
    ("LayerNormalization", MS): ([[2, 4], f32([4])], {}),
}
OUTPUTS = {"DynamicQuantizeLinear": 3, "EmbedLayerNormalization": 2, "TopK": 2}
# What ONNX Runtime has no code for, though ONNX allows it and infc computes it.
MORE = {("LRN", "input 0"), ("OneHot", "input 0"), ("FastGelu", "input 0 scalar"), ("BiasGelu", "input 0 scalar")}
CONTROL = {"If", "Loop", "Scan"}  # onnx_control.py has their ways to go wrong
REFUSED = 3
EVERY = 8  # with --sample one line in so many


def lines():
    for name, domain in (("onnx_ops.def", ""), ("onnx_ops_microsoft.def", MS)):
        for line in (FOLDER / name).read_text().splitlines():
            match = LINE.match(line)
            if match:
                op, since, until, least, most, outputs, attributes = match.groups()
                yield (op, domain, int(since), int(until), int(least), int(most) if most.isdigit() else None,
                       int(outputs) if outputs.isdigit() else None, dict(a.split(":") for a in attributes.split()))


def right_nodes(op, domain, attributes, least, most):
    """(inputs, attributes, outputs) of right nodes for a line, the likeliest first."""
    found = [RIGHT[op, domain]] if (op, domain) in RIGHT else []
    for cases in (onnx_semantics.CASES, onnx_recurrent.CASES, onnx_attention.CASES, onnx_indices.CASES):
        for c in cases.values():
            if c.get("op") == op and c.get("domain", "") == domain and not c["dims"]:
                found.append(([*c["inputs"], *c["consts"]], c["attrs"], c["n_out"]))
    for inputs, attrs, *outs in found:
        n = len(inputs) - sum(1 for i in inputs if i is None)
        if set(attrs) <= set(attributes) and least <= n and (most is None or len(inputs) <= most):
            yield inputs, attrs, max([*outs, OUTPUTS.get(op, 1)])


class Node:
    """A model of one node, built from `inputs`: a shape is an input of the graph, an array a constant; the outputs'
    types are not declared."""

    def __init__(self, op, domain, opset, inputs, attrs, n_out=1, runtime=()):
        self.feeds, names, constants = [], [], {}
        infos = []
        for i, value in enumerate(inputs):
            names.append("" if value is None else f"x{i}")
            if value is None:
                continue
            if isinstance(value, list) or i in runtime:
                data = oc.rng(op).uniform(0.5, 1.5, value).astype(np.float32) if isinstance(value, list) else np.asarray(value)
                infos.append(oc.tensor_info(f"x{i}", data))
                self.feeds.append((f"x{i}", data))
            else:
                constants[f"x{i}"] = np.asarray(value)
        node = helper.make_node(op, names, [f"y{i}" for i in range(n_out)], name="the node", domain=domain)
        for name, value in attrs.items():
            node.attribute.append(value if isinstance(value, onnx.AttributeProto) else helper.make_attribute(name, value))
        graph = helper.make_graph([node], "g", infos, [helper.make_value_info("y0", onnx.TypeProto())],
                                  [onnx.numpy_helper.from_array(v, k) for k, v in constants.items()])
        opsets = [helper.make_opsetid("", opset)] + ([helper.make_opsetid(domain, 1)] if domain else [])
        self.model = helper.make_model(graph, opset_imports=opsets, ir_version=8 if opset < 20 else 10)

    def run(self, tool, folder, name):
        path, args = oc.save(folder, name, self.model), []
        for key, data in self.feeds:
            file = os.path.join(folder, f"{name}.{key}")
            np.ascontiguousarray(data).tofile(file)
            args += ["--input", file]
        code, _, err = oc.run(tool, path, *args)
        return code, err

    def runs_elsewhere(self):
        """Whether ONNX Runtime runs it; None when it does not know the operator."""
        options = onnxruntime.SessionOptions()
        options.log_severity_level = 4
        try:
            session = onnxruntime.InferenceSession(self.model.SerializeToString(), options, ["CPUExecutionProvider"])
            session.run(None, dict(self.feeds))
        except Exception as error:  # the kinds of its exceptions are many
            return None if re.search("not a registered function|NOT_IMPLEMENTED|Could not find an implementation|is under development", str(error)) else False
        return True


def other_types(value):
    dtype = np.dtype(np.float32) if isinstance(value, list) else np.asarray(value).dtype
    shape = value if isinstance(value, list) else np.asarray(value).shape
    return [np.ones(shape, t) for t in (np.float32, np.int64, np.bool_, np.int8, np.int32) if t != dtype]


def mutations(line, inputs, attrs):
    """(what is wrong, inputs, attributes, outputs, whether it must be refused whatever ONNX Runtime does)."""
    op, domain, _, _, least, most, outputs, attributes = line
    given = [i for i, v in enumerate(inputs) if v is not None]
    if least > 0:
        yield "too few inputs", inputs[:least - 1], attrs, 1, True
    if most is not None:
        yield "too many inputs", inputs + [f32([1])] * (most + 1 - len(inputs)), attrs, 1, True
    if outputs is not None:
        yield "too many outputs", inputs, attrs, outputs + 1, True
    yield "unknown attribute", inputs, {**attrs, "nonsense": 1}, 1, True
    for name, kind in attributes.items():
        other = next(v for k, v in VALUES.items() if k != kind and k[:3] != kind[:3])
        yield f"{name} mistyped", inputs, {**attrs, name: other}, 1, True
        if name == "axis":
            for axis in (9, -9):
                yield f"axis {axis}", inputs, {**attrs, name: axis}, 1, op not in ("DequantizeLinear", "QuantizeLinear")
        if name in ("axes", "perm"):
            yield name + " out of range", inputs, {**attrs, name: [9]}, 1, False
    for i in given:
        left_out = [None if k == i else v for k, v in enumerate(inputs)]
        if i < least:
            yield f"input {i} left out", left_out, attrs, 1, True
        value = inputs[i]
        shape = list(value) if isinstance(value, list) else list(np.asarray(value).shape)
        for what, changed in (("longer", shape + [2]), ("wider", [2] + shape), ("shorter", shape[1:]), ("scalar", []),
                              ("bigger", [d + 1 for d in shape])):
            if changed != shape:
                new = changed if isinstance(value, list) else np.ones(changed, np.asarray(value).dtype)
                yield f"input {i} {what}", inputs[:i] + [new] + inputs[i + 1:], attrs, 1, False
        for new in other_types(value):
            yield f"input {i} {new.dtype}", inputs[:i] + [new] + inputs[i + 1:], attrs, 1, False
        for d in range(len(shape)):
            empty = np.zeros(shape[:d] + [0] + shape[d + 1:], np.float32 if isinstance(value, list) else np.asarray(value).dtype)
            yield f"input {i} empty {d}", inputs[:i] + [empty] + inputs[i + 1:], attrs, 1, False


def check_line(tool, folder, line):
    op, domain, since, until = line[:4]
    problems, n = [], 0
    opset = min(until, 21)
    opset = max(opset, since)
    base, name = None, f"{domain[:3]}{op}{since}"
    for right in right_nodes(op, domain, line[7], line[4], line[5]):
        node = Node(op, domain, opset, *right)
        if node.run(tool, folder, name)[0] == 0:
            base = right
            break
    if base is None:
        return [f"{op} of opset {since}: no right node to start from"], 0
    inputs, attrs, n_out = base
    elsewhere = node.runs_elsewhere()
    runtime = [i for i, v in enumerate(inputs) if isinstance(v, list) or i == 0]
    for what, changed, others, outs, must in mutations(line, list(inputs), attrs):
        made = Node(op, domain, opset, changed, others, max(outs, n_out), [] if "empty" in what else runtime)
        code, err = made.run(tool, folder, name)
        n += 1
        located = '"the node"' in err and op in err or re.search('"[xy][0-9]"', err)  # or names the operand
        where = f"{op} of opset {since}, {what}"
        if code == REFUSED and not located:
            problems.append(f"{where}: not located: {err.strip()[:200]}")
        elif code not in (0, REFUSED):
            problems.append(f"{where}: exit {code}: {err.strip()[:200]}")
        elif code == 0 and any(op == o and what.startswith(w) for o, w in MORE):
            pass
        elif code == 0 and (must or elsewhere and made.runs_elsewhere() is False):
            problems.append(f"{where}: accepted")
    return problems, n


def main():
    tool, folder, *names = sys.argv[1:]
    os.makedirs(folder, exist_ok=True)
    warnings.simplefilter("ignore")
    sample = "--sample" in names
    names = [name for name in names if name != "--sample"]
    chosen = [line for line in lines() if line[0] not in CONTROL and (not names or line[0] in names)]
    chosen = chosen[::EVERY] if sample else chosen
    problems = nodes = 0
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        for found, n in pool.map(lambda line: check_line(tool, folder, line), chosen):
            print("".join(p + "\n" for p in found), end="", flush=True)
            problems, nodes = problems + len(found), nodes + n
    print(f"{len(chosen)} lines, {nodes} wrong nodes, {problems} problems")
    return 1 if problems or not chosen else 0


if __name__ == "__main__":
    sys.exit(main())
