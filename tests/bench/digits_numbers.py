#!/usr/bin/env python3
"""The figures that digits is held to, as RESULT lines. Sizes, memory and allocations decide the exit code; times are
printed beside their bound and decide nothing.

usage: digits_numbers.py INFC SOURCE_DIR WORK_DIR [--json FILE]
"""
import json
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import time

results = {}
held = []


def result(name, value, unit, bound=None, decides=False):
    ok = bound is None or value <= bound
    results[name] = {"value": value, "unit": unit, "bound": bound}
    limit = "" if bound is None else f"   (at most {bound:g}: {'holds' if ok else 'DOES NOT HOLD'})"
    print(f"RESULT {name} {value:.6g} {unit}{limit}", flush=True)
    if decides:
        held.append(ok)


def timed(argv, **options):
    start = time.perf_counter()
    subprocess.run([str(a) for a in argv], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, **options)
    return time.perf_counter() - start


def allocations(work, source, binary, repeat):
    shim = work / "count.so"
    if not shim.exists():
        subprocess.run(["cc", "-shared", "-fPIC", "-O1", source / "tests/bench/count_allocations.c", "-o", shim, "-ldl"], check=True)
    count = work / "count.txt"
    command = f'exec 9>"{count}"; LD_PRELOAD="{shim}" "{binary}" run --input image="{source}/examples/digits/7.png" --repeat {repeat}'
    subprocess.run(["sh", "-c", command], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return int(count.read_text())


def main():
    infc, source, work = (pathlib.Path(a).resolve() for a in sys.argv[1:4])
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    spec, out = source / "examples/digits/spec.yaml", work / "digits"
    environment = dict(os.environ, INFC_CACHE=str(work / "cache"))
    result("digits.compile.cold", timed([infc, "compile", spec, "-o", out], env=environment), "s", 5)
    warm = [timed([infc, "compile", spec, "-o", out], env=environment) for _ in range(5)]
    result("digits.compile.warm", statistics.median(warm), "s", 2)
    report = json.loads((out / "report.json").read_text())
    result("digits.library.text_and_rodata", report["code"]["text_and_rodata"] / 1024, "KiB", 48, True)
    memory = report["memory"]
    result("digits.memory", memory["activations"], "B", memory["lower_bound"] * 1.1, True)
    run = [out / "digits", "run", "--input", f"image={source}/examples/digits/7.png"]
    result("digits.start_to_result", statistics.median(timed(run) for _ in range(50)) * 1e3, "ms", 5)
    # At most 100 runs: qsort, which orders the times afterwards, takes memory for more than 1 KiB of them.
    more = allocations(work, source, out / "digits", 100) - allocations(work, source, out / "digits", 10)
    result("digits.allocations_in_90_runs", more, "", 0, True)
    heap = subprocess.run(["nm", "-u", out / "libdigits.a"], capture_output=True, text=True, check=True).stdout
    wanted = {line.split()[-1] for line in heap.splitlines() if " U " in line}
    own = {s for s in wanted if s.startswith("digits_")}
    libgcc = {s for s in wanted if s.startswith("__cpu_")}  # which CPU features there are
    foreign = wanted - own - libgcc - {"memcpy", "memset", "memmove", "_GLOBAL_OFFSET_TABLE_"}
    print("libdigits.a needs from outside: " + (" ".join(sorted(wanted - own)) or "nothing"))
    result("digits.library.foreign_symbols", len(foreign), "", 0, True)
    if "--json" in sys.argv:
        pathlib.Path(sys.argv[sys.argv.index("--json") + 1]).write_text(json.dumps(results, indent=1))
    print(f"{sum(held)} passed, {len(held) - sum(held)} failed")
    return not all(held)


if __name__ == "__main__":
    sys.exit(main())
