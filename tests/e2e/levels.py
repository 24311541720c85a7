#!/usr/bin/env python3
"""Several levels in one program: the newest that the CPU has runs, each can be asked for and gives the same bits, and
one that the CPU lacks or that is not there is told.

usage: levels.py INFC SOURCE FOLDER
"""
import json
import pathlib
import platform
import shutil
import subprocess
import sys

DIGITS = pathlib.Path(__file__).resolve().parents[2] / "examples/digits"


def call(*argv, wants=0):
    done = subprocess.run([str(a) for a in argv], capture_output=True, text=True)
    assert done.returncode == wants, f"{argv}: exit {done.returncode}, not {wants}\n{done.stdout}{done.stderr}"
    return done.stdout if wants == 0 else done.stderr


def check(program, emulator, folder, lacks):
    """Every level that runs, by its bits; `lacks`: whether there must be one that does not."""
    info = json.loads(call(*emulator, program, "info", "--json"))
    bits, refused = {}, []
    for level in info["levels"]:
        out = folder / level
        out.mkdir(parents=True)
        argv = [*emulator, program, "run", "--input", f"image={DIGITS / '7.png'}", "--output", out, "--level", level]
        done = subprocess.run([str(a) for a in argv], capture_output=True, text=True)
        if done.returncode:
            assert f"level {level} needs " in done.stderr and "this CPU lacks; it runs: " in done.stderr, done.stderr
            refused.append(level)
            continue
        bits[level] = [file.read_bytes() for file in sorted(out.iterdir())]
        assert call(*emulator, program, "verify", "--threads", "2", "--level", level).startswith("ok"), level
    assert bits and all(b and b == bits[info["levels"][0]] for b in bits.values()), "levels differ"
    assert info["target"] == list(bits)[-1], f"{info['target']} runs, not the newest of {list(bits)}"
    assert bool(refused) or not lacks, "no level was refused"
    told = call(*emulator, program, "bench", "--level", "none-such", wants=2)
    assert "there is no level none-such; levels are: " + ", ".join(info["levels"]) in told, told
    if not emulator:
        for asked in (program.parent, program) if (program.parent / "manifest.json").exists() else (program,):
            measure(asked, info["levels"], refused)
    print(f"{' '.join(map(str, emulator)) or 'natively'}: {', '.join(bits)}; refused: {', '.join(refused) or 'none'}")


def measure(asked, levels, refused):
    """`infc bench` of the folder and of the program: each level, and of the newest the kernels that it has."""
    measured = json.loads(call(INFC, "bench", asked, "--seconds", "0.05", "--json"))
    told = {level["target"]: level for level in measured["levels"]}
    assert list(told) == levels and measured["target"] == [level for level in levels if level not in refused][-1], told
    for level, one in told.items():
        assert "which this CPU lacks" in one["not_run"] if level in refused else one["p50_ns"] > 0, one
    for level, isa in (("x86-64", ["generic"]), ("x86-64-v3", ["avx2"]), ("x86-64-v4", ["avx512", "avx2"])):
        kernels = [step["kernel"] for step in told.get(level, {}).get("steps", []) if "conv" in step["kernel"]]
        assert all(kernel.endswith(tuple(isa)) for kernel in kernels), (level, kernels)


def main():
    global INFC
    infc, folder = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[3]).resolve()
    INFC = infc
    shutil.rmtree(folder, ignore_errors=True)
    for spec, model in ((["--target", "x86-64:base,v2,v3,v4,v4+vnni,v4+amx"], DIGITS / "spec.yaml"),
                        (["--set", "targets=[{arch: aarch64, levels: [base, dotprod, i8mm]}]"],
                         DIGITS / "digits-qdq.onnx")):
        arch = "x86_64" if "x86" in spec[1] else "aarch64"
        qemu = shutil.which(f"qemu-{arch}")
        if platform.machine() != arch and not (qemu and shutil.which(f"{arch}-linux-gnu-gcc")):
            print(f"not run: {arch}")
            continue
        out = folder / arch
        call(infc, "compile", model, *spec, "-o", out)
        program = out / ("digits" if model.suffix == ".yaml" else "digits_qdq")
        if arch == "x86_64":
            if platform.machine() == arch:
                check(program, [], out / "native", False)
                call("sh", out / "src/build.sh", out / "again")
                check(out / "again/digits", [], out / "rebuilt", False)
            if qemu:
                check(program, [qemu, "-cpu", "Nehalem"], out / "old", True)
        else:
            old = [qemu, "-cpu", "cortex-a57"]
            info = json.loads(call(*old, program, "info", "--json"))
            assert info["target"] == "aarch64", info
            assert info["levels"] == ["aarch64", "aarch64+dotprod", "aarch64+i8mm"], info
            assert json.loads(call(qemu, "-cpu", "max", program, "info", "--json"))["target"] == "aarch64+i8mm"
            for level in info["levels"]:
                call(qemu, "-cpu", "max", program, "verify", "--threads", "1", "--level", level)
            told = call(*old, program, "verify", "--level", "aarch64+i8mm", wants=4)
            assert "level aarch64+i8mm needs dotprod, which this CPU lacks; it runs: aarch64" in told, told
    for target, why in (("x86-64:v4,v3", "v3 comes after x86-64-v4; name levels once, oldest first"),
                        ("x86-64:v3,v9", 'x86-64 has no level "v9"; it has: base, v2, v3,'),
                        ("riscv64:base,v", "levels are for x86-64 and aarch64"), ("x86-64:", "a level is missing"),
                        ("x86-64:v3,aarch64", "--target x86-64:v3 --target aarch64")):
        told = call(infc, "compile", DIGITS / "spec.yaml", "--target", target, "-o", folder / "none", wants=2)
        assert why in told, told
    call(infc, "compile", DIGITS / "spec.yaml", "--target", "x86-64:v3", "-o", folder / "one")
    report = json.loads((folder / "one/report.json").read_text())
    assert report["target"]["name"] == "x86-64-v3", "one level is that target"


if __name__ == "__main__":
    sys.exit(main())
