#!/usr/bin/env python3
"""Random small networks through the whole compiler: every tensor against the reference kernels bit for bit
(infc verify), every output against ONNX Runtime within 1e-4 of its largest value.

usage: random_graphs.py INFC SOURCE_DIR WORK_DIR [FIRST_SEED [COUNT [TARGET]]]
"""
import pathlib
import random
import shutil
import subprocess
import sys

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

CHANNELS = [1, 2, 3, 8, 15, 16, 17, 24, 32, 40]


class Net:
    """Grows a graph op by op; `live` holds (name, shape) of values that later ops may read."""

    def __init__(self, seed):
        self.rng = random.Random(seed)
        self.np = np.random.default_rng(seed)
        self.nodes, self.weights, self.live = [], [], []
        batch = self.rng.choice([1, 1, 1, 2, 3])
        shape = [batch, self.rng.choice(CHANNELS), self.rng.randint(4, 13), self.rng.randint(4, 13)]
        self.inputs = [("x", shape)]
        self.live.append(("x", shape))

    def weight(self, *shape, scale=0.5):
        name = f"w{len(self.weights)}"
        self.weights.append(numpy_helper.from_array(self.np.normal(0, scale, shape).astype(np.float32), name))
        return name

    def ints(self, values):
        name = f"w{len(self.weights)}"
        self.weights.append(numpy_helper.from_array(np.array(values, np.int64), name))
        return name

    def add(self, op, inputs, shape, **attributes):
        name = f"t{len(self.nodes)}"
        self.nodes.append(helper.make_node(op, inputs, [name], name=f"/{op.lower()}{len(self.nodes)}/{op}", **attributes))
        self.live.append((name, list(shape)))
        return name

    def pick(self, rank=None):
        choices = [v for v in self.live if rank is None or len(v[1]) == rank]
        return self.rng.choice(choices[-4:]) if choices else None

    def conv(self):
        value = self.pick(4)
        if not value:
            return
        x, (n, c, h, w) = value
        kind = self.rng.choice(["dense", "dense", "depthwise", "grouped"])
        groups = {"dense": 1, "depthwise": c, "grouped": next(g for g in (4, 2, 1) if c % g == 0)}[kind]
        out = c if kind == "depthwise" else groups * self.rng.choice([1, 3, 8, 16, 17])
        k, s = self.rng.choice([1, 3, 3, 5]), self.rng.choice([1, 1, 2])
        d = self.rng.choice([1, 1, 2])
        pads = [self.rng.randint(0, d * (k - 1)) for _ in range(4)]
        oh, ow = ((size + pads[i] + pads[i + 2] - (d * (k - 1) + 1)) // s + 1 for i, size in enumerate((h, w)))
        if min(oh, ow) < 1:
            return
        inputs = [x, self.weight(out, c // groups, k, k)] + ([self.weight(out)] if self.rng.random() < 0.5 else [])
        self.add("Conv", inputs, [n, out, oh, ow], kernel_shape=[k, k], strides=[s, s], dilations=[d, d], pads=pads, group=groups)
        if self.rng.random() < 0.4:
            y, shape = self.live[-1]
            stats = [self.weight(out) for _ in range(3)]
            self.weights.append(numpy_helper.from_array(self.np.uniform(0.5, 2, out).astype(np.float32), f"v{len(self.weights)}"))
            self.add("BatchNormalization", [y, *stats, self.weights[-1].name], shape)

    def unary(self):
        x, shape = self.pick()
        op = self.rng.choice(["Relu", "Sigmoid", "Tanh", "Neg", "Abs", "Erf", "Sin", "Softplus", "HardSwish", "HardSigmoid", "Elu", "Softsign"])
        self.add(op, [x], shape)

    def binary(self):
        x, shape = self.pick()
        op = self.rng.choice(["Add", "Mul", "Sub", "Max"])
        twins = [v for v in self.live if v[1] == shape]
        kind = self.rng.choice(["twin", "twin", "channel", "scalar", "last", "gate"])
        if kind == "twin":
            self.add(op, [x, self.rng.choice(twins)[0]], shape)
        elif kind == "channel" and len(shape) == 4:
            self.add(op, [self.weight(shape[1], 1, 1), x], shape)
        elif kind == "last":
            self.add(op, [x, self.weight(shape[-1])], shape)
        elif kind == "gate" and len(shape) == 4:
            gate = self.add("GlobalAveragePool", [x], shape[:2] + [1, 1])
            gate = self.add("Sigmoid", [gate], shape[:2] + [1, 1])
            self.add("Mul", [x, gate], shape)
        else:
            self.add(op, [x, self.weight()], shape)

    def pool(self):
        value = self.pick(4)
        if not value or min(value[1][2:]) < 2:
            return
        x, (n, c, h, w) = value
        k, s = self.rng.choice([2, 2, 3]), self.rng.choice([1, 2])
        if min(h, w) < k:
            return
        p = self.rng.randint(0, 1)
        oh, ow = ((size + 2 * p - k) // s + 1 for size in (h, w))
        op = self.rng.choice(["MaxPool", "AveragePool"])
        extra = {"count_include_pad": self.rng.randint(0, 1)} if op == "AveragePool" else {}
        self.add(op, [x], [n, c, oh, ow], kernel_shape=[k, k], strides=[s, s], pads=[p] * 4, **extra)

    def reduce(self):
        x, shape = self.pick()
        axes = self.rng.choice([[len(shape) - 1], list(range(2, len(shape))) or [len(shape) - 1], [1]])
        kept = [1 if i in axes else d for i, d in enumerate(shape)]
        self.add("ReduceMean", [x], kept, axes=axes, keepdims=1)

    def reshape(self):
        x, shape = self.pick()
        if self.rng.random() < 0.5:
            flat = [shape[0], int(np.prod(shape[1:]))]
            self.add("Reshape", [x, self.ints(flat)], flat)
        else:
            perm = list(range(len(shape)))
            self.rng.shuffle(perm)
            self.add("Transpose", [x], [shape[p] for p in perm], perm=perm)

    def matmul(self):
        x, shape = self.pick()
        if shape[-1] > 600 or len(shape) < 2:
            return
        n = self.rng.choice([1, 5, 16, 17, 33, 64])
        self.add("MatMul", [x, self.weight(shape[-1], n, scale=0.3)], shape[:-1] + [n])

    def attend(self):
        x, shape = self.pick()
        if len(shape) < 2 or shape[-1] > 200 or int(np.prod(shape)) // shape[-1] * shape[-2] > 20000:
            return
        turned = shape[:-2] + [shape[-1], shape[-2]]
        perm = list(range(len(shape)))
        perm[-2:] = perm[:-3:-1]
        key = self.add("Transpose", [x], turned, perm=perm)
        self.add("MatMul", [x, key], shape[:-1] + [shape[-2]])

    def slice(self):
        x, shape = self.pick()
        axes = self.rng.sample(range(len(shape)), self.rng.randint(1, len(shape)))
        starts, ends, steps, kept = [], [], [], list(shape)
        for axis in axes:
            step = self.rng.choice([1, 1, 2, 3, -1, -2])
            low = self.rng.randrange(shape[axis])
            high = self.rng.randint(low + 1, shape[axis])
            kept[axis] = len(range(low, high, abs(step)))
            starts.append(low if step > 0 else high - 1)
            ends.append(high if step > 0 else low - 1 - shape[axis])
            steps.append(step)
        self.add("Slice", [x, self.ints(starts), self.ints(ends), self.ints(axes), self.ints(steps)], kept)

    def concat(self):
        x, shape = self.pick()
        axis = self.rng.randrange(len(shape))
        fits = [v for v in self.live if len(v[1]) == len(shape) and
                all(a == b for i, (a, b) in enumerate(zip(v[1], shape)) if i != axis)]
        parts = [self.rng.choice(fits) for _ in range(self.rng.choice([1, 2, 3, 5]))] + [(x, shape)]
        total = sum(s[axis] for _, s in parts)
        if int(np.prod(shape)) // shape[axis] * total < 40000:
            self.add("Concat", [n for n, _ in parts], [total if i == axis else d for i, d in enumerate(shape)], axis=axis)

    def split(self):
        x, shape = self.pick()
        axis = self.rng.randrange(len(shape))
        if shape[axis] < 2:
            return
        first = self.rng.randrange(1, shape[axis])
        sizes = [first, shape[axis] - first]
        names = [f"t{len(self.nodes)}", f"t{len(self.nodes)}_1"]
        self.nodes.append(helper.make_node("Split", [x, self.ints(sizes)], names, name=f"/split{len(self.nodes)}/Split", axis=axis))
        for name, size in zip(names, sizes):
            self.live.append((name, [size if i == axis else d for i, d in enumerate(shape)]))

    def pad(self):
        x, shape = self.pick()
        mode = self.rng.choice(["constant", "constant", "edge", "reflect"])
        axes = [i for i in range(len(shape)) if self.rng.random() < 0.5][:4]
        pads = [[self.rng.randint(0, 2 if mode != "reflect" else min(2, d - 1)) if i in axes else 0
                 for i, d in enumerate(shape)] for _ in range(2)]
        grown = [d + a + b for d, a, b in zip(shape, *pads)]
        if int(np.prod(grown)) < 40000:
            self.add("Pad", [x, self.ints(pads[0] + pads[1])], grown, mode=mode)

    def softmax(self):
        x, shape = self.pick()
        self.add("Softmax", [x], shape, axis=self.rng.choice([-1, 1]))

    def resize(self):
        value = self.pick(4)
        if not value or max(value[1][2:]) > 12:
            return
        x, (n, c, h, w) = value
        oh, ow = h * self.rng.choice([1, 2, 3]), self.rng.randint(1, 20)
        self.add("Resize", [x, "", "", self.ints([n, c, oh, ow])], [n, c, oh, ow], mode=self.rng.choice(["nearest", "linear", "linear"]),
                 coordinate_transformation_mode=self.rng.choice(["half_pixel", "asymmetric"]))

    def spread(self):
        value = self.pick(4)
        if not value or max(value[1][2:]) > 12:
            return
        x, (n, c, h, w) = value
        o, kh, kw = self.rng.choice([1, 3, 16]), self.rng.choice([1, 2]), self.rng.choice([2, 3])
        self.add("ConvTranspose", [x, self.weight(c, o, kh, kw)], [n, o, h * kh, w * kw], strides=[kh, kw])

    def norm(self):
        x, shape = self.pick()
        kind = self.rng.choice(["layer", "layer", "instance", "log"])
        if kind == "layer":
            self.add("LayerNormalization", [x, self.weight(shape[-1]), self.weight(shape[-1])], shape, epsilon=1e-2)
        elif kind == "instance" and len(shape) == 4 and shape[2] * shape[3] > 3:
            self.add("InstanceNormalization", [x, self.weight(shape[1]), self.weight(shape[1])], shape, epsilon=1e-2)
        else:
            self.add("LogSoftmax", [x], shape, axis=self.rng.choice([-1, 1]))

    def model(self):
        steps = [self.conv] * 5 + [self.unary] * 3 + [self.binary] * 4 + [self.pool, self.reduce, self.reshape, self.matmul, self.softmax]
        steps += [self.attend, self.norm, self.resize, self.spread, self.slice, self.concat, self.concat, self.split, self.pad]
        while len(self.nodes) < 3 + self.rng.randint(0, 12):
            self.rng.choice(steps)()
        used = {i for n in self.nodes for i in n.input}
        outputs = [(n, s) for n, s in self.live if n not in used and n != "x"]
        outputs += [v for v in self.live if v[0] in used and v[0] != "x" and self.rng.random() < 0.1]
        graph = helper.make_graph(self.nodes, "random", [helper.make_tensor_value_info(n, TensorProto.FLOAT, s) for n, s in self.inputs],
                                  [helper.make_tensor_value_info(n, TensorProto.FLOAT, s) for n, s in outputs], self.weights)
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def attempt(infc, work, seed, target):
    net = Net(seed)
    model = net.model()
    onnx.checker.check_model(model)
    path = work / f"random{seed}.onnx"
    onnx.save(model, path)
    x = net.np.normal(0, 1, net.inputs[0][1]).astype(np.float32)
    names = [o.name for o in model.graph.output]
    expected = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"]).run(names, {"x": x})
    np.savez(work / "in.npz", x=x)
    np.savez(work / "expect.npz", **dict(zip(names, expected)))
    options = ["--target", target] if target else []
    for extra in ([], ["--inputs", work / "in.npz", "--expect", work / "expect.npz"]):
        done = subprocess.run([str(a) for a in (infc, "verify", path, *options, *extra)], capture_output=True, text=True)
        if done.returncode:
            return f"infc verify {' '.join(map(str, extra))} -> {done.returncode}\n{done.stdout}{done.stderr}"
    path.unlink()
    return None


def main():
    infc, _, work = (pathlib.Path(a).resolve() for a in sys.argv[1:4])
    first, count = (int(a) for a in (sys.argv[4:6] + ["1", "12"][len(sys.argv[4:6]):]))
    target = sys.argv[6] if len(sys.argv) > 6 else None
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    failed = 0
    for seed in range(first, first + count):
        problem = attempt(infc, work, seed, target)
        failed += problem is not None
        print(f"seed {seed}: " + (f"FAILED: {problem}" if problem else "ok"), flush=True)
    print(f"{count - failed} passed, {failed} failed")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
