#!/usr/bin/env python3
"""What HTTP costs beside `bench`, and what sharing runs brings: closed loops of clients that keep their connections and
send one row as bytes, of a server of tensors whose inputs take one row.

usage: serve_tensors_bench.py PROGRAM MODEL [--size AXIS=N ..] [--clients 1,8,16] [--seconds S] [--flag FLAG ..] [--json F]
"""
import argparse
import json
import pathlib
import socket
import subprocess
import sys
import threading
import time

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "e2e"))
from serving import Server  # noqa: E402

TYPES = {"FP32": np.float32, "INT64": np.int64, "INT32": np.int32}


def request(server, model, sizes):
    """The bytes of one request: ones, each axis that is a range as `sizes` says, else 1."""
    inputs, data = [], b""
    for port in server.json("GET", f"/v2/models/{model}")[1]["inputs"]:
        shape = [d if d > 0 else sizes.get(axis, 1) for axis, d in enumerate(port["shape"])]
        x = np.ones(shape, TYPES[port["datatype"]])
        inputs.append({"name": port["name"], "datatype": port["datatype"], "shape": shape, "parameters": {"binary_data_size": x.nbytes}})
        data += x.tobytes()
    head = json.dumps({"inputs": inputs, "parameters": {"binary_data_output": True}}).encode()
    fields = f"POST /v2/models/{model}/infer HTTP/1.1\r\nHost: h\r\nContent-Type: application/octet-stream\r\nInference-Header-Content-Length: {len(head)}\r\nContent-Length: {len(head) + len(data)}\r\n\r\n"
    return fields.encode() + head + data


def reply(sock):
    data = b""
    while b"\r\n\r\n" not in data:
        data += sock.recv(65536)
    head, _, body = data.partition(b"\r\n\r\n")
    if not head.startswith(b"HTTP/1.1 200"):
        raise RuntimeError(data[:300])
    n = int(head.lower().split(b"content-length: ")[-1].split(b"\r\n")[0])
    while len(body) < n:
        body += sock.recv(65536)


def client(server, text, until, times):
    with server.connect() as sock:
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        while (begin := time.perf_counter()) < until:
            sock.sendall(text)
            reply(sock)
            times.append(time.perf_counter() - begin)


def load(server, text, n, seconds):
    times, until = [[] for _ in range(n)], time.perf_counter() + seconds
    threads = [threading.Thread(target=client, args=(server, text, until, t)) for t in times]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    every = np.array(sum(times, []))
    return len(every) / seconds, *(np.percentile(every, p) * 1e3 for p in (50, 99))


def main():
    p = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    p.add_argument("program")
    p.add_argument("model")
    p.add_argument("--size", action="append", default=[], metavar="AXIS=N", help="of an axis that is a range; default 1")
    p.add_argument("--clients", default="1,8,16")
    p.add_argument("--seconds", type=float, default=4)
    p.add_argument("--flag", action="append", default=[], help="of serve")
    p.add_argument("--json")
    a = p.parse_args()
    results = {}
    with Server(a.program, *a.flag) as s:
        text = request(s, a.model, {int(k): int(v) for k, v in (x.split("=") for x in a.size)})
        load(s, text, 1, 0.3)
        for n in map(int, a.clients.split(",")):
            before = s.metric("infrt_batch_rows_sum"), s.metric("infrt_batch_rows_count")
            rate, p50, p99 = load(s, text, n, a.seconds)
            rows = (s.metric("infrt_batch_rows_sum") - before[0]) / (s.metric("infrt_batch_rows_count") - before[1])
            results |= {f"clients{n}.requests_per_s": rate, f"clients{n}.p50_ms": p50, f"clients{n}.p99_ms": p99, f"clients{n}.rows": rows}
    run = json.loads(subprocess.run([a.program, "bench", "--seconds", "1", "--json"], capture_output=True, text=True, check=True).stdout)
    print(f"bench of the largest sizes: {json.dumps({k: v for k, v in run.items() if 'ns' in k and not isinstance(v, list)})}")
    for name, value in results.items():
        print(f"RESULT serve_tensors.{a.model}.{name} {value:.4g}")
    if a.json:
        pathlib.Path(a.json).write_text(json.dumps(results, indent=1))


if __name__ == "__main__":
    main()
