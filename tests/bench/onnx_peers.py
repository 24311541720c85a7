#!/usr/bin/env python3
"""Real models beside ONNX Runtime and OpenVINO, in turns in one run; prints a table and RESULT lines.

usage: onnx_peers.py INFC SOURCE_DIR WORK_DIR [--all] [--threads 1,2] [--rounds N] [NAME...]

Needs `pip install openvino==2026.4.1` beside the packages of the tests; without it the column says so. Which models,
and where from: tests/e2e/models.json, as tests/e2e/models.py; that script decides about errors, this one only times. How: tests/e2e/peer_engines.py.
- Latency: per round each engine runs for about half a second, one after the other; the figure is the median of the
  rounds' medians.
- Load: from the file to an engine that is ready, without a first inference.
- vs_best is infc's time as a part of the better peer's: below 1 is faster. Ratios are what to compare between machines.
"""
import argparse
import math
import pathlib
import shutil
import statistics
import subprocess
import sys

import numpy as np
import onnxruntime

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "e2e"))
import model_files  # noqa: E402
import peer_engines  # noqa: E402


def prepare(args, model):
    path = model_files.fetch(args.work.parent / "model-cache", model)
    session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    feeds, out = model_files.inputs(session, model), args.work / model["name"]
    command = [str(c) for c in model_files.compile_command(args.infc, path, model, out)]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(done.stderr)
    return path, feeds, out / "model"


def row(name, threads, figures):
    ours, peers = figures["infc"], [v for k, v in figures.items() if k != "infc"]
    latency, load = ours[0] / min(p[0] for p in peers), ours[1] / min(p[1] for p in peers)
    cell = {k: f"{v[0]:.2f}" for k, v in figures.items()}
    print(f"| {name} | {threads} | {cell['infc']} | {cell['onnxruntime']} | {cell.get('openvino', '-')} | {latency:.2f} | {load:.3f} |", flush=True)
    return latency, load


def results(ratios):
    for (name, threads), (latency, load) in ratios.items():
        print(f"RESULT {name}.t{threads}.latency.vs_best {latency:.3g}")
        print(f"RESULT {name}.t{threads}.load.vs_best {load:.3g}")
    latencies = [latency for latency, _ in ratios.values()]
    print(f"RESULT geomean.latency.vs_best {math.exp(statistics.mean(map(math.log, latencies))):.3g}")
    print(f"RESULT worst.latency.vs_best {max(latencies):.3g}")


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("infc", "source", "work"):
        parser.add_argument(name, type=lambda a: pathlib.Path(a).resolve())
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--threads", default="1,2", type=lambda a: [int(n) for n in a.split(",")])
    parser.add_argument("--rounds", default=5, type=int)
    return parser.parse_intermixed_args()


def main():
    args, failed, ratios = parse(), 0, {}
    shutil.rmtree(args.work, ignore_errors=True)
    args.work.mkdir(parents=True)
    models = model_files.read_list(args.source)
    chosen = [m for m in models if m["name"] in args.names or args.all or (not args.names and m.get("sampled"))]
    print(f"{len(chosen)} of {len(models)} models; {peer_engines.versions()}; milliseconds, medians")
    print("| model | threads | infc | ONNX Runtime | OpenVINO | vs best | load vs best |\n|---|---:|---:|---:|---:|---:|---:|")
    for model in chosen:
        try:
            path, feeds, program = prepare(args, model)
        except RuntimeError as problem:
            failed += 1
            print(f"FAILED {model['name']}: {problem}")
            continue
        for threads in args.threads:
            ratios[model["name"], threads] = row(model["name"], threads, peer_engines.compare(program, path, feeds, threads, args.rounds))
    if ratios:
        results(ratios)
    return failed > 0


if __name__ == "__main__":
    np.seterr(all="ignore")
    sys.exit(main())
