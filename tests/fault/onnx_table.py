"""Every line of onnx_ops.def against the operator schemas of the onnx package, for every opset it claims:
python onnx_table.py ONNX_OPS_DEF"""
import re
import sys

from onnx import defs

LINE = re.compile(r'INFC_ONNX_OP\((\w+),\s*(\d+),\s*(\d+),\s*(\d+),\s*(\w+),\s*(\w+),\s*"([^"]*)",\s*(\w+),\s*"([^"]*)"\)')
KINDS = {"INT": "int", "FLOAT": "float", "STRING": "str", "INTS": "ints", "FLOATS": "floats", "STRINGS": "strings",
         "TENSOR": "tensor", "SPARSE_TENSOR": "sparse", "GRAPH": "graph"}
UNLIMITED = 2147483647


def main():
    problems, ranges = [], {}
    with open(sys.argv[1], encoding="ascii") as f:
        lines = [line for line in f if line.startswith("INFC_ONNX_OP(")]
    for line in lines:
        match = LINE.match(line)
        if not match:
            problems.append(f"cannot read: {line.strip()}")
            continue
        op, since, until, least, most, outputs, attributes, _, _ = match.groups()
        ranges.setdefault(op, []).append((int(since), int(until)))
        claimed = dict(a.split(":") for a in attributes.split())
        for opset in range(int(since), int(until) + 1):
            schema = defs.get_schema(op, opset)
            actual = {a.name: KINDS[a.type.name] for a in schema.attributes.values()}
            if claimed != actual:
                problems.append(f"{op}, opset {opset}: attributes {claimed}, the schema has {actual}")
            counts = (int(least), *(int(n) if n.isdigit() else UNLIMITED for n in (most, outputs)))
            if counts != (schema.min_input, schema.max_input, schema.max_output):
                problems.append(f"{op}, opset {opset}: inputs and outputs {counts}")
    newest = defs.onnx_opset_version()
    for op, parts in ranges.items():
        edges = [edge for part in sorted(parts) for edge in part]
        gaps = [i for i in range(1, len(edges) - 1, 2) if edges[i + 1] != edges[i] + 1]
        first = next(v for v in range(7, newest + 1) if defs.has(op, v) and not defs.get_schema(op, v).deprecated)
        last = max(v for v in range(7, newest + 1) if defs.has(op, v) and not defs.get_schema(op, v).deprecated)
        deprecated = next(v for v in range(7, newest + 1) if defs.has(op, v))  # may be known, need not
        if edges[0] not in (first, deprecated) or edges[-1] != last or gaps:
            problems.append(f"{op}: opsets {parts} do not cover {first} to {last}")
    print("\n".join(problems + [f"{len(lines)} lines, {len(problems)} problems"]))
    return 1 if problems or not lines else 0


if __name__ == "__main__":
    sys.exit(main())
