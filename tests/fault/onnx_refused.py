"""Operators, inputs, shapes and constants that infc must refuse, each with its exit code and what the message says;
onnx_malformed.py has what is no whole model: python onnx_refused.py ONNX_EVAL FOLDER [CASE]"""
import sys

import numpy as np
from onnx import TensorProto, helper

import onnx_cases as oc
from onnx_cases import f32, i64, node
from onnx_refusal import SPEC, Table, changed, one, weight

CASES = Table()
case = CASES.case

# ---- operators: all at once ----
case("unknown_operators", oc.model(
    [node("NonMaxSuppression", "x", "a"), node("NonMaxSuppression", "a", "b"), node("NonZero", "b", "c", equation="ab->ba"),
     node("Relu", "c", "d"), node("Softmax", "d", "y", axis=7)], {"x": [2, 3]}, {"y": [2, 3]}),
     "operator NonMaxSuppression is not supported", "(2 nodes, first \"the NonMaxSuppression\")", "operator NonZero is not supported", "(1 node,")
case("other_domain", oc.model([node("FusedConv", "x", "y", domain="com.microsoft")], {"x": [2]}, {"y": [2]}),
     "operator com.microsoft::FusedConv is not supported")


def function(name, nodes, opset=17, domain="custom", inputs="a", outputs="b", **more):
    return helper.make_function(domain, name, inputs.split(","), outputs.split(","), nodes, [helper.make_opsetid("", opset)], **more)


case("function_recursive", oc.model([node("F", "x", "y", domain="custom")], {"x": [2]}, {"y": [2]}, functions=[
    function("F", [node("G", "a", "b", domain="custom")]), function("G", [node("F", "a", "b", domain="custom")])]),
     "function custom::F calls itself")
case("function_opset", oc.model([node("F", "x", "y", domain="custom")], {"x": [2]}, {"y": [2]},
                                functions=[function("F", [node("Exp", "a", "b")], opset=13)]), "uses another opset than the model")
case("function_inputs", oc.model([node("F", "x,x", "y", domain="custom")], {"x": [2]}, {"y": [2]},
                                 functions=[function("F", [node("Exp", "a", "b")])]), "more inputs or outputs than it has")
case("function_missing_result", oc.model([node("F", "x", "y", domain="custom")], {"x": [2]}, {"y": [2]},
                                         functions=[function("F", [node("Exp", "a", "c")])]), 'graph output "y" is not defined')
case("function_left_out_input", oc.model([node("F", "x", "y", domain="custom")], {"x": [2]}, {"y": [2]}, functions=[
    function("F", [node("Add", "a,c", "b")], inputs="a,c")]), "input 1 must not be left out")
case("function_growth", oc.model([node("F0", "x", "y", domain="custom")], {"x": [2]}, {"y": [2]}, functions=[
    function(f"F{i}", [node(f"F{i + 1}", "a", "c", domain="custom"), node(f"F{i + 1}", "c", "b", domain="custom")]) for i in range(40)] +
    [function("F40", [node("Exp", "a", "b")])]), "when it is inlined")
case("function_twice", oc.model([node("Relu", "x", "y")], {"x": [2]}, {"y": [2]}, functions=[
    function("F", [node("Exp", "a", "b")]), function("G", [node("Exp", "a", "b")]), function("F", [node("Neg", "a", "b")])]),
     "function custom::F is defined twice, as functions 0 and 2 of the model")
case("function_overload_twice", oc.model([node("Relu", "x", "y")], {"x": [2]}, {"y": [2]}, functions=[
    function("F", [node("Exp", "a", "b")], overload="q"), function("F", [node("Neg", "a", "b")], overload="q")]),
     "function custom::F:q is defined twice")
case("function_overload_unknown", oc.model([node("F", "x", "y", domain="custom", overload="r")], {"x": [2]}, {"y": [2]}, functions=[
    function("F", [node("Exp", "a", "b")], overload="q")]), "operator custom::F is of a domain that infc does not know")
branch = helper.make_graph([node("Relu", "x", "z")], "b", [], [oc.tensor_info("z", [2])])
case("sub_graph", oc.model([node("If", "c", "y", then_branch=branch, else_branch=branch)], {"x": [2], "c": []}, {"y": [2]}),
     "the condition is f32[], not one bool")
case("graph_attribute", oc.model([node("Relu", "x", "y", body=branch)], {"x": [2]}, {"y": [2]}),
     'attribute "body" is a graph; sub-graphs are not supported')
case("training_info", changed(lambda m: m.training_info.add()), "training information")
case("sparse_initializer", changed(lambda m: m.graph.sparse_initializer.add()), "sparse initializers are not supported")
case("quantization_annotation", changed(lambda m: m.graph.quantization_annotation.add()), "quantization annotations")
case("no_inputs", oc.model([helper.make_node("Relu", [], ["y"], name="n")], {"x": [2]}, {"y": [2]}),
     "has 0 inputs; in opset 17 it takes 1\n")
case("one_input", oc.model([node("Add", "x", "y")], {"x": [2]}, {"y": [2]}), "has 1 input; in opset 17 it takes 2\n")
case("output_undefined", oc.model([node("Relu", "x", "z")], {"x": [2]}, {"y": [2]}), 'graph output "y" is not defined', "!depends on")
case("left_out_input", oc.model([node("Add", "x,", "y")], {"x": [2]}, {"y": [2]}), "input 1 must not be left out")
case("too_many_inputs", oc.model([node("Relu", "x,x", "y")], {"x": [2]}, {"y": [2]}), "has 2 inputs")
case("too_many_outputs", oc.model([node("Relu", "x", "y,z")], {"x": [2]}, {"y": [2]}), "has 2 outputs")
case("axes_input_before_its_opset", one("ReduceSum", [[2, 3]], [i64(0)], opset=11), "in opset 11 it takes 1\n")
case("unknown_attribute", one("Relu", [[2]], alpha=0.5), 'attribute "alpha" does not exist in opset 17')
case("attribute_of_another_opset", one("ReduceMean", [[2, 3]], opset=18, axes=[0]), 'attribute "axes" does not exist in opset 18')
case("attribute_of_wrong_type", one("Softmax", [[2]], axis=1.0), 'attribute "axis" is of the wrong type')
case("attribute_twice", one("Softmax", [[2]], axis=0), 'attribute "axis" is given twice')
CASES["attribute_twice"][0].graph.node[0].attribute.append(CASES["attribute_twice"][0].graph.node[0].attribute[0])
case("attribute_reference", one("Softmax", [[2]], axis=0), "refers to a parameter of a function")
CASES["attribute_reference"][0].graph.node[0].attribute[0].ref_attr_name = "a"
case("all_at_once", oc.model(
    [node("Softmax", "x,x", "a", axis=1), node("NonMaxSuppression", "x", "b"), node("Flatten", "x", "c", axis=9), node("Clip", "q", "d"),
     node("Max", "a,b,c,d", "y")], {"x": [2, "n"], "q": [1]}, {"y": [2, 3]}, {"w": np.array(["s"], object)}),
     'node "the Softmax" (Softmax): has 2 inputs', "operator NonMaxSuppression", '"n" (axis 1 of input "x")', "shapes: {n: 1}")

# ---- inputs ----
for name, dtype, text in [("float64", TensorProto.DOUBLE, "double"), ("complex64", TensorProto.COMPLEX64, "complex64"),
                          ("string", TensorProto.STRING, "string"), ("unknown", 99, "type 99 (unknown)")]:
    case("input_" + name, changed(lambda m: setattr(m.graph.input[0].type.tensor_type, "elem_type", dtype)),
         f'input "x" is {text}; float, bool, int64 and shorter integer inputs')
case("input_no_type", changed(lambda m: m.graph.input[0].ClearField("type")), 'input "x" has no element type')
case("input_no_shape", changed(lambda m: m.graph.input[0].type.tensor_type.ClearField("shape")), 'input "x" has no shape')
case("input_sequence", changed(lambda m: m.graph.input[0].type.sequence_type.elem_type.tensor_type.SetInParent()),
     "only tensors are supported")
case("input_rank_9", changed(lambda m: [m.graph.input[0].type.tensor_type.shape.dim.add(dim_value=1) for _ in range(7)]),
     "has 9 dimensions; at most 8")
case("input_zero", oc.model([node("Relu", "x", "y")], {"x": [0, 3]}, {"y": [0, 3]}), 'input "x": dimension 0 is 0')
case("input_negative", oc.model([node("Relu", "x", "y")], {"x": [-7, 3]}, {"y": None}), 'input "x": dimension 0 is -7')
case("input_absurd", oc.model([node("Relu", "x", "y")], {"x": [1 << 40, 1 << 40]}, {"y": None}), "too many elements")
case("input_absurd_2", oc.model([node("Relu", "x", "y")], {"x": [(1 << 63) - 1] * 8}, {"y": None}), "too many elements")

free = oc.model([node("Add", "x,z", "y")], {"x": ["batch", 3, None], "z": ["batch", 1, "w-h"]}, {"y": None})
case("open_dims", free, 'dimensions "batch" (axis 0 of input "x", axis 0 of input "z"), "x.2" (axis 2 of input "x"), "w-h" (axis 2 of input "z")',
     'add   shapes: {batch: 1, "x.2": 1, "w-h": 1}   to the spec', code=SPEC)
case("open_dims_left", free, '"w-h"', 'put   shapes: {batch: 4, "x.2": 1, "w-h": 1}   into the spec', code=SPEC, dims=["batch=4"])
case("open_minus_one", oc.model([node("Relu", "x", "y")], {"x": [-1, 3]}, {"y": None}), '"x.0"', code=SPEC)
case("dim_unused", changed(lambda m: None), 'the model has no dimension "x.2"; did you mean "x.0"?', code=SPEC, dims=["x.2=4"])
case("dim_alone", oc.model([node("Exp", "x", "y")], {"x": ["batch", 3]}, {"y": ["batch", 3]}), 'the model has no dimension "foo"; it has "batch"\n', code=SPEC, dims=["batch=1", "foo=3"])
case("dim_misspelt", free, 'the model has no dimension "bacth"; did you mean "batch"?', code=SPEC, dims=["bacth=2"])
case("dim_conflict", changed(lambda m: None), "x.0 is 4 here, but dimension 0 of input \"x\" is 2 by the model", code=SPEC,
     dims=["x.0=4"])
case("dim_two_numbers", free, "is 3 by x.0", code=SPEC, dims=["batch=2", "x.0=3", "x.2=1", "w-h=1"])
case("dim_zero", free, "batch must be at least 1, not 0", code=SPEC, dims=["batch=0", "x.2=1", "w-h=1"])
case("dim_negative", free, "batch must be at least 1, not -3", code=SPEC, dims=["batch=-3", "x.2=1", "w-h=1"])

# ---- declared and computed shapes ----
case("declared_output", changed(lambda m: setattr(m.graph.output[0].type.tensor_type.shape.dim[1], "dim_value", 4)),
     '"y" is declared [2,4], but its shape is f32[2,3]')
case("declared_rank", changed(lambda m: m.graph.output[0].type.tensor_type.shape.dim.add(dim_value=1)),
     '"y" is declared [2,3,1], but its shape is f32[2,3]')
case("declared_type", changed(lambda m: setattr(m.graph.output[0].type.tensor_type, "elem_type", TensorProto.INT64)),
     '"y" is declared int64, but is f32')
case("declared_info", oc.model([node("Relu", "x", "a"), node("Exp", "a", "y")], {"x": [2, 3]}, {"y": [2, 3]},
                               infos=[oc.tensor_info("a", ["n", 5])]),
     'node "the Relu" (Relu): "a" is declared [n,5], but its shape is f32[2,3]')
case("declared_bound_dim", oc.model([node("Relu", "x", "y")], {"x": ["n", 3]}, {"y": [3, "n"]}),
     '"y" is declared [3,n], but its shape is f32[2,3]', dims=["n=2"])
case("declared_initializer", oc.model([node("Add", "x,w", "y")], {"x": [2, 3], "w": [4]}, {"y": [2, 3]}, {"w": f32([3])}),
     'initializer "w": "w" is declared [4], but its shape is f32[3]')
case("attention_heads", one("Attention", [[1, 2, 8]] * 3, opset=23, q_num_heads=3, kv_num_heads=3), '"q_num_heads" that divides the last')
case("attention_softcap", one("Attention", [[1, 2, 4, 8]] * 3, opset=23, softcap=2.0), '"softcap" is not supported')
case("attention_cache", one("Attention", [[1, 2, 4, 8]] * 3 + [[4, 4]] + [[1, 2, 3, 8]] * 2, opset=23), "input 4, of a cache")
case("attention_wide", one("Attention", [[1, 1, 2, 300]] * 3, opset=23), '"dims" holds 300')
case("attention_batch", one("Attention", [[1, 2, 4, 8], [2, 2, 4, 8], [2, 2, 4, 8]], opset=23), "does not fit the others")
case("attention_mask_shape", one("Attention", [[1, 2, 4, 8]] * 3 + [[3, 4]], opset=23), "does not broadcast to the scores")
case("rotary_odd", one("RotaryEmbedding", [[1, 2, 4, 7], [4, 3], [4, 3]], opset=23), "7 of 7 columns cannot be rotated")
case("rotary_angles", one("RotaryEmbedding", [[1, 2, 4, 8], [4, 3], [4, 3]], opset=23), "angles for 1 x 4 positions of 4")
case("double_output", oc.model([node("Relu", "x", "y")], {"x": [2]}, {"y": [2]}, {"i": np.ones(1)}), 'output "i" is f64')
CASES["double_output"][0].graph.output.append(oc.tensor_info("i", [1], TensorProto.DOUBLE))
case("relu_integers", one("Relu", [ints := np.array([1])]), "operand 0 is i64; only f32 is supported")
case("and_integers", one("And", [ints, ints]), 'operand 0 is i64; "and" takes bool')
case("less_mixed", one("Less", [ints, np.array([1], np.int32)]), "operands of i64 and i32")
case("where_mixed", one("Where", [np.array([True]), ints, [1]]), "operands of bool, i64 and f32")
case("where_condition", one("Where", [[1], [1], [1]]), "operands of f32, f32 and f32")
case("mod_float", one("Mod", [[2], [2]], fmod=1), 'mod')

# ---- constants ----
case("raw_short", weight(lambda t: setattr(t, "raw_data", t.raw_data[:-1])), 'initializer "w": raw_data has 11 bytes, but the shape needs 12')
case("raw_long", weight(lambda t: setattr(t, "raw_data", t.raw_data + b"\0")), "raw_data has 13 bytes")
case("raw_absent", weight(lambda t: t.ClearField("raw_data")), "0 values, but the shape needs 3")
case("weight_negative", weight(lambda t: t.dims.__setitem__(0, -3)), "dimension 0 is negative: -3")
case("weight_absurd", weight(lambda t: t.dims.extend([1 << 40, 1 << 40])), "too many elements")
case("weight_absurd_zero", weight(lambda t: t.dims.extend([1 << 62, 0, 1 << 62])), "too many elements")
case("weight_rank_9", weight(lambda t: t.dims.extend([1] * 8)), "a tensor of 9 dimensions")
case("weight_rank_100000", weight(lambda t: t.dims.extend([1] * 100000)), "a tensor of 100001 dimensions")
case("weight_large", weight(lambda t: t.dims.__setitem__(0, 1 << 39)), "raw_data has 12 bytes")
case("weight_string", weight(lambda t: setattr(t, "data_type", TensorProto.STRING)), "tensors of type string are not supported")
case("weight_int4", weight(lambda t: setattr(t, "data_type", TensorProto.INT4)), "tensors of type int4 are not supported")
case("weight_unknown_type", weight(lambda t: setattr(t, "data_type", 77)), "tensors of type 77 (unknown) are not supported", "!type type")
case("weight_segment", weight(lambda t: t.segment.SetInParent()), "in segments")
case("weight_f64", oc.model([node("Add", "x,w", "y")], {"x": [3]}, {"y": [3]}, {"w": np.ones(3)}),
     'input 1, "w", is f64; only f32 is computed with so far')
case("weight_empty", oc.model([node("Add", "x,w", "y")], {"x": [1]}, {"y": [0]}, {"w": f32([0])}), "has no elements")
case("constant_strings", oc.model([node("Constant", "", "c", value_strings=["a"]), node("Add", "x,c", "y")], {"x": [1]}, {"y": [1]}),
     'node "the Constant" (Constant): attribute "value_strings" is not supported')
case("constant_none", oc.model([node("Constant", "", "c"), node("Add", "x,c", "y")], {"x": [1]}, {"y": [1]}), "needs one output and one attribute")
case("constant_two", oc.model([node("Constant", "", "c", value_int=1, value_float=1.0), node("Add", "x,c", "y")], {"x": [1]}, {"y": [1]}),
     "needs one output and one attribute")

# ---- operators ----
case("conv_3d", one("Conv", [[1, 2, 3, 4, 5]], [f32([1, 2, 1, 1, 1])]), "3-D is not supported; 1-D and 2-D are")
case("conv_ranks", one("Conv", [[1, 2, 3, 4]], [f32([1, 2, 1])]), "the input is f32[1,2,3,4], the weight f32[1,2,1]")
case("conv_channels", one("Conv", [[1, 2, 3, 4]], [f32([1, 3, 1, 1])]), "input channels per group")
case("conv_groups", one("Conv", [[1, 4, 3, 4]], [f32([3, 2, 1, 1])], group=2), "groups do not divide")
case("conv_group_zero", one("Conv", [[1, 4, 3, 4]], [f32([3, 2, 1, 1])], group=0), "groups do not divide")
case("conv_bias", one("Conv", [[1, 2, 3, 4]], [f32([1, 2, 1, 1]), f32([2])]), "the bias is f32[2], but there are 1 output channels")
case("conv_kernel_shape", one("Conv", [[1, 2, 3, 4]], [f32([1, 2, 1, 1])], kernel_shape=[2, 1]), "has 2 where the weight has 1")
case("conv_negative_pads", one("Conv", [[1, 2, 3, 4]], [f32([1, 2, 1, 1])], pads=[-1, 0, 0, 0]), 'attribute "pads" has -1')
case("conv_pads_count", one("Conv", [[1, 2, 3, 4]], [f32([1, 2, 1, 1])], pads=[1, 1]), 'attribute "pads" has 2 numbers, not 4')
case("conv_stride_zero", one("Conv", [[1, 2, 3, 4]], [f32([1, 2, 1, 1])], strides=[0, 1]), 'attribute "strides" has 0')
case("conv_huge_pads", one("Conv", [[1, 2, 3, 4]], [f32([1, 2, 1, 1])], pads=[1 << 62] * 4), 'attribute "pads" has 4611686018427387904')
case("conv_too_large", one("Conv", [[1, 2, 3, 4]], [f32([1, 2, 5, 5])]), "larger than the padded image")
case("conv_auto_pad", one("Conv", [[1, 2, 3, 4]], [f32([1, 2, 1, 1])], auto_pad="SOME"), '"auto_pad" must be NOTSET')
case("conv_both_pads", one("Conv", [[1, 2, 3, 4]], [f32([1, 2, 1, 1])], auto_pad="VALID", pads=[1, 1, 1, 1]), "exclude each other")
case("pool_no_kernel", one("MaxPool", [[1, 2, 3, 4]]), 'attribute "kernel_shape" is missing')
case("pool_pads", one("MaxPool", [[1, 2, 3, 4]], kernel_shape=[2, 2], pads=[3, 0, 0, 0]), "must be smaller than the window")
case("pool_ceil_mode", one("MaxPool", [[1, 2, 3, 4]], kernel_shape=[2, 2], ceil_mode=2), 'attribute "ceil_mode" is 2, not 0 or 1')
case("pool_rank", one("MaxPool", [[2, 3]], kernel_shape=[2]), "has 2 dimensions; it needs a batch")
case("pool_ceil_include", one("AveragePool", [[1, 2, 8, 8]], kernel_shape=[3, 3], strides=[2, 2], ceil_mode=1, count_include_pad=1),
     "ceil_mode with count_include_pad")
case("pool_indices", oc.model([node("MaxPool", "x", "y,i", kernel_shape=[2, 2])], {"x": [1, 1, 4, 4]}, {"y": [1, 1, 3, 3]}),
     "the indices of the maxima")
CASES["pool_indices"][0].graph.output.append(oc.tensor_info("i", [1, 1, 3, 3], TensorProto.INT64))
case("batchnorm_training", one("BatchNormalization", [[1, 2, 3]], [f32([2])] * 4, training_mode=1), "training_mode is not supported")
case("batchnorm_spatial", one("BatchNormalization", [[1, 2, 3]], [f32([2])] * 4, opset=7, spatial=0), "spatial=0 is not supported")
case("batchnorm_channels", one("BatchNormalization", [[1, 2, 3]], [f32([3])] * 4), "but there are 2 channels")
case("batchnorm_rank1", one("BatchNormalization", [[2]], [f32([2])] * 4), "without a channel dimension")
case("dropout_training", one("Dropout", [[2]], [np.float32(0.5), np.array(True)]), "training_mode must be a constant false")
case("dropout_mask", oc.model([node("Dropout", "x", "y,m")], {"x": [2]}, {"y": [2]}), "the mask, is not supported")
CASES["dropout_mask"][0].graph.output.append(oc.tensor_info("m", [2], TensorProto.BOOL))
case("clip_bound", one("Clip", [[2]], [f32([2])]), "has more than one element")
case("clip_int", one("Clip", [[2]], [i64(1)]), 'operand 1 is f32; "max" takes integers')
case("broadcast", one("Add", [[2, 3], [4]]), "do not broadcast")
case("matmul_inner", one("MatMul", [[2, 3], [4, 5]]), "inner dimensions 3 and 4 differ")
case("matmul_scalar", one("MatMul", [[], [4, 5]]), "a scalar cannot be multiplied")
case("gemm_rank", one("Gemm", [[2, 3, 4], [4, 5]]), 'input 0, "x0", has 3 dimensions, not 2')
case("gemm_c", one("Gemm", [[2, 3], [3, 5], [3, 5]]), "does not broadcast to the product, f32[2,5]")
case("gemm_c_larger", one("Gemm", [[1, 3], [3, 5], [4, 5]]), "does not broadcast to the product")
case("reduce_axis", one("ReduceSum", [[2, 3]], [i64(2)]), "axis 2 is out of range for 2 dimensions")
case("reduce_axis_twice", one("ReduceSum", [[2, 3]], [i64(1, -1)]), "axis 1 is given twice")
case("reduce_axes_many", one("ReduceMax", [[2, 3]], axes=[0] * 1000), 'attribute "axes" has 1000 axes')
case("reduce_axes_computed", oc.model([node("Relu", "a", "b"), node("ReduceSum", "x,b", "y")], {"x": [2], "a": [1]}, {"y": None}),
     'must be a constant, but is computed by node "the Relu" (Relu)')
case("reduce_axes_input", oc.model([node("ReduceSum", "x,a", "y")], {"x": [2], "a": [1]}, {"y": None}),
     "is computed by the caller, as a graph input")
case("reshape_count", one("Reshape", [[2, 3]], [i64(4, 2)]), "the new shape has 8 elements, the input 6")
case("reshape_open", one("Reshape", [[2, 3]], [i64(4, -1)]), "6 elements cannot be shared out over rows of 4")
case("reshape_two_open", one("Reshape", [[2, 3]], [i64(-1, -1)]), "-1 more than once")
case("reshape_negative", one("Reshape", [[2, 3]], [i64(-2, 3)]), "the new shape has -2")
case("reshape_keep", one("Reshape", [[2, 3]], [i64(2, 3, 0)]), "keeps dimension 2, which the input does not have")
case("reshape_overflow", one("Reshape", [[2, 3]], [i64(1 << 62, 1 << 62)]), "too many elements")
case("reshape_zero_open", one("Reshape", [[2, 3]], [i64(0, -1)], allowzero=1), "cannot be shared out")
case("reshape_rank_9", one("Reshape", [[2, 3]], [i64(1, 1, 1, 1, 1, 1, 1, 2, 3)]), "has 9 elements; at most 8")
case("reshape_float", one("Reshape", [[2, 3]], [f32([2])]), 'input 1, "c0", is f32, not int64')
case("reshape_matrix", one("Reshape", [[2, 3]], [np.ones((1, 2), np.int64)]), "has 2 dimensions, not 1")
case("flatten_axis", one("Flatten", [[2, 3]], axis=3), "axis 3 is out of range")
case("squeeze_axis", one("Squeeze", [[2, 3]], [i64(0)]), "axis 0 is 2 long, not 1")
case("unsqueeze_axis", one("Unsqueeze", [[2, 3]], [i64(5)]), "axis 5 is out of range for 3 dimensions")
case("unsqueeze_twice", one("Unsqueeze", [[2, 3]], [i64(1, 1)]), "axis 1 is given twice")
case("unsqueeze_rank_9", one("Unsqueeze", [[1] * 7], [i64(0, 1)]), "has 9 dimensions")
case("unsqueeze_missing", one("Unsqueeze", [[2, 3]], opset=11), 'attribute "axes" is missing')
case("transpose_perm", one("Transpose", [[2, 3]], perm=[0, 0]), "not an order of the 2 axes")
case("transpose_count", one("Transpose", [[2, 3]], perm=[0, 1, 2]), "has 3 axes for 2 dimensions")
case("transpose_huge", one("Transpose", [[2, 3]], perm=[1 << 40, -1]), "not an order of the 2 axes")
case("softmax_axis", one("Softmax", [[2, 3]], axis=2), "axis 2 is out of range")
case("softmax_scalar", one("Softmax", [[]]), "axis -1 is out of range for 0 dimensions")
case("slice_step", one("Slice", [[4]], [i64(0), i64(4), i64(0), i64(0)]), "the step along axis 0 is 0")
case("slice_axis", one("Slice", [[4]], [i64(0), i64(4), i64(1)]), "axis 1 is out of range")
case("slice_axis_twice", one("Slice", [[4, 4]], [i64(0, 0), i64(4, 4), i64(1, -1)]), "axis 1 is given twice")
case("slice_counts", one("Slice", [[4, 4]], [i64(0, 0), i64(4)]), "2 starts, 1 ends")
case("slice_many", one("Slice", [[4]], [i64(0, 0), i64(4, 4)]), "2 starts, 2 ends, 0 axes, 0 steps for 1 dimensions")
case("slice_attr_missing", one("Slice", [[4]], opset=9, starts=[0]), '"starts" and "ends" are needed')
case("slice_computed", oc.model([node("Slice", "x,s,e", "y")], {"x": [4], "s": [1]}, {"y": None}, {"e": i64(1)}),
     'input 1, "s", must be a constant')
case("split_parts", oc.model([node("Split", "x", "y,z")], {"x": [7]}, {"y": None, "z": None}), "7 elements do not split into 2 equal parts")
case("split_sum", oc.model([node("Split", "x,s", "y,z")], {"x": [7]}, {"y": None, "z": None}, {"s": i64(3, 3)}), "6 elements in all, the axis 7")
case("split_negative", oc.model([node("Split", "x,s", "y,z")], {"x": [7]}, {"y": None, "z": None}, {"s": i64(8, -1)}), "would have 8")
case("split_sizes", oc.model([node("Split", "x,s", "y,z")], {"x": [7]}, {"y": None, "z": None}, {"s": i64(7)}), "1 sizes for 2 outputs")
case("split_num_outputs", oc.model([node("Split", "x", "y,z", num_outputs=3)], {"x": [6]}, {"y": None, "z": None}, opset=18),
     "num_outputs is 3 for 2 outputs")
case("gather_range", one("Gather", [[2, 3]], [i64(2)]), "index 2 is out of range for 2 elements")
case("gather_huge", one("Gather", [[2, 3]], [i64(-(1 << 63))]), "is out of range for 2 elements")
case("gather_axis", one("Gather", [[2, 3]], [i64(0)], axis=2), "axis 2 is out of range")
case("gather_float", oc.model([node("Gather", "x,i", "y")], {"x": [4], "i": [1]}, {"y": None}), "indices are f32; i32 and i64 are supported")
case("gather_empty", one("Gather", [[2, 3]], [i64()]), "there are no indices")
case("gather_rank", one("Gather", [[2] * 7], [np.zeros((1, 1, 1), np.int64)]), "the result has 9 dimensions")
case("concat_shapes", one("Concat", [[2, 3], [3, 3]], axis=1), "input 1, f32[3,3], does not join f32[2,3] along axis 1")
case("concat_types", one("Concat", [[2]], [i64(1, 2)], axis=0), "input 1, i64[2], does not join f32[2]")
case("concat_axis", one("Concat", [[2], [2]], axis=1), "axis 1 is out of range")
case("concat_no_axis", one("Concat", [[2], [2]]), 'attribute "axis" is missing')
case("expand_shape", one("Expand", [[2, 3]], [i64(4)]), "f32[2,3] cannot be repeated to f32[4]")
case("expand_negative", one("Expand", [[2, 3]], [i64(-1, 3)]), "dimension 0 is negative")
case("expand_huge", one("Expand", [[1]], [i64(1 << 62)]), "too many elements")
case("tile_count", one("Tile", [[2, 3]], [i64(2)]), "1 repeats for 2 dimensions")
case("tile_negative", one("Tile", [[2]], [i64(-2)]), "repeat -2 along axis 0")
case("tile_huge", one("Tile", [[2, 2]], [i64(1 << 40, 1 << 40)]), "too many elements")
case("pad_count", one("Pad", [[2, 3]], [i64(1, 2)]), "2 pads for 2 axes")
case("pad_mode", one("Pad", [[2, 3]], [i64(0, 0, 1, 1)], opset=19, mode="wrap"), '"mode" must be constant, edge or reflect')
case("pad_reflect_far", one("Pad", [[2, 3]], [i64(0, 0, 0, 3)], mode="reflect"), "axis 1, 3 long, cannot be padded by 3 from itself")
case("pad_cut_all", one("Pad", [[2, 3]], [i64(-1, 0, -1, 0)]), "cut off all of its 2 elements")
case("pad_cut_more", one("Pad", [[2, 3]], [i64(-3, 0, 0, 0)]), "axis 0, 2 long, cannot be padded by -3 and 0")
case("pad_huge", one("Pad", [[2, 3]], [i64(1 << 62, 0, 0, 0)]), "cannot be padded by 4611686018427387904")
case("pad_fill_type", one("Pad", [[2]], [i64(1, 1), i64(0)]), "must be one value of the type of input 0")
case("pad_axis_twice", one("Pad", [[2, 3]], [i64(1, 1, 1, 1), np.float32(0), i64(0, 0)], opset=18), "axis 0 is given twice")
case("div_zero", oc.model([node("Div", "a,b", "s"), node("Reshape", "x,s", "y")], {"x": [2]}, {"y": [2]}, {"a": i64(2), "b": i64(0)}),
     'node "the Div" (Div): division by zero')
case("integer_types", oc.model([node("Add", "a,b", "s"), node("Reshape", "x,s", "y")], {"x": [2]}, {"y": [2]},
                               {"a": i64(2), "b": np.array([1], np.int32)}), "operands of i64 and i32")
case("integer_broadcast", oc.model([node("Add", "a,b", "s"), node("Reshape", "x,s", "y")], {"x": [2]}, {"y": [2]},
                                   {"a": i64(2, 3), "b": i64(1, 2, 3)}), "i64[2] and i64[3] do not broadcast")
case("range_zero", oc.model([node("Range", "a,b,c", "s"), node("Reshape", "x,s", "y")], {"x": [2]}, {"y": [2]},
                            {"a": np.array(2), "b": np.array(2), "c": np.array(0)}), "a step of 0")
case("range_zero_away", oc.model([node("Range", "a,b,c", "s"), node("Reshape", "x,s", "y")], {"x": [2]}, {"y": [2]},
                                 {"a": np.array(2), "b": np.array(7), "c": np.array(0)}), "a step of 0")
case("mod_zero", oc.model([node("Mod", "a,b", "s"), node("Reshape", "x,s", "y")], {"x": [2]}, {"y": [2]}, {"a": i64(2), "b": i64(0)}),
     'node "the Mod" (Mod): division by zero')
I32, I64, BIG = np.int32, np.int64, 1 << 62
for name, op, dtype, values, text in [
        ("mul", "Mul", I64, (BIG, 4), "the result for the constants 4611686018427387904 and 4 is too large for i64"),
        ("add", "Add", I64, (2 * BIG - 1, 1), "is too large for i64"), ("sub", "Sub", I64, (-2 * BIG, 1), "is too large for i64"),
        ("div", "Div", I64, (-2 * BIG, -1), "is too large for i64"), ("neg", "Neg", I64, (-2 * BIG,), "the constant -9223372036854775808 is too large for i64"),
        ("abs", "Abs", I32, (-(1 << 31),), "is too large for i32"), ("mul_32", "Mul", I32, (1 << 16, 1 << 15), "is too large for i32")]:
    case("overflow_" + name, oc.model([node(op, ",".join("ab"[:len(values)]), "s"), node("Cast", "s", "t", to=TensorProto.INT64),
                                       node("Reshape", "x,t", "y")], {"x": [2]}, {"y": [2]},
                                      {n: np.array([v], dtype) for n, v in zip("ab", values)}), f'node "the {op}" ({op}): the result for the constant', text)
for name, value, to in [("huge", 1e20, TensorProto.INT32), ("nan", np.nan, TensorProto.INT64), ("infinite", -np.inf, TensorProto.INT64),
                        ("first", 2.0**31, TensorProto.INT32), ("below", -1.0, TensorProto.UINT8), ("first_64", 2.0**63, TensorProto.INT64)]:
    case("cast_" + name, oc.model([node("Cast", "a", "s", to=to), node("Cast", "s", "t", to=TensorProto.INT64), node("Reshape", "x,t", "y")],
                                  {"x": [2]}, {"y": [2]}, {"a": np.array([value], np.float32)}),
         'node "the Cast" (Cast): element 0 is ', "cannot hold: the result of such a cast is undefined")
case("range_long", oc.model([node("Range", "a,b,c", "s"), node("Reshape", "x,s", "y")], {"x": [2]}, {"y": [2]},
                            {"a": np.array(0), "b": np.array(1 << 60), "c": np.array(1)}), "elements of i64 would be computed")
case("constant_of_shape_long", oc.model([node("ConstantOfShape", "a", "s"), node("Add", "x,s", "y")], {"x": [2]}, {"y": [2]},
                                        {"a": i64(1 << 20, 1 << 10)}), "a constant of 1073741824 elements would be computed")
case("constant_of_shape_negative", oc.model([node("ConstantOfShape", "a", "s"), node("Add", "x,s", "y")], {"x": [2]}, {"y": [2]},
                                            {"a": i64(-2)}), "dimension 0 is negative")
case("constants_in_all", oc.model([node("ConstantOfShape", "a", f"s{i}") for i in range(5)] +
                                  [node("Max", "x," + ",".join(f"s{i}" for i in range(5)), "y")], {"x": [1 << 24]}, {"y": None},
                                  {"a": i64(1 << 24)}), "exceed 256 MiB in all")
case("cast", one("Cast", [[2, 3]], to=TensorProto.DOUBLE), "from f32 to f64 is not supported, as floats are computed in f32: export the model in float32")
case("cast_unknown", one("Cast", [[2, 3]], to=12345), "a cast from f32 to type 12345 (unknown)")
case("layernorm_axis", one("LayerNormalization", [[2, 3]], [f32([3])], axis=2), "axis 2 is out of range")
case("layernorm_scale", one("LayerNormalization", [[2, 3]], [f32([2])]), 'input 1, "c0", is f32[2], which does not broadcast')
case("layernorm_bias", one("LayerNormalization", [[2, 3]], [f32([3]), f32([4, 2, 3])]), 'input 2, "c1", is f32[4,2,3]')
case("layernorm_epsilon", one("LayerNormalization", [[2, 3]], [f32([3])], epsilon=-1.0), 'attribute "epsilon" is -1')
case("layernorm_mean", oc.model([node("LayerNormalization", "x,s", "y,m")], {"x": [2, 3]}, {"y": [2, 3], "m": [2, 1]},
                                {"s": f32([3])}), "output 1 exists for training only")
case("instancenorm_rank", one("InstanceNormalization", [[2, 3]], [f32([3]), f32([3])]), "the input has 2 dimensions")
case("instancenorm_scale", one("InstanceNormalization", [[2, 3, 4]], [f32([2]), f32([3])]), "is f32[2], but there are 3 channels")
case("groupnorm_groups", one("GroupNormalization", [[2, 6, 4]], [f32([6]), f32([6])], opset=21, num_groups=4),
     "4 groups do not divide 6 channels")
case("lpnorm_p", one("LpNormalization", [[2, 3]], p=3), 'attribute "p" is 3, not 1 or 2')
case("reduce_prod_many", one("ReduceProd", [[5, 13]]), "multiplies 65 elements with each other; 64 at most are supported")
case("groupnorm_opset18", one("GroupNormalization", [[2, 6, 4]], [f32([6]), f32([6])], opset=18, num_groups=3), "before opset 21 it has one value for each of 3 groups")
case("pow_whole_negative", one("Pow", [np.array([2])], [np.int64(-1)]), "one constant whole number from 0 to 63")
case("reduce_l2_noop", one("ReduceL2", [[2, 3]], [i64()], opset=18, noop_with_empty_axes=1), "over no axes is not supported")
case("logsoftmax_axis", one("LogSoftmax", [[2, 3]], axis=2), "axis 2 is out of range")
S2 = np.array([1, 1, 2, 2], np.float32)


def resize(*consts, opset=13, **attrs):
    names = ["x"] + ["" if c is None else f"c{i}" for i, c in enumerate(consts)]
    made = oc.model([node("Resize", ",".join(names), "y", **attrs)], {"x": [1, 2, 3, 4]}, {"y": None},
                    {f"c{i}": c for i, c in enumerate(consts) if c is not None}, opset=opset)
    made.graph.output[0].type.tensor_type.ClearField("shape")
    return made


case("resize_cubic", resize(None, S2, mode="cubic"), 'attribute "mode" must be nearest or linear')
case("resize_crop", resize(None, S2, coordinate_transformation_mode="tf_crop_and_resize"), "must be half_pixel, asymmetric")
case("resize_nearest_mode", resize(None, S2, nearest_mode="up"), 'attribute "nearest_mode" must be')
case("resize_antialias", resize(None, S2, opset=18, antialias=1, mode="linear"), "antialias is not supported")
case("resize_policy", resize(None, None, i64(1, 2, 6, 8), opset=18, keep_aspect_ratio_policy="not_larger"), "as stretch only")
case("resize_nothing", resize(None), "neither scales nor sizes are given")
case("resize_scales_short", resize(None, S2[:3]), "there are 3 scales for 4 axes")
case("resize_sizes_short", resize(None, None, i64(1, 2)), "there are 2 sizes for 4 axes")
case("resize_scale_zero", resize(None, S2 * 0), "a scale of 0 for axis 0 of f32[1,2,3,4]")
case("resize_scale_nan", resize(None, S2 * np.float32("nan")), "a scale of nan for axis 0")
case("resize_size_negative", resize(None, None, i64(1, 2, -6, 8)), "a size of -6 for axis 2")
case("resize_size_huge", resize(None, None, i64(1, 2, 1 << 40, 8)), "a size of 1099511627776 for axis 2")
case("resize_channels", resize(None, S2[::-1].copy()), "axis 0 is resized")
case("resize_axes_twice", resize(None, S2[:2], opset=18, axes=[0, 0]), "axis 0 is given twice")
case("resize_axes_far", resize(None, S2[:2], opset=18, axes=[0, 4]), "axis 4 is out of range")
case("resize_computed", one("Resize", [[1, 2, 3, 4], [4]], opset=10), "the scales, must be constant floats")
CT = [[1, 3, 4, 4]], [f32([3, 4, 2, 2])]
case("convtranspose_cut_off", one("ConvTranspose", *CT, pads=[3, 0, 2, 0]), "the pads cut off all of 5 outputs")
case("convtranspose_output_shape", one("ConvTranspose", *CT, strides=[2, 2], output_shape=[9, 8]), "has 9 where at most 8 are made")
case("convtranspose_shapes", one("ConvTranspose", *CT, strides=[2, 2], output_shape=[8]), '"output_shape" has 1 numbers, not 2')
case("convtranspose_3d", one("ConvTranspose", [[1, 3, 2, 2, 2]], [f32([3, 4, 2, 2, 2])]), "3-D is not supported")
case("convtranspose_channels", one("ConvTranspose", [[1, 2, 4, 4]], CT[1], strides=[2, 2]),
     "the input is f32[1,2,4,4], the weight f32[3,4,2,2]")
case("convtranspose_group", one("ConvTranspose", *CT, strides=[2, 2], group=2), "2 groups do not divide 3 input channels")
case("convtranspose_bias", one("ConvTranspose", CT[0], CT[1] + [f32([3])], strides=[2, 2]), "but there are 4 output channels")
case("gather_elements_far", one("GatherElements", [[3, 4]], [i64(0, 3).reshape(1, 2)]), "index 3 is out of range for 3 elements")
case("gather_elements_wide", one("GatherElements", [[3, 4]], [np.zeros([1, 5], np.int64)]), "reach beyond the input, f32[3,4], along axis 1")
case("gather_elements_rank", one("GatherElements", [[3, 4]], [i64(0)]), "the indices are i64[1]")
case("gather_elements_float", one("GatherElements", [[3], [3]]), "is f32; indices are int64 or int32")
case("gather_nd_far", one("GatherND", [[3, 4]], [i64(0, -5)]), "index -5 is out of range for 4 elements")
case("gather_nd_long", one("GatherND", [[3]], [i64(0, 1)]), "the input is f32[3], the indices are i64[2], batch_dims is 0")
case("gather_nd_batch", one("GatherND", [[3, 4]], [np.zeros([2, 1], np.int64)], batch_dims=1), "batch_dims is 1")
case("one_hot_depth", one("OneHot", [[3]], [i64(0), np.array([0, 1], np.float32)]), "a depth of 0")
case("one_hot_depth_computed", one("OneHot", [[3], np.array([4])], [np.array([0, 1], np.float32)]), "must be a constant")
case("one_hot_values", one("OneHot", [[3]], [i64(4), np.array([0, 1, 2], np.float32)]), "must be the values for off and on")
case("one_hot_axis", one("OneHot", [[3]], [i64(4), np.array([0, 1], np.float32)], axis=2), "axis 2 is out of range for 2 dimensions")
case("trilu_rank", one("Trilu", [[3]]), "it needs two at least")
case("trilu_k", one("Trilu", [[3, 3], np.array(1)]), "must be a constant")
case("eye_like_rank", one("EyeLike", [[3]], opset=11), "has 1 dimensions, not 2")
case("eye_like_type", one("EyeLike", [[3, 3]], dtype=11), "a result of f64")
case("quantize_type", one("QuantizeLinear", [[2, 3]], [np.float32(0.5)], opset=21, output_dtype=2**32 + 2), "quantises to a type that infc does not know")
case("lp_pool_p", one("LpPool", [[1, 2, 5]], kernel_shape=[2], p=0), 'attribute "p" is 0')
case("is_inf_type", one("IsInf", [np.zeros(3, np.int64)]), "only f32 is computed with")
case("argmax_axis", one("ArgMax", [[2, 3]], axis=2), "axis 2 is out of range for 2 dimensions")
case("argmax_type", one("ArgMax", [np.zeros([2, 3], np.int64)]), "is i64; only f32 is computed with")
case("topk_k", one("TopK", [[2, 3]], [i64(4)]), "the 4 largest of 3 elements")
case("topk_computed", one("TopK", [[2, 3], np.array([1])]), "must be a constant")
case("topk_missing", one("TopK", [[2, 3]], opset=9), 'attribute "k" is missing')
case("cumsum_axis", one("CumSum", [[2, 3]], [np.int64(-3)]), "axis -3 is out of range")
case("cumsum_type", one("CumSum", [np.zeros(3, np.int16)], [np.int64(0)]), "is i16; f32, i32 and i64 are supported")
case("scatter_elements_shape", one("ScatterElements", [[3]], [i64(0), f32([2])]), "the indices are i64[1], the updates are f32[2]")
case("scatter_elements_far", one("ScatterElements", [[3]], [i64(3), f32([1])]), "index 3 is out of range for 3 elements")
case("scatter_nd_shape", one("ScatterND", [[3, 4]], [i64(0).reshape(1, 1), f32([1, 3])]), "the updates are f32[1,3]")
case("scatter_nd_reduction", one("ScatterND", [np.zeros(3, np.int64)], [i64(0).reshape(1, 1), i64(0)], reduction="add"), "reduction add of i64")
case("scatter_nd_mode", one("ScatterND", [[3]], [i64(0).reshape(1, 1), f32([1])], reduction="sub"), "must be none, add, mul, max or min")
case("lrn_even", one("LRN", [[1, 5, 4, 4]], size=4), "the LRN", 'attribute "size" must be odd')
case("lrn_rank", one("LRN", [[5]], size=3), "the LRN", "has 1 dimensions")
case("grid_sample_3d", one("GridSample", [[1, 2, 3, 4, 5], [1, 2, 3, 4, 3]], opset=20), "3-D is not supported")
case("grid_sample_grid", one("GridSample", [[1, 2, 3, 4], [2, 2, 3, 2]]), "the grid f32[2,2,3,2]")
case("grid_sample_mode", one("GridSample", [[1, 2, 3, 4], [1, 2, 3, 2]], mode="sinc"), "must be linear, nearest or cubic")
case("einsum_missing", one("Einsum", [[2, 3]]), 'attribute "equation" is missing')
case("einsum_rank", one("Einsum", [[2, 3]], equation="ijk->i"), "has 3 labels for 2 dimensions")
case("einsum_dims", one("Einsum", [[2, 3], [4, 5]], equation="ij,jk->ik"), "axis 0 is 4 long where another of its label is 3")
case("einsum_terms", one("Einsum", [[2, 3]], equation="ij,jk->ik"), "for 1 inputs")
case("einsum_unknown", one("Einsum", [[2, 3]], equation="ij->k"), "in no term")
case("einsum_letter", one("Einsum", [[2, 3]], equation="i1->i"), "has '1' in a term")
case("depth_to_space_channels", one("DepthToSpace", [[1, 6, 4, 4]], blocksize=2), "6 channels do not make blocks of 2 x 2")
case("depth_to_space_mode", one("DepthToSpace", [[1, 8, 4, 4]], blocksize=2, mode="RCD"), "must be DCR or CRD")
case("depth_to_space_zero", one("DepthToSpace", [[1, 8, 4, 4]], blocksize=0), 'attribute "blocksize" is 0, not from 1')
case("depth_to_space_none", one("DepthToSpace", [[1, 8, 4, 4]]), 'attribute "blocksize" is missing\n')
case("space_to_depth_pixels", one("SpaceToDepth", [[1, 8, 4, 5]], blocksize=2), "4 x 5 pixels do not make blocks of 2 x 2")
case("space_to_depth_rank", one("SpaceToDepth", [[8, 4, 5]], blocksize=2), "the input has 3 dimensions, not 4")
case("celu_zero", one("Celu", [[3]], alpha=0.0), '"alpha" is 0; it divides')
case("gelu_fast", one("Gelu", [[3]], opset=20, approximate="fast"), "must be none or tanh")
case("prelu_wider", one("PRelu", [[3]], [f32([2, 3])]), "the slope f32[2,3] does not broadcast to the input f32[3]")
case("pow_exponent_f64", one("Pow", [[3]], [np.array([2.0, 3, 4])]), "only f32 is computed with")
case("mean_left_out", oc.model([node("Mean", "x,,x", "y")], {"x": [3]}, {"y": [3]}), "input 1")

# ---- recurrent layers ----
def layer(op, w, r, *rest, x=(3, 2, 4), **attrs):
    return one(op, [list(x)], [f32(list(w)), f32(list(r)), *rest], **attrs)


case("lstm_w", layer("LSTM", (1, 19, 4), (1, 20, 5)), 'node "the LSTM" (LSTM)', "input 1", "is f32[1,19,4], not f32[1,20,4]")
case("lstm_w_input", layer("LSTM", (1, 20, 3), (1, 20, 5)), "is f32[1,20,3], not f32[1,20,4]")
case("lstm_r", layer("LSTM", (1, 20, 4), (1, 15, 5)), "input 2", "is f32[1,15,5], not f32[1,20,5]")
case("lstm_directions", layer("LSTM", (1, 20, 4), (1, 20, 5), direction="bidirectional"), "not f32[2,20,4]")
case("lstm_bias", layer("LSTM", (1, 20, 4), (1, 20, 5), f32([1, 20])), "input 3", "is f32[1,20], not f32[1,40]")
case("lstm_rank", layer("LSTM", (20, 4), (20, 5)), "both have 3 dimensions")
case("lstm_x_rank", layer("LSTM", (1, 20, 4), (1, 20, 5), x=(3, 4)), "X is f32[3,4]")
case("lstm_hidden_size", layer("LSTM", (1, 20, 4), (1, 20, 5), hidden_size=4), '"hidden_size" is 4, but R is f32[1,20,5]')
case("lstm_direction", layer("LSTM", (1, 20, 4), (1, 20, 5), direction="sideways"), '"direction" is not forward')
case("lstm_activation", layer("LSTM", (1, 20, 4), (1, 20, 5), activations=["Sigmoid", "Tanh", "Gelu"]), '"Gelu" is none of')
case("lstm_activations", layer("LSTM", (1, 20, 4), (1, 20, 5), activations=["Sigmoid", "Tanh"]), "has 2 names; 1 direction of LSTM needs 3")
case("gru_activations", layer("GRU", (2, 15, 4), (2, 15, 5), direction="bidirectional", activations=["Tanh"]), "2 directions of GRU need 4")
case("gru_alphas", layer("GRU", (1, 15, 4), (1, 15, 5), activation_alpha=[0.1]), "more numbers than the activations take")
case("rnn_alpha_nan", layer("RNN", (1, 5, 4), (1, 5, 5), activations=["Affine"], activation_alpha=[float("nan")]), "not finite")
case("rnn_clip", layer("RNN", (1, 5, 4), (1, 5, 5), clip=-1.0), '"clip" is -1; it must be above 0')
case("rnn_layout", layer("RNN", (1, 5, 4), (1, 5, 5), layout=2), '"layout" is 2, not 0 or 1')
case("rnn_length", layer("RNN", (1, 5, 4), (1, 5, 5), f32([1, 10]), np.array([3, 4], np.int32)), "length 4 of row 1 is not within the 3 steps")
case("rnn_lengths", layer("RNN", (1, 5, 4), (1, 5, 5), f32([1, 10]), np.array([3], np.int32)), "is i32[1], not i32[2]")
case("rnn_lengths_type", layer("RNN", (1, 5, 4), (1, 5, 5), f32([1, 10]), i64(3, 3)), "is i64[2], not i32[2]")
case("rnn_state", layer("RNN", (1, 5, 4), (1, 5, 5), f32([1, 10]), np.array([3, 3], np.int32), f32([1, 2, 4])), "is f32[1,2,4], not f32[1,2,5]")


if __name__ == "__main__":
    sys.exit(oc.main(CASES.runs))
