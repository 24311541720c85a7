#!/usr/bin/env python3
"""Failures that users of other servers met, each as a test by the name that it has in the collection of them. CASES says
where each is; those of this file are run here, on a server of examples/tiny-lm.

usage: serve_cases.py INFC SOURCE_DIR WORK_DIR
"""
import json
import pathlib
import random
import sys
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "llm"))
from serve_adapters import UNLOAD, answer, load, prepared  # noqa: E402
from serving import Server, expect, finish, idle, post, run_all, until  # noqa: E402

TEXT, CHAT = "/v1/completions", "/v1/chat/completions"
VERSE = "In the beginning God created the heaven and the earth, and the evening and the morning were the first day. " * 2
SHORT = {"model": "tiny_lm", "prompt": VERSE, "max_tokens": 12, "temperature": 0, "logprobs": 2}
BLOCK = 32

# Case: file, here or of tests/unit, and function. Not here: what is not built (grammars and speculation are refused: J*, R4, R5; encoders beside a
# language model, L27) or not a matter of the server (L11: it is one process; D9: tests/unit has a million steps of the
# scheduler; K4, Q1, Q6, T3, T4: tests/e2e/language.py and tokens.py; Q2, Q7, Q9: `infc eval` and benchmarks).
CASES = {
    **dict.fromkeys(("L1", "L2", "L23"), "serve_adapters.check_changes"), "L3": "serve_adapters.check_answers",
    "L5": "serve_cases.check_cache_of_adapters", "L6": "serve_cases.check_hot_loads", "L8": "adapters.refused",
    "L9": "serve_cases.check_unload", "L10": "serve_cases.check_unload", "L17": "serve_adapters.check_refused",
    "L18": "adapters.refused", "L19": "serve_cases.check_wrong_adapters", "L20": "serve_cases.check_wrong_adapters",
    **dict.fromkeys(("L12", "L15"), "serve_loads.check_load_aside"), "L13": "serve_loads.check_all_in_use",
    "L22": "serve_cases.check_twins", "L25": "adapters.formats", "L26": "serve_loads.check_ends_of_file",
    **dict.fromkeys(("K11", "K12"), "serve_loads.check_full_cache"),
    **dict.fromkeys(("Q3", "Q5"), "serve_loads.check_quantized_turns"),
    "K1": "serve_cases.check_edits", "K2": "serve_cases.check_edits", "K13": "serve_cases.check_edits",
    "K7": "serve_faults.check_disconnects", "K8": "serve_faults.check_disconnects", "K9": "serve_limits.check_watchdog",
    "T1": "serve_openai.check_control_tokens", "T5": "serve_openai.check_control_tokens", "T7": "serve_cases.check_bytes",
    "T8": "serve_cases.check_bytes",
    "S1": "serve_openai.check_stop", "S3": "serve_cases.check_stops_everywhere", "S5": "serve_cases.check_bytes",
    "S7": "serve_cases.check_bytes", "S8": "serve_cases.check_bodies", "S9": "serve_cases.check_ends",
    "S10": "serve_cases.check_ends", "S11": "serve_limits.check_watchdog", "S12": "serve_openai.check_stream",
    "S14": "serve_openai.check_chat",
    "D1": "serve_http.check_disconnects", "D2": "serve_http.check_disconnects", "D4": "serve_http.check_disconnects",
    "D5": "serve_http.check_end", "D7": "serve_limits.check_watchdog", "D8": "serve_faults.check_overload",
    "R1": "serve_cases.check_same_bits", "R2": "serve_cases.check_same_bits", "R7": "serve_openai.check_many",
    **dict.fromkeys(("J1", "J2"), "serve_cases.check_refused"), "J4": "serve_cases.check_refused", "J5": "serve_cases.check_refused",
    "J6": "serve_cases.check_refused", "R4": "serve_cases.check_refused", "R5": "serve_cases.check_refused",
    "I1": "serve_cases.check_lengths", "I2": "serve_openai.check_errors", "I4": "serve_openai.check_chat",
    "CVE-2026-21869": "serve_cases.check_numbers", "CVE-2026-34756": "serve_cases.check_numbers",
    **dict.fromkeys(("CVE-2025-48942", "CVE-2025-48943", "CVE-2025-48944", "CVE-2025-61620", "CVE-2025-62426"), "serve_cases.check_refused"),
    **dict.fromkeys(("CVE-2025-23310", "CVE-2025-23311"), "serve_faults.check_many_chunks"),
    **dict.fromkeys(("CVE-2026-46527", "CVE-2026-9540"), "serve_cases.check_bodies"), "CVE-2025-46570": "serve_http.check_salt",
    "CVE-2025-25183": "test_infrt_kv_pool.one_bucket_many_keys", "CVE-2024-8768": "serve_openai.check_errors",
    "CVE-2025-59425": "serve_http.check_keys", "CVE-2025-46728": "serve_http.check_http",
    "CVE-2025-48956": "serve_http.check_http", "CVE-2025-52887": "serve_http.check_http",
    "CVE-2026-45372": "serve_http.check_http", "GHSA-xvfx-w463-6fpp": "serve_http.check_http",
    **dict.fromkeys(("CVE-2026-24173", "CVE-2025-33201", "CVE-2026-24146", "CVE-2026-24208"), "serve_tensors.check_hostile"),
    **dict.fromkeys(("CVE-2025-23319", "CVE-2025-23320", "CVE-2025-23334"), "serve_adapters.check_names"),
    "CVE-2024-37032": "serve_adapters.check_refused", "llama.cpp#26315": "serve_sessions.check_names",
    "vLLM's open routes": "serve_http.check_keys", "CVE-2024-8939": "test_infrt_request.wrong_values",
    **dict.fromkeys(("CVE-2026-27940", "CVE-2026-33298"), "test_llm_gguf.sizes_that_overflow"),
    "CVE-2026-7482": "test_llm_gguf.beyond_the_end",
    **dict.fromkeys(("CVE-2024-21802", "CVE-2024-21825", "CVE-2024-21836", "CVE-2024-23496", "CVE-2024-23605"), "test_llm_gguf.absurd_counts"),
    "GHSA-7rxv-5jhh-j6xx": "test_llm_tokenizer.less_room_than_ids", "CVE-2025-52566": "serve_cases.check_sizes",
    "CVE-2025-49847": "test_llm_tokenizer.long_pieces",
    **dict.fromkeys(("CVE-2024-42477", "CVE-2024-42478", "CVE-2024-42479", "CVE-2026-7301", "CVE-2026-3059", "CVE-2026-22773", "GHSA-mgrm-fgjv-mhv8"),
                    "serve_cases.check_not_built"),
    "CVE-2026-22807": "test_llm_safetensors.configs_that_lie", "mlx#3363": "test_llm_safetensors.damaged_files",
}


def check_table():
    """Every case is where it is said to be, by its name."""
    folder = pathlib.Path(__file__).parent
    for case, where in CASES.items():
        file, function = where.split(".")
        path = folder / f"{file}.py" if (folder / f"{file}.py").exists() else folder.parent / f"unit/{file}.c"
        text = path.read_text()
        expect((f"def {function}(" in text or f"static void {function}(" in text) and case in text.partition("CASES = {")[0] + text.partition("def check_table")[2],
               f"{case} is not in {where}")


def made(server, **more):
    """The first answer: its text, logarithms and reason; or the status."""
    status, reply = server.json("POST", TEXT, {**SHORT, **more})
    return {"text": reply["choices"][0]["text"], "logprobs": reply["choices"][0]["logprobs"],
            "cached": reply["usage"]["prompt_tokens_details"]["cached_tokens"]} if status == 200 else status


# ---- adapters


def check_cache_of_adapters(server):
    """L5: what is cached of a prompt is the base's or one adapter's."""
    load(server, "a", "a")
    load(server, "b", "b")
    cached = [made(server, model=m)["cached"] for m in ("tiny_lm", "a", "b", "a", "tiny_lm", "b")]
    expect(cached[:3] == [0, 0, 0] and all(c >= BLOCK for c in cached[3:]), f"L5: {cached}")


def check_twins(server):
    """L22: the same weights under two names: both are there, answer alike, and share what is cached."""
    expect(load(server, "twin", "a") == 200, "L22: a second name")
    states = {a["name"]: a["hash"] for a in server.json("GET", "/v1/lora_adapters")[1]["data"]}
    expect(states["twin"] == states["a"] != states["b"], f"L22: one hash: {states}")
    first, twin = made(server, model="a"), made(server, model="twin")
    expect(first["text"] == twin["text"] and twin["cached"] >= BLOCK, "L22: the same answer, from the same cache")
    expect(server.ask("POST", UNLOAD, {"lora_name": "twin"})[0] == 200 and made(server, model="a")["text"] == first["text"],
           "L22: the other stays")


def check_hot_loads(server):
    """L6, L23: adapters come and go while others answer; every answer is as alone, and whoever loads one twice is told so."""
    names, kept = ("tiny_lm", "a", "b"), {}
    alone = {n: made(server, model=n, max_tokens=60)["logprobs"] for n in names}
    done = threading.Event()

    def churn():
        at = random.Random(6)
        while not done.is_set():
            name = at.choice("cde")
            expect(load(server, name, name) in (200, 409), "L6: a load")
            server.ask("POST", UNLOAD, {"lora_name": name})

    thread = threading.Thread(target=churn)
    thread.start()
    run_all([lambda i=i, n=n: kept.update({(i, n): made(server, model=n, max_tokens=60)}) for i in range(8) for n in names])
    done.set()
    thread.join()
    expect(all(a != 404 and a["logprobs"] == alone[n] for (_, n), a in kept.items()), "L6: each as alone")
    codes = []
    run_all([lambda: codes.append(load(server, "c", "c"))] * 8)
    expect(set(codes) == {200}, f"L23: one name, loaded by eight at a time: {codes}")


def check_unload(server):
    """L9, L10: an adapter in use goes at once from the list, and from memory with its last answer or with its client."""
    listed = lambda: server.json("GET", "/v1/lora_adapters")[1]["data"]
    load(server, "a", "a")
    with server.connect() as s:
        s.sendall(post(TEXT, {**SHORT, "model": "a", "n": 16, "max_tokens": 300, "ignore_eos": True, "stream": True, "logprobs": None}))
        s.recv(100)
        begin = time.monotonic()
        expect(server.ask("POST", UNLOAD, {"lora_name": "a"})[0] == 200 and time.monotonic() - begin < 5, "L9: unloads")
        draining = [a for a in listed() if a["state"] == "draining"]
        expect(len(draining) == 1 and draining[0]["requests"] == 16, f"L9: 16 answers still have it: {draining}")
        expect(answer(server, "a") == 404, "L9: no more are taken")
    until("L10: and it is gone with its client", lambda: all(a["state"] == "ready" and not a["requests"] for a in listed()))
    load(server, "a", "a")
    expect(server.json("POST", TEXT, {**SHORT, "model": "a", "n": 16})[0] == 200, "L9: traffic")
    expect(server.ask("POST", UNLOAD, {"lora_name": "a"})[0] == 200 and "a" not in [a["name"] for a in listed()], "L9: and after it")


def check_wrong_adapters(server, root):
    """L19, L20: what does not fit is refused when it is loaded, whatever else is there; the base answers as before."""
    import adapters
    before = made(server, cache_salt="wrong")
    name = "base_model.model.model.layers.0.self_attn.q_proj.lora_A.weight"
    adapters.write_adapter(root / "shape", seed=1, rank=4, spoil=lambda t: t.update({name: t[name][:, :-1].copy()}))
    adapters.write_adapter(root / "stray", seed=1, rank=4, spoil=lambda t: t.update({"base_model.model.rope.freqs": t[name]}))
    for folder in ("shape", "stray"):
        status, _, body = server.ask("POST", "/v1/load_lora_adapter", {"lora_name": folder, "lora_path": folder})
        expect(status == 400 and b"rope.freqs" in body or name.encode() in body, f"L19, L20: {folder}: {body}")
        expect(answer(server, folder) == 404, f"L19: {folder} is not there")
    expect(made(server, cache_salt="wrong")["logprobs"] == before["logprobs"], "L19: the base")


# ---- cache and bits


def check_edits(server):
    """K1, K2, K13: after any edit an answer has the bits of a cold run, and what is reused are the common full blocks."""
    at, prompt, wrong = random.Random(1), [at % 500 + 20 for at in range(200)], 0
    seen = []
    for i in range(40):
        cut = at.randrange(len(prompt))
        how = at.randrange(4)
        prompt = (prompt[:cut] + [at.randrange(20, 500)] * at.randrange(3) + prompt[cut + at.randrange(40):] if how else
                  prompt + [at.randrange(20, 500) for _ in range(30)])[:300] or [20]
        warm = made(server, prompt=prompt, cache_salt="edits")
        cold = made(server, prompt=prompt, cache_salt=f"cold {i}")
        common = max([next((k for k, (x, y) in enumerate(zip(p, prompt)) if x != y), min(len(p), len(prompt))) for p in seen], default=0)
        most = min(common, len(prompt) - 1) // BLOCK * BLOCK
        wrong += warm["logprobs"] != cold["logprobs"] or cold["cached"] != 0 or warm["cached"] != most
        seen.append(prompt)
    expect(not wrong, f"K1, K2, K13: {wrong} of 40 edits")


def check_same_bits(server):
    """R1, R2: alone, or with all places taken, five times: the same bytes."""
    alone, all_of = made(server)["logprobs"], []
    for _ in range(5):
        run_all([lambda i=i: all_of.append(made(server, cache_salt=str(i % 3))["logprobs"]) for i in range(16)])
    expect(len(all_of) == 80 and all(a == alone for a in all_of), "R1, R2: 16 at a time")


# ---- texts


def check_bytes(server):
    """S5, S7, T7, T8: bytes that are half a character, or none: always valid JSON, the same in a stream and as a whole, as
    Python decodes them; ids that no text has are never chosen."""
    ids = server.json("POST", "/tokenize", {"prompt": "日é", "add_special_tokens": False})[1]["tokens"]
    bias = {str(i): 100 for i in ids}
    seen = set()
    for seed in range(12):
        asked = {**SHORT, "prompt": "x", "max_tokens": 24, "temperature": 1, "seed": seed, "logit_bias": bias}
        whole = server.json("POST", CHAT, {**{k: v for k, v in asked.items() if k != "prompt"}, "logprobs": True, "top_logprobs": 0,
                                           "messages": [{"role": "user", "content": "x"}]})[1]["choices"][0]
        raw = bytes(b for e in whole["logprobs"]["content"] for b in e["bytes"])
        expect(whole["message"]["content"] == raw.decode("utf-8", "replace"), f"S7: {raw!r} {whole['message']['content']!r}")
        seen.add("\ufffd" in whole["message"]["content"])
        plain = server.json("POST", TEXT, {**asked, "logprobs": None})[1]["choices"][0]["text"]
        frames = server.ask("POST", TEXT, {**asked, "logprobs": None, "stream": True})[2].decode().split("\n\n")
        pieces = [json.loads(f[6:])["choices"][0]["text"] for f in frames if f.startswith("data: {")]
        expect("".join(pieces) == plain, f"S5: {plain!r} in pieces {pieces}")
    expect(seen == {True} or seen == {True, False}, "S7: some were no text")
    expect(server.json("POST", "/detokenize", {"tokens": ids[:1]})[1]["prompt"] in ("\ufffd", "日", "é"), "T8: one token of it")
    expect(server.ask("POST", TEXT, {**SHORT, "logit_bias": {"2048": 100}})[0] == 400, "T7: an id that no text has")
    expect(server.ask("POST", "/detokenize", {"tokens": [2048]})[0] == 400, "T7: its text")


def check_stops_everywhere(server):
    """S3: stop strings end answers to ids, to texts, to messages, in streams, and with logprobs."""
    for route, more in [(TEXT, {"prompt": [5, 6, 7]}), (TEXT, {"prompt": "And"}), (CHAT, {"messages": [{"role": "user", "content": "x"}]})]:
        asked = {"model": "tiny_lm", "max_tokens": 24, "temperature": 0, "ignore_eos": True, **more}
        text = lambda c: c["text"] if route == TEXT else c["message"]["content"]
        whole = text(server.json("POST", route, asked)[1]["choices"][0])
        stop = whole[4:7]
        for extra in ({}, {"logprobs": 1 if route == TEXT else True}):
            cut = server.json("POST", route, {**asked, **extra, "stop": stop})[1]["choices"][0]
            expect(text(cut) == whole[:whole.index(stop)] and cut["finish_reason"] == "stop", f"S3: {route} {more} {extra}")
        stream = server.ask("POST", route, {**asked, "stop": [stop], "stream": True})[2]
        expect(stream.count(b'"finish_reason":"stop"') == 1 and stream.endswith(b"[DONE]\n\n"), f"S3: a stream of {route} {more}")


def check_ends(server):
    """S9, S10: exactly one end, whatever ended it; what is wrong is said before a stream begins."""
    for more in ({}, {"max_tokens": 1}, {"stop": "e"}, {"timeout": 0.01, "max_tokens": 300}, {"n": 3}, {"prompt": ["a", "b"]}):
        whole = server.raw(post(TEXT, {**SHORT, "logprobs": None, "stream": True, **more}, "Connection: close"))
        expect(whole.count(b"[DONE]") == 1 and whole.endswith(b"data: [DONE]\n\n\r\n0\r\n\r\n"), f"S9: {more} {whole[-200:]}")
    for more in ({"n": 0}, {"n": 17}, {"model": "x"}, {"max_tokens": 100000}, {"prompt": [99999]}, {"temperature": -1}):
        status, fields, body = server.ask("POST", TEXT, {**SHORT, "stream": True, **more})
        expect(status in (400, 404) and "json" in fields["content-type"] and b"data:" not in body, f"S10: {more}: {status}")


def check_lengths(server):
    """I1: what is too long is told with all three numbers, and not cut."""
    prompt = [20] * 505
    error = server.json("POST", TEXT, {**SHORT, "prompt": prompt})[1]["error"]
    expect(all(n in error["message"] for n in ("505", "12", "512")) and error["code"] == "context_length_exceeded", f"I1: {error}")
    error = server.json("POST", TEXT, {**SHORT, "prompt": prompt * 2})[1]["error"]
    expect("1010" in error["message"] or "512" in error["message"], f"I1: {error}")
    usage = server.json("POST", TEXT, {**SHORT, "prompt": prompt, "max_tokens": 7})[1]["usage"]
    expect(usage["prompt_tokens"] == 505, "I1: what fits is not cut")


# ---- requests


def check_refused(server):
    """J1, J2, J4, J5, J6, R4, R5, CVE-2025-48944, CVE-2025-48942, CVE-2025-48943, CVE-2025-62426, CVE-2025-61620: grammars, tools,
    speculation and templates in requests are refused by name, before anything is read of them."""
    deep = {"type": "object", "properties": {"a": {"$ref": "#"}}}
    empty = {"type": "json_schema", "json_schema": {"name": "x", "schema": {}}}  # J2
    for field, value in [("response_format", empty), *{
                         "response_format": {"type": "json_schema", "json_schema": {"name": "x", "schema": deep}},
                         "structured_outputs": {"regex": "(a+)+$"}, "guided_json": {}, "guided_regex": "(" * 1000,
                         "guided_grammar": "root ::= root", "grammar": "root ::= [", "json_schema": {"maxLength": 10**9},
                         "tools": [{"type": "function", "function": {"name": "f", "parameters": deep}}], "tool_choice": "auto",
                         "prediction": {"type": "content", "content": "x"}, "chat_template": "{% for i in range(10**9) %}",
                         "chat_template_kwargs": {"x": "y"}, "logits_processors": ["os.system"]}.items()]:
        body = {"model": "tiny_lm", "messages": [{"role": "user", "content": "x"}], "max_tokens": 1, field: value}
        error = server.json("POST", CHAT, body)[1].get("error", {})
        expect(error.get("param") == field and "not supported" in error.get("message", ""), f"{field}: {error}")


def check_numbers(server):
    """CVE-2026-21869, CVE-2026-34756: numbers below, above and beside what a field takes."""
    fields = ["max_tokens", "n", "seed", "top_k", "temperature", "top_p", "min_p", "repetition_penalty", "presence_penalty",
              "frequency_penalty", "priority", "timeout", "logprobs"]
    for field in fields:
        for number in ("-9223372036854775809", "18446744073709551616", "1e400", "-1e300", "NaN", "1.5e", "0x10", "[]", '"1"', "--1"):
            body = json.dumps({**SHORT, field: None}).replace(f'"{field}": null', f'"{field}": {number}')
            status = server.ask("POST", TEXT, body)[0]
            expect(status == 400, f"{field}: {number}: {status}")
    for field in ("n", "max_tokens", "timeout"):
        expect(server.ask("POST", TEXT, {**SHORT, field: -1})[0] == 400, f"CVE-2026-21869: {field} -1")
    expect(server.ask("POST", TEXT, {**SHORT, "n": 16384})[0] == 400, "CVE-2026-34756")


def check_sizes(server):
    """CVE-2025-52566: sizes about 2 GiB, 4 GiB and 2^64 are refused before a byte of the body; texts of many tokens are told by
    their count, in tokens as in bytes."""
    for size in (2**31 - 1, 2**31, 2**31 + 1, 2**32 - 1, 2**32 + 5, 2**63, 2**64 - 1):
        for route in (TEXT, CHAT, "/tokenize", "/detokenize", "/v1/load_lora_adapter", "/v1/sessions/save"):
            with server.connect() as s:
                s.sendall(f"POST {route} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: {size}\r\n\r\n".encode())
                expect((b" 413 " if size < 10**18 else b" 400 ") in s.recv(100), f"{route}: {size} bytes")
    size = hex(2**31)[2:].encode()
    for chunk in (size, b"f" + size, b"0" * 8 + size, b"ffffffffffffffff", b"10000000000000001"):
        with server.connect() as s:
            s.sendall(b"POST " + TEXT.encode() + b" HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n" + chunk + b"\r\n")
            expect(s.recv(100).split(b" ")[1:2] in ([b"413"], [b"400"]), f"a chunk of {chunk}")
    for text in ("a" * 6000, "\u00e9" * 3000, "\U0001d11e" * 2000):
        told = server.json("POST", TEXT, {**SHORT, "prompt": text})[1]["error"]
        expect(told["code"] == "context_length_exceeded" and told["param"] == "prompt", f"{text[0]}: {told}")
    told = server.json("POST", "/detokenize", {"tokens": [20] * 513})[1]["error"]
    expect(told["code"] == "context_length_exceeded", f"/detokenize: {told}")


def check_not_built(server):
    """CVE-2024-42477, CVE-2024-42478, CVE-2024-42479: no tensors come over the network; CVE-2026-7301, CVE-2026-3059: no objects are
    unpacked; CVE-2026-22773: no images are read; GHSA-mgrm-fgjv-mhv8: no grammars are compiled, nor kept. Whoever tries is
    refused by name."""
    image = [{"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}]
    told = server.json("POST", CHAT, {"model": "tiny_lm", "messages": [{"role": "user", "content": image}]})[1]["error"]
    expect(told["param"] == "messages[0].content[0].type" and "not supported" in told["message"], f"an image: {told}")
    for path in ("/v2/models/tiny_lm/infer", "/v2/repository/index", "/v2/systemsharedmemory/region/x/register"):
        status, _, reply = server.ask("POST", path, {"inputs": []})
        expect(status == 501 and path in reply.decode() and json.loads(reply)["error"]["type"] == "not_supported_error", f"{path}: {status} {reply}")
    rpc = b"\x0e" + (24).to_bytes(8, "little") + b"\xff" * 24  # ggml's command that sets a tensor
    pickle = b"\x80\x04\x95\x1d\0\0\0\0\0\0\0\x8c\x05posix\x8c\x06system\x93\x8c\x04true\x85R."
    for bytes_ in (rpc, pickle, b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", b"\x16\x03\x01\x02\0\x01"):
        reply = server.raw(bytes_ + b"\r\n\r\n")
        expect(reply.startswith((b"HTTP/1.1 400 ", b"HTTP/1.1 505 ")), f"{bytes_[:12]}: {reply[:60]}")
    for body in (pickle, rpc):
        expect(server.ask("POST", TEXT, body)[0] == 400, "nor in a body")
    for field, value in (("response_format", {"type": "json_object"}), ("guided_grammar", "root ::= x"), ("logits_processors", ["x"]),
                         ("prompt_embeds", "gASV")):
        told = server.json("POST", TEXT, {**SHORT, field: value})[1]["error"]
        expect(told["param"] == field and "not supported" in told["message"], f"{field}: {told}")


def check_bodies(server):
    """S8, CVE-2026-9540, CVE-2026-46527: bodies that are no text, nothing, too deep; fields of proxies. Nothing of it comes
    back raw, in an answer or in the log."""
    for body in (b"\xc4\xe3\xba\xc3", b'{"prompt": "\xff"}', b'{"prompt": "\xed\xa0\x80"}', b"", b"null", b"[]", b"{", b"[" * 100000,
                 b'{"a":' * 5000, b'{"prompt": "x\x00"}', b'{"prompt": "\\ud800"}', b'{"\x1b[2J\n": 1, "prompt": 3}'):
        for route in (TEXT, CHAT, "/tokenize", "/detokenize", "/v1/load_lora_adapter", UNLOAD):
            status, _, reply = server.ask("POST", route, body)
            expect(status == 400 and "error" in json.loads(reply) and b"\x1b" not in reply, f"{route} {body[:20]}: {status} {reply[:90]}")
    for fields in (("X-Forwarded-For:",), ("X-Forwarded-For: ,,",), ("Forwarded: for=",)):
        expect(server.ask("GET", "/health", headers=fields)[0] == 200, f"CVE-2026-46527: {fields}")
    server.ask("GET", "/\x7fa%1b%0a{\"x\"}".replace("\x7f", ""))
    expect(len(server.requests()) > 50 and "\x1b" not in server.log(), "S8: the log")


def main():
    program, root = prepared(max_loaded=5)
    check_table()
    with Server(program, "--adapter-root", root) as server:
        check_cache_of_adapters(server)
        check_twins(server)
        check_hot_loads(server)
        check_wrong_adapters(server, root)
        check_unload(server)
        for check in (check_edits, check_same_bits, check_bytes, check_stops_everywhere, check_ends, check_lengths, check_refused,
                      check_numbers, check_sizes, check_not_built, check_bodies):
            check(server)
        until("nothing is left", lambda: idle(server) and server.metric("vllm:kv_cache_usage_perc") == 0)
        expect(server.stop() == 0, "SIGTERM: exit code 0")
    finish("serve_cases")


if __name__ == "__main__":
    main()
