"""Compares what infc makes of small models with ONNX Runtime or, for opsets that it does not know yet, with the reference
evaluator of the onnx package; shared by the onnx_*.py tests."""
import numpy as np
import onnx
import onnxruntime
from onnx import helper
from onnx.reference import ReferenceEvaluator

import onnx_cases as oc

DIMS = {"batch": 4, "n": 2, "c": 3, None: 4}  # what the symbolic ones are


class Table(dict):
    """Cases by name."""

    def case(self, name, op, inputs, consts=(), opset=17, n_out=1, all_out=False, low=-2.0, high=2.0, dims=(), declared=None,
             result=None, domain="", **attrs):
        """One node `op` over inputs (shapes; arrays stand for themselves) and constants (arrays) in order; None leaves an
        operand out. n_out: outputs, of which only the first is one of the graph's unless all_out; result: its element
        type when not f32, or those of all."""
        assert name not in self, name
        self[name] = dict(op=op, inputs=inputs, consts=consts, opset=opset, n_out=n_out, all_out=all_out, attrs=attrs, low=low,
                          high=high, dims=dims, declared=declared, result=result, domain=domain)

    def graph(self, name, nodes, inputs, constants=(), opset=17, dims=(), result=None):
        """Nodes as "Op a,b -> c" or such a text with a dict of attributes; inputs x0.. by shape, constants c0.. by array;
        the result is y."""
        assert name not in self, name
        self[name] = dict(nodes=nodes, inputs=inputs, consts=constants, opset=opset, n_out=1, all_out=False, low=-2.0,
                          high=2.0, dims=dims, declared=None, result=result)

    def runs(self, tool, folder):
        """The cases as oc.main() takes them."""
        for name, c in self.items():
            yield name, lambda name=name, c=c: run_case(tool, folder, name, c)


def build(name, c):
    operands, inputs, constants = [], {}, {}
    for i, shape in enumerate(c["inputs"]):
        inputs[f"x{i}"] = shape
        operands.append(f"x{i}")
    for i, value in enumerate(c["consts"]):
        operands.append("" if value is None else f"c{i}")
        if value is not None:
            constants[f"c{i}"] = value
    if "nodes" in c:
        nodes = [oc.parse_node(n) for n in c["nodes"]]
        made = oc.model(nodes, inputs, {"y": None}, constants, opset=c["opset"], ir=min(10, onnx.IR_VERSION))
        set_result(made, c)
        return made
    outputs = ["y"] + [f"unused{i}" for i in range(1, c["n_out"])]
    node = helper.make_node(c["op"], operands, outputs, name="the node", domain=c.get("domain", ""), **c["attrs"])
    results = {o: None for o in outputs} if c["all_out"] else {"y": c["declared"]}
    made = oc.model([node], inputs, results, constants, opset=c["opset"], ir=min(10, onnx.IR_VERSION))
    if c["declared"] is None:
        set_result(made, c)
    return made


def set_result(made, c):
    results = c["result"] if isinstance(c["result"], tuple) else (c["result"],) * len(made.graph.output)
    for output, result in zip(made.graph.output, results):
        output.type.tensor_type.ClearField("shape")
        if result:
            output.type.tensor_type.elem_type = helper.np_dtype_to_tensor_dtype(np.dtype(result))


def reference(made, feeds):
    try:
        options = onnxruntime.SessionOptions()
        options.log_severity_level = 4
        session = onnxruntime.InferenceSession(made.SerializeToString(), options, ["CPUExecutionProvider"])
        return session.run(None, feeds)
    except Exception:  # an opset or a combination that it does not know
        return ReferenceEvaluator(made).run(None, feeds)


def check(tool, folder, name, made, feeds, dims=(), reference_model=None):
    path = oc.save(folder, name, made)
    want = reference(reference_model or made, feeds)
    got, shapes = oc.evaluate(tool, folder, name, path, list(feeds.values()), len(made.graph.output), dims,
                              [w.dtype for w in want])
    for i, w in enumerate(want):
        shape = "[" + ",".join(map(str, w.shape)) + "]"
        if shape not in shapes[i]:
            raise AssertionError(f"shape {shapes[i]}, expected {shape}")
        if w.dtype.kind != "f":
            if not np.array_equal(got[i], w.reshape(-1)):
                raise AssertionError(f"{got[i]}, expected {w.reshape(-1)}")
            continue
        scale = max(1e-30, float(np.max(np.abs(w))) if w.size else 0)
        bound = 1e-5 * np.abs(w.reshape(-1)) + 1e-6 * scale
        with np.errstate(invalid="ignore"):  # the same infinity is no difference
            off = np.where(got[i] == w.reshape(-1), 0, np.abs(got[i] - w.reshape(-1)))
        worst = np.max(off - bound) if w.size else 0
        if not worst <= 0:
            raise AssertionError(f"off by {worst} over the bound")


def run_case(tool, folder, name, c):
    made = build(name, c)
    random = oc.rng(name)
    feeds = {}
    for i, shape in enumerate(c["inputs"]):
        if isinstance(shape, np.ndarray):
            feeds[f"x{i}"] = shape
            continue
        fixed = [d if isinstance(d, int) else DIMS[d] for d in shape]
        feeds[f"x{i}"] = random.uniform(c["low"], c["high"], fixed).astype(np.float32)
    check(tool, folder, name, made, feeds, c["dims"])
