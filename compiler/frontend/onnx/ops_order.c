/* Operators that rank elements or go through them in order along an axis: ArgMax, ArgMin, TopK, Hardmax, CumSum. */
#include "../../ir/op_rules.h"
#include "ops_index.h"
#include <string.h>

/* Input 0 as f32, integers that fit into it included. */
static infc_status ranked(infc_onnx_at *at, infc_onnx_operand *out) {
    *out = infc_onnx_any(at, 0);
    infc_dtype dtype = out->type.dtype;
    if (infc_dtype_is_integer(dtype) && infc_dtype_bytes(dtype) <= 2) {
        INFC_TRY(infc_onnx_number(at, 0, out));
        return infc_onnx_convert(at, INFC_DTYPE_f32, out, out);
    }
    return infc_onnx_input(at, 0, out);
}

static infc_status top(infc_onnx_at *at, const infc_onnx_operand *x, int axis, int64_t k,
                       bool least, bool last, infc_onnx_operand *out) {
    infc_attr attrs[] = {infc_attr_int("axis", axis), infc_attr_int("k", k),
                         infc_attr_int("least", least), infc_attr_int("last", last)};
    if (x->type.dims[axis] > 1 << 24)
        return infc_onnx_refuse(at, "an axis of %lld elements; at most %d are supported",
                                (long long)x->type.dims[axis], 1 << 24);
    INFC_TRY(infc_onnx_build(at, INFC_OP_top, x, 1, attrs, 4, out));
    return infc_onnx_convert(at, INFC_DTYPE_i64, out, out);
}

/* Drops an axis of extent 1. */
static infc_status without_axis(infc_onnx_at *at, int axis, infc_onnx_operand *x) {
    int64_t dims[INFC_MAX_RANK];
    int rank = 0;
    for (int i = 0; i < x->type.rank; i++)
        if (i != axis) dims[rank++] = x->type.dims[i];
    return infc_onnx_view(at, x, dims, rank, x);
}

infc_status infc_onnx_import_arg(infc_onnx_at *at) {
    infc_onnx_operand x, y;
    bool keep, last;
    int axis;
    INFC_TRY(ranked(at, &x));
    INFC_TRY(infc_onnx_attr_flag(at, "keepdims", 1, &keep));
    INFC_TRY(infc_onnx_attr_flag(at, "select_last_index", 0, &last));
    INFC_TRY(infc_onnx_axis(at, infc_onnx_attr_int(at, "axis", 0), x.type.rank, &axis));
    INFC_TRY(top(at, &x, axis, 1, strcmp(at->node->op, "ArgMin") == 0, last, &y));
    if (!keep) INFC_TRY(without_axis(at, axis, &y));
    return infc_onnx_output(at, 0, &y);
}

/* k: an attribute, from opset 10 on a constant input. */
static infc_status read_k(infc_onnx_at *at, int64_t most, int64_t *out) {
    int64_t *values, n;
    *out = infc_onnx_attr_int(at, "k", 0);
    if (at->opset < 10 && !infc_onnx_attr(at, "k"))
        return infc_onnx_invalid(at, "attribute \"k\" is missing");
    if (infc_onnx_has(at, 1)) {
        INFC_TRY(infc_onnx_input_integers(at, 1, &values, &n));
        if (n != 1 || infc_onnx_any(at, 1).type.rank != 1)
            return infc_onnx_invalid(at, "k has %lld elements in %d dimensions, not 1 in 1",
                                     (long long)n, infc_onnx_any(at, 1).type.rank);
        *out = values[0];
    }
    if (*out < 0 || *out > most)
        return infc_onnx_invalid(at, "the %lld largest of %lld elements", (long long)*out, (long long)most);
    return *out ? INFC_OK : infc_onnx_refuse(at, "k is 0");
}

infc_status infc_onnx_import_top_k(infc_onnx_at *at) {
    infc_onnx_operand x, ranks, index, y;
    bool largest, sorted;
    int axis;
    int64_t k = 0;
    INFC_TRY(ranked(at, &ranks));
    x = infc_onnx_any(at, 0);
    INFC_TRY(infc_onnx_attr_flag(at, "largest", 1, &largest));
    INFC_TRY(infc_onnx_attr_flag(at, "sorted", 1, &sorted)); /* when not, any order will do */
    INFC_TRY(infc_onnx_axis(at, infc_onnx_attr_int(at, "axis", -1), x.type.rank, &axis));
    INFC_TRY(read_k(at, x.type.dims[axis], &k));
    INFC_TRY(top(at, &ranks, axis, k, !largest, false, &index));
    INFC_TRY(infc_onnx_output(at, 1, &index));
    if (!infc_onnx_output_used(at, 0)) return INFC_OK;
    INFC_TRY(infc_onnx_elements_at(at, &x, &index, axis, &y));
    return infc_onnx_output(at, 0, &y);
}

/* 1 at the first maximum along the axis, else 0; before opset 13 over that axis and all that follow. */
infc_status infc_onnx_import_hardmax(infc_onnx_at *at) {
    infc_onnx_operand x, index, y;
    int axis;
    INFC_TRY(infc_onnx_input(at, 0, &x));
    infc_type type = x.type;
    INFC_TRY(infc_onnx_axis(at, infc_onnx_attr_int(at, "axis", at->opset < 13 ? 1 : -1), type.rank, &axis));
    if (at->opset < 13) {
        const int64_t flat[] = {infc_dims_product(&type, 0, axis), infc_dims_product(&type, axis, type.rank)};
        INFC_TRY(infc_onnx_view(at, &x, flat, 2, &x));
        axis = 1;
    }
    INFC_TRY(top(at, &x, axis, 1, false, false, &index));
    INFC_TRY(without_axis(at, axis, &index));
    INFC_TRY(infc_onnx_one_hot(at, index, x.type.dims[axis], axis, &y));
    INFC_TRY(infc_onnx_convert(at, INFC_DTYPE_f32, &y, &y));
    INFC_TRY(infc_onnx_view(at, &y, type.dims, type.rank, &y));
    return infc_onnx_output(at, 0, &y);
}

infc_status infc_onnx_import_cum_sum(infc_onnx_at *at) {
    infc_onnx_operand x, y;
    bool exclusive, reverse;
    int64_t *axes, n;
    int axis;
    INFC_TRY(infc_onnx_number(at, 0, &x));
    if (x.type.dtype != INFC_DTYPE_f32 && x.type.dtype != INFC_DTYPE_i32 && x.type.dtype != INFC_DTYPE_i64)
        return infc_onnx_refuse(at, "input 0, \"%s\", is %s; f32, i32 and i64 are supported",
                                at->node->inputs[0], infc_dtype_name(x.type.dtype));
    INFC_TRY(infc_onnx_input_integers(at, 1, &axes, &n));
    if (n != 1) return infc_onnx_invalid(at, "the axis has %lld elements, not 1", (long long)n);
    INFC_TRY(infc_onnx_axis(at, axes[0], x.type.rank, &axis));
    INFC_TRY(infc_onnx_attr_flag(at, "exclusive", 0, &exclusive));
    INFC_TRY(infc_onnx_attr_flag(at, "reverse", 0, &reverse));
    infc_attr attrs[] = {infc_attr_int("axis", axis), infc_attr_int("reverse", reverse),
                         infc_attr_int("exclusive", exclusive)};
    INFC_TRY(infc_onnx_build(at, INFC_OP_running_sum, &x, 1, attrs, 3, &y));
    return infc_onnx_output(at, 0, &y);
}
