#!/usr/bin/env python3
"""The onnx package's generated node cases in the reference interpreter. conformance.txt says of each case whether it
passes or is refused, and why: a wrong result always fails, and so does a case that passes or is refused against the list. The reasons are for readers.

usage: conformance.py ONNX_EVAL WORK_DIR [--all | --update]

Halves are given and taken as floats, in which they are computed; the list's results are rounded at each step.
Without --all only one case in EVERY is run, chosen by a hash of its name. --update runs all and rewrites the list.
"""
import collections
import concurrent.futures
import hashlib
import pathlib
import re
import subprocess
import sys
import tempfile
import warnings

import numpy as np
import onnx

EVERY = 4
LIST = pathlib.Path(__file__).resolve().parent / "conformance.txt"
REFUSED = range(1, 4)  # exit codes of refusals; 4 and above are internal faults


def sampled(name):
    return int.from_bytes(hashlib.sha256(name.encode()).digest()[:4], "big") % EVERY == 0


def cases():
    """(name, model, inputs, outputs) of the cases whose values are plain numeric tensors."""
    from onnx.backend.test.case.node import collect_testcases
    for case in collect_testcases(None):
        if not case.data_sets:
            continue
        inputs, outputs = (list(values) for values in case.data_sets[0])
        if all(isinstance(v, (np.ndarray, np.generic)) and v.dtype.kind in "fiub" for v in inputs + outputs):
            yield case.name, case.model, [np.asarray(v) for v in inputs], [np.asarray(v) for v in outputs]


def reason(text):
    """The first error without what depends on the case's place and names."""
    line = next((x for x in text.splitlines() if "error" in x), "no error line")
    line = re.sub(r'node "[^"]*" ?', "", re.sub(r"^.*?error: ", "", line))
    return re.sub(r"(is not supported) \(.*", r"\1", line)[:90].strip()


def equal(got, want):
    if want.dtype.kind != "f":
        return np.array_equal(got, want)
    rtol, atol = (4e-3, 4e-3) if want.dtype == np.float16 else (1e-3, 1e-5)  # eight roundings to 11 bits
    return np.allclose(got.astype(np.float64), want.astype(np.float64), rtol=rtol, atol=atol, equal_nan=True)


def held(dtype):
    return np.dtype(np.float32) if dtype == np.float16 else dtype


def run(tool, folder, model, inputs, outputs):
    with tempfile.TemporaryDirectory(dir=folder) as work:
        return run_in(pathlib.Path(work), tool, model, inputs, outputs)


def run_in(work, tool, model, inputs, outputs):
    onnx.save(model, work / "model.onnx")
    command = [tool, work / "model.onnx"]
    for i, value in enumerate(inputs):
        np.ascontiguousarray(value, held(value.dtype)).tofile(work / f"in{i}")
        command += ["--input", work / f"in{i}"]
    for i in range(len(outputs)):
        command += ["--output", work / f"out{i}"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    except subprocess.TimeoutExpired:
        return "WRONG more than 60 s"
    if done.returncode in REFUSED:
        return "refused " + reason(done.stderr)
    if done.returncode:
        return f"WRONG exit code {done.returncode}: {reason(done.stderr)}"
    for i, want in enumerate(outputs):
        data = (work / f"out{i}").read_bytes()
        if len(data) != want.size * held(want.dtype).itemsize:
            return f"WRONG output {i} has {len(data)} bytes, not {want.size} elements of {held(want.dtype)}"
        if not equal(np.frombuffer(data, held(want.dtype)), want.ravel()):
            return f"WRONG output {i} differs"
    return "pass"


def main():
    tool, work, everything, update = sys.argv[1], pathlib.Path(sys.argv[2]), "--all" in sys.argv, "--update" in sys.argv
    warnings.simplefilter("ignore")
    work.mkdir(parents=True, exist_ok=True)
    listed = {} if update else dict(line.split(" ", 1) for line in LIST.read_text().splitlines())
    chosen = [c for c in cases() if everything or update or sampled(c[0])]
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        results = dict(zip((c[0] for c in chosen), pool.map(lambda c: run(tool, work, *c[1:]), chosen)))
    failed = []
    for name in results:
        if results[name].startswith("WRONG") or not update and results[name].split(" ")[0] != listed.get(name, "").split(" ")[0]:
            failed.append(f"{name}: {results[name]}; listed: {listed.get(name, 'nothing')}")
    if everything:
        failed += [f"{name}: listed, but there is no such case" for name in sorted(listed.keys() - results.keys())]
    if update:
        LIST.write_text("".join(f"{n} {r}\n" for n, r in sorted(results.items()) if not r.startswith("WRONG")))
    print(dict(collections.Counter(r.split(" ")[0] for r in results.values())))
    print("\n".join(failed))
    return 1 if failed or not results else 0


if __name__ == "__main__":
    sys.exit(main())
