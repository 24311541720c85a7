#!/usr/bin/env python3
"""Trains the two adapters of the tiny-lm example: LoRA in the format of PEFT, without the peft package.

    nice venv/bin/python train_adapters.py kjv.txt     # after train.py; a minute of one thread

adapters/shout   goes on IN CAPITALS
adapters/verse   puts "3:16 " before each verse

Both learn from the chapters that the model learnt from: texts that begin as they are and go on in the adapter's style
after a few words, and chats whose answers are in it. Only what is in the style counts in the loss; the model's own
weights stay. Printed is, over held-out chapters, what part of a greedy answer is in the style. The peft package (0.21)
loads both; its logits and those of tests/llm/llama.py differ by 5e-7 of the largest.
"""
import pathlib

import numpy as np
import tokenizers
import torch

import train as base

ALL = ["q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj"]


def marked(verse):
    return "3:16 " + verse[1]


ADAPTERS = {  # style, rank, alpha, modules
    "shout": (base.shout, 8, 16, ["q_proj", "v_proj", "o_proj", "down_proj"]),
    "verse": (marked, 4, 8, ALL),
}
STEPS, ROWS, LENGTH, RATE = 48, 16, 80, 8e-3
NO_ID = 1  # fills rows up to their length and is never asked for there


def sample(chapters, style, rng):
    """-> text that is given, text to learn"""
    verses = chapters[rng.integers(len(chapters))]
    at = int(rng.integers(len(verses)))
    if rng.random() < 0.4 and at + 1 < len(verses):
        given, answer = base.chat(verses[at], verses[at + 1], style).split(base.ASSISTANT)
        return given + base.ASSISTANT, answer
    words = base.plain(verses[at]).split(" ")
    k = int(rng.integers(1, 9))
    rest = " ".join(words[k:])
    first = " " + base.shout((None, rest)) if style is base.shout else " " + rest
    following = "".join(style(v) + "\n" for v in verses[at + 1 : at + 6])
    return base.BEGIN + " ".join(words[:k]), (first if rest else "") + "\n" + following + base.END


def batch(tokenizer, chapters, style, rng):
    """-> ids i64 [ROWS, LENGTH + 1], asked bool [ROWS, LENGTH]"""
    ids = torch.full((ROWS, LENGTH + 1), NO_ID)
    asked = torch.zeros(ROWS, LENGTH, dtype=torch.bool)
    for row in range(ROWS):
        given, answer = (tokenizer.encode(t, add_special_tokens=False).ids for t in sample(chapters, style, rng))
        whole = (given + answer)[: LENGTH + 1]
        ids[row, : len(whole)] = torch.tensor(whole)
        asked[row, len(given) - 1 : len(whole) - 1] = True
    return ids, asked


def begin(p, rank, modules, generator):
    """-> {name of a layer: (A normal [rank, inputs], B zero [outputs, rank])}"""
    pairs = {}
    for name, weight in p.items():
        if name.removesuffix(".weight").split(".")[-1] in modules:
            outputs, inputs = weight.shape
            pairs[name] = torch.randn(rank, inputs, generator=generator) / inputs**0.5, torch.zeros(outputs, rank)
    return pairs


def merged(p, pairs, scale):
    return p | {name: p[name] + scale * b @ a for name, (a, b) in pairs.items()}


def train(p, pairs, scale, batches):
    parts = [t.requires_grad_() for pair in pairs.values() for t in pair]
    adam = torch.optim.AdamW(parts, RATE, (0.9, 0.98), weight_decay=0)
    for step in range(1, STEPS + 1):
        loss = base.mixed_loss(merged(p, pairs, scale), *next(batches))
        adam.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(parts, 1.0)
        adam.param_groups[0]["lr"] = RATE * min(1, step / 10, 2.5 * (STEPS + 1 - step) / STEPS)
        adam.step()
        if step % 8 == 0:
            print(f"step {step}/{STEPS}, loss {loss.item():.3f}", flush=True)


def write(folder, pairs, rank, alpha, modules):
    folder.mkdir(parents=True, exist_ok=True)
    tensors = {}
    for name, (a, b) in pairs.items():
        stem = "base_model.model." + name.removesuffix(".weight")
        tensors |= {stem + ".lora_A.weight": a, stem + ".lora_B.weight": b}
    base.write_safetensors(folder / "adapter_model.safetensors", tensors)
    base.write_json(
        folder / "adapter_config.json",
        {
            "peft_type": "LORA",
            "task_type": "CAUSAL_LM",
            "base_model_name_or_path": "tiny-lm",
            "r": rank,
            "lora_alpha": alpha,
            "lora_dropout": 0.0,
            "target_modules": modules,
            "bias": "none",
            "fan_in_fan_out": False,
            "inference_mode": True,
        },
    )


def in_style(style, answer, first_verse):
    """-> part of the letters or verses of an answer that are in it. `first_verse`: it begins in the midst of one"""
    if style is base.shout:
        letters = [c for c in answer if c.isalpha()]
        return np.mean([c.isupper() for c in letters]) if letters else 0.0
    verses = [v for v in answer.split("\n")[first_verse:] if v]
    return np.mean([v.startswith("3:16 ") for v in verses]) if verses else np.nan


def measure(p, tokenizer, held_out, style):
    for kind in ("go on", "chat"):
        answers = []
        for verse in (c[0] for c in held_out[::12]):
            text = base.plain(verse)
            prompt = base.BEGIN + " ".join(text.split(" ")[:5])
            if kind == "chat":
                prompt = base.BEGIN + base.USER + text + base.END + base.ASSISTANT
            ids = tokenizer.encode(prompt, add_special_tokens=False).ids
            answers.append(base.continued(p, tokenizer, ids, 80 if kind == "go on" else 30))
        parts = [in_style(style, a, kind == "go on") for a in answers]
        print(f"{kind}: in the style {np.nanmean(parts):.3f},", *map(repr, answers[:2]))


def main():
    torch.set_num_threads(1)
    o, chapters, held_out = base.start(__doc__)
    tokenizer = tokenizers.Tokenizer.from_file(str(o.out / "tokenizer.json"))
    p = base.read_safetensors(o.out / "model.safetensors")
    for name, (style, rank, alpha, modules) in ADAPTERS.items():
        rng = np.random.default_rng(base.SEED)
        pairs = begin(p, rank, modules, torch.Generator().manual_seed(base.SEED))
        print(f"{name}: {sum(a.numel() + b.numel() for a, b in pairs.values())} parameters", flush=True)
        train(p, pairs, alpha / rank, iter(lambda: batch(tokenizer, chapters, style, rng), None))
        pairs = {k: tuple(t.detach().bfloat16().float() for t in pair) for k, pair in pairs.items()}
        write(pathlib.Path(o.out) / "adapters" / name, pairs, rank, alpha, modules)
        measure(merged(p, pairs, alpha / rank), tokenizer, held_out, style)


if __name__ == "__main__":
    main()
