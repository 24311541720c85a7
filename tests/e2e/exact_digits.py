#!/usr/bin/env python3
"""The bits that digits must give, derived without infc: exact arithmetic on integers, rounded where
docs/numerics.md says that a value is rounded. Prints the ten logits of one test vector as hexadecimal.

usage: exact_digits.py digits.onnx vectors.npz [index]
"""
import struct
import sys

import numpy as np
import onnx
from onnx import numpy_helper


def parts(x):
    """A finite float32 as (mantissa, exponent): x = mantissa * 2**exponent."""
    bits = struct.unpack("<I", struct.pack("<f", x))[0]
    exponent, fraction = bits >> 23 & 255, bits & 0x7FFFFF
    mantissa = fraction | 0x800000 if exponent else fraction
    return (-mantissa if bits >> 31 else mantissa), max(exponent, 1) - 150


def round_f32(mantissa, exponent):
    """mantissa * 2**exponent to the nearest float32, ties to even."""
    if mantissa == 0:
        return 0.0
    sign, mantissa = (-1.0 if mantissa < 0 else 1.0), abs(mantissa)
    drop = max(mantissa.bit_length() - 24, -149 - exponent)
    if drop > 0:
        low, mantissa = mantissa & (1 << drop) - 1, mantissa >> drop
        half = 1 << drop - 1
        if low > half or (low == half and mantissa & 1):
            mantissa += 1
        exponent += drop
    return sign * float(mantissa) * 2.0**exponent  # exact: at most 24 bits


def fma(a, b, c):
    (ma, ea), (mb, eb), (mc, ec) = a, b, parts(c)
    product, exponent = ma * mb, ea + eb
    low = min(exponent, ec)
    return round_f32((product << exponent - low) + (mc << ec - low), low)


def dot(xs, ws):
    acc = 0.0
    for x, w in zip(xs, ws):
        acc = fma(x, w, acc)
    return acc


def convolution(x, w):
    """x [C,H,W], w [O,C,3,3], padding 1: input block of 16, row, column, channel in the block."""
    channels, height, width = x.shape
    xp = [[[parts(float(x[c, r, s])) for s in range(width)] for r in range(height)] for c in range(channels)]
    out = np.zeros((w.shape[0], height, width), np.float32)
    for o in range(w.shape[0]):
        wp = [[[parts(float(v)) for v in row] for row in plane] for plane in w[o]]
        for r in range(height):
            for s in range(width):
                taps = [(c, i, j) for block in range(0, channels, 16) for i in range(3) for j in range(3)
                        if 0 <= r + i - 1 < height and 0 <= s + j - 1 < width
                        for c in range(block, min(block + 16, channels))]
                out[o, r, s] = dot([xp[c][r + i - 1][s + j - 1] for c, i, j in taps], [wp[c][i][j] for c, i, j in taps])
    return out


def main():
    model, vectors = onnx.load(sys.argv[1]), np.load(sys.argv[2])
    index = int(sys.argv[3]) if len(sys.argv) > 3 else 0
    weights = {t.name: numpy_helper.to_array(t) for t in model.graph.initializer}
    epsilon = [a.f for n in model.graph.node if n.op_type == "BatchNormalization" for a in n.attribute if a.name == "epsilon"]
    epsilon = np.float32(epsilon[0] if epsilon else 1e-5)
    x = vectors["image"][index].reshape(1, 8, 8)
    for layer in (1, 2, 3):
        bn = {k: weights[f"bn{layer}.{k}"] for k in ("weight", "bias", "running_mean", "running_var")}
        scale = bn["weight"] / np.sqrt(bn["running_var"] + epsilon)  # numpy rounds each float32 operation
        shift = bn["bias"] - bn["running_mean"] * scale
        folded = weights[f"conv{layer}.weight"] * scale[:, None, None, None]
        x = np.maximum(convolution(x, folded) + shift[:, None, None], np.float32(0))
        if layer == 2:
            x = x.reshape(x.shape[0], 4, 2, 4, 2).max(axis=(2, 4))
    pooled = []
    for plane in x.reshape(x.shape[0], -1):
        total = np.float32(0)
        for value in plane:
            total = np.float32(total + value)
        pooled.append(np.float32(total / np.float32(plane.size)))
    head = weights["head.weight"]
    pooled = [parts(float(v)) for v in pooled]
    logits = [np.float32(dot(pooled, [parts(float(v)) for v in row])) + b for row, b in zip(head, weights["head.bias"])]
    print(" ".join(struct.pack(">f", float(v)).hex() for v in logits))


if __name__ == "__main__":
    main()
