#!/usr/bin/env python3
"""examples/tiny-lm as it is committed: the base and its two adapters, against what each is for and the forward pass in
numpy, float64.

usage: tiny_lm.py INFC SOURCE_DIR WORK_DIR

By definition (examples/tiny-lm/train_adapters.py) `shout` answers in capitals, `verse` puts 3:16 before each verse, and
the base does neither.
"""
import json
import pathlib
import shutil
import subprocess
import sys

import numpy as np
import tokenizers

import language
from language import expect

PROMPTS = ["In the beginning", "And it came to pass", "The LORD said unto Moses", "And the king said", "Blessed are they"]
CHATS = ["And God said, Let there be light.", "Jesus wept.", "The LORD is my shepherd; I shall not want."]
MOST = 1e-3  # of the largest logit
LENGTH = 60


def capitals(answer):
    letters = [c for c in answer if c.isalpha()]
    return sum(c.isupper() for c in letters) / max(1, len(letters))


def numbered(answer, chat):
    """-> verses with a number before them (the last may be cut), verses; what a prompt begins is no whole verse"""
    verses = [v for v in answer.split("\n")[0 if chat else 1 :] if v]
    return sum("3:16 ".startswith(v[:5]) for v in verses), len(verses)


def check_style(what, answers):
    """`answers`: {adapter: [(chat, text)]}"""
    texts = {k: "\n".join(text for _, text in v) for k, v in answers.items()}
    expect(capitals(texts["shout"]) > 0.98, f"{what}: shout is in capitals, {capitals(texts['shout']):.3f} of its letters")
    expect(capitals(texts[None]) < 0.3 and capitals(texts["verse"]) < 0.3, f"{what}: the others are not")
    marked, verses = (sum(n) for n in zip(*(numbered(text, chat) for chat, text in answers["verse"])))
    expect(verses >= len(CHATS) and marked == verses, f"{what}: {marked} of {verses} verses of `verse` begin with 3:16")
    digits = sum(c.isdigit() for c in texts[None] + texts["shout"])
    expect(digits == 0, f"{what}: {digits} digits in the others")


def log_softmax(logits):
    shifted = logits - logits.max(-1, keepdims=True)
    return shifted - np.log(np.exp(shifted).sum(-1, keepdims=True))


def error_of(model, told):
    """Of the logarithms of the 20 best at each token -> as a part of the largest logit"""
    logits = model.forward((told["prompt"] + told["tokens"])[:-1])[len(told["prompt"]) - 1 :]
    wanted = log_softmax(logits)
    off = [abs(wanted[i, t["token"]] - t["logprob"]) for i, top in enumerate(told["top_logprobs"]) for t in top]
    return max(off) / np.abs(logits).max()


def check_build(infc, source, work, kind, reference):
    example = source / "examples/tiny-lm"
    settings = ["adapters.max_loaded=2", *([f"precision.weights={kind}", "precision.kv=f16"] if reference else [])]
    command = [infc, "compile", example, "-o", work / kind, *(w for s in settings for w in ("--set", s))]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    answers = {}
    for adapter in (None, "shout", "verse"):
        words = ["--adapter", f"{adapter}={example / 'adapters' / adapter}"] if adapter else []
        answers[adapter], errors = [], []
        for chat, prompt in [(False, p) for p in PROMPTS] + [(True, p) for p in CHATS]:
            asked = ["--prompt", prompt, *(["--chat"] if chat else []), "--max-tokens", str(LENGTH), "--logprobs", "20"]
            run = subprocess.run([work / kind / "tiny_lm", "run", *asked, *words, "--json"], capture_output=True, text=True)
            assert run.returncode == 0, run.stderr
            told = json.loads(run.stdout)
            answers[adapter].append((chat, told["text"]))
            if reference:
                errors.append(error_of(reference[adapter], told))
        if reference:
            expect(max(errors) < MOST, f"{kind}, adapter {adapter}: logits within {max(errors):.1e} of the largest")
    check_style(kind, answers)


def check_greedy(infc, source, work, model):
    import greedy

    known = tokenizers.Tokenizer.from_file(str(source / "examples/tiny-lm/tokenizer.json"))
    prompts = [known.encode(p).ids for p in PROMPTS]
    program = greedy.build(infc, source / "examples/tiny-lm", work / "greedy")
    for prompt, answer in zip(PROMPTS, greedy.answers(program, prompts, 128)):
        a = greedy.compare(answer, model.forward(answer.ids[:-1])[answer.n_prompt - 1 :])
        expect(a.holds(MOST), f"{prompt!r}: logits within {a.worst:.1e}, {a.equal} tokens equal, then a lead of {a.lead}")


def check_size(source):
    files = [f for f in (source / "examples/tiny-lm").rglob("*") if f.is_file() and "__pycache__" not in f.parts]
    total = sum(f.stat().st_size for f in files)
    expect(total < 3e6, f"the folder has {total} bytes")


def check_not_finite(infc, source, work):
    """A weight that is no number is told of the file it stands in, also by what reads a text before weights are packed."""
    folder = work / "not_finite"
    shutil.copytree(source / "examples/tiny-lm", folder, ignore=shutil.ignore_patterns("adapters"))
    stored = bytearray((folder / "model.safetensors").read_bytes())
    size = int.from_bytes(stored[:8], "little")
    tensors = json.loads(stored[8 : 8 + size])
    for name in ("model.layers.2.self_attn.q_proj.weight", "model.layers.1.self_attn.v_proj.weight", "model.layers.3.mlp.down_proj.weight"):
        at = 8 + size + tensors[name]["data_offsets"][0] + 20
        whole, stored[at : at + 2] = stored[at : at + 2], (0x7FC0).to_bytes(2, "little")
        (folder / "model.safetensors").write_bytes(stored)
        stored[at : at + 2] = whole
        for weights in ("int8", "int4", "f32"):
            argv = [infc, "compile", folder, "-o", work / "none", "--stop-after", "emit", "--set", f"precision.weights={weights}"]
            run = subprocess.run([str(a) for a in argv], capture_output=True, text=True)
            told = f"{folder}/model.safetensors: error:" in run.stderr and f'"{name}"' in run.stderr
            expect(run.returncode == 3 and told, f"{name} is no number, {weights}: {run.stderr.strip()}")


def main():
    infc, source, work = (pathlib.Path(a).resolve() for a in sys.argv[1:4])
    sys.path.insert(0, str(source / "tests/llm"))
    import llama

    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    example = source / "examples/tiny-lm"
    reference = {a: llama.Llama(example, np.float64, a and example / "adapters" / a) for a in (None, "shout", "verse")}
    check_size(source)
    check_not_finite(infc, source, work)
    check_greedy(infc, source, work, reference[None])
    check_build(infc, source, work, "f32", reference)
    check_build(infc, source, work, "bf16", reference)
    check_build(infc, source, work, "int8", None)
    print(f"{len(language.FAILED)} failures")
    return 1 if language.FAILED else 0


if __name__ == "__main__":
    sys.exit(main())
