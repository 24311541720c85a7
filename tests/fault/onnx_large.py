"""Small models of large tensors: a compile stays small and quick, or refuses with the node's name, and heeds signals:
python onnx_large.py INFC FOLDER [CASE]"""
import os
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import numpy as np

import onnx_cases as oc
from onnx_cases import i64, parse_node

MEMORY = 1 << 30  # bytes that a compile may have
SECONDS = 20
SHADOW = "INFC_SHADOW_MEMORY" in os.environ
if SHADOW:
    os.environ["ASAN_OPTIONS"] = os.environ.get("ASAN_OPTIONS", "") + ":hard_rss_limit_mb=2048"
ONE, CUBE, IMAGE, COLUMN, ROW = [1], [2, 3, 4], [1, 1, 4, 4], [60000, 1], [1, 60000]


def f32(*values):
    return np.array(values, np.float32)


def cases():
    """name, nodes, inputs, constants, what is said: a refusal when it begins with "!"; "" when nothing has to be."""
    ones = np.ones(CUBE, np.float32)
    add = "Add t,x -> y"
    yield "tile", ["Tile x,r -> y"], {"x": CUBE}, {"r": i64(1, 1, 10**8)}, ""
    yield "tile_sum", ["Tile x,r -> t", "ReduceSum t -> y"], {"x": CUBE}, {"r": i64(1, 1, 10**8)}, ""
    yield "tile_constant", ["Tile c,r -> t", add], {"x": ONE}, {"c": ones, "r": i64(1, 1, 10**8)}, ""
    yield "tile_integers", ["Tile c,r -> t", ("Cast t -> f", {"to": 1}), "Add f,x -> y"], {"x": ONE}, {
        "c": i64(1, 2), "r": i64(10**9)}, "!constants with over 1000 million operations"
    yield "tile_all", ["Tile x,r -> y"], {"x": CUBE}, {"r": i64(10**6, 10**6, 10**6)}, "!too many elements; the limit is 2^40"
    yield "expand", ["Expand x,r -> y"], {"x": ONE}, {"r": i64(10**11)}, "activations, inputs and outputs take 4000000000"
    yield "expand_constant", ["Expand c,r -> t", add], {"x": ONE}, {
        "c": np.ones([1, 9], np.float32), "r": i64(10**9, 9)}, ""
    yield "pad", ["Pad x,p -> y"], {"x": CUBE}, {"p": i64(0, 0, 0, 0, 0, 10**8)}, ""
    yield "pad_constant", ["Pad c,p -> t", add], {"x": ONE}, {"c": ones, "p": i64(0, 0, 0, 0, 0, 10**8)}, ""
    for mode in "nearest", "linear":
        yield f"resize_{mode}", [("Resize x,,s -> y", {"mode": mode})], {"x": IMAGE}, {"s": f32(1, 1, 10**5, 10**5)}, "tensor \"y\""
    yield "constant_of_shape", ["ConstantOfShape r -> t", add], {"x": ONE}, {"r": i64(10**5, 10**5)}, "!a constant of 10000000000"
    yield "constants", [f"ConstantOfShape r -> t{i}" for i in range(8)] + ["Sum t0,t1,t2,t3,t4,t5,t6,t7,x -> y"], {"x": ONE}, {
        "r": i64(4000, 4000)}, "!exceed 256 MiB in all"
    yield "range", ["Range a,b,d -> t", add], {"x": ONE}, {"a": np.float32(0), "b": np.float32(1e9), "d": np.float32(1)}, "!1000000000 elements"
    joined = ["Concat " + ",".join(["x"] * 60) + " -> t0"]
    joined += [f"Concat {','.join([f't{i}'] * 60)} -> t{i + 1}" for i in range(4)]
    joined = [(n, {"axis": 0}) for n in joined]
    yield "concat", joined + ["Neg t4 -> y"], {"x": CUBE}, {}, "tensor \"t4\""
    yield "gather", ["Expand k,r -> i", "Gather x,i -> y"], {"x": CUBE}, {"k": i64(0), "r": i64(10**8)}, "!256 MiB"
    yield "transposed_conv", [("ConvTranspose x,w -> y", {"strides": [30000, 30000]})], {"x": IMAGE}, {"w": np.ones([1, 1, 2, 2], np.float32)}, "!exceed 256 MiB in all"
    yield "one_hot", ["OneHot k,d,v -> y"], {"k": np.zeros(9, np.int64)}, {"d": i64(2 * 10**9), "v": f32(0, 1)}, "!exceed 256 MiB in all"
    yield "one_hot_constant", ["OneHot k,d,v -> t", add], {"x": ONE}, {"k": i64(1, 2, 3), "d": i64(10**9), "v": f32(0, 1)}, "!"
    yield "conv_pads", [("Conv x,w -> y", {"pads": [50000] * 4})], {"x": IMAGE}, {"w": np.ones([1, 1, 2, 2], np.float32)}, "tensor \"y\""
    yield "pool_pads", [("AveragePool x -> y", {"pads": [30000] * 4, "kernel_shape": [40000, 40000]})], {"x": IMAGE}, {}, ""
    yield "broadcast", ["Add x,z -> y"], {"x": COLUMN, "z": ROW}, {}, ""
    yield "broadcast_constants", ["Add a,b -> t", add], {"x": ONE}, {"a": np.ones(COLUMN, np.float32), "b": np.ones(ROW, np.float32)}, ""
    yield "outer_product", ["MatMul x,z -> y"], {"x": COLUMN, "z": ROW}, {}, ""
    yield "rows_of_lstm", ["Expand x,r -> t", ("LSTM t,w,v -> y", {"hidden_size": 4})], {"x": [1, 1, 1]}, {
        "r": i64(10**7, 10, 1), "w": np.ones([1, 16, 1], np.float32), "v": np.ones([1, 16, 4], np.float32)}, "(LSTM)"


def save(folder, name, nodes, inputs, constants):
    made = oc.model([parse_node(n) for n in nodes], inputs, {"y": []}, constants)
    for node in made.graph.node:
        node.name = "the " + node.op_type
    made.graph.output[0].type.tensor_type.ClearField("shape")
    return oc.save(folder, name, made)


def compile_words(infc, path, *more):
    return [infc, "compile", path, "--target", "x86-64", "-o", path + ".out", *more]


def limit():
    if SHADOW:  # a sanitizer maps terabytes and limits what is resident itself
        return
    resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, MEMORY))


def run_case(infc, folder, name, nodes, inputs, constants, said):
    path = save(folder, name, nodes, inputs, constants)
    done = subprocess.run(compile_words(infc, path, "--stop-after", "emit"), capture_output=True, text=True,
                          preexec_fn=limit, timeout=SECONDS)
    refused = said.startswith("!")
    if done.returncode != (3 if refused else 0) or said.strip("!") not in done.stderr or refused and "the " not in done.stderr:
        raise AssertionError(f"exit {done.returncode}, expected {said or 'nothing'}: {done.stderr}")


def interrupted(infc, folder, name, nodes, inputs, constants):
    """A signal in the middle of what takes long: it ends within moments and leaves nothing."""
    path = save(folder, name, nodes, inputs, constants)
    shutil.rmtree(path + ".out", ignore_errors=True)
    for number in signal.SIGTERM, signal.SIGINT:
        job = subprocess.Popen(compile_words(infc, path), stderr=subprocess.PIPE, text=True,
                               env=os.environ | {"INFC_CACHE": tempfile.mkdtemp(dir=folder)},  # nothing of it is there yet
                               preexec_fn=lambda: [signal.signal(n, signal.SIG_DFL) for n in (signal.SIGINT, signal.SIGTERM)])
        while job.poll() is None and not os.path.exists(path + ".out"):  # made before the model is read
            time.sleep(0.01)
        time.sleep(0.3)
        assert job.poll() is None, "too quick to interrupt"
        start = time.monotonic()
        job.send_signal(number)
        _, err = job.communicate(timeout=SECONDS)
        assert job.returncode == 128 + number and "interrupted" in err, (job.returncode, err)
        assert time.monotonic() - start < 5, time.monotonic() - start
        assert not os.path.exists(path + ".out")


def all_cases(infc, folder):
    for case in cases():
        yield case[0], lambda case=case: run_case(infc, folder, *case)
    square = np.ones([1900, 1900], np.float32)  # 14 billion operations, done by the plan
    yield "interrupted_plan", lambda: interrupted(infc, folder, "interrupted_plan", ["MatMul c,c -> t", "Add t,x -> y"], {"x": ONE}, {
        "c": square})
    products = ["Expand s,r -> e0"] + [f"Mul e{i},s -> e{i + 1}" for i in range(24)]  # a second and more
    products += [("Gather e24,s -> e"), ("Cast e -> f", {"to": 1}), "Add f,x -> y"]
    yield "interrupted_import", lambda: interrupted(infc, folder, "interrupted_import", products, {"x": ONE}, {
        "s": i64(1), "r": i64(1300000)})


if __name__ == "__main__":
    sys.exit(oc.main(all_cases))
