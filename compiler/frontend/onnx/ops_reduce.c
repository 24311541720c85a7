/* The Reduce operators: a sum or a maximum, and what is done to elements before and to results after. */
#include "onnx_node.h"
#include <string.h>

/* Which axes, from the attribute or input 1; *out_none: none are named and none are to be reduced. */
static infc_status read_axes(infc_onnx_at *at, int rank, bool reduced[INFC_MAX_RANK], bool *out_none) {
    int64_t axes[INFC_MAX_RANK];
    int n = 0;
    const infc_onnx_attribute *attribute = infc_onnx_attr(at, "axes");
    INFC_TRY(infc_onnx_attr_flag(at, "noop_with_empty_axes", 0, out_none));
    if (infc_onnx_has(at, 1)) INFC_TRY(infc_onnx_input_ints(at, 1, axes, INFC_MAX_RANK, &n));
    if (attribute && attribute->n_ints > INFC_MAX_RANK)
        return infc_onnx_invalid(at, "attribute \"axes\" has %zu axes", attribute->n_ints);
    for (size_t i = 0; attribute && i < attribute->n_ints; i++) axes[n++] = attribute->ints[i];
    *out_none = *out_none && n == 0;
    for (int i = 0; i < rank; i++) reduced[i] = n == 0 && !*out_none;
    for (int i = 0; i < n; i++) {
        int axis;
        INFC_TRY(infc_onnx_axis(at, axes[i], rank, &axis));
        if (reduced[axis]) return infc_onnx_invalid(at, "axis %d is given twice", axis);
        reduced[axis] = true;
    }
    return INFC_OK;
}

/* The kernel reduces neighbouring axes. An axis of extent 1 between two reduced ones counts as reduced; else the
 * reduced axes are brought to the end, in order. */
static infc_status reduce_axes(infc_onnx_at *at, infc_op_kind kind, infc_onnx_operand x,
                               const bool reduced[INFC_MAX_RANK], infc_onnx_operand *out) {
    int rank = x.type.rank, first = rank, last = -1, n = 0;
    int64_t perm[INFC_MAX_RANK], axes[INFC_MAX_RANK];
    for (int i = 0; i < rank; i++) {
        if (!reduced[i]) perm[n++] = i;
        if (reduced[i] && first == rank) first = i;
        if (reduced[i]) last = i;
    }
    bool adjacent = true;
    for (int i = first; i < last; i++) adjacent = adjacent && (reduced[i] || x.type.dims[i] == 1);
    if (!adjacent) {
        first = n;
        last = rank - 1;
        for (int i = 0; i < rank; i++)
            if (reduced[i]) perm[n++] = i;
        INFC_TRY(infc_onnx_permute(at, &x, perm, &x));
    }
    for (int i = first; i <= last; i++) axes[i - first] = i;
    infc_attr attr = infc_attr_ints("axes", axes, last - first + 1);
    return infc_onnx_build(at, kind, &x, 1, &attr, 1, out);
}

/* log(sum(e^x)), with the maximum taken out; a maximum that is infinite would leave NaN. */
static infc_status log_sum_exp(infc_onnx_at *at, infc_onnx_operand x,
                               const bool reduced[INFC_MAX_RANK], infc_onnx_operand *out) {
    infc_onnx_operand max[3], pair[2];
    INFC_TRY(reduce_axes(at, INFC_OP_reduce_max, x, reduced, &max[0]));
    max[1] = infc_onnx_scalar(at, "lowest", -0x1.fffffep+127f);
    max[2] = infc_onnx_scalar(at, "highest", 0x1.fffffep+127f);
    INFC_TRY(infc_onnx_map(at, "clip", max, 3, &max[0]));
    int64_t dims[INFC_MAX_RANK];
    for (int i = 0; i < x.type.rank; i++) dims[i] = reduced[i] ? 1 : x.type.dims[i];
    INFC_TRY(infc_onnx_view(at, &max[0], dims, x.type.rank, &max[0]));
    pair[0] = x;
    pair[1] = max[0];
    INFC_TRY(infc_onnx_map(at, "sub", pair, 2, &pair[0]));
    INFC_TRY(infc_onnx_map(at, "exp", &pair[0], 1, &pair[0]));
    INFC_TRY(reduce_axes(at, INFC_OP_reduce_sum, pair[0], reduced, &pair[0]));
    INFC_TRY(infc_onnx_view(at, &pair[0], dims, x.type.rank, &pair[0]));
    INFC_TRY(infc_onnx_map(at, "log", &pair[0], 1, &pair[0]));
    return infc_onnx_map(at, "add", pair, 2, out);
}

static const struct reduction {
    const char *op, *before, *after; /* functions of scalar.def; null: none */
    infc_op_kind kind;
} reductions[] = {
    {"ReduceSum", NULL, NULL, INFC_OP_reduce_sum},
    {"ReduceMean", NULL, NULL, INFC_OP_reduce_sum},
    {"ReduceMax", NULL, NULL, INFC_OP_reduce_max},
    {"ReduceMin", "neg", "neg", INFC_OP_reduce_max},
    {"ReduceL1", "abs", NULL, INFC_OP_reduce_sum},
    {"ReduceL2", "mul", "sqrt", INFC_OP_reduce_sum},
    {"ReduceSumSquare", "mul", NULL, INFC_OP_reduce_sum},
    {"ReduceLogSum", NULL, "log", INFC_OP_reduce_sum},
    {"ReduceLogSumExp", "exp", "log", INFC_OP_reduce_sum},
};

static infc_status reduce(infc_onnx_at *at, const struct reduction *how, infc_onnx_operand x,
                          const bool reduced[INFC_MAX_RANK], infc_onnx_operand *out) {
    infc_onnx_operand pair[2] = {x, x};
    if (how->before)
        INFC_TRY(infc_onnx_map(at, how->before, pair, strcmp(how->before, "mul") == 0 ? 2 : 1, &x));
    INFC_TRY(reduce_axes(at, how->kind, x, reduced, &x));
    *out = x;
    return how->after ? infc_onnx_map(at, how->after, &x, 1, out) : INFC_OK;
}

/* Sums and maxima are also of integers; floats are needed where something is computed before or after. */
static infc_status input(infc_onnx_at *at, const struct reduction *how, infc_onnx_operand *x) {
    const infc_dtype dtype = infc_onnx_any(at, 0).type.dtype;
    const bool whole = dtype == INFC_DTYPE_i32 || dtype == INFC_DTYPE_i64;
    const bool plain = !how->before && !how->after && strcmp(how->op, "ReduceMean") != 0;
    return whole && plain ? infc_onnx_number(at, 0, x) : infc_onnx_input(at, 0, x);
}

infc_status infc_onnx_import_reduce(infc_onnx_at *at) {
    infc_onnx_operand x, pair[2];
    bool reduced[INFC_MAX_RANK], none, keep;
    int64_t count = 1, dims[INFC_MAX_RANK];
    int rank = 0;
    const struct reduction *how = reductions;
    while (strcmp(how->op, at->node->op) != 0) how++;
    INFC_TRY(input(at, how, &x));
    INFC_TRY(read_axes(at, x.type.rank, reduced, &none));
    INFC_TRY(infc_onnx_attr_flag(at, "keepdims", 1, &keep));
    for (int i = 0; i < x.type.rank; i++) {
        if (reduced[i]) count = infc_dim_mul(count, x.type.dims[i]);
        if (!reduced[i] || keep) dims[rank++] = reduced[i] ? 1 : x.type.dims[i];
    }
    if ((none || x.type.rank == 0) && (how->before || how->after) && how->kind == INFC_OP_reduce_sum)
        return infc_onnx_refuse(at, "%s over no axes is not supported", how->op);
    if (none || x.type.rank == 0) return infc_onnx_output(at, 0, &x);
    if (strcmp(how->op, "ReduceLogSumExp") == 0) INFC_TRY(log_sum_exp(at, x, reduced, &pair[0]));
    else INFC_TRY(reduce(at, how, x, reduced, &pair[0]));
    if (strcmp(how->op, "ReduceMean") == 0) {
        INFC_TRY(infc_onnx_dim_float(at, "count", count, &pair[1]));
        INFC_TRY(infc_onnx_map(at, "div", pair, 2, &pair[0]));
    }
    INFC_TRY(infc_onnx_view(at, &pair[0], dims, rank, &pair[0]));
    return infc_onnx_output(at, 0, &pair[0]);
}
