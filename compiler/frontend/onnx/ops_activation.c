/* Activations with parameters, and Pow. */
#include "onnx_node.h"
#include <string.h>

/* Elu, Celu, ThresholdedRelu: a function of x and alpha. */
infc_status infc_onnx_import_elu(infc_onnx_at *at) {
    infc_onnx_operand in[2], y;
    const char *op = at->node->op;
    float alpha = infc_onnx_attr_float(at, "alpha", 1.0f);
    if (strcmp(op, "Celu") == 0 && !(alpha > 0 || alpha < 0))
        return infc_onnx_invalid(at, "attribute \"alpha\" is %g; it divides", (double)alpha);
    INFC_TRY(infc_onnx_input(at, 0, &in[0]));
    in[1] = infc_onnx_scalar(at, "alpha", alpha);
    const char *fn = op[0] == 'E' ? "elu" : op[0] == 'C' ? "celu" : "above";
    INFC_TRY(infc_onnx_map(at, fn, in, 2, &y));
    return infc_onnx_output(at, 0, &y);
}

/* x + bias below -lambd, x - bias above lambd, 0 between. */
infc_status infc_onnx_import_shrink(infc_onnx_at *at) {
    infc_onnx_operand x, y, low[3], high[3];
    infc_onnx_operand bias = infc_onnx_scalar(at, "bias", infc_onnx_attr_float(at, "bias", 0.0f));
    infc_onnx_operand lambd = infc_onnx_scalar(at, "lambd", infc_onnx_attr_float(at, "lambd", 0.5f));
    infc_onnx_operand below = infc_onnx_scalar(at, "-lambd", -infc_onnx_attr_float(at, "lambd", 0.5f));
    INFC_TRY(infc_onnx_input(at, 0, &x));
    INFC_TRY(infc_onnx_map2(at, "less", x, below, &low[0]));
    INFC_TRY(infc_onnx_map2(at, "add", x, bias, &low[1]));
    low[2] = infc_onnx_scalar(at, "between", 0.0f);
    INFC_TRY(infc_onnx_map2(at, "less", lambd, x, &high[0]));
    INFC_TRY(infc_onnx_map2(at, "sub", x, bias, &high[1]));
    INFC_TRY(infc_onnx_pick(at, low, &high[2]));
    INFC_TRY(infc_onnx_pick(at, high, &y));
    return infc_onnx_output(at, 0, &y);
}

infc_status infc_onnx_import_selu(infc_onnx_at *at) {
    infc_onnx_operand in[2], y;
    INFC_TRY(infc_onnx_input(at, 0, &in[0]));
    in[1] = infc_onnx_scalar(at, "alpha", infc_onnx_attr_float(at, "alpha", 0x1.ac5afap+0f));
    INFC_TRY(infc_onnx_map(at, "elu", in, 2, &in[0]));
    in[1] = infc_onnx_scalar(at, "gamma", infc_onnx_attr_float(at, "gamma", 0x1.0cfabep+0f));
    INFC_TRY(infc_onnx_map(at, "mul", in, 2, &y));
    return infc_onnx_output(at, 0, &y);
}

infc_status infc_onnx_import_hard_sigmoid(infc_onnx_at *at) {
    infc_onnx_operand in[3], y;
    INFC_TRY(infc_onnx_input(at, 0, &in[0]));
    in[1] = infc_onnx_scalar(at, "alpha", infc_onnx_attr_float(at, "alpha", 0.2f));
    in[2] = infc_onnx_scalar(at, "beta", infc_onnx_attr_float(at, "beta", 0.5f));
    INFC_TRY(infc_onnx_map(at, "hardsigmoid", in, 3, &y));
    return infc_onnx_output(at, 0, &y);
}

infc_status infc_onnx_import_gelu(infc_onnx_at *at) {
    infc_onnx_operand x, y;
    bool tanh = infc_onnx_attr_is(at, "approximate", "tanh");
    if (!tanh && infc_onnx_attr(at, "approximate") && !infc_onnx_attr_is(at, "approximate", "none"))
        return infc_onnx_invalid(at, "attribute \"approximate\" must be none or tanh");
    INFC_TRY(infc_onnx_input(at, 0, &x));
    INFC_TRY(infc_onnx_map(at, tanh ? "gelu_tanh" : "gelu", &x, 1, &y));
    return infc_onnx_output(at, 0, &y);
}

/* x * sigmoid(alpha * x). */
infc_status infc_onnx_import_swish(infc_onnx_at *at) {
    infc_onnx_operand x, pair[2], y;
    INFC_TRY(infc_onnx_input(at, 0, &x));
    float alpha = infc_onnx_attr_float(at, "alpha", *at->node->domain ? 1.702f : 1.0f);
    pair[0] = x;
    pair[1] = infc_onnx_scalar(at, "alpha", alpha);
    if (alpha < 1.0f || alpha > 1.0f) INFC_TRY(infc_onnx_map(at, "mul", pair, 2, &pair[0]));
    INFC_TRY(infc_onnx_map(at, "sigmoid", &pair[0], 1, &pair[1]));
    pair[0] = x;
    INFC_TRY(infc_onnx_map(at, "mul", pair, 2, &y));
    return infc_onnx_output(at, 0, &y);
}

/* The slope broadcasts to x, not the other way round. */
infc_status infc_onnx_import_prelu(infc_onnx_at *at) {
    infc_onnx_operand in[2], y;
    INFC_TRY(infc_onnx_input(at, 0, &in[0]));
    INFC_TRY(infc_onnx_input(at, 1, &in[1]));
    infc_type both;
    if (!infc_type_broadcast(&in[0].type, &in[1].type, &both) || !infc_shape_equal(&both, &in[0].type))
        return infc_onnx_invalid(at, "the slope %s does not broadcast to the input %s",
                                 infc_type_text(at->arena, &in[1].type),
                                 infc_type_text(at->arena, &in[0].type));
    INFC_TRY(infc_onnx_map(at, "leaky", in, 2, &y));
    return infc_onnx_output(at, 0, &y);
}

/* x^exponent for the constants that need no logarithm: 1, 2, 3, 0.5, -1. */
static infc_status power(infc_onnx_at *at, infc_onnx_operand x, float exponent, bool *out_done,
                         infc_onnx_operand *out) {
    const int twice = exponent >= -2 && exponent <= 3 ? (int)(exponent * 2) : 0;
    infc_onnx_operand pair[2] = {x, x};
    *out = x;
    *out_done = (float)twice == exponent * 2;
    switch (twice) {
    case 2: return INFC_OK;
    case 1: return infc_onnx_map(at, "sqrt", &x, 1, out);
    case -2: return infc_onnx_map(at, "reciprocal", &x, 1, out);
    case 4: return infc_onnx_map(at, "mul", pair, 2, out);
    case 6:
        INFC_TRY(infc_onnx_map(at, "mul", pair, 2, &pair[0]));
        return infc_onnx_map(at, "mul", pair, 2, out);
    default: *out_done = false; return INFC_OK;
    }
}

/* Of integers, by squaring: x^0 is 1. */
static infc_status whole_power(infc_onnx_at *at, infc_onnx_operand *y) {
    enum { MOST = 63 };
    infc_onnx_operand x;
    const infc_onnx_operand exponent = infc_onnx_any(at, 1);
    static const int64_t one = 1;
    INFC_TRY(infc_onnx_number(at, 0, &x));
    const double value =
        exponent.constant && infc_type_count(&exponent.type) == 1 && exponent.type.rank <= x.type.rank
            ? infc_weight_f64(exponent.constant, 0)
            : -1;
    if (!(value >= 0 && value <= (double)MOST) || value != (double)(int)value)
        return infc_onnx_refuse(at, "of integers, the exponent must be one constant whole number from 0 to %d", MOST);
    if (value == 0) return infc_onnx_filled(at, &x.type, &one, y);
    int bit = (MOST + 1) / 2;
    while (bit > (int)value) bit /= 2;
    *y = x;
    while (bit /= 2) {
        INFC_TRY(infc_onnx_map2(at, "mul", *y, *y, y));
        if ((int)value & bit) INFC_TRY(infc_onnx_map2(at, "mul", *y, x, y));
    }
    return INFC_OK;
}

infc_status infc_onnx_import_pow(infc_onnx_at *at) {
    infc_onnx_operand in[2], y;
    bool done = false;
    const infc_dtype dtype = infc_onnx_any(at, 0).type.dtype;
    if (dtype == INFC_DTYPE_i32 || dtype == INFC_DTYPE_i64) {
        INFC_TRY(whole_power(at, &y));
        return infc_onnx_output(at, 0, &y);
    }
    INFC_TRY(infc_onnx_input(at, 0, &in[0]));
    infc_onnx_operand exponent = infc_onnx_any(at, 1);
    const infc_weight *c = exponent.constant;
    if (c && infc_type_count(&exponent.type) == 1 && exponent.type.rank <= in[0].type.rank) {
        float value = 0;
        if (exponent.type.dtype == INFC_DTYPE_f32) memcpy(&value, c->bytes, sizeof value);
        else if (exponent.type.dtype == INFC_DTYPE_i64 || exponent.type.dtype == INFC_DTYPE_i32)
            value = (float)infc_weight_i64(c, 0);
        else INFC_TRY(infc_onnx_input(at, 1, &in[1]));
        in[1] = infc_onnx_scalar(at, "exponent", value);
        INFC_TRY(power(at, in[0], value, &done, &y));
    } else {
        INFC_TRY(infc_onnx_input(at, 1, &in[1]));
    }
    if (!done) INFC_TRY(infc_onnx_map(at, "pow", in, 2, &y));
    return infc_onnx_output(at, 0, &y);
}
