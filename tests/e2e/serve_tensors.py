#!/usr/bin/env python3
"""./NAME serve of ONNX models: the Open Inference Protocol over plain sockets, with JSON and with bytes, against ONNX
Runtime; rows of several requests in one run; what is malformed or hostile.

usage: serve_tensors.py INFC SOURCE_DIR WORK_DIR
"""
import concurrent.futures
import json
import os
import signal
import subprocess
import sys
import time

import numpy as np
import onnxruntime
from onnx import TensorProto

import documented
from run_time_models import Graph
from serving import Server, parse, read_all, standing

TYPES = {"FP32": np.float32, "INT8": np.int8, "UINT8": np.uint8, "INT16": np.int16, "UINT16": np.uint16, "INT32": np.int32, "UINT32": np.uint32, "INT64": np.int64,
         "BOOL": np.bool_}  # those of inputs; test_infrt_infer.c has the others
ONNX = {k: TensorProto.FLOAT if k == "FP32" else getattr(TensorProto, k) for k in TYPES}
OCTETS = "application/octet-stream"


def expect(holds, what, got=None):
    if not holds:
        raise AssertionError(f"{what}: {got!r}"[:600])


def serve(infc, work, name, shapes, *flags, prefix=()):
    (work / f"{name}.yaml").write_text(f"infc: 1\nmodel: {name}.onnx\nname: {name}\nshapes: {shapes}\nserve: {{}}\n")
    subprocess.run([infc, "compile", work / f"{name}.yaml", "-o", work / name], check=True, stdout=subprocess.DEVNULL)
    return Server(work / name / name, *flags, prefix=prefix)


def tensor(name, x, binary=False):
    kind = next(k for k, t in TYPES.items() if x.dtype == t)
    given = {"parameters": {"binary_data_size": x.nbytes}} if binary else {"data": x.ravel().tolist()}
    return {"name": name, "shape": list(x.shape), "datatype": kind, **given}


def send(server, name, body, binary=b"", headers=(), kind=None):
    text = body if isinstance(body, bytes) else json.dumps(body).encode()
    head = [f"POST /v2/models/{name}/infer HTTP/1.1", "Host: h", "Connection: close", f"Content-Length: {len(text) + len(binary)}",
            f"Content-Type: {kind or (OCTETS if binary else 'application/json')}", *headers]
    if binary:
        head.append(f"Inference-Header-Content-Length: {len(text)}")
    return parse(server.raw("\r\n".join(head).encode() + b"\r\n\r\n" + text + binary))


def infer(server, name, tensors, binary=False, **more):
    """Outputs by name; `binary`: bytes both ways."""
    body = {"inputs": [tensor(k, x, binary) for k, x in tensors.items()], **more}
    if binary:
        body["parameters"] = {"binary_data_output": True}
    status, fields, reply = send(server, name, body, b"".join(x.tobytes() for x in tensors.values()) if binary else b"")
    expect(status == 200, "an inference", reply)
    if not binary:
        return outputs(json.loads(reply), b"")
    n = int(fields["inference-header-content-length"])
    expect(fields["content-type"] == OCTETS, "bytes are said to be bytes", fields)
    return outputs(json.loads(reply[:n]), reply[n:])


def outputs(reply, binary):
    out = {}
    for t in reply["outputs"]:
        kind = TYPES[t["datatype"]]
        if "parameters" in t:
            n = t["parameters"]["binary_data_size"]
            out[t["name"]], binary = np.frombuffer(binary[:n], kind).reshape(t["shape"]), binary[n:]
        else:
            out[t["name"]] = np.array(t["data"], kind).reshape(t["shape"])
    expect(not binary, "all bytes belong to an output")
    return out


# ---- models


def all_types(path):
    """One input of each type, [rows,2], as it is; and the sums of one."""
    g = Graph(1)
    ins = [(f"i_{k}", ONNX[k], ["rows", 2]) for k in TYPES]
    outs = [(g.node("Identity", [f"i_{k}"], f"o_{k}"), ONNX[k], ["rows", 2]) for k in TYPES]
    g.constant("axes", [1])
    outs.append((g.node("ReduceSum", ["i_FP32", "axes"], "sum", keepdims=0), TensorProto.FLOAT, ["rows"]))
    g.save(path, ins, outs)


def rows_apart(path, mixed=False):
    """x [rows,steps,5] -> softmax(x W) [rows,steps,7]; `mixed`: less the mean over the rows."""
    g = Graph(2)
    x = "x"
    if mixed:
        x = g.node("Sub", ["x", g.node("ReduceMean", ["x"], "mean", axes=[0], keepdims=1)], "less")
    g.node("MatMul", [x, g.weight("w", 5, 7)], "product")
    g.node("Softmax", ["product"], "y", axis=-1)
    g.save(path, [("x", TensorProto.FLOAT, ["rows", "steps", 5])], [("y", TensorProto.FLOAT, ["rows", "steps", 7])])


def logarithm(path, n=4):
    g = Graph(3)
    g.node("Log", ["x"], "y")
    g.save(path, [("x", TensorProto.FLOAT, [n])], [("y", TensorProto.FLOAT, [n])])


# ---- checks


def check_protocol(infc, source, work):
    """Facts and health, versions, ids, outputs that are asked for; errors have the protocol's form."""
    subprocess.run([infc, "compile", source / "examples/digits/spec.yaml", "-o", work / "digits", "--set", "serve.port=8000"], check=True, stdout=subprocess.DEVNULL)
    vectors = np.load(source / "examples/digits/vectors.npz")
    session = onnxruntime.InferenceSession(source / "examples/digits/digits.onnx")
    with Server(work / "digits/digits") as s:
        expect(s.json("GET", "/v2")[1]["extensions"] == ["binary_tensor_data"], "/v2")
        for path, said in (("/v2/health/live", {"live": True}), ("/v2/health/ready", {"ready": True}), ("/v2/models/digits/ready", {"name": "digits", "ready": True})):
            expect(s.json("GET", path) == (200, said), path)
        for path in ("/v2/models/digits", "/v2/models/digits/versions/1"):
            said = s.json("GET", path)[1]
            expect(said["inputs"] == [{"name": "image", "datatype": "FP32", "shape": [1, 1, 8, 8]}] and said["outputs"] == [{"name": "probabilities", "datatype": "FP32", "shape": [1, 10]}], path, said)
        images = next(vectors[k] for k in vectors.files if vectors[k].shape[-2:] == (8, 8)).reshape(-1, 1, 1, 8, 8).astype(np.float32)[:10]
        for image in images:
            want = session.run(None, {"image": image})[0]
            text, binary = (infer(s, "digits", {"image": image}, b)["probabilities"] for b in (False, True))
            expect(np.abs(text - want).max() < 1e-5 and text.tobytes() == binary.tobytes(), "digits", text)
        nested = tensor("image", images[0]) | {"data": images[0].tolist()}
        said = json.loads(send(s, "digits/versions/1", {"id": "a \"7\"", "inputs": [nested], "parameters": {"x": 1}, "outputs": [{"name": "probabilities"}], "other": [1]})[2])
        expect(said["id"] == 'a "7"' and said["model_name"] == "digits" and said["model_version"] == "1" and [t["name"] for t in said["outputs"]] == ["probabilities"], "a nested input", said)
        for method, path, status in (("GET", "/v2/models/other", 404), ("GET", "/v2/models/digits/versions/2", 404), ("GET", "/v2/models/digits/infer", 405), ("POST", "/v2/models/digits", 405),
                                     ("POST", "/v2/models/digitsx/infer", 404), ("POST", "/v2/models/digits/generate", 404), ("DELETE", "/v2", 405), ("GET", "/v2/nothing", 404)):
            got = s.json(method, path, {} if method == "POST" else None)
            expect(got[0] == status and isinstance(got[1]["error"], str), f"{method} {path}", got)
        got = s.json("POST", "/v1/embeddings", {"input": "x"})
        expect(got[0] == 501 and "kind text" in got[1]["error"]["message"], "no embeddings of digits", got)
        expect(s.json("POST", "/v1/chat/completions", {})[0] == 501, "no chat with digits")
        expect(s.metric("infrt_inferences_total") == 21 and s.metrics()['http_requests_total{handler="/v2/models/",method="POST",status="2xx"}'] == 21, "metrics", s.metrics())
        line = next(r for r in s.requests() if r["path"].endswith("/infer"))
        expect(line["status"] == 200 and {"queue_ms", "run_ms", "batch_rows"} < set(line), "a line in the log", line)
        expect(s.stop() == 0, "SIGTERM when nothing runs")
    without = subprocess.run([infc, "compile", source / "examples/digits/spec.yaml", "-o", work / "plain"], capture_output=True, text=True, check=True)
    done = subprocess.run([work / "plain/digits", "serve"], capture_output=True, text=True)
    expect(done.returncode == 2 and "--set serve.port=8000" in done.stderr, "a program without the key serve", without.stderr + done.stderr)
    names = subprocess.run(["nm", work / "digits/digits"], capture_output=True, text=True).stdout
    expect("infrt_llm" not in names and "infrt_chat" not in names, "no code of language models is linked")
    return True


def check_types(infc, _, work):
    """Every type in JSON and as bytes, at the ends of their ranges; a rank-1 output; sizes within their bounds."""
    all_types(work / "types.onnx")
    with serve(infc, work, "types", "{rows: 1..3}") as s:
        shapes = {t["name"]: t["shape"] for t in s.json("GET", "/v2/models/types")[1]["inputs"]}
        expect(shapes["i_INT8"] == [-1, 2], "a size known at run time", shapes)
        ends = {}
        for k, t in TYPES.items():
            info = None if t == np.bool_ else np.finfo(t) if np.issubdtype(t, np.floating) else np.iinfo(t)
            ends[f"i_{k}"] = np.array([[True, False]] if info is None else [[info.min, info.max]], t)
        for binary in (False, True):
            got = infer(s, "types", ends, binary)
            for k in TYPES:
                expect(got[f"o_{k}"].tobytes() == ends[f"i_{k}"].tobytes(), k, got[f"o_{k}"])
        tiny = {f"i_{k}": np.zeros((3, 2), t) for k, t in TYPES.items()}
        tiny["i_INT64"][2, 1] = -5
        body = {"inputs": [tensor(k, x) for k, x in tiny.items()], "outputs": [{"name": "o_INT64", "parameters": {"binary_data": True}}, {"name": "sum"}]}
        status, fields, reply = send(s, "types", body)
        n = int(fields["inference-header-content-length"])
        got = outputs(json.loads(reply[:n]), reply[n:])
        expect(list(got) == ["o_INT64", "sum"] and got["o_INT64"].tobytes() == tiny["i_INT64"].tobytes() and got["sum"].shape == (3,), "what was asked for", got)
        odd = np.array([[2, 255]], np.uint8)
        zeros = {k: x[:1] for k, x in tiny.items()}
        body = {"inputs": [tensor(k, x, k == "i_BOOL") for k, x in zeros.items()], "outputs": [{"name": "o_BOOL"}]}
        expect(json.loads(send(s, "types", body, odd.tobytes())[2])["outputs"][0]["data"] == [True, True], "bytes that are no booleans count as true")
    return True


def replace(t, **fields):
    return {k: v for k, v in (t | fields).items() if v is not None}


def check_hostile(infc, _, work):
    """CVE-2026-24173, CVE-2025-33201, CVE-2026-24146, CVE-2026-24208: each malformed request is refused with 400 and says why; the server goes on."""
    rows_apart(work / "apart.onnx")
    good = tensor("x", np.ones((2, 3, 5), np.float32))
    one = {"inputs": [good]}
    bad = lambda **f: {"inputs": [replace(good, **f)]}  # noqa: E731
    deep = 1.0
    for _ in range(40):
        deep = [deep]
    cases = [("not JSON", b"{", ""), ("a list", [], "not an object"), ("no inputs", {}, "inputs is needed"), ("empty inputs", {"inputs": []}, '"x" is not there: FP32 [-1,-1,5]'),
             ("null inputs", {"inputs": None}, "inputs is needed"), ("inputs twice", b'{"inputs":[],"inputs":[]}', "there twice"), ("an input twice", {"inputs": [good, good]}, "there twice"),
             ("unknown input", bad(name="z"), 'no input "z"'), ("no name", bad(name=None), "name is needed"), ("name is a number", bad(name=1), "a text is needed"), ("a long name", bad(name="n" * 9000), ""),
             ("no datatype", bad(datatype=None), "FP32"), ("another datatype", bad(datatype="FP64"), "is FP32, not FP64"), ("unknown datatype", bad(datatype="FP8"), 'no datatype "FP8"'),
             ("BYTES refused", bad(datatype="BYTES", data=["a"]), "BYTES is not supported"), ("no shape", bad(shape=None), "shape is needed"), ("shape overflow", bad(shape=[2 ** 40, 2 ** 40, 5]), "from 1 to 4"),
             ("negative dims", bad(shape=[-1, 3, 5]), "whole numbers from 0"), ("fractional dims", bad(shape=[2.0, 3, 5]), "whole numbers"), ("huge dims", bad(shape=[10 ** 30, 3, 5]), "whole numbers"),
             ("zero rows", bad(shape=[0, 3, 5], data=[]), "from 1 to 4"), ("rank", bad(shape=[2, 15]), "has 3 axes"), ("rank 9", bad(shape=[1] * 9), "more axes"), ("rank 0", bad(shape=[]), "has 3 axes"),
             ("fixed axis", bad(shape=[2, 5, 3]), "needs 5 there"), ("beyond the range", bad(shape=[5, 3, 5]), "rows is from 1 to 4"), ("product mismatch", bad(shape=[2, 2, 5]), "values of its shape"), ("too few", bad(data=[1.0] * 29), "29 values"),
             ("too many", bad(data=[1.0] * 31), "more than the 30"), ("no data", bad(data=None), "data"), ("data is a number", bad(data=1), "a list is needed"), ("texts as data", bad(data=["1"] * 30), "a number is needed"),
             ("NaN in JSON", json.dumps(one).replace("1.0", "NaN", 1).encode(), ""), ("Infinity in JSON", json.dumps(one).replace("1.0", "Infinity", 1).encode(), ""), ("infinite by its exponent", json.dumps(one).replace("1.0", "1e999", 1).encode(), "within its range"),
             ("beyond FP32", json.dumps(one).replace("1.0", "3.5e38", 1).encode(), "within its range"), ("null as data", bad(data=[None] * 30), "a number is needed"), ("nested arrays, ragged", bad(data=[[[1.0] * 5] * 3, [[1.0] * 5, [1.0] * 5, [1.0] * 4]]), "nested as its shape"),
             ("nested arrays of another shape", bad(data=[[[1.0] * 3] * 5] * 2), "nested as its shape"), ("nested too deep", bad(data=[[[[1.0]] * 5] * 3] * 2), "nested as its shape"), ("half nested", bad(data=[[1.0] * 15] * 2), "nested as its shape"),
             ("mixed nesting", bad(data=[1.0, [1.0]]), "nested as its shape"), ("bottomless arrays", bad(data=deep), ""), ("an unknown output", {**one, "outputs": [{"name": "q"}]}, 'no output "q"'),
             ("an output twice", {**one, "outputs": [{"name": "y"}] * 2}, "there twice"), ("classification", {**one, "outputs": [{"name": "y", "parameters": {"classification": 3}}]}, "classification is not supported"),
             ("an id that is a number", {**one, "id": 7}, "id: a text"), ("a long id", {**one, "id": "i" * 5000}, ""), ("binary_data is a text", {**one, "outputs": [{"name": "y", "parameters": {"binary_data": "yes"}}]}, "true or false"),
             ("data and a size", bad(parameters={"binary_data_size": 120}), "give one of them"), ("a size without bytes", bad(data=None, parameters={"binary_data_size": 120}), "0 are left"),
             ("a size that is negative", bad(data=None, parameters={"binary_data_size": -1}), "a number of bytes"), ("a size that is huge", bad(data=None, parameters={"binary_data_size": 10 ** 17}), "its shape has 120 bytes")]
    with serve(infc, work, "apart", "{rows: 1..4, steps: 1..6}", "--max-body", "64KiB") as s:
        for name, body, said in cases:
            status, _, reply = send(s, "apart", body)
            expect(status == 400 and said in json.loads(reply)["error"], name, (status, reply))
        x = np.arange(30, dtype=np.float32).reshape(2, 3, 5)
        body = {"inputs": [tensor("x", x, True)]}
        text = json.dumps(body).encode()
        lies = [("binary sizes lie: too short", text, x.tobytes()[:-4], len(text), 400), ("bytes that are nobody's", text, x.tobytes() + b"abcd", len(text), 400), ("a head longer than the body", text, x.tobytes(), 10 ** 6, 400),
                ("a head that cuts the JSON", text, x.tobytes(), len(text) - 1, 400), ("no number", text, x.tobytes(), "12x", 400), ("negative", text, x.tobytes(), -5, 400), ("empty", text, x.tobytes(), "", 400), ("as it is", text, x.tobytes(), len(text), 200)]
        for name, head, binary, said, wanted in lies:
            status, _, reply = send(s, "apart", head + binary, headers=[f"Inference-Header-Content-Length: {said}"], kind=OCTETS)
            expect(status == wanted and (status == 200 or json.loads(reply)["error"]), name, (status, reply))
        expect(send(s, "apart", b"{" + b" " * 70000)[0] == 413, "a body that is too long")
        expect(send(s, "apart", one, kind="text/plain")[0] == 415, "another type")
        untyped = f"POST /v2/models/apart/infer HTTP/1.1\r\nHost: h\r\nConnection: close\r\nContent-Length: {len(json.dumps(one))}\r\n\r\n{json.dumps(one)}"
        expect(parse(s.raw(untyped.encode()))[0] == 200, "tritonclient says no type")
        expect(send(s, "apart", one)[0] == 200 and s.metric("infrt_request_failure_total") == 0, "after all that it goes on")
    logarithm(work / "log.onnx")
    with serve(infc, work, "log", "{}") as s:
        x = {"x": np.array([1, 0, -1, 2], np.float32)}
        status, _, reply = send(s, "log", {"inputs": [tensor("x", x["x"])]})
        expect(status == 400 and "binary_data" in json.loads(reply)["error"], "NaN that would go out as JSON", reply)
        expect(np.isnan(infer(s, "log", x, True)["y"][2]), "NaN as bytes")
    logarithm(work / "wide.onnx", 1000)
    serve(infc, work, "wide", "{}").stop()
    done = subprocess.run([work / "wide/wide", "serve", "--port", "0", "--max-body", "2KiB"], capture_output=True, text=True, timeout=20)
    expect(done.returncode == 2 and "the smallest inference of wide takes 4064" in done.stderr, "a limit below any inference", done.stderr)
    with Server(work / "wide/wide", "--max-body", "5KiB") as s:
        expect(infer(s, "wide", {"x": np.ones(1000, np.float32)}, True)["y"].shape == (1000,), "one that is enough for bytes")
    return True


def check_batches(infc, _, work):
    """Requests that come together share runs and have the bits of those alone; what mixes rows is never joined."""
    session = onnxruntime.InferenceSession(work / "apart.onnx")
    rng = np.random.default_rng(5)
    asked = [rng.standard_normal((1 + i % 3, 2 + i % 2, 5)).astype(np.float32) for i in range(48)]
    with Server(work / "apart/apart", "--threads", "1") as s:
        expect(s.metric("infrt_batches_joined") == 1, "rows are found to be apart")
        alone = [infer(s, "apart", {"x": x}, i % 2)["y"] for i, x in enumerate(asked)]
        expect(s.metric("infrt_batch_rows_sum") == sum(len(x) for x in asked), "alone")
    for x, y in zip(asked, alone):
        expect(np.abs(session.run(None, {"x": x})[0] - y).max() < 1e-6, "against ONNX Runtime")
    with Server(work / "apart/apart", "--batch-wait", "2s", prefix=["taskset", "-c", "0"]) as s, concurrent.futures.ThreadPoolExecutor(48) as pool:
        together = list(pool.map(lambda i: infer(s, "apart", {"x": asked[i]}, i % 2)["y"], range(48)))
        expect(all(a.tobytes() == b.tobytes() for a, b in zip(alone, together)), "the same bits beside others")
        rows = s.metric("infrt_batch_rows_sum") / s.metric("infrt_batch_rows_count")
        expect(rows > 2 and s.metrics()['infrt_batch_rows_bucket{model_name="apart",le="4"}'] == 48, "runs are shared, and not above their size", rows)
        print(f"RESULT serve_tensors.rows_together {rows:.2f}")
    rows_apart(work / "mixed.onnx", mixed=True)
    with serve(infc, work, "mixed", "{rows: 1..4, steps: 2}", "--batch-wait", "100ms") as s, concurrent.futures.ThreadPoolExecutor(8) as pool:
        expect(s.metric("infrt_batches_joined") == 0, "a model that mixes rows")
        x = rng.standard_normal((8, 1, 2, 5)).astype(np.float32)
        got = list(pool.map(lambda a: infer(s, "mixed", {"x": a})["y"], x))
        expect(all(np.abs(y - 1 / 7).max() < 1e-6 for y in got), "each alone, so less its own mean")
    return True


def check_limits(infc, source, work):
    """Keys, a full queue, clients that leave, SIGTERM, a second one, one that lasts too long."""
    env = {**os.environ, "KEYS": "one,two"}
    x = np.ones((1, 2, 5), np.float32)
    body = {"inputs": [tensor("x", x)]}
    with Server(work / "apart/apart", "--api-keys", "env:KEYS", env=env) as s:
        expect(send(s, "apart", body)[0] == 401 and s.ask("GET", "/v2/models/apart")[0] == 401 and s.ask("GET", "/v2/health/live")[0] == 200, "keys")
        expect(send(s, "apart", body, headers=["Authorization: Bearer two"])[0] == 200, "a key")
    with Server(work / "apart/apart", "--queue", "1", "--threads", "1", "--batch-wait", "1500ms", prefix=["taskset", "-c", "0"]) as s:  # one runner, which waits
        text = json.dumps(body)
        data = f"POST /v2/models/apart/infer HTTP/1.1\r\nHost: h\r\nContent-Type: application/json\r\nContent-Length: {len(text)}\r\n\r\n{text}".encode()
        waits = [s.connect() for _ in range(2)]
        for c in waits:
            c.sendall(data)
        time.sleep(0.3)
        status, fields, reply = send(s, "apart", body)
        expect(status == 429 and fields["retry-after"] == "1" and "2 requests" in json.loads(reply)["error"], "a full queue", reply)
        waits[0].close()  # in the middle of its wait
        time.sleep(0.2)
        s.process.send_signal(signal.SIGTERM)
        time.sleep(0.2)
        try:
            expect(s.ask("GET", "/v2/health/ready")[0] == 503, "not ready while it drains")
        except OSError:
            raise AssertionError("it ended before the one that waits was answered")
        expect(send(s, "apart", body)[0] == 503, "no more requests while it drains")
        expect(parse(read_all(waits[1]))[0] == 200, "who waited is answered")
        expect(s.process.wait(10) == 0 and any(r["status"] == 499 for r in s.requests()), "drained", s.log())
    with Server(work / "apart/apart", "--batch-wait", "5s", "--threads", "1", prefix=["taskset", "-c", "0"]) as s:
        c = s.connect()
        c.sendall(data)
        time.sleep(0.2)
        s.process.send_signal(signal.SIGTERM)
        time.sleep(0.2)
        expect(s.stop(signal.SIGTERM, 3) == -signal.SIGTERM, "a second SIGTERM ends it at once")
        c.close()
    with Server(work / "apart/apart", "--batch-wait", "20s", "--drain", "300ms", "--threads", "1", prefix=["taskset", "-c", "0"]) as s:
        with s.connect() as c:
            c.sendall(data)
            time.sleep(0.2)
            s.process.send_signal(signal.SIGTERM)
            status, _, reply = parse(read_all(c))
        expect(status == 503 and "--drain" in json.loads(reply)["error"], "the time to end is over", reply)
        expect(s.process.wait(10) == 0 and any(r["event"] == "drain_over" for r in s.requests()), "and it ends", s.log())
    for flags, said in ((["--port", "x"], "--port x"), (["--api-keys", "env:NO_SUCH"], "NO_SUCH"), (["--batch-wait", "x"], "--batch-wait")):
        done = subprocess.run([work / "apart/apart", "serve", *flags], capture_output=True, text=True)
        expect(done.returncode == 2 and said in done.stderr, flags, done.stderr)
    (work / "llm.yaml").write_text(f"infc: 1\nmodel: apart.onnx\nname: a\nshapes: {{rows: 1, steps: 1}}\nserve: {{adapter_root: x}}\n")
    done = subprocess.run([infc, "compile", work / "llm.yaml", "-o", work / "llm"], capture_output=True, text=True)
    expect(done.returncode == 2 and "serve.adapter_root is for language models" in done.stderr, "a key of language models", done.stderr)
    done = subprocess.run([infc, "compile", source / "examples/tiny-lm", "-o", work / "llm", "--set", "serve.batch_wait=2ms"], capture_output=True, text=True)
    expect(done.returncode == 2 and "serve.batch_wait is for models of tensors" in done.stderr, "a key of tensors", done.stderr)
    return True


def check_triton(infc, source, work):
    """NVIDIA's client, where it is installed, as its users call it."""
    try:
        import tritonclient.http as triton
    except ImportError:
        print("tritonclient is not installed: skipped")
        return True
    x = np.random.default_rng(1).standard_normal((2, 3, 5)).astype(np.float32)
    want = onnxruntime.InferenceSession(work / "apart.onnx").run(None, {"x": x})[0]
    with Server(work / "apart/apart") as s:
        client = triton.InferenceServerClient(s.url.removeprefix("http://"))
        expect(client.is_server_live() and client.is_server_ready() and client.is_model_ready("apart"), "health")
        expect(client.get_model_metadata("apart")["inputs"][0]["shape"] == [-1, -1, 5] and client.get_server_metadata()["name"] == "infc", "metadata")
        for binary in (True, False):
            given = triton.InferInput("x", list(x.shape), "FP32")
            given.set_data_from_numpy(x, binary_data=binary)
            for asked in (None, [triton.InferRequestedOutput("y", binary_data=binary)]):
                got = client.infer("apart", [given], outputs=asked, request_id="7")
                expect(np.abs(got.as_numpy("y") - want).max() < 1e-6 and got.get_response()["id"] == "7", (binary, asked))
        try:
            client.infer("apart", [triton.InferInput("x", [1, 1, 5], "FP32").set_data_from_numpy(np.ones((1, 1, 5), np.float32))], outputs=[triton.InferRequestedOutput("q")])
            raise AssertionError("an output that is not there")
        except triton.InferenceServerException as e:
            expect('no output "q"' in e.message(), "its error", e.message())
    return True


def check_deadlines(infc, _, work):
    """Who has waited too long for a run gets 504 instead of it: by its own `timeout` (microseconds, as Triton's) or the server's.
    The runner stands still meanwhile."""
    x = {"x": np.ones((1, 1, 5), np.float32)}
    body = lambda **parameters: {"inputs": [tensor("x", x["x"])], "parameters": parameters}

    def late(s, **parameters):
        with s.connect() as c:
            with standing(s, "runner"):
                text = json.dumps(body(**parameters))
                c.sendall(f"POST /v2/models/apart/infer HTTP/1.1\r\nHost: h\r\nConnection: close\r\nContent-Type: application/json\r\n"
                          f"Content-Length: {len(text)}\r\n\r\n{text}".encode())
                time.sleep(0.3)
            return parse(read_all(c))

    with Server(work / "apart/apart", "--threads", "1", prefix=["taskset", "-c", "0"]) as s:
        expect(late(s)[0] == 200 and late(s, timeout=10 ** 7)[0] == 200 and late(s, timeout=0)[0] == 200, "time enough, or none said")
        status, _, reply = late(s, timeout=100000)
        expect(status == 504 and "was over before its run" in json.loads(reply)["error"], "too late", reply)
        for wrong in (-1, 1.5, "1s", 10 ** 15):
            status, _, reply = send(s, "apart", body(timeout=wrong))
            expect(status == 400 and "parameters.timeout" in json.loads(reply)["error"], wrong, reply)
        expect(send(s, "apart", body(timeout=10 ** 6))[0] == 200, "and it goes on")
    with Server(work / "apart/apart", "--threads", "1", "--timeout", "100ms", prefix=["taskset", "-c", "0"]) as s:
        expect(late(s)[0] == 504 and late(s, timeout=10 ** 7)[0] == 504, "the server's, which a request cannot stretch")
        expect(send(s, "apart", body())[0] == 200, "in time")
    return True


def checks(infc, source, work):
    return {c.__name__: lambda c=c: c(infc, source, work) for c in (check_protocol, check_types, check_hostile, check_batches, check_limits, check_deadlines, check_triton)}


if __name__ == "__main__":
    sys.exit(documented.run(checks))
