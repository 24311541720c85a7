"""Writes models of the Llama family: folders of Hugging Face and GGUF files, tensor by tensor."""
import json
import struct

import numpy as np

import checkpoint

WRITTEN = {"F32": 4, "F16": 2, "BF16": 2}


def shapes(c, tied):
    """{name: shape} of all tensors, in the order they are written"""
    q, kv = c.heads * c.head_dim, c.kv_heads * c.head_dim
    out = {"model.embed_tokens.weight": (c.vocab, c.hidden)}
    for i in range(c.layers):
        p = f"model.layers.{i}."
        out |= {
            p + "input_layernorm.weight": (c.hidden,),
            p + "self_attn.q_proj.weight": (q, c.hidden),
            p + "self_attn.k_proj.weight": (kv, c.hidden),
            p + "self_attn.v_proj.weight": (kv, c.hidden),
            p + "self_attn.o_proj.weight": (c.hidden, q),
            p + "post_attention_layernorm.weight": (c.hidden,),
            p + "mlp.gate_proj.weight": (c.ffn, c.hidden),
            p + "mlp.up_proj.weight": (c.ffn, c.hidden),
            p + "mlp.down_proj.weight": (c.hidden, c.ffn),
        }
    out["model.norm.weight"] = (c.hidden,)
    if not tied:
        out["lm_head.weight"] = (c.vocab, c.hidden)
    return out


def bf16_bits(value):
    bits = np.ascontiguousarray(value, np.float32).view(np.uint32)
    return ((bits + 0x7FFF + (bits >> 16 & 1)) >> 16).astype(np.uint16)


def stored(value, dtype):
    return bf16_bits(value) if dtype == "BF16" else value.astype({"F32": np.float32, "F16": np.float16}[dtype])


def write_safetensors(path, sizes, value, dtype):
    """`sizes`: {name: shape}; `value(name)`: the f32 array, asked for one after the other"""
    header, at = {"__metadata__": {"format": "pt"}}, 0
    for name, shape in sizes.items():
        end = at + WRITTEN[dtype] * int(np.prod(shape))
        header[name] = {"dtype": dtype, "shape": list(shape), "data_offsets": [at, end]}
        at = end
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as f:
        f.write(struct.pack("<Q", len(text)) + text)
        for name in sizes:
            stored(value(name), dtype).tofile(f)


def write_hf(folder, c, value, dtype="BF16", tied=True, shards=1, more=None):
    """A folder with config.json and safetensors; `more`: further keys of config.json"""
    folder.mkdir(parents=True, exist_ok=True)
    keys = {
        "architectures": ["MistralForCausalLM" if c.window else "LlamaForCausalLM"],
        "model_type": "mistral" if c.window else "llama",
        "hidden_size": c.hidden,
        "intermediate_size": c.ffn,
        "num_hidden_layers": c.layers,
        "num_attention_heads": c.heads,
        "num_key_value_heads": c.kv_heads,
        "head_dim": c.head_dim,
        "vocab_size": c.vocab,
        "max_position_embeddings": c.context,
        "rms_norm_eps": c.epsilon,
        "rope_theta": c.theta,
        "hidden_act": "silu",
        "tie_word_embeddings": tied,
        "bos_token_id": c.bos,
        "eos_token_id": c.eos[0] if c.eos else None,
        "torch_dtype": {"F32": "float32", "F16": "float16", "BF16": "bfloat16"}[dtype],
    }
    if c.window:
        keys["sliding_window"] = c.window
    if c.scaling:
        keys["rope_scaling"] = c.scaling
    (folder / "config.json").write_text(json.dumps(keys | (more or {}), indent=2) + "\n")
    sizes = shapes(c, tied)
    if shards == 1:
        write_safetensors(folder / "model.safetensors", sizes, value, dtype)
        return
    weight_map = {}
    for i in range(shards):
        part = dict(list(sizes.items())[i::shards])
        file = f"model-{i + 1:05}-of-{shards:05}.safetensors"
        write_safetensors(folder / file, part, value, dtype)
        weight_map |= dict.fromkeys(part, file)
    (folder / "model.safetensors.index.json").write_text(json.dumps({"metadata": {}, "weight_map": weight_map}) + "\n")


def gguf_name(name):
    """The name in a GGUF file of a tensor of Hugging Face"""
    parts = name.split(".")
    if parts[1] == "layers":
        layer = {v: k for k, v in checkpoint.GGUF_LAYER.items()}
        return f"blk.{parts[2]}.{layer['.'.join(parts[3:-1])]}.{parts[-1]}"
    top = {v: k for k, v in checkpoint.GGUF_TOP.items()}
    return f"{top['.'.join(parts[:-1])]}.{parts[-1]}"


def write_gguf(path, c, value, kind="F16", tied=True, tokens=None, types=None):
    """`kind`: a type that the gguf package can encode; vectors are F32. `tokens`: pieces of a SentencePiece vocabulary
    with their `types`, else there is no tokenizer in it."""
    import gguf

    g = gguf.GGUFWriter(path, "llama")
    g.add_context_length(c.context)
    g.add_embedding_length(c.hidden)
    g.add_block_count(c.layers)
    g.add_feed_forward_length(c.ffn)
    g.add_head_count(c.heads)
    g.add_head_count_kv(c.kv_heads)
    g.add_key_length(c.head_dim)
    g.add_value_length(c.head_dim)
    g.add_layer_norm_rms_eps(c.epsilon)
    g.add_rope_freq_base(c.theta)
    g.add_rope_dimension_count(c.head_dim)
    g.add_vocab_size(c.vocab)
    if c.scaling:
        assert c.scaling["rope_type"] == "linear"
        g.add_rope_scaling_type(gguf.RopeScalingType.LINEAR)
        g.add_rope_scaling_factor(c.scaling["factor"])
    if tokens is not None:
        g.add_tokenizer_model("llama")
        g.add_token_list(tokens)
        g.add_token_scores([-float(i) for i in range(len(tokens))])
        g.add_token_types(types)
        g.add_add_bos_token(True)
    if c.bos is not None:
        g.add_bos_token_id(c.bos)
    for eos in c.eos:
        g.add_eos_token_id(eos)
    quantized = gguf.GGMLQuantizationType[kind]
    for name in shapes(c, tied):
        array = value(name).astype(np.float32)
        if ".q_proj." in name or ".k_proj." in name:
            array = checkpoint.neighbours(array, c.heads if ".q_proj." in name else c.kv_heads)
        if array.ndim == 1 or kind == "F32":
            g.add_tensor(gguf_name(name), array)
        elif kind == "F16":
            g.add_tensor(gguf_name(name), array.astype(np.float16))
        else:
            g.add_tensor(gguf_name(name), gguf.quants.quantize(array, quantized), raw_dtype=quantized)
    g.write_header_to_file()
    g.write_kv_data_to_file()
    g.write_tensors_to_file()
    g.close()
