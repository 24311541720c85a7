#!/usr/bin/env python3
"""What adapters (LoRA) cost: a language model with and without, in turns in one run; prints RESULT lines.

usage: adapters_bench.py INFC MODEL WORK_DIR [--threads 2] [--rounds 5] [--rank 32] [--tokens 48] [--set KEY=VALUE]...

MODEL is what infc compiles, or `tinyllama`: random weights of that shape, made once in WORK_DIR (2.2 GB; with
--set precision.weights=int4). It is compiled once without adapters and once for four, unless WORK_DIR has programs that
are newer than INFC; adapters have random weights in bf16. Each round runs `bench` of one after the other in a process
of its own, so that what else the machine does meets all alike; costs are medians over the rounds of time per step by
that of the model without, in the same round.
- idle: compiled for adapters, none loaded; batches of 1 and 4
- one: a batch of 1 with an adapter on q and v
- four: a batch of 4, each answer with another adapter on q and v
- shared: a batch of 4, all with the same one
- all: as four, on all seven projections
Beside each cost stands its bound: the bytes of the adapters of a step by the read roof (roofs.c, each round), by the
time of a step of the model without. Of few rows the multiply-adds take less than that. vs_bound is the bound's time of
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
    """-> bytes of its tensors"""
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
    return sum(2 * int(np.prod(s)) for s in sizes.values())


def bench(program, o, batch, adapters):
    words = [w for a in adapters for w in ("--adapter", str(a))]
    command = [program, "bench", "--json", "--threads", str(o.threads), "--batch", str(batch), "--tokens", str(o.tokens),
               "--prompt-tokens", "16", "--repeat", "1", *words]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("infc", "model", "work"):
        arguments.add_argument(name, type=pathlib.Path)
    arguments.add_argument("--threads", type=int, default=2)
    arguments.add_argument("--rounds", type=int, default=5)
    arguments.add_argument("--rank", type=int, default=32)
    arguments.add_argument("--tokens", type=int, default=48)
    arguments.add_argument("--set", action="append", default=[], dest="settings")
    arguments.add_argument("--name", default="model", help="of the RESULT lines")
    o = arguments.parse_args()
    o.work.mkdir(parents=True, exist_ok=True)
    if str(o.model) == "tinyllama":
        o.model = llm_peers.tinyllama_folder(o.work)
    roofs = o.work / "roofs"
    llm_peers.command("cc", "-O2", "-march=native", "-pthread", HERE / "roofs.c", "-o", roofs)
    without = compiled(o.infc, o.model, o.work / "without", o.settings)
    room = [f"adapters.max_rank={o.rank}", "adapters.max_loaded=4"]
    taking = compiled(o.infc, o.model, o.work / "taking", o.settings + room)
    layers = linear_layers(o.model)
    qv = [o.work / f"qv{i}" for i in range(4)]
    every = [o.work / f"all{i}" for i in range(4)]
    for i in range(4):
        bytes_qv = write_adapter(qv[i], layers, o.rank, i, ["q_proj", "v_proj"])
        bytes_all = write_adapter(every[i], layers, o.rank, 10 + i, ["_proj"])
    cases = {"base1": (without, 1, []), "idle1": (taking, 1, []), "one": (taking, 1, qv[:1]),
             "base4": (without, 4, []), "idle4": (taking, 4, []), "shared": (taking, 4, qv[:1]),
             "four": (taking, 4, qv), "all": (taking, 4, every)}  # fmt: skip
    read = {"idle1": 0, "idle4": 0, "one": bytes_qv, "shared": bytes_qv, "four": 4 * bytes_qv, "all": 4 * bytes_all}
    times, rates = {name: [] for name in cases}, []
    for _ in range(o.rounds):
        rates.append(llm_peers.answer_of([roofs, o.threads])["read_bytes_per_second"])
        for name, (program, batch, adapters) in cases.items():
            times[name].append(bench(program, o, batch, adapters)["per_token_p50_ns"])
    for name in ("base1", "base4"):
        print(f"RESULT {o.name}.{name}.ms {statistics.median(times[name]) / 1e6:.3f} ms")
    for name, size in read.items():
        base = times["base1" if name in ("idle1", "one") else "base4"]
        taken = [a / b for a, b in zip(times[name], base)]
        least = [1 + size / rate * 1e9 / b for rate, b in zip(rates, base)]
        vs_bound = statistics.median(b / a for a, b in zip(taken, least))
        cost, bound = (100 * (statistics.median(r) - 1) for r in (taken, least))
        print(f"RESULT {o.name}.lora.{name}.cost {cost:.2f} % bound {bound:.2f} % vs_bound {vs_bound:.3f}")


if __name__ == "__main__":
    main()
