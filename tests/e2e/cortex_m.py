#!/usr/bin/env python3
"""digits in int8 on a Cortex-M4 with 48 KiB of flash and 24 KiB of RAM: linked for that, run in qemu's board.

usage: cortex_m.py INFC SOURCE_DIR WORK_DIR
The header and report.json must say what it needs before anything is linked; the run says what it took.
"""
import json
import pathlib
import re
import shutil
import subprocess
import sys

import numpy as np

FLASH, RAM = 48 * 1024, 24 * 1024
failed = 0


def check(ok, what):
    global failed
    failed += not ok
    print(("ok      " if ok else "FAILED  ") + what, flush=True)


def run(*argv, **options):
    done = subprocess.run([str(a) for a in argv], capture_output=True, text=True, **options)
    if done.returncode:
        print(done.stdout, done.stderr, sep="\n")
    return done


def main():
    infc, source, work = (pathlib.Path(a).resolve() for a in sys.argv[1:4])
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    example, here = source / "examples/digits", source / "tests/e2e"
    made = run(infc, "compile", example / "digits-qdq.onnx", "--set", "name=digits", "--target", "cortex-m4",
               "--set", "output.kinds=[static-library]", "-o", work / "lib")
    check(made.returncode == 0, "digits-qdq.onnx compiles for cortex-m4")
    header = (work / "lib/digits.h").read_text()
    report = json.loads((work / "lib/report.json").read_text())
    arena = int(re.search(r"ARENA_BYTES\(n\) \(\(size_t\)(\d+)", header)[1])
    weights = int(re.search(r"WEIGHTS_BYTES \(\(size_t\)(\d+)", header)[1])
    tensors = sum(int(n) for n in re.findall(r"_(?:image|probabilities)_BYTES (\d+)", header))
    code, stack = report["code"]["text_and_rodata"], report["code"]["stack"]
    flash, ram = code + weights, arena + tensors + stack
    print(f"RESULT cortex_m4_flash {flash} bytes\nRESULT cortex_m4_ram {ram} bytes")
    print(f"RESULT cortex_m4_code {code} bytes\nRESULT cortex_m4_weights {weights} bytes")
    print(f"RESULT cortex_m4_arena {arena} bytes\nRESULT cortex_m4_stack {stack} bytes")
    check(flash < FLASH, f"flash, of the header and report.json: {flash} of {FLASH} bytes")
    check(ram < RAM, f"RAM, of the header and report.json: {ram} of {RAM} bytes")

    linked = run("clang-22", "--target=thumbv7em-none-eabihf", *report["target"]["cflags"].split(), "-Os", "-std=c11",
                 "-nostdlib", "-fuse-ld=lld-22", f"-Wl,-T,{here}/run_cortex_m.ld", "-Wl,--gc-sections",
                 f"-I{work}/lib", here / "run_cortex_m.c", source / "templates/emulator/check_memory.c",
                 work / "lib/libdigits.a", "-o", work / "digits.elf")
    check(linked.returncode == 0, "it links into 48 KiB of flash and 24 KiB of RAM")
    symbols = run("llvm-nm-22", work / "digits.elf").stdout
    whole = int(re.search(r"(\w+) \w flash_bytes", symbols)[1], 16)
    print(f"RESULT cortex_m4_flash_linked {whole} bytes")

    vectors = np.load(example / "vectors.npz")
    (work / "in.bin").write_bytes(vectors["image"].astype("<f4").tobytes())
    ran = run("timeout", "60", "qemu-system-arm", "-M", "mps2-an386", "-semihosting-config", "enable=on,target=native",
              "-nographic", "-monitor", "none", "-serial", "none", "-kernel", work / "digits.elf", cwd=work)
    check(ran.returncode == 0, "it runs on the board")
    out = np.frombuffer((work / "out.bin").read_bytes(), "<f4")
    answers, used = out[:-1].reshape(-1, 10), int(out[-1])
    print(f"RESULT cortex_m4_stack_used {used} bytes")
    check(used <= stack + 256, f"stack: {used} bytes of a run and its caller, {stack} in report.json")
    right = int((answers.argmax(1) == vectors["labels"]).sum())
    check(len(answers) == len(vectors["labels"]) and right >= len(answers) - 1,
          f"{right} of {len(answers)} digits are right")
    print(f"{failed} failed")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
