#!/usr/bin/env python3
"""The server of examples/tiny-lm over plain sockets: hostile HTTP, slow and vanishing clients, full queues, keys, adapters,
the end. Cases are named as in the reports of other servers that they come from.

usage: serve_http.py INFC SOURCE_DIR WORK_DIR
"""
import datetime
import json
import os
import pathlib
import shutil
import signal
import socket
import struct
import subprocess
import sys
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from serving import Server, compile_tiny, expect, finish, idle, parse, post, read_all, until  # noqa: E402

TEXT = "/v1/completions"
LONG = {"model": "tiny_lm", "prompt": "And", "max_tokens": 500, "temperature": 0, "ignore_eos": True}
SHORT = {"model": "tiny_lm", "prompt": "And", "max_tokens": 3, "temperature": 0}


def check_http(server):
    bad = {
        "bare LF": (b"GET /health HTTP/1.1\nHost: h\n\n", 400),
        "obs-fold": (b"GET /health HTTP/1.1\r\nHost: h\r\nA: b\r\n c\r\n\r\n", 400),
        "CVE-2026-45372: Content-Length beside Transfer-Encoding":
            (b"POST /tokenize HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n", 400),
        "two Content-Length": (b"POST /tokenize HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\nContent-Length: 3\r\n\r\n", 400),
        "CVE-2025-46728: a chunk beyond the limit":
            (b"POST /tokenize HTTP/1.1\r\nHost: h\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"
             b"ffffffff\r\n", 413),
        "malformed chunk": (b"POST /tokenize HTTP/1.1\r\nHost: h\r\nContent-Type: application/json\r\n"
                            b"Transfer-Encoding: chunked\r\n\r\n3;x\r\n", 400),
        "body too long": (b"POST /tokenize HTTP/1.1\r\nHost: h\r\nContent-Length: 99999999\r\n\r\n", 413),
        "CVE-2025-48956: fields too long": (b"GET /health HTTP/1.1\r\nHost: h\r\nA: " + b"x" * 20000 + b"\r\n\r\n", 431),
        "CVE-2025-52887: too many fields": (b"GET /health HTTP/1.1\r\nHost: h\r\n" + b"A: b\r\n" * 70 + b"\r\n", 431),
        "GHSA-xvfx-w463-6fpp: a compressed body":
            (b"POST /tokenize HTTP/1.1\r\nHost: h\r\nContent-Encoding: gzip\r\nContent-Length: 3\r\n\r\n", 415),
        "no JSON": (b"POST /tokenize HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\n\r\nabc", 415),
        "no such route": (b"GET /nothing HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n", 404),
        "another method": (b"GET /tokenize HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n", 405),
        "TLS": (bytes.fromhex("1603010200010001fc0303"), 400),
    }
    for what, (data, status) in bad.items():
        known, fields, body = parse(server.raw(data))
        expect(known == status and fields.get("connection") == "close" and "error" in json.loads(body), f"{what}: {known}")
    told = parse(server.raw(bad["two Content-Length"][0]))[2]
    expect(b"content-length may come once" in told, f"the field that is there twice is named: {told}")
    expect(server.ask("POST", "/tokenize", b"\x80\xa1")[0] == 400, "llama.cpp#6396: a body that is not UTF-8")
    expect([server.ask("GET", f"/v2{path}")[0] for path in ("", "/health/live", "/models/m")] == [501] * 3, "nor are facts of it")
    expect(server.ask("POST", "/v2/models/m/infer", {})[0] == 501 and server.ask("POST", "/v1/embeddings", {})[0] == 501,
           "what is not served is said so")
    known = server.ask("GET", "/health", headers=("X-Request-Id: abc-1",))[1]
    forged = server.ask("GET", "/health", headers=("X-Request-Id: a\tb {}",))[1]
    expect(known["x-request-id"] == "abc-1" and forged["x-request-id"] != "a\tb {}", "ids of requests: plain ones")
    old = server.raw(b"GET /version HTTP/1.0\r\n\r\n")
    expect(parse(old)[0] == 200, "HTTP/1.0")
    with server.connect() as s:
        text = json.dumps({"prompt": "Hello"}).encode()
        s.sendall(b"POST /tokenize HTTP/1.1\r\nHost: h\r\nConnection: close\r\nContent-Type: application/json\r\n"
                  b"Expect: 100-continue\r\nTransfer-Encoding: chunked\r\n\r\n")
        expect(s.recv(100) == b"HTTP/1.1 100 Continue\r\n\r\n", "100-continue")
        for byte in text:
            s.sendall(b"1\r\n%c\r\n" % byte)
        s.sendall(b"0\r\n\r\n")
        expect(parse(read_all(s))[0] == 200, "a body in chunks of one byte")


def check_methods(server):
    """RFC 9110 9.3.2: nothing follows the head of a reply to HEAD, or the next reply would be read as its body. 15.5.6: 405
    tells the methods."""
    get = parse(server.raw(b"GET /version HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n"))
    status, fields, body = parse(server.raw(b"HEAD /version HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n"))
    expect(status == 200 and body == b"" and int(fields["content-length"]) == len(get[2]), "HEAD is GET without the body")
    for path, wanted in (("/nothing", 404), ("/tokenize", 405)):
        two = server.raw(b"HEAD %s HTTP/1.1\r\nHost: h\r\n\r\n" % path.encode() + b"GET /version HTTP/1.0\r\n\r\n")
        first, _, rest = two.partition(b"\r\n\r\n")
        expect(int(first.split()[1]) == wanted and rest.startswith(b"HTTP/1.1 200 OK"), f"HEAD {path}: {two!r}")
    expect(server.ask("DELETE", "/health")[1].get("allow") == "GET, HEAD", "405 of a GET")
    expect(server.ask("GET", TEXT)[1].get("allow") == "POST", "405 of a POST")


def check_start(program):
    """What is wrong at the start is said once, with the reason, and by an exit code."""

    def serve(*words, before="", out=subprocess.PIPE):
        line = f"{before} exec {program} serve --port 0 " + " ".join(words)
        return subprocess.run(["bash", "-c", line], stdout=out, stderr=subprocess.PIPE, text=True, timeout=20)

    with open("/dev/full", "w") as full:
        made = serve(out=full)
    expect(made.returncode == 4 and "No space left on device" in made.stderr, f"nowhere to tell the address: {made}")
    made = serve(before="ulimit -s 64;")
    expect(made.returncode == 4 and "stack is limited to 64 KiB" in made.stderr, f"a small stack: {made}")
    made = serve(before="ulimit -n 10;")
    expect(made.returncode == 4 and "ulimit -n" in made.stderr, f"few descriptors: {made}")
    made = serve("--host", "192.0.2.1")  # TEST-NET-1 is nobody's
    expect(made.returncode == 4 and "--port 0" not in made.stderr and "0.0.0.0 for all" in made.stderr, f"another machine's address: {made}")
    for host in ("no such host", "256.1.1.1", "nosuch.invalid"):
        made = serve("--host", f"'{host}'")
        expect(made.returncode in (2, 4) and f"--host {host}" in made.stderr and "127.0.0.1 for this machine" in made.stderr, f"{made}")
    for flags, least in ((("--max-body", "1"), "1024 bytes"), (("--timeout", "1us"), "1ms"), (("--key-tokens", "1"), "from 2")):
        made = serve(*flags)
        expect(made.returncode == 2 and flags[0] in made.stderr and least in made.stderr, f"so little that nothing works: {made}")
    made = serve("--adapter-root", ".")
    expect(made.returncode == 2 and "takes no adapters" in made.stderr, f"adapters of a model that takes none: {made}")
    made = serve("--port", "0")
    expect(made.returncode == 2 and "--port is given twice" in made.stderr, f"two ports: {made}")
    with Server(program, "--host", "[::1]") as server:
        expect(server.url.startswith("http://[::1]:"), "an address in brackets")
    with Server(program, "--context", 2) as small:
        status, made = small.json("POST", TEXT, {"prompt": [5], "max_tokens": 1, "ignore_eos": True})
        expect(status == 200 and made["usage"]["completion_tokens"] == 1, f"the least context: {status} {made}")


def check_pipelining(server):
    wanted = post(TEXT, SHORT) * 5 + post(TEXT, {**SHORT, "stream": True}) + post(TEXT, SHORT, "Connection: close")
    whole = server.raw(wanted)
    expect(whole.count(b"HTTP/1.1 200 OK") == 7 and whole.count(b"data: [DONE]") == 1, "pipelined requests, in order")
    flood = server.raw(b"GET /metrics HTTP/1.1\r\nHost: h\r\n\r\n" * 300 + b"GET /version HTTP/1.0\r\n\r\n")
    expect(flood.count(b"HTTP/1.1 200 OK") == 301, "a flood of requests is answered")
    half = server.raw(b"GET /version HTTP/1.1\r\nHost: h\r\n\r\n", shut=True)
    expect(half.startswith(b"HTTP/1.1 200 OK"), "a half-closed client still gets what was answered")


def check_slow(server):
    """Slow-loris: heads that never end take nobody's place, and are let go."""
    slow = [server.connect(30) for _ in range(50)]
    begin = time.monotonic()
    for s in slow:
        s.sendall(b"GET /health HTTP/1.1\r\n")
    expect(server.ask("GET", "/health")[0] == 200, "slow-loris: others are answered")
    for i, s in enumerate(slow[:5]):
        for _ in range(3):
            time.sleep(0.01)
            s.sendall(b"A: b\r\n")
    told = [read_all(s) for s in slow]
    expect(all(b" 408 " in t for t in told) and time.monotonic() - begin > 8, "slow-loris: 408 after ten seconds")
    for s in slow:
        s.close()


def check_disconnects(server):
    """D1, D2, D4, K7: whoever leaves is gone within a step, in every phase; the cache is free then."""
    before = server.metric("infrt_client_disconnect_total")
    aborted = 'finished_reason="abort"'
    counts = {k: v for k, v in server.metrics().items() if aborted in k or k.startswith(("vllm:generation_", "vllm:prompt_tokens"))}
    with server.connect() as s:  # while it streams
        s.sendall(post(TEXT, {**LONG, "stream": True}))
        s.recv(100)
    until("D1: a stream", lambda: idle(server) and server.metric("infrt_client_disconnect_total") == before + 1)
    with server.connect() as s:  # before anything is said
        s.sendall(post(TEXT, LONG))
        until("it runs", lambda: server.metric("vllm:num_requests_running") > 0)
    until("D1: not a stream", lambda: idle(server) and server.metric("infrt_client_disconnect_total") == before + 2)
    held = [server.connect() for _ in range(24)]  # some of them wait
    for s in held:
        s.sendall(post(TEXT, LONG))
    until("some wait", lambda: server.metric("vllm:num_requests_waiting") > 0)
    for s in held:
        s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))  # RST
        s.close()
    until("D2: the queue", lambda: idle(server) and server.metric("infrt_client_disconnect_total") == before + 26)
    for name, was in counts.items():
        grown = server.metrics()[name] - was
        expect(grown == 26 if aborted in name else grown > 0, f"{name} of those that left: {grown} more")
    with server.connect() as s:  # in the middle of its body
        s.sendall(post(TEXT, LONG)[:-5])
    for _ in range(20):
        with server.connect() as s:
            s.sendall(b"GET /metrics HTTP/1.1\r\nHost: h\r\n\r\n")
    expect(server.ask("GET", "/health")[0] == 200, "D4: leaving /metrics")
    with server.connect() as s:  # FIN alone
        s.sendall(post(TEXT, LONG))
        s.shutdown(socket.SHUT_WR)
        expect(read_all(s) == b"", "half-closed: whoever sends no more is gone")
    until("and what it held is free", lambda: idle(server) and server.metric("vllm:kv_cache_usage_perc") == 0)


def check_full_buffers(server):
    """A client that takes nothing: its answer waits, others go on, memory does not grow."""
    with server.connect(60) as s:
        s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 65536)
        body = {**LONG, "stream": True, "n": 16, "logprobs": 5, "temperature": 1, "seed": 1}
        s.sendall(post(TEXT, body, "Connection: close"))
        time.sleep(1)
        expect(server.json("POST", TEXT, SHORT)[0] == 200, "others are answered")
        whole = read_all(s)
    expect(parse(whole)[2].endswith(b"data: [DONE]\n\n") and parse(whole)[2].count(b'"finish_reason":"length"') == 16,
           "all of it comes once it is taken")


def check_queue(program):
    with Server(program, "--queue", 1) as server:
        statuses = []

        def ask():
            statuses.append(server.ask("POST", TEXT, LONG))

        most = 17  # 16 run, one waits
        threads = [threading.Thread(target=ask) for _ in range(40)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        codes = [s[0] for s in statuses]
        expect(set(codes) == {200, 429} and codes.count(200) >= most, f"D8: {codes.count(200)} answered, the rest 429")
        expect(all(s[1].get("retry-after") for s in statuses if s[0] == 429), "D8: Retry-After")
        expect(server.json("POST", TEXT, {**SHORT, "prompt": ["a", "b"], "n": 9})[1]["error"]["param"] == "n", "more than fit")
        expect(server.json("POST", TEXT, SHORT)[0] == 200, "and then goes on")


def check_end(program):
    """D5: the first SIGTERM drains, without a delay of its own."""
    with Server(program) as server, server.connect(60) as s, server.connect() as waits:
        s.sendall(post(TEXT, {**LONG, "stream": True}))
        first = s.recv(1000)
        server.process.send_signal(signal.SIGTERM)
        until("ready says so", lambda: server.ask("GET", "/health/ready")[0] == 503)
        expect(server.ask("GET", "/health")[0] == 200, "it lives until then")
        expect(server.json("POST", TEXT, SHORT)[0] == 503, "no more are taken")
        whole = first + read_all(s)
        expect(parse(whole)[2].endswith(b"data: [DONE]\n\n"), "what runs ends")
        expect(server.process.wait(5) == 0, "exit code 0, with an idle connection open")
        del waits
    with Server(program) as server, server.connect() as s:
        s.sendall(post(TEXT, {**LONG, "stream": True, "n": 16}))
        s.recv(100)
        server.process.send_signal(signal.SIGTERM)
        time.sleep(0.05)
        code = server.stop(signal.SIGTERM, 5)
        expect(code in (0, -signal.SIGTERM), f"a second signal ends it at once: {code}")
    taken = socket.create_server(("127.0.0.1", 0))
    done = subprocess.run([program, "serve", "--port", str(taken.getsockname()[1])], capture_output=True, text=True)
    expect(done.returncode == 4 and "cannot be served" in done.stderr, "a port that is taken")


def check_stuck(program):
    """D7: health does not depend on the engine's thread."""
    with Server(program) as server:
        with server.connect() as s:
            s.sendall(post(TEXT, {**LONG, "n": 16}))
            slowest = 0
            for _ in range(20):
                begin = time.monotonic()
                expect(server.ask("GET", "/health")[0] == 200, "D7: health while busy")
                slowest = max(slowest, time.monotonic() - begin)
        expect(slowest < 5, f"D7: health took {slowest} s")


def check_keys(program, work):
    """CVE-2025-59425 and vLLM's open routes: every route but health needs a key."""
    keys = work / "keys"
    keys.write_text("first-key, second\nthird")
    with Server(program, "--api-keys", keys) as server:
        for path, method in [("/v1/models", "GET"), ("/metrics", "GET"), ("/version", "GET"), ("/tokenize", "POST"),
                             ("/v1/lora_adapters", "GET"), ("/v1/load_lora_adapter", "POST"), (TEXT, "POST"), ("/x", "GET"),
                             ("/v1/unload_lora_adapter", "POST"), ("/detokenize", "POST"), ("/v1/chat/completions", "POST"),
                             ("/v1/sessions", "GET"), ("/v1/sessions/save", "POST"), ("/v1/sessions/restore", "POST"),
                             ("/v1/sessions/x", "DELETE"), ("/v1/models/x", "GET"), ("/v1/embeddings", "POST"), ("/v2", "GET")]:
            expect(server.ask(method, path, {} if method == "POST" else None)[0] == 401, f"{path} without a key")
        for path in ("/health", "/health/ready"):
            expect(server.ask("GET", path)[0] == 200, f"{path} without a key")
        for key, status in [("first-key", 200), ("third", 200), ("first-ke", 401), ("first-key,", 401), ("", 401)]:
            expect(server.ask("GET", "/v1/models", headers=(f"Authorization: Bearer {key}",))[0] == status, f"key {key!r}")
        expect(server.ask("GET", "/v1/models", headers=("Authorization: Basic third",))[0] == 401, "no bearer")
    with Server(program, "--api-keys", "env:TINY_KEYS", env={**os.environ, "TINY_KEYS": "k"}) as server:
        expect(server.ask("GET", "/v1/models", headers=("Authorization: Bearer k",))[0] == 200, "a key from the environment")
    for source, text in [("env:NOT_THERE", "has no NOT_THERE"), (work / "none", "No such file"), (os.devnull, "no API key")]:
        done = subprocess.run([program, "serve", "--port", "0", "--api-keys", source], capture_output=True, text=True)
        expect(done.returncode in (2, 4) and text in done.stderr, f"keys of {source}: {done.stderr}")


def check_salt(server):
    """CVE-2025-46570: what another tenant's salt has cached is not seen."""
    verse = "In the beginning God created the heaven and the earth, and the evening and the morning " * 2

    def cached(**more):
        status, made = server.json("POST", TEXT, {**SHORT, "prompt": verse, **more})
        return made["usage"]["prompt_tokens_details"]["cached_tokens"] if status == 200 else made

    expect(cached(cache_salt="a") == 0 and cached(cache_salt="a") > 0, "one salt shares")
    expect(cached(cache_salt="b") == 0, "another does not")
    expect(cached(priority=-5) == 0 and cached(priority=5) > 0, "priorities are taken")
    expect(server.json("POST", TEXT, {**SHORT, "priority": 101})[1]["error"]["param"] == "priority", "within limits")


def main():
    infc, source, work = sys.argv[1], pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3])
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    program = compile_tiny(infc, source, work / "lm")
    with Server(program) as server:
        check_http(server)
        check_start(program)
        check_methods(server)
        check_pipelining(server)
        check_disconnects(server)
        check_full_buffers(server)
        check_salt(server)
        check_slow(server)
        expect(server.stop() == 0, "SIGTERM: exit code 0")
        expect(all(r["event"] == "request" for r in server.requests()), "every line of the log is JSON")
        times = [datetime.datetime.fromisoformat(r["time"]) for r in server.requests()]
        age = datetime.datetime.now(datetime.timezone.utc) - times[0]
        expect(times == sorted(times) and 0 <= age.total_seconds() < 3600, f"each with its time: {times[0]}, {times[-1]}")
    check_queue(program)
    check_end(program)
    check_stuck(program)
    check_keys(program, work)
    finish("serve_http")


if __name__ == "__main__":
    main()
