"""Files that are no models, or whose graphs or external data are not whole, and which infc must refuse:
python onnx_malformed.py ONNX_EVAL FOLDER [CASE]"""
import os
import sys

from onnx import TensorProto

import onnx_cases as oc
from onnx_cases import node
from onnx_refusal import IO, MODEL, Table, changed, weight

CASES = Table()
case = CASES.case


def varint(value):
    out = b""
    while value > 127:
        out += bytes([value & 127 | 128])
        value >>= 7
    return out + bytes([value])


def field(number, payload):
    if isinstance(payload, int):
        return varint(number << 3) + varint(payload)
    return varint(number << 3 | 2) + varint(len(payload)) + payload


# ---- not a model ----
case("empty", b"", "the file is empty")
case("text", b"this is not a model\n", "damaged or not an ONNX model")
case("zeros", bytes(64), "field number is out of range")
case("group", b"\x0b\x0c", "a field is a group")
case("huge_varint", b"\x08" + b"\xff" * 10 + b"\x01", "more than 64 bits")
case("endless_varint", b"\x08" + b"\x80" * 40, "more than 64 bits")
case("cut_varint", b"\x08\x80", "a number is cut off")
case("length_beyond", field(1, 8) + b"\x3a\xff\xff\xff\xff\x0f", "longer than what holds it")
case("length_of_64_bits", b"\x3a" + b"\xff" * 9 + b"\x01", "longer than what holds it")
case("wrong_wire_type", field(1, b"8"), "ModelProto.ir_version: not of its wire type")
case("graph_as_number", field(1, 8) + field(8, field(2, 17)) + field(7, 5), "ModelProto.graph: not of its wire type")
case("graph_twice", field(1, 8) + field(7, b"") * 2, "more than one graph")
case("no_graph", field(1, 8) + field(8, field(2, 17)), "the model has no graph")
case("no_outputs", field(1, 8) + field(8, field(2, 17)) + field(7, b""), "the graph has no outputs")
case("too_many_nodes", field(1, 8) + field(8, field(2, 17)) + field(7, field(1, b"") * 1000001), "more than 1000000 nodes")
case("too_many_names", field(1, 8) + field(8, field(2, 17)) + field(7, field(1, field(1, b"") * 4000001)),
     "more than 4000000 parts")
case("too_many_attributes", field(1, 8) + field(8, field(2, 17)) + field(7, field(1, field(5, b"") * 300)),
     "over 256 attributes")
case("name_with_newline", changed(lambda m: setattr(m.graph.node[0], "name", "a\nb")), "a name with a control character")
case("name_with_nul", changed(lambda m: setattr(m.graph.node[0], "name", "a\0b")), "a name with a control character")
case("long_name", changed(lambda m: setattr(m.graph.node[0], "name", "n" * 20000)), "over 16384 bytes")


def nested(depth):
    """A graph in an attribute of a node of a graph, and so on."""
    body = b""
    for _ in range(depth):
        body = field(1, field(4, b"If") + field(5, field(1, b"then_branch") + field(6, body) + field(20, 5)))
    return body


case("deep_nesting", field(1, 8) + field(8, field(2, 17)) + field(7, nested(3000) + field(12, field(1, b"y"))),
     'sub-graphs are nested too deeply')

# ---- versions ----
case("no_opset", changed(lambda m: m.ClearField("opset_import")), "does not say which opset")
case("opset_6", changed(lambda m: setattr(m.opset_import[0], "version", 6)), "opset 6 is not supported", "7 to 28")
case("opset_99", changed(lambda m: setattr(m.opset_import[0], "version", 99)), "opset 99 is not supported", "7 to 28")
case("opset_negative", changed(lambda m: setattr(m.opset_import[0], "version", -5)), "opset -5 is not supported")
case("ir_99", changed(lambda m: setattr(m, "ir_version", 99)), "IR version 99 is not supported")
case("ir_1", changed(lambda m: setattr(m, "ir_version", 1)), "IR version 1 is not supported")

# ---- names and structure ----
case("dangling_input", oc.model([node("Add", "x,nowhere", "y")], {"x": [2]}, {"y": [2]}),
     'node "the Add" (Add): input 1, "nowhere", is not defined')
case("dangling_output", oc.model([node("Relu", "x", "y")], {"x": [2]}, {"z": [2]}), 'graph output "z" is not defined')
case("output_twice", oc.model([node("Relu", "x", "y")], {"x": [2]}, {"y": [2]}), 'graph output "y" is listed twice')
CASES["output_twice"][0].graph.output.append(CASES["output_twice"][0].graph.output[0])
case("cycle", oc.model([node("Add", "x,c", "a"), node("Relu", "a", "b"), node("Exp", "b", "c"), node("Neg", "c", "y")],
                       {"x": [2]}, {"y": [2]}),
     "the graph has a cycle", '"the Add" -> "the Relu" -> "the Exp" -> "the Add"')
case("self_cycle", oc.model([node("Add", "x,y", "y")], {"x": [2]}, {"y": [2]}),
     'the graph has a cycle: "the Add" -> "the Add"')
case("two_results_of_one_name", oc.model([node("Relu", "x", "y"), node("Exp", "x", "y")], {"x": [2]}, {"y": [2]}),
     '"y" is defined twice', 'node "the Relu" (Relu)')
case("result_is_an_input", oc.model([node("Relu", "x", "x")], {"x": [2]}, {"x": [2]}), '"x" is defined twice')
case("two_inputs_of_one_name", changed(lambda m: m.graph.input.append(m.graph.input[0])), '"x" is defined twice')
case("two_initializers_of_one_name", weight(lambda t: None), '"w" is defined twice')
CASES["two_initializers_of_one_name"][0].graph.initializer.append(CASES["two_initializers_of_one_name"][0].graph.initializer[0])
case("unnamed_input", changed(lambda m: setattr(m.graph.input[0], "name", "")), "graph input 0 has no name")
case("unnamed_initializer", weight(lambda t: setattr(t, "name", "")), "initializer 0 has no name")

# ---- external data ----

def external(name, location, *texts, offset=None, length=12, checksum=None, code=MODEL, **more):
    def change(tensor):
        tensor.ClearField("raw_data")
        tensor.data_location = TensorProto.EXTERNAL
        for key, value in [("location", location), ("offset", offset), ("length", length), ("checksum", checksum)]:
            if value is not None:
                tensor.external_data.add(key=key, value=str(value))
    case("external_" + name, weight(change), *texts, code=code)


external("absolute", "/etc/hostname", 'external data "/etc/hostname"', "must be a path relative")
external("parent", "../secret.bin", '".." is not allowed')
external("parent_inside", "below/../../secret.bin", '".." is not allowed')
external("parent_end", "below/..", '".." is not allowed')
external("empty", "", "must be a path relative")
external("none", None, "external data without a location")
external("missing", "missing.bin", "no such file", code=IO)
external("symlink", "link.bin", "a symbolic link is not followed")
external("symlink_folder", "linked/secret.bin", "a symbolic link is not followed")
external("folder", "below", "Is a directory", code=IO)
external("fifo", "fifo", "not a regular file", code=IO)
external("short", "short.bin", "bytes 0 to 12 of a file of 8 bytes")
external("beyond", "good.bin", "bytes 4088 to 4100 of a file of 4096 bytes", offset=4088)
external("far_beyond", "good.bin", "of a file of 4096 bytes", offset=(1 << 64) - 4)
external("offset_text", "good.bin", 'offset "12x" is not a size', offset="12x")
external("offset_negative", "good.bin", 'offset "-4" is not a size', offset=-4)
external("offset_overflow", "good.bin", "is not a size", offset=1 << 64)
external("length_text", "good.bin", 'length "many" is not a size', length="many")
external("length_other", "good.bin", "length 16, but the shape needs 12 bytes", length=16)
external("checksum_other", "good.bin", "its SHA-1 is 1ceaf73df40e531df3bfb26b4fb7cd95fb7bff1d, the model says checksum", checksum="0" * 40)
external("below_a_file", "good.bin/x", "Not a directory", code=IO)


def make_files(folder):
    below = os.path.join(folder, "below")
    os.makedirs(below, exist_ok=True)
    outside = os.path.join(os.path.dirname(os.path.abspath(folder)), "secret.bin")
    for path, size in [(outside, 4096), (os.path.join(folder, "good.bin"), 4096), (os.path.join(folder, "short.bin"), 8),
                       (os.path.join(below, "secret.bin"), 4096)]:
        with open(path, "wb") as f:
            f.write(bytes(size))
    for link, target in [("link.bin", "good.bin"), ("linked", "below")]:
        if not os.path.islink(os.path.join(folder, link)):
            os.symlink(target, os.path.join(folder, link))
    if not os.path.exists(os.path.join(folder, "fifo")):
        os.mkfifo(os.path.join(folder, "fifo"))


def cases(tool, folder):
    make_files(folder)
    yield from CASES.runs(tool, folder)


if __name__ == "__main__":
    sys.exit(oc.main(cases))
