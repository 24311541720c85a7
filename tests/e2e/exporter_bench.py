"""What exporter_cases.py builds its models with, and how it holds infc's results to the reference interpreter and to ONNX
Runtime."""
import subprocess

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

RNG = np.random.default_rng(7)


def f32(*shape):
    return RNG.uniform(-1, 1, shape).astype(np.float32)


def i64(*values):
    return np.array(values, np.int64)


def node(op, inputs, outputs, domain="", **attrs):
    return helper.make_node(op, inputs.split(), outputs.split(), name=f"the {op} of {outputs}", domain=domain, **attrs)


def info(name, shape, dtype=TensorProto.FLOAT):
    return helper.make_tensor_value_info(name, dtype, shape)


def model(nodes, inputs, outputs, constants=(), opset=17, ir=8, **more):
    """inputs: name -> shape; outputs: names, of whatever type; constants: name -> array."""
    inputs = [v if isinstance(v, onnx.ValueInfoProto) else info(k, v) for k, v in inputs.items()]
    outputs = [o if isinstance(o, onnx.ValueInfoProto) else helper.make_value_info(o, onnx.TypeProto()) for o in outputs]
    graph = helper.make_graph(nodes, "g", inputs, outputs, [numpy_helper.from_array(np.asarray(v), k) for k, v in dict(constants).items()])
    domains = [d for d in {n.domain for n in nodes} | {f.domain for f in more.get("functions", [])} if d]
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)] + [helper.make_opsetid(d, 1) for d in domains], ir_version=ir, **more)


class Bench:
    def __init__(self, infc, work):
        self.infc, self.work = infc, work

    def infc_run(self, *args):
        done = subprocess.run([str(a) for a in (self.infc, *args)], capture_output=True, text=True, cwd=self.work)
        return done.returncode, done.stdout + done.stderr

    def save(self, made):
        path = self.work / "model.onnx"
        onnx.save(made, path)
        return path

    def agrees(self, made, **feeds):
        """Compiled, interpreted and run by ONNX Runtime, the results are the same."""
        path = self.save(made)
        for port in made.graph.input:
            dims = [d.dim_value for d in port.type.tensor_type.shape.dim]
            if port.name not in feeds and port.name not in {i.name for i in made.graph.initializer}:
                feeds[port.name] = f32(*dims)
        options = onnxruntime.SessionOptions()
        options.log_severity_level = 4
        session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
        names = [o.name for o in session.get_outputs()]
        np.savez(self.work / "in.npz", **feeds)
        np.savez(self.work / "expect.npz", **dict(zip(names, session.run(names, feeds))))
        code, text = self.infc_run("verify", path, "--inputs", "in.npz", "--expect", "expect.npz")
        assert code == 0, f"exit {code}: {text}"

    def agrees_at(self, made, shapes, *feeds):
        """Compiled once for ranges of sizes, it gives what ONNX Runtime gives for each of the inputs."""
        path = self.save(made)
        sets = [word for name, range in shapes.items() for word in ("--set", f"shapes.{name}={range}")]
        code, text = self.infc_run("compile", path, *sets, "-o", "out")
        assert code == 0, f"exit {code}: {text}"
        session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
        for given in feeds:
            np.savez(self.work / "in.npz", **given)
            done = subprocess.run([self.work / "out/model", "run", "--inputs", "in.npz", "--outputs", "out.npz"], capture_output=True, text=True, cwd=self.work)
            assert done.returncode == 0, done.stderr
            got = np.load(self.work / "out.npz")
            for port, want in zip(session.get_outputs(), session.run(None, given)):
                assert got[port.name].dtype == want.dtype and got[port.name].shape == want.shape, (port.name, got[port.name].shape, want.shape)
                assert np.allclose(got[port.name], want, 1e-5, 1e-5), (port.name, got[port.name], want)

    def agrees_in_halves(self, made, type, **feeds):
        """Half floats are computed as floats: the same as the model's twin in float32, and as ONNX Runtime in float16
        within four roundings to 11 bits a node."""
        nodes = made.graph.node
        names = [o.name for o in made.graph.output]
        twin = onnx.ModelProto()
        twin.CopyFrom(made)
        for port in [*twin.graph.input, *twin.graph.output]:
            port.type.tensor_type.elem_type = TensorProto.FLOAT
        for tensor in twin.graph.initializer:
            if tensor.data_type == type:
                tensor.CopyFrom(numpy_helper.from_array(numpy_helper.to_array(tensor).astype(np.float32), tensor.name))
        for n in twin.graph.node:
            for a in n.attribute:
                if n.op_type == "Cast" and a.i == type:
                    a.i = TensorProto.FLOAT
                if a.t.data_type == type:
                    a.t.CopyFrom(numpy_helper.from_array(numpy_helper.to_array(a.t).astype(np.float32)))
        np.savez(self.work / "in.npz", **feeds)
        wanted = [(twin, feeds, 1e-4)]
        if type == TensorProto.FLOAT16:  # ONNX Runtime has few kernels for bfloat16
            wanted.append((made, {k: v.astype(np.float16) for k, v in feeds.items()}, 4 * len(nodes) * 2**-11))
        for graph, given, within in wanted:
            session = onnxruntime.InferenceSession(graph.SerializeToString(), providers=["CPUExecutionProvider"])
            results = [r.astype(np.float32) for r in session.run(names, given)]
            np.savez(self.work / "expect.npz", **dict(zip(names, results)))
            code, text = self.infc_run("verify", self.save(made), "--inputs", "in.npz", "--expect", "expect.npz", "--tolerance", within)
            assert code == 0, f"exit {code}: {text}"

    def refuses(self, made, *texts, code=3):
        got, text = self.infc_run("compile", self.save(made), "-o", "out")
        assert got == code and all(t in text for t in texts), f"exit {got}: {text}"
