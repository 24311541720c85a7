#!/usr/bin/env python3
"""Models whose sizes are known only at run time (run_time_models.py): at the ends of their ranges and between they
agree with ONNX Runtime, have the bits of a compile for that size alone, and the same for 1 and 2 workers; other sizes
are refused by name; a C program runs the library with two sizes.

usage: run_time_sizes.py INFC SOURCE_DIR WORK_DIR
"""
import pathlib
import shutil
import subprocess
import sys

import numpy as np
import onnxruntime

import run_time_models as models

RNG = np.random.default_rng(2)


def noise(*dims):
    return RNG.standard_normal(dims).astype(np.float32)


def mask(batch, tokens):
    """Sequences of different lengths."""
    return (np.arange(tokens) <= (tokens - 1) * (1 + np.arange(batch))[:, None] // batch).astype(np.int64)


def ids_and_mask(batch, tokens):
    return {"ids": RNG.integers(0, 100, (batch, tokens)), "mask": mask(batch, tokens)}


def cached_step(batch, new, past):
    return {"mask": mask(batch, past + new).astype(bool), "x": noise(batch, new, 8),
            "past_k": noise(batch, past, 8), "past_v": noise(batch, past, 8)}


CASES = {  # model: (its writer, ranges, inputs for sizes, sizes and whether each is compiled alone too)
    "encoder": (models.encoder, {"batch": "1..3", "tokens": "1..50"}, lambda b, t: {"x": noise(b, t, 32)},
                [((1, 1), True), ((3, 50), True), ((2, 17), False), ((1, 16), False)]),
    "embedder": (models.embedder, {"batch": "1..2", "tokens": "1..64"}, ids_and_mask,
                 [((1, 1), False), ((2, 64), True), ((2, 33), False)]),
    "image": (models.image, {"batch": "1..2", "height": "{min: 16, max: 96, multiple: 8}",
                             "width": "{min: 16, max: 96, multiple: 8}"}, lambda b, h, w: {"x": noise(b, 3, h, w)},
              [((1, 16, 16), True), ((2, 96, 96), False), ((1, 40, 72), True)]),
    "frames": (models.frames, {"batch": "1..2", "samples": "4..90"}, lambda b, n: {"x": noise(b, 8, n)},
               [((1, 4), True), ((2, 90), False), ((2, 31), True)]),
    "decoder": (models.decoder, {"batch": "1..2", "new_len": "1..8", "past_len": "1..32"}, cached_step,
                [((1, 1, 1), True), ((2, 8, 32), False), ((2, 3, 17), True)]),
}

C_PROGRAM = """
#include "encoder.h"
#include <stdio.h>
#include <stdlib.h>

static float x[3 * 50 * 32], y[3 * 50 * 32];

/* Reads batch * tokens rows from the file, writes the result's. */
static int once(FILE *in, FILE *out, void *arena, int64_t batch, int64_t tokens) {
    encoder_inputs inputs = {.x = x, .x_dims = {batch, tokens, 32}};
    int64_t dims[3] = {0};
    encoder_outputs outputs = {.y = y, .y_dims = dims};
    size_t n = (size_t)(batch * tokens * 32);
    if (fread(x, sizeof *x, n, in) != n) return 1;
    if (encoder_run(encoder_weights_embedded(), arena, &inputs, &outputs)) return 2;
    if (dims[0] != batch || dims[1] != tokens || dims[2] != 32) return 3;
    return fwrite(y, sizeof *y, n, out) == n ? 0 : 4;
}

int main(int argc, char **argv) {
    FILE *in = argc == 3 ? fopen(argv[1], "rb") : NULL, *out = argc == 3 ? fopen(argv[2], "wb") : NULL;
    void *arena = aligned_alloc(64, (ENCODER_ARENA_BYTES(1) + 63) / 64 * 64);
    if (!in || !out || !arena) return 10;
    int first = once(in, out, arena, 3, 50), second = once(in, out, arena, 2, 17);
    encoder_inputs wrong = {.x = x, .x_dims = {1, 51, 32}};
    encoder_outputs outputs = {.y = y};
    if (!encoder_run(encoder_weights_embedded(), arena, &wrong, &outputs)) return 11;
    free(arena);
    return fclose(out) || fclose(in) ? 12 : first * 16 + second;
}
"""


def compile_to(infc, model, out, sizes):
    sets = [word for name, size in sizes.items() for word in ("--set", f"shapes.{name}={size}")]
    subprocess.run([infc, "compile", model, "--set", f"name={model.stem}", *sets, "-o", out], check=True,
                   capture_output=True, text=True)
    return out / model.stem


def run(binary, work, feeds, threads="1"):
    np.savez(work / "in.npz", **feeds)
    subprocess.run([binary, "run", "--inputs", work / "in.npz", "--outputs", work / "out.npz", "--threads", threads],
                   check=True, capture_output=True)
    return dict(np.load(work / "out.npz"))


def refused(binary, work, x, *words):
    np.savez(work / "in.npz", x=x)
    done = subprocess.run([binary, "run", "--inputs", work / "in.npz"], capture_output=True, text=True)
    missing = [word for word in words if word not in done.stderr]
    if done.returncode != 3 or missing:
        sys.exit(f"{x.shape}: exit {done.returncode}, missing {missing} in\n{done.stderr}")


def same_bits(a, b):
    return all(a[name].shape == b[name].shape and a[name].tobytes() == b[name].tobytes() for name in a)


def check_model(infc, work, name):
    write, ranges, inputs, cases = CASES[name]
    model = work / f"{name}.onnx"
    write(model)
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    reference = onnxruntime.InferenceSession(model, options)
    binary = compile_to(infc, model, work / f"{name}-open", ranges)
    for sizes, alone in cases:
        feeds = inputs(*sizes)
        made = run(binary, work, feeds)
        for port, expected in zip(reference.get_outputs(), reference.run(None, feeds)):
            y = made[port.name]
            if y.shape != expected.shape or not np.abs(y - expected).max() < 1e-5 * np.abs(expected).max():
                sys.exit(f"{name} {sizes}: {port.name} {y.shape} is off {np.abs(expected).max()} {expected.shape} by "
                         f"{np.abs(y - expected).max() if y.shape == expected.shape else 'its shape'}")
        others = [run(binary, work, feeds, "2")]
        if alone:
            fixed = compile_to(infc, model, work / f"{name}-fixed", dict(zip(ranges, sizes)))
            others.append(run(fixed, work, feeds))
        if not all(same_bits(made, other) for other in others):
            sys.exit(f"{name} {sizes}: other bits with two workers or compiled for this size")
    subprocess.run([binary, "verify"], check=True, capture_output=True)
    return binary


def check_library(work, binary):
    """Both sizes in one process, from C."""
    folder, feeds = binary.parent, [noise(3, 50, 32), noise(2, 17, 32)]
    (work / "two_sizes.c").write_text(C_PROGRAM)
    subprocess.run(["cc", "-std=c11", "-Wall", "-Wextra", "-Werror", "-I", folder, work / "two_sizes.c",
                    folder / "libencoder.a", "-o", work / "two_sizes"], check=True)
    (work / "x.raw").write_bytes(b"".join(x.tobytes() for x in feeds))
    subprocess.run([work / "two_sizes", work / "x.raw", work / "y.raw"], check=True)
    expected = b"".join(run(binary, work, {"x": x})["y"].tobytes() for x in feeds)
    if (work / "y.raw").read_bytes() != expected:
        sys.exit("the library gives other bits than the binary")


def main():
    infc, work = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[3]).resolve()
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    binaries = {name: check_model(infc, work, name) for name in CASES}
    refused(binaries["encoder"], work, np.zeros((1, 51, 32), np.float32), 'axis 1 is 51 long', 'tokens from 1 to 50')
    refused(binaries["encoder"], work, np.zeros((1, 5, 33), np.float32), '"x"')
    refused(binaries["image"], work, np.zeros((1, 3, 16, 20), np.float32), '20', 'width')
    check_library(work, binaries["encoder"])
    subprocess.run([infc, "verify", work / "image.onnx", *(f"--set=shapes.{name}={size}" for name, size
                                                           in CASES["image"][1].items())], check=True)
    print(f"RESULT run_time_sizes.checked {sum(len(case[3]) for case in CASES.values())} shapes")


main()
