#!/usr/bin/env python3
"""digits on every target of infc: the same bits from all of them, and the ones that exact arithmetic gives.

usage: digits_targets.py INFC SOURCE_DIR WORK_DIR
Targets that this machine does not execute run under qemu. AVX-512, with VNNI and with AMX, is always run as code
retargeted to AVX2 (tests/isa/irsim.sh), tiles in memory, and also natively where the CPU has it.
"""
import json
import pathlib
import shutil
import struct
import subprocess
import sys

import numpy as np

TARGETS = ["x86-64", "x86-64-v3", "x86-64-v4", "x86-64-v4+vnni", "x86-64-v4+amx", "aarch64", "riscv64"]
passed = failed = 0


def check(ok, what):
    global passed, failed
    passed, failed = passed + bool(ok), failed + (not ok)
    print(("ok      " if ok else "FAILED  ") + what, flush=True)
    return ok


def run(*argv, **options):
    done = subprocess.run([str(a) for a in argv], capture_output=True, text=True, **options)
    if done.returncode:
        print(done.stdout, done.stderr, sep="\n")
    return done


def simulate(source, out, facts, images):
    """Answers of the library whose kernels are retargeted from AVX-512 to AVX2, or None."""
    flags = f"{facts['cflags']} -std=c11 -O2 -ffp-contract=off -fno-math-errno -I{out} -I{out}/src"
    if "amx" in flags:
        flags += f" -include {source}/tests/isa/tiles.h"
    kernels, program = out / "digits_simulated.o", out / "digits_simulated"
    if run("bash", source / "tests/isa/irsim.sh", kernels, flags, out / "src/digits.c").returncode:
        return None
    if run("clang-22", "-std=c11", "-O1", f"-I{out}", f"-I{out}/src", source / "tests/e2e/run_digits.c", kernels,
           out / "src/digits_model.c", out / "src/digits_weights.S", "-o", program, cwd=out / "src").returncode:
        return None
    done = subprocess.run([program], input=images.astype(np.float32).tobytes(), capture_output=True)
    return np.frombuffer(done.stdout, np.float32).reshape(-1, 10)


def main():
    infc, source, work = (pathlib.Path(a).resolve() for a in sys.argv[1:4])
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    vectors = np.load(source / "examples/digits/vectors.npz")
    facts = {t["name"]: t for t in json.loads(run(infc, "targets", "--json").stdout)["targets"]}
    logits = run(sys.executable, source / "tests/e2e/exact_digits.py", source / "examples/digits/digits.onnx",
                 source / "examples/digits/vectors.npz", "0").stdout.split()
    expected = [struct.unpack(">f", bytes.fromhex(h))[0] for h in logits]
    check(len(expected) == 10, "exact arithmetic gives ten logits")
    first = None
    for target in TARGETS:
        out = work / target
        compiled = run(infc, "compile", source / "examples/digits/spec.yaml", "--target", target, "-o", out)
        if not check(compiled.returncode == 0, f"{target}: compiles"):
            continue
        if target.startswith("x86-64-v4"):
            answers = simulate(source, out, facts[target], vectors["image"])
            check(answers is not None and answers.tobytes() == first.tobytes(), f"{target}: same bits, retargeted to AVX2")
        emulator = facts[target].get("emulator")
        if facts[target]["runs_here"]:
            command, how = [out / "digits"], "native"
        elif emulator:
            command, how = emulator.split() + [out / "digits"], emulator
        else:
            print(f"        {target}: not executed natively, since this CPU lacks it")
            continue
        answers = []
        for i, image in enumerate(vectors["image"]):
            np.savez(out / "in.npz", image=image.reshape(1, 1, 8, 8))
            dump = ["--dump-tensor", "all", "--dump-to", out / "dump.npz"] if i == 0 else []
            done = run(*command, "run", "--inputs", out / "in.npz", "--outputs", out / "out.npz", *dump)
            if done.returncode:
                break
            answers.append(np.load(out / "out.npz")["probabilities"].reshape(-1))
        if not check(len(answers) == len(vectors["image"]), f"{target}: runs all vectors ({how})"):
            continue
        got = np.load(out / "dump.npz")["/head/Gemm_output_0"].reshape(-1)
        check(np.array_equal(got, np.array(expected, np.float32)), f"{target}: logits have the exact bits")
        answers = np.stack(answers)
        first = answers if first is None else first
        check(answers.tobytes() == first.tobytes(), f"{target}: same bits as {TARGETS[0]}")
        worst = np.abs(answers - vectors["probabilities"]).max()
        check(worst < 1e-5, f"{target}: within 1e-5 of ONNX Runtime (worst {worst:.1e})")
        check(run(*command, "verify").returncode == 0, f"{target}: the binary's own verify holds")
    print(f"{passed} passed, {failed} failed")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
