#!/usr/bin/env python3
"""/v1/embeddings of a MiniLM with the official openai client, against ONNX Runtime with its pooling in NumPy; what is
refused; ids, batches and the bits of texts beside others.

usage: serve_embeddings.py INFC SOURCE_DIR WORK_DIR
"""
import base64
import concurrent.futures
import subprocess
import sys

import numpy as np
import onnxruntime
from openai import BadRequestError, NotFoundError, OpenAI
from tokenizers import Tokenizer

import documented
import model_files
from serving import Server

TEXTS = ["A man is playing a guitar.", "Someone plays the guitar!", "The stock market fell sharply — 3% — on Tuesday.", "naïve café", "x", "guitar " * 100,
         "emoji \U0001f600 and \u4e2d\u6587", "A man is playing a violin."]
SPEC = """infc: 1
model: {model}
name: minilm
shapes: {{batch_size: {texts}, sequence_length: {tokens}}}
inputs: {{text: {{kind: text, tokenizer: {tokenizer}}}}}
outputs: {{last_hidden_state: {{kind: embedding}}}}
serve: {{}}
"""


def expect(holds, what, got=None):
    if not holds:
        raise AssertionError(f"{what}: {got!r}"[:600])


def build(infc, source, work, name, texts, tokens):
    model = next(m for m in model_files.read_list(source) if m["name"] == "minilm-l6-128")
    path = model_files.fetch(work.parent / "model-cache", model)
    tokenizer = path.with_name("all-minilm-l6-v2-tokenizer.json")
    (work / f"{name}.yaml").write_text(SPEC.format(model=path, tokenizer=tokenizer, texts=texts, tokens=tokens))
    subprocess.run([infc, "compile", work / f"{name}.yaml", "-o", work / name], check=True, stdout=subprocess.DEVNULL)
    return path, tokenizer, work / name / "minilm"


class Theirs:
    def __init__(self, path, tokenizer):
        self.session, self.tokenizer = onnxruntime.InferenceSession(path), Tokenizer.from_file(str(tokenizer))
        self.tokenizer.no_truncation()
        self.tokenizer.no_padding()

    def ids(self, text):
        return self.tokenizer.encode(text).ids

    def vector(self, text):
        ids = np.array([self.ids(text)], np.int64)
        hidden = self.session.run(None, {"input_ids": ids, "attention_mask": np.ones_like(ids), "token_type_ids": np.zeros_like(ids)})[0][0]
        mean = hidden.astype(np.float64).mean(0)
        return mean / np.linalg.norm(mean)


def vectors(client, given, **more):
    reply = client.embeddings.create(model="minilm", input=given, **more)
    expect([d.index for d in reply.data] == list(range(len(reply.data))) and reply.object == "list" and reply.model == "minilm", "the list", reply.model)
    return np.array([d.embedding for d in reply.data], np.float32), reply.usage


def check_client(infc, source, work):
    path, tokenizer, program = build(infc, source, work, "ranges", "1..4", "1..128")
    theirs = Theirs(path, tokenizer)
    want = np.array([theirs.vector(t) for t in TEXTS])
    with Server(program) as s:
        client = OpenAI(base_url=s.url + "/v1", api_key="-", max_retries=0)
        expect([m.id for m in client.models.list()] == ["minilm"], "models")
        got, usage = vectors(client, TEXTS)  # the client asks for base64
        error = np.abs(got - want).max()
        expect(got.shape == (len(TEXTS), 384) and error < 1e-5, "vectors", error)
        print(f"RESULT serve_embeddings.error {error:.2e}")
        tokens = sum(len(theirs.ids(t)) for t in TEXTS)
        expect(usage.prompt_tokens == usage.total_tokens == tokens, "usage", usage)
        for i, text in enumerate(TEXTS):  # alone, as numbers, as ids: the same bits
            for given, more in ((text, {}), (text, {"encoding_format": "float"}), ([text], {"user": "u", "timeout": 600}), (theirs.ids(text), {}), ([theirs.ids(text)] * 2, {"dimensions": 384})):
                again, _ = vectors(client, given, **more)
                expect(all(v.tobytes() == got[i].tobytes() for v in again), (text, more))
        raw = s.json("POST", "/v1/embeddings", {"input": TEXTS[0], "encoding_format": "base64"})[1]["data"][0]["embedding"]
        expect(base64.b64decode(raw, validate=True) == got[0].tobytes(), "base64", raw[:40])
        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            many = list(pool.map(lambda i: vectors(client, [TEXTS[i % 8], TEXTS[(i + 1) % 8], TEXTS[i % 8]])[0], range(24)))
        expect(all(v.tobytes() == got[[i % 8, (i + 1) % 8, i % 8]].tobytes() for i, v in enumerate(many)), "the same bits beside others")
        expect(s.metric("infrt_batch_rows_sum") > s.metric("infrt_batch_rows_count"), "texts of one length share runs")
        line = [r for r in s.requests() if r["path"] == "/v1/embeddings"][-1]
        expect(line["texts"] and line["prompt_tokens"] and "guitar" not in s.log(), "no texts in the log", line)
        refusals(s, client, theirs)
    return True


def refusals(s, client, theirs):
    cases = [({"input": "x", "dimensions": 100}, "dimensions"), ({"input": "x", "timeout": 0}, "timeout"), ({"input": "x", "timeout": "1s"}, "timeout"), ({"input": "x", "encoding_format": "hex"}, "encoding_format"), ({"input": []}, "input"), ({"input": ""}, "input"), ({"input": ["a", ""]}, "input"),
             ({"input": ["a", [1]]}, "input"), ({"input": [1, "a"]}, "input"), ({"input": [[]]}, "input"), ({"input": [[1], []]}, "input"), ({"input": {"a": 1}}, "input"), ({"input": 5}, "input"), ({"input": None}, "input"),
             ({}, "input"), ({"input": ["a"] * 2049}, "input"), ({"input": [-1]}, "input"), ({"input": [1.5]}, "input"), ({"input": [2 ** 40]}, "input"), ({"input": "guitar " * 127}, "input"), ({"input": [5] * 129}, "input"),
             ({"input": "a\u0000b"}, None), ({"input": "x", "model": 3}, "model")]
    for body, param in cases:
        status, reply = s.json("POST", "/v1/embeddings", body)
        expect(status == 400 and reply["error"]["param"] == param and reply["error"]["type"] == "invalid_request_error", str(body)[:60], reply)
    status, reply = s.json("POST", "/v1/embeddings", {"input": "guitar " * 127})
    expect(reply["error"]["code"] == "context_length_exceeded" and "129 tokens, and the model takes 128" in reply["error"]["message"], "I1: a text that is too long is not cut", reply)
    status, reply = s.json("POST", "/v1/embeddings", {"input": [30522]})
    expect(status == 400 and "out of range" in reply["error"]["message"], "an id that the model has not", reply)
    status, reply = s.json("POST", "/v1/embeddings", {"input": [[101, 7, 102], [101, 999999, 102], [101, 8, 102]]})
    expect(status == 400, "one of several", reply)
    for wrong, call in ((NotFoundError, {"model": "other", "input": "x"}), (BadRequestError, {"model": "minilm", "input": "guitar " * 500})):
        try:
            client.embeddings.create(**call)
            raise AssertionError(f"{call} is taken")
        except wrong:
            pass
    whole = np.array([theirs.ids("a b")])
    name = {"input_ids": whole, "attention_mask": np.ones_like(whole), "token_type_ids": np.zeros_like(whole)}
    body = {"inputs": [{"name": k, "datatype": "INT64", "shape": list(v.shape), "data": v.ravel().tolist()} for k, v in name.items()]}
    status, reply = s.json("POST", "/v2/models/minilm/infer", body)
    got = np.array(reply["outputs"][0]["data"])
    expect(status == 200 and np.abs(got - theirs.vector("a b")).max() < 1e-5, "the protocol of tensors, of the same model", reply)


def check_fixed(infc, source, work):
    """One text of 32 tokens at a time, padded behind its mask."""
    path, tokenizer, program = build(infc, source, work, "fixed", "1", "32")
    theirs = Theirs(path, tokenizer)
    with Server(program) as s:
        client = OpenAI(base_url=s.url + "/v1", api_key="-", max_retries=0)
        given = [t for t in TEXTS if len(theirs.ids(t)) <= 32]
        got, _ = vectors(client, given)
        error = np.abs(got - np.array([theirs.vector(t) for t in given])).max()
        expect(error < 1e-5 and s.metric("infrt_batches_joined") == 0, "padded", error)
        expect(vectors(client, [theirs.ids(t) for t in given])[0].tobytes() == got.tobytes(), "ids are padded as texts are")
    done = subprocess.run([program, "run", "--input", f"text={TEXTS[0]}", "--outputs", work / "out.npz"], capture_output=True, text=True)
    expect(np.load(work / "out.npz")["last_hidden_state"].tobytes() == got[0].tobytes(), "run and serve agree", done.stderr)
    program = work / "ranges/minilm"
    done = subprocess.run([program, "run", "--input", f"text={TEXTS[0]}", "--outputs", work / "out.npz"], capture_output=True, text=True)
    expect(done.returncode == 0 and np.load(work / "out.npz")["last_hidden_state"].shape == (1, 384), "run takes one text where a range of them is fine", done.stderr)
    return True


def checks(infc, source, work):
    return {c.__name__: lambda c=c: c(infc, source, work) for c in (check_client, check_fixed)}


if __name__ == "__main__":
    sys.exit(documented.run(checks))
