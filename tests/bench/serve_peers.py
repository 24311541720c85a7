#!/usr/bin/env python3
"""The server of a language model beside llama.cpp's, in turns in one run; prints RESULT lines.

usage: serve_peers.py INFC SOURCE_DIR WORK_DIR [--parts clients,..] [--models smollm2,tinyllama]
                      [--engines infc,llama_server] [--seconds N]

Never part of the tests. What it needs, it makes once in WORK_DIR, as llm_peers.py does, and llama.cpp's server. Prompts
are lists of random ids (seeded); the client runs niced, but where gaps between tokens are measured: with as many workers
as CPUs it would see tokens when it is let, not when they come. Both servers are asked for the same: two threads, 16
answers at a time, greedy, no end tokens.
- clients: 1, 4 and 16 clients, each asking again once it was answered: prompts of 128, answers of 64; tokens per second.
- prefill: 8 streams while a ninth client sends prompts of 2000 tokens; the 99th percentile of the time between two
  tokens, relative to the same streams alone; infc without and with --target-itl.
- prefix: time to the first token of a prompt whose first 1024 tokens were seen, relative to one that is new.
- lora (infc): 16 clients with none, with one and with four adapters of rank 32 (q and v; random), in turns; the loss of
  tokens per second.
- loads (infc): 8 streams while adapters are loaded and unloaded, 50 times; as prefill, and whether texts stay the same.
- overload (infc): requests at ten times the rate that 16 clients get, for --seconds, each on a connection of its own;
  answers finished in that time relative to these, growth of memory, how many were refused, what the client itself took.
"""
import argparse
import asyncio
import contextlib
import os
import pathlib
import random
import socket
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parents[0] / "e2e"), str(HERE.parents[0] / "llm")]
import adapters_bench  # noqa: E402
import llm_peers  # noqa: E402
import model_files  # noqa: E402
from serve_client import closed_loop, complete, completion, median, percentile, post, request_of, status_of, times_of  # noqa: E402

ANSWERS = 16
CONTEXT = 4096
TARGET = 1.25  # --target-itl by the time of a step of 8 streams alone


def build_server(work):
    """llama.cpp's server, of the same source as llm_peers.py takes"""
    server = work / "llama-server-build/bin/llama-server"
    if server.exists():
        return server
    llm_peers.build(work)
    options = ["GGML_NATIVE=ON", "GGML_OPENMP=ON", "LLAMA_BUILD_TESTS=OFF", "LLAMA_BUILD_EXAMPLES=OFF", "LLAMA_BUILD_TOOLS=ON",
               "LLAMA_BUILD_SERVER=ON", "LLAMA_BUILD_COMMON=ON", "LLAMA_BUILD_APP=OFF", "LLAMA_OPENSSL=OFF",
               "LLAMA_USE_PREBUILT_UI=OFF"]  # fmt: skip
    folder = server.parents[1]
    llm_peers.command("cmake", "-S", work / "llama.cpp", "-B", folder, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release",
                      *("-D" + o for o in options))  # fmt: skip
    llm_peers.command("cmake", "--build", folder, "--target", "llama-server")
    return server


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


@contextlib.contextmanager
def running(words):
    """A server that is ready -> port, process"""
    port = free_port()
    with subprocess.Popen([str(w) for w in [*words, "--port", port]], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        try:
            for _ in range(300):
                with contextlib.suppress(OSError, ValueError, IndexError):
                    if asyncio.run(post(port, "/v1/completions", {"prompt": [1, 2], "max_tokens": 1}))[0] == 200:
                        break
                if process.poll() is not None:
                    raise SystemExit(f"{words[0]} has ended: {process.returncode}")
                time.sleep(0.1)
            else:
                raise SystemExit(f"{words[0]} does not answer")
            yield port, process
        finally:
            process.terminate()
            process.wait(30)


class Setup:
    def __init__(self, name, servers, vocab, seconds):
        self.name, self.servers, self.vocab, self.seconds = name, servers, vocab, seconds
        self.infc = servers.get("infc")

    def prompts(self, length, salt=0):
        def ids(client, turn):
            numbers = random.Random(f"{salt}/{client}/{turn}")
            return [numbers.randrange(300, self.vocab) for _ in range(length)]

        return ids

    def result(self, name, value):
        print(f"RESULT {self.name}.{name} {value:.3g}", flush=True)


def part_clients(s):
    speeds = {}
    for engine, words in s.servers.items():
        with running(words) as (port, _):
            for clients in (1, 4, 16):
                answers, speed = asyncio.run(closed_loop(port, clients, s.seconds, s.prompts(128), 64))
                if not speed:
                    raise SystemExit(f"{engine}, {clients} clients: no token in {s.seconds:g} seconds; more --seconds")
                speeds[engine, clients] = speed
                print(f"{s.name}: {engine}, {clients} clients: {speed:.1f} tokens/s, {times_of(answers)}", flush=True)
    for clients in (1, 4, 16):
        for engine in s.servers:
            s.result(f"{engine}.clients{clients}.throughput", speeds[engine, clients])
        if len(s.servers) == 2:
            s.result(f"clients{clients}.throughput.vs_llama_server", speeds["infc", clients] / speeds["llama_server", clients])


async def streams(port, prompts, n, tokens, beside):
    """n streams, and what `beside(until)` does meanwhile -> answers"""
    until = asyncio.Event()
    other = asyncio.create_task(beside(until))
    answers = await asyncio.gather(*(complete(port, prompts(i, 0), tokens) for i in range(n)))
    until.set()
    await other
    return answers


async def nothing(until):
    await until.wait()


def gap99(answers):
    return percentile([g for a in answers for g in a.gaps], 0.99)


def part_prefill(s):
    for engine, words in s.servers.items():
        with running(words) as (port, _):
            alone = asyncio.run(streams(port, s.prompts(32, "a"), 8, 200, nothing))
        print(f"{s.name}: {engine}, 8 streams alone: {times_of(alone)}")
        target = median([g for a in alone for g in a.gaps]) * TARGET
        for name, more in ((engine, []), ("infc.target_itl", ["--target-itl", f"{target * 1e6:.0f}us"])):
            if not name.startswith(engine):
                continue
            with running([*words, *more]) as (port, _):
                sent = []

                async def prefill(until):
                    while not until.is_set():
                        sent.append(await complete(port, s.prompts(2000, "long")(0, len(sent)), 1))

                busy = asyncio.run(streams(port, s.prompts(32, "b"), 8, 200, prefill))
            print(f"{s.name}: {name}, beside {len(sent)} prompts of 2000: {times_of(busy)}", flush=True)
            s.result(f"{name}.itl99.prefill_vs_idle", gap99(busy) / gap99(alone))


def part_prefix(s):
    for engine, words in s.servers.items():
        with running(words) as (port, _):
            news, agains = [], []
            for turn in range(5):
                begin = s.prompts(1024, "shared")(0, turn)
                for which in (news, agains):
                    answer = asyncio.run(complete(port, begin + s.prompts(16, "end")(turn, len(which)), 4))
                    which.append(answer.first)
            print(f"{s.name}: {engine}: first token of 1040 after {median(news) * 1e3:.1f} ms, with a known beginning {median(agains) * 1e3:.1f} ms")
            s.result(f"{engine}.prefix.second_vs_first", median(agains) / median(news))


async def load(port, name, folder):
    status, body = await post(port, "/v1/load_lora_adapter", {"lora_name": name, "lora_path": folder})
    if status != 200:
        raise SystemExit(f"adapter {folder}: status {status}: {body.decode()}")


def part_lora(s):
    """In turns, so that a machine whose speed moves meets all alike: each beside what was before and after it without."""
    with running(s.infc) as (port, _):
        for i in range(4):
            asyncio.run(load(port, f"qv{i}", f"qv{i}"))

        async def loop(n):
            models = [{}] if n == 0 else [{"model": f"qv{i}"} for i in range(n)]
            each = ANSWERS // len(models)
            groups = [closed_loop(port, each, s.seconds, s.prompts(32, m["model"] if m else "base"), 64, **m) for m in models]
            return sum(speed for _, speed in await asyncio.gather(*groups))

        turns = [(n, asyncio.run(loop(n))) for n in (0, 1, 0, 4) * 6 + (0,)]
    for n in (1, 4):
        costs = [1 - 2 * turns[i][1] / (turns[i - 1][1] + turns[i + 1][1]) for i in range(1, len(turns), 2) if turns[i][0] == n]
        print(f"{s.name}: {n} adapters cost {', '.join(f'{c:.3f}' for c in costs)} of the tokens per second", flush=True)
        s.result(f"lora{n}.cost", median(costs))


def part_loads(s):
    """In turns, thrice: how the client's own process is scheduled shows in the 99th percentile of one turn."""
    alone, busy, loads = [], [], []
    with running(s.infc) as (port, _):
        for _ in range(3):
            count = len(loads) + 50

            async def loading(until):
                while not until.is_set() and len(loads) < count:
                    begin = time.monotonic()
                    await load(port, f"hot{len(loads) % 4}", f"qv{len(loads) % 4}")
                    await post(port, "/v1/unload_lora_adapter", {"lora_name": f"hot{len(loads) % 4}"})
                    loads.append(time.monotonic() - begin)
                await until.wait()

            alone += asyncio.run(streams(port, s.prompts(32, "a"), 8, 800, nothing))
            busy += asyncio.run(streams(port, s.prompts(32, "a"), 8, 800, loading))
        print(f"{s.name}: 8 streams alone: {times_of(alone)}")
        print(f"{s.name}: beside {len(loads)} loads of {median(loads) * 1e3:.1f} ms: {times_of(busy)}", flush=True)
        s.result("loads.itl99.vs_idle", gap99(busy) / gap99(alone))
        s.result("loads.texts_changed", sum(a.text != b.text for a, b in zip(alone, busy)))


def memory_of(process):
    fields = pathlib.Path(f"/proc/{process.pid}/status").read_text().split("VmRSS:")[1].split()
    return int(fields[0]) * 1024


def part_overload(s):
    def request(i):
        return request_of("/v1/completions", completion(s.prompts(64, "over")(i, 0), 32), "Connection: close")

    async def overload(port, process, rate):
        requests = [request(i) for i in range(int(rate * s.seconds))]
        counts, tasks, memory = {}, [], []

        async def one(bytes):
            status = await status_of(port, bytes)
            counts[status] = counts.get(status, 0) + 1

        begin = time.monotonic()
        while (now := time.monotonic() - begin) < s.seconds:
            tasks += (asyncio.create_task(one(r)) for r in requests[len(tasks) : int(rate * now)])
            if len(memory) <= 2 * now:
                memory.append(memory_of(process))
            await asyncio.sleep(0.005)
        done = counts.get(200, 0)
        await asyncio.gather(*tasks)
        return counts, done, memory

    with running([*s.infc, "--kv-memory", "128MiB"]) as (port, process):  # soon full: what grows then is a leak
        begin = time.monotonic()
        answers, _ = asyncio.run(closed_loop(port, ANSWERS, s.seconds, s.prompts(64, "peak"), 32))
        peak = sum(a.status == 200 and a.times[-1] < begin + s.seconds for a in answers) / s.seconds
        ours = time.process_time()
        counts, done, memory = asyncio.run(overload(port, process, 10 * peak))
        ours = time.process_time() - ours
        print(f"{s.name}: {counts}, peak {peak:.1f}/s, the client took {ours:.1f} s of the CPUs' {2 * s.seconds:.0f}", flush=True)
        s.result("overload.goodput_vs_peak", done / s.seconds / peak)
        s.result("overload.refused", counts.get(429, 0))
        # Blocks of the cache are memory when they are first used: the peak's time and half of this one fill them.
        s.result("overload.memory_growth_mb", (memory[-1] - memory[len(memory) // 2]) / 1e6)
        print(f"{s.name}: memory " + " ".join(f"{m / 1e6:.0f}" for m in memory[:: max(1, len(memory) // 12)]), "MB")


OF_GAPS = ("prefill", "loads")
INFC_ONLY = ("lora", "loads", "overload")
PARTS = {n.removeprefix("part_"): f for n, f in list(globals().items()) if n.startswith("part_")}


def options():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("infc", type=pathlib.Path)
    arguments.add_argument("source", type=pathlib.Path)
    arguments.add_argument("work", type=pathlib.Path)
    arguments.add_argument("--parts", type=lambda t: t.split(","), default=list(PARTS))
    arguments.add_argument("--models", default="smollm2,tinyllama")
    arguments.add_argument("--engines", type=lambda t: t.split(","), default=["infc", "llama_server"])
    arguments.add_argument("--seconds", type=float, default=20)
    o = arguments.parse_args()
    for part in o.parts:
        if part not in PARTS:
            arguments.error(f"there is no part {part}: {', '.join(PARTS)}")
    return o


def adapters(work, name, gguf):
    """Four random ones of rank 32 -> the folder they are in"""
    root = work / f"{name}-adapters"
    for i in range(4):
        if not (root / f"qv{i}").exists():
            adapters_bench.write_adapter(root / f"qv{i}", adapters_bench.linear_layers(gguf), 32, i, ["q_proj", "v_proj"])
    return root


def main():
    o = options()
    work = o.work.resolve()
    work.mkdir(parents=True, exist_ok=True)
    llama_server = build_server(work)
    settings = ["adapters.max_loaded=8", f"batch.max_sequences={ANSWERS}"]
    for name in o.models.split(","):
        if name == "smollm2":
            gguf = whole = model_files.fetch(work, llm_peers.SMOLLM2)
            config, _ = llm_peers.checkpoint.read_gguf(gguf)
        else:
            _, (gguf, *_) = llm_peers.tinyllama(work, llm_peers.build(work))
            config, whole = llm_peers.TINYLLAMA, work / "tinyllama-F16.gguf"  # with a tokenizer, which the folder does not have
            settings.append("precision.weights=int4")
        context = min(CONTEXT, config.context)
        program = llm_peers.compiled(o.infc.resolve(), work, f"{name}_serve", whole, f"context={context}", *settings)
        ours = [program, "serve", "--threads", 2, "--adapter-root", adapters(work, name, whole)]
        theirs = [llama_server, "-m", gguf, "-t", 2, "-tb", 2, "-np", ANSWERS, "-c", CONTEXT + ANSWERS * 1024, "-kvu"]
        servers = {n: w for n, w in {"infc": ours, "llama_server": theirs}.items() if n in o.engines}
        for part in o.parts:
            niceness = 0 if part in OF_GAPS else 19
            os.setpriority(os.PRIO_PROCESS, 0, niceness)
            # The client's niceness is not the servers'.
            words = {n: ["nice", "-n", -niceness, *w] for n, w in servers.items()}
            setup = Setup(name, words, config.vocab - 300, o.seconds)
            if setup.infc or not part.startswith(INFC_ONLY):
                PARTS[part](setup)


if __name__ == "__main__":
    main()
