"""Attention and what stands around it, of ONNX and of com.microsoft, compared with ONNX Runtime:
python onnx_attention.py ONNX_EVAL FOLDER [CASE]"""
import sys

import numpy as np

import onnx_cases as oc
from onnx_cases import f32
from onnx_compare import Table

CASES = Table()
case = CASES.case
MS = "com.microsoft"
LAST = np.array([[1, 1, 1, 1, 0], [1, 1, 0, 0, 0]], np.int32)  # keys that are seen
case("attention_3d", "Attention", [[2, 5, 12], [2, 7, 12], [2, 7, 9]], opset=23, q_num_heads=3, kv_num_heads=3)
case("attention_4d", "Attention", [[2, 3, 5, 4], [2, 3, 7, 4], [2, 3, 7, 6]], opset=23, scale=0.3)
case("attention_groups", "Attention", [[1, 4, 5, 8], [1, 2, 6, 8], [1, 2, 6, 8]], opset=24)
case("attention_causal", "Attention", [[1, 2, 20, 8], [1, 2, 20, 8], [1, 2, 20, 8]], opset=23, is_causal=1)
case("attention_mask", "Attention", [[1, 2, 5, 8], [1, 2, 7, 8], [1, 2, 7, 8], [5, 7]], opset=23)
case("attention_truth_mask", "Attention", [[2, 2, 5, 8], [2, 2, 4, 8], [2, 2, 4, 8], np.arange(20).reshape(5, 4) % 3 < 2], opset=23)
case("attention_long", "Attention", [[1, 1, 3, 8], [1, 1, 700, 8], [1, 1, 700, 8]], opset=23)
case("rotary", "RotaryEmbedding", [[2, 3, 4, 8], [9, 4], [9, 4], np.array([[0, 1, 2, 8], [3, 3, 1, 0]])], opset=23)
case("rotary_angles", "RotaryEmbedding", [[2, 3, 4, 8], [2, 4, 4], [2, 4, 4]], opset=23)
case("rotary_interleaved", "RotaryEmbedding", [[2, 4, 24], [2, 4, 4], [2, 4, 4]], opset=23, num_heads=3, interleaved=1)
case("rotary_part", "RotaryEmbedding", [[2, 3, 4, 8], [2, 4, 2], [2, 4, 2]], opset=23, rotary_embedding_dim=4)
case("rotary_part_interleaved", "RotaryEmbedding", [[2, 3, 4, 8], [2, 4, 2], [2, 4, 2]], opset=23, rotary_embedding_dim=4, interleaved=1)
for name, op, bias in [("bias_gelu", "BiasGelu", [5]), ("ms_gelu", "Gelu", None), ("fast_gelu", "FastGelu", None), ("fast_gelu_bias", "FastGelu", [5])]:
    case(name, op, [[3, 5]] + ([bias] if bias else []), domain=MS)
case("quick_gelu", "QuickGelu", [[3, 5]], domain=MS)
case("quick_gelu_alpha", "QuickGelu", [[3, 5]], domain=MS, alpha=1.5)
case("fused_matmul", "FusedMatMul", [[2, 5, 3], [2, 4, 5]], domain=MS, transA=1, transB=1, alpha=0.25)
case("fused_matmul_rank4", "FusedMatMul", [[2, 3, 5, 4], [2, 3, 6, 4]], domain=MS, transB=1)
case("skip_layernorm", "SkipLayerNormalization", [[2, 3, 8], [2, 3, 8]], [f32([8]), f32([8], "b")], domain=MS, epsilon=1e-5)
case("skip_layernorm_bias", "SkipLayerNormalization", [[2, 3, 8], [1, 3, 8]], [f32([8]), f32([8], "b"), f32([8], "c")], domain=MS)
case("skip_rmsnorm", "SkipSimplifiedLayerNormalization", [[2, 3, 8], [2, 3, 8]], [f32([8])], domain=MS, epsilon=1e-5)
case("skip_rmsnorm_bias", "SkipSimplifiedLayerNormalization", [[2, 3, 8], [2, 3, 8]], [f32([8]), f32([8], "b")], domain=MS, epsilon=1e-5)
case("simplified_layernorm", "SimplifiedLayerNormalization", [[2, 3, 8]], [f32([8])], epsilon=1e-5, axis=-1)
case("early_layernorm", "LayerNormalization", [[2, 3, 8]], [f32([8]), f32([8], "b")], opset=14, axis=-1)
case("embed_layernorm", "EmbedLayerNormalization", [np.array([[3, 0, 5]], np.int32), np.array([[0, 1, 1]], np.int32)],
     [f32([6, 8]), f32([9, 8]), f32([2, 8]), f32([8]), f32([8], "b")], domain=MS, n_out=2, epsilon=1e-5)
for name, mask in [("", None), ("_mask", LAST), ("_lengths", np.array([5, 2], np.int32))]:
    case("ms_attention" + name, "Attention", [[2, 5, 8]], [f32([8, 36]), f32([36]), mask][:3 if mask is not None else 2], domain=MS, num_heads=3)
    case("ms_multi_head" + name, "MultiHeadAttention", [[2, 4, 12], [2, 5, 12], [2, 5, 12]], [f32([36]), mask][:2 if mask is not None else 1],
         domain=MS, num_heads=3)
case("ms_attention_causal", "Attention", [[2, 5, 8]], [f32([8, 36]), f32([36])], domain=MS, num_heads=3, unidirectional=1)
case("ms_multi_head_bias", "MultiHeadAttention", [[2, 4, 12], [2, 5, 12], [2, 5, 12]], [None, None, f32([2, 3, 4, 5])], domain=MS, num_heads=3, scale=0.5)


if __name__ == "__main__":
    sys.exit(oc.main(CASES.runs))
