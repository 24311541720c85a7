#!/usr/bin/env python3
"""Seconds and peak memory of compiling each model of tests/e2e/models.json.

usage: compile_cost.py INFC SOURCE_DIR WORK_DIR [NAME...]

Per model, three compiles: cold (an empty cache), warm (the same again) and edit (the spec changed in what touches no
weight: the licence that every emitted file carries, and a budget). Prints for each its seconds, and those of its
processor time; peak_mb is the largest of infc and the tools that it ran. Each begins when all that was written is on the
disk: what a compile writes after gigabytes of others waits for these. RESULT lines have the same as
`<model>.compile.cold_s`, ... ; exits 1 when a model is over its limits (20 s cold, 2 s warm or edited, 1.2 times the
model file and 300 MB), or does not compile.
"""
import multiprocessing
import os
import pathlib
import shutil
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "e2e"))
import model_files  # noqa: E402

EDIT = ["--set", "output={license: Apache-2.0}", "--set", "budgets={file: 8GiB}"]
RUNS = [("cold", [], 20), ("warm", [], 2), ("edit", EDIT, 2)]
MB = 1e6


def measure(command, cache):
    """Seconds, seconds of processor time and peak bytes of a command and all that it started."""
    os.sync()
    start = time.perf_counter()
    environment = dict(os.environ, XDG_CACHE_HOME=str(cache))
    with subprocess.Popen([str(c) for c in command], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, env=environment) as run:
        text = run.stderr.read()
        _, status, usage = os.wait4(run.pid, 0)
        run.returncode = os.waitstatus_to_exitcode(status)
    if run.returncode:
        raise RuntimeError(text)
    return time.perf_counter() - start, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024


def measure_model(infc, cache, work, model):
    """(name, value, limit or None) of each figure."""
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    fill = multiprocessing.Process(target=model_files.fetch, args=(cache, model))  # its memory would count as a compile's
    fill.start()
    fill.join()
    path = model_files.fetch(cache, model)
    command = model_files.compile_command(infc, path, model, work / "out")
    figures, peak = [], 0
    for name, more, limit in RUNS:
        seconds, cpu, memory = measure(command + more, work / "cache")
        figures += [(f"{name}_s", seconds, limit), (f"{name}_cpu_s", cpu, None)]
        peak = max(peak, memory)
    return figures + [("peak_mb", peak / MB, 1.2 * path.stat().st_size / MB + 300)]


def main():
    if len(sys.argv) < 4:
        sys.exit(__doc__)
    infc, source, work = (pathlib.Path(a).resolve() for a in sys.argv[1:4])
    over, lines = [], []
    print(f"{'model':20} {'cold s':>7} {'cpu':>6} {'warm s':>7} {'cpu':>6} {'edit s':>7} {'cpu':>6} {'peak MB':>8} {'limit':>6}")
    for model in model_files.read_list(source):
        if sys.argv[4:] and model["name"] not in sys.argv[4:]:
            continue
        try:
            figures = measure_model(infc, work.parent / "model-cache", work, model)
        except RuntimeError as problem:
            print(f"FAILED {model['name']}: {problem}", flush=True)
            over.append(model["name"])
            continue
        values = [value for _, value, _ in figures] + [figures[-1][2]]
        print(f"{model['name']:20} {values[0]:7.2f} {values[1]:6.2f} {values[2]:7.2f} {values[3]:6.2f} {values[4]:7.2f} {values[5]:6.2f} "
              f"{values[6]:8.0f} {values[7]:6.0f}", flush=True)
        lines += [f"RESULT {model['name']}.compile.{name} {value:.3g}" for name, value, _ in figures]
        over += [f"{model['name']}.{name}" for name, value, limit in figures if limit and value > limit]
    print(*lines, sep="\n")
    print(f"over their limits: {', '.join(over) or 'none'}")
    shutil.rmtree(work, ignore_errors=True)
    return bool(over)


if __name__ == "__main__":
    sys.exit(main())
