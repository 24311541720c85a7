#!/usr/bin/env python3
"""Inputs of kind image: files through the binary and pixels through the library, against Pillow.

usage: images.py INFC SOURCE_DIR WORK_DIR

The models hand their input on, so that what the run gives is what was prepared.
"""
import pathlib
import shutil
import subprocess
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper
from PIL import Image

# shape, type, keys of the spec, mode of the picture
CASES = {
    "imagenet": ([1, 3, 24, 32], np.float32, {"channels": "rgb", "scale": "1/255", "mean": [0.485, 0.456, 0.406], "std": [0.229, 0.224, 0.225]}, "RGBA"),
    "bytes": ([1, 20, 13, 3], np.uint8, {"channels": "bgr", "layout": "nhwc"}, "RGB"),
    "gray": ([1, 1, 40, 50], np.float32, {"channels": "gray", "scale": 2, "mean": 1}, "L"),
    "gray-of-colours": ([1, 1, 7, 9], np.float32, {"channels": "gray"}, "RGB"),
}

LIBRARY = """
#include "prep.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static TYPE out[PREP_IN_x_COUNT];
int main(int argc, char **argv) {
    const int w = atoi(argv[argc - 3]), h = atoi(argv[argc - 2]), c = atoi(argv[argc - 1]), pad = 5;
    const size_t row = (size_t)w * (size_t)c, padded = row + pad;
    uint8_t *pixels = (uint8_t *)malloc(padded * (size_t)h), *scratch = (uint8_t *)malloc(PREP_PREPARE_x_SCRATCH(w, h) + 8);
    memset(pixels, 255, padded * (size_t)h);
    for (int y = 0; y < h; y++)
        if (fread(pixels + (size_t)y * padded, 1, row, stdin) != row) return 1;
    memset(scratch + PREP_PREPARE_x_SCRATCH(w, h), 90, 8);
    if (prep_prepare_x(pixels, w, h, c, padded, out, scratch + 1) != INFC_RUN_BAD_ARGUMENT) return 2;
    if (prep_prepare_x(pixels, w, h, 5, padded, out, scratch) != INFC_RUN_BAD_ARGUMENT) return 3;
    if (prep_prepare_x(pixels, w, 0, c, padded, out, scratch) != INFC_RUN_BAD_ARGUMENT) return 4;
    if (prep_prepare_x(pixels, 65536, h, c, padded, out, scratch) != INFC_RUN_BAD_ARGUMENT) return 5;
    if (prep_prepare_x(pixels, w, h, c, row - 1, out, scratch) != INFC_RUN_BAD_ARGUMENT) return 6;
    if (prep_prepare_x(pixels, w, h, c, padded, out, scratch) != INFC_RUN_OK) return 7;
    for (int i = 0; i < 8; i++)
        if (scratch[PREP_PREPARE_x_SCRATCH(w, h) + i] != 90) return 8;
    if (PREP_PREPARE_x_WIDTH * PREP_PREPARE_x_HEIGHT * CHANNELS != PREP_IN_x_COUNT) return 9;
    return fwrite(out, sizeof *out, PREP_IN_x_COUNT, stdout) != PREP_IN_x_COUNT;
}
"""


def compile_case(infc, work, name, targets=()):
    shape, dtype, keys, _ = CASES[name]
    kind = helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
    ports = [helper.make_tensor_value_info(n, kind, shape) for n in "xy"]
    graph = helper.make_graph([helper.make_node("Identity", ["x"], ["y"])], "g", ports[:1], ports[1:])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)]), work / f"{name}.onnx")
    lines = ["infc: 1", f"model: {name}.onnx", "name: prep", "inputs:", "  x:", "    kind: image"]
    (work / f"{name}.yaml").write_text("\n".join(lines + [f"    {k}: {v}" for k, v in keys.items()]) + "\n")
    command = [infc, "compile", work / f"{name}.yaml", "-o", work / name] + [a for t in targets for a in ("--target", t)]
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def picture(mode, width, height):
    """Gradients with noise; some pixels are transparent."""
    rng, bands = np.random.default_rng(width), len(mode)
    y, x = np.mgrid[:height, :width]
    values = np.stack([(x * (3 + b) + y * (7 - b)) % 256 for b in range(bands)], -1) * 0.7 + rng.integers(0, 77, (height, width, bands))
    return Image.fromarray(values.astype(np.uint8).squeeze(), mode)


def wanted(name, image):
    shape, dtype, keys, _ = CASES[name]
    nhwc, channels = keys.get("layout") == "nhwc", keys["channels"]
    height, width = shape[1:3] if nhwc else shape[2:]
    plain = Image.fromarray(np.asarray(image)[:, :, :3]) if image.mode == "RGBA" else image  # alpha is dropped, not blended
    fitted = np.asarray(plain.convert("L" if channels == "gray" else "RGB").resize((width, height), Image.BILINEAR)).reshape(height, width, -1)
    values = fitted[:, :, ::-1] if channels == "bgr" else fitted
    numbers = [np.atleast_1d(eval(str(keys.get(k, d)))) for k, d in (("scale", 1), ("mean", 0), ("std", 1))]
    values = (values * numbers[0] - numbers[1]) / numbers[2]
    return (values if nhwc else values.transpose(2, 0, 1))[None].astype(dtype)


def run(program, path, out, before=()):
    done = subprocess.run([*before, program, "run", "--input", f"x={path}", "--outputs", out], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return np.load(out)["y"]


def check_case(work, name, size):
    """The binary gives Pillow's pixels, the library the binary's bits."""
    _, dtype, keys, mode = CASES[name]
    image, path = picture(mode, *size), work / f"{name}.png"
    image.save(path)
    got, want = run(work / name / "prep", path, work / "out.npz"), wanted(name, image)
    error = np.abs(got.astype(np.float64) - want).max() / np.abs(want).max()
    text = LIBRARY.replace("TYPE", "uint8_t" if dtype == np.uint8 else "float").replace("CHANNELS", str(1 if keys["channels"] == "gray" else 3))
    (work / "main.c").write_text(text)
    for language in ("-std=c11",), ("-x", "c++", "-std=c++17"):
        command = ["cc", "-Wall", "-Wextra", "-Werror", *language, "-I", work / name, work / "main.c", "-x", "none", work / name / "libprep.a", "-o", work / "main"]
        subprocess.run([str(c) for c in command], check=True)
        done = subprocess.run([work / "main", *map(str, size), str(len(mode))], input=image.tobytes(), capture_output=True)
        assert done.returncode == 0 and done.stdout == got.tobytes(), (name, size, language, done.returncode)
    print(f"RESULT images.{name}.{size[0]}x{size[1]}.error {error:.1e}")
    return error < 1e-6


def check_library_alone(work):
    """No name of the application, no heap."""
    names = subprocess.run(["nm", work / "imagenet" / "libprep.a"], capture_output=True, text=True).stdout.split()
    return "prep_prepare_x" in names and not {"malloc", "calloc", "free", "printf"} & set(names)


def check_targets(infc, work):
    """The same bits for every instruction set."""
    targets = [("x86-64", ()), ("x86-64-v3", ())] + ([("aarch64", ("qemu-aarch64",))] if shutil.which("qemu-aarch64") else [])
    path = work / "targets.png"
    picture("RGBA", 101, 37).save(path)
    compile_case(infc, work, "imagenet", [t for t, _ in targets])
    return len({run(work / "imagenet" / t / "prep", path, work / "out.npz", before).tobytes() for t, before in targets}) == 1


def main():
    infc, work, failed = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[3]).resolve(), []
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    for name, (shape, _, keys, _) in CASES.items():
        compile_case(infc, work, name)
        own = (shape[2], shape[1]) if keys.get("layout") == "nhwc" else (shape[3], shape[2])
        for size in (own, (201, 77), (5, 3)):
            failed += [] if check_case(work, name, size) else [f"{name} {size}"]
    failed += [] if check_library_alone(work) else ["library"]
    shutil.rmtree(work / "imagenet")
    failed += [] if check_targets(infc, work) else ["targets"]
    print("FAILED: " + ", ".join(failed) if failed else "all as Pillow has it")
    return bool(failed)


if __name__ == "__main__":
    sys.exit(main())
