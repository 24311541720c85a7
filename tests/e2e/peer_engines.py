"""infc's binaries beside ONNX Runtime and, where `pip install openvino==2026.4.1` was done, OpenVINO: in turns in one run.

Both peers are told the number of threads and one stream, OpenVINO f32: no bf16, and no activations that it makes
integers where weights are (of all-MiniLM in int8 that is an error of 9e-3 instead of 5e-7). infc's program is given as
many CPUs and uses as many of them as it finds worth while, as the peers do.
Load is from the file to an engine that is ready, in a process that runs (and has imported the peers) already."""
import json
import os
import statistics
import subprocess
import sys
import time

import onnxruntime

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
        hints = {"INFERENCE_PRECISION_HINT": "f32", "DYNAMIC_QUANTIZATION_GROUP_SIZE": 0, "INFERENCE_NUM_THREADS": threads, "NUM_STREAMS": 1, "PERFORMANCE_HINT": "LATENCY"}
        return core.compile_model(model, "CPU", hints)
    compiled, milliseconds = timed(load)
    request = compiled.create_infer_request()
    request.infer(feeds)
    return (lambda: request.infer(feeds)), milliseconds


def infc_bench(program, threads, seconds):
    """(median milliseconds of a run, milliseconds from main to ready)"""
    cpus = ",".join(map(str, sorted(os.sched_getaffinity(0))[:threads]))
    command = ["taskset", "-c", cpus, program, "bench", "--json", "--seconds", str(seconds)]
    said = json.loads(subprocess.run(command, capture_output=True, check=True).stdout)
    return said["p50_ns"] / 1e6, said["startup_ns"] / 1e6


def compare(program, path, feeds, threads, rounds):
    """{engine: (latency ms, load ms)}; an engine that cannot run the model is missing, with its reason printed."""
    engines = {"infc": (lambda: infc_bench(program, threads, SECONDS)[0], None)}
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
    loads["infc"] = statistics.median(infc_bench(program, threads, 0.001)[1] for _ in range(9))
    return {name: (statistics.median(times), loads[name]) for name, times in figures.items()}


def versions():
    return f"ONNX Runtime {onnxruntime.__version__}, " + (f"OpenVINO {openvino.__version__}" if openvino else "OpenVINO not installed")
