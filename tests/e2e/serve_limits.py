#!/usr/bin/env python3
"""What a server of examples/tiny-lm grants each key and each answer: rates, quotas, deadlines; an engine that stands still;
what it tells about all that in /metrics.

usage: serve_limits.py INFC SOURCE_DIR WORK_DIR
"""
import ctypes
import os
import pathlib
import re
import signal
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "llm"))
from serve_adapters import prepared  # noqa: E402
from serving import Server, expect, finish, parse, post, read_all, until  # noqa: E402

TEXT = "/v1/completions"
LONG = {"model": "tiny_lm", "prompt": "And", "max_tokens": 500, "temperature": 0, "ignore_eos": True}
SHORT = {"model": "tiny_lm", "prompt": "And", "max_tokens": 3, "temperature": 0}
PTRACE_ATTACH, PTRACE_DETACH, ANY_THREAD = 16, 17, 0x40000000


def with_key(key):
    return (f"Authorization: Bearer {key}",)


def check_rate(program, env):
    with Server(program, "--api-keys", "env:KEYS", "--requests-per-minute", 4, env=env) as server:
        codes = [server.json("POST", TEXT, SHORT, with_key("one"))[0] for _ in range(4)]
        status, fields, body = server.ask("POST", "/tokenize", {"prompt": "x"}, with_key("one"))
        expect(codes == [200] * 4 and status == 429, f"four requests a minute: {codes} {status}")
        expect(1 <= int(fields["retry-after"]) <= 15 and b"rate_limit_exceeded" in body and b"rate_limit_error" in body,
               f"when to come again: {fields}")
        expect(server.ask("GET", "/v1/models", headers=with_key("one"))[0] == 200, "facts are not counted")
        expect(server.json("POST", TEXT, SHORT, with_key("two"))[0] == 200, "another key has its own")
        expect(server.ask("POST", TEXT, SHORT, with_key("wrong"))[0] == 401, "a wrong key has none")
        expect(b'infrt_admission_rejected_total{reason="rate",model_name="tiny_lm"} 1'
               in server.ask("GET", "/metrics", headers=with_key("one"))[2], "it is counted")


def check_connections(program):
    """One more than --connections is told so, counted, and once in a while logged; a place that is free again is given."""
    with Server(program, "--connections", 2) as server:
        first, second = server.connect(), server.connect()
        time.sleep(0.05)
        for _ in range(3):
            with server.connect() as third:
                made = read_all(third)
            expect(made.startswith(b"HTTP/1.1 503 ") and parse(made)[0] == 503 and b"connections_full" in made, f"a third: {made}")
        told = [r for r in server.requests() if r["event"] == "connections_full"]
        expect(len(told) == 1 and told[0]["connections"] == 2, f"the log: {told}")
        first.close()
        time.sleep(0.3)
        with second:
            second.sendall(b"GET /metrics HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n")
            counted = read_all(second)
        expect(b'infrt_admission_rejected_total{reason="connections",model_name="tiny_lm"} 3' in counted, "they are counted")
        until("places are free again", lambda: server.ask("GET", "/health")[0] == 200)


def check_bodies(program):
    """Bodies that come at a time may be 64 of the longest together; who sends one more is told so, and the others are as before."""
    most = 2 << 20
    head = f"POST {TEXT} HTTP/1.1\r\nHost: h\r\nContent-Type: application/json\r\nContent-Length: {most}\r\n\r\n".encode()
    body = b'{"prompt": "And", "max_tokens": 1, "temperature": 0}'.ljust(most)
    with Server(program, "--max-body", "2MiB") as server:
        slow = [server.connect() for _ in range(64)]
        for s in slow:
            s.sendall(head + body[:-1])
        until("they have come", lambda: server.json("POST", TEXT, SHORT)[0] == 503)
        turned_away = lambda: server.metrics()['infrt_admission_rejected_total{reason="bodies",model_name="tiny_lm"}']
        before = turned_away()
        more = server.raw(head + body[:-1])
        expect(parse(more)[0] == 503 and b"too many long requests" in more and b"Retry-After: 1" in more, f"one more: {more[:300]}")
        expect(before > 0 and turned_away() == before + 1, "they are counted")
        slow[0].sendall(body[-1:])
        expect(slow[0].recv(20).startswith(b"HTTP/1.1 200 "), "one that comes to its end is answered")
        expect(server.json("POST", TEXT, SHORT)[0] == 200, "and there is room again")
        for s in slow:
            s.close()
        until("all of it", lambda: server.ask("POST", TEXT, body)[0] == 200)
        for _ in range(3):  # nothing of them is counted any more
            for s in [server.connect() for _ in range(60)]:
                s.sendall(head + body[:-1])
                s.close()
        until("and again", lambda: server.ask("POST", TEXT, body)[0] == 200)


def check_descriptors(program):
    """The soft limit of open files is raised as far as it may be; where that is not enough, the log says so."""
    def limited(soft, hard):
        return ("prlimit", f"--nofile={soft}:{hard}")

    def told(server):
        return [r["text"] for r in server.requests() if r["event"] == "few_descriptors"]

    with Server(program, prefix=limited(64, 2000)) as server:
        line = next(x for x in pathlib.Path(f"/proc/{server.process.pid}/limits").read_text().splitlines() if "open files" in x)
        expect(int(line.split()[3]) >= 1024 and not told(server), f"raised: {line} {told(server)}")
    with Server(program, "--connections", 500, prefix=limited(64, 100)) as server:
        expect(len(told(server)) == 1 and "--connections 500" in told(server)[0] and "100" in told(server)[0], f"not enough: {told(server)}")


def check_hangup(program):
    """SIGHUP ends no server, TLS or not."""
    with Server(program) as server:
        server.process.send_signal(signal.SIGHUP)
        until("it is told", lambda: any(r["event"] == "hangup" for r in server.requests()))
        expect(server.process.poll() is None and server.ask("GET", "/health")[0] == 200, "SIGHUP without TLS: it goes on")


def check_keys(program, work):
    """SIGHUP reads a file of keys again: those that are new may ask, those that have gone may not, a bad file changes nothing."""
    file = work / "keys"
    file.write_text("one two")
    with Server(program, "--api-keys", file, "--key-tokens", 520) as server:
        told = lambda: [r for r in server.requests() if r["event"] == "keys_reload"]
        ask = lambda key: server.json("POST", TEXT, SHORT, with_key(key))[0]

        def reload(text, n, good):
            file.write_text(text)
            server.process.send_signal(signal.SIGHUP)
            until("it is told", lambda: len(told()) == n)
            expect(told()[-1]["good"] is good, f"keys {text!r}: {told()[-1]}")

        with server.connect() as s:
            s.sendall(post(TEXT, {**LONG, "stream": True}, *with_key("one"), "Connection: close"))
            first = s.recv(100)
            reload("three two two", 1, True)
            expect([ask(k) for k in ("one", "two", "three")] == [401, 200, 200], "keys that have gone, stayed, come")
            expect(parse(first + read_all(s))[2].endswith(b"data: [DONE]\n\n"), "an answer of one that has gone goes on")
        for n, bad in ((2, ""), (3, "four f\u00fcnf")):
            reload(bad, n, False)
        expect([ask(k) for k in ("two", "three", "four")] == [200, 200, 401], "what is no good changes nothing")
        reload(" ".join(f"k{i}" for i in range(3000)) + " one", 4, True)
        expect([ask(k) for k in ("two", "k2999", "one")] == [401, 200, 200], "many keys, and one that was there before")
        made = server.ask("GET", "/metrics", headers=with_key("one"))[2]
        expect(b'infrt_keys_reload_total{result="bad",model_name="tiny_lm"} 2' in made, "they are counted")


def check_drain(program):
    """What has not ended within --drain of SIGTERM is told so, in a stream and without, and the server ends."""
    with Server(program, "--drain", "300ms") as server, server.connect() as streams, server.connect() as waits:
        streams.sendall(post(TEXT, {**LONG, "stream": True}))
        first = streams.recv(1000)
        with Stopped(server, "infrt-engine") as stopped:
            waits.sendall(post(TEXT, LONG, "Connection: close"))
            time.sleep(0.1)
            server.process.send_signal(signal.SIGTERM)
            whole, plain = parse(first + read_all(streams))[2], parse(read_all(waits))
            expect(whole.count(b"shutting_down") == 1 and whole.endswith(b"data: [DONE]\n\n"), f"a stream: {whole[-300:]}")
            expect(plain[0] == 503 and b"--drain" in plain[2], f"who waits: {plain}")
            del stopped
        expect(server.process.wait(5) == 0, "exit code 0")
        expect(any(r["event"] == "drain_over" for r in server.requests()), "the log")
    done = subprocess.run([program, "serve", "--port", "0", "--drain", "0s"], capture_output=True, text=True)
    expect(done.returncode == 2 and "--drain" in done.stderr, f"no time at all: {done.stderr}")


def check_tokens(program, env):
    with Server(program, "--api-keys", "env:KEYS", "--key-tokens", 520, env=env) as server:
        status, error = server.json("POST", TEXT, {**LONG, "n": 2}, with_key("one"))
        expect(status == 400 and "a key has 520" in error["error"]["message"], f"more than it ever has: {error}")
        with server.connect() as s:
            s.sendall(post(TEXT, {**LONG, "stream": True}, *with_key("one")))
            first = s.recv(100)
            status, fields, body = server.ask("POST", TEXT, {**SHORT, "max_tokens": 30}, with_key("one"))
            expect(status == 429 and fields["retry-after"] == "1" and b"token_quota_exceeded" in body, f"beside it: {body}")
            expect(server.json("POST", TEXT, SHORT, with_key("one"))[0] == 200, "what fits beside it")
            expect(server.json("POST", TEXT, {**SHORT, "max_tokens": 30}, with_key("two"))[0] == 200, "another key")
            del first
        until("given back when the client has left",
              lambda: server.json("POST", TEXT, {**SHORT, "max_tokens": 400}, with_key("one"))[0] == 200)


def check_adapters(program, env, root):
    load = "/v1/load_lora_adapter"
    with Server(program, "--api-keys", "env:KEYS", "--key-adapters", 1, "--adapter-root", root, env=env) as server:
        ask = lambda name, key: server.ask("POST", load, {"lora_name": name, "lora_path": name}, with_key(key))[0]
        codes = [ask("a", "one"), ask("b", "one"), ask("a", "one"), ask("b", "two"), ask("cut", "three"), ask("c", "three")]
        expect(codes == [200, 429, 200, 200, 400, 200], f"one adapter a key: {codes}")
        server.ask("POST", "/v1/unload_lora_adapter", {"lora_name": "a"}, with_key("one"))
        expect(ask("d", "one") == 200, "and another after that")


def check_deadline(program):
    long = {**LONG, "n": 16}
    cut = lambda made: all(c["finish_reason"] == "abort" and c["text"] for c in made["choices"])
    with Server(program, "--timeout", "30s") as server:
        begin = time.monotonic()
        # A fast machine is done with all 16 answers before the longer ones.
        for timeout in (0.4, 0.2, 0.1, 0.05, 0.025, 0.0125):
            status, made = server.json("POST", TEXT, {**long, "timeout": timeout})
            if status == 200 and cut(made):
                break
        expect(status == 200 and cut(made) and time.monotonic() - begin < 5, "what there was at the deadline")
        timeout /= 2  # well before they end
        whole = server.ask("POST", TEXT, {**long, "timeout": timeout, "stream": True})[2]
        expect(whole.count(b'"finish_reason":"abort"') == 16 and whole.count(b"[DONE]") == 1, "and in a stream")
        before = [server.connect() for _ in range(6)]  # have all places, one after another
        for s in before:
            s.sendall(post(TEXT, {**LONG, "n": 16, "stream": True}))
        before[0].recv(100)
        for more in ({}, {"stream": True, "n": 2}):
            status, fields, body = server.ask("POST", TEXT, {**SHORT, **more, "timeout": 0.02})
            expect(status == 504 and b"deadline_exceeded" in body, f"nothing yet: {status} {body}")
        for s in before:
            s.close()
        for wrong in (0, -1, "1s", 1e9):
            expect(server.json("POST", TEXT, {**SHORT, "timeout": wrong})[1]["error"]["param"] == "timeout", f"timeout {wrong}")
    with Server(program, "--timeout", f"{1000 * timeout:.0f}ms") as server:
        made = server.json("POST", TEXT, {**long, "timeout": 50})[1]
        expect(made["choices"][0]["finish_reason"] == "abort", "a request cannot have more than the server gives")
        expect(server.json("POST", TEXT, SHORT)[0] == 200, "and others are answered")


class Stopped:
    """One thread of the server, stopped as a debugger does."""

    def __init__(self, server, name):
        tasks = pathlib.Path(f"/proc/{server.process.pid}/task")
        self.thread = next(int(t.name) for t in tasks.iterdir() if (t / "comm").read_text().strip() == name)
        self.libc = ctypes.CDLL(None, use_errno=True)

    def __enter__(self):
        expect(self.libc.ptrace(PTRACE_ATTACH, self.thread, None, None) == 0, f"ptrace: {os.strerror(ctypes.get_errno())}")
        os.waitpid(self.thread, ANY_THREAD)
        return self

    def __exit__(self, *_):
        self.libc.ptrace(PTRACE_DETACH, self.thread, None, None)


def check_watchdog(program):
    """D7, K9: an engine that stands still shows within the time, idle or not; what waits for it fails, and it recovers."""
    with Server(program, "--watchdog", "2s") as server:
        time.sleep(3)
        expect(server.ask("GET", "/health/ready")[0] == 200, "D7: an idle server is well")
        with Stopped(server, "infrt-engine"):
            until("D7: readiness is off, idle", lambda: server.ask("GET", "/health/ready")[0] == 503, 8)
            expect(server.ask("GET", "/health")[0] == 503 and server.metric("infrt_ready") == 0, "D7: health")
            expect(server.json("POST", TEXT, SHORT)[1]["error"]["message"] == "the engine stands still", "K9: no more are taken")
        until("D7: it is on again", lambda: server.ask("GET", "/health/ready")[0] == 200)
        engine = Stopped(server, "infrt-engine")
        with server.connect() as streams, server.connect() as waits:
            streams.sendall(post(TEXT, {**LONG, "stream": True}))
            first = streams.recv(1000)
            waits.sendall(post(TEXT, LONG, "Connection: close"))
            with engine:  # at once: on a busy machine the answers, of some 50 ms, may be whole soon
                whole, plain = parse(first + read_all(streams))[2], parse(read_all(waits))
                expect(whole.count(b"engine_stalled") == 1 and whole.endswith(b"data: [DONE]\n\n"), "K9, S11: a stream fails")
                expect(plain[0] == 503 and b"engine_stalled" in plain[2], f"K9: who waits is told: {plain}")
        until("K9: it goes on", lambda: server.ask("POST", TEXT, SHORT)[0] == 200)
        until("K9: nothing is left behind", lambda: server.metric("vllm:num_requests_running") == 0)
        os.kill(server.process.pid, signal.SIGSTOP)  # all of it: nobody's fault
        time.sleep(4)
        os.kill(server.process.pid, signal.SIGCONT)
        expect(server.ask("POST", TEXT, SHORT)[0] == 200, "K9: time in which all stood still does not count")
        with Stopped(server, "infrt-engine") as stopped:
            until("it stands still again", lambda: server.ask("GET", "/health")[0] == 503, 8)
            server.process.send_signal(signal.SIGTERM)
            os.waitpid(stopped.thread, ANY_THREAD)  # so that what is left of the process can go
            expect(server.process.wait(5) == -signal.SIGTERM, "D7: a signal ends it all the same")
    done = subprocess.run([program, "serve", "--port", "0", "--watchdog", "1ms"], capture_output=True, text=True)
    expect(done.returncode == 2 and "2s or more" in done.stderr, f"a watchdog of 1 ms: {done.stderr}")


def check_documented_metrics(program, source):
    """All metrics that docs/serving.md names of a language model are told, and no others."""
    part = (source / "docs/serving.md").read_text().partition("## Models of tensors")[0]
    named = set(re.findall(r"`((?:vllm:|infrt_|http_)\w+)", part))
    with Server(program) as server:
        told = set(re.findall(r"^# TYPE (\S+)", server.ask("GET", "/metrics")[2].decode(), re.MULTILINE))
        there_is_none = {"infrt_keys_reload_total", "infrt_tls_reload_total"}  # neither keys nor a certificate
        expect(named - told == there_is_none and told <= named, f"named and not told: {named - told}; not named: {told - named}")


def check_metrics(program):
    """Names and counts of what dashboards made for vLLM show."""
    with Server(program, "--target-itl", "20ms") as server:
        server.json("POST", TEXT, {**SHORT, "n": 2})
        server.ask("POST", TEXT, {**SHORT, "max_tokens": 20, "ignore_eos": True, "stream": True})
        told = server.metrics()
        for name, count in [("request_queue_time_seconds", 3), ("request_prefill_time_seconds", 3), ("request_decode_time_seconds", 3),
                            ("request_inference_time_seconds", 3), ("request_time_per_output_token_seconds", 3),
                            ("e2e_request_latency_seconds", 2), ("time_to_first_token_seconds", 2), ("request_params_n", 2),
                            ("request_max_num_generation_tokens", 2), ("request_params_max_tokens", 2),
                            ("request_generation_tokens", 3), ("request_prompt_tokens", 2)]:
            expect(told[f'vllm:{name}_count{{model_name="tiny_lm"}}'] == count, f"{name}: {count}")
        total = lambda name: told[f'vllm:{name}_sum{{model_name="tiny_lm"}}']
        expect(total("request_max_num_generation_tokens") == 23 and total("request_params_max_tokens") == 23, "lengths")
        expect(total("iteration_tokens_total") >= 23, "tokens of steps")
        expect(abs(total("request_inference_time_seconds") - total("request_prefill_time_seconds") -
                   total("request_decode_time_seconds")) < 1e-6, "a prompt's time and an answer's are both of it")
        expect(total("e2e_request_latency_seconds") * 2 > total("request_inference_time_seconds") > 0, "within the whole time")
        many = b"{" + b",".join(b'"k%d":1' % i for i in range(600_000)) + b"}"
        status, _, made = server.ask("POST", TEXT, many)
        expect(status == 400 and b"too many keys" in made, f"600000 unknown keys: {status} {made}")
        for name in ("vllm:gpu_cache_usage_perc", "vllm:kv_cache_usage_perc", "infrt_engine_still_seconds"):
            expect(f'{name}{{model_name="tiny_lm"}}' in told, name)
    for flag, value in [("--timeout", "5"), ("--timeout", "0s"), ("--target-itl", "fast"), ("--key-tokens", "0")]:
        done = subprocess.run([program, "serve", "--port", "0", flag, value], capture_output=True, text=True)
        expect(done.returncode == 2 and flag in done.stderr, f"{flag} {value}: {done.stderr}")


def main():
    program, root = prepared(max_loaded=4)
    env = {**os.environ, "KEYS": "one two three"}
    check_rate(program, env)
    check_connections(program)
    check_bodies(program)
    check_descriptors(program)
    check_hangup(program)
    check_keys(program, root)
    check_drain(program)
    check_tokens(program, env)
    check_adapters(program, env, root)
    check_deadline(program)
    check_metrics(program)
    check_documented_metrics(program, pathlib.Path(sys.argv[2]))
    check_watchdog(program)
    finish("serve_limits")


if __name__ == "__main__":
    main()
