#!/usr/bin/env python3
"""Two models in one program, in threads; the example main.c from C11 and C++17 by one command line each.

usage: two_models.py INFC SOURCE_DIR WORK_DIR
"""
import pathlib
import shutil
import subprocess
import sys


def run(*argv):
    print("+", " ".join(str(a) for a in argv), flush=True)
    return subprocess.run([str(a) for a in argv]).returncode


def main():
    infc, source, work = (pathlib.Path(a).resolve() for a in sys.argv[1:4])
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    spec, digits, other = source / "examples/digits/spec.yaml", work / "digits", work / "other"
    cc = shutil.which("clang-22") or "cc"
    cxx = shutil.which("clang++-22") or shutil.which("g++") or "c++"
    steps = [
        (infc, "compile", spec, "-o", digits),
        (infc, "compile", spec, "--set", "name=other", "-o", other),
        (cc, "-std=c11", "-Wall", "-Wextra", "-Werror", "-I", digits, "-I", other, source / "tests/e2e/two_models.c",
         digits / "libdigits.a", other / "libother.a", "-lpthread", "-o", work / "two_models"),
        (work / "two_models",),
        (cc, "-std=c11", "-Wall", "-Wextra", "-Werror", "-I", digits, source / "examples/digits/main.c",
         digits / "libdigits.a", "-o", work / "main_c"),
        (work / "main_c",),
        (cxx, "-std=c++17", "-Wall", "-Wextra", "-Werror", "-I", digits, "-x", "c++", source / "examples/digits/main.c",
         "-x", "none", digits / "libdigits.a", "-o", work / "main_cpp"),
        (work / "main_cpp",),
    ]
    failures = [step for step in steps if run(*step) != 0]
    print(f"{len(steps) - len(failures)} passed, {len(failures)} failed")
    return bool(failures)


if __name__ == "__main__":
    sys.exit(main())
