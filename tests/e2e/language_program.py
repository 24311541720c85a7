#!/usr/bin/env python3
"""The program of a language model, examples/tiny-lm: its commands, against tokenizers, jinja2 and the forward pass in
numpy; and the C program of docs/language-models.md.

usage: language_program.py INFC SOURCE_DIR WORK_DIR
"""
import json
import os
import pathlib
import shutil
import subprocess
import sys

import jinja2
import numpy as np
import tokenizers

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "llm"))
import checkpoint  # noqa: E402
import llama  # noqa: E402
import random_llama  # noqa: E402
import write_checkpoint  # noqa: E402

VERSE = "In the beginning God created the heaven and the earth"
FAILED = []


def expect(holds, what):
    if not holds:
        FAILED.append(what)
        print("FAILED", what, flush=True)


class Program:
    def __init__(self, path):
        self.path = path

    def run(self, *words, given=None):
        return subprocess.run([self.path, *map(str, words)], input=given, capture_output=True, text=True)

    def json(self, *words, given=None):
        done = self.run(*words, "--json", given=given)
        assert done.returncode == 0, (words, done.stderr)
        return json.loads(done.stdout)


def f32_copy(source, work):
    """The example with its weights as f32, which are the same numbers."""
    folder = work / "tiny-lm"
    shutil.copytree(source / "examples/tiny-lm", folder)
    tensors = checkpoint.read_safetensors(folder / "model.safetensors")
    values = {name: np.asarray(t, np.float32) for name, t in tensors.items()}
    shapes = {name: v.shape for name, v in values.items()}
    write_checkpoint.write_safetensors(folder / "model.safetensors", shapes, values.get, "F32")
    return folder


def check_tokens(program, folder):
    known = tokenizers.Tokenizer.from_file(str(folder / "tokenizer.json"))
    texts = [VERSE, "naïve café — 12,345", "\n\n  a  b\t", "日本", "<|end|> <|user|>", "x" * 300]
    for text in texts[:4] + texts[5:]:
        ids = program.json("tokenize", "--prompt", text)["ids"]
        expect(ids == known.encode(text).ids, f"ids of {text[:20]!r}")
        back = program.run("tokenize", "--tokens", ",".join(map(str, ids))).stdout
        expect(back == "<|begin|>" + text + "\n", f"text of {text[:20]!r}")
    config = json.loads((folder / "tokenizer_config.json").read_text())
    template = jinja2.Template(config["chat_template"])
    whole = template.render(bos_token=config["bos_token"], eos_token=config["eos_token"], add_generation_prompt=True,
                            messages=[dict(role="system", content="Be brief."), dict(role="user", content=VERSE)])
    told = program.json("tokenize", "--prompt", VERSE, "--system", "Be brief.")["ids"]
    expect(told == known.encode(whole, add_special_tokens=False).ids, "ids of a conversation")
    plain, forged = (program.json("tokenize", "--chat", "--prompt", t)["ids"] for t in ("x", texts[4]))
    same = [plain.count(i) == forged.count(i) for i in range(8)]
    expect(all(same), "no control token out of a message")
    return known


def check_answers(program, folder, known):
    ids = known.encode(VERSE).ids
    words = ",".join(map(str, ids))
    whole = program.json("run", "--prompt", VERSE, "--max-tokens", 40)
    expect(whole["prompt"] == ids and whole["prompt_tokens"] == len(ids), "ids of the prompt")
    expect(whole["text"] == known.decode(whole["tokens"]), "text of the answer")
    model = llama.Llama(folder)
    logits = model.forward(ids + whole["tokens"])[len(ids) - 1 : -1].astype(np.float64)
    shifted = logits - logits.max(-1, keepdims=True)
    logprobs = shifted - np.log(np.exp(shifted).sum(-1, keepdims=True))
    chosen = logprobs[np.arange(len(logits)), whole["tokens"]]
    near = np.abs(chosen - whole["logprobs"])
    expect(near.mean() < 0.05 and near.max() < 0.3, f"probabilities: {near.mean():.3f} off, at most {near.max():.3f}")
    best = logprobs.max(-1) - chosen
    expect(best.max() < 0.3, f"the likeliest token, within {best.max():.3f}")

    for flags in (["--threads", 1], ["--threads", 2], ["--chunk", 1], ["--chunk", 7, "--threads", 3],
                  ["--huge-pages", "--pin"]):
        other = program.json("run", "--tokens", words, "--max-tokens", 40, *flags)
        same = (other["tokens"], other["logprobs"]) == (whole["tokens"], whole["logprobs"])
        expect(same, f"the same bits with {flags}")
    (folder / "verse.txt").write_text(VERSE)
    said = [program.run("run", "--max-tokens", 40, *how, given=VERSE).stdout
            for how in (["--prompt", "-"], ["--prompt-file", folder / "verse.txt"], ["--prompt", VERSE])]
    expect(said == [whole["text"] + "\n"] * 3, "text from a file, from stdin, as a word")

    drawing = ["run", "--prompt", VERSE, "--max-tokens", 40, "--temperature", 1, "--seed"]
    drawn = [program.json(*drawing, seed)["tokens"] for seed in (1, 1, 2)]
    expect(drawn[0] == drawn[1] != drawn[2], "a seed, an answer")
    part = whole["text"][5:12]
    cut = program.json("run", "--prompt", VERSE, "--max-tokens", 40, "--stop", part)
    expect((cut["finish"], cut["text"]) == ("stop", whole["text"][: whole["text"].index(part)]), "a stop string")
    first = whole["tokens"][0]
    never = program.json("run", "--prompt", VERSE, "--max-tokens", 5, "--logit-bias", f"{first}=-inf")
    expect(first not in never["tokens"], "a token that is never taken")


def check_chat(program):
    first = program.json("run", "--chat", "--prompt", "Hello", "--max-tokens", 8)["text"]
    done = program.run("chat", "--max-tokens", 8, given="Hello\nAnd then?\n/reset\nHello\n/exit\nHello\n")
    said = done.stdout.split("\n")
    expect(done.returncode == 0 and len(said) == 4, "three answers of a conversation")
    expect(said[0] == first and said[2] == first, "the first answer is that of `run`, also after /reset")
    again = "Hello again, and again, and again\n" * 8
    for policy, code, words in (("stop", 0, "the conversation ends"), ("error", 2, "more than the context"),
                                ("truncate", 0, "are forgotten")):
        done = program.run("chat", "--max-tokens", 16, "--context", 128, "--overflow", policy, given=again)
        right = done.returncode == code and words in done.stderr
        expect(right, f"--overflow {policy}: {done.returncode} {done.stderr}")
        expect((done.stdout.count("\n") == 8) == (policy == "truncate"), f"answers with --overflow {policy}")
    check_long_message(program)
    for policy, code, words in (("stop", 0, "the answer ends there"), ("error", 2, "the answer does not fit"),
                                ("truncate", 0, "the answer ends there")):
        done = program.run("chat", "--context", 16, "--overflow", policy, given="Hello\n")
        right = done.returncode == code and words in done.stderr and done.stdout.count("\n") == 1
        expect(right, f"an answer that fills the context, --overflow {policy}: {done.returncode} {done.stderr}")
    expect(program.run("chat", "--overflow", "later").returncode == 2, "an unknown policy")


def check_long_message(program):
    """What can never fit is left out, and the conversation goes on as if it had not been said."""
    short = "Hello\nAnd then?\n"
    wanted = program.run("chat", "--max-tokens", 8, "--context", 128, given=short).stdout
    long = "Hello\n" + "again and " * 100 + "\nAnd then?\n"
    for policy in ("stop", "truncate"):
        done = program.run("chat", "--max-tokens", 8, "--context", 128, "--overflow", policy, given=long)
        right = done.returncode == 0 and done.stdout == wanted and "it is left out" in done.stderr and "forgotten" not in done.stderr
        expect(right, f"a message too long, --overflow {policy}: {done.returncode} {done.stdout} {done.stderr}")
    done = program.run("chat", "--max-tokens", 8, "--context", 128, given="Hello\nand\0then\nAnd then?\n")
    expect(done.stdout == wanted and "has a NUL" in done.stderr, f"a message with a NUL: {done.stdout} {done.stderr}")
    done = program.run("chat", "--max-tokens", 8, "--context", 128, "--system", "Answer " * 100, given=short)
    expect(done.returncode == 2 and "the system message makes" in done.stderr, f"a system message too long: {done.returncode} {done.stderr}")
    done = program.run("chat", "--max-tokens", 8, "--context", 128, "--overflow", "error", given=long)
    expect(done.returncode == 2 and "more than the context of 128" in done.stderr, f"a message too long: {done.returncode} {done.stderr}")


def check_broken_text(program, work):
    """What is no UTF-8 becomes U+FFFD, here three tokens for a byte."""
    path = work / "broken.txt"
    path.write_bytes(b"\xff" * 100)
    ids = program.json("tokenize", "--prompt-file", path)["ids"]
    expect(ids == program.json("tokenize", "--prompt", "\ufffd" * 100)["ids"] and len(ids) > 200, f"100 bytes: {ids}")


def check_shortest(infc, folder, work):
    """The least context that a model can have, and less."""
    subprocess.run([infc, "compile", folder, "-o", work / "shortest", "--set", "context=2"], check=True, stdout=subprocess.DEVNULL)
    done = Program(work / "shortest/tiny_lm").run("verify")
    expect(done.returncode == 0, f"a context of 2: {done.stdout} {done.stderr}")
    shutil.copytree(folder, work / "one")
    config = work / "one/config.json"
    config.write_text(json.dumps({**json.loads(config.read_text()), "max_position_embeddings": 1}))
    done = subprocess.run([infc, "compile", work / "one", "-o", work / "refused"], capture_output=True, text=True)
    expect(done.returncode == 3 and "the context length is 1" in done.stderr, f"a model's context of 1: {done.stderr}")


def check_balance(infc, folder, work):
    """precision.calibration is the text for keys, too, where no weight is int4."""
    given = ["--set", f"precision.calibration.data={source_text(work)}"]
    packs = []
    for flags in ([], given, [*given, "--set", "precision.calibration.tokens=64"]):
        subprocess.run([infc, "pack", folder, "-o", work / "keys.infw", "--set", "precision.weights=int8", *flags], check=True, stdout=subprocess.DEVNULL)
        whole = (work / "keys.infw").read_bytes()
        data = 8 + int.from_bytes(whole[:8], "little")
        spans = {n.rsplit(".", 1)[0]: e.get("data_offsets") for n, e in json.loads(whole[8:data]).items() if n.startswith("packed/")}
        packs.append({n: whole[data + a : data + b] for n, (a, b) in spans.items()})
    keys = [n for n in packs[0] if n.startswith("packed/balance.")]
    expect(len(keys) == 4 and all(len({p[n] for p in packs}) == 3 for n in keys), f"balanced on the text that is given, or less of it: {keys}")
    expect(all(p[n] == packs[0][n] for p in packs for n in packs[0] if n not in keys), "weights as without it")
    cache = work / "keys.infw/cache"
    done = subprocess.run([infc, "pack", folder, "-o", work / "uncached.infw", "--set", "precision.weights=int8", *flags],
                          capture_output=True, text=True, env={**os.environ, "INFC_CACHE": str(cache)})
    expect(done.returncode == 0 and done.stderr.count(f"the cache {cache} cannot be written") == 1, f"no cache: {done.stderr}")
    expect((work / "uncached.infw").read_bytes() == whole, "no cache: the same bytes")


def check_meetings(program):
    """How often workers meet in a step that gives each of a few answers a token: by the profile, for each layer"""
    for threads, batch, most in ((2, 1, 4), (2, 3, 4), (2, 8, 4), (3, 1, 5), (3, 2, 5)):
        path = program.path.parent / "meetings.json"
        program.json("bench", "--prompt-tokens", 8, "--tokens", 4, "--threads", threads, "--batch", batch, "--profile", path)
        events = json.loads(path.read_text())["traceEvents"]
        met = sum(e.get("cat") == "barrier" and e["tid"] == 0 for e in events)
        layers = sum(e["name"].startswith("attend") and e["tid"] == 0 for e in events)
        expect(layers == 4 and met // layers <= most, f"{met} meetings of {threads} workers, {batch} answers")
    expect(program.json("verify", "--threads", 3)["ok"], "the same bits from workers that share no groups evenly")
    long = ["run", "--tokens", ",".join(str(i % 900 + 50) for i in range(300)), "--max-tokens", 8, "--logprobs", 1]
    shared = [program.json(*long, "--threads", threads) for threads in (1, 2, 3)]  # with 3, heads are shared evenly
    for key in ("tokens", "logprobs"):
        expect(shared[0][key] == shared[1][key] == shared[2][key], f"{key} after 300 tokens, by 1, 2 and 3 workers")


def check_long(infc, work):
    """One row of 3 KV groups whose parts are shared out (with 2 workers; 4 of the model without a window)"""
    for name in random_llama.MORE:
        random_llama.write(work / name, name)
        for kv in ("int8", "f16"):
            subprocess.run([infc, "compile", work / name, "--set", "name=far", "--set", f"precision.kv={kv}", "-o", work / name / kv],
                           check=True, capture_output=True)
            program = Program(work / name / kv / "far")
            words = ["run", "--tokens", ",".join(str(i * 7 % 90) for i in range(763)), "--max-tokens", 8, "--ignore-eos", "--logprobs", 2]
            given = [program.json(*words, "--threads", threads) for threads in (1, 2, 3, 4)]
            same = all(g[key] == given[0][key] for g in given for key in ("tokens", "logprobs"))
            expect(same and len(given[0]["tokens"]) == 8, f"{name}, cache in {kv}: after 763 tokens, by 1 to 4 workers")


def check_others(program):
    info = program.json("info")
    expect(info["chat"] and info["context"] == 512 and info["vocabulary"] == 2048 and info["bos"] == 0, "info")
    bench = program.json("bench", "--prompt-tokens", 64, "--tokens", 16, "--context", 32, "--batch", 4)
    expect(bench["answer_tokens"] == 16 and bench["batch"] == 4 and bench["answer_tokens_per_second"] > 0, "bench")
    verified = program.json("verify")
    expect(verified["ok"] and len(verified["checks"]) >= 5, "verify")
    for words in (["run"], ["run", "--tokens", "5000"], ["run", "--tokens", "1", "--max-tokens", "600"], ["chta"],
                  ["run", "--temperature", "x"]):
        done = program.run(*words)
        expect(done.returncode == 2 and done.stderr and not done.stdout, f"refused: {words}")
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run([program.path, "run", "--prompt", "x"], stdout=writer, stderr=subprocess.PIPE)
    os.close(writer)
    expect(done.returncode in (-13, 4), f"nobody reads: {done.returncode}")


def log_softmax(logits):
    shifted = logits.astype(np.float64) - logits.max(-1, keepdims=True)
    return shifted - np.log(np.exp(shifted).sum(-1, keepdims=True))


def check_eval(infc, program, folder, work, known):
    """Perplexity and divergence against the forward pass in numpy, from logits that the program wrote itself."""
    text, chunk = pathlib.Path("/usr/share/common-licenses/GPL-3"), 96
    ids = np.array(known.encode(text.read_text()).ids[: 5 * chunk + 50])
    chunks = ids[: 5 * chunk].reshape(-1, chunk)
    chunks[:, 0] = known.token_to_id("<|begin|>")
    model = llama.Llama(folder)
    flags = ["--data", text, "--tokens", len(ids), "--context", chunk]
    alone = program.json("eval", *flags, "--logits", work / "logits")
    wanted = np.concatenate([model.forward(list(c))[chunk // 2 : -1] for c in chunks])
    targets = chunks[:, chunk // 2 + 1 :].ravel()
    head = np.fromfile(work / "logits", np.uint32, 4)
    given = np.fromfile(work / "logits", np.float32, offset=24).reshape(-1, head[2])
    expect(head[:2].tobytes() == b"INFRTLG1" and head[3] == chunk and given.shape == wanted.shape, "a file of logits")
    p, q = log_softmax(wanted), log_softmax(given)
    rows = np.arange(len(targets))
    loss, theirs = -q[rows, targets], -p[rows, targets]
    close = lambda a, b, part: abs(a / b - 1) < part  # noqa: E731
    expect(close(alone["perplexity"], np.exp(loss.mean()), 1e-6), "perplexity of its logits")
    expect(close(alone["perplexity"], np.exp(theirs.mean()), 0.01), "perplexity as in numpy")
    error = alone["perplexity"] * loss.std(ddof=1) / len(loss) ** 0.5
    expect(close(alone["perplexity_error"], error, 1e-3), "standard error of it")
    expect((alone["predictions"], alone["tokens"]) == (len(targets), chunks.size), "how many were scored")

    short = subprocess.run([infc, "eval", folder, "--data", folder / "config.json"], capture_output=True, text=True)
    expect(short.returncode == 2 and "give a longer text" in short.stderr, f"a short text: {short.stderr}")
    command = [infc, "eval", folder, *map(str, flags), "--json"]
    told = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    kl = (np.exp(p) * (p - q)).sum(-1)
    expect(1e-6 < kl.mean() and close(told["kl"], kl.mean(), 0.02), f"divergence {told['kl']}, {kl.mean()} in numpy")
    expect(close(told["reference_perplexity"], np.exp(theirs.mean()), 1e-5), "perplexity of floats")
    expect(abs(told["same_top"] - (p.argmax(-1) == q.argmax(-1)).mean()) < 0.01, "the same most likely tokens")
    same = program.json("eval", *flags, "--against", work / "logits", "--threads", 1)
    expect((same["kl"], same["same_top"], same["perplexity"]) == (0, 1, alone["perplexity"]), "against itself")
    for words, code in ((["--data", text, "--context", 4096], 2), (["--data", work / "none"], 4), ([], 2),
                        ([*flags[:-1], chunk + 1, "--against", work / "logits"], 3),
                        (["--data", text, "--against", text], 3)):
        expect(program.run("eval", *words).returncode == code, f"eval {words}: exit code {code}")
    (work / "cut").write_bytes((work / "logits").read_bytes()[:-4])
    done = program.run("eval", *flags, "--against", work / "cut")
    expect(done.returncode == 3 and f"ends after {len(targets) - 1} predictions" in done.stderr, "logits that are cut off")


def check_calibration(infc, folder, work):
    """int4 with error feedback: nearer to the floats, on a text that it has not seen; the same bits with and without
    the cache; refusals. That the grid and the feedback are right is tested in unit/test_calibrate.c."""
    text = "/usr/share/common-licenses/GPL-3"
    start = [infc, "eval", folder, "--data", text, "--tokens", "4096", "--json", "--set", "precision.weights=int4"]
    given = ["--set", f"precision.calibration.data={source_text(work)}", "--set", "precision.calibration.tokens=4096"]
    kl = []
    for flags in ([], ["--set", "precision.calibration.tokens=4096"], given):
        done = subprocess.run([*start, *flags], check=True, capture_output=True, text=True)
        kl.append(json.loads(done.stdout)["kl"])
    expect(kl[1] < 0.75 * kl[0] and kl[2] < 0.75 * kl[0], f"divergence rounded, calibrated: {kl}")
    same = []
    for kind in ("f32", "bf16"):
        rule = f'precision.rules=[{{match: "layers.1.*o_proj|embed", weights: {kind}}}]'
        command = [*start, "--set", "precision.calibration.tokens=512", "--set", rule]
        told = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
        same.append((told["kl"], told["perplexity"]))
    expect(same[0] == same[1], f"the same choices beside weights of f32 and of bf16, which hold the same numbers: {same}")
    hashes = []
    for flags in ([], ["--no-cache"]):
        command = [infc, "compile", folder, *start[-2:], *given, *flags, "-o", work / "calibrated", "--json"]
        told = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
        expect(told["calibration"] == "other.txt, 4096 tokens", "the text is named")
        weights = json.loads((work / "calibrated/report.json").read_text())["weights"]
        hashes.append(weights["xxh64"])
        expect(weights["calibrated_on"] == told["calibration"], "the text is in the report")
    expect(hashes[0] == hashes[1], "the same weights from the cache and without it")
    told = subprocess.run([work / "calibrated/tiny_lm", "info", "--json"], capture_output=True, text=True).stdout
    expect("calibrated on other.txt" in told, "the program names the text")
    nul, latin = work / "nul.txt", work / "latin.txt"
    nul.write_bytes(b"a\0" + 4000 * b"b ")
    latin.write_bytes(2000 * b"caf\xe9 ")
    for flags, code, said in ((["precision.calibration.tokens=64", "precision.kv=f16"], 2, "no weight is int4 and no cache of int8"),
                              (["precision.weights=int4", "precision.calibration.data=none.txt"], 4, "none.txt"),
                              (["precision.weights=int4", f"precision.calibration.data={nul}"], 3, "has a NUL at byte 1"),
                              (["precision.weights=int4", f"precision.calibration.data={latin}"], 3, "is not UTF-8")):
        sets = [word for flag in flags for word in ("--set", flag)]
        done = subprocess.run([infc, "compile", folder, *sets, "-o", work / "refused"], capture_output=True, text=True)
        expect(done.returncode == code and said in done.stderr, f"{flags}: {done.returncode} {done.stderr}")


def source_text(work):
    path = work / "other.txt"
    path.write_text(pathlib.Path("/usr/share/common-licenses/Apache-2.0").read_text())
    return path


def check_library(program, source, work, known):
    text = (source / "examples/tiny-lm/stream.c").read_text()
    page = (source / "docs/language-models.md").read_text()
    expect(text in page, "docs/language-models.md shows stream.c as it is")
    command = next(line for line in page.splitlines() if line.startswith("cc "))
    shutil.copy(source / "examples/tiny-lm/stream.c", work)
    subprocess.run(["sh", "-c", command], cwd=work, check=True)
    done = subprocess.run(["./stream", VERSE], cwd=work, capture_output=True, text=True)
    expect(done.stdout == program.run("run", "--prompt", VERSE, "--max-tokens", 64).stdout, "the program in C")


def main():
    infc, source, work = (pathlib.Path(a).resolve() for a in sys.argv[1:4])
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    folder = f32_copy(source, work)
    subprocess.run([infc, "compile", folder, "-o", work / "tiny-lm-infc"], check=True, stdout=subprocess.DEVNULL)
    program = Program(work / "tiny-lm-infc/tiny_lm")
    known = check_tokens(program, folder)
    check_answers(program, folder, known)
    check_chat(program)
    check_broken_text(program, work)
    check_others(program)
    check_eval(infc, program, folder, work, known)
    check_meetings(program)
    check_long(infc, work)
    check_calibration(infc, folder, work)
    check_shortest(infc, folder, work)
    check_balance(infc, folder, work)
    check_library(program, source, work, known)
    print(f"{len(FAILED)} failed")
    return bool(FAILED)


if __name__ == "__main__":
    sys.exit(main())
