#!/usr/bin/env python3
"""Trains the tiny-lm example: a Llama of 0.9 million parameters.

    python3 -m venv venv && venv/bin/pip install -r train-requirements.txt
    apt-get download bible-kjv bible-kjv-text
    for package in bible-kjv*.deb; do dpkg-deb -x $package kjv; done
    kjv/usr/bin/bible -p kjv/usr/lib -f 'Gen1:1-Rev22:21' </dev/null >kjv.txt
    nice venv/bin/python train.py kjv.txt          # a minute of one thread

Data: the King James Bible of 1611, as the Debian package bible-kjv-text holds it, one verse a line. Every 25th
chapter is held out and never seen in training; the perplexities printed are over those.

Writes, beside this script: config.json, generation_config.json, model.safetensors (bf16), tokenizer.json and
tokenizer_config.json.

Plain documents are a chapter: <|begin|> verses, each ended by a line feed, <|end|>. Chat documents are two
verses of which the user says the first and the assistant the second, so that a chat has the form it should have
and ends; whether the answer follows from the question is beyond a model of this size.

The same seed gives the same files on the same machine and package versions; elsewhere the weights can differ in
their last bits and, over a whole training, in all of them.
"""
import argparse
import json
import os
import pathlib
import re
import struct
import time

os.environ["XLA_FLAGS"] = "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"
import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402
import ml_dtypes  # noqa: E402
import numpy as np  # noqa: E402
import tokenizers  # noqa: E402

HIDDEN, LAYERS, HEADS, KV_HEADS, HEAD_DIM, FFN, VOCAB, CONTEXT = 128, 4, 4, 2, 32, 384, 1024, 512
EPSILON, THETA = 1e-5, 10000.0
BEGIN, END, SYSTEM, USER, ASSISTANT = SPECIAL = ["<|begin|>", "<|end|>", "<|system|>", "<|user|>", "<|assistant|>"]
TEMPLATE = (
    "{{ bos_token }}{% for message in messages %}{{ '<|' + message['role'] + '|>' + message['content'] + eos_token }}"
    "{% endfor %}{% if add_generation_prompt %}{{ '<|assistant|>' }}{% endif %}"
)
SEED = 11
HELD_OUT = 25  # every so many chapters
TOKENS_A_STEP = 4096
PHASES = [(256, 60), (CONTEXT, 10)]  # window, steps
PEAK_RATE, WEIGHT_DECAY, WARM_UP = 4e-3, 0.1, 60
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
    """-> [[verse, ...], ...] from lines such as "Ge1:1 In the beginning God created the heaven and the earth." """
    chapters, last = [], None
    for line in pathlib.Path(path).read_text(encoding="ascii").splitlines():
        reference, verse = line.split(" ", 1)
        chapter = re.fullmatch(r"(.+):\d+", reference).group(1)
        if chapter != last:
            chapters.append([])
            last = chapter
        chapters[-1].append(verse.strip())
    return chapters


def train_tokenizer(texts):
    t = tokenizers.Tokenizer(tokenizers.models.BPE())
    t.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=True)
    t.decoder = tokenizers.decoders.ByteLevel()
    trainer = tokenizers.trainers.BpeTrainer(
        vocab_size=VOCAB,
        special_tokens=SPECIAL,
        initial_alphabet=sorted(tokenizers.pre_tokenizers.ByteLevel.alphabet()),
        show_progress=False,
    )
    t.train_from_iterator(texts, trainer)
    t.post_processor = tokenizers.processors.TemplateProcessing(single=f"{BEGIN} $A", special_tokens=[(BEGIN, 0)])
    assert t.get_vocab_size() == VOCAB and [t.token_to_id(s) for s in SPECIAL] == list(range(len(SPECIAL)))
    return t


def plain(verses):
    return BEGIN + "".join(verse + "\n" for verse in verses) + END


def chat(first, second):
    return BEGIN + USER + first + END + ASSISTANT + second + END


def documents(chapters, rng):
    """All chapters, and a chat for a quarter of their verses, in random order."""
    texts = [plain(c) for c in chapters]
    for c in chapters:
        texts += [chat(c[i], c[i + 1]) for i in range(len(c) - 1) if rng.random() < 0.25]
    return [texts[i] for i in rng.permutation(len(texts))]


def windows(tokenizer, texts, length):
    """-> i32 [n, length + 1]: the documents one after the other, cut"""
    ids = np.concatenate([e.ids for e in tokenizer.encode_batch(texts, add_special_tokens=False)]).astype(np.int32)
    n = (len(ids) - 1) // length
    return np.stack([ids[i * length : i * length + length + 1] for i in range(n)])


# Model: names and shapes of LlamaForCausalLM


def init(rng):
    p = {"model.embed_tokens.weight": rng.normal(0, 0.02, (VOCAB, HIDDEN)), "model.norm.weight": np.ones(HIDDEN)}
    for i in range(LAYERS):
        for name, shape in PROJECTIONS.items():
            back = 1 / np.sqrt(2 * LAYERS) if name in ("self_attn.o_proj", "mlp.down_proj") else 1
            p[f"model.layers.{i}.{name}.weight"] = rng.normal(0, back * shape[1] ** -0.5 * 0.5, shape)
        for name in ("input_layernorm", "post_attention_layernorm"):
            p[f"model.layers.{i}.{name}.weight"] = np.ones(HIDDEN)
    return {k: jnp.asarray(v, jnp.float32) for k, v in p.items()}


def rms(x, weight):
    return x * jax.lax.rsqrt(jnp.mean(x * x, -1, keepdims=True) + EPSILON) * weight


def rope(x, cos, sin):
    low, high = jnp.split(x, 2, -1)
    return jnp.concatenate([low * cos - high * sin, high * cos + low * sin], -1)


def forward(p, tokens):
    """tokens i32 [B, T] -> logits f32 [B, T, VOCAB]"""
    batch, length = tokens.shape

    def linear(x, name):
        return x @ p[name + ".weight"].T

    angle = np.outer(np.arange(length), THETA ** (-np.arange(0, HEAD_DIM, 2) / HEAD_DIM)).astype(np.float32)
    cos, sin = np.cos(angle)[:, None], np.sin(angle)[:, None]
    mask = np.triu(np.full((length, length), -1e9, np.float32), 1)
    x = p["model.embed_tokens.weight"][tokens]
    for i in range(LAYERS):
        name = f"model.layers.{i}."
        h = rms(x, p[name + "input_layernorm.weight"])
        q, k, v = (
            linear(h, f"{name}self_attn.{w}_proj").reshape(batch, length, n, HEAD_DIM)
            for w, n in (("q", HEADS), ("k", KV_HEADS), ("v", KV_HEADS))
        )
        q = rope(q, cos, sin).reshape(batch, length, KV_HEADS, HEADS // KV_HEADS, HEAD_DIM)
        scores = jnp.einsum("btghd,bsgd->bghts", q, rope(k, cos, sin)) * HEAD_DIM**-0.5 + mask
        h = jnp.einsum("bghts,bsgd->btghd", jax.nn.softmax(scores, -1), v).reshape(batch, length, HEADS * HEAD_DIM)
        x = x + linear(h, name + "self_attn.o_proj")
        h = rms(x, p[name + "post_attention_layernorm.weight"])
        h = jax.nn.silu(linear(h, name + "mlp.gate_proj")) * linear(h, name + "mlp.up_proj")
        x = x + linear(h, name + "mlp.down_proj")
    return rms(x, p["model.norm.weight"]) @ p["model.embed_tokens.weight"].T


def mean_loss(p, window):
    logits = forward(p, window[:, :-1])
    right = jnp.take_along_axis(logits, window[:, 1:, None], -1)[..., 0]
    return jnp.mean(jax.nn.logsumexp(logits, -1) - right)


# Training: AdamW, gradients clipped to norm 1, warm-up and cosine


def adamw(p, gradient, state, step, rate):
    norm = jnp.sqrt(sum(jnp.sum(g * g) for g in gradient.values()))
    out, new = {}, {}
    for k, g in gradient.items():
        g = g / jnp.maximum(norm, 1.0)
        m, v = 0.9 * state[k][0] + 0.1 * g, 0.95 * state[k][1] + 0.05 * g * g
        update = m / (1 - 0.9**step) / (jnp.sqrt(v / (1 - 0.95**step)) + 1e-8)
        decay = WEIGHT_DECAY if p[k].ndim == 2 else 0.0
        out[k], new[k] = p[k] - rate * (update + decay * p[k]), (m, v)
    return out, new


def train(p, batches, steps):
    """-> trained"""

    @jax.jit
    def one(p, state, step, rate, window):
        loss, gradient = jax.value_and_grad(mean_loss)(p, window)
        return *adamw(p, gradient, state, step, rate), loss

    state = {k: (jnp.zeros_like(v), jnp.zeros_like(v)) for k, v in p.items()}
    recent, start = [], time.time()
    for step in range(1, steps + 1):
        rate = PEAK_RATE * min(step / WARM_UP, 0.5 + 0.5 * np.cos(np.pi * step / steps))
        p, state, loss = one(p, state, jnp.float32(step), jnp.float32(rate), next(batches))
        recent.append(float(loss))
        if step % 10 == 0 or step == steps:
            print(f"step {step}/{steps}, loss {np.mean(recent[-10:]):.3f}, {time.time() - start:.0f} s", flush=True)
    return p


def endless(tokenizer, texts_of, phases, rng):
    """Batches of windows for the phases, drawn anew from texts_of() after each pass."""
    for length, steps in phases:
        left = np.zeros((0, length + 1), np.int32)
        for _ in range(steps):
            if len(left) < TOKENS_A_STEP // length:
                left = rng.permutation(windows(tokenizer, texts_of(), length))
            batch, left = left[: TOKENS_A_STEP // length], left[TOKENS_A_STEP // length :]
            yield batch


def held_out_loss(p, tokenizer, texts):
    all_windows = windows(tokenizer, texts, 256)
    f = jax.jit(mean_loss)
    return float(np.mean([f(p, all_windows[i : i + 8]) for i in range(0, len(all_windows) - 7, 8)]))


def unigram_loss(tokenizer, seen, held_out):
    count = np.bincount(windows(tokenizer, seen, 256)[:, :-1].ravel(), minlength=VOCAB) + 1.0
    return float(-np.log(count / count.sum())[windows(tokenizer, held_out, 256)[:, :-1]].mean())


def continued(p, tokenizer, prompt, n):
    """Greedy, over a window of fixed size, so that one compiled function does."""
    ids = tokenizer.encode(prompt).ids
    next_of = jax.jit(lambda window, at: jnp.argmax(forward(p, window)[0, at]))
    for _ in range(n):
        window = np.zeros((1, 128), np.int32)
        window[0, : len(ids)] = ids
        ids.append(int(next_of(window, len(ids) - 1)))
        if ids[-1] == 1:
            break
    return tokenizer.decode(ids)


# Files


def write_safetensors(path, tensors):
    header, at = {"__metadata__": {"format": "pt"}}, 0
    for name, t in tensors.items():
        header[name] = {"dtype": "BF16", "shape": list(t.shape), "data_offsets": [at, at + t.nbytes]}
        at += t.nbytes
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    path.write_bytes(struct.pack("<Q", len(text)) + text + b"".join(t.tobytes() for t in tensors.values()))


def write_json(path, value):
    path.write_text(json.dumps(value, indent=2) + "\n")


def write_model(folder, p, tokenizer):
    write_safetensors(folder / "model.safetensors", {k: np.asarray(v).astype(ml_dtypes.bfloat16) for k, v in p.items()})
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
    tokenizer.save(str(folder / "tokenizer.json"))
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


def rounded(tree):
    return {k: jnp.asarray(np.asarray(v).astype(ml_dtypes.bfloat16).astype(np.float32)) for k, v in tree.items()}


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("text", help="the verses, one a line after its reference")
    arguments.add_argument("--out", type=pathlib.Path, default=pathlib.Path(__file__).parent)
    o = arguments.parse_args()
    o.out.mkdir(parents=True, exist_ok=True)
    rng = np.random.default_rng(SEED)
    chapters = read_chapters(o.text)
    held_out = [plain(c) for i, c in enumerate(chapters) if i % HELD_OUT == HELD_OUT // 2]
    chapters = [c for i, c in enumerate(chapters) if i % HELD_OUT != HELD_OUT // 2]
    tokenizer = train_tokenizer(["\n".join(c) for c in chapters])
    p = init(rng)
    print(f"{sum(v.size for v in p.values())} parameters")

    batches = endless(tokenizer, lambda: documents(chapters, rng), PHASES, rng)
    p = rounded(train(p, batches, sum(n for _, n in PHASES)))
    loss = held_out_loss(p, tokenizer, held_out)
    unigram = unigram_loss(tokenizer, [plain(c) for c in chapters], held_out)
    print(f"held out: perplexity {np.exp(loss):.2f}; of a unigram model {np.exp(unigram):.2f}")
    print(repr(continued(p, tokenizer, "And it came to pass", 60)))
    write_model(o.out, p, tokenizer)


if __name__ == "__main__":
    main()
