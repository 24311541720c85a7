"""Small models over sizes that are known only at run time, written as exporters write them, for run_time_sizes.py."""
import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper


class Graph:
    """Nodes and weights of one model; a node's name is that of its first output."""

    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)
        self.nodes, self.weights = [], []

    def weight(self, name, *shape):
        values = self.rng.standard_normal(shape) / np.sqrt(np.prod(shape[1:]) or 1)
        self.weights.append(numpy_helper.from_array(values.astype(np.float32), name))
        return name

    def constant(self, name, value, dtype=np.int64):
        self.weights.append(numpy_helper.from_array(np.array(value, dtype), name))
        return name

    def node(self, op, inputs, *outputs, **attributes):
        self.nodes.append(helper.make_node(op, inputs, list(outputs), name=outputs[0], **attributes))
        return outputs[0]

    def save(self, path, inputs, outputs):
        """Ports are (name, element type, dims)."""
        graph = helper.make_graph(self.nodes, "g", [helper.make_tensor_value_info(*p) for p in inputs],
                                  [helper.make_tensor_value_info(*p) for p in outputs], self.weights)
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)


def attention(g, x, width, heads, mask=None):
    """Self-attention with its reshapes as PyTorch exports it: shapes by Shape, Gather, Unsqueeze and Concat."""
    g.node("Shape", [x], "shape")
    for i in "01":
        g.node("Gather", ["shape", g.constant("i" + i, int(i))], "dim" + i, axis=0)
        g.node("Unsqueeze", ["dim" + i, g.constant("front" + i, [0])], "list" + i)
    lists = ["list0", "list1"]
    g.node("Concat", [*lists, g.constant("heads", [heads]), g.constant("each", [width // heads])], "split", axis=0)
    g.node("Concat", [*lists, g.constant("width", [width])], "joined", axis=0)
    for part in "qkv":
        g.node("MatMul", [x, g.weight("w" + part, width, width)], part)
        g.node("Add", [part, g.weight("bias" + part, width)], part + "_biased")
        g.node("Reshape", [part + "_biased", "split"], part + "_split")
        g.node("Transpose", [part + "_split"], part + "_heads", perm=[0, 2, 3, 1] if part == "k" else [0, 2, 1, 3])
    g.node("MatMul", ["q_heads", "k_heads"], "products")
    scores = g.node("Mul", ["products", g.constant("factor", 0.35, np.float32)], "scores")
    if mask:
        scores = g.node("Add", [scores, mask], "masked")
    g.node("Softmax", [scores], "shares", axis=-1)
    g.node("MatMul", ["shares", "v_heads"], "values")
    g.node("Transpose", ["values"], "turned", perm=[0, 2, 1, 3])
    g.node("Reshape", ["turned", "joined"], "attended")
    return g.node("Add", ["attended", x], "middle")


def encoder(path, width=32, heads=4):
    g = Graph(1)
    g.node("LayerNormalization", ["x", g.weight("g", width), g.weight("b", width)], "normed")
    attention(g, "normed", width, heads)
    g.node("MatMul", ["middle", g.weight("w1", width, 64)], "wide")
    g.node("Add", ["wide", g.weight("b1", 64)], "wide_biased")
    g.node("Relu", ["wide_biased"], "hidden")
    g.node("MatMul", ["hidden", g.weight("w2", 64, width)], "narrow")
    g.node("Add", ["narrow", "middle"], "y")
    ports = [[(name, TensorProto.FLOAT, ["batch", "tokens", width])] for name in "xy"]
    g.save(path, *ports)


def embedder(path, width=32, most=64):
    """Ids and a mask to one vector: tables, positions by a slice and by a range, a mask that is expanded, a mean."""
    g = Graph(2)
    g.node("Gather", [g.weight("words", 100, width), "ids"], "looked_up", axis=0)
    g.node("Shape", ["ids"], "ids_shape")
    g.node("Gather", ["ids_shape", g.constant("one", 1)], "length", axis=0)
    g.node("Unsqueeze", ["length", g.constant("zero_axis", [0])], "end")
    g.node("Slice", [g.constant("all_positions", [list(range(most))]), g.constant("zero", [0]), "end",
                     g.constant("last_axis", [1])], "positions")
    g.node("Gather", [g.weight("places", most, width), "positions"], "placed", axis=0)
    g.node("Add", ["looked_up", "placed"], "embedded")
    g.node("Range", [g.constant("from", 0), "length", g.constant("by", 1)], "count")
    g.node("Unsqueeze", ["count", g.constant("column", [1])], "rows")
    g.node("GreaterOrEqual", ["rows", "count"], "earlier")  # each sees itself and what stands before it
    g.node("Unsqueeze", ["mask", g.constant("inner", [1, 2])], "mask4")
    g.node("Concat", [g.constant("any", [-1]), g.constant("head", [1]), "end", "end"], "square", axis=0)
    g.node("Shape", ["square"], "square_rank")
    g.node("ConstantOfShape", ["square_rank"], "units", value=numpy_helper.from_array(np.array([1], np.int64)))
    g.node("Equal", ["square", "any"], "is_any")
    g.node("Where", ["is_any", "units", "square"], "target")
    g.node("Expand", ["mask4", "target"], "spread")
    g.node("Cast", ["spread"], "spread_true", to=TensorProto.BOOL)
    g.node("And", ["spread_true", "earlier"], "seen")
    g.node("Where", ["seen", g.constant("nothing", 0, np.float32), g.constant("low", -1e9, np.float32)], "added")
    attention(g, "embedded", width, 4, "added")
    g.node("Cast", ["mask"], "mask_float", to=TensorProto.FLOAT)
    g.node("Unsqueeze", ["mask_float", g.constant("end_axis", [2])], "mask_column")
    g.node("Mul", ["middle", "mask_column"], "kept")
    g.node("ReduceMean", ["kept"], "y", axes=[1], keepdims=0)
    dims = ["batch", "tokens"]
    g.save(path, [("ids", TensorProto.INT64, dims), ("mask", TensorProto.INT64, dims)],
           [("y", TensorProto.FLOAT, ["batch", width])])


def image(path):
    """A detector in small: strides, SAME pads, groups, pools, a feature pyramid, a head of transposed convolutions."""
    g = Graph(3)
    g.node("Conv", ["x", g.weight("c1", 16, 3, 3, 3), g.weight("d1", 16)], "half", strides=[2, 2], auto_pad="SAME_UPPER")
    g.node("Relu", ["half"], "half_relu")
    g.node("Conv", ["half_relu", g.weight("c2", 16, 1, 3, 3)], "deep", group=16, pads=[1, 1, 1, 1])
    g.node("Conv", ["deep", g.weight("c3", 24, 16, 1, 1)], "wide")
    g.node("HardSwish", ["wide"], "wide_act")
    g.node("MaxPool", ["wide_act"], "quarter", kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1])
    g.node("AveragePool", ["quarter"], "eighth", kernel_shape=[2, 2], strides=[2, 2])
    g.node("GlobalAveragePool", ["eighth"], "squeezed")
    g.node("Conv", ["squeezed", g.weight("c4", 24, 24, 1, 1)], "gate_raw")
    g.node("Sigmoid", ["gate_raw"], "gate")
    g.node("Mul", ["eighth", "gate"], "gated")
    g.node("Shape", ["quarter"], "quarter_shape")
    g.node("Slice", ["quarter_shape", g.constant("two", [2]), g.constant("four", [4]), g.constant("axis0", [0])], "pixels")
    g.node("Shape", ["gated"], "gated_shape")
    g.node("Slice", ["gated_shape", g.constant("nil", [0]), g.constant("two_", [2]), "axis0"], "planes")
    g.node("Concat", ["planes", "pixels"], "sizes", axis=0)
    g.node("Resize", ["gated", "", "", "sizes"], "up", mode="nearest", coordinate_transformation_mode="asymmetric",
           nearest_mode="floor")
    g.node("Resize", ["gated", "", "", "sizes"], "up_linear", mode="linear",
           coordinate_transformation_mode="align_corners")
    g.node("Concat", ["up", "quarter", "up_linear"], "joined", axis=1)
    g.node("Conv", ["joined", g.weight("c5", 8, 72, 3, 3)], "fused", pads=[1, 1, 1, 1])
    g.node("ConvTranspose", ["fused", g.weight("t1", 8, 4, 2, 2)], "grown", strides=[2, 2])
    g.node("Resize", ["grown", "", g.constant("scales", [1, 1, 2, 2], np.float32)], "full", mode="nearest")
    g.node("Pad", ["full", g.constant("pads", [0, 0, 1, 1, 0, 0, 1, 1])], "padded", mode="reflect")
    g.node("ReduceMean", ["padded"], "mean", axes=[2, 3], keepdims=0)
    g.node("Sigmoid", ["padded"], "y")
    g.save(path, [("x", TensorProto.FLOAT, ["batch", 3, "height", "width"])],
           [("y", TensorProto.FLOAT, None), ("mean", TensorProto.FLOAT, None)])


def frames(path, width=16, hidden=12):
    """Sound in small: a 1-D convolution, both directions of an LSTM and a GRU, a split, the last step, repeats."""
    g = Graph(4)
    g.node("Conv", ["x", g.weight("c1", width, 8, 5)], "conv", strides=[2], pads=[2, 2])
    g.node("Transpose", ["conv"], "steps", perm=[2, 0, 1])
    g.node("LSTM", ["steps", g.weight("w", 2, 4 * hidden, width), g.weight("r", 2, 4 * hidden, hidden),
                    g.weight("b", 2, 8 * hidden)], "lstm", "last", direction="bidirectional", hidden_size=hidden)
    g.node("Transpose", ["lstm"], "ordered", perm=[0, 2, 1, 3])
    g.node("Reshape", ["ordered", g.constant("flat", [0, 0, 2 * hidden])], "joined")
    g.node("GRU", ["joined", g.weight("gw", 1, 3 * hidden, 2 * hidden), g.weight("gr", 1, 3 * hidden, hidden)], "gru",
           hidden_size=hidden)
    g.node("Squeeze", ["gru", g.constant("direction", [1])], "hidden")
    g.node("Split", ["hidden"], "a", "b2", axis=2)
    g.node("Mul", ["a", "b2"], "both")
    g.node("Slice", ["both", g.constant("start", [-1]), g.constant("end", [2 ** 63 - 1]), g.constant("axis", [0])], "final")
    g.node("Slice", ["both", g.constant("backs", [-1]), g.constant("stop", [-2 ** 63]), "axis", g.constant("m1", [-1])],
           "backwards")
    g.node("Add", ["both", "backwards"], "mirrored")
    g.node("Tile", ["final", g.constant("times", [3, 1, 1])], "tiled")
    g.node("Concat", ["mirrored", "tiled"], "y", axis=0)
    g.save(path, [("x", TensorProto.FLOAT, ["batch", 8, "samples"])],
           [("y", TensorProto.FLOAT, None), ("last", TensorProto.FLOAT, None)])


def decoder(path, width=8):
    """A step of a decoder as exporters write it: the cache grows, and the mask's axis is called by the sum."""
    g = Graph(5)
    for kind in "kv":
        g.node("MatMul", ["x", g.weight(f"w{kind}", width, width)], f"new_{kind}")
        g.node("Concat", [f"past_{kind}", f"new_{kind}"], f"present_{kind}", axis=1)
    g.node("Transpose", ["present_k"], "keys", perm=[0, 2, 1])
    g.node("MatMul", ["x", "keys"], "scores")
    g.node("Unsqueeze", ["mask", g.constant("one", [1])], "rows")
    g.node("Where", ["rows", "scores", g.constant("low", [-1e9], np.float32)], "seen")
    g.node("Softmax", ["seen"], "weights", axis=-1)
    g.node("MatMul", ["weights", "present_v"], "y")
    past = ["batch", "past_len", width]
    g.save(path, [("mask", TensorProto.BOOL, ["batch", "past_len + new_len"]), ("x", TensorProto.FLOAT, ["batch", "new_len", width]),
                  ("past_k", TensorProto.FLOAT, past), ("past_v", TensorProto.FLOAT, past)],
           [(name, TensorProto.FLOAT, None) for name in ("y", "present_k", "present_v")])
