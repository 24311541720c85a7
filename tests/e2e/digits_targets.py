#!/usr/bin/env python3
"""digits on every target of infc: the same bits from all of them, and the ones that exact arithmetic gives.

usage: digits_targets.py INFC SOURCE_DIR WORK_DIR
Targets that this machine does not execute run under qemu, or, for AVX-512, as retargeted code (tests/isa/irsim.sh).
"""
import json
import pathlib
import shutil
import struct
import subprocess
import sys

import numpy as np

TARGETS = ["x86-64", "x86-64-v3", "x86-64-v4", "aarch64", "riscv64"]
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


def build(infc, source, target, facts, out):
    """How to run digits compiled for `target`: a command prefix, or None when it could not be built."""
    if run(infc, "compile", source / "examples/digits/spec.yaml", "--target", target, "-o", out).returncode:
        return None
    if facts["runs_here"]:
        return [out / "digits"], "native"
    if facts.get("emulator"):
        return facts["emulator"].split() + [out / "digits"], facts["emulator"]
    simulated = out / "digits-simulated"
    sources = sorted((out / "src").glob("digits*.c")) + sorted((out / "src/infrt").glob("*.c"))
    sources = [s for s in sources if s.exists()]
    script = ["bash", source / "tests/isa/irsim.sh", simulated, facts["cflags"] + f" -DINFC_NO_EMBEDDED_WEIGHTS -I{out} -I{out}/src -I{out}/src/infrt"]
    if run(*script, *sources).returncode:
        return None
    return [simulated], "retargeted to AVX2"


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
        built = build(infc, source, target, facts[target], out)
        if not check(built, f"{target}: compiles"):
            continue
        command, how = built
        weights = ["--weights", out / "src/digits.weights"] if how.startswith("retargeted") else []
        answers = []
        for i, image in enumerate(vectors["image"]):
            np.savez(out / "in.npz", image=image.reshape(1, 1, 8, 8))
            dump = ["--dump-tensor", "all", "--dump-to", out / "dump.npz"] if i == 0 else []
            done = run(*command, "run", "--inputs", out / "in.npz", "--outputs", out / "out.npz", *weights, *dump)
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
        check(run(*command, "verify", *weights).returncode == 0, f"{target}: the binary's own verify holds")
    print(f"{passed} passed, {failed} failed")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
