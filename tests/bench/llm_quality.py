#!/usr/bin/env python3
"""How far quantised language models are from the float model: llama.cpp's formats, and logits of others.

usage: llm_quality.py WORK_DIR [TEXT] [--tokens N] [--kinds Q4_1,Q8_0,Q4_0,Q4_K_M] [--infc INFC [--calibration F]]

WORK_DIR as of llm_peers.py, which builds what is missing in it. TEXT is the GPL-3 of Debian's base-files by default. The
float model is SmolLM2's Q4_1 file decoded to f32 (so Q4_1 is what `keep` has to compute); the other kinds are made from
that. Text goes in chunks of 512 tokens with an empty cache; counted are the predictions of each chunk's second half.

Prints, as RESULT lines, the mean Kullback-Leibler divergence from the float model in nats, how often the most likely
token is the same, and the perplexity, for llama.cpp with a cache of f16 and of q8_0.

--infc adds what `infc eval` says of the same text in the same chunks, for weights kept, int8, int4, and int4 calibrated
on a text (--calibration; default: the one that comes with infc).
"""
import argparse
import json
import pathlib
import subprocess

import numpy as np

import llm_peers

CHUNK = 512


def log_softmax(z):
    z = z.astype(np.float64)
    z -= z.max(-1, keepdims=True)
    return z - np.log(np.exp(z).sum(-1, keepdims=True))


def compare(base, other, targets):
    """Memory-mapped logits [n, vocab] -> mean KL, share of equal most likely tokens, perplexities of both"""
    kl, same, losses = [], [], [[], []]
    for at in range(0, len(base), 64):
        p, q = log_softmax(base[at : at + 64]), log_softmax(other[at : at + 64])
        kl.append((np.exp(p) * (p - q)).sum(-1))
        same.append(p.argmax(-1) == q.argmax(-1))
        rows = np.arange(len(p))
        for loss, logs in zip(losses, (p, q)):
            loss.append(-logs[rows, targets[at : at + 64]])
    perplexity = [float(np.exp(np.mean(np.concatenate(loss)))) for loss in losses]
    return float(np.mean(np.concatenate(kl))), float(np.mean(np.concatenate(same))), *perplexity


def targets_of(tokens):
    chunks = tokens[: len(tokens) // CHUNK * CHUNK].reshape(-1, CHUNK)
    return chunks[:, CHUNK // 2 + 1 :].ravel()


def infc_results(o, model):
    data = f"precision.calibration.data={o.calibration}" if o.calibration else "precision.calibration.tokens=8192"
    for name, sets in (("keep", ["weights=keep"]), ("int8", ["weights=int8"]), ("int4", ["weights=int4"]),
                       ("int4_calibrated", ["weights=int4", data])):
        flags = [word for s in sets for word in ("--set", s if "." in s else f"precision.{s}")]
        command = [o.infc, "eval", model, "--data", o.text, "--tokens", str(o.tokens), "--json", *flags]
        told = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)
        print(f"RESULT infc.smollm2.{name}.kl {told['kl']:.4g} nats\nRESULT infc.smollm2.{name}.same_top "
              f"{100 * told['same_top']:.1f} %\nRESULT infc.smollm2.{name}.perplexity {told['perplexity']:.4g} "
              f"(float {told['reference_perplexity']:.4g})\nRESULT infc.smollm2.{name}.weights_bytes "
              f"{told['weights_bytes']}", flush=True)


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("work", type=pathlib.Path)
    arguments.add_argument("text", nargs="?", default="/usr/share/common-licenses/GPL-3")
    arguments.add_argument("--tokens", type=int, default=4096)
    arguments.add_argument("--threads", type=int, default=2)
    arguments.add_argument("--kinds", default="Q4_1,Q8_0,Q4_0,Q4_K_M")
    arguments.add_argument("--infc", type=pathlib.Path)
    arguments.add_argument("--calibration", help="a text, other than TEXT")
    o = arguments.parse_args()
    work = o.work.resolve()
    work.mkdir(parents=True, exist_ok=True)
    peer = llm_peers.build(work)
    kept = llm_peers.model_files.fetch(work, llm_peers.SMOLLM2)
    run = lambda *words: llm_peers.command(peer, *words, stdout=subprocess.DEVNULL)  # noqa: E731

    ids = work / "text.i32"
    run("tokenize", kept, o.text, ids)
    tokens = np.fromfile(ids, np.int32)[: o.tokens // CHUNK * CHUNK]
    tokens.tofile(ids)
    targets = targets_of(tokens)
    vocab = llm_peers.checkpoint.read_gguf(kept)[0].vocab
    read = lambda path: np.memmap(path, np.float32, "r").reshape(-1, vocab)  # noqa: E731

    float_file = work / "smollm2-F32.gguf"
    if not float_file.exists():
        run("quantize", kept, float_file, "F32", o.threads)
    run("logits", float_file, ids, work / "float.logits", CHUNK, o.threads, "f16")
    base = read(work / "float.logits")
    assert len(base) == len(targets)

    def result(name, path):
        kl, same, float_perplexity, perplexity = compare(base, read(path), targets)
        print(f"RESULT {name}.kl {kl:.4g} nats\nRESULT {name}.same_top {100 * same:.1f} %")
        print(f"RESULT {name}.perplexity {perplexity:.4g} (float {float_perplexity:.4g})", flush=True)

    print(f"{len(tokens)} tokens, {len(targets)} predictions counted")
    for kind in o.kinds.split(",") if o.kinds else ():
        path = kept if kind == "Q4_1" else work / f"smollm2-{kind}.gguf"
        if not path.exists():
            run("quantize", float_file, path, kind, o.threads)
        for kv in ("f16", "q8_0"):
            run("logits", path, ids, work / "other.logits", CHUNK, o.threads, kv)
            result(f"llama_cpp.smollm2.{kind}.kv_{kv}", work / "other.logits")
    if o.infc:
        infc_results(o, kept)


if __name__ == "__main__":
    main()
