#!/usr/bin/env python3
"""The forward pass of the Llama family in numpy, in f32 or f64, with a cache: the reference of tests.

usage: llama.py MODEL [--adapter FOLDER] [--f64] [-n N] ID...   greedy continuation of token ids

MODEL is a folder with config.json and safetensors, or a .gguf file. Prints one line per new token: its id, its logit,
and by how much it leads the second.

Against transformers 5.24 (torch 2.15, f32) see against_transformers.py, which has the figures.
"""
import argparse

import numpy as np

import checkpoint


def frequencies(c):
    """-> f64 [head_dim / 2], radians per position"""
    inverse = c.theta ** (-np.arange(0, c.head_dim, 2, dtype=np.float64) / c.head_dim)
    if c.factors is not None:
        inverse = inverse / c.factors
    scaling = c.scaling or {}
    kind = scaling.get("rope_type", scaling.get("type", "default"))
    if kind == "linear":
        inverse = inverse / scaling["factor"]
    elif kind == "llama3":
        # Waves longer than the original context / low are slowed by the factor, shorter than context / high are kept,
        # and between the two it is a mix.
        turns = scaling["original_max_position_embeddings"] * inverse / (2 * np.pi)
        low, high = scaling["low_freq_factor"], scaling["high_freq_factor"]
        kept = np.clip((turns - low) / (high - low), 0, 1)
        inverse = (1 - kept) * inverse / scaling["factor"] + kept * inverse
    elif kind != "default":
        raise ValueError(f"rotary scaling {kind}")
    return inverse


class Llama:
    def __init__(self, model, dtype=np.float32, adapter=None):
        """`model`: a path, or (Config, weights)"""
        self.config, weights = checkpoint.read_model(model) if not isinstance(model, tuple) else model
        self.dtype = dtype
        self.weights = {k: v.astype(dtype) for k, v in weights.items()}
        pairs = checkpoint.read_adapter(adapter) if adapter else {}
        self.adapter = {k: (a.astype(dtype), b.astype(dtype)) for k, (a, b) in pairs.items()}
        for name, magnitude in (checkpoint.read_magnitudes(adapter) if adapter else {}).items():
            self.weights[name] = checkpoint.adapted(self.weights[name], self.adapter.pop(name), magnitude)
        self.inverse = frequencies(self.config)

    def linear(self, x, name):
        y = x @ self.weights[name].T
        if name in self.adapter:
            a, b = self.adapter[name]
            y = y + x @ a.T @ b.T
        return y

    def rms(self, x, name):
        mean = np.mean(x * x, -1, keepdims=True)
        return x / np.sqrt(mean + self.dtype(self.config.epsilon)) * self.weights[name]

    def rotated(self, x, positions):
        """x [T, heads, head_dim], pairs (i, i + head_dim / 2)"""
        angle = np.outer(positions, self.inverse)
        cos, sin = np.cos(angle).astype(self.dtype)[:, None], np.sin(angle).astype(self.dtype)[:, None]
        low, high = np.split(x, 2, -1)
        return np.concatenate([low * cos - high * sin, high * cos + low * sin], -1)

    def attention(self, h, layer, positions, cache):
        c, name = self.config, f"model.layers.{layer}.self_attn."
        q = self.linear(h, name + "q_proj.weight").reshape(-1, c.heads, c.head_dim)
        k = self.linear(h, name + "k_proj.weight").reshape(-1, c.kv_heads, c.head_dim)
        v = self.linear(h, name + "v_proj.weight").reshape(-1, c.kv_heads, c.head_dim)
        q, k = self.rotated(q, positions), self.rotated(k, positions)
        if layer in cache:
            k, v = np.concatenate([cache[layer][0], k]), np.concatenate([cache[layer][1], v])
        cache[layer] = k, v
        q = q.reshape(-1, c.kv_heads, c.heads // c.kv_heads, c.head_dim)
        scores = np.einsum("tghd,sgd->ghts", q, k, optimize=True) / self.dtype(np.sqrt(c.head_dim))
        back = positions[:, None] - np.arange(len(k))
        hidden = (back < 0) | (back >= c.window) if c.window else back < 0
        scores = np.where(hidden, self.dtype(-np.inf), scores)
        weight = np.exp(scores - scores.max(-1, keepdims=True))
        weight /= weight.sum(-1, keepdims=True)
        out = np.einsum("ghts,sgd->tghd", weight, v, optimize=True).reshape(len(h), -1)
        return self.linear(out, name + "o_proj.weight")

    def forward(self, ids, cache=None, last_only=False):
        """ids that follow those in the cache, a dict that starts empty -> logits [T or 1, vocab]"""
        cache = {} if cache is None else cache
        past = len(cache[0][0]) if cache else 0
        positions = past + np.arange(len(ids))
        x = self.weights["model.embed_tokens.weight"][np.asarray(ids)]
        for layer in range(self.config.layers):
            name = f"model.layers.{layer}."
            x = x + self.attention(self.rms(x, name + "input_layernorm.weight"), layer, positions, cache)
            h = self.rms(x, name + "post_attention_layernorm.weight")
            gate = self.linear(h, name + "mlp.gate_proj.weight")
            gate = gate / (1 + np.exp(-gate)) * self.linear(h, name + "mlp.up_proj.weight")
            x = x + self.linear(gate, name + "mlp.down_proj.weight")
        if last_only:
            x = x[-1:]
        return self.rms(x, "model.norm.weight") @ self.weights["lm_head.weight"].T

    def greedy(self, ids, n, stop=True):
        """-> [(id, logit, lead over the second)], up to n, ended by an end token"""
        cache, out, fresh = {}, [], list(ids)
        for _ in range(n):
            logits = self.forward(fresh, cache, last_only=True)[0]
            second, first = np.argpartition(logits, -2)[-2:]
            if logits[second] > logits[first]:
                first, second = second, first
            if logits[first] == logits[second]:
                first, second = min(first, second), max(first, second)
            out.append((int(first), float(logits[first]), float(logits[first] - logits[second])))
            fresh = [int(first)]
            if stop and fresh[0] in self.config.eos:
                break
        return out


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("model")
    arguments.add_argument("ids", nargs="+", type=int)
    arguments.add_argument("--adapter")
    arguments.add_argument("--f64", action="store_true")
    arguments.add_argument("-n", type=int, default=32)
    o = arguments.parse_args()
    model = Llama(o.model, np.float64 if o.f64 else np.float32, o.adapter)
    for token, logit, lead in model.greedy(o.ids, o.n):
        print(f"{token} {logit:.6f} {lead:.6f}")


if __name__ == "__main__":
    main()
