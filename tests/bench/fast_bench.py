#!/usr/bin/env python3
"""What precision.float: fast gains: a language model compiled exact and fast for each target, in turns in one run.

usage: fast_bench.py INFC MODEL WORK_DIR [--threads 2] [--rounds 5] [--prompt 256] [--answer 64] [--batch 8] [TARGET=WEIGHTS]...

MODEL is what infc compiles. TARGET=WEIGHTS is x86-64-v4+bf16=bf16 and the like; without any, those with instructions for
half floats that this CPU has. Prints, as RESULT lines, medians over the rounds: tokens/s of prompts, of one answer and of
a batch of them, exact and fast, and their ratio (of medians of ratios of a round).
"""
import argparse
import json
import pathlib
import statistics
import subprocess

HALVES = {"x86-64-v4+bf16": "bf16", "x86-64-v4+fp16": "f16", "x86-64-v4+amx+bf16": "bf16", "aarch64+bf16": "bf16"}


def call(*argv):
    return subprocess.run([str(a) for a in argv], capture_output=True, text=True, check=True).stdout


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("infc", type=pathlib.Path)
    arguments.add_argument("model", type=pathlib.Path)
    arguments.add_argument("work", type=pathlib.Path)
    arguments.add_argument("targets", nargs="*", metavar="TARGET=WEIGHTS")
    arguments.add_argument("--threads", type=int, default=2)
    arguments.add_argument("--rounds", type=int, default=5)
    arguments.add_argument("--prompt", type=int, default=256)
    arguments.add_argument("--answer", type=int, default=64)
    arguments.add_argument("--batch", type=int, default=8)
    o = arguments.parse_args()
    here = [t["name"] for t in json.loads(call(o.infc, "targets", "--json"))["targets"] if t["runs_here"]]
    wanted = dict(t.rsplit("=", 1) for t in o.targets) or {t: w for t, w in HALVES.items() if t in here}
    for target, weights in wanted.items():
        programs = []
        for how in ("exact", "fast"):
            out = o.work / f"{target}_{weights}_{how}"
            if not (out / "model").exists() or (out / "model").stat().st_mtime < o.infc.stat().st_mtime:
                call(o.infc, "compile", o.model, "-o", out, "--target", target, "--set", "name=model", "--set",
                     f"precision.weights={weights}", "--set", f"precision.float={how}", "--set", "output.kinds=binary")
            programs.append(out / "model")
        rates = {}
        for _ in range(o.rounds):
            for how, program in zip(("exact", "fast"), programs):
                for batch in (1, o.batch):
                    said = json.loads(call(program, "bench", "--json", "--threads", o.threads, "--prompt-tokens", o.prompt,
                                           "--tokens", o.answer, "--batch", batch))
                    if batch == 1:
                        rates.setdefault(("prompt", how), []).append(said["prompt_tokens_per_second"])
                    rates.setdefault((f"batch{batch}", how), []).append(said["answer_tokens_per_second"])
        for case in dict.fromkeys(case for case, _ in rates):
            exact, fast = rates[case, "exact"], rates[case, "fast"]
            ratio = statistics.median(f / e for e, f in zip(exact, fast))
            print(f"RESULT {target}.{weights}.{case} exact {statistics.median(exact):.1f} fast {statistics.median(fast):.1f} "
                  f"tokens/s ratio {ratio:.3f}", flush=True)


if __name__ == "__main__":
    main()
