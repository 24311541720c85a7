"""Weights of GGUF files: what the kernels make of random blocks, against the gguf package's own decoding, bit by bit;
and a linear layer against float64.

    keep_gguf.py KEEP_DECODE
"""
import subprocess
import sys

import gguf
import numpy as np

# type, bytes of a block, inputs of a block, where its f16 scales lie
TYPES = [("Q4_0", 18, 32, [0]), ("Q4_1", 20, 32, [0, 2]), ("Q5_0", 22, 32, [0]), ("Q8_0", 34, 32, [0]),
         ("Q4_K", 144, 256, [0, 2]), ("Q6_K", 210, 256, [208])]


def blocks(rng, n, k, size, inputs, scales):
    """Random rows; scales of either sign, with zeros and denormals among them."""
    raw = rng.integers(0, 256, (n, k // inputs, size), dtype=np.uint8)
    for at in scales:
        value = (rng.standard_normal(raw.shape[:2]) * 10.0 ** rng.integers(-8, 2, raw.shape[:2])).astype(np.float16)
        value[rng.random(value.shape) < 0.05] = 0
        raw[:, :, at:at + 2] = value.view(np.uint8).reshape(*raw.shape[:2], 2)
    return raw.reshape(n, -1)


def quantized(x):
    """x by groups of 32 as int8 with a scale each, in f32; in float64 what that stands for."""
    groups = x.reshape(x.shape[0], -1, 32)
    most = np.abs(groups).max(axis=2, keepdims=True)
    by = np.divide(np.float32(127), most, out=np.zeros_like(most), where=most >= 2.0 ** -120)
    q = np.clip(np.rint(groups * by), -127, 127)
    return (q.astype(np.float64) * (most / np.float32(127))).reshape(x.shape)


def main():
    rng = np.random.default_rng(7)
    failures = 0
    for name, size, inputs, scales in TYPES:
        kind = gguf.GGMLQuantizationType[name]
        for n, k, m in [(1, inputs, 1), (17, 3 * inputs, 2), (50, 5 * inputs, 3), (33, 8 * inputs, 1)]:
            raw = blocks(rng, n, k, size, inputs, scales)
            x = rng.standard_normal((m, k)).astype(np.float32)
            x[0] = 0
            x[0, rng.integers(k)] = 127 # a unit: one weight of each output
            out = subprocess.run([sys.argv[1], str(kind.value), str(n), str(k), str(m)], check=True,
                                 input=raw.tobytes() + x.tobytes(), stdout=subprocess.PIPE).stdout
            got = np.frombuffer(out, np.float32)
            weights, y = got[:n * k].reshape(n, k), got[n * k:].reshape(m, n)
            want = gguf.quants.dequantize(raw, kind)
            exact = quantized(x) @ want.astype(np.float64).T
            room = 1e-6 * (np.abs(quantized(x)) @ np.abs(want.astype(np.float64)).T) + 1e-30
            decoded, summed = np.array_equal(weights, want), (np.abs(y - exact) <= 8 * room).all()
            failures += not (decoded and summed)
            if not decoded or not summed:
                print(f"FAILED {name} {n} x {k}: decoding {decoded}, linear {summed}, {np.abs(y - exact).max():.3g}")
    print(f"{len(TYPES) * 4} cases, {failures} failures")
    return 1 if failures else 0


sys.exit(main())
