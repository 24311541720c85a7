"""What a compile takes from earlier ones, when files change under it: the model, the output, the cache.

edited_files.py INFC WORK

Models of 4 MiB, large enough for their digests to be remembered. Each folder is compared, all bytes, with one that was
made without a cache. A file that is written again with the same size and the same time of change is another file; so is
one that changes as soon as it was read. A compile that is killed at any time leaves programs and libraries whole."""

import hashlib
import os
import pathlib
import random
import shutil
import subprocess
import sys
import time

import numpy as np
import onnx
from onnx import helper, numpy_helper

INFC, WORK = (str(pathlib.Path(p).resolve()) for p in sys.argv[1:3])
MODEL, OUT, CACHE = f"{WORK}/large.onnx", f"{WORK}/out", f"{WORK}/cache"
LICENSE = ["--set", "output={license: MIT}"]
N = 1024
LARGE = ("large", "liblarge.a", "src/large.weights")


def model(value):
    """One matrix product; models of different values have the same size."""
    w = (np.arange(N * N, dtype=np.float32) % 257 - 128).reshape(N, N)
    w[3, 4] = value
    ports = [helper.make_tensor_value_info(n, onnx.TensorProto.FLOAT, [1, N]) for n in "xy"]
    graph = helper.make_graph([helper.make_node("MatMul", ["x", "w"], ["y"])], "m", ports[:1], ports[1:], [numpy_helper.from_array(w, "w")])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8).SerializeToString()


def expect(holds, what, *more):
    if not holds:
        print("FAILED:", what, *more)
        sys.exit(1)


def command(folder, *more):
    return [INFC, "compile", MODEL, "--target", "x86-64-v3", "-o", folder, *more]


def infc(folder, *more):
    done = subprocess.run(command(folder, *more), env=dict(os.environ, INFC_CACHE=CACHE), capture_output=True, text=True)
    expect(done.returncode == 0, more, done.stderr)
    return done.stderr


def tree(folder):
    found = {str(p.relative_to(folder)): p.read_bytes() for p in pathlib.Path(folder).rglob("*") if p.is_file()}
    return {k: hashlib.sha256(v).hexdigest() for k, v in found.items() if not k.startswith(".infc-stage-") and k != "report.json"}


def fresh(content, *more):
    pathlib.Path(MODEL).write_bytes(content)
    shutil.rmtree(f"{WORK}/fresh", ignore_errors=True)
    infc(f"{WORK}/fresh", "--no-cache", *more)
    return tree(f"{WORK}/fresh")


def rewrite(path, content, age=None):
    """In place. Seconds since it was changed, as its time says; none: as it was before."""
    before = os.stat(path)
    pathlib.Path(path).write_bytes(content)
    then = before.st_mtime_ns if age is None else time.time_ns() - int(age * 1e9)
    os.utime(path, ns=(then, then))


def check(wanted, what, *more):
    told = infc(OUT, *more)
    found = tree(OUT)
    kept = {k: v for k, v in found.items() if ".changed" not in k}
    expect(kept == wanted, what, [k for k in kept.keys() | wanted.keys() if kept.get(k) != wanted.get(k)])
    return told


def edits_of_the_model(contents, wanted):
    for age, pause in ((100, 0.3), (1, 0.3), (0, 0)):
        for turn in range(2):
            rewrite(MODEL, contents[turn % 2], age if turn == 0 else None)
            time.sleep(pause)
            check(wanted[turn % 2], ("edited", age, pause, turn))
            check(wanted[turn % 2], ("again", age, pause, turn))


def edits_of_the_output(contents, wanted):
    rewrite(MODEL, contents[0], 100)
    for name in LARGE:
        for pause in (0, 2.2):
            check(wanted[0], name)
            time.sleep(pause)
            path = f"{OUT}/{name}"
            theirs = bytearray(pathlib.Path(path).read_bytes())
            theirs[len(theirs) // 2] ^= 1
            rewrite(path, theirs)
            told = check(wanted[0], ("edited", name, pause))
            expect(f"{name}.changed" in told, name, told)
            expect(pathlib.Path(path + ".changed").read_bytes() == theirs, "lost the edited", name)
            os.unlink(path + ".changed")


def damage_of_the_cache(wanted):
    for keep in (0, 50):
        for path in pathlib.Path(CACHE).rglob("*"):
            if path.is_file():
                path.write_bytes(path.read_bytes()[:keep])
        check(wanted[0], ("damaged cache", keep))


def kills(wanted, licensed):
    rng = random.Random(5)
    start = time.monotonic()
    check(licensed, "licensed", *LICENSE)
    took = time.monotonic() - start
    for turn in range(8):
        more, now, other = ([], wanted[0], licensed) if turn % 2 else (LICENSE, licensed, wanted[0])
        check(other, "before it is killed", *([] if more else LICENSE))
        with subprocess.Popen(command(OUT, *more), env=dict(os.environ, INFC_CACHE=CACHE), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as run:
            time.sleep(took * rng.uniform(0.2, 1.1))
            run.kill()
        found = tree(OUT)
        for name in LARGE:
            expect(found[name] in (now[name], other[name]), "killed", turn, name)
        check(now, ("after it was killed", turn), *more)


shutil.rmtree(WORK, ignore_errors=True)
os.makedirs(WORK)
both = [model(1), model(2)]
expect(len(both[0]) == len(both[1]), "sizes")
with_license = fresh(both[0], *LICENSE)
trees = [fresh(both[1]), fresh(both[0])][::-1]
edits_of_the_model(both, trees)
edits_of_the_output(both, trees)
damage_of_the_cache(trees)
kills(trees, with_license)
print("RESULT edited_files.ok 1")
shutil.rmtree(WORK)
