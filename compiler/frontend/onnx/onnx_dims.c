/* onnx_dims.c - which operators take dimensions that are known only at run time. */
#include "onnx_import.h"
#include <string.h>

/* In order of strcmp. Others want numbers: their importers compute with C operators. */
static const char *const takes_open[] = {
    "Abs",
    "Add",
    "And",
    "Attention",
    "AveragePool",
    "BatchNormalization",
    "BiasGelu",
    "Cast",
    "CastLike",
    "Ceil",
    "Celu",
    "Clip",
    "Concat",
    "Constant",
    "ConstantOfShape",
    "Conv",
    "ConvInteger",
    "ConvTranspose",
    "Cos",
    "DepthToSpace",
    "DequantizeLinear",
    "Div",
    "Dropout",
    "DynamicQuantizeLinear",
    "DynamicQuantizeMatMul",
    "Elu",
    "EmbedLayerNormalization",
    "Equal",
    "Erf",
    "Exp",
    "Expand",
    "EyeLike",
    "FastGelu",
    "Flatten",
    "Floor",
    "FusedMatMul",
    "GRU",
    "Gather",
    "GatherND",
    "Gelu",
    "Gemm",
    "GlobalAveragePool",
    "GlobalMaxPool",
    "Greater",
    "GreaterOrEqual",
    "GroupNormalization",
    "HardSigmoid",
    "HardSwish",
    "Identity",
    "If",
    "InstanceNormalization",
    "IsInf",
    "IsNaN",
    "LRN",
    "LSTM",
    "LayerNormalization",
    "LeakyRelu",
    "Less",
    "LessOrEqual",
    "Log",
    "LogSoftmax",
    "LpNormalization",
    "MatMul",
    "MatMulInteger",
    "MatMulIntegerToFloat",
    "Max",
    "MaxPool",
    "Mean",
    "Min",
    "Mish",
    "Mod",
    "Mul",
    "MultiHeadAttention",
    "Neg",
    "Not",
    "Or",
    "PRelu",
    "Pad",
    "Pow",
    "QGemm",
    "QLinearAdd",
    "QLinearConcat",
    "QLinearConv",
    "QLinearGlobalAveragePool",
    "QLinearLeakyRelu",
    "QLinearMatMul",
    "QLinearMul",
    "QLinearSigmoid",
    "QLinearSoftmax",
    "QuantizeLinear",
    "QuickGelu",
    "RMSNormalization",
    "RNN",
    "Range",
    "Reciprocal",
    "ReduceL1",
    "ReduceL2",
    "ReduceLogSum",
    "ReduceLogSumExp",
    "ReduceMax",
    "ReduceMean",
    "ReduceMin",
    "ReduceProd",
    "ReduceSum",
    "ReduceSumSquare",
    "Relu",
    "Reshape",
    "Resize",
    "RotaryEmbedding",
    "Round",
    "Selu",
    "Shape",
    "Shrink",
    "Sigmoid",
    "Sign",
    "SimplifiedLayerNormalization",
    "Sin",
    "Size",
    "SkipLayerNormalization",
    "SkipSimplifiedLayerNormalization",
    "Slice",
    "Softmax",
    "Softplus",
    "Softsign",
    "SpaceToDepth",
    "Split",
    "Sqrt",
    "Squeeze",
    "Sub",
    "Sum",
    "Swish",
    "Tanh",
    "ThresholdedRelu",
    "Tile",
    "Transpose",
    "Trilu",
    "Unsqueeze",
    "Upsample",
    "Where",
    "Xor",
};

bool infc_onnx_takes_open(const char *op) {
    size_t low = 0, high = sizeof takes_open / sizeof *takes_open;
    while (low < high) {
        size_t middle = (low + high) / 2;
        int order = strcmp(op, takes_open[middle]);
        if (order == 0) return true;
        if (order < 0) high = middle;
        else low = middle + 1;
    }
    return false;
}

infc_status infc_onnx_dims_check(infc_onnx_at *at) {
    if (infc_sizes_count(infc_ir_sizes(at->import->ir)) == 0) return INFC_OK;
    for (size_t i = 0; i < at->node->n_inputs && !at->wide; i++)
        at->wide = infc_onnx_has(at, i) && infc_weight_has_dims(infc_onnx_any(at, i).constant);
    if (infc_onnx_takes_open(at->node->op)) return INFC_OK;
    for (size_t i = 0; i < at->node->n_inputs; i++) {
        if (!infc_onnx_has(at, i)) continue;
        infc_onnx_operand in = infc_onnx_any(at, i);
        if (infc_type_open(&in.type))
            return infc_onnx_refuse(
                at,
                "input %zu, \"%s\", is %s; dimensions known only at run time are not supported "
                "here yet: give them numbers in shapes",
                i, at->node->inputs[i], infc_type_text(at->arena, &in.type));
        if (infc_weight_has_dims(in.constant))
            return infc_onnx_refuse(
                at,
                "input %zu, \"%s\", is made of dimensions known only at run time, which is not "
                "supported here yet: give them numbers in shapes",
                i, at->node->inputs[i]);
    }
    return INFC_OK;
}

static bool has_forged(const infc_weight *weight) {
    for (int64_t k = 0, n = infc_type_count(&weight->type); k < n; k++) {
        int64_t value;
        memcpy(&value, (const char *)weight->bytes + k * (int64_t)sizeof value, sizeof value);
        if (infc_dim_open(value)) return true;
    }
    return false;
}

infc_status infc_onnx_dims_among(infc_onnx_at *at, const infc_onnx_operand *in, int n, bool *out) {
    *out = false;
    for (int i = 0; i < n; i++) *out |= infc_weight_has_dims(in[i].constant);
    if (!*out) return INFC_OK;
    for (int i = 0; i < n; i++) {
        if (!in[i].constant || in[i].type.dtype != INFC_DTYPE_i64 || infc_weight_has_dims(in[i].constant))
            continue;
        if (has_forged(in[i].constant))
            return infc_onnx_refuse(
                at, "input %d holds numbers near -2^63 beside dimensions known only at run time", i);
    }
    return INFC_OK;
}
