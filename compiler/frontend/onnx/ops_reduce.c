/* The Reduce operators: a sum or a maximum, and what is done to elements before and to results after. */
#include "../../ir/op_rules.h"
#include "ops_part.h"
#include <string.h>

enum { MOST_FACTORS = 64 }; /* of a product */

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
 * reduced axes are brought to the end, in order, and become one. */
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
        const int kept = n;
        for (int i = 0; i < rank; i++)
            if (reduced[i]) perm[n++] = i;
        INFC_TRY(infc_onnx_permute(at, &x, perm, &x));
        const int64_t rows[] = {infc_dims_product(&x.type, 0, kept), infc_dims_product(&x.type, kept, rank)};
        INFC_TRY(infc_onnx_view(at, &x, rows, 2, &x));
        first = last = 1;
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
    {"ReduceProd", NULL, NULL, INFC_OP_map2}, /* product() */
    {"ReduceL1", "abs", NULL, INFC_OP_reduce_sum},
    {"ReduceL2", "mul", "sqrt", INFC_OP_reduce_sum},
    {"ReduceSumSquare", "mul", NULL, INFC_OP_reduce_sum},
    {"ReduceLogSum", NULL, "log", INFC_OP_reduce_sum},
    {"ReduceLogSumExp", "exp", "log", INFC_OP_reduce_sum},
};

/* One integer of x's type, which may be a dim. */
static infc_status integer(infc_onnx_at *at, const infc_onnx_operand *x, int64_t value, infc_onnx_operand *out) {
    const infc_type one = {.dtype = x->type.dtype};
    if (!infc_dim_open(value)) return infc_onnx_filled(at, &one, &value, out);
    INFC_TRY(infc_onnx_numbers(at, value, 1, 1, out));
    INFC_TRY(infc_onnx_convert(at, x->type.dtype, out, out));
    return infc_onnx_view(at, out, NULL, 0, out);
}

/* -1 - x: the order turned round, of all integers. */
static infc_status turned(infc_onnx_at *at, infc_onnx_operand *x) {
    infc_onnx_operand minus_one;
    INFC_TRY(integer(at, x, -1, &minus_one));
    return infc_onnx_map2(at, "sub", minus_one, *x, x);
}

static infc_status reduce(infc_onnx_at *at, const struct reduction *how, infc_onnx_operand x,
                          const bool reduced[INFC_MAX_RANK], infc_onnx_operand *out) {
    infc_onnx_operand pair[2] = {x, x};
    if (x.type.dtype != INFC_DTYPE_f32 && strcmp(how->op, "ReduceMin") == 0) {
        INFC_TRY(turned(at, &x));
        INFC_TRY(reduce_axes(at, how->kind, x, reduced, out));
        return turned(at, out);
    }
    if (how->before)
        INFC_TRY(infc_onnx_map(at, how->before, pair, strcmp(how->before, "mul") == 0 ? 2 : 1, &x));
    INFC_TRY(reduce_axes(at, how->kind, x, reduced, &x));
    *out = x;
    return how->after ? infc_onnx_map(at, how->after, &x, 1, out) : INFC_OK;
}

/* The integers of a constant, or dims, in all. */
static infc_status product_of_known(infc_onnx_at *at, const infc_weight *x, infc_onnx_operand *out) {
    const infc_type one = {.dtype = INFC_DTYPE_i64};
    const bool dims = infc_weight_has_dims(x);
    int64_t product = 1;
    void *bytes;
    for (int64_t k = 0, n = infc_type_count(&x->type); k < n; k++) {
        product = infc_dim_mul(product, infc_weight_i64(x, k));
        if (product == INFC_DIM_BAD)
            return infc_onnx_refuse(at, "the product of the constants is too large for i64");
    }
    INFC_TRY(infc_onnx_constant_dims(at, &one, dims && infc_dim_open(product), &bytes, out));
    memcpy(bytes, &product, sizeof product);
    return INFC_OK;
}

/* Along an axis, from left to right. */
static infc_status product_along(infc_onnx_at *at, int axis, infc_onnx_operand *x) {
    const infc_onnx_operand whole = *x;
    infc_onnx_part part;
    infc_onnx_part_all(&whole.type, &part);
    part.shape[axis] = 1;
    for (int64_t k = 0; k < whole.type.dims[axis]; k++) {
        infc_onnx_operand row;
        part.starts[axis] = k;
        INFC_TRY(infc_onnx_part_of(at, &whole, &part, &row));
        if (k == 0) *x = row;
        else INFC_TRY(infc_onnx_map2(at, "mul", *x, row, x));
    }
    return INFC_OK;
}

/* One multiplication per element that is joined: meant for sizes, and for a few elements. */
static infc_status product(infc_onnx_at *at, infc_onnx_operand x, const bool reduced[INFC_MAX_RANK],
                           int64_t count, infc_onnx_operand *out) {
    bool all = true;
    for (int i = 0; i < x.type.rank; i++) all = all && reduced[i];
    if (all && x.constant && x.type.dtype == INFC_DTYPE_i64)
        return product_of_known(at, x.constant, out);
    if (infc_dim_open(count) || count > MOST_FACTORS)
        return infc_onnx_refuse(at, "multiplies %s elements with each other; %d at most are supported",
                                infc_dim_text(at->arena, count), MOST_FACTORS);
    *out = x;
    for (int i = 0; i < x.type.rank; i++)
        if (reduced[i]) INFC_TRY(product_along(at, i, out));
    return INFC_OK;
}

/* Integers of two widths are computed with, small ones, of which there are maxima, as the first. */
static infc_status input(infc_onnx_at *at, const struct reduction *how, infc_onnx_operand *x) {
    static const char *const of_floats[] = {"ReduceL2", "ReduceLogSum", "ReduceLogSumExp"};
    const infc_dtype dtype = infc_onnx_any(at, 0).type.dtype;
    const bool small = dtype == INFC_DTYPE_i8 || dtype == INFC_DTYPE_u8 || dtype == INFC_DTYPE_bool;
    bool whole = dtype == INFC_DTYPE_i32 || dtype == INFC_DTYPE_i64 || (small && how->kind == INFC_OP_reduce_max);
    for (size_t i = 0; i < sizeof of_floats / sizeof *of_floats; i++)
        whole = whole && strcmp(how->op, of_floats[i]) != 0;
    if (!whole) return infc_onnx_input(at, 0, x);
    INFC_TRY(infc_onnx_number(at, 0, x));
    return small ? infc_onnx_convert(at, INFC_DTYPE_i32, x, x) : INFC_OK;
}

/* The sum becomes the mean; of integers towards 0. */
static infc_status divide(infc_onnx_at *at, int64_t count, infc_onnx_operand *x) {
    infc_onnx_operand by;
    if (x->type.dtype == INFC_DTYPE_f32) INFC_TRY(infc_onnx_dim_float(at, "count", count, &by));
    else INFC_TRY(integer(at, x, count, &by));
    return infc_onnx_map2(at, "div", *x, by, x);
}

infc_status infc_onnx_import_reduce(infc_onnx_at *at) {
    infc_onnx_operand x, y;
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
    y = x;
    if (!none && x.type.rank > 0) {
        if (strcmp(how->op, "ReduceLogSumExp") == 0) INFC_TRY(log_sum_exp(at, x, reduced, &y));
        else if (strcmp(how->op, "ReduceProd") == 0) INFC_TRY(product(at, x, reduced, count, &y));
        else INFC_TRY(reduce(at, how, x, reduced, &y));
        if (strcmp(how->op, "ReduceMean") == 0) INFC_TRY(divide(at, count, &y));
        INFC_TRY(infc_onnx_view(at, &y, dims, rank, &y));
    }
    INFC_TRY(infc_onnx_convert(at, infc_onnx_any(at, 0).type.dtype, &y, &y));
    return infc_onnx_output(at, 0, &y);
}
