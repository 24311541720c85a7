"""Builds small ONNX models and runs them through onnx_eval; shared by the onnx_*.py tests."""
import os
import subprocess
import sys
import threading

import numpy as np
from onnx import TensorProto, helper, numpy_helper


def rng(name):
    """The same numbers for a case on every run, others for every case."""
    return np.random.default_rng(sum(ord(c) * (i + 1) for i, c in enumerate(name)))


def i64(*values):
    return np.array(values, np.int64)


def f32(shape, name="w"):
    return rng(name + str(shape)).uniform(-1, 1, shape).astype(np.float32)


def node(op, inputs, outputs, **attrs):
    """inputs, outputs: names with commas between."""
    return helper.make_node(op, inputs.split(",") if inputs else [], outputs.split(","), name="the " + op, **attrs)


def parse_node(text):
    """"Op a,b -> c", or such a text with a dict of attributes; - is no input."""
    text, attrs = text if isinstance(text, tuple) else (text, {})
    op, operands, _, results = text.split(" ")
    return helper.make_node(op, [o for o in operands.split(",") if o != "-"], results.split(","), name="the " + op, **attrs)


def tensor_info(name, shape, dtype=TensorProto.FLOAT):
    """shape: the dims, or an array of that type and shape."""
    if isinstance(shape, np.ndarray):
        dtype, shape = helper.np_dtype_to_tensor_dtype(shape.dtype), list(shape.shape)
    return helper.make_tensor_value_info(name, dtype, shape)


def model(nodes, inputs, outputs, constants=None, opset=17, ir=8, infos=(), **model_fields):
    """inputs, outputs: name -> shape; constants: name -> array."""
    graph = helper.make_graph(
        list(nodes), "g", [tensor_info(k, v) for k, v in inputs.items()],
        [tensor_info(k, v) for k, v in outputs.items()],
        [numpy_helper.from_array(np.asarray(v), k) for k, v in (constants or {}).items()],
        value_info=list(infos))
    domains = sorted({n.domain for n in nodes} & {"com.microsoft"})
    opsets = [helper.make_opsetid("", opset)] + [helper.make_opsetid(d, 1) for d in domains]
    made = helper.make_model(graph, opset_imports=opsets, ir_version=ir, **model_fields)
    return made


def save(folder, name, made):
    path = os.path.join(folder, name + ".onnx")
    data = made if isinstance(made, bytes) else made.SerializeToString()
    with open(path, "wb") as f:
        f.write(data)
    return path


SERVERS = {}  # onnx_eval --serve of each thread


def run(tool, path, *args):
    """Exit code, stdout and stderr of onnx_eval; a negative code is the signal that ended it, SIGALRM after 60 s."""
    words = [path + ".stdout", path + ".stderr", path, *args]
    assert not any(c in w for w in words for c in "\t\n"), words
    thread = threading.get_ident()
    if thread not in SERVERS:
        SERVERS[thread] = subprocess.Popen([tool, "--serve"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    server = SERVERS[thread]
    server.stdin.write("\t".join(words) + "\n")
    server.stdin.flush()
    code = server.stdout.readline()
    if not code:
        raise AssertionError(f"onnx_eval --serve ended: {server.wait()}")
    texts = []
    for file in words[:2]:
        with open(file, errors="replace") as f:
            texts.append(f.read())
    return int(code), *texts


def evaluate(tool, folder, name, path, inputs, n_outputs, dims=(), dtypes=()):
    """The outputs as flat arrays (f32, or of `dtypes`), and the lines that say their shapes."""
    args = []
    for dim in dims:
        args += ["--dim", dim]
    for i, value in enumerate(inputs):
        file = os.path.join(folder, f"{name}.in{i}")
        value = np.asarray(value)
        np.ascontiguousarray(value, "<f4" if value.dtype.kind == "f" else value.dtype).tofile(file)
        args += ["--input", file]
    files = [os.path.join(folder, f"{name}.out{i}") for i in range(n_outputs)]
    for file in files:
        args += ["--output", file]
    code, out, err = run(tool, path, *args)
    if code != 0:
        raise AssertionError(f"exit {code}: {err.strip()}")
    return [np.fromfile(f, dtypes[i] if dtypes else "<f4") for i, f in enumerate(files)], out.splitlines()


def main(cases):
    """Runs the callables that cases(tool, folder) gives by name, or those named on the command line; an exit code."""
    tool, folder, *names = sys.argv[1:]
    os.makedirs(folder, exist_ok=True)
    n = failed = 0
    for name, case in cases(tool, folder):
        if names and name not in names:
            continue
        n += 1
        try:
            case()
        except Exception as error:
            failed += 1
            print(f"{name}: {type(error).__name__}: {error}")
    for server in SERVERS.values():
        server.communicate()
    print(f"{n} cases, {failed} failed")
    return 1 if failed or not n else 0
