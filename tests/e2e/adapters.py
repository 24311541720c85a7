#!/usr/bin/env python3
"""Adapters (LoRA) of language models made on the spot, against the forward pass of tests/llm, which adds them in float64.

usage: adapters.py INFC SOURCE_DIR WORK_DIR

Weights as f32, int8, int4 and as GGUF has them (q and k turned): answers of each adapter are those of the reference;
and no bit depends on what else is in the batch, workers, chunks, target; rows without an adapter have the bits of a
model that takes none. Loading, replacing and removing; folders that are refused. Cases of serving are named L1, L3, ...
"""
import json
import pathlib
import shutil
import subprocess
import sys

import numpy as np

import language
from language import expect

SUBJECTS = [f"{p}_proj" for p in ("q", "k", "v", "o", "gate", "up", "down")]


def shapes():
    for name, value in language.weights_of(1, True).items():
        if name.endswith("_proj.weight"):
            yield "base_model.model." + name.removesuffix(".weight"), value.shape


def write_adapter(folder, seed, rank, modules=SUBJECTS, dtype="F32", spoil=None, **config):
    """PEFT's files; `spoil(tensors)` changes {name: f32 array} first."""
    import write_checkpoint

    random = np.random.default_rng(seed)
    folder.mkdir(parents=True)
    settings = {"peft_type": "LORA", "task_type": "CAUSAL_LM", "r": rank, "lora_alpha": 2 * rank, "lora_dropout": 0.05,
                "target_modules": modules, "bias": "none", "base_model_name_or_path": "x", "use_dora": False,
                "modules_to_save": None, "fan_in_fan_out": False, "rank_pattern": {}, "alpha_pattern": {}} | config
    (folder / "adapter_config.json").write_text(json.dumps(settings))
    tensors = {}
    for name, (outputs, inputs) in shapes():
        if not any(name.endswith(m) for m in modules):
            continue
        r = next((v for k, v in settings["rank_pattern"].items() if ("." + name).endswith("." + k)), rank)
        tensors[name + ".lora_A.weight"] = (random.standard_normal((r, inputs)) / np.sqrt(inputs)).astype(np.float32)
        tensors[name + ".lora_B.weight"] = (random.standard_normal((outputs, r)) * 0.3).astype(np.float32)
        if settings["use_dora"]:
            tensors[name + ".lora_magnitude_vector"] = random.uniform(0.5, 4, outputs).astype(np.float32)
    if spoil:
        spoil(tensors)
    sizes = {k: v.shape for k, v in tensors.items()}
    write_checkpoint.write_safetensors(folder / "adapter_model.safetensors", sizes, tensors.get, dtype)
    return folder


def compile_model(infc, model, out, *arguments):
    command = [infc, "compile", model, "-o", out, "--set", "name=tiny", "--set", "shapes.tokens=1..64",
               "--set", "batch.max_sequences=4", *arguments]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def program_of(source, out):
    """The runtime is the same for all of them, and compiled once, by two processes."""
    made, runtime = out / "run_adapters", out.parent / "runtime"
    includes = [f"-I{out}", f"-I{out}/src/infrt"]
    if not runtime.exists():
        runtime.mkdir()
        files = sorted((out / "src/infrt").glob("*.c"))
        halves = [subprocess.Popen(["cc", "-O1", "-c", *includes, *half], cwd=runtime) for half in (files[::2], files[1::2])]
        assert [h.wait() for h in halves] == [0, 0]
    subprocess.run(["cc", "-O1", "-DMODEL=tiny", '-DMODEL_HEADER="tiny.h"', *includes, source / "tests/e2e/run_adapters.c",
                    *sorted(runtime.glob("*.o")), out / "libtiny.a", "-pthread", "-lm", "-o", made], check=True)
    return made


def answers(program, workers, chunk, how, adapters):
    words = [f"{name}={folder if not isinstance(folder, dict) else '+'.join(f'{w}*{f}' for f, w in folder.items())}" for name, folder in adapters.items()]
    done = subprocess.run([program, "answers", str(workers), str(chunk), how, *words], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def logprobs(line):
    pairs = [p.split(":") for p in line.split()]
    values = np.array([int(bits, 16) for _, bits in pairs], np.uint32).view(np.float32)
    return [int(i) for i, _ in pairs], values.astype(np.float64)


def prompt(number):
    return [(i * 7 + number * 31) % 150 for i in range(5 + number * 13)]


def error_of(model, number, line):
    """The errors of logprobs of the answer's tokens."""
    ids, got = logprobs(line)
    logits = model.forward(prompt(number) + ids[:-1])[-len(ids):]
    top = logits.max(-1, keepdims=True)
    want = (logits - top - np.log(np.exp(logits - top).sum(-1, keepdims=True)))[np.arange(len(ids)), ids]
    return np.abs(got - want)


def merged(model, parts):
    """The model whose weights are those of the base plus `parts`, {folder: weight}, in float64"""
    import checkpoint
    import llama

    made = llama.Llama(model, np.float64)
    for folder, weight in parts.items():
        for name, (a, b) in checkpoint.read_adapter(folder).items():
            made.weights[name] = made.weights[name] + weight * (b.astype(np.float64) @ a.astype(np.float64))
    return made


def against_reference(what, model, adapters, lines, most):
    """`most`: of the middle error. Quantised weights are far from the reference in models like these; without its adapter,
    an answer is much further."""
    import llama

    folders = [None, *adapters.values()]
    base = llama.Llama(model, np.float64)
    for i, folder in enumerate(folders):
        with_it = merged(model, folder) if isinstance(folder, dict) else llama.Llama(model, np.float64, folder)
        mine = [(n, line) for n, line in enumerate(lines) if n % len(folders) == i]
        error = np.median(np.concatenate([error_of(with_it, n, line) for n, line in mine]))
        expect(error < most, f"{what}, adapter {i}: a logprob is {error:.2g} off in the middle, allowed {most}")
        if folder:
            error = np.median(np.concatenate([error_of(base, n, line) for n, line in mine]))
            expect(error > 3 * most, f"{what}, adapter {i}: without it {error:.2g}")


def panels(what, program, model, most):
    """The weights that norms are taken of are the model's, row by row: what is stored, exactly, or rounded by so much."""
    import llama

    weights = llama.Llama(model, np.float64).weights
    done = subprocess.run([program, "panels"], capture_output=True, text=True)
    rows = {}
    for line in done.stdout.splitlines():
        name, *values = line.split()
        rows[name] = [[float(v) for v in pair.split(":")] for pair in values]
    names = [name.removeprefix("base_model.model.") for name, _ in shapes()]
    worst = 0
    for name in names:
        w = weights[name + ".weight"]
        norm, probe = np.sqrt((w * w).sum(-1)), w @ np.cos(np.arange(w.shape[1]))
        got = np.array(rows[name])
        size = norm * np.sqrt(w.shape[1])
        worst = max(worst, (np.abs(got[:, 0] - norm) / norm).max(), (np.abs(got[:, 1] - probe) / size).max())
    expect(done.returncode == 0 and set(rows) == set(names) and worst < most, f"{what}: weights unpacked again are off by {worst:.2g}, allowed {most}")


def same_bits(what, program, adapters, lines):
    for workers, chunk, how in ((2, 64, "together"), (1, 7, "together"), (2, 64, "alone"), (2, 1, "together"), (3, 33, "alone")):
        expect(answers(program, workers, chunk, how, adapters) == lines, f"{what}: same bits, {workers} workers, chunk {chunk}, {how}")


def formats(infc, source, work, adapters):
    weights = language.weights_of(1, True)
    language.write_hf(work / "hf", weights, True, torch_dtype="float32")
    gguf = work / "model.gguf"
    apart = ("0.self_attn.v_proj", "1.self_attn.k_proj", "1.mlp.up_proj")  # of another type than those they are computed with
    language.write_gguf(gguf, weights, lambda name: "f32" if "proj" not in name else "q8_0" if any(a in name for a in apart) else "q4_1")
    room = ["--set", "adapters.max_loaded=6", "--set", "adapters.max_rank=32"]
    programs = {}
    cases = (("f32", work / "hf", 2e-3, "keep"), ("rounded", work / "hf", 0.1, "int8"), ("int8", work / "hf", 0.2, ""),
             ("int4", work / "hf", 3, ""), ("keep", gguf, 0.3, ""))  # fmt: skip
    for kind, model, most, held in cases:
        out = work / kind
        weights = "f32" if kind == "rounded" else kind
        cache = "f16" if weights == "f32" else "int8"
        common = ["--set", f"precision.weights={weights}", "--set", f"precision.kv={cache}"]
        compile_model(infc, model, out, *common, *room, *(["--set", f"adapters.weights={held}"] if held else []))
        programs[kind] = program_of(source, out)
        panels(kind, programs[kind], model, {"f32": 1e-6, "keep": 1e-6, "int8": 0.02, "int4": 0.15}[weights])
        lines = answers(programs[kind], 1, 64, "together", adapters)
        against_reference(kind, model, adapters, lines, most)
        same_bits(kind, programs[kind], adapters, lines)
        if kind in ("int4", "rounded"):
            continue
        if kind == "keep":
            compile_model(infc, model, work / "generic", *common, *room, "--target", "x86-64")
            other = program_of(source, work / "generic")
            expect(answers(other, 1, 64, "together", adapters) == lines, f"{kind}: same bits on x86-64")
        compile_model(infc, model, work / (kind + "-without"), *common)
        plain = answers(program_of(source, work / (kind + "-without")), 1, 64, "together", {})
        n = 1 + len(adapters)
        expect(plain[::n] == lines[::n], f"{kind}: L25: rows without an adapter have the bits of a model that takes none")
        expect(all(a != b for i, (a, b) in enumerate(zip(plain, lines)) if i % n), f"{kind}: rows with one do not")
    return programs["int8"]


def refused(infc, source, work):
    """(name, arguments of write_adapter, words of the error)"""
    nan = lambda t: t[next(iter(t))].__setitem__((0, 0), np.nan)  # noqa: E731
    first = "base_model.model.model.layers.0.self_attn.q_proj"
    vector = first + ".lora_magnitude_vector"
    cases = [
        ("L8-unmatched", {"spoil": lambda t: t.update({first.replace("q_proj", "x_proj") + ".lora_A.weight": np.ones((4, 64), np.float32)})}, "x_proj"),
        ("prefix", {"spoil": lambda t: t.update({k.replace("base_model.model.", ""): t.pop(k) for k in list(t)})}, "not A or B of a linear layer"),
        ("L18-head", {"spoil": lambda t: t.update({"base_model.model.lm_head.lora_A.weight": np.ones((4, 64), np.float32)})}, "lm_head"),
        ("dora-without", {"use_dora": True, "spoil": lambda t: t.pop(vector)}, "has no lora_magnitude_vector beside it"),
        ("dora-unsaid", {"spoil": lambda t: t.update({vector: np.ones(128, np.float32)})}, "has no use_dora"),
        ("dora-alone", {"use_dora": True, "spoil": lambda t: [t.pop(first + f".lora_{x}.weight") for x in "AB"]}, "has no lora_A"),
        ("dora-short", {"use_dora": True, "spoil": lambda t: t.update({vector: np.ones(127, np.float32)})}, f'"{vector}" is not a vector of 128'),
        ("dora-matrix", {"use_dora": True, "spoil": lambda t: t.update({vector: np.ones((128, 1), np.float32)})}, f'"{vector}" is not a vector of 128'),
        ("dora-nan", {"use_dora": True, "spoil": lambda t: t[vector].__setitem__(3, np.inf)}, f'"{vector}" holds what is no number'),
        ("dora-endless", {"use_dora": True, "spoil": lambda t: t[first + ".lora_B.weight"].__setitem__(0, 1e25)},
         f'"{vector}": element 0 by the norm of its row of weights, inf, is no number'),
        ("dora-twice", {"use_dora": True, "spoil": lambda t: t.update({vector + ".weight": t[vector]})}, '.weight" is there twice'),
        ("dora-scalar", {"use_dora": True, "spoil": lambda t: t.update({vector: np.float32(1).reshape(())})}, "not a matrix"),
        ("dora-none", {"use_dora": True, "spoil": lambda t: t.update({vector: np.ones(0, np.float32)})}, "is not a vector of 128"),
        ("dora-word", {"use_dora": "true"}, "use_dora"),
        ("dora-elsewhere", {"use_dora": True, "spoil": lambda t: t.update({first.replace("q_proj", "x_proj") + ".lora_magnitude_vector": np.ones(64, np.float32)})}, "x_proj"),
        ("vector", {"spoil": lambda t: t.update({first + ".lora_A.weight": np.ones(64, np.float32)})}, "not a matrix"),
        ("saved", {"modules_to_save": ["lm_head"]}, "modules_to_save"),
        ("bias", {"bias": "all"}, "bias"),
        ("pissa", {"init_lora_weights": "pissa"}, "init_lora_weights"),
        ("rank", {"rank": 40}, "adapters.max_rank"),
        ("lying-rank", {"r": 8}, "lora_A"),
        ("half", {"spoil": lambda t: t.pop(first + ".lora_B.weight")}, "has no lora_B"),
        ("nan", {"spoil": nan}, "no number"),
        ("shape", {"spoil": lambda t: t.update({first + ".lora_B.weight": np.ones((96, 4), np.float32)})}, "96 x 4"),
        ("regex", {"rank_pattern": {"model.*q_proj": 4}}, "rank_pattern"),
        ("not-targeted", {"modules": ["q_proj", "v_proj"], "target_modules": ["q_proj"]}, "v_proj.lora_A.weight\" is of a module that target_modules"),
        ("targeted", {"modules": ["q_proj"], "target_modules": ["q_proj", "v_proj"]}, "no tensors of \"model.layers.0.self_attn.v_proj\", which target_modules"),
        ("all-linear", {"modules": ["q_proj"], "target_modules": "all-linear"}, "no tensors of \"model.layers.0.self_attn.k_proj\", which target_modules"),
        ("layers", {"layers_to_transform": [0]}, "layers.1.self_attn.q_proj.lora_A.weight\" is of a module that layers_to_transform"),
        ("layers-called", {"layers_to_transform": [0, 1], "layers_pattern": "blocks"}, "layers_pattern"),
        ("other", {"peft_type": "IA3"}, "peft_type"),
        ("unknown", {"new_thing": 3}, "new_thing"),
    ]
    program = work / "int8/tiny"
    for name, settings, words in cases:
        folder = write_adapter(work / "bad" / name, 5, settings.pop("rank", 4), **settings)
        done = subprocess.run([program, "run", "--tokens", "1,2", "--max-tokens", "2", "--adapter", folder], capture_output=True, text=True)
        expect(done.returncode == 3 and words in done.stderr, f"{name} is refused: {done.stderr.strip().splitlines()[-1:]}")
    good = write_adapter(work / "bad/cut", 5, 4)
    file = good / "adapter_model.safetensors"
    whole = file.read_bytes()
    for size in (0, 7, 100, len(whole) - 1):
        file.write_bytes(whole[:size])
        done = subprocess.run([program, "run", "--tokens", "1", "--max-tokens", "1", "--adapter", good], capture_output=True, text=True)
        expect(done.returncode == 3, f"a file of {size} bytes is refused: {done.stderr.strip()}")
    done = subprocess.run([program, "run", "--tokens", "1", "--max-tokens", "1", "--adapter", work / "bad/none"], capture_output=True, text=True)
    expect(done.returncode == 4, f"a folder that is not there: {done.stderr.strip()}")
    done = subprocess.run([work / "int8-without/tiny", "run", "--tokens", "1", "--adapter", good], capture_output=True, text=True)
    expect(done.returncode == 2 and "adapters.max_loaded" in done.stderr, f"a model that takes none: {done.stderr.strip()}")


def preloaded(infc, work, adapters):
    """Adapters of the spec are there from the start, under their names, from where the program runs."""
    out, model = work / "preloaded", work / "hf"
    spec = work / "preloaded.yaml"
    preload = "[{name: first, path: all}, {name: second.2, path: qv}]"
    text = "infc: 1\nmodel: hf\nname: tiny\nprecision: {weights: int8}\nshapes: {tokens: 1..64}\nbatch: {max_sequences: 4}\n"
    spec.write_text(text + f"adapters: {{max_loaded: 4, preload: {preload}}}\n")
    done = subprocess.run([infc, "compile", spec, "-o", out], capture_output=True, text=True)
    expect(done.returncode == 0, f"a spec with adapters.preload: {done.stderr.strip()[-300:]}")

    def run(program, *more, cwd=work):
        command = [program, "run", "--tokens", "1,2,3", "--max-tokens", "8", "--json", *more]
        done = subprocess.run(command, capture_output=True, text=True, cwd=cwd)
        made = None if done.returncode else json.loads(done.stdout)
        return done.returncode, (made["tokens"], made["logprobs"]) if made else done.stderr

    plain = work / "int8/tiny"
    base = run(plain)
    expect(run(out / "tiny") == base, f"preloaded: nobody who does not name one has it: {base}")
    for name, folder in (("first", "all"), ("second.2", "qv")):
        want = run(plain, "--adapter", adapters[folder])
        expect(run(out / "tiny", "--adapter", name) == want and want != base, f"preloaded: {name} is {folder}: {want}")
    weighted = run(plain, "--adapter", f"mix=0.5*{adapters['all']},-0.25*{adapters['qv']}")
    expect(weighted[0] == 0 and weighted != base, f"a sum on the command line: {weighted}")
    same = run(plain, "--adapter", f"mix=1*{adapters['all']}")
    expect(same == run(plain, "--adapter", adapters["all"]), "a sum of one, once, is that one")
    code, words = run(plain, "--adapter", f"mix=0.5*{adapters['all']},{adapters['qv']}")
    expect(code == 2 and "WEIGHT*DIR" in words, f"a sum without a weight is refused: {words}")
    code, words = run(plain, "--adapter", f"mix=1*{adapters['qv']},1*{adapters['qv']}")
    expect(code == 3 and "adapters.max_rank" in words, f"a sum of too many ranks is refused: {words}")
    for sum_of in (f"0.5*{adapters['dora']}", f"1*{adapters['qv']},1*{adapters['dora']}"):
        code, words = run(plain, "--adapter", f"mix={sum_of}")
        expect(code == 3 and "dora/adapter_config.json: use_dora" in words, f"a sum with DoRA is refused: {words}")
    same = run(plain, "--adapter", f"mix=1*{adapters['dora']}")
    expect(same == run(plain, "--adapter", adapters["dora"]) and same != base, f"DoRA alone, once: {same}")
    code, words = run(out / "tiny", cwd=work / "int8")
    expect(code == 4 and "all/adapter_config.json" in words, f"preloaded from a folder that is not there: {words}")
    for bad, where in (("[{name: a b, path: x}]", "preload.name"), ("[{name: a, path: x}, {name: a, path: y}]", "already"),
                       ("[" + ", ".join(f"{{name: a{i}, path: x}}" for i in range(5)) + "]", "max_loaded")):
        spec.write_text(text + f"adapters: {{max_loaded: 4, preload: {bad}}}\n")
        done = subprocess.run([infc, "compile", spec, "-o", work / "bad-spec"], capture_output=True, text=True)
        expect(done.returncode == 2 and where in done.stderr, f"preload {bad} is refused: {done.stderr.strip()}")


def main():
    infc, source, work = (pathlib.Path(a).resolve() for a in sys.argv[1:4])
    sys.path.insert(0, str(source / "tests/llm"))
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    adapters = {
        "all": write_adapter(work / "all", 1, 4),
        "qv": write_adapter(work / "qv", 2, 20, ["q_proj", "v_proj"], "BF16", use_rslora=True,
                            target_modules=r"model\.layers\.\d+\.self_attn\.(q|v)_proj"),
        "some": write_adapter(work / "some", 3, 8, ["k_proj", "up_proj", "down_proj"], "F16",
                              rank_pattern={"layers.1.mlp.up_proj": 3}, alpha_pattern={"mlp.down_proj": 5}),
    }
    adapters["dora"] = write_adapter(work / "dora", 4, 4, use_dora=True)
    adapters["dora-some"] = write_adapter(work / "dora-some", 5, 20, ["v_proj", "o_proj", "up_proj", "down_proj"], "BF16", use_dora=True,
                                          use_rslora=True, rank_pattern={"layers.1.mlp.up_proj": 3}, alpha_pattern={"mlp.down_proj": 5})  # fmt: skip
    adapters["sum"] = {adapters["all"]: 0.5, adapters["some"]: -0.25, adapters["qv"]: 0.5}
    program = formats(infc, source, work, adapters)
    out = work / "life-model"
    compile_model(infc, work / "hf", out, "--set", "adapters.max_loaded=2")
    for pair in (("all", "some"), ("dora", "all")):
        done = subprocess.run([program_of(source, out), "life", *(adapters[a] for a in pair)], capture_output=True, text=True)
        print(done.stdout, done.stderr, end="")
        expect(done.returncode == 0, f"what loading, replacing and removing must do: {pair}")
    refused(infc, source, work)
    preloaded(infc, work, adapters)
    print(f"{len(language.FAILED)} failures")
    return 1 if language.FAILED else 0


if __name__ == "__main__":
    sys.exit(main())
