#!/usr/bin/env python3
"""Real models beside ONNX Runtime and OpenVINO, in turns in one run; prints a table and RESULT lines.

usage: onnx_peers.py INFC SOURCE_DIR WORK_DIR [--all] [--threads 1,2] [--rounds N] [NAME...]

Needs `pip install openvino==2026.4.1` beside the packages of the tests; without it the column says so. Which models,
and where from: tests/e2e/models.json, as tests/e2e/models.py; that script decides about errors, this one only times.
- Latency: per round each engine runs for about half a second, one after the other; the figure is the median of the
  rounds' medians. Both peers are told the number of threads and one stream, OpenVINO f32 (no bf16).
- Load: from the file to an engine that is ready, without a first inference. For infc the whole process of
  `model info`, its start included; for the peers the calls in a process that has imported them already.
- vs_best is infc's time as a part of the better peer's: below 1 is faster. Ratios are what to compare between machines.
"""
import argparse
import json
import math
import pathlib
import shutil
import statistics
import subprocess
import sys
import time

import numpy as np
import onnxruntime

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "e2e"))
import model_files  # noqa: E402

try:
    import openvino
except ImportError:
    openvino = None

SECONDS = 0.5


def timed(call):
    start = time.perf_counter()
    value = call()
    return value, (time.perf_counter() - start) * 1e3


def sample(call):
    """Median milliseconds of a call repeated for SECONDS, five times at least."""
    times, stop = [], time.perf_counter() + SECONDS
    while len(times) < 5 or time.perf_counter() < stop:
        times.append(timed(call)[1])
    return statistics.median(times)


def onnxruntime_engine(path, feeds, threads):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads, options.inter_op_num_threads = threads, 1
    session, load = timed(lambda: onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"]))
    session.run(None, feeds)
    return (lambda: session.run(None, feeds)), load


def openvino_engine(path, feeds, threads):
    def load():
        core = openvino.Core()
        model = core.read_model(path)
        model.reshape({name: list(value.shape) for name, value in feeds.items()})
        hints = {"INFERENCE_PRECISION_HINT": "f32", "INFERENCE_NUM_THREADS": threads, "NUM_STREAMS": 1, "PERFORMANCE_HINT": "LATENCY"}
        return core.compile_model(model, "CPU", hints)
    compiled, milliseconds = timed(load)
    request = compiled.create_infer_request()
    request.infer(feeds)
    return (lambda: request.infer(feeds)), milliseconds


def infc_sample(program, threads):
    command = [program, "bench", "--json", "--threads", str(threads), "--seconds", str(SECONDS)]
    return json.loads(subprocess.run(command, capture_output=True, check=True).stdout)["p50_ns"] / 1e6


def compare(program, path, feeds, threads, rounds):
    """{engine: (latency ms, load ms)}; an engine that cannot run the model is missing, with its reason printed."""
    engines = {"infc": (lambda: infc_sample(program, threads), None)}
    for name, make in (("onnxruntime", onnxruntime_engine), ("openvino", openvino_engine if openvino else None)):
        if not make:
            continue
        try:
            call, load = make(path, feeds, threads)
            engines[name] = (lambda call=call: sample(call), load)
        except Exception as problem:  # a peer's refusal is its own business, and is shown
            print(f"{name} does not run {path.name}: {str(problem).splitlines()[0]}", file=sys.stderr)
    figures = {name: [] for name in engines}
    for _ in range(rounds):
        for name, (measure, _) in engines.items():
            figures[name].append(measure())
    loads = {name: load for name, (_, load) in engines.items()}
    loads["infc"] = statistics.median(timed(lambda: subprocess.run([program, "info"], stdout=subprocess.DEVNULL, check=True))[1] for _ in range(9))
    return {name: (statistics.median(times), loads[name]) for name, times in figures.items()}


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
    return parser.parse_args()


def main():
    args, failed, ratios = parse(), 0, {}
    shutil.rmtree(args.work, ignore_errors=True)
    args.work.mkdir(parents=True)
    models = model_files.read_list(args.source)
    chosen = [m for m in models if m["name"] in args.names or args.all or (not args.names and m.get("sampled"))]
    versions = f"ONNX Runtime {onnxruntime.__version__}, " + (f"OpenVINO {openvino.__version__}" if openvino else "OpenVINO not installed")
    print(f"{len(chosen)} of {len(models)} models; {versions}; milliseconds, medians")
    print("| model | threads | infc | ONNX Runtime | OpenVINO | vs best | load vs best |\n|---|---:|---:|---:|---:|---:|---:|")
    for model in chosen:
        try:
            path, feeds, program = prepare(args, model)
        except RuntimeError as problem:
            failed += 1
            print(f"FAILED {model['name']}: {problem}")
            continue
        for threads in args.threads:
            ratios[model["name"], threads] = row(model["name"], threads, compare(program, path, feeds, threads, args.rounds))
    if ratios:
        results(ratios)
    return failed > 0


if __name__ == "__main__":
    np.seterr(all="ignore")
    sys.exit(main())
