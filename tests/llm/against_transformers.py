#!/usr/bin/env python3
"""llama.py beside transformers, on the same files. Not part of the tests: needs transformers and torch.

usage: against_transformers.py FOLDER... --prompt IDS... [--gguf FILE] [--adapter A] [-n TOKENS] [--write GOLDEN.json]

Both read each FOLDER; FILE, the same model as GGUF, only llama.py. IDS are token ids with commas between. Printed for
every prompt: the largest difference of logits over all positions as a part of the largest logit, for llama.py in f32
and in f64 against transformers in f32 and f64 (which rotates and normalises in f32 even then), and whether N greedy
tokens are equal. --write stores what transformers says in f64, by name of the folder: the golden file of reference.py.

Figures, transformers 5.24 and torch 2.15 on x86-64:
  the four models of random_llama.py, 72 tokens   1.2e-6 in f32 and f64, as transformers' f32 from its own f64;
                                                  24 greedy tokens equal
  examples/tiny-lm, 10 tokens                     5.2e-7 in f32, 7.7e-8 in f64; 16 greedy tokens equal
  SmolLM2-135M-Instruct, decoded to f16, 16 tokens  2.3e-6 in f32, 3.4e-7 in f64; 24 greedy tokens equal; its Q4_1 file
                                                  read as GGUF 8.6e-4 (the folder is rounded to f16), tokens equal
"""
import argparse
import json
import pathlib

import numpy as np
import torch
import transformers

import llama


def logits_of(model, ids):
    with torch.no_grad():
        return model(torch.tensor([ids])).logits[0].double().numpy()


def greedy_of(model, ids, n):
    with torch.no_grad():
        out = model.generate(torch.tensor([ids]), do_sample=False, max_new_tokens=n, min_new_tokens=n)
    return out[0, len(ids) :].tolist()


def mean_loss(logits, ids):
    z = logits[:-1] - logits[:-1].max(-1, keepdims=True)
    return float(np.mean(np.log(np.exp(z).sum(-1)) - z[np.arange(len(ids) - 1), ids[1:]]))


def greedy_forced(model, ids, n):
    """As generate with min_new_tokens: end tokens are passed over."""
    cache, out, fresh = {}, [], list(ids)
    for _ in range(n):
        logits = model.forward(fresh, cache, last_only=True)[0]
        logits[list(model.config.eos)] = -np.inf
        fresh = [int(logits.argmax())]
        out += fresh
    return out


def compared(folder, o):
    """Prints the differences; -> what transformers says in f64, per prompt"""
    load = lambda dtype: transformers.AutoModelForCausalLM.from_pretrained(folder, dtype=dtype).eval()  # noqa: E731
    theirs = {"f32": load(torch.float32), "f64": load(torch.float64)}
    for name, (a, b) in llama.checkpoint.read_adapter(o.adapter).items() if o.adapter else ():
        for model in theirs.values():
            weight = model.get_parameter(name)
            weight.data += torch.tensor(b.astype(np.float64) @ a.astype(np.float64)).to(weight.dtype)
    ours = {k: llama.Llama(folder, t, o.adapter) for k, t in (("f32", np.float32), ("f64", np.float64))}
    if o.gguf:
        ours["gguf f32"] = llama.Llama(o.gguf)
    golden = []
    for ids in ([int(i) for i in p.split(",")] for p in o.prompt):
        wanted = {k: logits_of(m, ids) for k, m in theirs.items()}
        got = {k: m.forward(ids).astype(np.float64) for k, m in ours.items()}
        largest = np.abs(wanted["f64"]).max()
        print(f"{pathlib.Path(folder).name}, {len(ids)} tokens")
        for a in got:
            print(f"  {a}:", *(f"{k} {np.abs(got[a] - w).max() / largest:.1e}" for k, w in wanted.items()))
        print("  transformers f32 from its f64:", f"{np.abs(wanted['f32'] - wanted['f64']).max() / largest:.1e}")
        greedy = greedy_of(theirs["f64"], ids, o.n)
        equal = {k: greedy_forced(m, ids, o.n) == greedy for k, m in ours.items()}
        print(f"  {o.n} greedy tokens:", *(f"{k} {'equal' if e else 'differs'}" for k, e in equal.items()), flush=True)
        last = wanted["f64"][-1]
        top = [[int(i), round(float(last[i]), 7)] for i in np.argsort(-last)[:8]]
        golden.append({"prompt": ids, "greedy": greedy, "top": top, "loss": round(mean_loss(wanted["f64"], ids), 7)})
    return golden


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("folders", nargs="+")
    arguments.add_argument("--prompt", action="append", required=True)
    arguments.add_argument("--gguf")
    arguments.add_argument("--adapter", help="a PEFT adapter; its weights are merged for transformers")
    arguments.add_argument("-n", type=int, default=32)
    arguments.add_argument("--write")
    o = arguments.parse_args()
    golden = {pathlib.Path(folder).name: compared(folder, o) for folder in o.folders}
    if o.write:
        lines = (f' {json.dumps(k)}: [\n  ' + ",\n  ".join(map(json.dumps, v)) + "\n ]" for k, v in golden.items())
        pathlib.Path(o.write).write_text("{\n" + ",\n".join(lines) + "\n}\n")


if __name__ == "__main__":
    main()
