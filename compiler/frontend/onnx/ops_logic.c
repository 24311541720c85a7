/* Comparisons, logic, Where, Cast: on integers, booleans and f32. */
#include "onnx_import.h"
#include <math.h>
#include <string.h>

static const struct logic {
    const char *op, *fn;
    bool swapped, negated;
} logics[] = {
    {"And", "and", false, false},
    {"Equal", "equal", false, false},
    {"Greater", "less", true, false},
    {"GreaterOrEqual", "less_equal", true, false},
    {"IsNaN", "is_nan", false, false},
    {"Less", "less", false, false},
    {"LessOrEqual", "less_equal", false, false},
    {"Not", "not", false, false},
    {"Or", "or", false, false},
    {"Xor", "xor", false, false},
};

infc_status infc_onnx_import_logic(infc_onnx_at *at) {
    infc_onnx_operand in[2], y;
    const struct logic *logic = NULL;
    bool done;
    INFC_TRY(infc_onnx_fold(at, &done));
    if (done) return INFC_OK;
    for (size_t i = 0; i < sizeof logics / sizeof *logics; i++)
        if (strcmp(logics[i].op, at->node->op) == 0) logic = &logics[i];
    if (!logic) return infc_onnx_refuse(at, "is not known");
    int n = (int)at->node->n_inputs;
    for (int i = 0; i < n && i < 2; i++)
        INFC_TRY(infc_onnx_number(at, (size_t)i, &in[logic->swapped ? 1 - i : i]));
    INFC_TRY(infc_onnx_map(at, logic->fn, in, n, &y));
    return infc_onnx_output(at, 0, &y);
}

/* fmod 1: the sign of the dividend, as C's. */
infc_status infc_onnx_import_mod(infc_onnx_at *at) {
    infc_onnx_operand in[2], y;
    bool done, fmod;
    INFC_TRY(infc_onnx_attr_flag(at, "fmod", 0, &fmod));
    if (!fmod) INFC_TRY(infc_onnx_fold(at, &done));
    if (!fmod && done) return INFC_OK;
    for (size_t i = 0; i < 2; i++) INFC_TRY(infc_onnx_number(at, i, &in[i]));
    if (in[0].type.dtype == INFC_DTYPE_f32)
        return fmod ? infc_onnx_refuse(at, "fmod=1 of floats is not supported; of integers it is")
                    : infc_onnx_invalid(at, "of floats, ONNX has Mod with fmod=1 only");
    INFC_TRY(infc_onnx_map(at, fmod ? "fmod" : "mod", in, 2, &y));
    return infc_onnx_output(at, 0, &y);
}

infc_status infc_onnx_convert(infc_onnx_at *at, infc_dtype to, const infc_onnx_operand *in,
                              infc_onnx_operand *out) {
    infc_onnx_operand from = *in;
    infc_attr attr = infc_attr_string("to", infc_dtype_name(to));
    *out = from;
    if (from.type.dtype == to) return INFC_OK;
    return infc_onnx_build(at, INFC_OP_convert, &from, 1, &attr, 1, out);
}

/* A choice between f32 goes by a number above 0, so that it joins the arithmetic around it. */
infc_status infc_onnx_pick(infc_onnx_at *at, const infc_onnx_operand in[3], infc_onnx_operand *out) {
    infc_onnx_operand pick[3] = {in[0], in[1], in[2]};
    if (in[1].type.dtype == INFC_DTYPE_f32)
        INFC_TRY(infc_onnx_convert(at, INFC_DTYPE_f32, &in[0], &pick[0]));
    return infc_onnx_map(at, "pick", pick, 3, out);
}

infc_status infc_onnx_import_where(infc_onnx_at *at) {
    infc_onnx_operand in[3], y;
    bool done;
    INFC_TRY(infc_onnx_fold(at, &done));
    if (done) return INFC_OK;
    for (size_t i = 0; i < 3; i++) INFC_TRY(infc_onnx_number(at, i, &in[i]));
    if (in[0].type.dtype != INFC_DTYPE_bool || in[1].type.dtype != in[2].type.dtype)
        return infc_onnx_invalid(at, "operands of %s, %s and %s", infc_dtype_name(in[0].type.dtype),
                                 infc_dtype_name(in[1].type.dtype), infc_dtype_name(in[2].type.dtype));
    INFC_TRY(infc_onnx_pick(at, in, &y));
    return infc_onnx_output(at, 0, &y);
}

/* Infinite, of the signs that the attributes name. */
infc_status infc_onnx_import_is_inf(infc_onnx_at *at) {
    infc_onnx_operand x, y, infinity = infc_onnx_scalar(at, "infinity", INFINITY);
    bool negative, positive;
    INFC_TRY(infc_onnx_input(at, 0, &x));
    INFC_TRY(infc_onnx_attr_flag(at, "detect_negative", 1, &negative));
    INFC_TRY(infc_onnx_attr_flag(at, "detect_positive", 1, &positive));
    if (negative && positive) INFC_TRY(infc_onnx_map(at, "abs", &x, 1, &x));
    else if (negative) INFC_TRY(infc_onnx_map(at, "neg", &x, 1, &x));
    else if (!positive) infinity = infc_onnx_scalar(at, "never", NAN);
    INFC_TRY(infc_onnx_map2(at, "equal", x, infinity, &y));
    return infc_onnx_output(at, 0, &y);
}
