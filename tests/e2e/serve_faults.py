#!/usr/bin/env python3
"""A server of examples/tiny-lm among faults: allocations that fail, clients that vanish by the thousand, more requests than
it can take, adapters whose files change while they are read, an end without a warning. Cases: serve_cases.py.

usage: serve_faults.py INFC SOURCE_DIR WORK_DIR FAIL_ALLOC
"""
import json
import mmap
import os
import pathlib
import random
import shutil
import signal
import socket
import struct
import subprocess
import sys
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "llm"))
from serve_adapters import answer, load, prepared  # noqa: E402
from serving import Server, expect, finish, idle, parse, post, read_all, run_all, standing, until  # noqa: E402

ANY_THREAD = 0x40000000  # __WALL
TEXT, CHAT = "/v1/completions", "/v1/chat/completions"
VERSE = "In the beginning God created the heaven and the earth, and the evening and the morning were"
SHORT = {"model": "tiny_lm", "prompt": VERSE, "max_tokens": 3, "temperature": 0}
LONG = {**SHORT, "max_tokens": 60, "ignore_eos": True}
USER = {"model": "tiny_lm", "messages": [{"role": "user", "content": "Hello"}], "max_tokens": 4, "temperature": 0}


def memory_of(server):
    """KiB that it has of its own."""
    status = pathlib.Path(f"/proc/{server.process.pid}/status").read_text()
    return int(status.split("RssAnon:")[1].split()[0])


class Failing:
    """Lets allocation number `n` of the server fail, counted from now."""

    def __init__(self, path):
        path.write_bytes(bytes(16))
        self.path, self.file = path, open(path, "r+b")
        self.shared = mmap.mmap(self.file.fileno(), 16)

    def arm(self, n):
        self.shared[:] = struct.pack("qq", n, 0)

    def disarm(self):
        failed = struct.unpack("qq", self.shared[:])[1]
        self.arm(0)
        return failed


def streamed(body):
    """The text of a chat that was streamed, and how it ended; None: an error was told."""
    text, finish = "", ""
    for line in body.decode().splitlines():
        if not line.startswith("data: {"):
            continue
        chunk = json.loads(line[6:])
        if "error" in chunk:
            return None
        for choice in chunk["choices"]:
            text += choice["delta"].get("content", "")
            finish += choice["finish_reason"] or ""
    return text, finish


def is_whole(reply, known):
    """A reply that a client understands: complete, and JSON or a stream that says how it ended, as `known` is."""
    if not reply:
        return True  # the connection was closed
    try:
        status, fields, body = parse(reply)
    except (ValueError, IndexError, UnicodeDecodeError):
        return False
    if fields.get("content-type", "").startswith("text/event-stream"):
        done = body.endswith(b"data: [DONE]\n\n")
        return streamed(body) in (None, known) if done else not reply.endswith(b"0\r\n\r\n")
    return len(body) == int(fields["content-length"]) and (status == 200 or status in (400, 429, 500, 503) and b'"error"' in body)


def rests(server, name):
    """Once a thread of the server has not run for a while."""
    tasks = pathlib.Path(f"/proc/{server.process.pid}/task")
    path = next(t for t in tasks.iterdir() if (t / "comm").read_text().strip() == name) / "schedstat"
    before = None
    while (now := path.read_text().split()[0]) != before:
        before = now
        time.sleep(0.03)


def check_piled_up(server, failing):
    """The same where the rest of a stream comes at once, to a thread that stood still: what is lost of it is not passed over."""
    request = post(CHAT, {**USER, "max_tokens": 100, "ignore_eos": True, "stream": True}, "Connection: close")
    known, failed = streamed(parse(server.raw(request))[2]), 0
    for n in range(1, 40):
        with server.connect() as s:
            s.sendall(request)
            reply = s.recv(64)
            with standing(server, "tiny_lm"):
                rests(server, "infrt-engine")
                failing.arm(n)
            try:
                reply += read_all(s)
            except ConnectionError:
                pass
        failed += failing.disarm()
        expect(is_whole(reply, known), f"what piled up, allocation {n}: {reply[-1000:]}")
    expect(failed > 10, f"what piled up: {failed} allocations failed")


def each_allocation(server, failing, what, request, known):
    """One after the other fails while the request is answered. Returns how many replies tell of it. Each has a line in the
    log, or is counted as dropped."""
    path = request.split()[1].decode()
    logged = lambda: sum(r.get("path") == path for r in server.requests()) + server.metric("infrt_log_dropped_total")
    n, failed, told, answered, before = 0, 1, 0, 0, logged()
    while failed and n < 2000 and server.process.poll() is None:
        n += 1
        failing.arm(n)
        try:
            reply = server.raw(request)
        except ConnectionError:
            reply = b""
        except TimeoutError:
            reply = b"no end"
        failed = failing.disarm()
        answered += bool(reply) and reply != b"no end"
        told += failed and b" 503 " in reply[:20] or b" 500 " in reply[:20]
        expect(is_whole(reply, known), f"{what}, allocation {n}: {reply[:2000]} .. {reply[-500:]}")
    expect(2 < n < 2000, f"{what}: {n} allocations")
    expect(logged() - before >= answered, f"{what}: {answered} answers, {logged() - before} lines")
    expect(all(line.startswith('{"time":"') for line in server.log().splitlines()), f"{what}: each line has its time")
    return told


def check_tensor_allocations(infc, source, work, library):
    """The same of a model of tensors: numbers as JSON and as bytes, facts."""
    subprocess.run([infc, "compile", source / "examples/digits/spec.yaml", "-o", work / "digits", "--set", "serve.port=8000"],
                   check=True, capture_output=True)
    failing = Failing(work / "fail_digits")
    head = {"name": "image", "shape": [1, 1, 8, 8], "datatype": "FP32"}
    infer = post("/v2/models/digits/infer", {"inputs": [{**head, "data": list(range(64))}]}, "Connection: close")
    text = json.dumps({"inputs": [{**head, "parameters": {"binary_data_size": 256}}], "parameters": {"binary_data_output": True}}).encode()
    raw = (b"POST /v2/models/digits/infer HTTP/1.1\r\nHost: h\r\nConnection: close\r\nContent-Type: application/octet-stream\r\n"
           b"Inference-Header-Content-Length: %d\r\nContent-Length: %d\r\n\r\n" % (len(text), len(text) + 256)) + text + bytes(256)
    facts = b"GET /v2/models/digits HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n"
    with Server(work / "digits/digits", env={**os.environ, "LD_PRELOAD": str(library), "FAIL_ALLOC": str(failing.path)}) as server:
        known, told = [parse(server.raw(r))[2] for r in (infer, raw, facts)], 0
        for what, request in (("numbers", infer), ("bytes", raw), ("facts", facts)):
            told += each_allocation(server, failing, what, request, None)
            expect([parse(server.raw(r))[2] for r in (infer, raw, facts)] == known, f"after {what}")
        expect(told > 4, f"most are told: {told}")
        expect(server.stop() == 0, "and it ends well")


def check_allocations(program, work, library, root):
    """Each allocation that requests make fails once: whoever asks is told or let go, and the next is answered as ever."""
    failing = Failing(work / "fail_alloc")
    env = {**os.environ, "LD_PRELOAD": str(library), "FAIL_ALLOC": str(failing.path)}
    kinds = {
        "a text": post(TEXT, {**SHORT, "n": 2, "logprobs": 2, "echo": False, "stop": "~"}, "Connection: close"),
        "a stream": post(CHAT, {**USER, "stream": True, "logprobs": True, "stream_options": {"include_usage": True}},
                         "Connection: close"),
        "a long prompt": post(CHAT, {**USER, "messages": [{"role": "user", "content": "a b " * 3000}]}, "Connection: close"),
        "tokens": post("/tokenize", {"prompt": VERSE}, "Connection: close"),
        "text of tokens": post("/detokenize", {"tokens": [5, 6, 7]}, "Connection: close"),
        "facts": b"GET /metrics HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n",
        "an adapter": post("/v1/load_lora_adapter", {"lora_name": "a", "lora_path": "a", "load_inplace": True}, "Connection: close"),
        "a session": post("/v1/sessions/save", {"name": "a", "prompt": VERSE * 2}, "Connection: close"),
        "a session back": post("/v1/sessions/restore", {"name": "a"}, "Connection: close"),
        "sessions": b"GET /v1/sessions HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n",
    }
    told = 0
    (work / "sessions").mkdir()
    with Server(program, "--adapter-root", root, "--session-root", work / "sessions", env=env) as server:
        server.json("POST", TEXT, {**SHORT, "prompt": VERSE * 2})
        known = server.json("POST", TEXT, SHORT)[1]["choices"]
        known_stream = streamed(parse(server.raw(kinds["a stream"]))[2])
        for what, request in kinds.items():
            told += each_allocation(server, failing, what, request, known_stream)
            until(f"after {what}", lambda: server.json("POST", TEXT, SHORT)[1].get("choices") == known)
        check_piled_up(server, failing)
        until("nothing is left", lambda: idle(server) and server.metric("vllm:kv_cache_usage_perc") == 0)
        expect(told > 20, f"most are told: {told}")
        expect(server.stop() == 0, "and it ends well")


def vanish(server, seed):
    """Fifty clients, one after the other, that leave at any time."""
    at = random.Random(seed)
    for _ in range(50):
        try:
            with server.connect() as s:
                body = {**LONG, "stream": at.random() < 0.7, "n": at.choice((1, 1, 2)), "prompt": VERSE[at.randrange(60):],
                        "priority": at.randrange(-2, 3)}
                request = post(TEXT, body)
                s.sendall(request[:at.choice((len(request), len(request), len(request), at.randrange(1, len(request))))])
                s.settimeout(at.choice((0.0005, 0.002, 0.01, 0.05)))
                while at.random() < 0.8 and s.recv(4096):
                    pass
                if at.random() < 0.5:
                    s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        except OSError:
            pass


def check_disconnects(program):
    """K8, K7: 1,000 clients leave at random, in whatever state their answers are, with a cache of three blocks."""
    with Server(program, "--kv-memory", "55296", "--context", "96") as server:
        known = server.json("POST", TEXT, SHORT)[1]["choices"]
        expect('num_blocks="3"' in str(server.ask("GET", "/metrics")[2]), "K8: three blocks")
        run_all([lambda i=i: vanish(server, i) for i in range(10)])
        before = memory_of(server)
        run_all([lambda i=i: vanish(server, i) for i in range(10, 20)])
        until("K8: nothing is left", lambda: idle(server) and server.metric("vllm:kv_cache_usage_perc") == 0)
        expect(server.metric("infrt_client_disconnect_total") > 200, "K8: they did leave")
        expect(server.metric("vllm:num_preemptions_total") > 0, "K7: answers gave way meanwhile")
        expect(server.json("POST", TEXT, SHORT)[1]["choices"] == known, "K8: the next is answered as ever")
        expect(memory_of(server) < before + 8192, f"K8: memory {before} KiB, then {memory_of(server)} KiB")
        expect(server.stop() == 0, "K8: and it ends well")


def check_overload(program):
    """D8: far more than it can take, for as long as they come: the rest is told to come again, memory stays."""
    codes = []

    def ask():
        for _ in range(12):
            codes.append(server.ask("POST", TEXT, {**LONG, "max_tokens": 8})[0])

    with Server(program, "--queue", 4) as server:
        run_all([ask] * 40)
        first = memory_of(server)
        run_all([ask] * 40)
        expect(set(codes) == {200, 429} and len(codes) == 960, f"D8: {set(codes)}")
        expect(memory_of(server) < first + 2048, f"D8: memory {first} KiB, then {memory_of(server)} KiB")


def check_changing_files(program, root):
    """An adapter's file is cut, and put back, while it is read: an error or the adapter, never something in between."""
    whole, other = ((root / n / "adapter_model.safetensors").read_bytes() for n in "ab")
    folder, done = root / "changing", threading.Event()
    shutil.copytree(root / "a", folder)
    path = folder / "adapter_model.safetensors"

    def change():
        at = random.Random(1)
        while not done.is_set():
            if at.random() < 0.5:
                os.truncate(path, at.randrange(len(whole)))
            else:
                (folder / "new").write_bytes(at.choice((whole, other)))
                os.replace(folder / "new", path)

    with Server(program, "--adapter-root", root) as server:
        load(server, "a", "a")
        alone = answer(server, "a")
        thread = threading.Thread(target=change)
        thread.start()
        codes, n, end = set(), 0, time.monotonic() + 60
        while n < 150 or (len(codes) < 2 and time.monotonic() < end):
            codes.add(load(server, "x", "changing", load_inplace=True))
            n += 1
        done.set()
        thread.join()
        expect(codes == {200, 400}, f"a changing file: {codes}")
        path.write_bytes(whole)
        expect(load(server, "x", "changing", load_inplace=True) == 200 and answer(server, "x") == alone, "and then the whole one")
        expect(answer(server, "a") == alone, "others are as they were")


def check_kill(program):
    """SIGKILL while it answers, and the next server on that port at once."""
    with Server(program) as server, server.connect() as s:
        s.sendall(post(TEXT, {**LONG, "stream": True, "max_tokens": 400}))
        s.recv(100)
        server.stop(signal.SIGKILL)
        port = server.address[1]
        with Server(program, port=port) as again:
            expect(again.address[1] == port and again.json("POST", TEXT, SHORT)[0] == 200, "SIGKILL, and again")


def log_lines(fd, server, n):
    """What comes out of `fd` until the line of `n` requests more that are made meanwhile."""
    text = b""
    os.set_blocking(fd, False)
    for _ in range(n):
        server.ask("POST", "/tokenize", {"prompt": "x"})
        end = time.monotonic() + 5
        while time.monotonic() < end:
            try:
                text += os.read(fd, 1 << 20)
            except BlockingIOError:
                if text.endswith(b"\n"):
                    break
                time.sleep(0.01)
    return [json.loads(line) for line in text.splitlines()]


def check_unread_log(program):
    """Nobody reads the log: a pipe, a terminal, a socket. Requests go on, what found no room is counted, and when there is
    room again a line says so, between whole lines. It ends as ever."""
    sockets = socket.socketpair()
    for what, (reads, writes) in (("a pipe", os.pipe()), ("a terminal", os.openpty()),
                                  ("a socket", [s.detach() for s in sockets])):
        with Server(program, stderr=writes) as server:
            os.close(writes)
            answers = [server.ask("POST", "/tokenize", {"prompt": "x"}, ("X-Request-Id: " + "i" * 60,))[0] for _ in range(1200)]
            expect(answers == [200] * 1200 and server.ask("GET", "/health")[0] == 200, f"{what}: requests go on")
            lost = server.metric("infrt_log_dropped_total")
            expect(0 < lost < 1200, f"{what}: counted: {lost}")
            lines = log_lines(reads, server, 3)
            told = sum(line["lines"] for line in lines if line["event"] == "log_dropped")
            written = sum(line["event"] == "request" for line in lines)
            expect(told == server.metric("infrt_log_dropped_total"), f"{what}: {told} told of {lost}")
            # Requests: 1200, 3, and those about metrics of which the last line is still to come.
            expect(told + written in range(1203, 1206), f"{what}: {told} dropped and {written} written")
            expect(server.stop() == 0, f"{what}: it ends well")
        os.close(reads)


def check_no_log(program):
    """Nobody can read the log: all is answered, and counted."""
    reads, writes = os.pipe()
    os.close(reads)
    with open("/dev/full", "wb") as full:
        for what, stderr in (("no reader", writes), ("a full disk", full)):
            with Server(program, stderr=stderr) as server:
                expect({server.ask("POST", "/tokenize", {"prompt": "x"})[0] for _ in range(20)} == {200}, what)
                lost = server.metric("infrt_log_dropped_total")
                expect(lost == 20, f"{what}: counted: {lost}")
                expect(server.stop() == 0, f"{what}: it ends well")
    os.close(writes)


def check_second_signal(program):
    """The engine stands still, which the watchdog does not know yet: a second signal does not wait for it."""
    for first, second in ((signal.SIGTERM, signal.SIGTERM), (signal.SIGTERM, signal.SIGINT)):
        with Server(program) as server, server.connect() as s:
            s.sendall(post(TEXT, {**LONG, "stream": True, "max_tokens": 400}))
            s.recv(100)
            with standing(server, "infrt-engine") as thread:
                server.process.send_signal(first)
                until("it shuts down", lambda: server.ask("GET", "/health/ready")[0] == 503)
                server.process.send_signal(second)
                until("a second signal ends it at once", lambda: gone(thread), 5)
            expect(server.process.wait(5) == -second, "and tells which")


def gone(thread):
    """That is traced: so that what is left of the process can go."""
    try:
        return os.waitpid(thread, os.WNOHANG | ANY_THREAD)[0] == thread
    except ChildProcessError:
        return True


def check_fifo_keys(program, work):
    """SIGHUP with a FIFO in the place of the keys: the old ones stay, nothing waits. At the start a pipe is read."""
    path = work / "keys"
    path.write_text("alpha")
    key = ("Authorization: Bearer alpha",)
    with Server(program, "--api-keys", path) as server:
        path.unlink()
        os.mkfifo(path)
        server.process.send_signal(signal.SIGHUP)
        until("a FIFO: told", lambda: any(line["event"] == "keys_reload" for line in server.requests()), 5)
        line = next(line for line in server.requests() if line["event"] == "keys_reload")
        expect(not line["good"] and "not a regular file" in line["error"], f"a FIFO: {line}")
        expect(server.ask("POST", "/tokenize", {"prompt": "x"}, key)[0] == 200, "a FIFO: the old key stays")
        expect(server.stop() == 0, "a FIFO: it ends well")
    writer = threading.Thread(target=path.write_text, args=("alpha",))
    writer.start()
    with Server(program, "--api-keys", path) as server:
        writer.join()
        expect(server.ask("POST", "/tokenize", {"prompt": "x"}, key)[0] == 200, "a FIFO at the start")


def check_many_chunks(server):
    """CVE-2025-23310, CVE-2025-23311: a body of 20,000 chunks takes no more room than another."""
    body = b"".join(b"1\r\n%c\r\n" % c for c in b'{"prompt": "x"' + b" " * 20000 + b"}") + b"0\r\n\r\n"
    head = b"POST /tokenize HTTP/1.1\r\nHost: h\r\nConnection: close\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"
    expect(parse(server.raw(head + body))[0] == 200, "CVE-2025-23310: many chunks")


def main():
    work, library = pathlib.Path(sys.argv[3]).resolve(), sys.argv[4]
    program, root = prepared(max_loaded=4)
    check_allocations(program, work, library, root)
    check_tensor_allocations(sys.argv[1], pathlib.Path(sys.argv[2]), work, library)
    check_disconnects(program)
    check_overload(program)
    check_changing_files(program, root)
    check_kill(program)
    check_unread_log(program)
    check_no_log(program)
    check_second_signal(program)
    check_fifo_keys(program, work)
    with Server(program) as server:
        check_many_chunks(server)
    finish("serve_faults")


if __name__ == "__main__":
    main()
