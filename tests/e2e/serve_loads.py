#!/usr/bin/env python3
"""A server of examples/tiny-lm while an adapter is being loaded, while all adapters are in use at a time, and where its
cache is full or in 8 bits. Cases: serve_cases.py.

usage: serve_loads.py INFC SOURCE_DIR WORK_DIR
"""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import threading

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "llm"))
from serve_adapters import UNLOAD, answer, load, prepared  # noqa: E402
from serve_faults import memory_of  # noqa: E402
from serving import Server, compile_tiny, expect, finish, idle, post, run_all, standing, until  # noqa: E402

TEXT, CHAT = "/v1/completions", "/v1/chat/completions"
VERSE = "In the beginning God created the heaven and the earth, and the evening and the morning were the first day. "
BLOCK = 32


def check_load_aside(server):
    """L12, L15: while a load takes its time, who asks for the base or for an adapter that is there is answered, with the same
    bits; who asks for the one that is not there yet is told so and waits for nothing."""
    load(server, "a", "a")
    before = [answer(server, m) for m in ("tiny_lm", "a")]
    with standing(server, "infrt-load"):
        codes = []
        thread = threading.Thread(target=lambda: codes.append(load(server, "b", "b")))
        thread.start()
        for _ in range(5):
            expect([answer(server, m) for m in ("tiny_lm", "a")] == before, "L12: others are answered")
            expect(answer(server, "b") == 404, "L15: the one that is not there")
        expect(server.ask("GET", "/health/ready")[0] == 200 and not codes, "L12: ready, and not loaded yet")
    thread.join()
    expect(codes == [200] and isinstance(answer(server, "b"), str), f"L12: then it is loaded: {codes}")


def check_waiting_loads(server, root):
    """D2: at most 32 adapters wait to be loaded, and those whose clients have left are not."""
    def folders():
        names = [f.name for f in pathlib.Path(f"/proc/{server.process.pid}/fd").iterdir()]
        return sum(os.path.realpath(f"/proc/{server.process.pid}/fd/{n}") == str(root / "a") for n in names)

    ask = lambda i: post("/v1/load_lora_adapter", {"lora_name": f"wait{i}", "lora_path": "a"})
    with standing(server, "infrt-load"):
        clients = [server.connect() for _ in range(32)]
        for i, s in enumerate(clients):
            s.sendall(ask(i))
        until("they wait", lambda: folders() == 32)
        status, fields, body = server.ask("POST", "/v1/load_lora_adapter", {"lora_name": "more", "lora_path": "a"})
        expect(status == 429 and b"queue_full" in body and "retry-after" in fields, f"one more: {status} {body}")
        for s in clients[:-2]:
            s.close()
        until("they leave", lambda: server.metric("infrt_connections") <= 3)
    for s in clients[-2:]:
        expect(b"200 OK" in s.recv(1000), "who waits is served")
        s.close()
    names = {a["name"] for a in server.json("GET", "/v1/lora_adapters")[1]["data"]}
    expect({"wait30", "wait31"} <= names and not names & {f"wait{i}" for i in range(30)}, f"D2: {names}")
    for name in ("wait30", "wait31"):
        server.ask("POST", UNLOAD, {"lora_name": name})
    expect(folders() == 0, "nothing stays open")


def check_all_in_use(server, names):
    """L13, L26: answers with every adapter that there is room for, of as many ranks, and with the base, in one batch: each as
    alone; a further adapter is refused and stops nobody."""
    for name in names:
        expect(load(server, name, name) == 200, f"L13: {name}")
    kinds = ("tiny_lm", *names)
    alone = {n: answer(server, n, max_tokens=100, ignore_eos=True) for n in kinds}
    expect(len(set(alone.values())) == len(kinds), "L13: adapters change answers")
    for turn in range(6):
        made, codes = [], []
        asked = [lambda n=n: made.append((n, answer(server, n, max_tokens=100, ignore_eos=True))) for n in kinds for _ in range(3)]
        run_all([*asked, lambda: codes.append(load(server, "more", "a"))])
        expect(len(made) == 3 * len(kinds) and all(text == alone[n] for n, text in made), f"L26: time {turn}")
        expect(codes[0] in (200, 409), f"L13: one more: {codes}")
        server.ask("POST", UNLOAD, {"lora_name": "more"})
        for name in names:
            expect(load(server, name, name) == 200, f"L13: {name} again, time {turn}")
        expect(server.ask("GET", "/health/ready")[0] == 200, "L26: the watchdog saw the engine go on")


def check_ends_of_file(infc, source, work):
    """L26: each of several end tokens of generation_config.json ends an answer."""
    model = work / "ends/tiny-lm"
    shutil.copytree(source / "examples/tiny-lm", model)
    asked = {"model": "tiny_lm", "prompt": VERSE, "max_tokens": 16, "temperature": 0}
    with Server(work / "lm/tiny_lm") as server:
        text = server.json("POST", TEXT, {**asked, "ignore_eos": True})[1]["choices"][0]["text"]
        ids = server.json("POST", "/tokenize", {"prompt": text, "add_special_tokens": False})[1]["tokens"]
    config = json.loads((model / "generation_config.json").read_text())
    for last in sorted({ids[2], ids[5]}):
        (model / "generation_config.json").write_text(json.dumps({**config, "eos_token_id": [1, last]}))
        program = work / "ends" / str(last)
        subprocess.run([infc, "compile", model, "-o", program, "--set", "output.kinds=binary"], check=True, capture_output=True)
        with Server(next(p for p in program.iterdir() if p.is_file() and os.access(p, os.X_OK))) as server:
            name = server.json("GET", "/v1/models")[1]["data"][0]["id"]
            made = server.json("POST", TEXT, {**asked, "model": name})[1]
            expect(made["choices"][0]["finish_reason"] == "stop" and made["usage"]["completion_tokens"] <= ids.index(last) + 1,
                   f"L26: {last} of {ids} ends an answer: {made}")


def check_full_cache(program):
    """K11, K12: the cache is all there from the start; what can never fit is refused with its size, what fits only alone waits,
    and memory does not grow with what was seen."""
    with Server(program, "--kv-memory", "55296", "--context", "96") as server:
        blocks = [m for m in server.metrics() if m.startswith("vllm:cache_config_info")][0]
        expect('num_blocks="3"' in blocks, f"K11: {blocks}")
        expect(server.ask("POST", TEXT, {"model": "tiny_lm", "prompt": [20] * 97, "max_tokens": 1})[0] == 400, "K12: never fits")
        ask = lambda i: server.ask("POST", TEXT, {"model": "tiny_lm", "prompt": [20 + (i * 7 + k) % 900 for k in range(90)],
                                                  "max_tokens": 3, "temperature": 0})[0]
        expect(all(ask(i) == 200 for i in range(20)), "K11: one that takes it all")
        before = memory_of(server)
        codes = []
        for turn in range(20):
            run_all([lambda i=i: codes.append(ask(i)) for i in range(turn * 10, turn * 10 + 10)])
        expect(codes == [200] * 200, f"K11: prompts that are all of the cache: {set(codes)}")
        expect(memory_of(server) < before + 2048, f"K11: {before} KiB became {memory_of(server)}")
        until("K12: nothing is left", lambda: idle(server))


def check_quantized_turns(infc, source, work):
    """Q3, Q5: with weights of 4 bits and a cache of 8, every turn of a conversation whose beginning is cached has the bits of
    a cold run; which format the cache has is told."""
    program = compile_tiny(infc, source, work / "int4", "--set", "precision.weights=int4", "--set", "precision.kv=int8")
    with Server(program) as server:
        expect(any('cache_dtype="int8"' in m for m in server.metrics()), "Q5: the format of the cache")
        messages = [{"role": "user", "content": "In the beginning"}]
        for turn in range(5):
            asked = {"model": "tiny_lm", "messages": messages, "max_tokens": 24, "temperature": 0, "logprobs": True, "ignore_eos": True}
            warm, cold = (server.json("POST", CHAT, {**asked, "cache_salt": salt})[1] for salt in ("turns", f"cold {turn}"))
            expect(warm["choices"][0]["logprobs"] == cold["choices"][0]["logprobs"], f"Q3: turn {turn}")
            cached = [m["usage"]["prompt_tokens_details"]["cached_tokens"] for m in (warm, cold)]
            expect(cached[1] == 0 and (turn < 2 or cached[0] >= BLOCK), f"Q3: turn {turn} reuses what is cached: {cached}")
            messages = [*messages, warm["choices"][0]["message"], {"role": "user", "content": f"Verse {turn}"}]
            messages[-2] = {"role": "assistant", "content": messages[-2]["content"]}


def main():
    infc, source, work = sys.argv[1], pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3]).resolve()
    program, root = prepared(max_loaded=5)
    with Server(program, "--adapter-root", root, "--watchdog", "20s") as server:
        check_load_aside(server)
        check_waiting_loads(server, root)
        check_all_in_use(server, "abcde")
        expect(server.stop() == 0, "SIGTERM: exit code 0")
    check_full_cache(program)
    check_ends_of_file(infc, source, work)
    check_quantized_turns(infc, source, work)
    finish("serve_loads")


if __name__ == "__main__":
    main()
