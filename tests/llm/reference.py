#!/usr/bin/env python3
"""The reference itself (llama.py), against what transformers computed: golden.json, by against_transformers.py.

usage: reference.py SOURCE_DIR WORK_DIR
"""
import json
import pathlib
import shutil
import sys

import numpy as np

import llama
import random_llama
import write_checkpoint


def as_transformers(model, golden):
    """Logits and loss to 3e-6 of the largest logit: transformers rotates and normalises in f32."""
    for case in golden:
        logits = model.forward(case["prompt"])
        near = 3e-6 * np.abs(logits).max()
        assert all(abs(logits[-1][i] - value) < near for i, value in case["top"]), case["top"]
        assert [int(i) for i in np.argsort(-logits[-1])[: len(case["top"])]] == [i for i, _ in case["top"]]
        shifted = logits[:-1] - logits[:-1].max(-1, keepdims=True)
        right = shifted[np.arange(len(shifted)), case["prompt"][1:]]
        assert abs(np.mean(np.log(np.exp(shifted).sum(-1)) - right) - case["loss"]) < near
        # transformers was told to pass over end tokens.
        ids = [i for i, _, _ in model.greedy(case["prompt"], len(case["greedy"]))]
        assert ids == case["greedy"][: len(ids)] if ids[-1] not in model.config.eos else ids[:-1] == case["greedy"][: len(ids) - 1]


def in_chunks(model, ids):
    whole = model.forward(ids)
    for chunk in (1, 7, 64):
        cache = {}
        parts = [model.forward(ids[i : i + chunk], cache) for i in range(0, len(ids), chunk)]
        assert np.abs(np.concatenate(parts) - whole).max() < 1e-12 * np.abs(whole).max()


def as_gguf(folder, name, ids):
    tied = random_llama.MODELS[name][1].get("tied", True)
    for kind in ("F32", "F16"):
        path = folder / f"{name}-{kind}.gguf"
        write_checkpoint.write_gguf(path, random_llama.config(name), random_llama.value_of(name), kind, tied)
        ours, theirs = llama.Llama(path), llama.Llama(folder / name)
        assert ours.weights.keys() == theirs.weights.keys()
        assert all((ours.weights[k] == theirs.weights[k]).all() for k in ours.weights)
        assert np.allclose(ours.forward(ids), theirs.forward(ids), rtol=0, atol=1e-5)


def with_adapter(folder, ids):
    rng = np.random.default_rng(3)
    c = random_llama.config("tied")
    adapter = folder / "adapter"
    adapter.mkdir()
    (adapter / "adapter_config.json").write_text(json.dumps({"peft_type": "LORA", "r": 4, "lora_alpha": 8}))
    tensors = {}
    for name, shape in write_checkpoint.shapes(c, True).items():
        if name.endswith("_proj.weight"):
            stem = "base_model.model." + name.removesuffix(".weight")
            tensors[stem + ".lora_A.weight"] = rng.normal(0, 0.1, (4, shape[1])).astype(np.float32)
            tensors[stem + ".lora_B.weight"] = rng.normal(0, 0.1, (shape[0], 4)).astype(np.float32)
    sizes = {k: v.shape for k, v in tensors.items()}
    write_checkpoint.write_safetensors(adapter / "adapter_model.safetensors", sizes, tensors.get, "F32")
    base, adapted = llama.Llama(folder / "tied", np.float64), llama.Llama(folder / "tied", np.float64, adapter)
    expected = base.forward(ids)
    assert np.abs(adapted.forward(ids) - expected).max() > 0.1
    for name in base.weights:
        stem = "base_model.model." + name.removesuffix(".weight")
        if stem + ".lora_A.weight" in tensors:
            low = tensors[stem + ".lora_B.weight"].astype(np.float64) @ tensors[stem + ".lora_A.weight"]
            base.weights[name] = base.weights[name] + 8 / 4 * low
    assert np.abs(base.forward(ids) - adapted.forward(ids)).max() < 1e-9


def main():
    source, work = (pathlib.Path(a).resolve() for a in sys.argv[1:3])
    shutil.rmtree(work, ignore_errors=True)
    golden = json.loads((source / "tests/llm/golden.json").read_text())
    for name in random_llama.MODELS:
        random_llama.write(work / name, name)
        model = llama.Llama(work / name, np.float64)
        as_transformers(model, golden[name])
        in_chunks(model, golden[name][0]["prompt"])
    for name in ("tied", "linear"):
        as_gguf(work, name, golden[name][0]["prompt"])
    with_adapter(work, golden["tied"][0]["prompt"])
    print(f"{len(random_llama.MODELS)} models agree with transformers")


if __name__ == "__main__":
    main()
