#!/usr/bin/env python3
"""Inputs of kind text: token ids of the binary and of the library against the `tokenizers` package, on ordinary and on
hostile texts; then sentences through a real encoder.

usage: words.py INFC SOURCE_DIR WORK_DIR
"""
import json
import random
import subprocess
import sys

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper
from tokenizers import Tokenizer

import documented

TOKENS = 64
TEXTS = ["hello world", "", " ", "Héllo, WÖRLD!  naïve café déjà-vu", "don't $100 a+b=c #tag user@example.org", "ELIZABETH's unaffable",
         "日本語のテキスト and 中文字符", "한국어 텍스트 각", "emoji 😀👩‍👩‍👧 🥳 end", "a\u0301e\u0308 \u1e9b\u0323 ﬁ ½ Å ǅ İstanbul ΣΑΣ ß ẞ", "tab\tnew\nline\r\u00a0nbsp\u2003em\u2028ls",
         "zero\u200bwidth\u200djoin\ufeffbom\u00adshy", "[CLS] inside [SEP] and [MASK]ed [UNK][PAD] [mask] [CLS", "\u0000nul\u0007bell\u007f\u0085x\ufffd", "a" * 100, "a" * 101, "ab" * 5000, "é" * 100, "é" * 101, "中" * 200, "." * 300,
         "¿Qué? «guillemets» „quotes“ … — – ‐ ·", "مرحبا بالعالم שָׁלוֹם नमस्ते สวัสดี", "\U0002f800\uf900\U00020000", "x" * 99 + ".", "word " * 500, "#", "##ing a##b", "\ue000private\U000f0000", "🏳️‍🌈🇩🇪"]


def random_texts(n):
    """Of the blocks that a language or a symbol set fills, so that Unicode's versions agree about them."""
    rng = random.Random(1)
    blocks = [(0, 0x17f), (0x20, 0x7e), (0x300, 0x36f), (0x386, 0x52f), (0x5d0, 0x5ea), (0x1e00, 0x1eff), (0x1f00, 0x1fff), (0x2000, 0x206f), (0x2100, 0x214f), (0x3000, 0x30ff), (0x4e00, 0x4fff), (0xac00, 0xd7a3), (0xf900, 0xfaff), (0xff00, 0xffef), (0x1f600, 0x1f64f)]
    return ["".join(chr(rng.randint(*rng.choice(blocks))) for _ in range(rng.randint(1, 60))) for _ in range(n)]


def small_tokenizer(path, lowercase=True, strip=None, clean=True, han=True):
    pieces = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "hello", "world", "un", "##aff", "##able", "a", "##a", "##b", "##ab", "x", "##x", "é", "##é", "cafe", "café", "##e", "i", "ss", "ß", "É", "日", "本", "中", "ᄒ", "##ᅡ", "##ᆫ", "😀", "##😀", ",", "!", ".", "#", "1", "##00", "$", "word", "i̇", "σ", "##σ", "α", "##α"]
    pieces += [c for c in "bcdefghjklmnopqrstuvwyz"] + ["##" + c for c in "cdfghijklmnopqrstuvwyz"]
    specials = [{"id": i, "content": t, "single_word": False, "lstrip": False, "rstrip": False, "normalized": False, "special": True} for i, t in enumerate(pieces[:5])]
    around = [{"SpecialToken": {"id": "[CLS]", "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}}, {"SpecialToken": {"id": "[SEP]", "type_id": 0}}]
    path.write_text(json.dumps({
        "version": "1.0", "truncation": None, "padding": None, "added_tokens": specials,
        "normalizer": {"type": "BertNormalizer", "clean_text": clean, "handle_chinese_chars": han, "strip_accents": strip, "lowercase": lowercase},
        "pre_tokenizer": {"type": "BertPreTokenizer"}, "decoder": None,
        "post_processor": {"type": "TemplateProcessing", "single": around, "pair": around + [{"Sequence": {"id": "B", "type_id": 1}}],
                           "special_tokens": {t: {"id": t, "ids": [i], "tokens": [t]} for t, i in (("[CLS]", 2), ("[SEP]", 3))}},
        "model": {"type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##", "max_input_chars_per_word": 100, "vocab": {p: i for i, p in enumerate(pieces)}}}))


def identity(path, dtype=TensorProto.INT64):
    names = ["input_ids", "attention_mask", "token_type_ids"]
    ports = [helper.make_tensor_value_info(n, dtype, [1, "tokens"]) for n in names]
    outs = [helper.make_tensor_value_info("y" + n, dtype, [1, "tokens"]) for n in names]
    graph = helper.make_graph([helper.make_node("Add", [n, "zero"], ["y" + n]) for n in names], "g", ports, outs,
                              [helper.make_tensor("zero", dtype, [1], [0])])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)]), path)


LIBRARY = """
#include "prep.h"
#include <stdio.h>
#include <stdlib.h>
static int64_t ids[PREP_PREPARE_text_STEPS];
int main(void) { /* a length and the bytes of each text; the ids of each, a line */
    unsigned n;
    while (fread(&n, 4, 1, stdin) == 1) {
        char *text = malloc(n + !n); /* exactly its size */
        if (n && fread(text, 1, n, stdin) != n) return 1;
        int64_t steps = prep_tokens_text(text, n);
        if (prep_prepare_text(text, n, steps, ids, 0, 0) != INFC_RUN_OK) return 2;
        for (int64_t i = 0; i < steps; i++) printf("%lld ", (long long)ids[i]);
        puts("");
        free(text);
    }
}
"""


def compile_words(infc, work, name, tokenizer, shape):
    identity(work / "words.onnx")
    (work / f"{name}.yaml").write_text(f"infc: 1\nmodel: words.onnx\nname: prep\nshapes: {{tokens: {shape}}}\ninputs:\n  text:\n    kind: text\n    tokenizer: {tokenizer}\n")
    done = subprocess.run([infc, "compile", work / f"{name}.yaml", "-o", work / name], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    (work / "main.c").write_text(LIBRARY)
    subprocess.run(["cc", "-std=c11", "-g", "-fsanitize=address,undefined", work / "main.c", work / name / "src/prep_prepare.c", f"-I{work / name}", f"-I{work / name}/src",
                    work / name / "libprep.a", "-o", work / name / "main"], check=True)


def check_ids(infc, work, name, tokenizer, texts):
    compile_words(infc, work, name, tokenizer, f"1..{TOKENS}")
    theirs = Tokenizer.from_file(str(work / tokenizer))
    theirs.no_padding()
    theirs.enable_truncation(TOKENS)
    raw = b"".join(len(t.encode()).to_bytes(4, "little") + t.encode() for t in texts)
    done = subprocess.run([work / name / "main"], input=raw, capture_output=True)
    assert done.returncode == 0, done.stderr.decode()
    lines, wrong = done.stdout.decode().splitlines(), 0
    for text, line in zip(texts, lines, strict=True):
        want, got = theirs.encode(text).ids, [int(i) for i in line.split()]
        if want != got and (wrong := wrong + 1) < 6:
            print(f"FAILED {name}: {text[:60]!r}\n  want {want[:40]}\n  got  {got[:40]}")
    print(f"RESULT words.{name}.differ {wrong} of {len(texts)}")
    return wrong == 0


def check_invalid(work):
    """Bytes that are not UTF-8 count as U+FFFD, which is dropped, and are never read past."""
    texts = [b"hello\xff world", b"\xc3", b"hello\xe2\x82", b"\xf0\x9f\x98", b"\xc0\x80\xed\xa0\x80\xf5\x80\x80\x80", bytes(range(256))]
    raw = b"".join(len(t).to_bytes(4, "little") + t for t in texts)
    done = subprocess.run([work / "small" / "main"], input=raw, capture_output=True)
    lines = done.stdout.decode().splitlines()
    return done.returncode == 0 and lines[0].split() == ["2", "5", "6", "3"] and lines[1].split() == ["2", "3"] and lines[2].split() == ["2", "5", "3"]


def check_binary(infc, work):
    compile_words(infc, work, "fixed", "small.json", 8)
    (work / "text.txt").write_text("hello world!")
    wanted = {"yinput_ids": [2, 5, 6, 34, 3, 0, 0, 0], "yattention_mask": [1] * 5 + [0] * 3, "ytoken_type_ids": [0] * 8}
    for folder, how, n in (("fixed", "text=hello world!", 8), ("fixed", f"text=@{work}/text.txt", 8), ("small", "text=hello world!", 5)):
        done = subprocess.run([work / folder / "prep", "run", "--input", how, "--outputs", work / "out.npz"], capture_output=True, text=True)
        got = {k: v[0].tolist() for k, v in np.load(work / "out.npz").items()} if done.returncode == 0 else done.stderr
        if got != {k: v[:n] for k, v in wanted.items()}:
            print(f"FAILED {folder} {how}: {got}")
            return False
    done = subprocess.run([work / "fixed/prep", "run", "--input", "text=a", "--input", "text=b"], capture_output=True, text=True)
    return done.returncode == 2 and "given twice" in done.stderr


def check_refusals(infc, work):
    good, failed = json.loads((work / "small.json").read_text()), []
    for what, change, words in (("bpe", lambda t: t["model"].update(type="BPE"), "its model is BPE"),
                                ("norm", lambda t: t["normalizer"].update(type="NFC"), "its normalizer is NFC"),
                                ("pre", lambda t: t["pre_tokenizer"].update(type="Whitespace"), "its pre_tokenizer is Whitespace"),
                                ("unk", lambda t: t["model"].update(unk_token="none"), "unk_token is not in the vocabulary"),
                                ("id", lambda t: t["model"]["vocab"].update(hello=-1), "has no id that fits"),
                                ("lstrip", lambda t: t["added_tokens"][0].update(lstrip=True), "lstrip are not implemented"),
                                ("left", lambda t: t.update(truncation={"max_length": 8, "direction": "Left"}), "at the left"),
                                ("room", lambda t: t.update(truncation={"max_length": 2, "direction": "Right"}), "no room for text")):
        changed = json.loads(json.dumps(good))
        change(changed)
        (work / "bad.json").write_text(json.dumps(changed))
        (work / "bad.yaml").write_text("infc: 1\nmodel: words.onnx\nname: prep\nshapes: {tokens: 8}\ninputs: {text: {kind: text, tokenizer: bad.json}}\n")
        done = subprocess.run([infc, "compile", work / "bad.yaml", "-o", work / "bad"], capture_output=True, text=True)
        failed += [] if done.returncode == 2 and words in done.stderr else [f"{what}: {done.returncode} {done.stderr}"]
    identity(work / "float.onnx", TensorProto.FLOAT)
    (work / "bad.yaml").write_text("infc: 1\nmodel: float.onnx\nname: prep\nshapes: {tokens: 8}\ninputs: {text: {kind: text, tokenizer: small.json}}\n")
    done = subprocess.run([infc, "compile", work / "bad.yaml", "-o", work / "bad"], capture_output=True, text=True)
    failed += [] if done.returncode == 2 and 'input "input_ids" is f32[1,8]; text needs i64 or i32' in done.stderr else [f"float: {done.returncode} {done.stderr}"]
    print("".join(failed), end="")
    return not failed


def check_minilm(infc, source, work):
    """Sentences to vectors: tokens and model against `tokenizers` and ONNX Runtime; what is alike is near."""
    path = documented.compile_model(infc, source, work, "minilm-l6-128", "minilm", "all-minilm-l6-v2-tokenizer.json")
    tokenizer = path.with_name("all-minilm-l6-v2-tokenizer.json")
    theirs, session = Tokenizer.from_file(str(tokenizer)), onnxruntime.InferenceSession(path)
    vectors, worst = [], 0
    for text in ("A man is playing a guitar.", "Someone plays the guitar!", "The stock market fell sharply — 3% — on Tuesday."):
        done = subprocess.run([work / "minilm/minilm", "run", "--input", f"text={text}", "--outputs", work / "out.npz"], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        e = theirs.encode(text)
        feeds = {"input_ids": [e.ids], "attention_mask": [e.attention_mask], "token_type_ids": [e.type_ids]}
        want = session.run(None, {k: np.array(v, np.int64) for k, v in feeds.items()})[0]
        mask = np.array(e.attention_mask, np.float32)
        got = np.load(work / "out.npz")[session.get_outputs()[0].name]
        rows = mask.astype(bool)
        worst = max(worst, np.abs(got[0][rows] - want[0][rows]).max() / np.abs(want).max())
        mean = (got[0] * mask[:, None]).sum(0) / mask.sum()
        vectors.append(mean / np.linalg.norm(mean))
    print(f"RESULT words.minilm.error {worst:.2e}")
    print(f"RESULT words.minilm.alike {vectors[0] @ vectors[1]:.3f}\nRESULT words.minilm.unlike {vectors[0] @ vectors[2]:.3f}")
    return worst < 1e-4 and vectors[0] @ vectors[1] > 0.7 > 0.3 > vectors[0] @ vectors[2] and check_ids(infc, work, "bert", tokenizer, TEXTS + random_texts(200))


def checks(infc, source, work):
    texts = TEXTS + random_texts(2000)
    small_tokenizer(work / "small.json")
    small_tokenizer(work / "cased.json", lowercase=False)
    small_tokenizer(work / "accents.json", strip=False, han=False)
    small_tokenizer(work / "raw.json", lowercase=False, strip=True, clean=False)
    named = {name: lambda name=name: check_ids(infc, work, name, f"{name}.json", texts) for name in ("small", "cased", "accents", "raw")}
    return named | {"invalid": lambda: check_invalid(work), "binary": lambda: check_binary(infc, work),
                    "refusals": lambda: check_refusals(infc, work), "minilm": lambda: check_minilm(infc, source, work)}


if __name__ == "__main__":
    sys.exit(documented.run(checks))
