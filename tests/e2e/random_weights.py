"""Weights for graphs whose weights were replaced by ConstantOfShape (the light models of the onnx package).

The seed is fixed and the scale follows from how a tensor is used, so that activations stay finite: He's for
convolutions and products, around 1 for what scales and for variances, small for what is added. What enters the
softmax is brought to a spread of 1, else the softmax would hide every difference.
"""
import numpy as np
import onnx
import onnxruntime
from onnx import helper, numpy_helper


def uses(graph):
    """name -> (op, input index) of its first use, past what only changes its shape."""
    found = {}
    for node in graph.node:
        for i, name in enumerate(node.input):
            found.setdefault(name, (node.op_type, i, node.output[0]))

    def use(name):
        op, i, output = found.get(name, ("", 0, ""))
        return use(output) if op in ("Unsqueeze", "Reshape") and i == 0 else (op, i)

    return use


def values(rng, shape, use):
    if use in (("BatchNormalization", 4), ("BatchNormalization", 1)) or use[0] == "Mul":
        return rng.uniform(0.5, 1.5, shape)
    if len(shape) < 2 or use[0] == "Add":
        return rng.normal(0, 0.1, shape)
    inner = shape[0] if use[0] == "MatMul" else int(np.prod(shape[1:]))
    return rng.normal(0, (2 / inner) ** 0.5, shape)


def spread(model, tensor):
    """The standard deviation of a tensor for one input."""
    probe = onnx.ModelProto()
    probe.CopyFrom(model)
    probe.graph.output.append(helper.make_empty_tensor_value_info(tensor))
    session = onnxruntime.InferenceSession(probe.SerializeToString(), providers=["CPUExecutionProvider"])
    rng = np.random.default_rng(2)
    feeds = {i.name: rng.normal(0, 1, i.shape).astype(np.float32)
             for i in session.get_inputs()}
    return float(session.run([tensor], feeds)[0].std())


def fill(source, target):
    model = onnx.load(source)
    graph, rng = model.graph, np.random.default_rng(1)
    shapes = {t.name: numpy_helper.to_array(t) for t in graph.initializer}
    use, weights = uses(graph), {}
    for node in [n for n in graph.node if n.op_type == "ConstantOfShape"]:
        shape = [int(d) for d in shapes[node.input[0]]]
        weights[node.output[0]] = values(rng, shape, use(node.output[0])).astype(np.float32)
        graph.node.remove(node)
    read = {name for node in graph.node for name in node.input}
    for listed in (graph.initializer, graph.input):
        for entry in [e for e in listed if e.name not in read]:
            listed.remove(entry)
    for name, array in weights.items():
        graph.initializer.append(numpy_helper.from_array(array, name))
    softmax = [n for n in graph.node if n.op_type == "Softmax"]
    last = [n for n in graph.node if n.op_type in ("Gemm", "Conv")][-1]
    if softmax:
        scale = np.float32(1 / spread(model, softmax[-1].input[0]))
        made_from = {n.output[0]: n.input[0] for n in graph.node if n.op_type == "Reshape"}
        for name in (made_from.get(n, n) for n in last.input[1:]):
            entry = next(t for t in graph.initializer if t.name == name)
            entry.CopyFrom(numpy_helper.from_array(numpy_helper.to_array(entry) * scale, name))
    onnx.save(model, target)
