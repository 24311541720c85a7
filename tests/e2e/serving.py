"""A server of a built language model under test: starts it, talks to it by sockets, reads its log."""
import contextlib
import ctypes
import json
import os
import pathlib
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time

FAILED = []
SEIZE, INTERRUPT, DETACH = 0x4206, 0x4207, 17  # of ptrace(2)


def expect(holds, what):
    if not holds:
        FAILED.append(what)
        print("FAILED", what, flush=True)


def until(what, holds, seconds=20):
    end = time.monotonic() + seconds
    while not holds() and time.monotonic() < end:
        time.sleep(0.02)
    expect(holds(), what)


def run_all(calls):
    """Each on a thread of its own."""
    threads = [threading.Thread(target=call) for call in calls]
    for t in threads:
        t.start()
    for t in threads:
        t.join()


def idle(server):
    return server.metric("vllm:num_requests_running") == 0 and server.metric("vllm:num_requests_waiting") == 0


@contextlib.contextmanager
def standing(server, name):
    """A thread of the server stands still meanwhile."""
    ptrace = ctypes.CDLL(None, use_errno=True).ptrace
    ptrace.argtypes = (ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p)
    tasks = pathlib.Path(f"/proc/{server.process.pid}/task")
    thread = next(int(t.name) for t in tasks.iterdir() if (t / "comm").read_text().strip() == name)
    for request in (SEIZE, INTERRUPT):
        if ptrace(request, thread, None, None) != 0:
            raise OSError(ctypes.get_errno(), f"ptrace of {name}")
    os.waitpid(thread, 0x40000000)  # __WALL
    try:
        yield thread
    finally:
        ptrace(DETACH, thread, None, None)


def finish(name):
    print(f"{name}:", "failed" if FAILED else "all held")
    sys.exit(1 if FAILED else 0)


class Server:
    """./NAME serve with further flags, on a port of its own; stopped at the end of a with block."""

    def __init__(self, program, *flags, env=None, prefix=(), port=0, stderr=None):
        self.log_file = tempfile.TemporaryFile("w+")
        self.process = subprocess.Popen([*prefix, str(program), "serve", "--port", str(port), *map(str, flags)], env=env,
                                        stdout=subprocess.PIPE, stderr=self.log_file if stderr is None else stderr, text=True)
        line = self.process.stdout.readline()
        if not line.startswith("listening on http"):
            self.process.wait()
            raise RuntimeError(f"no server: {line!r} {self.log()!r}")
        self.url = line.split()[-1]
        self.address = ("127.0.0.1", int(self.url.rsplit(":", 1)[1]))

    def log(self):
        self.log_file.seek(0)
        return self.log_file.read()

    def requests(self):
        return [json.loads(line) for line in self.log().splitlines() if line.startswith("{")]

    def stop(self, number=signal.SIGTERM, seconds=30):
        self.process.send_signal(number)
        return self.process.wait(seconds)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        self.process.stdout.close()
        self.log_file.close()

    def connect(self, seconds=20):
        return socket.create_connection(self.address, seconds)

    def raw(self, data, shut=False):
        """Sends bytes, returns all that comes until the server closes."""
        with self.connect() as s:
            s.sendall(data)
            if shut:
                s.shutdown(socket.SHUT_WR)
            return read_all(s)

    def ask(self, method, path, body=None, headers=()):
        """Status, fields and body of one request; a body that is no text or bytes is sent as JSON."""
        if body is not None and not isinstance(body, (bytes, str)):
            body = json.dumps(body)
        data = b"" if body is None else body.encode() if isinstance(body, str) else body
        fields = [f"{method} {path} HTTP/1.1", "Host: h", "Connection: close", *headers]
        if body is not None:
            fields += ["Content-Type: application/json", f"Content-Length: {len(data)}"]
        return parse(self.raw("\r\n".join(fields).encode() + b"\r\n\r\n" + data))

    def json(self, method, path, body=None, headers=()):
        status, _, text = self.ask(method, path, body, headers)
        return status, json.loads(text)

    def metrics(self):
        out = {}
        for line in self.ask("GET", "/metrics")[2].decode().splitlines():
            if line and not line.startswith("#"):
                name, value = line.rsplit(" ", 1)
                out[name] = float(value)
        return out

    def metric(self, name):
        return sum(v for k, v in self.metrics().items() if k.split("{")[0] == name)


def read_all(s):
    data = b""
    while piece := s.recv(65536):
        data += piece
    return data


def parse(data):
    """Of one whole reply: status, fields, body without its chunks."""
    head, _, body = data.partition(b"\r\n\r\n")
    lines = head.decode().split("\r\n")
    fields = {k.lower(): v for k, _, v in (line.partition(": ") for line in lines[1:])}
    if fields.get("transfer-encoding") == "chunked":
        whole = b""
        while body:
            size, _, body = body.partition(b"\r\n")
            whole += body[:int(size, 16)]
            body = body[int(size, 16) + 2:]
            if int(size, 16) == 0:
                break
        body = whole
    return int(lines[0].split()[1]), fields, body


def post(path, body, *fields):
    """The bytes of a request that keeps its connection."""
    text = json.dumps(body).encode()
    head = [f"POST {path} HTTP/1.1", "Host: h", "Content-Type: application/json", f"Content-Length: {len(text)}", *fields]
    return "\r\n".join(head).encode() + b"\r\n\r\n" + text


def compile_tiny(infc, source, work, *more):
    subprocess.run([infc, "compile", pathlib.Path(source) / "examples/tiny-lm", "-o", work, "--set", "output.kinds=binary",
                    *more], check=True, capture_output=True)
    return pathlib.Path(work) / "tiny_lm"
