/* Element-wise operators: one map each. */
#include "onnx_node.h"
#include <string.h>

/* The function of scalar.def that an operator is. */
static const char *function_of(const char *op) {
    static const char *const pairs[][2] = {
        {"Abs", "abs"},
        {"Exp", "exp"},
        {"Neg", "neg"},
        {"Relu", "relu"},
        {"Sigmoid", "sigmoid"},
        {"Sqrt", "sqrt"},
        {"Tanh", "tanh"},
        {"Add", "add"},
        {"Sub", "sub"},
        {"Mul", "mul"},
        {"Div", "div"},
        {"Max", "max"},
        {"Min", "min"},
        {"Log", "log"},
        {"Erf", "erf"},
        {"Sin", "sin"},
        {"Cos", "cos"},
        {"Floor", "floor"},
        {"Ceil", "ceil"},
        {"Round", "round"},
        {"Reciprocal", "reciprocal"},
        {"Softplus", "softplus"},
        {"HardSwish", "hardswish"},
        {"Mish", "mish"},
        {"Softsign", "softsign"},
        {"Sign", "sign"},
        {"Sum", "add"},
        {"Mean", "add"},
    };
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
        if (strcmp(pairs[i][0], op) == 0) return pairs[i][1];
    return op;
}

infc_status infc_onnx_import_map1(infc_onnx_at *at) {
    infc_onnx_operand x, y;
    bool done;
    INFC_TRY(infc_onnx_fold(at, &done));
    if (done) return INFC_OK;
    INFC_TRY(infc_onnx_number(at, 0, &x));
    INFC_TRY(infc_onnx_map(at, function_of(at->node->op), &x, 1, &y));
    return infc_onnx_output(at, 0, &y);
}

/* Any number of operands, from left to right; Mean divides their sum by their number. */
infc_status infc_onnx_import_map_many(infc_onnx_at *at) {
    infc_onnx_operand pair[2];
    bool done;
    INFC_TRY(infc_onnx_fold(at, &done));
    if (done) return INFC_OK;
    INFC_TRY(infc_onnx_number(at, 0, &pair[0]));
    for (size_t i = 1; i < at->node->n_inputs; i++) {
        if (!infc_onnx_has(at, i))
            return infc_onnx_invalid(at, "input %zu must not be left out", i);
        INFC_TRY(infc_onnx_number(at, i, &pair[1]));
        INFC_TRY(infc_onnx_map(at, function_of(at->node->op), pair, 2, &pair[0]));
    }
    if (strcmp(at->node->op, "Mean") == 0) {
        pair[1] = infc_onnx_scalar(at, "count", (float)at->node->n_inputs);
        INFC_TRY(infc_onnx_map(at, "div", pair, 2, &pair[0]));
    }
    return infc_onnx_output(at, 0, &pair[0]);
}

infc_status infc_onnx_import_map2(infc_onnx_at *at) { return infc_onnx_import_map_many(at); }

infc_status infc_onnx_import_leaky_relu(infc_onnx_at *at) {
    infc_onnx_operand in[2], y;
    INFC_TRY(infc_onnx_input(at, 0, &in[0]));
    in[1] = infc_onnx_scalar(at, "alpha", infc_onnx_attr_float(at, "alpha", 0.01f));
    INFC_TRY(infc_onnx_map(at, "leaky", in, 2, &y));
    return infc_onnx_output(at, 0, &y);
}

/* A bound of Clip: attribute `name`, or input i as a scalar. */
static infc_status clip_bound(infc_onnx_at *at, const char *name, size_t i, bool *out_has,
                              infc_onnx_operand *out) {
    const infc_onnx_attribute *attribute = infc_onnx_attr(at, name);
    *out_has = attribute || infc_onnx_has(at, i);
    if (attribute) *out = infc_onnx_scalar(at, name, attribute->f);
    if (attribute || !*out_has) return INFC_OK;
    INFC_TRY(infc_onnx_number(at, i, out));
    if (infc_type_count(&out->type) != 1)
        return infc_onnx_invalid(at, "input %zu, \"%s\", has more than one element", i, at->node->inputs[i]);
    return infc_onnx_view(at, out, NULL, 0, out);
}

infc_status infc_onnx_import_clip(infc_onnx_at *at) {
    infc_onnx_operand x, low, high, y;
    bool has_low, has_high;
    INFC_TRY(infc_onnx_number(at, 0, &x));
    INFC_TRY(clip_bound(at, "min", 1, &has_low, &low));
    INFC_TRY(clip_bound(at, "max", 2, &has_high, &high));
    y = x;
    /* One bound: it comes first, so that a NaN in x stays one, as the scalar functions define it. */
    if (has_low && has_high)
        INFC_TRY(infc_onnx_map(at, "clip", (infc_onnx_operand[]){x, low, high}, 3, &y));
    else if (has_low) INFC_TRY(infc_onnx_map(at, "max", (infc_onnx_operand[]){low, x}, 2, &y));
    else if (has_high) INFC_TRY(infc_onnx_map(at, "min", (infc_onnx_operand[]){high, x}, 2, &y));
    return infc_onnx_output(at, 0, &y);
}
