#!/usr/bin/env python3
"""Inputs of kind audio: WAV files through the binary and samples through the library, against NumPy; then a real model.

usage: sound.py INFC SOURCE_DIR WORK_DIR

The models of the first part hand their input on, so that what the run gives is what was prepared. The features are
worked out here in float64, from the definitions of librosa and of Whisper's feature extractor.
"""
import shutil
import struct
import subprocess
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper

import documented

RATE = 16000


def wav(path, samples, rate=RATE):
    """Samples [channels, n] of int16 as a WAV file."""
    data = np.ascontiguousarray(samples.T, "<i2").tobytes()
    head = struct.pack("<HHIIHH", 1, len(samples), rate, rate * 2 * len(samples), 2 * len(samples), 16)
    path.write_bytes(b"RIFF" + struct.pack("<I", 36 + len(data)) + b"WAVEfmt " + struct.pack("<I", 16) + head + b"data" + struct.pack("<I", len(data)) + data)


def voice(n, seed=1):
    """Harmonics of a gliding tone with pauses, and noise."""
    t = np.arange(n) / RATE
    tone = sum(np.sin(2 * np.pi * k * (140 * t + 8 * np.sin(3 * t))) / k for k in range(1, 20))
    values = tone * np.clip(np.sin(2 * np.pi * 1.5 * t), 0, 1) * 0.1 + np.random.default_rng(seed).normal(0, 0.001, n)
    return (values * 32767).astype(np.int16)


def fitted(x, total, align="start", fill="silence", normalize=False):
    if fill == "repeat" and len(x) < total:
        x = np.concatenate([x] * (total // len(x) + 1))
        x = x[len(x) - total:] if align == "end" else x[:total]
    x = x[-total:] if align == "end" else x[:total]
    x = np.pad(x, (total - len(x), 0) if align == "end" else (0, total - len(x)))
    return (x - x.mean()) / np.sqrt(x.var() + 1e-7) if normalize else x


def mel_points(low, high, n, htk):
    if htk:
        def to(f): return 2595 * np.log10(1 + f / 700)
        def back(m): return 700 * (10 ** (m / 2595) - 1)
    else:
        def to(f): return np.where(f < 1000, 3 * f / 200, 15 + np.log(np.maximum(f, 1) / 1000) / (np.log(6.4) / 27))
        def back(m): return np.where(m < 15, 200 * m / 3, 1000 * np.exp(np.log(6.4) / 27 * (m - 15)))
    return back(np.linspace(to(np.float64(low)), to(np.float64(high)), n + 2))


def mel(x, steps, n_fft=400, hop=160, mels=80, window="hann", center="reflect", power=2, fmin=0, fmax=RATE / 2,
        mel_scale="slaney", mel_norm="slaney", log="log10", floor=1e-10, range=None, relative=False, scale=1, mean=0, std=1):
    if center != "none":
        x = np.pad(x, n_fft // 2, mode="reflect" if center == "reflect" else "constant")
    k = np.arange(n_fft)
    shape = {"hann": 0.5 - 0.5 * np.cos(2 * np.pi * k / n_fft), "hamming": 0.54 - 0.46 * np.cos(2 * np.pi * k / n_fft), "none": np.ones(n_fft)}[window]
    frames = np.stack([x[t * hop:t * hop + n_fft] * shape for t in np.arange(steps)])
    spectrum = np.abs(np.fft.rfft(frames)) ** power
    edges, bins = mel_points(fmin, fmax, mels, mel_scale == "htk"), np.fft.rfftfreq(n_fft, 1 / RATE)
    up = (bins - edges[:-2, None]) / np.diff(edges)[:-1, None]
    down = (edges[2:, None] - bins) / np.diff(edges)[1:, None]
    filters = np.maximum(0, np.minimum(up, down))
    filters *= 2 / (edges[2:] - edges[:-2])[:, None] if mel_norm == "slaney" else 1
    y = filters @ spectrum.T
    y = y if log == "none" else {"log10": np.log10, "ln": np.log}[log](np.maximum(y, floor))
    y = y if range is None else np.maximum(y, y.max() - range)
    y = y - y.max() if relative else y
    return (y * scale - mean) / std


def identity(path, shape):
    ports = [helper.make_tensor_value_info(n, TensorProto.FLOAT, shape) for n in "xy"]
    graph = helper.make_graph([helper.make_node("Identity", ["x"], ["y"])], "g", ports[:1], ports[1:])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)]), path)


WHISPER = {"features": "mel", "align": "end", "normalize": True, "range": 8, "mean": -4, "std": 4}
DNSMOS = {"features": "mel", "n_fft": 321, "mels": 120, "center": "zeros", "fill": "repeat", "relative": True, "range": 8, "scale": 10, "mean": -40, "std": 40}
OTHER = {"features": "mel", "n_fft": 512, "hop": 200, "mels": 40, "center": "none", "window": "hamming", "power": 1,
         "fmin": 20, "fmax": 7600, "mel_scale": "htk", "mel_norm": "none", "log": "ln", "floor": 1e-6}
PLAIN = {"features": "mel", "mels": 23, "window": "none", "log": "none", "samples": 4000}
# name, shape of the input, keys of the spec, samples of the file, `shapes`
CASES = [("whisper-8s", [1, 80, 800], WHISPER, 50001, {}), ("whisper-cut", [1, 80, 100], WHISPER, 50000, {}),
         ("dnsmos", [1, 900, 120], DNSMOS, 30000, {}), ("htk", [40, 31], OTHER, 9000, {}), ("plain", [1, 23, 25], PLAIN, 4000, {}),
         ("open", [1, 80, "frames"], WHISPER, 16001, {"frames": "8..400"}),
         ("samples", [1, 5000], {"mean": 0.5, "std": 2}, 3000, {}), ("repeat", [5000, 1, 1], {"fill": "repeat", "align": "end"}, 1234, {}),
         ("chunk", [1, "n"], {"normalize": True}, 700, {"n": "{min: 64, max: 1024, multiple: 64}"})]


def expected(shape, keys, x, steps):
    form = {k: keys[k] for k in ("align", "fill", "normalize") if k in keys}
    rest = {k: v for k, v in keys.items() if k not in (*form, "features", "samples")}
    if keys.get("features") != "mel":
        y = fitted(x, steps, **form)
        return (y * rest.get("scale", 1) - rest.get("mean", 0)) / rest.get("std", 1)
    hop, n_fft = rest.get("hop", 160), rest.get("n_fft", 400)
    total = keys.get("samples", hop * steps + (n_fft - hop if rest.get("center") == "none" else 0))
    y = mel(fitted(x, total, **form), steps, **rest)
    return y if shape[-2] == rest.get("mels", 80) else y.T


def yaml(value):
    return str(value).lower() if isinstance(value, bool) else f"{value}"


def compile_case(infc, work, name, shape, keys, shapes, targets=()):
    identity(work / f"{name}.onnx", shape)
    lines = ["infc: 1", f"model: {name}.onnx", "name: prep", "inputs:", "  x:", "    kind: audio", f"    rate: {RATE}"]
    lines += [f"    {k}: {yaml(v)}" for k, v in keys.items()] + (["shapes:"] if shapes else []) + [f"  {k}: {v}" for k, v in shapes.items()]
    (work / f"{name}.yaml").write_text("\n".join(lines) + "\n")
    command = [infc, "compile", work / f"{name}.yaml", "-o", work / name] + [a for t in targets for a in ("--target", t)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def prepared(program, sound, out, before=()):
    done = subprocess.run([*before, program, "run", "--input", sound, "--outputs", out], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return np.load(out)["y"]


def check_case(infc, work, name, shape, keys, n, shapes):
    pcm = voice(n)
    stereo = np.stack([pcm, -(pcm // 2)]) if name == "whisper-8s" else pcm[None]
    wav(work / f"{name}.wav", stereo)
    x = (stereo.astype(np.float64) / 32768).mean(axis=0)
    compile_case(infc, work, name, shape, keys, shapes)
    got = prepared(work / name / "prep", work / f"{name}.wav", work / "out.npz")
    open_axis = next((i for i, d in enumerate(shape) if isinstance(d, str)), None)
    steps = got.shape[open_axis] if open_axis is not None else max(shape) if "features" not in keys else shape[-1] if shape[-1] != keys.get("mels", 80) else shape[-2]
    if open_axis is not None:
        unit = keys.get("hop", 160) if "features" in keys else 64
        assert steps == (-(-n // unit) if "features" in keys else -(-n // unit) * unit), (name, steps)
    want = expected(shape, keys, x, steps).reshape(got.shape)
    error = np.abs(got - want).max() / np.abs(want).max()
    print(f"RESULT sound.{name}.error {error:.2e}")
    return error < 1e-5


LIBRARY = """
#include "prep.h"
#include <stdio.h>
static float samples[50001], out[PREP_IN_x_COUNT];
static double scratch[PREP_PREPARE_x_SCRATCH / 8];
int main(void) {
    size_t n = fread(samples, 4, 50001, stdin);
    if (prep_prepare_x(samples, n, PREP_PREPARE_x_STEPS, out, (char *)scratch + 1) != INFC_RUN_BAD_ARGUMENT) return 1;
    if (prep_prepare_x(samples, n, PREP_PREPARE_x_STEPS + 1, out, scratch) != INFC_RUN_BAD_SIZE) return 2;
    if (prep_prepare_x(samples, n, PREP_PREPARE_x_STEPS, out, scratch) != INFC_RUN_OK) return 3;
    return fwrite(out, 4, PREP_IN_x_COUNT, stdout) != PREP_IN_x_COUNT;
}
"""


def check_library(work):
    """The same bits as the binary; nothing but the library is linked."""
    (work / "main.c").write_text(LIBRARY)
    folder = work / "whisper-8s"
    subprocess.run(["cc", "-std=c11", work / "main.c", f"-I{folder}", folder / "libprep.a", "-o", work / "main"], check=True)
    pcm = voice(50001)
    x = np.stack([pcm, -(pcm // 2)]).astype(np.float64).mean(axis=0) / 32768
    done = subprocess.run([work / "main"], input=x.astype(np.float32).tobytes(), capture_output=True)
    names = subprocess.run(["nm", "-g", "--defined-only", folder / "libprep.a"], capture_output=True, text=True).stdout.split()
    foreign = [n for n in names if n.startswith("infrt")]
    return done.returncode == 0 and not foreign and done.stdout == prepared(folder / "prep", work / "whisper-8s.wav", work / "out.npz").tobytes()


def check_targets(infc, work):
    """The same bits for every instruction set."""
    targets = [("x86-64", ()), ("x86-64-v3", ())] + ([("aarch64", ("qemu-aarch64",))] if shutil.which("qemu-aarch64") else [])
    compile_case(infc, work, "targets", [1, 80, 100], WHISPER, {}, [t for t, _ in targets])
    bits = [prepared(work / "targets" / t / "prep", work / "whisper-8s.wav", work / "out.npz", before).tobytes() for t, before in targets]
    return len(set(bits)) == 1


def check_refusals(work):
    program, failed = work / "whisper-8s" / "prep", []
    wav(work / "rate.wav", voice(1000)[None], 44100)
    (work / "cut.wav").write_bytes((work / "rate.wav").read_bytes()[:100])
    for file, words in (("rate.wav", "44100 samples per second; the model takes 16000"), ("cut.wav", "truncated")):
        done = subprocess.run([program, "run", "--input", work / file], capture_output=True, text=True)
        failed += [] if done.returncode == 3 and words in done.stderr else [f"{file}: {done.returncode} {done.stderr}"]
    print("".join(failed), end="")
    return not failed


def check_smart_turn(infc, source, work):
    """What the package's own features give, and what the WAV file gives."""
    path = documented.compile_model(infc, source, work, "smart-turn", "turn")
    theirs = {}
    exec((path.parents[1] / "_whisper_features.py").read_text(), theirs)
    features = theirs["compute_whisper_log_mel_features"](np.pad(voice(50001).astype(np.float32) / 32768, (128000 - 50001, 0)))
    wav(work / "turn.wav", voice(50001)[None])
    np.savez(work / "turn.npz", input_features=features[None].astype(np.float32))
    answers = []
    for how in (["--inputs", work / "turn.npz"], ["--input", work / "turn.wav"]):
        subprocess.run([work / "turn/turn", "run", *how, "--outputs", work / "out.npz"], check=True, capture_output=True)
        answers.append(np.load(work / "out.npz")["logits"].item())
    print(f"RESULT sound.smart-turn.difference {abs(answers[0] - answers[1]):.2e}")
    return abs(answers[0] - answers[1]) < 1e-2


def checks(infc, source, work):
    named = {case[0]: lambda case=case: check_case(infc, work, *case) for case in CASES}
    return named | {"library": lambda: check_library(work), "targets": lambda: check_targets(infc, work),
                    "refusals": lambda: check_refusals(work), "smart-turn": lambda: check_smart_turn(infc, source, work)}


if __name__ == "__main__":
    sys.exit(documented.run(checks))
