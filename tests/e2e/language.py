#!/usr/bin/env python3
"""Language models made on the spot, compiled, and compared with the forward pass of tests/llm.

usage: language.py INFC SOURCE_DIR WORK_DIR

From Hugging Face files and from GGUF, weights as f32 and int8 and as the file has them, the cache as f16 and int8. And
what must not change a bit: how the prompt is cut, what else is in the step, the workers, the target.
"""
import json
import pathlib
import shutil
import struct
import subprocess
import sys

import numpy as np

VOCAB, HIDDEN, LAYERS, HEADS, KV_HEADS, HEAD, FFN, CONTEXT = 160, 64, 2, 4, 2, 32, 96, 600
SEQUENCES, BLOCKS = 4, 64
FAILED = []


def expect(holds, what):
    print(("ok      " if holds else "FAILED  ") + what, flush=True)
    if not holds:
        FAILED.append(what)


def weights_of(seed, tied):
    """-> {name: f32 array}, sized so that logits vary by some units"""
    random = np.random.default_rng(seed)

    def matrix(rows, columns):
        return (random.standard_normal((rows, columns)) * 1.5 / np.sqrt(columns)).astype(np.float32)

    made = {"model.embed_tokens.weight": matrix(VOCAB, HIDDEN) * 4}
    for i in range(LAYERS):
        at = f"model.layers.{i}."
        made[at + "input_layernorm.weight"] = (1 + 0.2 * random.standard_normal(HIDDEN)).astype(np.float32)
        made[at + "post_attention_layernorm.weight"] = (1 + 0.2 * random.standard_normal(HIDDEN)).astype(np.float32)
        made[at + "self_attn.q_proj.weight"] = matrix(HEADS * HEAD, HIDDEN)
        made[at + "self_attn.k_proj.weight"] = matrix(KV_HEADS * HEAD, HIDDEN)
        made[at + "self_attn.v_proj.weight"] = matrix(KV_HEADS * HEAD, HIDDEN)
        made[at + "self_attn.o_proj.weight"] = matrix(HIDDEN, HEADS * HEAD)
        made[at + "mlp.gate_proj.weight"] = matrix(FFN, HIDDEN)
        made[at + "mlp.up_proj.weight"] = matrix(FFN, HIDDEN)
        made[at + "mlp.down_proj.weight"] = matrix(HIDDEN, FFN)
    made["model.norm.weight"] = (1 + 0.2 * random.standard_normal(HIDDEN)).astype(np.float32)
    if not tied:
        made["lm_head.weight"] = matrix(VOCAB, HIDDEN)
    return made


def write_hf(folder, weights, tied, bf16=False, **more):
    folder.mkdir(parents=True)
    config = dict(model_type="llama", architectures=["LlamaForCausalLM"], vocab_size=VOCAB, hidden_size=HIDDEN,
                  num_hidden_layers=LAYERS, num_attention_heads=HEADS, num_key_value_heads=KV_HEADS, head_dim=HEAD,
                  intermediate_size=FFN, max_position_embeddings=CONTEXT, rms_norm_eps=1e-5, rope_theta=10000.0,
                  tie_word_embeddings=tied, hidden_act="silu") | more
    (folder / "config.json").write_text(json.dumps(config))
    header, data = {}, b""
    for name, value in weights.items():
        raw = value.astype("<f4").tobytes()
        if bf16:
            raw = (np.frombuffer(raw, "<u4") >> 16).astype("<u2").tobytes()
        header[name] = dict(dtype="BF16" if bf16 else "F32", shape=list(value.shape), data_offsets=[len(data), len(data) + len(raw)])
        data += raw
    text = json.dumps(header).encode()
    (folder / "model.safetensors").write_bytes(struct.pack("<Q", len(text)) + text + data)


# ---- GGUF ------------------------------------------------------------------------------------------------------------

GGUF_NAMES = {"self_attn.q_proj": "attn_q", "self_attn.k_proj": "attn_k", "self_attn.v_proj": "attn_v",
              "self_attn.o_proj": "attn_output", "mlp.gate_proj": "ffn_gate", "mlp.up_proj": "ffn_up",
              "mlp.down_proj": "ffn_down", "input_layernorm": "attn_norm", "post_attention_layernorm": "ffn_norm"}


def gguf_name(name):
    if not name.startswith("model.layers."):
        return {"model.embed_tokens.weight": "token_embd.weight", "model.norm.weight": "output_norm.weight",
                "lm_head.weight": "output.weight"}[name]
    _, _, layer, rest = name.split(".", 3)
    return f"blk.{layer}.{GGUF_NAMES[rest.removesuffix('.weight')]}.weight"


def gguf_rows(name, value):
    """Rows of q and k as llama.cpp turns neighbours: halves next to each other."""
    for part, heads in (("q_proj", HEADS), ("k_proj", KV_HEADS)):
        if part in name:
            return value.reshape(heads, 2, HEAD // 2, HIDDEN).swapaxes(1, 2).reshape(value.shape)
    return value


def q8_0(value):
    """-> bytes, and what they stand for"""
    blocks = value.reshape(-1, 32)
    scale = (np.abs(blocks).max(1) / 127).astype(np.float16)
    q = np.round(blocks / np.maximum(scale.astype(np.float32), 1e-30)[:, None]).clip(-127, 127).astype(np.int8)
    raw = np.concatenate([scale[:, None].view(np.uint8), q.view(np.uint8)], 1)
    return raw.tobytes(), (q * scale.astype(np.float32)[:, None]).reshape(value.shape)


def q4_1(value):
    blocks = value.reshape(-1, 32)
    low = blocks.min(1).astype(np.float16)
    scale = ((blocks.max(1) - blocks.min(1)) / 15).astype(np.float16)
    low32, scale32 = low.astype(np.float32)[:, None], scale.astype(np.float32)[:, None]
    q = np.round((blocks - low32) / np.maximum(scale32, 1e-30)).clip(0, 15).astype(np.uint8)
    raw = np.concatenate([scale[:, None].view(np.uint8), low[:, None].view(np.uint8), q[:, :16] | q[:, 16:] << 4], 1)
    return raw.tobytes(), (q * scale32 + low32).reshape(value.shape)


def spoilt(packed, block_bytes, at, bad):
    """The scale, or the minimum, of the last block is no number."""
    raw = bytearray(packed[0])
    raw[len(raw) - block_bytes + at:len(raw) - block_bytes + at + 2] = np.float16(bad).tobytes()
    return bytes(raw), packed[1]


def f32(value):
    return value.astype("<f4").tobytes(), value


def f16(value):
    return value.astype("<f2").tobytes(), value.astype("<f2").astype(np.float32)


TYPES = {"f32": (0, f32), "f16": (1, f16), "q4_1": (3, q4_1), "q8_0": (8, q8_0)}


def write_gguf(path, weights, kind_of):
    """kind_of(name): a key of TYPES. -> the weights as they are stored"""
    text = lambda s: struct.pack("<Q", len(s)) + s.encode()  # noqa: E731
    values = {"general.architecture": "llama", "llama.block_count": LAYERS, "llama.embedding_length": HIDDEN,
              "llama.attention.head_count": HEADS, "llama.attention.head_count_kv": KV_HEADS,
              "llama.attention.key_length": HEAD, "llama.attention.value_length": HEAD,
              "llama.rope.dimension_count": HEAD, "llama.feed_forward_length": FFN, "llama.context_length": CONTEXT,
              "llama.vocab_size": VOCAB, "llama.rope.freq_base": 10000.0,
              "llama.attention.layer_norm_rms_epsilon": 1e-5}
    head = b""
    for key, value in values.items():
        head += text(key)
        if isinstance(value, str):
            head += struct.pack("<I", 8) + text(value)
        elif isinstance(value, int):
            head += struct.pack("<II", 4, value)
        else:
            head += struct.pack("<If", 6, value)
    table, data, stored = b"", b"", {}
    for name, value in weights.items():
        number, pack = TYPES["f32" if value.ndim == 1 else kind_of(name)]
        raw, seen = pack(gguf_rows(name, value))
        stored[name] = pack(value)[1]
        table += text(gguf_name(name)) + struct.pack("<I", value.ndim)
        table += struct.pack(f"<{value.ndim}Q", *value.shape[::-1]) + struct.pack("<IQ", number, len(data))
        data += raw + bytes(-len(raw) % 32)
    start = b"GGUF" + struct.pack("<IQQ", 3, len(weights), len(values)) + head + table
    path.write_bytes(start + bytes(-len(start) % 32) + data)
    return stored


# ---- running ---------------------------------------------------------------------------------------------------------

class Compiled:
    def __init__(self, infc, source, model, work, *sets, target=None, cc=None, runner=()):
        """cc: the compiler of the program that runs steps, with its flags; runner: what to run that with"""
        self.work, self.runner = work, list(runner)
        argv = [infc, "compile", model, "-o", work, "--set", "name=lm", "--set", "output.kinds=static-library",
                "--set", f"batch.max_sequences={SEQUENCES}"]
        for s in sets:
            argv += ["--set", s]
        if target:
            argv += ["--target", target]
        run = subprocess.run([str(a) for a in argv], capture_output=True, text=True)
        if run.returncode:
            sys.exit(f"{argv}\n{run.stdout}{run.stderr}")
        cc = cc or [shutil.which("clang-22") or "cc"]
        subprocess.run([*cc, "-std=c11", "-Wall", "-Wextra", "-Werror", "-D_GNU_SOURCE", "-I", work,
                        '-DMODEL_HEADER="lm.h"', "-DMODEL=lm", source / "tests/e2e/llm_steps.c", work / "liblm.a",
                        "-lpthread", "-o", work / "steps"], check=True)
        self.blocks = (CONTEXT + 31) // 32
        self.tables = np.random.default_rng(5).permutation(BLOCKS)[: SEQUENCES * (BLOCKS // SEQUENCES)]
        self.tables = self.tables.reshape(SEQUENCES, -1).astype("<i4")
        self.tables = np.pad(self.tables, ((0, 0), (0, self.blocks - self.tables.shape[1])), mode="edge")

    def run(self, steps, workers=1):
        """steps: lists of rows (token, position, slot, wanted). -> logits of the wanted rows, one after another"""
        data = self.tables.tobytes()
        for rows in steps:
            columns = np.array([r[:3] for r in rows], "<i4").T
            last = np.array([i for i, r in enumerate(rows) if r[3]], "<i4")
            data += struct.pack("<ii", len(rows), len(last)) + columns.tobytes() + last.tobytes()
        run = subprocess.run([*self.runner, self.work / "steps", str(workers), str(BLOCKS)], input=data, capture_output=True)
        if run.returncode:
            sys.exit(f"{self.work}/steps: {run.returncode} {run.stderr.decode()}")
        return np.frombuffer(run.stdout, "<f4").reshape(-1, VOCAB)


def turned(x, factor):
    """The last axis, filled up with zeros to whole 64, through the Hadamard transform of each 128, the root of 2 times
    that of 64 at the end"""
    x = np.pad(x, ((0, 0), (0, -x.shape[1] % 64)))
    matrix = np.array([[1.0]])
    while len(matrix) < 128:
        matrix = np.block([[matrix, matrix], [matrix, -matrix]])
    whole = x.shape[1] // 128 * 128
    blocks = (x[:, :whole].reshape(len(x), whole // 128, 128) @ matrix).reshape(len(x), whole)
    return np.concatenate([blocks, x[:, whole:] @ matrix[:64, :64][: x.shape[1] - whole] * 2**0.5], 1) * factor


def steps(x, factor):
    """Rows of int8, as what they stand for"""
    scale = np.abs(x).max(1, keepdims=True) / 127
    return np.round(x / scale).clip(-127, 127) * scale * factor


def sequence(seed, n):
    return np.random.default_rng(seed).integers(0, VOCAB, n).tolist()


def prefill(ids, sizes, slot=0, rows_wanted=4):
    """Steps of so many rows each; the last ones' logits are wanted."""
    rows = [(t, i, slot, i >= len(ids) - rows_wanted) for i, t in enumerate(ids)]
    steps, at = [], 0
    for n in sizes:
        steps.append(rows[at : at + n])
        at += n
    return [s if any(r[3] for r in s) else s[:-1] + [s[-1][:3] + (True,)] for s in steps]


def last_rows(logits, n=4):
    return logits[-n:]


def check_bits(model, name):
    """What must not change a bit of the answer."""
    ids = sequence(1, 300)
    whole = last_rows(model.run(prefill(ids, [300])))
    for sizes in ([64, 100, 136], [1] * 5 + [290, 1, 4], [299, 1]):
        cut = last_rows(model.run(prefill(ids, sizes)), 4 if sizes[-1] >= 4 else 1)
        expect(np.array_equal(cut, whole[-len(cut) :]), f"{name}: a prompt in parts of {sizes[-3:]} is the whole")
    two = last_rows(model.run(prefill(ids, [300]), workers=2))
    expect(np.array_equal(two, whole), f"{name}: two workers give the bits of one")
    for n in (2, 3):  # with and without a share of the KV heads that is the same for all
        alone = last_rows(model.run(prefill(ids, [290, 6, 1, 1, 1, 1]), workers=n))
        expect(np.array_equal(alone, whole), f"{name}: {n} workers, the last tokens alone")
    others = [sequence(7 + i, 20 + 9 * i) for i in range(SEQUENCES - 1)]
    steps = [[(t, i, 1 + s, False) for s, o in enumerate(others) for i, t in enumerate(o[:-1])]
             + [(t, i, 0, i == 298) for i, t in enumerate(ids[:299])]]
    steps.append([(o[-1], len(o) - 1, 1 + s, False) for s, o in enumerate(others)] + [(ids[299], 299, 0, True)])
    expect(np.array_equal(model.run(steps)[-1], whole[-1]), f"{name}: a sequence among others is the sequence alone")
    return whole


def check_values(model, reference, name, most, rough=False):
    """`rough`: what is rounded is measured by its mean"""
    ids = sequence(2, 290)
    wanted = reference.forward(ids + sequence(3, 6))
    steps = prefill(ids, [290]) + [[(t, 290 + i, 0, True)] for i, t in enumerate(sequence(3, 6))]
    got = model.run(steps)
    off = got - wanted[286:]
    most_off = np.abs(off).max() / np.abs(wanted).max()
    mean_off = np.sqrt(np.mean(off**2) / np.mean(wanted**2))
    text = f"{name}: logits within {most_off:.1e} of the largest, root mean square {mean_off:.1e}"
    expect((mean_off if rough else most_off) < most, f"{text}; at most {most:.0e}")


def rounded(value, dtype):
    """f32 to the nearest f16 or bf16, half to even, as f32 again"""
    if dtype == "f16":
        return value.astype(np.float16).astype(np.float32)
    bits = value.astype(np.float32).view(np.uint32).astype(np.uint64)
    bits = (bits + 0x7FFF + (bits >> 16 & 1)) & 0xFFFF0000
    return bits.astype(np.uint32).view(np.float32)


def check_halves(infc, source, work, tied, bits_of_bf16_file):
    """f16 and bf16 have the bits of f32 weights that were rounded before; a file of bf16 those of its own numbers"""
    import llama

    ids = sequence(1, 300)
    cache = "precision.kv=f16"
    model = Compiled(infc, source, work / "apart", work / "apart_bf16", "precision.weights=bf16", cache)
    expect(np.array_equal(check_bits(model, "bf16"), bits_of_bf16_file), "a file of bf16, weights bf16: the bits of f32")
    flags = (model.work / "src/build.sh").read_text().split("model='")[1].split("'")[0].split()
    argv = [shutil.which("clang-22") or "cc", *flags, "-Wall", "-Wextra", "-Werror", "-fsyntax-only", model.work / "src/lm.c"]
    warned = subprocess.run([str(a) for a in argv], capture_output=True, text=True)
    expect(warned.returncode == 0, f"no warnings of emitted C: {warned.stderr[:300]}")
    for dtype in ("f16", "bf16"):
        matrices = {name: rounded(w, dtype) if w.ndim == 2 else w for name, w in tied.items()}
        write_hf(work / f"rounded_{dtype}", matrices, True)
        model = Compiled(infc, source, work / f"rounded_{dtype}", work / f"rounded_{dtype}_f32", "precision.weights=f32", cache)
        wanted = last_rows(model.run(prefill(ids, [300])))
        for target in (None, "x86-64-v3", "x86-64"):
            model = Compiled(infc, source, work / "tied", work / f"tied_{dtype}", f"precision.weights={dtype}", cache, target=target)
            got = last_rows(model.run(prefill(ids, [290, 6, 1, 1, 1, 1])))
            expect(np.array_equal(got, wanted), f"{dtype} on {target or 'host'}: the bits of f32 weights rounded before")
        if dtype == "f16":
            head = 'precision.rules=[{match: "embed_tokens", weights: bf16}, {match: "mlp", weights: int8}]'
            model = Compiled(infc, source, work / "tied", work / "tied_mixed", "precision.weights=f16", cache, head)
            check_values(model, llama.Llama(work / "tied", np.float64), "f16, bf16 and int8 mixed", 5e-2, True)
    for value, refused in ((65519.0, False), (65520.0, True)):
        spoilt_one = dict(tied)
        spoilt_one["model.layers.1.mlp.up_proj.weight"] = np.full_like(tied["model.layers.1.mlp.up_proj.weight"], value)
        shutil.rmtree(work / "large", ignore_errors=True)
        write_hf(work / "large", spoilt_one, True)
        argv = [infc, "compile", work / "large", "-o", work / "large_out", "--stop-after", "emit", "--set", "precision.weights=f16"]
        run = subprocess.run([str(a) for a in argv], capture_output=True, text=True)
        named = "mlp.up_proj.weight" in run.stderr and "beyond what f16 holds" in run.stderr
        expect((run.returncode == 3 and named) if refused else run.returncode == 0, f"{value} as f16: {run.stderr.strip()}")


def check_targets(infc, source, work):
    """examples/tiny-lm answers with the same bits on every target that runs here, emulated or not"""
    listed = subprocess.run([str(infc), "targets", "--json"], capture_output=True, text=True, check=True).stdout
    hashes, lines = {}, json.loads(listed)["targets"]
    for line in lines:
        target = line["name"]
        if "-ffreestanding" in line["cflags"] or not line["compiler"] or not (line["runs_here"] or line["emulator_found"]):
            continue  # no operating system, no compiler, or nothing to run it
        out = work / f"tiny_{target}"
        argv = [infc, "compile", source / "examples/tiny-lm", "-o", out, "--target", target, "--set", "context=64",
                "--set", "output.kinds=binary"]
        made = subprocess.run([str(a) for a in argv], capture_output=True, text=True)
        argv = ([] if line["runs_here"] else line["emulator"].split()) + [out / "tiny_lm"]
        run = subprocess.run([str(a) for a in argv + ["verify", "--threads", "1"]], capture_output=True, text=True)
        if "decode_save_opc: Assertion" in run.stderr:  # of qemu 7.2, on conversions of riscv64's vectors
            print(f"not run {target}: this qemu fails on it")
            continue
        expect(made.returncode == 0 and run.returncode == 0, f"{target}: tiny-lm {made.stderr} {run.stderr}".strip())
        hashes[target] = run.stdout.rsplit(maxsplit=1)[-1] if run.stdout else made.stderr
    expect(len(set(hashes.values())) == 1, f"the same answer on {len(hashes)} targets, {', '.join(hashes)}: {sorted(set(hashes.values()))}")
    wide = any(line["runs_here"] for line in lines if line["name"] == "x86-64-v4")
    least = 10 if wide else 9  # those that qemu runs, and what AVX-512 adds where this CPU has it
    expect(len(hashes) >= least, f"at least {least} targets: {len(hashes)}")


def main():
    infc, source, work = (pathlib.Path(a).resolve() for a in sys.argv[1:4])
    sys.path.insert(0, str(source / "tests/llm"))
    import llama

    class Halves(llama.Llama):
        """With a cache of f16."""

        def linear(self, x, name):
            y = super().linear(x, name)
            return y.astype(np.float16).astype(y.dtype) if "v_proj" in name else y

        def rotated(self, x, positions):
            y = super().rotated(x, positions)
            return y.astype(np.float16).astype(y.dtype) if x.shape[1] == KV_HEADS else y

    class Bytes(Halves):
        """Linear layers as docs/numerics.md has them: int8 of weights and rows after the Hadamard transform."""

        def linear(self, x, name):
            y = steps(turned(x, 1.0), 0.0625) @ steps(turned(self.weights[name], 0.125), 1.0).T
            return y.astype(np.float16).astype(y.dtype) if "v_proj" in name else y

        def forward(self, ids, *more, **named):
            table = steps(turned(self.weights["model.embed_tokens.weight"], 0.125), 1.0)
            plain, self.weights = self.weights, dict(self.weights)
            self.weights["model.embed_tokens.weight"] = turned(table, 0.0625)[:, :HIDDEN]
            self.weights["lm_head.weight"] = np.eye(HIDDEN)
            rows = super().forward(ids, *more, **named)
            self.weights = plain
            return self.linear(rows, "lm_head.weight")

    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    tied, apart = weights_of(11, True), weights_of(12, False)
    write_hf(work / "tied", tied, True)
    scaling = dict(rope_scaling=dict(rope_type="llama3", factor=8.0, low_freq_factor=1.0, high_freq_factor=4.0,
                                     original_max_position_embeddings=64))
    write_hf(work / "apart", apart, False, bf16=True, model_type="mistral", sliding_window=70, **scaling)
    f32 = ("precision.weights=f32", "precision.kv=f16")

    model = Compiled(infc, source, work / "tied", work / "tied_f32", *f32)
    check_values(model, Halves(work / "tied", np.float64), "f32", 1e-4)
    bits = check_bits(model, "f32")
    older = Compiled(infc, source, work / "tied", work / "tied_v3", *f32, target="x86-64-v3")
    expect(np.array_equal(last_rows(older.run(prefill(sequence(1, 300), [300]))), bits), "f32: the bits of v3")

    model = Compiled(infc, source, work / "apart", work / "apart_f32", *f32)
    check_values(model, Halves(work / "apart", np.float64), "f32, a window, rotary scaling, a head of its own", 1e-4)
    check_halves(infc, source, work, tied, last_rows(model.run(prefill(sequence(1, 300), [300]))))

    model = Compiled(infc, source, work / "tied", work / "tied_int8", "precision.kv=f16")
    check_values(model, Bytes(work / "tied", np.float64), "int8", 2e-2, True)
    model = Compiled(infc, source, work / "apart", work / "apart_int8")
    check_values(model, llama.Llama(work / "apart", np.float64), "int8, cache of int8, beside f64", 1e-1, True)
    check_bits(model, "int8")
    model = Compiled(infc, source, work / "apart", work / "apart_int4", "precision.weights=int4")
    check_values(model, llama.Llama(work / "apart", np.float64), "int4, cache of int8, beside f64", 5e-1, True)
    both = ("precision.weights=int4", 'precision.rules=[{match: "[qo]_proj|gate", weights: int8}]')
    model = Compiled(infc, source, work / "apart", work / "apart_both", *both)
    check_values(model, llama.Llama(work / "apart", np.float64), "rows that int4 and int8 read", 3.5e-1, True)
    check_bits(model, "int4 and int8")

    write_gguf(work / "f32.gguf", tied, lambda name: "f32")
    model = Compiled(infc, source, work / "f32.gguf", work / "gguf_f32", *f32)
    check_values(model, Halves(work / "f32.gguf", np.float64), "GGUF, f32", 1e-4)
    mixed = {"v_proj": "q8_0", "up_proj": "q8_0", "embed_tokens": "q8_0", "down_proj": "f16"}
    stored = write_gguf(work / "mixed.gguf", tied, lambda n: next((t for p, t in mixed.items() if p in n), "q4_1"))
    stored["lm_head.weight"] = stored["model.embed_tokens.weight"]
    reference = Halves((llama.checkpoint.read_hf(work / "tied")[0], stored), np.float64)
    model = Compiled(infc, source, work / "mixed.gguf", work / "gguf_mixed", "precision.kv=f16")
    check_values(model, reference, "GGUF, Q4_1 and Q8_0 as they are", 5e-2, True)
    check_bits(model, "GGUF")
    model = Compiled(infc, source, work / "mixed.gguf", work / "gguf_floats", *f32)
    check_values(model, reference, "GGUF, Q4_1 and Q8_0 as f32", 2e-4)
    check_targets(infc, source, work)
    for weights, part in (("int8", "mlp.up_proj"), ("f32", "mlp.up_proj"), ("int8", "mlp.gate_proj"), ("int8", "self_attn.q_proj"),
                          ("int8", "self_attn.k_proj"), ("int8", "self_attn.v_proj"), ("int8", "self_attn.o_proj")):
        spoiled = tied[f"model.layers.1.{part}.weight"]
        whole, spoiled[7, 5] = spoiled[7, 5], np.nan
        folder = work / f"nan_{weights}_{part}"
        write_hf(folder, tied, True)
        argv = [infc, "compile", folder, "-o", work / "nan_out", "--set", "name=lm", "--stop-after", "emit"]
        run = subprocess.run([str(a) for a in argv] + ["--set", f"precision.weights={weights}"], capture_output=True, text=True)
        named = f"layers.1.{part}.weight" in run.stderr and "no finite number" in run.stderr and f"{folder}/model" in run.stderr
        expect(run.returncode == 3 and named, f"a weight that is no number is named, {weights}: {run.stderr.strip()}")
        spoiled[7, 5] = whole
    TYPES["q8_0 inf"] = (8, lambda value: spoilt(q8_0(value), 34, 0, np.inf))
    TYPES["q4_1 nan"] = (3, lambda value: spoilt(q4_1(value), 20, 2, np.nan))
    for name, kind in (("model.layers.0.self_attn.k_proj.weight", "q4_1 nan"), ("model.layers.1.mlp.up_proj.weight", "q8_0 inf"),
                       ("model.embed_tokens.weight", "q8_0 inf")):
        write_gguf(work / "scale.gguf", tied, lambda n: kind if n == name else "q4_1" if "_proj" in n else "q8_0")  # noqa: B023
        argv = [infc, "compile", work / "scale.gguf", "-o", work / "scale_out", "--stop-after", "emit"]
        run = subprocess.run([str(a) for a in argv], capture_output=True, text=True)
        named = f'"{gguf_name(name)}"' in run.stderr and "no finite number" in run.stderr
        expect(run.returncode == 3 and named, f"a scale of {kind} that is no number is named: {run.stderr.strip()}")
    return bool(FAILED)


if __name__ == "__main__":
    sys.exit(main())
