"""Weights of the Llama family as numpy arrays with the names of Hugging Face, from a folder or a GGUF file.

Written against the formats, not against infc: what infc reads, packs and computes is compared with this.
"""
import dataclasses
import json
import pathlib
import struct

import numpy as np


@dataclasses.dataclass
class Config:
    layers: int
    hidden: int
    heads: int
    kv_heads: int
    head_dim: int
    ffn: int
    vocab: int
    context: int
    epsilon: float
    theta: float
    window: int = 0  # positions that attention looks back; 0: all
    scaling: dict | None = None  # rope_scaling of config.json
    factors: np.ndarray | None = None  # divisors of the frequencies, one per pair
    bos: int | None = None
    eos: tuple = ()


def bf16_to_f32(bits):
    return (bits.astype(np.uint32) << 16).view(np.float32)


def read_safetensors(path):
    """-> {name: f32 array} of one file with the types F32, F16 and BF16"""
    data = np.fromfile(path, np.uint8)
    (size,) = struct.unpack("<Q", data[:8].tobytes())
    tensors = {}
    for name, entry in json.loads(data[8 : 8 + size].tobytes()).items():
        if name == "__metadata__":
            continue
        begin, end = entry["data_offsets"]
        raw = data[8 + size + begin : 8 + size + end]
        if entry["dtype"] == "BF16":
            value = bf16_to_f32(raw.view(np.uint16))
        else:
            value = raw.view({"F32": np.float32, "F16": np.float16}[entry["dtype"]]).astype(np.float32)
        tensors[name] = value.reshape(entry["shape"])
    return tensors


def read_hf(folder):
    """-> Config, {name: f32 array}"""
    folder = pathlib.Path(folder)
    c = json.loads((folder / "config.json").read_text())
    index = folder / "model.safetensors.index.json"
    files = {"model.safetensors"}
    if index.exists():
        files = set(json.loads(index.read_text())["weight_map"].values())
    weights = {}
    for file in sorted(files):
        weights |= read_safetensors(folder / file)
    eos = c.get("eos_token_id")
    config = Config(
        layers=c["num_hidden_layers"],
        hidden=c["hidden_size"],
        heads=c["num_attention_heads"],
        kv_heads=c.get("num_key_value_heads", c["num_attention_heads"]),
        head_dim=c.get("head_dim", c["hidden_size"] // c["num_attention_heads"]),
        ffn=c["intermediate_size"],
        vocab=c["vocab_size"],
        context=c["max_position_embeddings"],
        epsilon=c["rms_norm_eps"],
        theta=c.get("rope_theta", 10000.0),
        window=c.get("sliding_window") or 0,
        scaling=c.get("rope_scaling"),
        bos=c.get("bos_token_id"),
        eos=tuple(eos) if isinstance(eos, list) else () if eos is None else (eos,),
    )
    if c.get("tie_word_embeddings"):
        weights["lm_head.weight"] = weights["model.embed_tokens.weight"]
    return config, weights


GGUF_LAYER = {
    "attn_norm": "input_layernorm",
    "ffn_norm": "post_attention_layernorm",
    "attn_q": "self_attn.q_proj",
    "attn_k": "self_attn.k_proj",
    "attn_v": "self_attn.v_proj",
    "attn_output": "self_attn.o_proj",
    "ffn_gate": "mlp.gate_proj",
    "ffn_up": "mlp.up_proj",
    "ffn_down": "mlp.down_proj",
}
GGUF_TOP = {"token_embd": "model.embed_tokens", "output_norm": "model.norm", "output": "lm_head"}


def half_split(rows, heads):
    """Rows of q and k back from GGUF's order, where the two of a rotated pair are neighbours, to the two halves."""
    return rows.reshape(heads, rows.shape[0] // heads // 2, 2, -1).swapaxes(1, 2).reshape(rows.shape)


def neighbours(rows, heads):
    """The other way round, as GGUF stores them."""
    return rows.reshape(heads, 2, rows.shape[0] // heads // 2, -1).swapaxes(1, 2).reshape(rows.shape)


def read_gguf(path):
    """-> Config, {name: f32 array}; blocks are decoded by the gguf package"""
    import gguf

    reader = gguf.GGUFReader(path)
    field = lambda key, default=None: reader.fields[key].contents() if key in reader.fields else default  # noqa: E731
    llama = lambda key, default=None: field("llama." + key, default)  # noqa: E731
    assert field("general.architecture") == "llama"
    weights = {}
    for t in reader.tensors:
        value = gguf.quants.dequantize(t.data, t.tensor_type).astype(np.float32)
        weights[t.name] = value.reshape([int(n) for n in t.shape][::-1])
    heads = llama("attention.head_count")
    scaling = None
    if llama("rope.scaling.type", "none") == "linear":
        scaling = {"rope_type": "linear", "factor": llama("rope.scaling.factor")}
    config = Config(
        layers=llama("block_count"),
        hidden=llama("embedding_length"),
        heads=heads,
        kv_heads=llama("attention.head_count_kv", heads),
        head_dim=llama("attention.key_length", llama("embedding_length") // heads),
        ffn=llama("feed_forward_length"),
        vocab=weights["token_embd.weight"].shape[0],
        context=llama("context_length"),
        epsilon=llama("attention.layer_norm_rms_epsilon"),
        theta=llama("rope.freq_base", 10000.0),
        scaling=scaling,
        factors=weights.pop("rope_freqs.weight", None),
        bos=field("tokenizer.ggml.bos_token_id"),
        eos=(field("tokenizer.ggml.eos_token_id"),),
    )
    named = {}
    for name, value in weights.items():
        parts = name.split(".")
        if parts[0] == "blk":
            if parts[2] in ("attn_q", "attn_k"):
                value = half_split(value, config.heads if parts[2] == "attn_q" else config.kv_heads)
            named[f"model.layers.{parts[1]}.{GGUF_LAYER[parts[2]]}.{parts[3]}"] = value
        else:
            named[f"{GGUF_TOP[parts[0]]}.{parts[1]}"] = value
    named.setdefault("lm_head.weight", named["model.embed_tokens.weight"])
    return config, named


def read_model(path):
    path = pathlib.Path(path)
    return read_gguf(path) if path.suffix == ".gguf" else read_hf(path)


def read_adapter(folder):
    """A LoRA adapter of PEFT -> {name of the weight: (A, B times the factor)}"""
    folder = pathlib.Path(folder)
    c = json.loads((folder / "adapter_config.json").read_text())
    tensors = read_safetensors(folder / "adapter_model.safetensors")

    def chosen(patterns, module, otherwise):
        return next((v for k, v in (c.get(patterns) or {}).items() if ("." + module).endswith("." + k)), otherwise)

    pairs = {}
    for name, a in tensors.items():
        if name.endswith(".lora_A.weight"):
            module = name.removeprefix("base_model.model.").removesuffix(".lora_A.weight")
            r, alpha = chosen("rank_pattern", module, c["r"]), chosen("alpha_pattern", module, c["lora_alpha"])
            factor = alpha / (r**0.5 if c.get("use_rslora") else r)
            pairs[module + ".weight"] = (a, np.float32(factor) * tensors[name.replace("lora_A", "lora_B")])
    return pairs


def read_magnitudes(folder):
    """Of an adapter with DoRA -> {name of the weight: magnitude of each output}"""
    tensors = read_safetensors(pathlib.Path(folder) / "adapter_model.safetensors")
    ends = [(k, k.removeprefix("base_model.model.").split(".lora_magnitude_vector")) for k in tensors]
    return {names[0] + ".weight": tensors[k] for k, names in ends if len(names) == 2}


def adapted(weight, pair, magnitude=None):
    """The weight with an adapter in it. DoRA (arXiv 2402.09353, equation 5; PEFT's DoraLinearLayer): its rows have the magnitudes as norms."""
    weight = weight + pair[1].astype(weight.dtype) @ pair[0].astype(weight.dtype)
    if magnitude is None:
        return weight
    return magnitude.astype(weight.dtype)[:, None] * weight / np.sqrt((weight * weight).sum(-1, keepdims=True))
