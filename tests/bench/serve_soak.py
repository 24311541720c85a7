#!/usr/bin/env python3
"""The server of examples/tiny-lm for minutes on end under everything at once: streams, clients that leave, adapters that come
and go, sessions, more than it takes, and requests that are no good. After each round all is let go; memory, descriptors and
blocks in use have to be what they were. Prints RESULT lines; exit code 1: an answer was wrong, or something grew.

usage: serve_soak.py INFC SOURCE_DIR WORK_DIR [--minutes 3] [--seconds 15] [--json F]

--seconds: of a round. Never part of the tests.
"""
import argparse
import functools
import json
import pathlib
import random
import shutil
import sys
import threading
import time
from collections import Counter

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "e2e"))
from serve_adapters import LOAD, UNLOAD, make_adapters  # noqa: E402
from serve_faults import memory_of, vanish  # noqa: E402
from serving import Server, compile_tiny, idle, parse, post, run_all  # noqa: E402

TEXT, SAVE, RESTORE, LIST = "/v1/completions", "/v1/sessions/save", "/v1/sessions/restore", "/v1/sessions"
VERSE = "In the beginning God created the heaven and the earth, and the evening and the morning were the first day. " * 2
ROOM_KIB = 4096  # what 64 requests have reserved becomes resident as it is first used, and the allocator keeps some
WARM_ROUNDS = 3
PATIENCE = 150  # seconds without a byte: nothing here waits that long, even beside others' work


class Soak:
    """What the clients of one round share."""

    def __init__(self, server, alone, seed):
        self.server, self.alone, self.seed = server, alone, seed
        self.counts, self.wrong = Counter(), []
        self.lock = threading.Lock()
        self.end = 0.0

    def count(self, what, n=1):
        with self.lock:
            self.counts[what] += n

    def blame(self, what):
        with self.lock:
            self.wrong.append(what)

    def ask(self, method, path, body=None):
        """Status and text of an answer; an answer that is cut short is one that is wrong."""
        self.count("requests")
        status, _, text = self.server.ask(method, path, body)
        self.count("refused_429", status == 429)
        if status >= 500 and status != 507:
            self.blame((path, status, text[:200]))
        return status, text


def streams(soak, at):
    name = at.choice(sorted(soak.alone))
    body = {"model": name, "prompt": VERSE, "max_tokens": 32, "temperature": 0, "ignore_eos": True, "stream": True}
    soak.count("requests")
    status, _, text = parse(soak.server.raw(post(TEXT, body, "Connection: close")))
    if status != 200:
        soak.count("refused_429", status == 429)
        if status not in (404, 429):  # 404: an adapter that has gone
            soak.blame(("stream", status, text[:200]))
        return
    events = [json.loads(line[6:]) for line in text.decode().split("\n") if line.startswith("data: {")]
    said = "".join(e["choices"][0]["text"] for e in events if e.get("choices"))
    if said != soak.alone[name] and not any("error" in e for e in events):
        soak.blame((name, said, soak.alone[name]))
    soak.count("streams")


def leaves(soak, at):
    vanish(soak.server, at.randrange(1 << 30))
    soak.count("disconnects", 50)


def adapters(soak, at):
    name = at.choice("abcde")
    loads = at.random() < 0.7
    path, body = (LOAD, {"lora_name": name, "lora_path": name}) if loads else (UNLOAD, {"lora_name": name})
    status, text = soak.ask("POST", path, body)
    soak.count("adapter_loads", loads and status == 200)
    if status not in (200, 404, 409):
        soak.blame((path, status, text[:200]))


def sessions(soak, at):
    name = f"s{at.randrange(12)}"
    method, path, body, fine = at.choice([("POST", SAVE, {"name": name, "prompt": VERSE}, (200, 409, 429, 507)),
                                          ("POST", RESTORE, {"name": name}, (200, 404, 429)), ("GET", LIST, None, (200, 429)),
                                          ("DELETE", f"{LIST}/{name}", None, (200, 404, 429))])
    status, text = soak.ask(method, path, body)
    soak.count("sessions", path in (SAVE, RESTORE) and status == 200)
    if status not in fine:
        soak.blame((path, status, text[:200]))


def ask_calmly(soak, body):
    try:
        soak.ask("POST", TEXT, body)
    except OSError as e:
        soak.blame(("floods", repr(e)))


def floods(soak, at):
    """As many answers at a time as one request may ask for, from many at once."""
    body = {"model": "tiny_lm", "prompt": VERSE[at.randrange(60):], "max_tokens": 60, "n": 16, "seed": at.randrange(1000)}
    run_all([lambda: ask_calmly(soak, body)] * 6)


def nonsense(soak, at):
    soak.count("requests")
    data = at.choice([b"GET / HTTP/1.1\nHost: h\n\n", b"\x16\x03\x01\x02\x00", post(TEXT, {"prompt": VERSE, "n": -1}, "Connection: close"),
                      post(TEXT, {"prompt": [10 ** 9]}, "Connection: close"), post(SAVE, {"name": "../x", "prompt": VERSE}, "Connection: close"),
                      b"POST /v1/completions HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n", b"a" * 20000])
    reply = soak.server.raw(data, shut=True)
    if reply and not reply.startswith(b"HTTP/1.1 4"):
        soak.blame(("nonsense", data[:50], reply[:200]))
    soak.count("nonsense")


CLIENTS = (streams, streams, streams, leaves, leaves, adapters, sessions, sessions, floods, nonsense)


def client(soak, do, number):
    at = random.Random(soak.seed * 1000 + number)
    while time.monotonic() < soak.end:
        try:
            do(soak, at)
        except OSError as e:
            if do is not nonsense:  # whose connection the server may cut off
                soak.blame((do.__name__, repr(e)))


def rest(server):
    """What the server holds once nobody wants anything: KiB, descriptors, share of the cache, connections, waiting sessions."""
    end = time.monotonic() + 30
    while time.monotonic() < end and not (idle(server) and server.metric("infrt_sessions_waiting") == 0):
        time.sleep(0.1)
    time.sleep(0.5)
    return {"rss_kib": memory_of(server), "fds": len(list(pathlib.Path(f"/proc/{server.process.pid}/fd").iterdir())),
            "cache": server.metric("vllm:kv_cache_usage_perc"), "connections": server.metric("infrt_connections"),
            "waiting": server.metric("infrt_sessions_waiting") + server.metric("vllm:num_requests_waiting")}


def round_of(soak, seconds):
    soak.end = time.monotonic() + seconds
    run_all([functools.partial(client, soak, do, i) for i, do in enumerate(CLIENTS)])


def alone_of(program, root):
    """What each model says when nobody else is there."""
    with Server(program, "--adapter-root", root) as server:
        for name in "abc":
            server.ask("POST", LOAD, {"lora_name": name, "lora_path": name})
        ask = lambda name: server.json("POST", TEXT, {"model": name, "prompt": VERSE, "max_tokens": 32, "temperature": 0, "ignore_eos": True})
        return {name: ask(name)[1]["choices"][0]["text"] for name in ("tiny_lm", "a", "b", "c")}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("infc", type=pathlib.Path)
    parser.add_argument("source", type=pathlib.Path)
    parser.add_argument("work", type=pathlib.Path)
    parser.add_argument("--minutes", type=float, default=3)
    parser.add_argument("--seconds", type=float, default=15)
    parser.add_argument("--json", type=pathlib.Path)
    o = parser.parse_args()
    work = o.work.resolve()
    shutil.rmtree(work, ignore_errors=True)
    (work / "adapters").mkdir(parents=True)
    (work / "sessions").mkdir()
    make_adapters(o.source, work / "adapters")
    program = compile_tiny(o.infc, o.source, work / "lm", "--set", "adapters.max_loaded=4")
    alone = alone_of(program, work / "adapters")
    n_rounds = max(WARM_ROUNDS + 2, round(o.minutes * 60 / o.seconds))
    counts, wrong, states = Counter(), [], []
    with Server(program, "--adapter-root", work / "adapters", "--session-root", work / "sessions", "--key-sessions", "200KiB",
                "--kv-memory", "1MiB", "--queue", "48") as server:
        server.connect = functools.partial(server.connect, PATIENCE)
        for number in range(n_rounds):
            soak = Soak(server, alone, number)
            round_of(soak, o.seconds)
            counts.update(soak.counts)
            wrong += soak.wrong
            states.append(rest(server))
            print(f"round {number + 1} of {n_rounds}: {states[-1]}", flush=True)
        ended = server.stop()
    begin, last = states[WARM_ROUNDS - 1], states[-1]
    grew = [k for k in ("fds", "connections") if last[k] > begin[k]] + [k for k in ("cache", "waiting") if last[k] > 0]
    grew += ["rss_kib"] if last["rss_kib"] > begin["rss_kib"] + ROOM_KIB else []
    results = {**counts, "wrong": len(wrong), "rss.begin.kib": begin["rss_kib"], "rss.end.kib": last["rss_kib"],
               "rss.peak.kib": max(s["rss_kib"] for s in states), "fds.begin": begin["fds"], "fds.end": last["fds"],
               "cache.end": last["cache"], "exit_code": ended}
    for what in wrong[:10]:
        print("WRONG", what)
    for what in grew:
        print("GREW", what, begin[what], last[what])
    for name, value in results.items():
        print(f"RESULT serve_soak.{name} {value}")
    if o.json:
        o.json.write_text(json.dumps({f"serve_soak.{k}": v for k, v in results.items()}, indent=1) + "\n")
    return 1 if wrong or grew or ended else 0


if __name__ == "__main__":
    sys.exit(main())
