#!/usr/bin/env python3
"""If and Loop of which only the run decides: binaries agree with ONNX Runtime whatever is taken, with 1, 2 and 3 workers; what
is not taken is not computed; `infc verify` compares what is; a loop that goes on for too long fails and says so.

usage: run_time_control.py INFC SOURCE_DIR WORK_DIR [CASE]
"""
import json
import pathlib
import shutil
import subprocess
import sys

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "fault"))
from onnx_control import STEP, choose, graph, model, node  # noqa: E402

BOOL, INT64 = TensorProto.BOOL, TensorProto.INT64
W = np.random.default_rng(5).standard_normal((40, 40)).astype(np.float32) / 6
X = np.random.default_rng(6).standard_normal((9, 40)).astype(np.float32)
STATE = STEP | {"a": (TensorProto.FLOAT, [9, 40])}
yes, no = np.array(True), np.array(False)


def with_inputs(made, **types):
    for name, (dtype, shape) in types.items():
        made.graph.input.append(helper.make_tensor_value_info(name, dtype, shape))
    return made


def cases():
    """name, model, max_trips, and the runs: inputs, and how many MatMul steps they take (None: as many as it likes)."""
    x = {"x": [9, 40]}
    product, negated = graph(["MatMul x,w -> p", "Relu p -> q"], {}, ["q"]), graph(["Neg x -> n"], {}, ["n"])
    flag = model([choose("c", product, negated), "Abs y -> z"], x, {"w": W}, ("z", "y"))
    yield "flag", with_inputs(flag, c=(BOOL, [])), 0, [({"x": X, "c": yes}, 1), ({"x": X, "c": no}, 0)]
    yield "computed", model(["ReduceSum x -> s", "Greater s,k -> c", choose("c", product, negated)], x, {
        "w": W, "k": np.float32(0)}), 0, [({"x": abs(X)}, 1), ({"x": -abs(X)}, 0)]
    # The inner condition is computed in a branch: it has no value in runs that take the other.
    inner = graph(["MatMul x,w -> p", "ReduceMax p -> t", "Greater t,k -> c2",
                   choose("c2", graph(["MatMul p,w -> m2"], {}, ["m2"]), graph(["Sigmoid p -> m3"], {}, ["m3"]), "m")], {}, ["m"])
    yield "nested", with_inputs(model([choose("c", inner, negated)], x, {"w": W, "k": np.float32(0)}), c=(BOOL, [1])), 0, [
        ({"x": X, "c": np.array([True])}, 2), ({"x": X * 0, "c": np.array([True])}, 1), ({"x": X, "c": np.array([False])}, 0)]
    shared = graph(["MatMul x,w -> p1", "Tanh p1 -> q1"], {}, ["q1"])  # equal products of both branches become one
    yield "shared", with_inputs(model([choose("c", shared, product)], x, {"w": W}), c=(BOOL, [])), 0, [
        ({"x": X, "c": yes}, 1), ({"x": X, "c": no}, 1)]
    two = graph(["Add x,x -> d", "Shape x -> e"], {}, ["d", "e"])
    given = graph(["Identity x -> x2"], {}, ["x2", "k2"], {"k2": np.array([7, 8], np.int64)})
    numbers = with_inputs(model([choose("c", two, given, "y,z"), "Neg z -> v"], x, {}, ("y", "v")), c=(BOOL, []))
    numbers.graph.output[1].type.tensor_type.elem_type = INT64
    yield "two", numbers, 0, [({"x": X, "c": yes}, 0), ({"x": X, "c": no}, 0)]
    # An index that is out of range only where its row is not taken.
    row = graph(["Gather x,i -> r"], {}, ["r"])
    none = graph([], {}, ["zero"], {"zero": np.zeros(40, np.float32)})
    yield "index", with_inputs(model(["Less i,n -> c", choose("c", row, none)], x, {"n": np.int64(9)}), i=(INT64, [])), 0, [
        ({"x": X, "i": np.array(8)}, 0), ({"x": X, "i": np.array(9)}, 0), ({"x": X, "i": np.array(1 << 40)}, 0)]
    body = graph(["MatMul a,w -> out", "ReduceMax out -> t", "Less t,k -> on"], STATE, ["on", "out"])
    yield "while", model([node("Loop", "m,c,x", "y", body=body)], x, {
        "w": W * 2, "k": np.float32(30), "m": np.int64(2**63 - 1), "c": yes}), 9, [
        ({"x": X}, None), ({"x": X / 20}, None), ({"x": X * 100}, 1)]
    yield "counted", with_inputs(model([node("Loop", "m,,x", "y", body=graph(
        ["MatMul a,w -> out", "Identity go -> on"], STATE, ["on", "out"]))], x, {"w": W}), m=(INT64, [])), 6, [
        ({"x": X, "m": np.array(n)}, n) for n in (0, 1, 5, 6)]
    both = graph([("Cast i -> f", {"to": 1}), "Add f,k -> g", "Mul a,g -> b", "MatMul b,w -> out", "ReduceMax out -> t",
                  "Less t,k9 -> on"], STATE, ["on", "out"])
    yield "both", with_inputs(model([node("Loop", "m,c,x", "y", body=both), "Relu y -> z"], x, {
        "w": W, "k": np.float32(1), "k9": np.float32(9)}, ("z", "y")), m=(INT64, [1]), c=(BOOL, [])), 5, [
        ({"x": X, "m": np.array([n]), "c": c}, None) for n in (0, 2, 5) for c in (yes, no)]
    stop = graph([choose("go2", graph(["MatMul a,w -> m1"], {}, ["m1"]), graph(["Neg a -> m2"], {}, ["m2"]), "out"),
                  "Identity go -> on"], STATE, ["on", "out"])
    yield "loop_of_if", with_inputs(model([node("Loop", "m,,x", "y", body=stop)], x, {"w": W, "m": np.int64(3)}),
                                    go2=(BOOL, [])), 0, [({"x": X, "go2": yes}, 3), ({"x": X, "go2": no}, 0)]


def steps_of(trace, op):
    """How many steps of worker 0 are of nodes with that operator."""
    events = json.loads(trace.read_text())
    events = events["traceEvents"] if isinstance(events, dict) else events
    return sum(e.get("tid", 0) in (0, "0") and e.get("ph") == "X" and f"({op})" in str(e) for e in events)


def run_case(infc, work, name, made, max_trips, runs):
    folder = work / name
    folder.mkdir()
    onnx.save(made, folder / "model.onnx")
    sets = ["--set", f"loops.max_trips={max_trips}"] if max_trips else []
    subprocess.run([infc, "compile", folder / "model.onnx", "--set", "name=control", *sets, "-o", folder / "out"], check=True,
                   capture_output=True, text=True)
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    reference = onnxruntime.InferenceSession(folder / "model.onnx", options)
    for feeds, products in runs:
        np.savez(folder / "in.npz", **feeds)
        want = dict(zip([o.name for o in made.graph.output], reference.run(None, feeds)))
        for threads in "123":
            subprocess.run([folder / "out/control", "run", "--inputs", folder / "in.npz", "--outputs", folder / "out.npz",
                            "--threads", threads, "--profile", folder / "trace.json"], check=True, capture_output=True)
            got = np.load(folder / "out.npz")
            for key, value in want.items():
                assert got[key].shape == value.shape, (name, key, got[key].shape, value.shape)
                scale = max(1e-30, np.abs(value).max())
                error = np.abs(got[key].astype(float) - value).max() / scale
                assert error <= 1e-5, (name, key, threads, error)
            done = steps_of(folder / "trace.json", "MatMul")
            assert products is None or done == products, (name, threads, done, products)
        subprocess.run([infc, "verify", folder / "model.onnx", *sets, "--inputs", folder / "in.npz"], check=True,
                       capture_output=True, text=True)


def too_long(infc, work):
    folder = work / "counted"
    np.savez(folder / "in.npz", x=X, m=np.array(7))
    for threads in "12":
        done = subprocess.run([folder / "out/control", "run", "--inputs", folder / "in.npz", "--threads", threads],
                              capture_output=True, text=True)
        assert done.returncode == 3 and "raise loops.max_trips" in done.stderr, (done.returncode, done.stderr)


def unended(infc, work):
    """A loop that made-up inputs, of [-1, 1), never end: it is compiled, without a self-check, and runs on inputs that end it."""
    folder = work / "unended"
    folder.mkdir()
    body = graph(["Add a,k -> out", "ReduceMax out -> t", "Less t,n -> on"], STEP | {"a": (TensorProto.FLOAT, [3])}, ["on", "out"])
    made = model([node("Loop", ",c,x", "y", body=body)], {"x": [3]}, {"c": yes, "k": np.float32(1), "n": np.float32(100)})
    onnx.save(made, folder / "model.onnx")
    for kinds in "[static-library]", "[binary]":
        done = subprocess.run([infc, "compile", folder / "model.onnx", "--set", "name=control", "--set", "loops.max_trips=4", "--set",
                               f"output.kinds={kinds}", "-o", folder / "out"], capture_output=True, text=True)
        assert done.returncode == 0 and 'node "the Loop" (Loop): no self-check is recorded' in done.stderr, (done.returncode, done.stderr)
    run = lambda *args: subprocess.run([folder / "out/control", *args], capture_output=True, text=True)
    verified = run("verify")
    assert verified.returncode == 0 and "not run, made-up inputs do not suit this model" in verified.stdout, verified
    for most, trips in (200, 1), (97.5, 3), (96.5, 4), (95, None):
        x = np.array([most, 2, -3], np.float32)
        np.savez(folder / "in.npz", x=x)
        done = run("run", "--inputs", folder / "in.npz", "--outputs", folder / "out.npz")
        assert done.returncode == (0 if trips else 3) and ("raise loops.max_trips" in done.stderr) != bool(trips), (most, done)
        assert not trips or (np.load(folder / "out.npz")["y"] == x + trips).all(), most


def lengths(infc, work):
    """sequence_lens of a run: refused outside 0 .. steps, whether the steps are fixed or known by the run only."""
    rng = np.random.default_rng(9)
    weights = {"w": rng.standard_normal((1, 12, 4)).astype(np.float32), "r": rng.standard_normal((1, 12, 3)).astype(np.float32)}
    for name, steps, sets in ("fixed", 5, []), ("open", "t", ["--set", "shapes={t: 2..8}"]):
        folder = work / f"lengths_{name}"
        folder.mkdir()
        made = with_inputs(model([("LSTM x,w,r,,l,h,c -> y,yh,yc", {"hidden_size": 3})], {
            "x": [steps, 2, 4], "h": [1, 2, 3], "c": [1, 2, 3]}, weights, ("y", "yh", "yc")), l=(TensorProto.INT32, [2]))
        onnx.save(made, folder / "model.onnx")
        subprocess.run([infc, "compile", folder / "model.onnx", "--set", "name=control", *sets, "-o", folder / "out"], check=True,
                       capture_output=True, text=True)
        feeds = {k: rng.standard_normal(s).astype(np.float32) for k, s in (("x", (5, 2, 4)), ("h", (1, 2, 3)), ("c", (1, 2, 3)))}
        for given in (5, 1), (3, 5), (0, 5), (6, 1), (1, -1), (2**31 - 1, 5), (-2**31, 5):
            np.savez(folder / "in.npz", l=np.array(given, np.int32), **feeds)
            done = subprocess.run([folder / "out/control", "run", "--inputs", folder / "in.npz", "--outputs", folder / "out.npz"],
                                  capture_output=True, text=True)
            fits = all(0 <= n <= 5 for n in given)
            assert done.returncode == (0 if fits else 3) and ("sequence_lens" in done.stderr) != fits, (name, given, done.stderr)
            if fits and 0 in given:  # no step: the state stays
                got = np.load(folder / "out.npz")
                assert (got["yh"][0, 0] == feeds["h"][0, 0]).all() and (got["yc"][0, 0] == feeds["c"][0, 0]).all()
            elif fits:
                want = onnxruntime.InferenceSession(folder / "model.onnx").run(None, dict(feeds, l=np.array(given, np.int32)))
                for key, value in zip(("y", "yh", "yc"), want):
                    assert np.abs(np.load(folder / "out.npz")[key] - value).max() < 1e-5, (name, given, key)
        subprocess.run([infc, "verify", folder / "model.onnx", *sets], check=True, capture_output=True, text=True)


def made_up(infc, work):
    """Inputs that verify and bench make up are indices that the model can take, and where they are not, it is said."""
    table, index = np.ones((9, 4), np.float32), {"i": (INT64, [3])}
    constants = {"t1": table[:1], "t2": table[:2], "t9": table, "n7": np.int64(7), "n50": np.int64(50), "n5": np.int64(5)}
    for name, nodes, inputs in (
            ("one_row", ["Gather t1,i -> y"], index),
            ("from_7", ["Sub i,n7 -> c", "Gather t2,c -> y"], index),
            ("below_0", ["Add i,n50 -> c", "Gather t2,c -> y"], index),
            ("both", ["Gather t9,i -> a", "Gather t1,i -> b", "Add a,b -> y"], index),
            ("bytes", [("Cast i -> c", {"to": 7}), "Gather t2,c -> y"], {"i": (TensorProto.UINT8, [30])}),
            ("elements", ["GatherElements t1,i -> y"], {"i": (INT64, [1, 4])}),
            ("nd", ["GatherND t1,i -> y"], {"i": (INT64, [3, 1])}),
            ("scatter", ["ScatterElements t1,i,t1 -> y"], {"i": (INT64, [1, 4])}),
            ("times_5", ["Mul i,n5 -> c", "Gather t2,c -> y"], {"i": (INT64, [30])})):
        folder = work / f"made_up_{name}"
        folder.mkdir()
        onnx.save(with_inputs(model(nodes, {}, constants, "y"), **inputs), folder / "model.onnx")
        fits = name != "times_5"
        run = lambda *command: subprocess.run([str(c) for c in command], capture_output=True, text=True)
        verified = run(infc, "verify", folder / "model.onnx")
        assert verified.returncode == (0 if fits else 3) and ("made up" in verified.stderr) != fits, (name, verified.stderr)
        run(infc, "compile", folder / "model.onnx", "--set", "name=control", "-o", folder / "out")
        timed = run(folder / "out/control", "bench", "--seconds", "0.01")
        assert timed.returncode == (0 if fits else 3) and ("makes its inputs up" in timed.stderr) != fits, (name, timed.stderr)
        if not fits:
            np.savez(folder / "in.npz", i=np.zeros(30, np.int64))
            verified = run(infc, "verify", folder / "model.onnx", "--inputs", folder / "in.npz")
            assert verified.returncode == 0 and "do not suit" in verified.stdout, (name, verified.stdout, verified.stderr)


def large_integers(infc, work):
    """Shown with all their digits, which doubles have not."""
    folder = work / "large_integers"
    folder.mkdir()
    made = with_inputs(model(["Add i,k -> y", ("Cast y -> z", {"to": 6})], {}, {"k": np.array([2**53 + 1, -2**63 + 1, 5])}, ("y", "z")),
                       i=(INT64, [3]))
    made.graph.output[0].type.tensor_type.elem_type = INT64
    made.graph.output[1].type.tensor_type.elem_type = TensorProto.INT32
    onnx.save(made, folder / "model.onnx")
    subprocess.run([infc, "compile", folder / "model.onnx", "--set", "name=control", "-o", folder / "out"], check=True, capture_output=True)
    np.savez(folder / "in.npz", i=np.array([0, 0, 2**31 - 6]))
    text, said = (subprocess.run([folder / "out/control", "run", "--inputs", folder / "in.npz", *more], check=True,
                                 capture_output=True, text=True).stdout for more in ([], ["--json"]))
    assert "min -9223372036854775807 max 9007199254740993\n" in text.replace("  ", " "), text
    assert " 9007199254740993 -9223372036854775807 2147483647\n" in text, text
    y, z = json.loads(said)["outputs"]
    assert (y["min"], y["max"], y["values"][0]) == (-2**63 + 1, 2**53 + 1, 2**53 + 1) and z["max"] == 2**31 - 1, said


def main():
    infc, work, names = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[3]).resolve(), sys.argv[4:]
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    for case in cases():
        if names and case[0] not in names:
            continue
        try:
            run_case(infc, work, *case)
        except subprocess.CalledProcessError as error:
            sys.exit(f"{case[0]}: {error}\n{error.stdout}\n{error.stderr}")
    if not names:
        too_long(infc, work)
        unended(infc, work)
        lengths(infc, work)
        large_integers(infc, work)
        made_up(infc, work)


if __name__ == "__main__":
    main()
