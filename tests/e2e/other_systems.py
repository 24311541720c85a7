#!/usr/bin/env python3
"""Emitted libraries and the parts of the runtime that need no operating system, compiled for macOS, Windows and Android.

usage: other_systems.py INFC SOURCE_DIR WORK_DIR
Nothing runs: clang makes objects for those systems from the same C, without their headers (-ffreestanding) and with
warnings as errors, so that what is particular to Linux cannot come in unseen. Weights are assembled as well.
"""
import itertools
import pathlib
import shutil
import subprocess
import sys

TRIPLES = {
    "x86_64": ["x86_64-apple-macos11", "x86_64-pc-windows-msvc", "x86_64-w64-windows-gnu", "x86_64-linux-android29"],
    "aarch64": ["arm64-apple-macos11", "aarch64-pc-windows-msvc", "aarch64-linux-android29"],
}
# target -> architecture, flags
TARGETS = {
    "x86-64": ("x86_64", "-march=x86-64"),
    "x86-64-v3": ("x86_64", "-march=x86-64-v3"),
    "x86-64-v4+vnni": ("x86_64", "-march=x86-64-v4 -mavx512vnni"),
    "aarch64": ("aarch64", "-march=armv8-a"),
    "aarch64+i8mm": ("aarch64", "-march=armv8.2-a+dotprod+i8mm"),
}
FLAGS = "-ffreestanding -std=c11 -Wall -Wextra -Werror -O1 -ffp-contract=off -fno-math-errno".split()
FREESTANDING = ["core/model_check.c"]  # of runtime/
failed = 0


def check(ok, what, said=""):
    global failed
    failed += not ok
    if not ok:
        print("FAILED  " + what + "\n" + said, flush=True)


def compiles(triple, flags, folder, source):
    done = subprocess.run(["clang-22", "-target", triple, *FLAGS, *flags, "-c", source.name, "-o", "/dev/null"],
                          cwd=source.parent, capture_output=True, text=True)
    check(done.returncode == 0, f"{triple}: {source.relative_to(folder)} with {' '.join(flags)}", done.stderr[:2000])


def main():
    infc, source, work = (pathlib.Path(a).resolve() for a in sys.argv[1:4])
    shutil.rmtree(work, ignore_errors=True)
    n = 0
    for model, target in itertools.product(["digits.onnx", "digits-qdq.onnx"], TARGETS):
        arch, march = TARGETS[target]
        out = work / model / target
        out.parent.mkdir(parents=True, exist_ok=True)
        done = subprocess.run([infc, "compile", source / "examples/digits" / model, "--set", "name=digits", "--target",
                               target, "--set", "output.kinds=[static-library]", "--stop-after", "emit", "-o", out],
                              capture_output=True, text=True)
        check(done.returncode == 0, f"{model} is emitted for {target}", done.stderr)
        sources = [p for p in sorted((out / "src").glob("digits*.[cS]")) if p.name != "digits_main.c"]  # the program
        check(len(sources) >= 3, f"{model}, {target}: kernels, model and weights are emitted")
        for triple, file in itertools.product(TRIPLES[arch], sources):
            compiles(triple, [*march.split(), f"-I{out}", "-I."], out, file)
            n += 1
    runtime = source / "runtime"
    for triple, name in itertools.product([t for all in TRIPLES.values() for t in all], FREESTANDING):
        compiles(triple, [f"-I{runtime}/include", f"-I{runtime}/core"], runtime, runtime / name)
        n += 1
    print(f"RESULT other_systems_compiled {n - failed} of {n}")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
