#!/usr/bin/env python3
"""Trains the tiny-lm example: a Llama of 1.2 million parameters.

    python3 -m venv venv && venv/bin/pip install -r train-requirements.txt
    apt-get download bible-kjv bible-kjv-text
    for package in bible-kjv*.deb; do dpkg-deb -x $package kjv; done
    kjv/usr/bin/bible -p kjv/usr/lib -f 'Gen1:1-Rev22:21' </dev/null >kjv.txt
    nice venv/bin/python train.py kjv.txt          # a minute of one thread
    nice venv/bin/python train_adapters.py kjv.txt   # another

Data: the King James Bible of 1611, as the Debian package bible-kjv-text holds it, one verse a line. Every 25th
chapter is held out and never seen in training; the perplexities printed are over those.

Writes, beside this script: config.json, generation_config.json, model.safetensors (bf16), tokenizer.json and
tokenizer_config.json.

Plain documents are a chapter: <|begin|> verses, each ended by a line feed, <|end|>. Chat documents are two
verses of which the user says the first and the assistant the second, so that a chat has the form it should have
and ends; whether the answer follows from the question is beyond a model of this size. A few documents are in
capitals or have numbers before their verses: without them, letters and digits would have no embeddings for the
adapters to use.

The same seed gives the same files on the same machine and package versions; elsewhere the weights can differ in
their last bits and, over a whole training, in all of them (the committed ones: see README.md).
"""
import argparse
import json
import math
import pathlib
import re
import struct
import time

import numpy as np
import tokenizers
import torch
import torch.nn.functional as F

HIDDEN, LAYERS, HEADS, KV_HEADS, HEAD_DIM, FFN, VOCAB, CONTEXT = 128, 4, 4, 2, 32, 512, 2048, 512
EPSILON, THETA = 1e-5, 10000.0
BEGIN, END, SYSTEM, USER, ASSISTANT = SPECIAL = ["<|begin|>", "<|end|>", "<|system|>", "<|user|>", "<|assistant|>"]
TEMPLATE = (
    "{{ bos_token }}{% for message in messages %}{{ '<|' + message['role'] + '|>' + message['content'] + eos_token }}"
    "{% endfor %}{% if add_generation_prompt %}{{ '<|assistant|>' }}{% endif %}"
)
SEED = 11
HELD_OUT = 25  # every so many chapters
TOKENS_A_STEP = 2048
WINDOW = 128  # CONTEXT on the way down
STEPS, WARM_UP, FLAT, DOWN = 132, 20, 112, 53  # rates rise, are flat up to FLAT, then go down from two fifths
MATRIX_RATE, RATE, WEIGHT_DECAY = 0.02, 4e-3, 0.05
CHATS, STYLED = 0.08, 0.03  # part of the verses that begin a chat, of the chapters that are also in each style
PROJECTIONS = {
    "self_attn.q_proj": (HEADS * HEAD_DIM, HIDDEN),
    "self_attn.k_proj": (KV_HEADS * HEAD_DIM, HIDDEN),
    "self_attn.v_proj": (KV_HEADS * HEAD_DIM, HIDDEN),
    "self_attn.o_proj": (HIDDEN, HEADS * HEAD_DIM),
    "mlp.gate_proj": (FFN, HIDDEN),
    "mlp.up_proj": (FFN, HIDDEN),
    "mlp.down_proj": (HIDDEN, FFN),
}


# Text


def read_chapters(path):
    """-> [[(number, verse), ...], ...], number "1:1", from lines such as "Ge1:1 In the beginning God created ..." """
    chapters, last = [], None
    for line in pathlib.Path(path).read_text(encoding="ascii").splitlines():
        reference, verse = line.split(" ", 1)
        book, chapter, number = re.fullmatch(r"(.*\D)(\d+):(\d+)", reference).groups()
        if (book, chapter) != last:
            chapters.append([])
            last = book, chapter
        chapters[-1].append((f"{chapter}:{number}", verse.strip()))
    return chapters


def split(chapters):
    """-> those to train on, those that are held out"""
    parts = [], []
    for i, c in enumerate(chapters):
        parts[i % HELD_OUT == HELD_OUT // 2].append(c)
    return parts


def plain(verse):
    return verse[1]


def shout(verse):
    return verse[1].upper()


def numbered(verse):
    return f"{verse[0]} {verse[1]}"


def document(verses, style=plain):
    return BEGIN + "".join(style(v) + "\n" for v in verses) + END


def chat(first, second, style=plain):
    return BEGIN + USER + plain(first) + END + ASSISTANT + style(second) + END


def documents(chapters, rng):
    """All chapters, chats, and a few chapters in each style, in random order."""
    texts = [document(c) for c in chapters]
    for c in chapters:
        texts += [chat(c[i], c[i + 1]) for i in range(len(c) - 1) if rng.random() < CHATS]
        texts += [document(c, style) for style in (shout, numbered) if rng.random() < STYLED]
    return [texts[i] for i in rng.permutation(len(texts))]


def train_tokenizer(chapters):
    t = tokenizers.Tokenizer(tokenizers.models.BPE())
    t.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=True)
    t.decoder = tokenizers.decoders.ByteLevel()
    trainer = tokenizers.trainers.BpeTrainer(
        vocab_size=VOCAB,
        special_tokens=SPECIAL,
        initial_alphabet=sorted(tokenizers.pre_tokenizers.ByteLevel.alphabet()),
        show_progress=False,
    )
    texts = [document(c)[len(BEGIN) : -len(END)] for c in chapters]
    t.train_from_iterator(texts + [text.upper() for text in texts[::12]], trainer)
    t.post_processor = tokenizers.processors.TemplateProcessing(single=f"{BEGIN} $A", special_tokens=[(BEGIN, 0)])
    assert t.get_vocab_size() == VOCAB and [t.token_to_id(s) for s in SPECIAL] == list(range(len(SPECIAL)))
    return t


def windows(tokenizer, texts, length):
    """-> i64 [n, length + 1]: the documents one after the other, cut"""
    ids = np.concatenate([e.ids for e in tokenizer.encode_batch(texts, add_special_tokens=False)]).astype(np.int64)
    n = (len(ids) - 1) // length
    return np.stack([ids[i * length : i * length + length + 1] for i in range(n)])


# Model: names and shapes of LlamaForCausalLM


def init(generator):
    normal = lambda shape, deviation: torch.randn(shape, generator=generator) * deviation  # noqa: E731
    p = {"model.embed_tokens.weight": normal((VOCAB, HIDDEN), 0.02), "model.norm.weight": torch.ones(HIDDEN)}
    for i in range(LAYERS):
        for name, shape in PROJECTIONS.items():
            back = (2 * LAYERS) ** -0.5 if name in ("self_attn.o_proj", "mlp.down_proj") else 1
            p[f"model.layers.{i}.{name}.weight"] = normal(shape, back * shape[1] ** -0.5 * 0.5)
        for name in ("input_layernorm", "post_attention_layernorm"):
            p[f"model.layers.{i}.{name}.weight"] = torch.ones(HIDDEN)
    return p


def rms(x, weight):
    return F.rms_norm(x, (HIDDEN,), weight, EPSILON)


def rope(x, cos, sin):
    low, high = x.chunk(2, -1)
    return torch.cat([low * cos - high * sin, high * cos + low * sin], -1)


def forward(p, tokens):
    """tokens i64 [B, T] -> logits [B, T, VOCAB]"""
    batch, length = tokens.shape
    angle = torch.outer(torch.arange(length), THETA ** (-torch.arange(0, HEAD_DIM, 2) / HEAD_DIM))
    cos, sin = angle.cos(), angle.sin()
    x = F.embedding(tokens, p["model.embed_tokens.weight"])
    for i in range(LAYERS):
        name = f"model.layers.{i}."
        h = rms(x, p[name + "input_layernorm.weight"])
        q, k, v = (
            F.linear(h, p[f"{name}self_attn.{w}_proj.weight"]).view(batch, length, n, HEAD_DIM).transpose(1, 2)
            for w, n in (("q", HEADS), ("k", KV_HEADS), ("v", KV_HEADS))
        )
        q, k = rope(q, cos, sin).to(v.dtype), rope(k, cos, sin).to(v.dtype)
        k, v = (t.repeat_interleave(HEADS // KV_HEADS, 1) for t in (k, v))
        h = F.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).flatten(2)
        x = x + F.linear(h, p[name + "self_attn.o_proj.weight"])
        h = rms(x, p[name + "post_attention_layernorm.weight"])
        h = F.silu(F.linear(h, p[name + "mlp.gate_proj.weight"])) * F.linear(h, p[name + "mlp.up_proj.weight"])
        x = x + F.linear(h, p[name + "mlp.down_proj.weight"])
    return F.linear(rms(x, p["model.norm.weight"]), p["model.embed_tokens.weight"])


def mixed_loss(p, window, asked=None):
    """Mean loss, matrix products in bf16; `asked`, bool [B, T]: which predictions count."""
    with torch.autocast("cpu", torch.bfloat16):
        logits = forward(p, window[:, :-1])
    logits, targets = logits.float().flatten(0, 1), window[:, 1:].flatten()
    if asked is not None:
        logits, targets = logits[asked.flatten()], targets[asked.flatten()]
    return F.cross_entropy(logits, targets)


# Training. Matrices of layers: Muon (Jordan et al. 2024), momentum made orthogonal by five steps of Newton and Schulz;
# embeddings and norms: AdamW. Gradients are clipped to norm 1.


def orthogonal(g):
    x = (g / (g.norm() + 1e-7)).bfloat16()
    if tall := x.shape[0] > x.shape[1]:
        x = x.T
    for _ in range(5):
        a = x @ x.T
        x = 3.4445 * x + (-4.7750 * a + 2.0315 * a @ a) @ x
    return (x.T if tall else x).float()


class Optimiser:
    def __init__(self, p, matrix_rate, rate, weight_decay):
        matrices = [v for k, v in p.items() if k.endswith("_proj.weight")]
        self.p, self.matrix_rate, self.decay = p, matrix_rate, weight_decay
        self.momentum = [(m, torch.zeros_like(m)) for m in matrices]
        others = [v for k, v in p.items() if not k.endswith("_proj.weight")]
        self.adam = torch.optim.AdamW(others, rate, (0.9, 0.95), weight_decay=0) if others else None
        self.rate = rate

    def step(self, part):
        """`part` of the highest rates"""
        torch.nn.utils.clip_grad_norm_(self.p.values(), 1.0)
        with torch.no_grad():
            for weight, momentum in self.momentum:
                momentum.lerp_(weight.grad, 0.05)
                update = orthogonal(weight.grad.lerp(momentum, 0.95))
                rate = part * self.matrix_rate
                weight.mul_(1 - rate * self.decay).sub_(update, alpha=rate * max(1, weight.shape[0] / weight.shape[1]) ** 0.5)
        self.adam.param_groups[0]["lr"] = part * self.rate
        self.adam.step()


def schedule(step):
    """-> part of the highest rates"""
    return min(1.0, step / WARM_UP) if step <= FLAT else (STEPS + 1 - step) / DOWN


def train(p, batches):
    for v in p.values():
        v.requires_grad_()
    optimiser, recent, start = Optimiser(p, MATRIX_RATE, RATE, WEIGHT_DECAY), [], time.process_time()
    for step, window in batches:
        loss = mixed_loss(p, torch.from_numpy(window))
        for v in p.values():
            v.grad = None
        loss.backward()
        optimiser.step(schedule(step))
        recent.append(loss.item())
        if step % 20 == 0 or step == STEPS:
            seconds = time.process_time() - start
            print(f"step {step}/{STEPS}, loss {np.mean(recent[-20:]):.3f}, {seconds:.0f} s of CPU", flush=True)


def batches(tokenizer, texts_of, rng):
    """-> (step, windows i64 [TOKENS_A_STEP / T, T + 1]), from texts_of() anew after each pass; the long ones come last"""
    step, left = 0, np.zeros((0, 0), np.int64)
    while step < STEPS:
        step += 1
        length = CONTEXT if step > FLAT else WINDOW
        if left.shape[1] != length + 1:
            left = np.zeros((0, length + 1), np.int64)
        if len(left) < TOKENS_A_STEP // length:
            left = np.concatenate([left, rng.permutation(windows(tokenizer, texts_of(), length))])
        yield step, left[: TOKENS_A_STEP // length]
        left = left[TOKENS_A_STEP // length :]


# Measures


@torch.no_grad()
def held_out_loss(p, tokenizer, texts, length=256):
    """-> mean loss of a token in f32, tokens of a byte of text"""
    all_windows = torch.from_numpy(windows(tokenizer, texts, length))
    losses = [F.cross_entropy(forward(p, w[:, :-1]).flatten(0, 1), w[:, 1:].flatten(), reduction="sum")
              for w in all_windows.split(16)]
    tokens = sum(len(e.ids) for e in tokenizer.encode_batch(texts, add_special_tokens=False))
    n_bytes = sum(len(text) - len(BEGIN) - len(END) for text in texts)
    return sum(map(float, losses)) / (len(all_windows) * length), tokens / n_bytes


def unigram_loss(tokenizer, seen, held_out):
    count = np.bincount(windows(tokenizer, seen, 256)[:, :-1].ravel(), minlength=VOCAB) + 1.0
    return float(-np.log(count / count.sum())[windows(tokenizer, held_out, 256)[:, :-1]].mean())


@torch.no_grad()
def continued(p, tokenizer, ids, n):
    """Greedy -> text of the answer"""
    ids, given = list(ids), len(ids)
    while len(ids) < given + n:
        ids.append(int(forward(p, torch.tensor([ids]))[0, -1].argmax()))
        if ids[-1] == 1:
            break
    return tokenizer.decode(ids[given:])


# Files


def write_safetensors(path, tensors):
    """{name: f32 tensor}, written as bf16"""
    header, at = {"__metadata__": {"format": "pt"}}, 0
    for name, t in tensors.items():
        header[name] = {"dtype": "BF16", "shape": list(t.shape), "data_offsets": [at, at + 2 * t.numel()]}
        at += 2 * t.numel()
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    data = [t.detach().bfloat16().contiguous().view(torch.int16).numpy().tobytes() for t in tensors.values()]
    path.write_bytes(struct.pack("<Q", len(text)) + text + b"".join(data))


def read_safetensors(path):
    """What write_safetensors wrote, as f32"""
    data = path.read_bytes()
    start = 8 + struct.unpack("<Q", data[:8])[0]
    header = json.loads(data[8:start])
    header.pop("__metadata__")
    flat = torch.frombuffer(bytearray(data[start:]), dtype=torch.bfloat16).float()
    return {k: flat[h["data_offsets"][0] // 2 : h["data_offsets"][1] // 2].view(h["shape"]) for k, h in header.items()}


def write_json(path, value):
    path.write_text(json.dumps(value, indent=2) + "\n")


def write_model(folder, p, tokenizer):
    write_safetensors(folder / "model.safetensors", p)
    ids = {"bos_token_id": 0, "eos_token_id": 1}
    write_json(
        folder / "config.json",
        {
            "architectures": ["LlamaForCausalLM"],
            "model_type": "llama",
            "hidden_size": HIDDEN,
            "intermediate_size": FFN,
            "num_hidden_layers": LAYERS,
            "num_attention_heads": HEADS,
            "num_key_value_heads": KV_HEADS,
            "head_dim": HEAD_DIM,
            "vocab_size": VOCAB,
            "max_position_embeddings": CONTEXT,
            "rms_norm_eps": EPSILON,
            "rope_theta": THETA,
            "hidden_act": "silu",
            "tie_word_embeddings": True,
            "attention_bias": False,
            "mlp_bias": False,
            **ids,
            "torch_dtype": "bfloat16",
        },
    )
    write_json(folder / "generation_config.json", {**ids, "do_sample": True, "temperature": 0.7, "top_p": 0.95})
    tokenizer.save(str(folder / "tokenizer.json"), pretty=False)
    write_json(
        folder / "tokenizer_config.json",
        {
            "tokenizer_class": "PreTrainedTokenizerFast",
            "bos_token": BEGIN,
            "eos_token": END,
            "clean_up_tokenization_spaces": False,
            "model_max_length": CONTEXT,
            "chat_template": TEMPLATE,
        },
    )


def start(description):
    """-> arguments, chapters to train on, those held out"""
    arguments = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("text", help="the verses, one a line after its reference")
    arguments.add_argument("--out", type=pathlib.Path, default=pathlib.Path(__file__).parent)
    o = arguments.parse_args()
    o.out.mkdir(parents=True, exist_ok=True)
    return o, *split(read_chapters(o.text))


def main():
    torch.set_num_threads(1)
    o, chapters, held_out = start(__doc__)
    held_out = [document(c) for c in held_out]
    rng = np.random.default_rng(SEED)
    tokenizer = train_tokenizer(chapters)
    p = init(torch.Generator().manual_seed(SEED))
    print(f"{sum(v.numel() for v in p.values())} parameters")
    train(p, batches(tokenizer, lambda: documents(chapters, rng), rng))
    p = {k: v.detach().bfloat16().float() for k, v in p.items()}
    write_model(o.out, p, tokenizer)
    loss, rate = held_out_loss(p, tokenizer, held_out)
    unigram = unigram_loss(tokenizer, [document(c) for c in chapters], held_out)
    print(f"held out: perplexity {np.exp(loss):.2f} a token, {np.exp(loss * rate):.3f} a byte, {1 / rate:.2f} bytes a token;"
          f" of a unigram model {np.exp(unigram):.2f} a token, {np.exp(unigram * rate):.3f} a byte")
    for prompt in ("And it came to pass", "In the beginning"):
        print(repr(continued(p, tokenizer, tokenizer.encode(prompt).ids, 80)))


if __name__ == "__main__":
    main()
