#!/usr/bin/env python3
"""MiniLM-L6 in floats by `infc compare`: the same bits on every target that has a compiler and something that runs it,
natively or emulated, of which there are at least ten.

usage: minilm_targets.py INFC SOURCE_DIR WORK_DIR [TOKENS]
"""
import json
import pathlib
import shutil
import subprocess
import sys

import model_files
from serving import expect, finish

# Their boards have no memory for its 90 MB of weights.
LEFT_OUT = ("cortex-m4", "cortex-m7")
QEMU_FAULT = "decode_save_opc: Assertion"  # of qemu 7.2, on conversions of riscv64's vectors


def main():
    infc, source, work = (pathlib.Path(a).resolve() for a in sys.argv[1:4])
    tokens = int(sys.argv[4]) if len(sys.argv) > 4 else 4
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    model = next(m for m in model_files.read_list(source) if m["name"] == "minilm-l6-16")
    path = model_files.fetch(work.parent / "model-cache", model)
    listed = subprocess.run([infc, "targets", "--json"], capture_output=True, text=True, check=True).stdout
    names = [t["name"] for t in json.loads(listed)["targets"] if t["name"] not in LEFT_OUT]
    done = subprocess.run([infc, "compare", path, "--target", ",".join(names), "--set", f"shapes={{batch_size: 1, sequence_length: {tokens}}}",
                           "-o", work / "result.json"], capture_output=True, text=True, cwd=work)
    expect((work / "result.json").exists(), f"a report: {done.stderr}")
    same, others = [], []
    for row in json.loads((work / "result.json").read_text())["targets"]:
        if row["status"] == "identical":
            same.append(row["name"])
        else:
            others.append(f"{row['name']} ({row['status']})")
            left = row["status"] == "not_run" or QEMU_FAULT in row["why"]
            expect(left, f"{row['name']}: {row.get('why', row.get('difference'))}")
    expect(len(same) >= 10, f"at least ten targets: {len(same)}")
    print(f"{tokens} tokens: the same bits on {len(same)} targets: {', '.join(same)}; not run here: {', '.join(others) or 'none'}")
    print(f"RESULT minilm.same_bits.targets {len(same)}")
    finish("minilm_targets")


if __name__ == "__main__":
    main()
