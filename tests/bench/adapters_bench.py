#!/usr/bin/env python3
"""What adapters (LoRA) cost: a language model with and without, in turns in one run; prints RESULT lines.

usage: adapters_bench.py INFC MODEL WORK_DIR [--threads 2] [--rounds 5] [--rank 32] [--tokens 48] [--set KEY=VALUE]...

MODEL is what infc compiles, or `tinyllama`: random weights of that shape, made once in WORK_DIR (2.2 GB; with
--set precision.weights=int4). It is compiled once without adapters and once for four, unless WORK_DIR has programs that
are newer than INFC; adapters have random weights in bf16 and are held as the model holds them. Each round runs both
programs (adapters_turns.c, weights in pages of 2 MiB), in which a few steps of each case take turns, so that what else the
machine does meets all alike; costs are medians over the turns of time per step by that of the same program without an adapter.
- idle: compiled for adapters, none in use, by the model that takes none, in the same round; batches of 1 and 4
- one: a batch of 1 with an adapter on q and v
- four: a batch of 4, each answer with another adapter on q and v
- shared: a batch of 4, all with the same one
- all: as four, on all seven projections
Beside each cost stands its bound: the bytes of the adapters of a step by the read roof (roofs.c, each round), by the
time of a step without; and the cost of the fastest steps of all rounds, which other work of the machine disturbs least. Of few rows the multiply-adds take less than that. vs_bound is the bound's time of
a step by the one measured: 1 is all that is possible as long as nothing of the adapters is read beside something else.
"""
import argparse
import json
import pathlib
import statistics
import struct
import subprocess
import sys

import numpy as np

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parents[0] / "llm")]
sys.path[:0] = [str(HERE.parents[0] / "e2e"), str(HERE)]
import checkpoint  # noqa: E402
import llm_peers  # noqa: E402
import write_checkpoint  # noqa: E402


def compiled(infc, model, out, settings):
    if (out / "model").exists() and (out / "model").stat().st_mtime > infc.stat().st_mtime:
        return out / "model"
    words = [w for s in settings for w in ("--set", s)]
    done = subprocess.run([infc, "compile", model, "-o", out, "--set", "name=model", *words], capture_output=True, text=True)
    if done.returncode:
        sys.exit(done.stderr)
    return out / "model"


def linear_layers(model):
    """{name: (outputs, inputs)} of the projections"""
    shapes = {}
    if model.suffix == ".gguf":
        import gguf

        for t in gguf.GGUFReader(model).tensors:
            parts = t.name.split(".")
            if parts[0] == "blk":
                shapes[f"model.layers.{parts[1]}.{checkpoint.GGUF_LAYER[parts[2]]}.weight"] = [int(n) for n in t.shape][::-1]
    for path in model.glob("*.safetensors") if model.is_dir() else ():
        with open(path, "rb") as file:
            (size,) = struct.unpack("<Q", file.read(8))
            shapes |= {k: v["shape"] for k, v in json.loads(file.read(size)).items() if k != "__metadata__"}
    return {k.removesuffix(".weight"): v for k, v in shapes.items() if k.endswith("_proj.weight")}


def write_adapter(folder, layers, rank, seed, modules):
    random = np.random.default_rng(seed)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "adapter_config.json").write_text(json.dumps({"peft_type": "LORA", "r": rank, "lora_alpha": rank}))
    sizes = {}
    for name, (outputs, inputs) in layers.items():
        if any(name.endswith(m) for m in modules):
            sizes[f"base_model.model.{name}.lora_A.weight"] = (rank, inputs)
            sizes[f"base_model.model.{name}.lora_B.weight"] = (outputs, rank)
    value = lambda name: random.standard_normal(sizes[name], np.float32) * np.float32(0.01)  # noqa: E731
    write_checkpoint.write_safetensors(folder / "adapter_model.safetensors", sizes, value, "BF16")


def turns_program(out):
    """adapters_turns.c with the library and the runtime that lie beside the program"""
    made = out / "turns"
    if not made.exists() or made.stat().st_mtime < (out / "model").stat().st_mtime:
        llm_peers.command("cc", "-O2", "-DMODEL=model", '-DMODEL_HEADER="model.h"', f"-I{out}", f"-I{out}/src/infrt", HERE / "adapters_turns.c",
                          *sorted((out / "src/infrt").glob("*.c")), out / "libmodel.a", "-pthread", "-lm", "-o", made)  # fmt: skip
    return made


def turns(program, o, cases):
    """-> bytes of each case's adapters, [turn][case] ns a step"""
    words = [str(batch) + (":" + ",".join(map(str, adapters)) if adapters else "") for batch, adapters in cases]
    done = subprocess.run([program, str(o.threads), "4", str(o.tokens), *words], capture_output=True, text=True, check=True)
    size, *rows = [[int(n) for n in line.split()] for line in done.stdout.splitlines()]
    return size, rows


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("infc", "model", "work"):
        arguments.add_argument(name, type=pathlib.Path)
    arguments.add_argument("--threads", type=int, default=2)
    arguments.add_argument("--rounds", type=int, default=5)
    arguments.add_argument("--rank", type=int, default=32)
    arguments.add_argument("--tokens", type=int, default=8, help="steps of a turn")
    arguments.add_argument("--set", action="append", default=[], dest="settings")
    arguments.add_argument("--name", default="model", help="of the RESULT lines")
    o = arguments.parse_args()
    o.work.mkdir(parents=True, exist_ok=True)
    if str(o.model) == "tinyllama":
        o.model = llm_peers.tinyllama_folder(o.work)
    roofs = o.work / "roofs"
    llm_peers.command("cc", "-O2", "-march=native", "-pthread", HERE / "roofs.c", "-o", roofs)
    without = compiled(o.infc, o.model, o.work / "without", o.settings)
    room = [f"adapters.max_rank={o.rank}", "adapters.max_loaded=8"]
    taking = compiled(o.infc, o.model, o.work / "taking", o.settings + room)
    layers = linear_layers(o.model)
    qv = [o.work / f"qv{i}" for i in range(4)]
    every = [o.work / f"all{i}" for i in range(4)]
    for i in range(4):
        write_adapter(qv[i], layers, o.rank, i, ["q_proj", "v_proj"])
        write_adapter(every[i], layers, o.rank, 10 + i, ["_proj"])
    cases = {"base1": (1, []), "one": (1, qv[:1]), "base4": (4, []), "shared": (4, qv[:1]), "four": (4, qv), "all": (4, every)}
    names, programs = list(cases), [turns_program(without.parent), turns_program(taking.parent)]
    plain, times, rates = [], [], []
    for _ in range(o.rounds):
        rate = llm_peers.answer_of([roofs, o.threads])["read_bytes_per_second"]
        plain.append(turns(programs[0], o, [cases["base1"], cases["base4"]])[1])
        size, rows = turns(programs[1], o, cases.values())
        times += rows
        rates += [rate] * len(rows)
    column = lambda name: [row[names.index(name)] for row in times]  # noqa: E731
    for i, name in enumerate(("base1", "base4")):
        print(f"RESULT {o.name}.{name}.ms {statistics.median(column(name)) / 1e6:.3f} ms least {min(column(name)) / 1e6:.3f}")
        without_it = [row[i] for rows in plain for row in rows]
        cost, least = (100 * (f(column(name)) / f(without_it) - 1) for f in (statistics.median, min))
        print(f"RESULT {o.name}.lora.idle{name[-1]}.cost {cost:.2f} % least {least:.2f}")
    for name in ("one", "shared", "four", "all"):
        base = column("base1" if name == "one" else "base4")
        taken = [a / b for a, b in zip(column(name), base)]
        least = [1 + size[names.index(name)] / rate * 1e9 / b for rate, b in zip(rates, base)]
        vs_bound = statistics.median(b / a for a, b in zip(taken, least))
        cost, bound = (100 * (statistics.median(r) - 1) for r in (taken, least))
        fastest = 100 * (min(column(name)) / min(base) - 1)
        print(f"RESULT {o.name}.lora.{name}.cost {cost:.2f} % bound {bound:.2f} % vs_bound {vs_bound:.3f} least {fastest:.2f}")


if __name__ == "__main__":
    main()
