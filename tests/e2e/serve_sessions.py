#!/usr/bin/env python3
"""Sessions of a server of examples/tiny-lm: saved, and found again by a server that was started later; one key's are not
another's; hostile names, links, damaged files, no room, and SIGKILL while one is saved.

usage: serve_sessions.py INFC SOURCE_DIR WORK_DIR
"""
import http.client
import json
import os
import pathlib
import random
import re
import shutil
import subprocess
import sys
import threading
import time

from serving import Server, compile_tiny, expect, finish, idle, post, run_all, standing, until

SAVE, RESTORE, LIST = "/v1/sessions/save", "/v1/sessions/restore", "/v1/sessions"
VERSE = "In the beginning God created the heaven and the earth, and the evening and the morning were the first day. " * 2
TALK = [{"role": "user", "content": VERSE}, {"role": "assistant", "content": "And it was so."}]
BLOCK = 32


def is_talk(what):
    return isinstance(what, list) and isinstance(what[0], dict)


def answer(server, prompt, **more):
    """Text and number of cached tokens of an answer to a text or to messages."""
    chat = is_talk(prompt)
    headers = more.pop("headers", ())
    asked = {"messages" if chat else "prompt": prompt, "max_tokens": 24, "temperature": 0, "ignore_eos": True, "model": "tiny_lm", **more}
    made = server.json("POST", "/v1/chat/completions" if chat else "/v1/completions", asked, headers)[1]
    choice = made["choices"][0]
    return choice["message"]["content"] if chat else choice["text"], made["usage"]["prompt_tokens_details"]["cached_tokens"]


def key(name):
    return (f"Authorization: Bearer {name}",)


def save(server, name, what=VERSE, headers=(), **more):
    return server.json("POST", SAVE, {"name": name, "messages" if is_talk(what) else "prompt": what, **more}, headers)


def names(server, headers=()):
    return [s["name"] for s in server.json("GET", LIST, headers=headers)[1]["data"]]


def check_restart(program, root):
    """A second server finds in its cache what the first saved, and answers with the same bits."""
    with Server(program, "--session-root", root) as server:
        cold, cached = answer(server, VERSE)
        expect(cached == 0, "nothing is cached")
        status, made = save(server, "verse", VERSE + cold)
        expect(status == 200 and made["tokens"] % BLOCK == 0 and made["tokens"] >= 2 * BLOCK, f"saved: {made}")
        talk, _ = answer(server, TALK + [{"role": "user", "content": "And then?"}])
        expect(save(server, "talk", TALK, model="tiny_lm")[1].get("tokens", 0) >= BLOCK, "messages")
        ids = server.json("POST", "/tokenize", {"prompt": VERSE})[1]["tokens"]
        expect(save(server, "ids", ids)[1]["tokens"] == len(ids) // BLOCK * BLOCK, "token ids")
        answer(server, VERSE, cache_salt="own")
        expect(save(server, "salted", VERSE, cache_salt="own")[0] == 200, "of a salt")
        expect(names(server) == ["ids", "salted", "talk", "verse"], f"listed by name: {names(server)}")
        expect(server.metric("infrt_session_tokens_total") > 0 and server.stop() == 0, "SIGTERM")
    expect(sorted(p.stat().st_mode & 0o777 for p in root.rglob("*")) == [0o600] * 4 + [0o700], "nobody else reads them")
    with Server(program, "--session-root", root) as server:
        status, back = server.json("POST", RESTORE, {"name": "verse"})
        expect(status == 200 and back == made, f"restored: {status} {back}")
        again, cached = answer(server, VERSE)
        expect(again == cold and BLOCK <= cached <= made["tokens"], f"the same bits, {cached} tokens were there")
        expect(server.metrics()['infrt_session_tokens_total{op="restore",model_name="tiny_lm"}'] == made["tokens"], "counted")
        _, cached = answer(server, VERSE + cold)
        expect(cached >= made["tokens"] - BLOCK, f"its answer is there, too: {cached}")
        _, cached = answer(server, VERSE, cache_salt="own")
        expect(cached == 0, "another salt does not find it")
        expect(server.json("POST", RESTORE, {"name": "salted"})[0] == 422, "of another salt")
        expect(server.json("POST", RESTORE, {"name": "salted", "cache_salt": "own"})[0] == 200, "of this one")
        expect(answer(server, VERSE, cache_salt="own")[1] >= BLOCK, "then it finds it")
        server.json("POST", RESTORE, {"name": "talk"})
        expect(answer(server, TALK + [{"role": "user", "content": "And then?"}])[0] == talk, "a chat goes on")
        expect(server.json("DELETE", LIST + "/talk")[1] == {"object": "session", "name": "talk", "deleted": True}, "removed")
        expect(server.ask("DELETE", LIST + "/talk")[0] == 404 and names(server) == ["ids", "salted", "verse"], "and gone")


def check_refused(program, other, root):
    with Server(program) as server:
        for method, path, body in (("POST", SAVE, {"name": "a", "prompt": VERSE}), ("POST", RESTORE, {"name": "a"}), ("GET", LIST, None)):
            status, told = server.json(method, path, body)
            expect(status == 403 and "--session-root" in told["error"]["message"], f"off unless asked for: {told}")
    for folder, told in ((root / "none", "No such file"), (program, "Not a directory"), ("/proc", "no session can be saved in its folder open: ")):
        done = subprocess.run([program, "serve", "--port", "0", "--session-root", folder], capture_output=True, text=True)
        expect(done.returncode == 4 and f"error: --session-root {folder}: {told}" in done.stderr, f"{folder}: {done.stderr}")
    file = root / "open/verse.session"
    good = file.read_bytes()
    with Server(other, "--session-root", root) as server:
        status, told = server.json("POST", RESTORE, {"name": "verse"})
        expect(status == 422 and "another model" in told["error"]["message"], f"of another model: {told}")
    with Server(program, "--session-root", root) as server:
        for what, data in {"cut": good[:-1], "empty": b"", "flipped": good[:200] + bytes([good[200] ^ 1]) + good[201:], "foreign": b"x" * 200,
                           "long": good + b"x"}.items():
            file.write_bytes(data)
            status, told = server.json("POST", RESTORE, {"name": "verse"})
            expect(status == 422 and "verse" in told["error"]["message"] and "/proc" not in told["error"]["message"], f"{what}: {told}")
            expect(answer(server, VERSE[:-1])[1] == 0 or what != "cut", "nothing of it is used")
        status, told = save(server, "verse", "Jesus wept. " * 20)
        expect(status == 409 and file.read_bytes() == good + b"x", f"not in the cache: {told}")
        answer(server, VERSE)
        expect(save(server, "verse")[0] == 200 and server.json("POST", RESTORE, {"name": "verse"})[0] == 200, "a new one in its place")
        for body, param in (({"name": "x"}, "prompt"), ({"name": "x", "prompt": VERSE, "messages": TALK}, "prompt"), ({"prompt": VERSE}, "name"),
                            ({"name": 5, "prompt": VERSE}, "name"), ({"name": "x", "prompt": ["a", "b"]}, "prompt"),
                            ({"name": "x", "prompt": VERSE, "name ": 1, "cache_salt": 1}, "cache_salt")):
            status, told = server.json("POST", SAVE, body)
            expect(status == 400 and told["error"]["param"] == param, f"{body}: {told}")
        expect(save(server, "x", model="nobody")[0] == 404, "a model that is not there")
        expect(save(server, "x", VERSE * 100)[0] == 400, "longer than the context")


def check_names(program, root):
    """llama.cpp#26315: no name leaves the folder; what is no plain file is not read."""
    outside = root.parent / "outside.session"
    shutil.copy(root / "open/verse.session", outside)
    (root / "open/link.session").symlink_to(outside)
    (root / "open/folder.session").mkdir()
    os.mkfifo(root / "open/pipe.session")
    before = sorted(p for p in root.parent.rglob("*"))
    with Server(program, "--session-root", root) as server:
        answer(server, VERSE)
        for name in ("", ".", "..", "../outside", "a/b", "/etc/passwd", ".hidden", "-x", "a\\0b", "a" * 65, "ä", "a b", "a%2f", "open/verse", "x\\n"):
            for path, body in ((SAVE, {"name": name, "prompt": VERSE}), (RESTORE, {"name": name})):
                status, told = server.json("POST", path, body)
                expect(status == 400, f"{path} {name!r}: {status} {told}")
            if name and name.isascii() and name.isprintable() and " " not in name:
                status = server.ask("DELETE", f"{LIST}/{name}")[0]
                expect(status in (400, 404), f"DELETE {name!r}: {status}")
        for name in ("link", "folder", "pipe"):
            expect(server.json("POST", RESTORE, {"name": name})[0] == 422, f"restore {name}")
        expect(save(server, "folder")[0] == server.ask("DELETE", LIST + "/folder")[0] == 409, "a folder has the name")
        expect(server.ask("DELETE", LIST + "/verse%2esession")[0] == 400 and server.ask("PUT", LIST + "/verse")[0] == 405, "no other way")
        expect(names(server) == ["ids", "salted", "verse"], f"only plain files: {names(server)}")
        expect(sorted(p for p in root.parent.rglob("*")) == before, "nothing came or went")
        kept = outside.read_bytes()
        expect(save(server, "link")[0] == 200 and outside.read_bytes() == kept, "a link is replaced, not followed")
        expect(not (root / "open/link.session").is_symlink() and save(server, "a" * 64)[0] == 200, "the longest name")
    (root / "open/folder.session").rmdir()
    (root / "open/pipe.session").unlink()
    shutil.rmtree(root / "open")
    with Server(program, "--session-root", root) as server:
        answer(server, VERSE)
        (root / "open").symlink_to(root.parent)
        expect(save(server, "x")[0] == 500 and not (root.parent / "x.session").exists(), "a folder that is a link")
        expect(server.json("POST", RESTORE, {"name": "outside"})[0] in (404, 422), "is not followed")
    done = subprocess.run([program, "serve", "--port", "0", "--session-root", root], capture_output=True, text=True)
    expect(done.returncode == 4 and "its folder open: Not a directory" in done.stderr, f"nor at the start: {done.stderr}")
    (root / "open").unlink()


def check_root_gone(program, root):
    """The root is removed while the server runs: all who ask are told so."""
    root = root.parent / "gone"
    root.mkdir()
    with Server(program, "--session-root", root) as server:
        answer(server, VERSE)
        shutil.rmtree(root)
        codes = [save(server, "x")[0], server.ask("POST", RESTORE, {"name": "x"})[0], server.ask("GET", LIST)[0],
                 server.ask("DELETE", LIST + "/x")[0]]
        expect(codes == [503] * 4, f"a root that is gone: {codes}")


def check_keys(program, root):
    """Each key has its own, up to its own limit; where there is no room the old one stays."""
    env = {**os.environ, "KEYS": "first second"}
    with Server(program, "--session-root", root, "--api-keys", "env:KEYS", "--key-sessions", "60000", env=env) as server:
        expect(server.ask("GET", LIST)[0] == 401 and server.ask("POST", SAVE, {"name": "a"})[0] == 401, "a key is needed")
        answer(server, VERSE, headers=key("first"))
        made = save(server, "a", headers=key("first"))[1]
        expect(names(server, key("first")) == ["a"] and names(server, key("second")) == [], "the other's are not listed")
        for method, path, body in (("POST", RESTORE, {"name": "a"}), ("DELETE", LIST + "/a", None)):
            expect(server.json(method, path, body, key("second"))[0] == 404, f"{path}: not there for the other")
        n = 1
        while save(server, f"b{n}", headers=key("first"))[0] == 200 and n < 100:
            n += 1
        status, told = save(server, "more", headers=key("first"))
        expect(status == 507 and told["error"]["code"] == "sessions_full" and told["error"]["type"] == "server_error" and n == 60000 // made["bytes"], f"full after {n}: {told}")
        listed = server.json("GET", LIST, headers=key("first"))[1]
        expect(listed["most_bytes"] == 60000 and listed["bytes"] == n * made["bytes"], f"{listed}")
        expect(save(server, "a", headers=key("first"))[0] == 200, "in the place of one there is room")
        expect(save(server, "a", headers=key("second"))[0] == 200 and names(server, key("second")) == ["a"], "and for the other key")
        server.ask("DELETE", LIST + "/b1", headers=key("first"))
        expect(save(server, "more", headers=key("first"))[0] == 200, "and when one is gone")
    expect(not any("first" in p.name or "second" in p.name for p in root.rglob("*")), "keys are in no name")
    with Server(program, "--session-root", root, "--api-keys", "env:KEYS", env={**os.environ, "KEYS": "second first"}) as server:
        expect("more" in names(server, key("first")) and names(server, key("second")) == ["a"], "whatever order keys have")


def check_beside_streams(program, root):
    """While the loading thread stands, a save waits, streams go on, and too many that wait are turned away; one whose client
    leaves ends, too. SIGTERM waits for what is under way."""
    with Server(program, "--session-root", root) as server:
        expect(answer(server, VERSE)[1] == 0, "cold")
        alone, codes = answer(server, "And")[0], []
        with standing(server, "infrt-load"):
            threads = [threading.Thread(target=lambda i=i: codes.append(save(server, f"s{i}")[0])) for i in range(70)]
            for t in threads:
                t.start()
            until("some are turned away", lambda: codes.count(429) >= 6)
            expect([answer(server, "And")[0] for _ in range(5)] == [alone] * 5, "answers do not wait for the disk")
        for t in threads:
            t.join()
        expect(codes.count(200) == 64 and codes.count(429) == 6, f"the others are saved: {sorted(codes)}")
        with standing(server, "infrt-load"):
            clients = [server.connect() for _ in range(8)]
            for i, s in enumerate(clients):
                s.sendall(post(SAVE, {"name": f"left{i}", "prompt": VERSE}))
            until("they wait", lambda: server.metric("infrt_sessions_waiting") == 8)
            for s in clients[:-1]:
                s.close()
            until("they leave", lambda: server.metric("infrt_connections") <= 2)
        expect(b"200 OK" in clients[-1].recv(1000), "who waits is served")
        saved = [n for n in names(server) if n.startswith("left")]
        expect(saved == ["left0", "left7"], f"D2: what had begun, and what somebody waits for: {saved}")
        with standing(server, "infrt-load"):
            left = server.connect()
            left.sendall(post(SAVE, {"name": "last", "prompt": VERSE}))
            until("it is under way", lambda: server.metric("infrt_sessions_waiting") == 1)
            server.process.terminate()
            time.sleep(0.1)
            left.close()
        expect(server.process.wait(20) == 0 and (root / "open/last.session").exists(), "saved before the end")


def check_small_cache(infc, source, work):
    """Sessions saved and restored beside answers, which keep their bits, in a cache that has no room for all: what it drives out
    makes a session shorter, or refused, and never wrong."""
    def blocks(server):
        return re.search(r'num_blocks="(\d+)"', server.ask("GET", "/metrics")[2].decode())[1]

    program = compile_tiny(infc, source, work / "float", "--set", "precision.kv=f16", "--set", "kv.memory=2MiB")
    root = work / "small"
    root.mkdir()
    with Server(program, "--kv-memory", "2MiB") as like, Server(program, "--kv-memory", "4MiB") as larger:
        wanted = blocks(like), blocks(larger)
    with Server(program, "--session-root", root) as server:
        expect(blocks(server) == wanted[0] != wanted[1], f"kv.memory of the spec: {blocks(server)} and {wanted}")
        at = random.Random(3)
        prompts = [[at.randrange(5, 900) for _ in range(200)] for _ in range(8)]
        cold = [answer(server, p, cache_salt=f"cold {i}")[0] for i, p in enumerate(prompts)]
        wrong = []

        def work_on(i):
            for turn in range(6):
                if answer(server, prompts[i])[0] != cold[i]:
                    wrong.append((i, turn))
                status, told = save(server, f"s{i}", prompts[i])
                if status not in (200, 409):
                    wrong.append(told)
                status, told = server.json("POST", RESTORE, {"name": f"s{(i + turn) % 8}"})
                if status not in (200, 404):
                    wrong.append(told)
        run_all([lambda i=i: work_on(i) for i in range(8)])
        expect(not wrong, f"beside each other: {wrong[:3]}")
        until("nothing is left", lambda: idle(server))


def check_killed(program, root):
    """SIGKILL while sessions are saved, at any time: each file is whole, old or new, and nothing is left behind for long."""
    at = random.Random(7)
    with Server(program, "--session-root", root) as server:
        answer(server, VERSE)
        expect(save(server, "one")[0] == 200, "the first")
    for turn in range(12):
        with Server(program, "--session-root", root) as server:
            texts = [VERSE, "Jesus wept. " * 20]
            for text in texts:
                answer(server, text)
            connection = http.client.HTTPConnection(*server.address)
            stop = time.monotonic() + at.uniform(0.001, 0.05)

            def go_on(connection=connection):
                try:
                    for i in range(1000):
                        body = json.dumps({"name": "one", "prompt": texts[i % 2]})
                        connection.request("POST", SAVE, body, {"Content-Type": "application/json"})
                        connection.getresponse().read()
                except (OSError, http.client.HTTPException):
                    pass
            thread = threading.Thread(target=go_on)
            thread.start()
            time.sleep(max(0, stop - time.monotonic()))
            server.process.kill()
            thread.join()
        with Server(program, "--session-root", root) as server:
            status = server.json("POST", RESTORE, {"name": "one"})[0]
            expect(status == 200, f"killed, time {turn}: {status}")
    (root / "open/one.session.part-1").write_bytes(b"x" * 1000)
    with Server(program, "--session-root", root) as server:
        server.json("GET", LIST)
        expect([p.name for p in (root / "open").iterdir()] == ["one.session"], f"left behind: {list((root / 'open').iterdir())}")


def main():
    infc, source, work = sys.argv[1], pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3]).resolve()
    shutil.rmtree(work, ignore_errors=True)
    program = compile_tiny(infc, source, work / "lm")
    other = compile_tiny(infc, source, work / "other", "--set", "precision.kv=f16")
    roots = [work / f"root {i}/sessions" for i in range(4)]
    for root in roots:
        root.mkdir(parents=True)
    check_restart(program, roots[0])
    check_refused(program, other, roots[0])
    check_names(program, roots[0])
    check_root_gone(program, roots[0])
    check_keys(program, roots[1])
    check_beside_streams(program, roots[2])
    check_small_cache(infc, source, work)
    check_killed(program, roots[3])
    finish("serve_sessions")


if __name__ == "__main__":
    main()
