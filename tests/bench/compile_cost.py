#!/usr/bin/env python3
"""Seconds and peak memory of compiling each model of tests/e2e/models.json.

usage: compile_cost.py INFC SOURCE_DIR WORK_DIR [NAME...]

Prints `RESULT compile.<model>.cold` (an empty cache), `.again` (after a change of the spec that changes no weights:
a budget), `.mib` (the larger peak of the two, of infc or a tool it ran) and `.mib.limit` (1.2 times the model
file and 300 MiB); exits 1 when one is over 20 s, 2 s or the limit, or does not compile.
"""
import os
import pathlib
import shutil
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "e2e"))
import model_files  # noqa: E402

LIMITS = {"cold": 20, "again": 2}


def measure(command, cache):
    start = time.perf_counter()
    environment = dict(os.environ, XDG_CACHE_HOME=str(cache))
    with subprocess.Popen([str(c) for c in command], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, env=environment) as run:
        text = run.stderr.read()
        _, status, usage = os.wait4(run.pid, 0)
        run.returncode = os.waitstatus_to_exitcode(status)
    if run.returncode:
        raise RuntimeError(text)
    return time.perf_counter() - start, usage.ru_maxrss / 1024


def main():
    if len(sys.argv) < 4:
        sys.exit(__doc__)
    infc, source, work = (pathlib.Path(a).resolve() for a in sys.argv[1:4])
    over = 0
    for model in model_files.read_list(source):
        if sys.argv[4:] and model["name"] not in sys.argv[4:]:
            continue
        shutil.rmtree(work, ignore_errors=True)
        work.mkdir(parents=True)
        try:
            path = model_files.fetch(work.parent / "model-cache", model)
            command = model_files.compile_command(infc, path, model, work / "out")
            cold = measure(command, work / "cache")
            again = measure(command + ["--set", "budgets={file: 8GiB}"], work / "cache")
        except RuntimeError as problem:
            print(f"FAILED {model['name']}: {problem}", flush=True)
            over += 1
            continue
        limit = 1.2 * path.stat().st_size / 2**20 + 300
        mib = max(cold[1], again[1])
        over += mib > limit or cold[0] > LIMITS["cold"] or again[0] > LIMITS["again"]
        for name, value, unit in ("cold", cold[0], "s"), ("again", again[0], "s"), ("mib", mib, "MiB"), ("mib.limit", limit, "MiB"):
            print(f"RESULT compile.{model['name']}.{name} {value:.3g} {unit}", flush=True)
    shutil.rmtree(work, ignore_errors=True)
    return over > 0


if __name__ == "__main__":
    sys.exit(main())
