#!/usr/bin/env python3
"""Small models of the Llama family with random weights that only depend on their name.

usage: random_llama.py WORK_DIR    writes all of them, for against_transformers.py
"""
import pathlib
import sys
import zlib

import numpy as np

import checkpoint
import write_checkpoint

SMALL = {"layers": 2, "hidden": 64, "heads": 4, "kv_heads": 2, "head_dim": 16, "ffn": 96, "vocab": 96, "context": 256}
LLAMA3 = {
    "rope_type": "llama3",
    "factor": 8.0,
    "low_freq_factor": 1.0,
    "high_freq_factor": 4.0,
    "original_max_position_embeddings": 64,
}
# For contexts of several parts of 256 positions, whose groups two and four workers do not share evenly.
LONG = {"heads": 6, "kv_heads": 3, "context": 1024}
# Name: differences from SMALL, how it is stored.
MODELS = {
    "tied": ({}, {"dtype": "BF16"}),
    "window": ({"kv_heads": 1, "window": 12, "theta": 500.0}, {"dtype": "F16", "tied": False}),
    "llama3": ({"kv_heads": 4, "head_dim": 32, "scaling": LLAMA3}, {"dtype": "F32", "tied": False, "shards": 3}),
    "linear": ({"scaling": {"rope_type": "linear", "factor": 4.0}, "epsilon": 1e-3}, {"dtype": "BF16", "tied": False}),
}
MORE = {"long": (LONG, {"dtype": "BF16"}), "long_window": (LONG | {"window": 300}, {"dtype": "BF16"})}


def config(name):
    return checkpoint.Config(**({"epsilon": 1e-5, "theta": 10000.0} | SMALL | (MODELS | MORE)[name][0]))


def value_of(name):
    """f32 values that F16 and BF16 both hold exactly (8 bits of mantissa)"""
    sizes = write_checkpoint.shapes(config(name), tied=False)

    def value(tensor):
        rng = np.random.default_rng(zlib.crc32(f"{name} {tensor}".encode()))
        shape = sizes[tensor]
        if len(shape) == 1:
            return rng.integers(64, 192, shape).astype(np.float32) / 128
        return rng.integers(-127, 128, shape).astype(np.float32) / np.float32(64 * 2 ** round(np.log2(shape[1]) / 2))

    return value


def write(folder, name):
    write_checkpoint.write_hf(folder, config(name), value_of(name), **(MODELS | MORE)[name][1])


if __name__ == "__main__":
    for model in MODELS:
        write(pathlib.Path(sys.argv[1]) / model, model)
