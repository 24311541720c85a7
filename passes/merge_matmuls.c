/* merge_matmuls.c - products of one input with several constants, each with a constant bias or none, that an attention
 * reads become one product with the constants side by side:
 *
 *   attention(x wq + bq, x wk + bk, x wv + bv)   becomes   t = x [wq wk wv] + [bq bk bv], attention(t, t, t)
 *
 * and the attention reads its columns from there. Every sum stays as it was. Rules on weights' names say how each is
 * stored, so where there are any, names and constants stay. */
#include "match.h"
#include <string.h>

typedef struct part {
    MlirValue x; /* null: not of that form */
    MlirOperation matmul;
    infc_tensor matrix;
    const infc_weight *weight, *bias; /* bias: null when there is none */
} part;

/* One value, or one per column. */
static const infc_weight *bias_of(const infc_ir *ir, MlirValue value, int64_t n) {
    const infc_weight *weight = infc_ir_weight_of(ir, value);
    if (!weight || weight->type.dtype != INFC_DTYPE_f32 || infc_type_count(&weight->type) != n ||
        weight->type.rank < 1 || weight->type.dims[weight->type.rank - 1] != n)
        return NULL;
    return weight;
}

static part part_of(const infc_ir *ir, MlirValue operand) {
    part p = {0};
    MlirValue value = infc_match_past_reshapes(ir, operand);
    MlirOperation add = infc_match_map(ir, value, "add");
    if (infc_ir_uses(value) != 1) return p;
    if (!mlirOperationIsNull(add)) {
        infc_type type = infc_ir_type(ir, value);
        for (int i = 0; i < 2 && !p.bias; i++) {
            p.bias = bias_of(ir, mlirOperationGetOperand(add, i), type.dims[type.rank - 1]);
            value = mlirOperationGetOperand(add, 1 - i);
        }
        if (!p.bias || infc_ir_uses(value) != 1) return p;
    }
    p.matmul = infc_match_kind(ir, value, INFC_OP_matmul);
    if (mlirOperationIsNull(p.matmul)) return p;
    MlirValue matrix = mlirOperationGetOperand(p.matmul, 1);
    p.weight = infc_constant_matrix(ir, matrix);
    p.matrix.type = infc_ir_type(ir, matrix);
    if (!p.weight || p.matrix.type.rank != 2) return p;
    p.x = mlirOperationGetOperand(p.matmul, 0);
    return p;
}

/* Rows of the matrices side by side; with bias, the one row of each bias. */
static float *side_by_side(infc_arena *arena, const part *parts, int n, bool bias, const infc_type *type) {
    const int64_t columns = type->dims[type->rank - 1], rows = infc_type_count(type) / columns;
    float *out = infc_arena_alloc(arena, (size_t)(rows * columns) * sizeof *out + INFC_OVER_READ, INFC_ALIGN);
    int64_t at = 0;
    for (int i = 0; i < n; i++) {
        const char *from = bias ? (const char *)parts[i].bias->bytes : parts[i].matrix.data;
        const int64_t width = parts[i].matrix.type.dims[1];
        const size_t row = (size_t)width * sizeof *out;
        for (int64_t r = 0; r < rows; r++)
            memcpy(out + r * columns + at, from + (size_t)r * row, row);
        at += width;
    }
    return out;
}

/* x times all of them, plus their biases. */
static infc_status merged_product(infc_ir *ir, infc_ir_at at, const part *parts, int n, MlirValue *out) {
    MlirLocation locations[3];
    infc_type type = parts[0].matrix.type, bias = {.dtype = INFC_DTYPE_f32, .rank = 1};
    type.dims[1] = 0;
    for (int i = 0; i < n; i++) {
        locations[i] = mlirOperationGetLocation(parts[i].matmul);
        type.dims[1] += parts[i].matrix.type.dims[1];
    }
    bias.dims[0] = type.dims[1];
    MlirLocation location = infc_ir_location_fuse(ir, locations, (size_t)n);
    infc_arena *arena = ir->cx->arena;
    MlirValue in[2] = {parts[0].x}, sum[2];
    in[1] = infc_constant_add(ir, at, location, parts[0].weight->name, &type,
                              side_by_side(arena, parts, n, false, &type), "merged with its neighbours");
    INFC_TRY(infc_ir_build(ir, at, INFC_OP_matmul, location, in, 2, NULL, 0, out));
    if (!parts[0].bias) return INFC_OK;
    sum[0] = *out;
    sum[1] = infc_constant_add(ir, at, location, parts[0].bias->name, &bias,
                               side_by_side(arena, parts, n, true, &bias), "merged with its neighbours");
    return infc_ir_map(ir, at, "add", location, sum, 2, out);
}

/* Parts that share x with the first of them, in `members`; how many. */
static int same_input(const part *parts, int first, int *members) {
    int n = 0;
    for (int i = first; i < 3; i++) {
        bool same = !mlirValueIsNull(parts[i].x) && mlirValueEqual(parts[i].x, parts[first].x) &&
                    !parts[i].bias == !parts[first].bias &&
                    parts[i].matrix.type.dims[0] == parts[first].matrix.type.dims[0];
        if (same) members[n++] = i;
    }
    return n;
}

/* The first of the products, before which the merged one can stand: x stands before all. */
static infc_ir_at before_first(const part *parts, const int *members, int n) {
    MlirOperation first = parts[members[0]].matmul;
    for (int i = 1; i < n; i++)
        if (mlirOperationIsBeforeInBlock(parts[members[i]].matmul, first))
            first = parts[members[i]].matmul;
    return (infc_ir_at){mlirOperationGetBlock(first), first};
}

static infc_status merge(infc_pass_cx *pass, MlirOperation op) {
    infc_ir *ir = pass->ir;
    infc_op_desc desc;
    infc_ir_describe(ir, op, &desc);
    part parts[3];
    int members[3], n = 0;
    for (int i = 0; i < 3; i++) parts[i] = part_of(ir, mlirOperationGetOperand(op, i));
    for (int first = 0; first < 2 && n < 2; first++)
        n = mlirValueIsNull(parts[first].x) ? 0 : same_input(parts, first, members);
    if (n < 2) return INFC_OK;
    part chosen[3];
    MlirValue in[INFC_MAX_OPERANDS], t;
    for (int i = 0; i < n; i++) {
        chosen[i] = parts[members[i]];
        INFC_TRY(infc_constant_read(ir, pass->scratch, mlirOperationGetOperand(chosen[i].matmul, 1),
                                    &chosen[i].matrix));
    }
    INFC_TRY(merged_product(ir, before_first(parts, members, n), chosen, n, &t));
    infc_type type = infc_ir_type(ir, t);
    int64_t dims[3] = {0, 0, type.dims[type.rank - 1]}, column = 0;
    MlirLocation location = mlirOperationGetLocation(op);
    infc_ir_at at = {mlirOperationGetBlock(op), op};
    for (int i = 0; i < desc.n_in; i++) in[i] = mlirOperationGetOperand(op, i);
    for (int i = 0; i < n; i++) {
        int k = members[i];
        for (int a = 0; a < 2; a++) dims[a] = desc.in[k].dims[a];
        INFC_TRY(infc_match_reshape(ir, at, location, t, dims, 3, &in[k]));
        for (int a = 0; a < desc.n_attrs; a++)
            if (strcmp(desc.attrs[a].name, "at") == 0) desc.attrs[a].ints[k] += column;
        column += chosen[i].matrix.type.dims[1];
    }
    MlirValue result;
    INFC_TRY(infc_ir_build(ir, at, desc.kind, location, in, desc.n_in, desc.attrs, desc.n_attrs, &result));
    infc_ir_replace(ir, mlirOperationGetResult(op, 0), result);
    infc_ir_erase(op);
    pass->n_changes++;
    return INFC_OK;
}

infc_status infc_pass_merge_matmuls(infc_pass_cx *pass) {
    MlirOperation *ops;
    if (pass->spec && pass->spec->n_rules > 0) return INFC_OK;
    size_t n = infc_ir_ops(pass->scratch, infc_ir_body(pass->ir->main), &ops);
    for (size_t i = 0; i < n; i++) {
        infc_op_kind kind = infc_ir_kind(pass->ir, ops[i]);
        if (kind == INFC_OP_attention || kind == INFC_OP_attention_masked)
            INFC_TRY(merge(pass, ops[i]));
    }
    return INFC_OK;
}
