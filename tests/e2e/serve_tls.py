#!/usr/bin/env python3
"""HTTPS of examples/tiny-lm's server: the openai package and plain sockets over TLS, versions that are too old, clients that
never finish, files that are wrong; and a program without TLS, which says how to get it.

usage: serve_tls.py INFC SOURCE_DIR WORK_DIR
"""
import os
import pathlib
import shutil
import signal
import socket
import ssl
import subprocess
import sys
import time
import warnings

import httpx
import openai

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from serving import Server, compile_tiny, expect, finish, idle, parse, post, read_all, run_all, until  # noqa: E402

TEXT = "/v1/completions"
SHORT = {"model": "tiny_lm", "prompt": "And", "max_tokens": 8, "temperature": 0}
LONG = {**SHORT, "max_tokens": 400, "ignore_eos": True}


def make_files(work):
    """Certificates and keys, right and wrong."""
    def openssl(*words):
        subprocess.run(["openssl", *words], cwd=work, check=True, capture_output=True)

    for name in ("", "other-"):
        openssl("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-keyout", f"{name}key.pem",
                "-out", f"{name}cert.pem", "-days", "2", "-subj", "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1")
    openssl("req", "-new", "-key", "key.pem", "-subj", "/CN=localhost", "-out", "request.pem")
    openssl("x509", "-req", "-in", "request.pem", "-signkey", "key.pem", "-days", "-1", "-out", "old-cert.pem")
    openssl("pkey", "-in", "key.pem", "-aes256", "-passout", "pass:secret", "-out", "locked-key.pem")
    (work / "text.pem").write_text("this is no PEM\n")
    (work / "cut-key.pem").write_bytes((work / "key.pem").read_bytes()[:100])


def context_of(work, version=None):
    context = ssl.create_default_context(cafile=work / "cert.pem")
    if version:
        context.minimum_version = context.maximum_version = version
    return context


def connect(server, context, seconds=20):
    return context.wrap_socket(socket.create_connection(server.address, seconds), server_hostname="127.0.0.1")


def raw(server, context, data):
    with connect(server, context) as s:
        s.sendall(data)
        return read_all(s)


def idle_by(server, context):
    told = raw(server, context, b"GET /metrics HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n").decode()
    return 'vllm:num_requests_running{model_name="tiny_lm"} 0\n' in told and 'num_requests_waiting{model_name="tiny_lm"} 0\n' in told


def check_client(server, work):
    with openai.OpenAI(base_url=server.url + "/v1", api_key="-", max_retries=0,
                       http_client=httpx.Client(verify=context_of(work))) as client:
        whole = client.completions.create(model="tiny_lm", prompt="And", max_tokens=8, temperature=0).choices[0].text
        stream = client.completions.create(model="tiny_lm", prompt="And", max_tokens=8, temperature=0, stream=True)
        expect("".join(c.choices[0].text for c in stream) == whole, "the openai package over TLS")
    try:
        openai.OpenAI(base_url=server.url + "/v1", api_key="-", max_retries=0).models.list()
        expect(False, "a certificate that nobody signed is not trusted")
    except openai.APIConnectionError:
        pass


def check_protocol(server, work):
    for version in (ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3):
        with connect(server, context_of(work, version)) as s:
            s.sendall(post(TEXT, SHORT) + post(TEXT, {**SHORT, "stream": True}, "Connection: close"))
            told = read_all(s)
            expect(told.count(b"HTTP/1.1 200 OK") == 2 and told.endswith(b"[DONE]\n\n\r\n0\r\n\r\n"), f"{s.version()}: two requests")
            expect(s.cipher()[0].endswith(("GCM_SHA256", "GCM_SHA384", "POLY1305", "POLY1305_SHA256")) or "GCM" in s.cipher()[0],
                   f"{s.cipher()}")
    old = context_of(work)
    warnings.simplefilter("ignore", DeprecationWarning)  # that is why
    old.minimum_version = ssl.TLSVersion.TLSv1
    old.maximum_version = ssl.TLSVersion.TLSv1_1
    old.set_ciphers("ALL:@SECLEVEL=0")
    try:
        connect(server, old).close()
        expect(False, "TLS 1.1 is refused")
    except (ssl.SSLError, OSError):
        pass
    try:
        expect(b"200" not in server.raw(b"GET /health HTTP/1.1\r\nHost: h\r\n\r\n"), "plain HTTP is not answered")
    except ConnectionError:
        pass


def check_clients_that_leave(server, work):
    """In the handshake, in a request, in a stream, with and without a word; what they asked for is gone."""
    context = context_of(work)

    def leave():
        for i in range(10):
            s = socket.create_connection(server.address, 20)
            if i % 3 == 0:
                s.sendall(b"\x16\x03\x01")
            else:
                s = context.wrap_socket(s, server_hostname="127.0.0.1")
                s.sendall(post(TEXT, {**LONG, "stream": True})[:None if i % 3 == 1 else -5])
                if i % 3 == 1 and i % 2:
                    s.recv(10)
            s.close()

    run_all([leave] * 4)
    until("who left is gone", lambda: idle_by(server, context))
    with connect(server, context) as s:  # takes nothing for a while
        s.sendall(post(TEXT, {**LONG, "n": 16, "stream": True}, "Connection: close"))
        expect(parse(raw(server, context, post(TEXT, SHORT, "Connection: close")))[0] == 200, "others are answered")
        expect(parse(read_all(s))[2].endswith(b"data: [DONE]\n\n"), "and the slow one, whole")


def check_files(program, plain, work):
    def told(program, *flags):
        done = subprocess.run([program, "serve", "--port", "0", *map(str, flags)], capture_output=True, text=True, timeout=20)
        return done.returncode, done.stderr

    files = lambda cert, key: ("--tls-cert", work / cert, "--tls-key", work / key)
    for what, flags, code, text in [
        ("no key", ("--tls-cert", work / "cert.pem"), 2, "without --tls-key"),
        ("no certificate", ("--tls-key", work / "key.pem"), 2, "without --tls-cert"),
        ("not there", files("none.pem", "key.pem"), 4, "none.pem: No such file"),
        ("a folder", files(".", "key.pem"), 4, "Is a directory"),
        ("no PEM", files("text.pem", "key.pem"), 3, "no certificates in PEM"),
        ("another's key", files("cert.pem", "other-key.pem"), 3, "is not the key of"),
        ("no key in it", files("cert.pem", "text.pem"), 3, "no private key in PEM"),
        ("a key that is cut", files("cert.pem", "cut-key.pem"), 3, "no private key in PEM"),
        ("a key with a password", files("cert.pem", "locked-key.pem"), 3, "is encrypted"),
        ("expired", files("old-cert.pem", "key.pem"), 3, "has expired"),
    ]:
        status, error = told(program, *flags)
        expect(status == code and text in error, f"{what}: {status} {error}")
    if os.geteuid():  # root may read everything
        (work / "key.pem").chmod(0)
        status, error = told(program, *files("cert.pem", "key.pem"))
        expect(status == 4 and "Permission denied" in error, f"a key that may not be read: {error}")
        (work / "key.pem").chmod(0o600)
    status, error = told(plain, *files("cert.pem", "key.pem"))
    expect(status == 2 and "serve.tls=true" in error, f"a program without TLS: {error}")


def check_reload(program, work):
    """SIGHUP: the files are read again. A connection that is there goes on; where what is there now is no good, the old
    certificate stays and the log says why."""
    for name in ("cert.pem", "key.pem"):
        shutil.copy(work / name, work / f"live-{name}")

    def put(cert, key):
        for name, to in ((cert, "live-cert.pem"), (key, "live-key.pem")):
            shutil.copy(work / name, work / "fresh")
            (work / "fresh").rename(work / to)

    def shown(server):
        return ssl.get_server_certificate(server.address)

    def told(server):
        return [line for line in server.requests() if line["event"] == "tls_reload"]

    with Server(program, "--tls-cert", work / "live-cert.pem", "--tls-key", work / "live-key.pem") as server:
        first, context = shown(server), context_of(work)
        with connect(server, context) as stays, connect(server, context) as streams:
            stays.sendall(post(TEXT, SHORT))
            begun = stays.recv(65536)
            streams.sendall(post(TEXT, {**LONG, "stream": True}, "Connection: close"))
            put("other-cert.pem", "other-key.pem")
            server.process.send_signal(signal.SIGHUP)
            until("it was read again", lambda: len(told(server)) == 1)
            second = shown(server)
            expect(told(server)[0]["good"] and second != first and second == (work / "other-cert.pem").read_text(), "the new certificate")
            stays.sendall(post(TEXT, SHORT, "Connection: close"))
            expect(begun.startswith(b"HTTP/1.1 200") and parse(read_all(stays))[0] == 200, "an old connection goes on")
            expect(parse(read_all(streams))[2].endswith(b"data: [DONE]\n\n"), "and its stream")
        for n, (cert, key, text) in enumerate([("old-cert.pem", "key.pem", "has expired"), ("cert.pem", "other-key.pem", "is not the key of"),
                                               ("text.pem", "key.pem", "no certificates in PEM"), ("cert.pem", "locked-key.pem", "is encrypted")]):
            put(cert, key)
            server.process.send_signal(signal.SIGHUP)
            until(f"{text}: told", lambda n=n: len(told(server)) == n + 2)
            expect(not told(server)[-1]["good"] and text in told(server)[-1]["error"], f"{text}: {told(server)[-1]}")
            expect(shown(server) == second, f"{text}: the old one stays")
        for n, name in enumerate(("live-cert.pem", "live-key.pem", None)):
            put("cert.pem", "key.pem")
            if name:
                (work / name).unlink()
                os.mkfifo(work / name)
            else:
                (work / "live-cert.pem").unlink()
            server.process.send_signal(signal.SIGHUP)
            until(f"a FIFO, or not there: told {name}", lambda n=n: len(told(server)) == 6 + n)
            expect(("not a regular file" if name else "No such file") in told(server)[-1]["error"], f"a FIFO: {told(server)[-1]}")
            expect(shown(server) == second, "a FIFO: the old one stays")
        put("cert.pem", "key.pem")
        server.process.send_signal(signal.SIGHUP)
        until("the first again", lambda: shown(server) == first)
        counted = raw(server, context_of(work), b"GET /metrics HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n").decode()
        expect('infrt_tls_reload_total{result="good",model_name="tiny_lm"} 2' in counted and
               'infrt_tls_reload_total{result="bad",model_name="tiny_lm"} 7' in counted, "counted")
        expect(server.stop() == 0, "SIGTERM: exit code 0")


def main():
    infc, source, work = sys.argv[1], pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3]).resolve()
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    make_files(work)
    plain = compile_tiny(infc, source, work / "plain")
    program = compile_tiny(infc, source, work / "lm", "--set", "serve.tls=true")
    needed = subprocess.run(["ldd", program], capture_output=True, text=True).stdout
    expect("ssl" not in needed and "crypto" not in needed, f"OpenSSL is in it: {needed}")
    print(f"RESULT serve.tls.bytes {program.stat().st_size - plain.stat().st_size} bytes")
    done = subprocess.run([infc, "compile", source / "examples/tiny-lm", "-o", work / "x", "--set", "serve.tls_cert=a"],
                          capture_output=True, text=True)
    expect(done.returncode == 2 and "tls: true" in done.stderr, f"tls_cert alone: {done.stderr}")
    with Server(program, "--tls-cert", work / "cert.pem", "--tls-key", work / "key.pem") as server:
        silent = server.connect(30)  # and no handshake
        begin = time.monotonic()
        check_client(server, work)
        check_protocol(server, work)
        check_clients_that_leave(server, work)
        expect(read_all(silent) == b"" and 8 < time.monotonic() - begin < 20, "slow-loris: a handshake that never comes")
        expect(server.stop() == 0, "SIGTERM: exit code 0")
    with Server(program) as server:
        expect(server.url.startswith("http:") and server.ask("GET", "/health")[0] == 200 and idle(server), "without the flags: HTTP")
    check_reload(program, work)
    check_files(program, plain, work)
    finish("serve_tls")


if __name__ == "__main__":
    main()
