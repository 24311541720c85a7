"""Models that infc must refuse: tables of them, and how they are checked; shared by the onnx_*.py tests."""
import sys

import onnx_cases as oc
from onnx_cases import f32, node

MODEL, SPEC, IO = 3, 2, 4


def check(tool, folder, name, made, texts, code=MODEL, dims=()):
    got, _, err = oc.run(tool, oc.save(folder, name, made), *[a for dim in dims for a in ("--dim", dim)])
    missing = [t for t in texts if (t[1:] in err if t[0] == "!" else t not in err)]
    if got != code or missing:
        raise AssertionError(f"exit {got}, expected {code}; missing {missing} in\n{err}")
    if name in sys.argv[3:]:
        print(f"{name}: exit {got}\n{err}")


class Table(dict):
    """Cases by name."""

    def case(self, name, made, *texts, code=MODEL, dims=()):
        """texts: all of them stand in the diagnostics; one that starts with ! does not."""
        assert name not in self, name
        self[name] = (made, texts, code, dims)

    def runs(self, tool, folder):
        """The cases as oc.main() takes them."""
        for name, case in self.items():
            yield name, lambda name=name, case=case: check(tool, folder, name, *case)


def one(op, shapes, consts=(), opset=17, **attrs):
    names = [f"x{i}" for i in range(len(shapes))]
    constants = {f"c{i}": c for i, c in enumerate(consts)}
    made = oc.model([node(op, ",".join(names + list(constants)), "y", **attrs)], dict(zip(names, shapes)), {"y": None},
                    constants, opset=opset)
    made.graph.output[0].type.tensor_type.ClearField("shape")
    return made


def changed(change):
    """relu: x [2,3] -> y, changed in place."""
    made = oc.model([node("Relu", "x", "y")], {"x": [2, 3]}, {"y": [2, 3]})
    change(made)
    return made


def weight(change):
    """x + w, with the initializer w changed in place."""
    made = oc.model([node("Add", "x,w", "y")], {"x": [2, 3]}, {"y": [2, 3]}, {"w": f32([3])})
    change(made.graph.initializer[0])
    return made
