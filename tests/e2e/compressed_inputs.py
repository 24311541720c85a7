#!/usr/bin/env python3
"""Inputs that numpy compressed, many of them: deflate streams may end anywhere in a byte.

usage: compressed_inputs.py INFC SOURCE_DIR WORK_DIR
"""
import pathlib
import shutil
import subprocess
import sys

import numpy as np


def main():
    infc, source, work = (pathlib.Path(a).resolve() for a in sys.argv[1:4])
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    subprocess.run([infc, "compile", source / "examples/digits/spec.yaml", "-o", work / "out"], check=True, stdout=subprocess.DEVNULL)
    failed, rng = 0, np.random.default_rng(1)
    for i in range(100):
        image = (rng.integers(0, 2 + i % 16, (1, 1, 8, 8)) / 16).astype(np.float32)
        answers = []
        for save in (np.savez, np.savez_compressed):
            save(work / "in.npz", image=image)
            done = subprocess.run([work / "out/digits", "run", "--inputs", work / "in.npz", "--outputs", work / "out.npz"], capture_output=True, text=True)
            answers.append(np.load(work / "out.npz")["probabilities"].tobytes() if done.returncode == 0 else done.stderr)
        if answers[0] != answers[1]:
            failed += 1
            print(f"FAILED image {i}: {answers[1]}")
    print(f"{100 - failed} passed, {failed} failed")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
