#!/usr/bin/env python3
"""Adapters of examples/tiny-lm loaded, named, replaced and unloaded while its server runs.

usage: serve_adapters.py INFC SOURCE_DIR WORK_DIR
"""
import hashlib
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "llm"))
import adapters  # noqa: E402
import checkpoint  # noqa: E402
from serving import Server, compile_tiny, expect, finish, until  # noqa: E402

VERSE = "In the beginning God created the"
LOAD, UNLOAD = "/v1/load_lora_adapter", "/v1/unload_lora_adapter"


def norms_take(base, like, tensors):
    """The matrices of another adapter, and as magnitudes the norms that the rows have anyway: with DoRA it is what it is without."""
    tensors.update(checkpoint.read_safetensors(like / "adapter_model.safetensors"))
    for name in [n for n in tensors if n.endswith(".lora_magnitude_vector")]:
        module = name.removesuffix(".lora_magnitude_vector")
        a, b = (tensors[f"{module}.lora_{x}.weight"].astype(float) for x in "AB")
        weight = base[module.removeprefix("base_model.model.") + ".weight"].astype(float) + 2 * b @ a  # lora_alpha is twice the rank
        tensors[name][:] = (weight * weight).sum(1) ** 0.5


def make_adapters(source, root):
    tensors = checkpoint.read_safetensors(source / "examples/tiny-lm/model.safetensors")
    adapters.shapes = lambda: (("base_model.model." + n.removesuffix(".weight"), t.shape) for n, t in sorted(tensors.items())
                               if n.endswith("_proj.weight"))
    for i, name in enumerate("abcde"):
        adapters.write_adapter(root / name, seed=i, rank=2 + i)
    adapters.write_adapter(root / "deep", seed=9, rank=64)
    adapters.write_adapter(root / "dora", seed=8, rank=4, use_dora=True)
    adapters.write_adapter(root / "a-dora", seed=0, rank=2, use_dora=True, spoil=lambda t: norms_take(tensors, root / "a", t))
    adapters.write_adapter(root / "huge", seed=9, rank=4, spoil=lambda tensors: tensors.update({k: t * 1e30 for k, t in tensors.items()}))
    adapters.write_adapter(root / "single", seed=9, rank=4, spoil=lambda tensors: tensors[min(tensors)].__setitem__((0, 0), 1e38))
    shutil.copytree(root / "a", root / "hostile")
    whole = (root / "a/adapter_model.safetensors").read_bytes()
    (root / "hostile/adapter_model.safetensors").write_bytes(whole.replace(b"layers.0.", b"\\u001b[2J", 1))
    adapters.write_adapter(root.parent / "outside", seed=9, rank=4)
    (root / "link").symlink_to(root / "a")
    shutil.copytree(root / "a", root / "linked_file")
    (root / "linked_file/adapter_model.safetensors").unlink()
    (root / "linked_file/adapter_model.safetensors").symlink_to(root / "a/adapter_model.safetensors")
    shutil.copytree(root / "a", root / "cut")
    os.truncate(root / "cut/adapter_model.safetensors", 1000)


def answer(server, model, **more):
    status, made = server.json("POST", "/v1/completions", {"model": model, "prompt": VERSE, "max_tokens": 24, "temperature": 0,
                                                           **more})
    return made["choices"][0]["text"] if status == 200 else status


def load(server, name, path, **more):
    return server.ask("POST", LOAD, {"lora_name": name, "lora_path": str(path), **more})[0]


def check_answers(server, program, root):
    """L3: each answers as alone, in any order."""
    alone = {}
    for name in ("", "a", "b", "c"):
        words = [program, "run", "--prompt", VERSE, "--max-tokens", "24", "--json", *(["--adapter", root / name] if name else [])]
        alone[name] = json.loads(subprocess.run(words, capture_output=True, check=True).stdout)["text"]
    expect(len(set(alone.values())) == 4, "adapters change answers")
    begun = server.json("GET", "/v1/models/tiny_lm")[1]["created"]
    until("some time after the start", lambda: time.time() > begun + 1)
    asked = time.time()
    expect(load(server, "a", "a") == 200 and load(server, "b", root / "b") == 200, "below the root, relative or not")
    done = server.ask("POST", LOAD, {"lora_name": "c", "lora_path": "c"})
    expect(done[2] == b"Success: LoRA adapter 'c' added successfully.", "vLLM's words")
    for name in ("a", "", "b", "c", "a", ""):
        expect(answer(server, name or "tiny_lm") == alone[name], f"L3: {name or 'base'}")
    expect(answer(server, "tiny_lm:b") == alone["b"] and answer(server, "x:b") == 404, "base:name")
    made, threads = {}, []
    for i in range(16):
        name = ("", "a", "b", "c")[i % 4]
        threads.append(threading.Thread(target=lambda i=i, n=name: made.update({i: (n, answer(server, n or "tiny_lm"))})))
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    expect(all(text == alone[name] for name, text in made.values()), "L6: mixed in a batch, each as alone")
    listed = server.json("GET", "/v1/models")[1]["data"]
    expect([(m["id"], m["parent"]) for m in listed] == [("tiny_lm", None), *((n, "tiny_lm") for n in "abc")], "models")
    begun, loaded = listed[0]["created"], [m["created"] for m in listed[1:]]
    expect(all(begun < int(asked) <= t <= time.time() for t in loaded), f"created: {begun}, {loaded}, asked for at {asked}")
    expect(server.json("GET", "/v1/models/b")[1]["created"] == loaded[1], "and of one alone")
    states = server.json("GET", "/v1/lora_adapters")[1]["data"]
    expect([(a["name"], a["state"], a["rank"]) for a in states] == [(n, "ready", 2 + i) for i, n in enumerate("abc")], "states")
    return alone


def check_metric(server):
    """vllm:lora_requests_info: who runs, who waits (16 places, a after b), and when that was seen."""
    found = r'vllm:lora_requests_info{max_lora="4",running_lora_adapters="(.*)",waiting_lora_adapters="(.*)"} ([0-9.]+)'
    ask = lambda name, time: server.json("POST", "/v1/completions", {"model": name, "prompt": VERSE, "max_tokens": 400, "n": 16,
                                                                     "ignore_eos": True, "timeout": time})
    threads = [threading.Thread(target=ask, args=args) for args in (("b", 1), ("a", 2))]
    seen = set()
    for t in threads:
        t.start()
    while any(t.is_alive() for t in threads):
        running, waiting, when = re.search(found, server.ask("GET", "/metrics")[2].decode()).groups()
        expect(abs(float(when) - time.time()) < 5, f"the value is the time: {when}")
        seen.add((running, waiting))
        time.sleep(0.01)
    expect(any(r and w and r != w for r, w in seen) and seen & {("a", ""), ("b", "")}, f"adapters that run and wait: {seen}")
    until("none is named", lambda: re.search(found, server.ask("GET", "/metrics")[2].decode()).groups()[:2] == ("", ""))


def check_foreign(server, program, root):
    """An adapter whose shapes fit and that says it was made for another model is taken, and that is told."""
    shutil.copytree(root / "a", root / "foreign")
    config = json.loads((root / "foreign/adapter_config.json").read_text())
    for base, told in (("TinyLlama/TinyLlama-1.1B-Chat-v1.0", True), ("someone/tiny-lm", False)):
        (root / "foreign/adapter_config.json").write_text(json.dumps({**config, "base_model_name_or_path": base}))
        status, _, body = server.ask("POST", LOAD, {"lora_name": "foreign", "lora_path": "foreign"})
        expect(status == 200 and (b"made for " + base.encode() in body) == told, f"{base}: {body}")
        listed = [a.get("made_for") for a in server.json("GET", "/v1/lora_adapters")[1]["data"] if a["name"] == "foreign"]
        expect(listed == [base if told else None], f"{base}: {listed}")
        done = subprocess.run([program, "run", "--prompt", VERSE, "--max-tokens", "4", "--adapter", root / "foreign"],
                              capture_output=True, text=True)
        expect(done.returncode == 0 and (base in done.stderr) == told, f"{base}: {done.stderr}")
        expect(server.ask("POST", UNLOAD, {"lora_name": "foreign"})[0] == 200, "unloaded")


def check_changes(server, alone):
    expect(load(server, "a", "a") == 200, "L23: the same again is fine")
    expect(load(server, "a", "b") == 400, "another under its name is not")
    expect(load(server, "a", "b", load_inplace=True) == 200 and answer(server, "a") == alone["b"],
           "L1: replaced, and nothing of the old one is cached")
    expect(load(server, "d", "d") == 200 and load(server, "e", "e") == 200, "L2: more than fit: the idle one goes")
    listed = [m["id"] for m in server.json("GET", "/v1/models")[1]["data"][1:]]
    expect(len(listed) == 4 and {"d", "e"} <= set(listed), f"four are there: {listed}")
    expect(server.ask("POST", UNLOAD, {"lora_name": "e"})[0] == 200 and answer(server, "e") == 404, "unloaded")
    status, told = server.json("POST", UNLOAD, {"lora_name": "e"})
    expect(status == 404 and (told["error"]["code"], told["error"]["param"]) == ("model_not_found", "lora_name"), f"which is not there: {told}")
    for path, body in (("/detokenize", {"tokens": [5]}), ("/tokenize", {"prompt": "x"}), ("/v1/completions", {"prompt": "x"}),
                       ("/v1/chat/completions", {"messages": [{"role": "user", "content": "x"}]})):
        status, told = server.json("POST", path, {"model": "e", **body})
        expect(status == 404 and (told["error"]["code"], told["error"]["param"]) == ("model_not_found", "model"), f"{path}: {told}")


def check_names(server, program, root):
    """A name that requests could not tell from the base, or from base:name of another, is none. CVE-2025-23319, CVE-2025-23320,
    CVE-2025-23334: what is refused is told in the client's own words, none of ours."""
    for name in ("tiny_lm", "tiny_lm:a", "tiny_lm:"):
        status, told = server.json("POST", LOAD, {"lora_name": name, "lora_path": "a"})
        expect(status == 400 and told["error"]["param"] == "lora_name", f"the name {name!r}: {told}")
    expect(load(server, "tiny_lm2", "a") == 200 and answer(server, "tiny_lm2") != answer(server, "tiny_lm"), "a longer one is")
    ids = [m["id"] for m in server.json("GET", "/v1/models")[1]["data"]]
    expect(len(ids) == len(set(ids)), f"each id once: {ids}")
    made = subprocess.run([program, "serve", "--port", "0", "--adapter", f"tiny_lm={root / 'a'}"], capture_output=True, text=True)
    expect(made.returncode == 2 and "names the base" in made.stderr, f"nor at the start: {made}")
    made = subprocess.run([program, "run", "--adapter", "x=", "--prompt", "a"], capture_output=True, text=True)
    expect(made.returncode == 2 and "a folder is missing" in made.stderr, f"from nowhere: {made}")
    for path in ("cut", "deep"):
        told = server.json("POST", LOAD, {"lora_name": "x", "lora_path": path})[1]["error"]
        expect(told["message"].startswith(f"{path}/adapter_") and "/proc" not in told["message"] and told["param"] == "lora_path",
               f"the client's own words: {told}")


def check_sums(server, program, root):
    """One adapter that is a weighted sum of folders, as the command line makes it of the same."""
    sum_of = [{"lora_path": "a", "weight": 0.5}, {"lora_path": str(root / "b"), "weight": -1.5}]
    done = server.ask("POST", LOAD, {"lora_name": "mix", "sum": sum_of})
    expect(done[0] == 200, f"a sum is loaded: {done[2]}")
    words = [program, "run", "--prompt", VERSE, "--max-tokens", "24", "--json", "--adapter", f"mix=0.5*{root / 'a'},-1.5*{root / 'b'}"]
    want = json.loads(subprocess.run(words, capture_output=True, check=True).stdout)["text"]
    expect(answer(server, "mix") == want and want not in (answer(server, "tiny_lm"), answer(server, "a")), f"a sum's answer: {want!r}")
    ranks = {a["name"]: a["rank"] for a in server.json("GET", "/v1/lora_adapters")[1]["data"]}
    expect(ranks["mix"] == 5, f"its rank is that of all together: {ranks}")
    for what, body, param in [("outside", [{"lora_path": "../outside"}], "lora_path"), ("no list", {"a": 1}, "sum"), ("no path", [{"weight": 1}], "sum"),
                              ("another key", [{"lora_path": "a", "scale": 1}], "sum"), ("no number", [{"lora_path": "a", "weight": "1"}], "sum"),
                              ("too many", [{"lora_path": "a"}] * 9, "sum"), ("none", [], "sum"),
                              ("a broken one", [{"lora_path": "a"}, {"lora_path": "cut"}], "lora_path")]:
        status, told = server.json("POST", LOAD, {"lora_name": "y", "sum": body})
        expect(status in (400, 403) and told["error"]["param"] == param, f"a sum of {what}: {told}")
    told = server.json("POST", LOAD, {"lora_name": "y", "sum": sum_of, "lora_path": "a"})
    expect(told[0] == 400, f"both: {told}")
    told = server.json("POST", LOAD, {"lora_name": "y", "sum": [{"lora_path": "a", "weight": 1e30}]})
    expect(told[0] == 400 and "1000" in told[1]["error"]["message"], f"a weight without bounds: {told}")
    expect(server.ask("POST", UNLOAD, {"lora_name": "mix"})[0] == 200 and answer(server, "mix") == 404, "and it goes")


def check_digest(server, root, alone):
    """expected_sha256: of the weights that are loaded, whoever may write the folder meanwhile."""
    of = lambda name: hashlib.sha256((root / name / "adapter_model.safetensors").read_bytes()).hexdigest()
    expect(load(server, "pin", "a", expected_sha256=of("a").upper()) == 200 and load(server, "pin", "a", expected_sha256=None) == 200, "as it says")
    status, told = server.json("POST", LOAD, {"lora_name": "pin", "lora_path": "b", "load_inplace": True, "expected_sha256": of("a")})
    expect(status == 400 and told["error"]["message"] == f"b/adapter_model.safetensors: its SHA-256 is {of('b')}, not what expected_sha256 says",
           f"not as it says: {told}")
    expect(answer(server, "pin") == alone["a"], "and what was there stays")
    good = [{"lora_path": "a", "expected_sha256": of("a")}, {"lora_path": "b", "expected_sha256": of("b")}]
    expect(server.ask("POST", LOAD, {"lora_name": "pins", "sum": good})[0] == 200, "of each part of a sum")
    good[1]["expected_sha256"] = of("a")
    expect(server.json("POST", LOAD, {"lora_name": "pins", "sum": good, "load_inplace": True})[1]["error"]["message"].startswith("b/adapter_model"), "of one")
    for wrong in ("", "x" * 64, of("a")[:63], of("a") + "0", 3, [of("a")]):
        told = server.json("POST", LOAD, {"lora_name": "y", "lora_path": "a", "expected_sha256": wrong})[1]["error"]
        expect(told["param"] == "expected_sha256", f"{wrong!r}: {told}")
    told = server.json("POST", LOAD, {"lora_name": "y", "sum": good, "expected_sha256": of("a")})[1]["error"]
    expect(told["param"] == "expected_sha256" and "each part" in told["message"], f"beside a sum: {told}")
    told = server.json("POST", LOAD, {"lora_name": "y", "lora_path": "a", "pinned": True})[1]["error"]
    expect(told["param"] == "pinned" and "not supported" in told["message"], f"SGLang's pinned: {told}")
    for more in ({"expected_sha": of("a")}, {"load_in_place": True}, {"weight": 1}, {"added_tokens_config": {}}):
        told = server.json("POST", LOAD, {"lora_name": "y", "lora_path": "a"} | more)[1]["error"]
        expect(told["param"] == [*more][0] and "expected_sha256" in told["message"], f"a field that nobody knows: {told}")
    told = server.json("POST", LOAD, {"lora_name": "y", "sum": []})[1]["error"]
    expect(told["param"] == "sum" and "at least one" in told["message"], f"an empty sum: {told}")
    known = {"pinned": False, "is_3d_lora_weight": None, "added_tokens_config": None, "lora_int_id": 3, "sum": None}
    expect(server.ask("POST", LOAD, {"lora_name": "y", "lora_path": "a"} | known)[0] == 200, "fields of others that change nothing")
    for name in ("pin", "pins", "y"):
        server.ask("POST", UNLOAD, {"lora_name": name})


def check_dora(server, program, root):
    """Loaded beside others while they answer; no part of a sum."""
    words = [program, "run", "--prompt", VERSE, "--max-tokens", "24", "--json", "--adapter", root / "dora"]
    want = json.loads(subprocess.run(words, capture_output=True, check=True).stdout)["text"]
    expect(load(server, "dora", "dora") == 200 and answer(server, "dora") == want, f"DoRA: as alone: {want!r}")
    expect(load(server, "a-dora", "a-dora") == 200 and load(server, "a-plain", "a") == 200, "one whose magnitudes are the norms that are there")
    ask = lambda name: server.json("POST", "/v1/completions", {"model": name, "prompt": VERSE, "max_tokens": 4, "temperature": 0, "logprobs": 1})[1]
    with_, without, base = (ask(n)["choices"][0]["logprobs"] for n in ("a-dora", "a-plain", "tiny_lm"))
    expect(with_["tokens"] == without["tokens"] != base["tokens"], f"it says what it does without DoRA: {with_} {without}")
    apart = max(abs(x - y) for x, y in zip(with_["token_logprobs"], without["token_logprobs"]))
    expect(0 < apart < 0.05, f"but for the rounding of the weights, which are of 8 bits: {apart}")
    status, told = server.json("POST", LOAD, {"lora_name": "y", "sum": [{"lora_path": "dora"}, {"lora_path": "a"}]})
    expect(status == 400 and told["error"]["message"].startswith("dora/adapter_config.json: use_dora"), f"DoRA in a sum: {told}")
    expect(server.ask("POST", UNLOAD, {"lora_name": "dora"})[0] == 200 and answer(server, "dora") == 404, "DoRA: and it goes")


def check_gone(server):
    """An adapter that is unloaded between a request's arrival and its turn: 404 as at any other time."""
    seen, going = set(), True

    def ask():
        while going:
            seen.add(server.ask("POST", "/v1/completions", {"model": "a", "prompt": VERSE, "max_tokens": 1})[0])

    threads = [threading.Thread(target=ask) for _ in range(8)]
    for t in threads:
        t.start()
    for _ in range(150):
        load(server, "a", "a", load_inplace=True)
        server.ask("POST", UNLOAD, {"lora_name": "a"})
    going = False
    for t in threads:
        t.join()
    expect(seen == {200, 404}, f"statuses {seen}")


def check_refused(server, root):
    """CVE-2024-37032: paths that leave the root, links, files that are broken: each with its status, and the server goes on."""
    for what, path, status in [("outside", root.parent / "outside", 403), ("..", "../outside", 403),
                               ("a/../..", "a/../../outside", 403), ("a link", "link", 403), ("a linked file", "linked_file", 404), ("nothing", "nothing", 404),
                               ("the root", root, 403), ("/etc", "/etc", 403), ("L17: the rank", "deep", 400),
                               ("a file that is cut", "cut", 400), ("no name", "", 400)]:
        expect(load(server, "x", path) == status, f"{what}: {load(server, 'x', path)}")
    for name in ("", "a b", "x" * 129, "ä", "../x"):
        expect(load(server, name, "a") == 400, f"the name {name!r}")
    for what, body, param, text in [
        ("a long name", {"lora_name": "x" * 129, "lora_path": "a"}, "lora_name", "at most 128 bytes"),
        ("a long path", {"lora_name": "x", "lora_path": "a" * 1024}, "lora_path", "at most 1023 bytes"),
        ("a long path in a sum", {"lora_name": "x", "sum": [{"lora_path": "a" * 1024}]}, "lora_path", "at most 1023 bytes"),
        ("a weight", {"lora_name": "x", "sum": [{"lora_path": "a", "weight": 1001}]}, "sum", "from -1000 to 1000"),
        ("another root", {"lora_name": "x", "lora_path": "/etc"}, "lora_path", '"/etc" is not below --adapter-root; give a path relative to it'),
        ("nothing", {"lora_name": "x", "lora_path": "nothing/b"}, "lora_path", 'there is no folder "nothing" below --adapter-root'),
        ("..", {"lora_name": "x", "lora_path": "a/../b"}, "lora_path", '"a/..": only folders below --adapter-root'),
        ("a link", {"lora_name": "x", "lora_path": "link"}, "lora_path", '"link": a link or no folder'),
        ("a linked file", {"lora_name": "x", "lora_path": "linked_file"}, "lora_path", '"linked_file": adapter_model.safetensors is a link'),
        ("no adapter", {"lora_name": "x", "lora_path": "."}, "lora_path", '".": adapter_config.json is not there'),
    ]:
        made = server.json("POST", LOAD, body)[1]["error"]
        expect(made["param"] == param and text in made["message"] and str(root) not in made["message"], f"{what}: {made}")
    rule = server.json("GET", "/v1/lora_adapters")[1]["lora_path"]
    expect("below --adapter-root" in rule and str(root) not in rule, f"what is looked for: {rule}")
    last = [line for line in server.requests() if line["event"] == "adapter_load"][-1]
    expect((last["source"], last["status"], last["adapter_root"]) == (".", 404, str(root)), f"the log tells where: {last}")
    expect(server.ask("POST", LOAD, {"lora_name": 3, "lora_path": "a"})[0] == 400, "a name that is no text")
    expect(server.ask("POST", LOAD, b"{")[0] == 400, "no JSON")
    expect(answer(server, "x") == 404 and server.ask("GET", "/health")[0] == 200, "nothing of it is there")


def check_overflow(server, program, root):
    """An adapter whose numbers overflow is named, by answers, the log and the program; others go on."""
    expect(load(server, "huge", "huge") == 200, "it is loaded")
    asked = {"model": "huge", "prompt": VERSE, "max_tokens": 4}
    status, made = server.json("POST", "/v1/completions", asked)
    expect(status == 500 and 'adapter "huge" gives no numbers' in made["error"]["message"], f"the answer: {status} {made}")
    told = server.ask("POST", "/v1/completions", {**asked, "stream": True})[2]
    expect(b'adapter \\"huge\\" gives no numbers' in told, f"the stream: {told}")
    lines = [r.get("error", "") for r in server.requests() if r.get("model") == "huge"]
    expect(len(lines) == 2 and all('adapter "huge" gives no numbers' in line for line in lines), f"the log: {lines}")
    expect(isinstance(answer(server, "tiny_lm"), str), "the base answers")
    for words in (["run", "--prompt", VERSE, "--max-tokens", "4"], ["bench", "--prompt-tokens", "8", "--tokens", "2"]):
        done = subprocess.run([program, *words, "--adapter", root / "huge"], capture_output=True, text=True)
        expect(done.returncode == 3 and 'adapter "huge" gives no numbers' in done.stderr, f"{words[0]}: {done.returncode} {done.stderr}")


def check_log(program, root):
    """A line for each adapter that comes, is replaced or refused, goes, or gives way, and whence it came."""
    shutil.copytree(root / "a", root / "log/foreign")
    config = json.loads((root / "a/adapter_config.json").read_text())
    (root / "log/foreign/adapter_config.json").write_text(json.dumps({**config, "base_model_name_or_path": "someone/else"}))
    with Server(program, "--adapter-root", root / "log/..", "--adapter", root / "log/foreign") as server:
        told = server.requests()
        expect([line["event"] for line in told] == ["warning", "adapter_root", "adapter_load"] and all([*line][0] == "time" for line in told),
               f"at the start: {server.log()}")
        expect('"foreign" says that it was made for someone/else' in told[0]["text"] and told[1]["path"] == str(root) and told[2]["name"] == "foreign"
               and told[2]["result"] == "at the start" and told[2]["bytes"] > 0, f"each with what it is about: {told}")
        server.ask("POST", LOAD, {"lora_name": "x", "sum": [{"lora_path": "a", "weight": 0.5}, {"lora_path": "b"}]}, ("X-Request-Id: one",))
        for name, path in (("b", "b"), ("c", "c"), ("c", "c"), ("c", "d"), ("d", "d"), ("y", "cut"), ("z", 'no"thing')):
            load(server, name, path)
        load(server, "c", "d", load_inplace=True)
        for name in ("c", "c"):
            server.ask("POST", UNLOAD, {"lora_name": name})
        server.ask("POST", LOAD, {"lora_name": "k", "lora_path": "a", "nobody": 1})
        lines = [line for line in server.requests()[3:] if line["event"].startswith("adapter_")]
    said = [(line["event"], line["name"], line.get("source"), line.get("result"), line.get("status"), line.get("code")) for line in lines]
    expect(said == [("adapter_load", "x", "0.5*a,1*b", "loaded", None, None), ("adapter_load", "b", "b", "loaded", None, None),
                    ("adapter_load", "c", "c", "loaded", None, None), ("adapter_load", "c", "c", "unchanged", None, None),
                    ("adapter_load", "c", "d", "refused", 400, None), ("adapter_load", "d", "d", "loaded", None, None),
                    ("adapter_evict", "x", None, None, None, None), ("adapter_load", "y", "cut", "refused", 400, None),
                    ("adapter_load", "z", 'no"thing', "refused", 404, None), ("adapter_load", "c", "d", "replaced", None, None),
                    ("adapter_unload", "c", None, "unloaded", None, None), ("adapter_unload", "c", None, "refused", 404, "model_not_found"),
                    ("adapter_load", "k", "a", "refused", 400, None)], f"in this order: {said}")
    expect(lines[0]["request_id"] == "one" and lines[0]["bytes"] > 0 and lines[0]["ms"] > 0 and lines[6]["for"] == "d", f"further members: {lines}")
    expect(all("error" in line and line["adapter_root"] == str(root) for line in lines if line.get("result") == "refused"), f"why, and where: {lines}")
    expect(lines[7]["error"].startswith("cut/adapter_model.safetensors"), f"in the client's words: {lines[7]}")


def check_overflow_beside(program, root, alone):
    """One weight of 1e38, finite and too large: the base and other adapters answer as ever, in the same steps, and from
    the blocks of the cache that such an answer has left behind."""
    with Server(program, "--adapter-root", root, "--kv-memory", "110592") as server:
        expect(load(server, "single", "single") == 200 and load(server, "a", "a") == 200, "loaded")
        for _ in range(3):
            made, names = {}, ("single", "tiny_lm", "a", "tiny_lm", "single", "a")
            threads = [threading.Thread(target=lambda i=i, n=n: made.update({i: (n, answer(server, n))})) for i, n in enumerate(names)]
            for t in threads:
                t.start()
            for t in threads:
                t.join()
            want = {"single": 500, "tiny_lm": alone[""], "a": alone["a"]}
            expect(len(made) == 6 and all(got == want[name] for name, got in made.values()), f"beside what overflows: {made}")
            expect(answer(server, "tiny_lm") == alone[""] and answer(server, "a") == alone["a"], "and after it")


def check_pinned(infc, source, program, root, alone):
    """Those that are there from the start stay, however many others come; until they are unloaded."""
    listed = lambda: {a["name"]: a["pinned"] for a in server.json("GET", "/v1/lora_adapters")[1]["data"]}
    with Server(program, "--adapter-root", root, "--adapter", root / "a", "--adapter", f"second={root / 'b'}") as server:
        for name in "cdec":
            expect(load(server, name, name) == 200 and isinstance(answer(server, name), str), f"{name} has room")
        expect(listed() == {"a": True, "second": True, "c": False, "e": False}, f"pinned: {listed()}")
        expect(answer(server, "a") == alone["a"] and answer(server, "second") == alone["b"], "pinned ones answer")
        expect(load(server, "a", "c", load_inplace=True) == 200 and answer(server, "a") == alone["c"], "one is replaced")
        expect(load(server, "d", "d") == 200 and load(server, "x", "d") == 200 and listed()["a"], f"and stays: {listed()}")
        expect(server.ask("POST", UNLOAD, {"lora_name": "a"})[0] == 200 and load(server, "c", "c") == 200, "one is unloaded")
        expect(load(server, "e", "e") == 200 and "a" not in listed() and listed()["second"], f"and is gone: {listed()}")
    spec = f"[{{name: p, path: {root / 'a'}}}, {{name: q, path: {root / 'b'}}}]"
    program = compile_tiny(infc, source, root.parent / "preload", "--set", "adapters.max_loaded=2", "--set", f"adapters.preload={spec}")
    with Server(program, "--adapter-root", root) as server:
        status, told = server.json("POST", LOAD, {"lora_name": "c", "lora_path": "c"})
        expect(status == 409 and "there from the start" in told["error"]["message"], f"all are pinned: {status} {told}")
        expect(listed() == {"p": True, "q": True} and answer(server, "p") == alone["a"], f"as the spec says: {listed()}")
        expect(load(server, "q", "c", load_inplace=True) == 200 and answer(server, "q") == alone["c"], "one is replaced")
    for name in ("tiny_lm", "tiny_lm:x"):
        done = subprocess.run([infc, "compile", source / "examples/tiny-lm", "-o", root.parent / "none", "--set",
                               f"adapters.preload=[{{name: '{name}', path: x}}]"], capture_output=True, text=True)
        expect(done.returncode == 2 and "names the base" in done.stderr, f"a preloaded {name}: {done.stderr}")


def check_hostile(program, root):
    """What a file says does not steer a terminal."""
    done = subprocess.run([program, "run", "--prompt", VERSE, "--adapter", root / "hostile"], capture_output=True, text=True)
    expect(done.returncode == 3 and "\x1b" not in done.stderr and "\\x1b[2J" in done.stderr, f"ESC in a name: {done.stderr!r}")


def check_none(infc, source, work):
    """A folder of adapters is nothing for a model that takes none: refused in a spec, too."""
    done = subprocess.run([infc, "compile", source / "examples/tiny-lm", "-o", work / "none", "--set", "serve.adapter_root=x"],
                          capture_output=True, text=True)
    expect(done.returncode == 2 and "adapters.max_loaded" in done.stderr, f"serve.adapter_root: {done.stderr}")


def prepared(max_loaded):
    """By the words of a test's command line -> the program of examples/tiny-lm, a folder of adapters for it"""
    infc, source, work = sys.argv[1], pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3]).resolve()
    shutil.rmtree(work, ignore_errors=True)
    root = work / "adapters"
    root.mkdir(parents=True)
    make_adapters(source, root)
    return compile_tiny(infc, source, work / "lm", "--set", f"adapters.max_loaded={max_loaded}"), root


def main():
    program, root = prepared(max_loaded=4)
    with Server(program, "--adapter-root", root) as server:
        alone = check_answers(server, program, root)
        check_metric(server)
        check_changes(server, alone)
        check_names(server, program, root)
        check_refused(server, root)
        check_sums(server, program, root)
        check_digest(server, root, alone)
        check_dora(server, program, root)
        check_foreign(server, program, root)
        check_gone(server)
        check_overflow(server, program, root)
        expect(server.stop() == 0, "SIGTERM: exit code 0")
    (root.parent / "sessions").mkdir()
    with Server(program, "--adapter", root / "a", "--adapter", f"second={root / 'b'}", "--session-root", root.parent / "sessions") as server:
        for name, model in (("x", "tiny_lm"), ("y", "second")):
            answer(server, model, prompt=VERSE * 8)
            status, made = server.json("POST", "/v1/sessions/save", {"name": name, "prompt": VERSE * 8, "model": model})
            expect(status == 200, f"session {name}: {made}")
        listed = [(s["name"], s["model"], s["adapter"]) for s in server.json("GET", "/v1/sessions")[1]["data"]]
        expect(listed == [("x", "tiny_lm", None), ("y", "tiny_lm", "second")], f"sessions and what they are of: {listed}")
        for name, model, text in (("x", "second", 'without an adapter, not with "second"'), ("y", "tiny_lm", 'with the adapter "second", not without one'),
                                  ("y", "a", 'with the adapter "second", not with "a"')):
            status, told = server.json("POST", "/v1/sessions/restore", {"name": name, "model": model})
            expect(status == 422 and told["error"]["message"].endswith(text), f"session {name} for {model}: {told}")
        expect(answer(server, "a") == alone["a"] and answer(server, "second") == alone["b"], "loaded at the start")
        expect(load(server, "x", "a") == 403, "without a root none are loaded")
    check_log(program, root)
    check_overflow_beside(program, root, alone)
    check_pinned(sys.argv[1], pathlib.Path(sys.argv[2]), program, root, alone)
    check_hostile(program, root)
    check_none(sys.argv[1], pathlib.Path(sys.argv[2]), root.parent)
    finish("serve_adapters")


if __name__ == "__main__":
    main()
