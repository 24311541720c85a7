#!/usr/bin/env python3
"""Inputs that are packed: many that numpy compressed, since deflate streams may end anywhere in a byte; and small
files that would unpack to much: refused for what they say of themselves, in little memory.

usage: compressed_inputs.py INFC SOURCE_DIR WORK_DIR
"""
import io
import os
import pathlib
import resource
import shutil
import struct
import subprocess
import sys
import zipfile
import zlib

import numpy as np


MANY = 1 << 25
MOST_BYTES = 64 << 20


def chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def npy_header(shape):
    f = io.BytesIO()
    np.lib.format.write_array_header_1_0(f, {"descr": "<f4", "fortran_order": False, "shape": shape})
    return f.getvalue()


def bombs(work):
    """Files that are no image of 8x8, whatever it takes to find out; with a word of the refusal."""
    np.savez_compressed(work / "zeros.npz", image=np.zeros(MANY, np.float32))
    yield "zeros.npz", "is f32[33554432]"
    with open(work / "zeros.npy", "wb") as f:
        f.write(npy_header((MANY,)))
        f.truncate(f.tell() + 4 * MANY)
    yield "zeros.npy", "is f32[33554432]"
    zeros = zlib.compress(bytes(4 * MANY))
    with zipfile.ZipFile(work / "liar.npz", "w", zipfile.ZIP_DEFLATED) as z:
        z.writestr("image.npy", npy_header((1, 1, 8, 8)) + bytes(4 * MANY))
    yield "liar.npz", "256 bytes"
    (work / "deep.png").write_bytes(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", 8, 8, 8, 0, 0, 0, 0)) + chunk(b"IDAT", zeros) + chunk(b"IEND", b""))
    yield "deep.png", "more data than its size has"
    (work / "wide.png").write_bytes(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", 8000, 8000, 8, 6, 0, 0, 0)) + chunk(b"IDAT", zeros) + chunk(b"IEND", b""))
    yield "wide.png", "more than 160 MiB of pixels"
    pb = b"\x08\x80\x80\x80\x10\x10\x07\x3a\x80\x80\x80\x10"  # dims, i64, its list: of one byte each
    with open(work / "ones.pb", "wb") as f:
        f.write(pb)
        f.truncate(len(pb) + MANY)
    yield "ones.pb", "is i64[33554432]"
    with open(work / "zeros.raw", "wb") as f:
        f.truncate(1 << 33)
    yield "zeros.raw", "256 bytes"


def check_bombs(work):
    failed = 0
    for name, words in bombs(work):
        done = subprocess.run(
            [work / "out/digits", "run", "--input", work / name],
            capture_output=True,
            text=True,
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_DATA, (MOST_BYTES, MOST_BYTES)),
        )
        if done.returncode != 3 or words not in done.stderr:
            failed += 1
            print(f"FAILED {name}: exit {done.returncode}: {done.stderr}")
        os.remove(work / name)
    return failed


def main():
    infc, source, work = (pathlib.Path(a).resolve() for a in sys.argv[1:4])
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    subprocess.run([infc, "compile", source / "examples/digits/spec.yaml", "-o", work / "out"], check=True, stdout=subprocess.DEVNULL)
    failed, rng = 0, np.random.default_rng(1)
    for i in range(100):
        image = (rng.integers(0, 2 + i % 16, (1, 1, 8, 8)) / 16).astype(np.float32)
        answers = []
        for save in (np.savez, np.savez_compressed):
            save(work / "in.npz", image=image)
            done = subprocess.run([work / "out/digits", "run", "--inputs", work / "in.npz", "--outputs", work / "out.npz"], capture_output=True, text=True)
            answers.append(np.load(work / "out.npz")["probabilities"].tobytes() if done.returncode == 0 else done.stderr)
        if answers[0] != answers[1]:
            failed += 1
            print(f"FAILED image {i}: {answers[1]}")
    failed += check_bombs(work)
    print(f"{failed} failed")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
