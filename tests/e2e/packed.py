#!/usr/bin/env python3
"""`infc pack`: from an .infw file, without the model, the same weights and the same code as from the model.

usage: packed.py INFC SOURCE_DIR WORK_DIR

examples/tiny-lm and GGUF files made by language.py, in several precisions, for one or two targets; answers of both
programs; the file as docs/infw.md has it; and damaged files, each refused for what is wrong with it.
"""
import json
import pathlib
import re
import shutil
import struct
import subprocess
import sys

from language import FAILED, expect, weights_of, write_gguf, write_hf

TARGETS = ["x86-64-v3", "aarch64"]
INT4 = ["precision.weights=int4"]
CALIBRATED = INT4 + ["precision.calibration.tokens=1024"]
RULES = INT4 + ['precision.rules=[{match: "down_proj|1.mlp", weights: int8}, {match: "layers.2.*o_proj", weights: f32}]']
# Checksums of what is packed: where one differs for the same model, a layout has changed, and files of before would be
# taken for what they are not: raise INFC_LLM_PACK_VERSION, then set them anew.
LAYOUTS = {"f32": "88ebd1d8666ba074", "f16": "be56c8d63b8cea9f", "bf16": "096ac0072ad94857", "int8": "fdbdc1c011982a7f", "int4": "1c23364af841facc", "keep": "09bece6162c3e1ab"}


def call(*argv):
    return subprocess.run([str(a) for a in argv], capture_output=True, text=True)


def sets(items):
    return [word for item in items for word in ("--set", item)]


def infc_call(infc, *argv):
    run = call(infc, *argv)
    if run.returncode:
        sys.exit(f"{argv}: {run.returncode}\n{run.stdout}{run.stderr}")
    return run.stdout


def code(path):
    """-> bytes of a generated file, without what names the source"""
    text = path.read_bytes()
    if path.suffix == ".weights":
        return text
    text = re.sub(rb"/\*.*?\*/", b"", text, flags=re.S)
    return re.sub(rb"(\.source|\.source_sha256) = .*|#define LM_SOURCE.*", b"", text)


def check_same(infc, model, choice, packed, work, name):
    """Compiled for targets, each from the model and from what was packed of it."""
    for target in TARGETS[: 2 if name in ("int4", "int8", "keep") else 1]:
        made = []
        for path, precision in ((model, choice), (packed, [])):
            out = work / f"{name}-{target}-{path.suffix[1:] or 'folder'}"
            infc_call(infc, "compile", path, "-o", out, "--target", target, "--stop-after", "emit", "--set", "name=lm",
                      *sets(precision))
            made.append({f.name: code(f) for f in sorted((out / "src").iterdir()) if f.is_file()})
        differ = [f for f in made[0] if made[0][f] != made[1].get(f)]
        expect(made[0].keys() == made[1].keys() and not differ and "lm.weights" in made[0],
               f"{name}, {target}: the same weights and code, {len(made[0]['lm.weights'])} bytes of weights {differ}")


def check_model(infc, model, choice, work, name):
    """-> the packed file"""
    apart = work / f"{name}-apart"  # where the model is not beside it
    apart.mkdir()
    out = apart / f"{name}.infw"
    copy = apart / model.name
    (shutil.copytree if model.is_dir() else shutil.copy)(model, copy)
    said = json.loads(infc_call(infc, "pack", copy, "-o", out, "--json", *sets(choice)))
    (shutil.rmtree if copy.is_dir() else pathlib.Path.unlink)(copy)
    expect(said["file_bytes"] == out.stat().st_size and said["packed"] > 0 and list(apart.iterdir()) == [out],
           f"{name}: packs {said['packed']} weights into {said['file_bytes']} bytes, and leaves nothing else")
    first = out.read_bytes()
    infc_call(infc, "pack", model, "-o", out, *sets(choice))
    expect(out.read_bytes() == first, f"{name}: packed again, the same bytes")
    check_same(infc, model, choice, out, work, name)
    return out


def check_answers(infc, model, choice, packed, work):
    answers = []
    for i, (path, precision) in enumerate(((model, choice), (packed, []))):
        out = work / f"answers{i}"
        infc_call(infc, "compile", path, "-o", out, "--set", "name=lm", "--set", "output.kinds=binary", *sets(precision))
        ids = infc_call(out / "lm", "run", "--prompt", "In the beginning", "--max-tokens", "40", "--json")
        answers.append((json.loads(ids)["text"], infc_call(out / "lm", "verify").split()[-1]))
    expect(answers[0] == answers[1] and answers[0][0], f"the same answer: {answers[0][0]!r}, hash {answers[0][1]}")


def split(path):
    data = path.read_bytes()
    (n,) = struct.unpack("<Q", data[:8])
    return json.loads(data[8 : 8 + n]), data[8 + n :]


def xxh64(data):
    """XXH64 with seed 0, as its specification has it."""
    p1, p2, p3, p4, p5 = (0x9E3779B185EBCA87, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9, 0x85EBCA77C2B2AE63, 0x27D4EB2F165667C5)
    mask = (1 << 64) - 1

    def turn(x, n):
        return (x << n | x >> (64 - n)) & mask

    def mix(acc, lane):
        return turn((acc + lane * p2) & mask, 31) * p1 & mask

    whole = len(data) // 32 * 32
    assert whole >= 32
    acc = [(p1 + p2) & mask, p2, 0, -p1 & mask]
    for lanes in struct.iter_unpack("<4Q", data[:whole]):
        acc = [mix(a, lane) for a, lane in zip(acc, lanes)]
    h = sum(turn(a, n) for a, n in zip(acc, (1, 7, 12, 18))) & mask
    for a in acc:
        h = ((h ^ mix(0, a)) * p1 + p4) & mask
    h = (h + len(data)) & mask
    at = whole
    while at + 8 <= len(data):
        h = (turn(h ^ mix(0, int.from_bytes(data[at : at + 8], "little")), 27) * p1 + p4) & mask
        at += 8
    if at + 4 <= len(data):
        h = (turn(h ^ int.from_bytes(data[at : at + 4], "little") * p1 & mask, 23) * p2 + p3) & mask
        at += 4
    for byte in data[at:]:
        h = turn(h ^ byte * p5 & mask, 11) * p1 & mask
    h = (h ^ h >> 33) * p2 & mask
    h = (h ^ h >> 29) * p3 & mask
    return f"{h ^ h >> 32:016x}"


def check_format(packed):
    """docs/infw.md, read independently."""
    directory, data = split(packed)
    metadata = directory.pop("__metadata__")
    start = packed.stat().st_size - len(data)
    at, aligned = 0, True
    for name, entry in directory.items():
        begin, end = entry["data_offsets"]
        aligned &= begin == at and (start + begin) % 64 == 0 or name.startswith("pad/") and begin == at
        aligned &= entry["dtype"] == "U8" and entry["shape"] == [end - begin]
        at = end
    expect(aligned and at == len(data), f"{len(directory)} entries stand one after another at multiples of 64")
    expect(metadata["infw"] == "6" and metadata["xxh64"] == checksum(packed.read_bytes(), metadata["xxh64"]), f"its checksum: {metadata['xxh64']}")
    rotate = "128" if "calibration" in metadata else "64"
    expect(metadata["int4_rotate"] == rotate, f"its int4 weights are transformed by {rotate} values")
    kinds = {name.split("/")[0] for name in directory}
    expect(kinds <= {"packed", "tensor", "file", "pad"} and {"packed", "tensor", "file"} <= kinds, f"entries: {sorted(kinds)}")


def check_layouts(infc, floats, gguf, work):
    for name, wanted in LAYOUTS.items():
        out = work / f"layout_{name}.infw"
        infc_call(infc, "pack", gguf if name == "keep" else floats, "-o", out, *sets([f"precision.weights={name}"]))
        found = xxh64(split(out)[1])
        expect(found == wanted, f"{name} weights are laid out as version 4 has them: {found}")


def checksum(whole, written):
    """That of a file, in which it is zeros."""
    return xxh64(whole.replace(written.encode(), b"0" * 16, 1))


def write(path, directory, data, sealed=True):
    text = json.dumps(directory, separators=(",", ":")).encode()
    whole = struct.pack("<Q", len(text)) + text + data
    said = directory.get("__metadata__", {}).get("xxh64")
    if said and sealed:
        whole = whole.replace(said.encode(), checksum(whole, said).encode(), 1)
    path.write_bytes(whole)


def without(directory, data, name):
    """The entry is gone, and what held its bytes is filling."""
    made = dict(directory)
    made["pad/gone"] = made.pop(name)
    return made, data


def check_damaged(infc, packed, work):
    directory, data = split(packed)
    bad = work / "bad.infw"
    first = next(n for n in directory if n.startswith("packed/"))
    norm = "tensor/model.norm.weight"

    def metadata(**changed):
        return {**directory, "__metadata__": {k: v for k, v in {**directory["__metadata__"], **changed}.items() if v is not None}}

    def swapped(name, **changed):
        return {**directory, name: {**directory[name], **changed}}

    span = directory[first]["data_offsets"]
    cases = {
        "cut off": (directory, data[:-1], "cut off or damaged"),
        "longer": (directory, data + b"\0", "belong to no tensor"),
        "a bit": (directory, data[:1000] + bytes([data[1000] ^ 1]) + data[1001:], "its checksum is"),
        "version": (metadata(infw="3"), data, 'version "3" of the format is not read'),
        "no metadata": ({k: v for k, v in directory.items() if k != "__metadata__"}, data, "it is no .infw file"),
        "no checksum": (metadata(xxh64=None), data, "it is no .infw file"),
        "no rules": (metadata(rules=None), data, "its metadata must say"),
        "no transform": (metadata(int4_rotate=None), data, "its metadata must say int4_rotate"),
        "a transform": (metadata(int4_rotate="96"), data, "its metadata must say int4_rotate"),
        "another transform": (metadata(int4_rotate="128"), data, "it has no weight"),
        "rules": (metadata(rules='[["a(", "int8"]]'), data, "its rule 0 is none"),
        "rules, no list": (metadata(rules="{}"), data, "its rules are no list"),
        "rules, no JSON": (metadata(rules="[[["), data, "not JSON"),
        "weights": (metadata(weights="int3"), data, "its metadata must say"),
        "span": (swapped(first, data_offsets=[span[0], len(data) + 64], shape=[len(data) + 64 - span[0]]), data, "cut off or damaged"),
        "overlap": ({**directory, "pad/x": directory[first]}, data, "overlap"),
        "another type": (swapped(norm, dtype="BF16", shape=[directory[norm]["shape"][0] // 2]), data, "does not belong into an .infw file"),
        "another name": ({**{k: v for k, v in directory.items() if k != norm}, "model.norm.weight": directory[norm]}, data,
                         "does not belong into an .infw file"),
        "no vector": (*without(directory, data, norm), f'"{norm}" is missing'),
        "no head": (*without(directory, data, "file/model.safetensors"), '"file/model.safetensors" is missing'),
        "no config": (*without(directory, data, "file/config.json"), '"file/config.json" is missing'),
        "no weight": (*without(directory, data, first), "it has no weight"),
        "a short weight": ({**swapped(first, data_offsets=[span[0], span[1] - 64], shape=[span[1] - span[0] - 64]),
                            "pad/rest": {"dtype": "U8", "shape": [64], "data_offsets": [span[1] - 64, span[1]]}}, data, "it is damaged"),
    }
    for name, (made, bytes_, text) in cases.items():
        write(bad, made, bytes_, sealed=name != "a bit")
        run = call(infc, "compile", bad, "-o", work / "bad", "--stop-after", "emit")
        expect(run.returncode == 3 and "bad.infw:" in run.stderr and text in run.stderr and not (work / "bad").exists(),
               f"{name}: {run.stderr.strip()[:160]}")
    whole = packed.read_bytes()
    pair = [name.encode() for name in directory if name.startswith("packed/balance.")][:2]
    mark = b"#" * len(pair[0])
    swapped_names = whole.replace(pair[0], mark, 1).replace(pair[1], pair[0], 1).replace(mark, pair[1], 1)
    flips = [whole[:i] + bytes([whole[i] ^ 1]) + whole[i + 1 :] for i in range(20, whole.index(b"}}"), 101)]
    renamed = [whole.replace(b'"file/tokenizer.json"', b'"file/tokenizer.jsoo"'), swapped_names]
    for i, damaged in enumerate(renamed + flips):
        bad.write_bytes(damaged)
        run = call(infc, "inspect", bad)
        right = run.returncode == 3 and "bad.infw:" in run.stderr and (i >= len(renamed) or "its checksum is" in run.stderr)
        expect(damaged != whole and len(damaged) == len(whole) and right, f"a change of the directory, {i}: {run.returncode} {run.stderr.strip()[:160]}")
    for n in [*range(0, 200, 13), *range(200, len(whole), len(whole) // 20)]:
        bad.write_bytes(whole[:n])
        run = call(infc, "inspect", bad)
        if run.returncode != 3 or "bad.infw" not in run.stderr:
            expect(False, f"the first {n} bytes: {run.returncode} {run.stderr}")


def check_refusals(infc, source, packed, calibrated, work):
    tiny = source / "examples/tiny-lm"
    text = source / "README.md"
    cases = [
        (3, "as this spec or command needs it: it holds weights of int4", "compile", packed, "--stop-after", "emit", "--set", "precision.weights=int8"),
        (3, "as this spec or command needs it: it holds weights of int4", "compile", packed, "--stop-after", "emit", *sets(RULES)),
        (2, "precision.calibration:", "compile", packed, "--stop-after", "emit", *sets(CALIBRATED)),
        (3, "calibrated on the text that comes with infc, 1024 tokens", "compile", calibrated, "--stop-after", "emit", *sets(INT4)),
        (2, "--against MODEL, which they were packed from", "eval", packed, "--data", text),
        (2, "is packed already", "pack", packed, "-o", work / "again.infw"),
        (2, "infc pack is for language models", "pack", source / "examples/digits/digits.onnx", "-o", work / "a.infw"),
        (2, "weights of ONNX models are packed by infc compile", "pack", source / "examples/digits/spec.yaml", "-o", work / "a.infw"),
        (2, "the name must end in .infw", "pack", tiny, "-o", work / "a.bin"),
        (2, "say where it goes", "pack", tiny),
        (2, "is a folder", "pack", tiny, "-o", work / "folder.infw"),
        (2, "a file of this name is in the way", "pack", tiny, "-o", text / "none.infw"),
        (4, "cannot read this file", "pack", work / "none.infw"),
    ]
    (work / "folder.infw").mkdir()
    for code_, said, *argv in cases:
        run = call(infc, *argv, *(["-o", work / "refused"] if argv[0] == "compile" else []))
        expect(run.returncode == code_ and said in run.stderr, f"{' '.join(map(str, argv[:1] + argv[2:]))}: {run.stderr.strip()[-200:]}")
    run = call(infc, "compile", calibrated, "-o", work / "said", "--stop-after", "emit", *sets(CALIBRATED))
    expect(run.returncode == 0, f"the spec that it was packed with is fine {run.stderr}")
    spec = work / "spec.yaml"
    spec.write_text(f"infc: 1\nmodel: {packed}\nname: lm\ntargets: [x86-64-v3]\n")
    run = call(infc, "compile", spec, "-o", work / "of_spec", "--stop-after", "emit")
    expect(run.returncode == 0, f"model: F.infw in a spec {run.stderr}")
    shown = json.loads(infc_call(infc, "pack", packed, "--json"))
    expect(shown["packed"]["holds"] == "weights of int4 precision" and shown["compiles"], f"shows {shown['packed']}")
    run = call(infc, "eval", packed, "--data", text, "--context", "256", "--tokens", "512", "--against", tiny)
    expect(run.returncode == 0 and "divergence" in run.stdout, f"eval against the model {run.stderr}")


def main():
    infc, source, work = (pathlib.Path(a).resolve() for a in sys.argv[1:4])
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    tiny = source / "examples/tiny-lm"
    check_model(infc, tiny, [], work, "int8")
    check_model(infc, tiny, ["precision.weights=f32"], work, "f32")
    check_model(infc, tiny, ["precision.weights=bf16"], work, "bf16")
    check_model(infc, tiny, ["precision.weights=f16"], work, "f16")
    packed = check_model(infc, tiny, INT4, work, "int4")
    calibrated = check_model(infc, tiny, CALIBRATED, work, "calibrated")
    check_model(infc, tiny, RULES, work, "rules")
    tied = weights_of(11, True)
    for i in (0, 1):  # equal vectors become one constant, and so they must when packed
        for norm in ("input", "post_attention"):
            tied[f"model.layers.{i}.{norm}_layernorm.weight"][:] = 1
    write_hf(work / "equal", tied, True)
    check_model(infc, work / "equal", [], work, "equal")
    mixed = {"v_proj": "q8_0", "up_proj": "q8_0", "embed_tokens": "q8_0", "down_proj": "f16"}
    write_gguf(work / "mixed.gguf", weights_of(12, False), lambda n: next((t for p, t in mixed.items() if p in n), "q4_1"))
    check_model(infc, work / "mixed.gguf", [], work, "keep")
    check_model(infc, work / "mixed.gguf", ["precision.weights=int8"], work, "gguf8")
    check_layouts(infc, work / "equal", work / "mixed.gguf", work)
    check_answers(infc, tiny, CALIBRATED, calibrated, work)
    check_format(packed)
    check_format(calibrated)
    check_damaged(infc, packed, work)
    check_refusals(infc, source, packed, calibrated, work)
    return bool(FAILED)


if __name__ == "__main__":
    sys.exit(main())
