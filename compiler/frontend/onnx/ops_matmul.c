/* Gemm and MatMul. */
#include "onnx_node.h"

static infc_status multiply(infc_onnx_at *at, const infc_onnx_operand *a,
                            const infc_onnx_operand *b, infc_onnx_operand *out) {
    infc_onnx_operand pair[] = {*a, *b};
    return infc_onnx_build(at, INFC_OP_matmul, pair, 2, NULL, 0, out);
}

/* [.., K, N] as [batch, K, N]. */
infc_status infc_onnx_merge_batch(infc_onnx_at *at, infc_onnx_operand *x) {
    int64_t dims[3] = {1, x->type.dims[x->type.rank - 2], x->type.dims[x->type.rank - 1]};
    for (int i = 0; i + 2 < x->type.rank; i++) dims[0] = infc_dim_mul(dims[0], x->type.dims[i]);
    return infc_onnx_view(at, x, dims, 3, x);
}

/* The right side becomes a panel, which has at most one batch dimension (ir/ops/matmul.c). */
static infc_status multiply_batches(infc_onnx_at *at, const infc_onnx_operand *a,
                                    const infc_onnx_operand *b, infc_onnx_operand *out) {
    infc_onnx_operand x = *a, y = *b;
    infc_op_desc desc = {.kind = INFC_OP_matmul, .n_in = 2, .in = {a->type, b->type}};
    infc_type product;
    bool fits = infc_op_get(INFC_OP_matmul)->shape(at->arena, &desc, &product) == NULL;
    if (!fits || b->type.rank <= 3) return multiply(at, a, b, out); /* which says what is wrong */
    INFC_TRY(infc_onnx_merge_batch(at, &x));
    INFC_TRY(infc_onnx_merge_batch(at, &y));
    INFC_TRY(multiply(at, &x, &y, out));
    return infc_onnx_view(at, out, product.dims, product.rank, out);
}

/* x * factor, or x itself when the factor is 1. */
static infc_status scale(infc_onnx_at *at, const char *what, infc_onnx_operand *x) {
    float factor = infc_onnx_attr_float(at, what, 1.0f);
    if (factor == 1.0f) return INFC_OK;
    infc_onnx_operand pair[] = {*x, infc_onnx_scalar(at, what, factor)};
    return infc_onnx_map(at, "mul", pair, 2, x);
}

static infc_status gemm_matrix(infc_onnx_at *at, size_t i, const char *flag, infc_onnx_operand *out) {
    static const int64_t swapped[] = {1, 0};
    INFC_TRY(infc_onnx_input(at, i, out));
    if (out->type.rank != 2)
        return infc_onnx_invalid(at, "input %zu, \"%s\", has %d dimensions, not 2", i,
                                 at->node->inputs[i], out->type.rank);
    return infc_onnx_attr_int(at, flag, 0) ? infc_onnx_permute(at, out, swapped, out) : INFC_OK;
}

infc_status infc_onnx_import_gemm(infc_onnx_at *at) {
    infc_onnx_operand a, b, y;
    INFC_TRY(gemm_matrix(at, 0, "transA", &a));
    INFC_TRY(gemm_matrix(at, 1, "transB", &b));
    INFC_TRY(multiply(at, &a, &b, &y));
    INFC_TRY(scale(at, "alpha", &y));
    if (infc_onnx_has(at, 2) && infc_onnx_attr_float(at, "beta", 1.0f) != 0.0f) {
        infc_onnx_operand pair[] = {y, y};
        infc_type sum;
        INFC_TRY(infc_onnx_input(at, 2, &pair[1]));
        if (!infc_type_broadcast(&y.type, &pair[1].type, &sum) || !infc_shape_equal(&sum, &y.type))
            return infc_onnx_invalid(at, "input 2 is %s, which does not broadcast to the product, %s",
                                     infc_type_text(at->arena, &pair[1].type),
                                     infc_type_text(at->arena, &y.type));
        INFC_TRY(scale(at, "beta", &pair[1]));
        INFC_TRY(infc_onnx_map(at, "add", pair, 2, &y));
    }
    return infc_onnx_output(at, 0, &y);
}

/* A vector is a row on the left, a column on the right; the axis added for it goes again. */
infc_status infc_onnx_import_matmul(infc_onnx_at *at) {
    infc_onnx_operand a, b, y;
    INFC_TRY(infc_onnx_input(at, 0, &a));
    INFC_TRY(infc_onnx_input(at, 1, &b));
    if (a.type.rank < 1 || b.type.rank < 1)
        return infc_onnx_invalid(at, "a scalar cannot be multiplied");
    bool row = a.type.rank == 1, column = b.type.rank == 1;
    int64_t as_row[] = {1, a.type.dims[0]}, as_column[] = {b.type.dims[0], 1};
    if (row) INFC_TRY(infc_onnx_view(at, &a, as_row, 2, &a));
    if (column) INFC_TRY(infc_onnx_view(at, &b, as_column, 2, &b));
    INFC_TRY(multiply_batches(at, &a, &b, &y));
    int64_t dims[INFC_MAX_RANK];
    int rank = 0;
    for (int i = 0; i < y.type.rank; i++) {
        bool added = (row && i == y.type.rank - 2) || (column && i == y.type.rank - 1);
        if (!added) dims[rank++] = y.type.dims[i];
    }
    INFC_TRY(infc_onnx_view(at, &y, dims, rank, &y));
    return infc_onnx_output(at, 0, &y);
}

/* The last two axes changed places when the attribute says so; alpha times the product. */
infc_status infc_onnx_import_fused_matmul(infc_onnx_at *at) {
    infc_onnx_operand in[2], y;
    static const char *const flags[] = {"transA", "transB"}, *const others[] = {"transBatchA",
                                                                                "transBatchB"};
    for (size_t i = 0; i < 2; i++) {
        int64_t perm[INFC_MAX_RANK];
        bool turned;
        INFC_TRY(infc_onnx_input(at, i, &in[i]));
        INFC_TRY(infc_onnx_attr_flag(at, flags[i], 0, &turned));
        if (infc_onnx_attr_int(at, others[i], 0))
            return infc_onnx_refuse(at, "\"%s\" is not supported", others[i]);
        int rank = in[i].type.rank;
        if (rank < 2)
            return infc_onnx_refuse(at, "input %zu has %d dimensions; at least 2 are supported", i, rank);
        for (int a = 0; a < rank; a++) perm[a] = turned && a >= rank - 2 ? 2 * rank - 3 - a : a;
        INFC_TRY(infc_onnx_permute(at, &in[i], perm, &in[i]));
    }
    INFC_TRY(multiply_batches(at, &in[0], &in[1], &y));
    INFC_TRY(scale(at, "alpha", &y));
    return infc_onnx_output(at, 0, &y);
}
