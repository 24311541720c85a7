"""If, Loop and Scan whose conditions and trips are constants, compared with ONNX Runtime:
python onnx_control.py ONNX_EVAL FOLDER"""
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper

import onnx_cases as oc
import onnx_refusal
from onnx_cases import f32, node, parse_node
from onnx_compare import check


def graph(nodes, inputs, outputs, constants=()):
    """A sub-graph; nodes as parse_node takes them, or made; inputs: name -> (type, shape)."""
    infos = [helper.make_tensor_value_info(k, t, s) for k, (t, s) in inputs.items()]
    return helper.make_graph([parse_node(n) if isinstance(n, (str, tuple)) else n for n in nodes], "body", infos,
                             [helper.make_empty_tensor_value_info(o) for o in outputs],
                             [onnx.numpy_helper.from_array(np.asarray(v), k) for k, v in dict(constants).items()])


def choose(condition, then, other, outputs="y"):
    return node("If", condition, outputs, then_branch=then, else_branch=other)


def model(nodes, inputs, constants, outputs=("y",), opset=17):
    made = oc.model([parse_node(n) if isinstance(n, (str, tuple)) else n for n in nodes], inputs,
                    dict.fromkeys(outputs), constants, opset=opset)
    for output in made.graph.output:
        output.type.tensor_type.ClearField("shape")
    return made


STEP = {"i": (TensorProto.INT64, []), "go": (TensorProto.BOOL, []), "a": (TensorProto.FLOAT, [2, 3])}
ROW = {"s": (TensorProto.FLOAT, [3]), "r": (TensorProto.FLOAT, [3])}
DOUBLE = graph(["Add x,x -> d"], {}, ["d"])
NEGATE = graph(["Neg x -> n"], {}, ["n"])


def cases():
    yes, x = np.array(True), {"x": [2, 3]}
    yield "if_then", model([choose("c", DOUBLE, NEGATE)], x, {"c": yes})
    yield "if_else", model([choose("c", DOUBLE, NEGATE)], x, {"c": ~yes})
    yield "if_shape", model(["Shape x -> s", "Gather s,k -> n", "Equal n,k2 -> c", choose("c", DOUBLE, NEGATE)], x,
                            {"k": np.int64(1), "k2": np.int64(3)})
    inner = graph([choose("c2", DOUBLE, graph(["Mul x,w -> m", "Relu m -> p"], {}, ["p"]), "t"), "Neg t -> q"], {}, ["q"],
                  {"w": f32([3])})
    yield "if_nested", model([choose("c1", inner, NEGATE)], x, {"c1": yes, "c2": ~yes})
    yield "if_captured_output", model([choose("c", graph([], {}, ["x"]), NEGATE)], x, {"c": yes})
    yield "if_constant_output", model([choose("c", graph([], {}, ["k"], {"k": f32([2])}), NEGATE)], x, {"c": yes})
    two = graph(["Add x,x -> d", "Neg x -> e"], {}, ["d", "e"])
    yield "if_two", model([choose("c", two, two, "y,z"), "Sub y,z -> w"], x, {"c": yes}, ("w",))
    wrong = graph(["MatMul x,x -> m"], {}, ["m"])  # of shapes that do not fit, but not taken
    yield "if_dead_branch", model([choose("c", DOUBLE, wrong)], x, {"c": yes})
    step = graph(["Mul a,w -> b", "Identity go -> on", ("Cast i -> f", {"to": 1}), "Add b,f -> out"], STEP, ["on", "out", "b"])
    yield "loop_for", model([node("Loop", "m,c,x", "y,rows", body=step)], x, {"m": np.int64(3), "c": yes, "w": f32([3])},
                            ("y", "rows"))
    plain = graph(["Mul a,w -> out", "Identity go -> on"], STEP, ["on", "out"])
    yield "loop_without_condition", model([node("Loop", "m,,x", "y", body=plain)], x, {"m": np.int64(2), "w": f32([3])})
    yield "loop_zero", model([node("Loop", "m,c,x", "y", body=plain), "Neg y -> z"], x,
                             {"m": np.int64(0), "c": yes, "w": f32([3])}, ("z",))
    until = graph(["Mul a,w -> out", "Less i,k -> on"], STEP, ["on", "out"])
    yield "loop_while", model([node("Loop", ",c,x", "y", body=until)], x, {"c": yes, "w": f32([3]), "k": np.int64(4)})
    for name, c in ("yes", yes), ("no", ~yes):
        made = model([choose("c", DOUBLE, NEGATE)], x, {})
        yield f"if_asked_{name}", with_flag(made), {"c": c}
        same = model([choose("c", graph([], {}, ["x"]), graph([], {}, ["x"])), "Neg y -> z"], x, {}, ("z",))
        yield f"if_same_{name}", with_flag(same), {"c": c}
        made = model([node("Loop", "m,c,x", "y", body=until)], x, {"w": f32([3]), "k": np.int64(2), "m": np.int64(3)})
        yield f"loop_asked_{name}", with_flag(made), {"c": c}
    deep_body = graph([node("Loop", "m,go,a", "o,q", body=graph(["Neg b -> e", "Add e,w -> d", "Identity h -> j"], {
        "k": STEP["i"], "h": STEP["go"], "b": STEP["a"]}, ["j", "d", "e"])), "Identity go -> on", "ReduceSum q,ax -> r"],
                      STEP, ["on", "o", "r"])
    yield "loop_nested", model([node("Loop", "m,c,x", "y,rows", body=deep_body)], x,
                               {"m": np.int64(3), "c": yes, "w": f32([3]), "ax": np.array([0])}, ("y", "rows"))
    again = graph([choose("c", graph([node("Loop", "m,c,x", "l", body=plain)], {}, ["l"]), NEGATE, "o"), "Relu o -> p"], {}, ["p"])
    yield "loop_in_branches", model([choose("c", again, NEGATE), choose("c", again, NEGATE, "z"), "Add y,z -> out"], x,
                                    {"m": np.int64(2), "c": yes, "w": f32([3])}, ("out", "y"))
    # Names of the main graph that look like those of the second trip; the same name inside and out.
    taken = graph(["Mul a,w -> b", "Neg b -> out", "Identity go -> on"], STEP, ["on", "out"])
    yield "loop_names", model(["Abs x -> b.2", node("Loop", "m,c,b.2", "y", body=taken), "Relu y -> out.2", "Exp x -> out.3",
                               "Sum out.2,out.3,y -> z"], x, {"m": np.int64(3), "c": yes, "w": f32([3])}, ("z", "y"))
    row = graph(["Add s,r -> t", "Mul t,r -> p"], ROW, ["t", "p"])
    scanning = graph([node("Scan", "z,a", "e,rows", body=row, num_scan_inputs=1), "Add rows,e -> out", "Identity go -> on"],
                     STEP, ["on", "out"])
    yield "scan_in_loop", model([node("Loop", "m,c,x", "y", body=scanning)], {"z": [3], "x": [2, 3]},
                                {"m": np.int64(3), "c": yes})
    yield "scan", model([node("Scan", "z,x", "y,rows", body=row, num_scan_inputs=1)], {"z": [3], "x": [4, 3]}, {}, ("y", "rows"))
    yield "scan_backward", model([node("Scan", "z,x", "y,rows", body=row, num_scan_inputs=1, scan_input_axes=[1],
                                       scan_input_directions=[1], scan_output_directions=[1], scan_output_axes=[1])],
                                 {"z": [3], "x": [3, 5]}, {}, ("y", "rows"))


def with_flag(made):
    made.graph.input.append(helper.make_tensor_value_info("c", TensorProto.BOOL, []))
    return made


def refused():
    """Models, the exit code and what is said."""
    x = {"x": [2, 3]}
    flag = with_flag(model([choose("c", DOUBLE, NEGATE)], x, {}))
    wide = model([choose("c", DOUBLE, graph(["Transpose x -> n"], {}, ["n"]))], x, {})
    wide = with_flag(wide)
    yield "if_shapes", wide, 3, ['node "the If" (If)', "output 0 is f32[2,3] in the then branch and f32[3,2] in the else branch", "kind: constant"]
    unheard = model([choose("c", DOUBLE, graph(["Unheard x -> m", "MatMul x,x -> n"], {}, ["n"]))], x, {})
    unheard = with_flag(unheard)
    yield "if_either", unheard, 3, ['node "the MatMul" (MatMul)']
    yield "if_float", model([choose("c", DOUBLE, NEGATE)], x, {"c": np.float32(1)}), 3, ["the condition is f32[], not one bool"]
    yield "if_missing_name", model([choose("c", graph(["Neg nowhere -> n"], {}, ["n"]), NEGATE)], x, {"c": np.array(True)}), 3, [
        'node "the If" (If)', 'its sub-graphs read "nowhere", which is not defined anywhere']
    yield "if_missing_output", model([choose("c", graph(["Neg x -> n"], {}, ["gone"]), NEGATE)], x, {"c": np.array(True)}), 3, [
        'its sub-graphs read "gone"']
    yield "if_outputs", model([choose("c", graph([], {}, []), NEGATE)], x, {"c": np.array(True)}), 3, [
        "the then branch has 0 inputs and 0 outputs, not none and 1"]
    yield "if_missing_branch", model([node("If", "c", "y", then_branch=DOUBLE)], x, {"c": np.array(True)}), 3, [
        'attribute "else_branch" is missing']
    twice = graph(["Neg x -> n", "Abs x -> n"], {}, ["n"])
    yield "if_defined_twice", model([choose("c", twice, NEGATE)], x, {"c": np.array(True)}), 3, ['"n" is defined twice']
    cycle = graph(["Neg b -> a", "Neg a -> b"], {}, ["a"])
    yield "if_cycle", model([choose("c", cycle, NEGATE)], x, {"c": np.array(True)}), 3, ["the graph has a cycle"]
    bad = graph(["MatMul x,x -> m"], {}, ["m"])
    yield "if_taken_wrong", model([choose("c", bad, NEGATE)], x, {"c": np.array(True)}), 3, ['node "the MatMul" (MatMul)']
    unknown = graph(["Unheard x -> m"], {}, ["m"])
    yield "if_operator", model([choose("c", unknown, NEGATE)], x, {"c": np.array(True)}), 3, ["operator Unheard is not supported"]
    deep = DOUBLE
    for _ in range(20):
        deep = graph([choose("c", deep, NEGATE, "t")], {}, ["t"])
    yield "if_deep", model([choose("c", deep, NEGATE)], x, {"c": np.array(True)}), 3, ["sub-graphs are nested too deeply"]
    step = graph(["Identity go -> on", "Neg a -> out"], STEP, ["on", "out"])
    trips = model([node("Loop", "m,c,x", "y", body=step)], x, {"c": np.array(True)})
    trips.graph.input.append(helper.make_tensor_value_info("m", TensorProto.INT64, []))
    yield "loop_computed", trips, 3, ['node "the Loop" (Loop)', "how many trips are made is known only when the model runs", "loops: {max_trips: N}"]
    def asked(body, outputs="y", most=3):
        """A loop that goes on while an input says so."""
        made = model([node("Loop", "m,c,x", outputs, body=body)], x, {"m": np.int64(most)}, tuple(outputs.split(",")))
        return with_flag(made)
    yield "loop_unbounded", asked(step, most=2**63 - 1), 3, ["loops: {max_trips: N}"]
    yield "loop_rows", asked(graph(["Identity go -> on", "Neg a -> out", "Abs a -> r"], STEP, ["on", "out", "r"]), "y,rows"), 3, [
        "output 1 has a row per trip, but how many trips are made is known only when the model runs"]
    turned = STEP | {"a": (TensorProto.FLOAT, ["p", "q"])}
    yield "loop_shapes", asked(graph(["Identity go -> on", "Transpose a -> out"], turned, ["on", "out"])), 3, [
        "value 0 goes into a trip as f32[2,3] and comes out as f32[3,2]"]
    yield "loop_long", model([node("Loop", "m,c,x", "y", body=step)], x, {"c": np.array(True), "m": np.int64(1 << 40)}), 3, [
        "1099511627776 trips through 2 nodes"]
    yield "loop_endless", model([node("Loop", ",c,x", "y", body=step)], x, {"c": np.array(True)}), 3, ["still runs after 64 trips"]
    yield "loop_body", model([node("Loop", "m,c", "y", body=step)], x, {"c": np.array(True), "m": np.int64(2)}), 3, [
        "the body has 3 inputs and 2 outputs, the node 2 and 1"]
    row = graph(["Add s,r -> t"], ROW, ["t"])
    yield "scan_inputs", model([node("Scan", "x,x", "y", body=row, num_scan_inputs=3)], x, {}), 3, ['"num_scan_inputs" is 3']
    yield "scan_axis", model([node("Scan", "x,x", "y", body=row, num_scan_inputs=1, scan_input_axes=[2])], x, {}), 3, [
        "axis 2 is out of range"]
    yield "scan_lengths", model([node("Scan", "x,z", "y,q", body=graph(["Add s,r -> t"], ROW, ["t", "r"]), num_scan_inputs=2)],
                                x | {"z": [4, 3]}, {}, ("y",)), 3, ["scan inputs of 2 and 4 elements"]


def run_case(tool, folder, name, made, given=()):
    given = dict(given)
    feeds = {i.name: oc.rng(name + i.name).uniform(-1, 1, [d.dim_value for d in i.type.tensor_type.shape.dim])
             .astype(np.float32) for i in made.graph.input if i.name not in given} | given
    check(tool, folder, name, made, feeds)


def all_cases(tool, folder):
    for case in cases():
        yield case[0], lambda case=case: run_case(tool, folder, *case)
    for name, made, code, texts in refused():
        yield name, lambda name=name, made=made, code=code, texts=texts: onnx_refusal.check(tool, folder, name, made, texts, code)


if __name__ == "__main__":
    sys.exit(oc.main(all_cases))
