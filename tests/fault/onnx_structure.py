"""Well-formed graphs of unusual build, imported, run and compared with ONNX Runtime:
python onnx_structure.py ONNX_EVAL FOLDER"""
import os
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

import onnx_cases as oc
from onnx_cases import f32, i64
from onnx_compare import check

CASES = {}


def graph_case(make):
    CASES[make.__name__] = make
    return make


def node(op, inputs, outputs, **attrs):
    return helper.make_node(op, inputs.split(","), outputs.split(","), **attrs)


@graph_case
def initializers_as_inputs(folder):
    made = oc.model([node("Add", "x,w", "y")], {"x": [2, 3], "w": [3]}, {"y": [2, 3]}, {"w": f32([3])}, opset=8, ir=3)
    return made, {"x": [2, 3]}


@graph_case
def constants_of_all_forms(folder):
    made = oc.model([
        helper.make_node("Constant", [], ["a"], value=numpy_helper.from_array(f32([3]))),
        helper.make_node("Constant", [], ["b"], value_float=0.5),
        helper.make_node("Constant", [], ["c"], value_floats=[1.0, -2.0, 3.0]),
        helper.make_node("Constant", [], ["d"], value_ints=[3, 2]),
        helper.make_node("Constant", [], ["e"], value_int=1),
        node("Add", "x,a", "t0"), node("Mul", "t0,b", "t1"), node("Sub", "t1,c", "t2"), node("Reshape", "t2,d", "t3"),
        node("Unsqueeze", "t3,e", "y")], {"x": [2, 3]}, {"y": [3, 1, 2]}, opset=13)
    return made, {"x": [2, 3]}


@graph_case
def constants_handed_on(folder):
    """Shape-like constants behind operators that change no element."""
    made = oc.model([
        node("Identity", "s", "s1"), node("Unsqueeze", "s1,zero", "s2"), node("Squeeze", "s2,zero", "s3"),
        node("Cast", "s3", "s4", to=TensorProto.INT64), node("Dropout", "s4", "s5"), node("Reshape", "x,s5", "y")],
        {"x": [2, 3]}, {"y": [3, 2]}, {"s": i64(3, 2), "zero": i64(0)}, opset=13)
    made.graph.node[4].op_type = "Identity"
    return made, {"x": [2, 3]}


@graph_case
def typed_data(folder):
    """Values in float_data, int64_data and int32_data instead of raw_data."""
    made = oc.model([node("Add", "x,w", "t"), node("Reshape", "t,s", "r"), node("Dropout", "r,,training", "y")],
                    {"x": [2, 3]}, {"y": [3, 2]}, opset=13)
    made.graph.initializer.extend([
        helper.make_tensor("w", TensorProto.FLOAT, [3], [1.5, -2.5, 0.25]),
        helper.make_tensor("s", TensorProto.INT64, [2], [-1, 2]),
        helper.make_tensor("training", TensorProto.BOOL, [], [0])])
    assert not made.graph.initializer[0].raw_data
    return made, {"x": [2, 3]}


@graph_case
def diamond_of_two_outputs(folder):
    made = oc.model([node("Relu", "x", "a"), node("Neg", "a", "b"), node("Exp", "a", "c"), node("Add", "b,c", "d")],
                    {"x": [2, 3]}, {"d": [2, 3], "a": [2, 3]})
    return made, {"x": [2, 3]}


@graph_case
def dead_nodes_and_constants(folder):
    made = oc.model([node("Relu", "x", "y"), node("NonMaxSuppression", "x,w", "z"), node("Exp", "x", "e")],
                    {"x": [2, 3]}, {"y": [2, 3]}, {"w": f32([3]), "unused": i64(1)})
    plain = oc.model([node("Relu", "x", "y")], {"x": [2, 3]}, {"y": [2, 3]})
    return made, {"x": [2, 3]}, plain


@graph_case
def nodes_out_of_order(folder):
    made = oc.model([node("Exp", "b", "y"), node("Neg", "a", "b"), node("Relu", "x", "a")], {"x": [2, 3]}, {"y": [2, 3]})
    plain = oc.model([node("Relu", "x", "a"), node("Neg", "a", "b"), node("Exp", "b", "y")], {"x": [2, 3]}, {"y": [2, 3]})
    return made, {"x": [2, 3]}, plain


@graph_case
def unnamed_nodes_and_odd_names(folder):
    made = oc.model([node("Relu", "image:0", "a b/ü*/"), node("Exp", "a b/ü*/", '{"1": "y"}')],
                    {"image:0": [2, 3]}, {'{"1": "y"}': [2, 3]})
    return made, {"image:0": [2, 3]}


@graph_case
def shared_weight(folder):
    made = oc.model([node("Conv", "x,w,b", "a"), node("Conv", "a,w,b", "y")], {"x": [1, 3, 9]}, {"y": [1, 3, 5]},
                    {"w": f32([3, 3, 3]), "b": f32([3])})
    return made, {"x": [1, 3, 9]}


@graph_case
def value_infos(folder):
    made = oc.model([node("Relu", "x", "a"), node("Exp", "a", "y")], {"x": [2, 3]}, {"y": ["rows", 3]},
                    infos=[oc.tensor_info("a", [None, "columns"]), oc.tensor_info("nothing", [1])])
    return made, {"x": [2, 3]}


@graph_case
def empty_declared_shape(folder):
    """Exporters that write a shape without dims where they mean an unknown one."""
    made = oc.model([node("Relu", "x", "y")], {"x": [2, 3]}, {"y": []})
    return made, {"x": [2, 3]}


@graph_case
def outputs_without_elements(folder):
    """What is cut off is returned, handed on and made of nothing; a weight without elements is returned as it is."""
    made = oc.model([node("Relu", "x", "y"), node("Slice", "x,four,four,one", "cut"), node("Identity", "cut", "same")],
                    {"x": [2, 4]}, {"y": [2, 4], "cut": [2, 0], "same": [2, 0], "w": [0, 3]},
                    {"four": i64(4), "one": i64(1), "w": np.zeros((0, 3), np.float32)})
    return made, {"x": [2, 4]}


@graph_case
def domain_spelled_out(folder):
    made = oc.model([node("Relu", "x", "y", domain="ai.onnx")], {"x": [2]}, {"y": [2]})
    return made, {"x": [2]}


@graph_case
def unused_function_and_opset(folder):
    made = oc.model([node("Relu", "x", "y")], {"x": [2]}, {"y": [2]}, functions=[
        helper.make_function("custom", "F", ["a"], ["b"], [node("Exp", "a", "b")], [helper.make_opsetid("", 17)])])
    made.opset_import.append(helper.make_opsetid("custom", 1))
    return made, {"x": [2]}


def function(name, nodes, inputs, outputs, attributes=(), defaults=(), domain="custom"):
    return helper.make_function(domain, name, inputs.split(","), outputs.split(","), nodes,
                                [helper.make_opsetid("", 17), helper.make_opsetid("custom", 1)], attributes=list(attributes), attribute_protos=list(defaults))


def referring(made, attribute, parameter):
    """A node whose attribute takes the function's parameter."""
    made.attribute.append(onnx.AttributeProto(name=attribute, ref_attr_name=parameter, type=onnx.AttributeProto.FLOAT))
    return made


@graph_case
def function_overloads(folder):
    """The overload is part of a function's name."""
    functions = [function("F", [node("Exp", "a", "b")], "a", "b"), function("F", [node("Neg", "a", "b")], "a", "b")]
    functions[1].overload = "minus"
    made = oc.model([node("F", "x", "t", domain="custom", overload="minus"), node("F", "t", "y", domain="custom")],
                    {"x": [2, 3]}, {"y": [2, 3]}, functions=functions)
    made.opset_import.append(helper.make_opsetid("custom", 1))
    plain = oc.model([node("Neg", "x", "t"), node("Exp", "t", "y")], {"x": [2, 3]}, {"y": [2, 3]})
    return made, {"x": [2, 3]}, plain


@graph_case
def unsigned_wraps(folder):
    """Of unsigned constants the low bits stay, as in numpy; casts reach to the ends of their types."""
    made = oc.model([node("Mul", "a,b", "p"), node("Cast", "p", "q", to=TensorProto.INT64), node("Cast", "f", "g", to=TensorProto.UINT8),
                     node("Cast", "g", "h", to=TensorProto.INT64), node("Sub", "h,c", "i"), node("Mul", "q,i", "s"), node("Reshape", "x,s", "y")],
                    {"x": [2, 3]}, {"y": [3, 2]}, {"a": np.array([3 * pow(5, -1, 1 << 32) % (1 << 32), 1], np.uint32),
                                                   "b": np.array([5, 2], np.uint32), "f": np.array([255.9, -0.5], np.float32), "c": i64(254, -1)}, opset=14)
    return made, {"x": [2, 3]}


@graph_case
def functions_within_functions(folder):
    inner = function("Scaled", [node("Relu", "a", "t"), node("Mul", "t,s", "r")], "a,s", "r")
    outer = function("Pair", [node("Scaled", "p,s", "t", domain="custom"), node("Scaled", "t,s", "u", domain="custom"),
                              node("Neg", "t", "v")], "p,s", "u,v")
    made = oc.model([node("Pair", "x,w", "t,u", domain="custom"), node("Pair", "u,w", "q,", domain="custom"),
                     node("Add", "t,q", "y")], {"x": [2, 3]}, {"y": [2, 3]}, {"w": f32([3])}, functions=[outer, inner])
    made.opset_import.append(helper.make_opsetid("custom", 1))
    return made, {"x": [2, 3]}


@graph_case
def function_attributes(folder):
    leaky = function("Leaky", [referring(node("LeakyRelu", "a", "b"), "alpha", "slope")], "a", "b",
                     defaults=[helper.make_attribute("slope", 0.25)])
    plain = function("Plain", [referring(node("LeakyRelu", "a", "b"), "alpha", "slope")], "a", "b", attributes=["slope"])
    made = oc.model([node("Leaky", "x", "p", domain="custom"), node("Leaky", "x", "q", domain="custom", slope=0.5),
                     node("Plain", "x", "r", domain="custom"), node("Max", "p,q,r", "m"), node("Sub", "m,q", "y")],
                    {"x": [2, 3]}, {"y": [2, 3]}, functions=[leaky, plain])
    same = oc.model([node("LeakyRelu", "x", "p", alpha=0.25), node("LeakyRelu", "x", "q", alpha=0.5), node("LeakyRelu", "x", "r"),
                     node("Max", "p,q,r", "m"), node("Sub", "m,q", "y")], {"x": [2, 3]}, {"y": [2, 3]})
    return made, {"x": [2, 3]}, same


@graph_case
def function_hands_its_input_on(folder):
    made = oc.model([node("Both", "x", "p,q", domain="custom"), node("Sub", "p,q", "y")], {"x": [2, 3]}, {"y": [2, 3]},
                    functions=[function("Both", [node("Exp", "a", "b")], "a", "a,b")])
    same = oc.model([node("Exp", "x", "q"), node("Sub", "x,q", "y")], {"x": [2, 3]}, {"y": [2, 3]})
    return made, {"x": [2, 3]}, same


@graph_case
def function_over_a_known_operator(folder):
    made = oc.model([node("Relu", "x", "y")], {"x": [2, 3]}, {"y": [2, 3]},
                    functions=[function("Relu", [node("Exp", "a", "b")], "a", "b", domain="")])
    return made, {"x": [2, 3]}, oc.model([node("Exp", "x", "y")], {"x": [2, 3]}, {"y": [2, 3]})


@graph_case
def external_data(folder):
    """Two tensors in one file, one in another in a folder below."""
    w, v, u = f32([3]), f32([2, 3]), f32([1])
    os.makedirs(os.path.join(folder, "below"), exist_ok=True)
    with open(os.path.join(folder, "weights.bin"), "wb") as f:
        f.write(b"\0" * 4096 + w.tobytes() + v.tobytes())
    with open(os.path.join(folder, "below", "u.bin"), "wb") as f:
        f.write(u.tobytes())
    made = oc.model([node("Add", "x,w", "a"), node("Mul", "a,v", "b"), node("Sub", "b,u", "y")], {"x": [2, 3]},
                    {"y": [2, 3]})
    for name, value, location, offset in [("w", w, "weights.bin", 4096), ("v", v, "weights.bin", 4108),
                                          ("u", u, "below/u.bin", None)]:
        tensor = made.graph.initializer.add(name=name, data_type=TensorProto.FLOAT, dims=value.shape,
                                            data_location=TensorProto.EXTERNAL)
        pairs = {"location": location, "length": value.nbytes}
        if offset is not None:
            pairs["offset"] = offset
        for key, entry in pairs.items():
            tensor.external_data.add(key=key, value=str(entry))
    plain = onnx.ModelProto()
    plain.CopyFrom(made)
    del plain.graph.initializer[:]
    plain.graph.initializer.extend([numpy_helper.from_array(a, n) for a, n in [(w, "w"), (v, "v"), (u, "u")]])
    return made, {"x": [2, 3]}, plain


@graph_case
def half_precision_unused(folder):
    made = oc.model([node("Relu", "x", "y"), node("Identity", "h", "z")], {"x": [2]}, {"y": [2]},
                    {"h": np.ones([3], np.float16)})
    return made, {"x": [2]}


def run_case(tool, folder, name, make):
    made, shapes, *plain = make(folder)
    feeds = {k: oc.rng(name).uniform(-2, 2, shape).astype(np.float32) for k, shape in shapes.items()}
    check(tool, folder, name, made, feeds, reference_model=plain[0] if plain else None)


def all_cases(tool, folder):
    for name, make in CASES.items():
        yield name, lambda name=name, make=make: run_case(tool, folder, name, make)


if __name__ == "__main__":
    sys.exit(oc.main(all_cases))
