/* move_transposes.c - models that were made for channels last have a transpose before and after each convolution.
 * Those after go down through element-wise work, concats and reductions until they meet those before, and cancel.
 *
 * Only transposes [N,C,..] -> [N,..,C] of rank 4 and more move, which is what such models have; a group of operands
 * moves when all of them are such transposes, constants or single numbers. */
#include "move_transposes.h"
#include "match.h"
#include <string.h>

bool infc_moves_nothing(const infc_type *x, const int64_t *perm) {
    int64_t last = -1;
    for (int i = 0; i < x->rank; i++) {
        if (x->dims[perm[i]] == 1) continue;
        if (perm[i] < last) return false;
        last = perm[i];
    }
    return true;
}

infc_status infc_transposed(infc_pass_cx *pass, MlirOperation op, MlirValue from,
                            const infc_attr *perm, MlirValue *out) {
    infc_ir *ir = pass->ir;
    infc_ir_at at = {mlirOperationGetBlock(op), op};
    infc_attr both = *perm;
    MlirOperation inner;
    while (inner = infc_match_kind(ir, from, INFC_OP_transpose), !mlirOperationIsNull(inner)) {
        infc_op_desc first;
        infc_attr so_far = both;
        infc_ir_describe(ir, inner, &first);
        for (int i = 0; i < perm->n_ints; i++)
            both.ints[i] = infc_desc_attr(&first, "perm")->ints[so_far.ints[i]];
        from = mlirOperationGetOperand(inner, 0);
    }
    infc_type type = infc_ir_type(ir, from), to = type;
    for (int i = 0; i < type.rank; i++) to.dims[i] = type.dims[both.ints[i]];
    *out = from;
    if (!infc_moves_nothing(&type, both.ints))
        return infc_ir_build(ir, at, INFC_OP_transpose, mlirOperationGetLocation(op), &from, 1, &both, 1, out);
    if (infc_shape_equal(&type, &to)) return INFC_OK;
    infc_attr shape = infc_attr_ints("shape", to.dims, to.rank);
    return infc_ir_build(ir, at, INFC_OP_reshape, mlirOperationGetLocation(op), &from, 1, &shape, 1, out);
}

/* The operand of a transpose [N,C,..] -> [N,..,C] of rank 4 or more; null for other values. */
static MlirValue channels_first(const infc_ir *ir, MlirValue value) {
    MlirOperation def = infc_match_kind(ir, value, INFC_OP_transpose);
    if (mlirOperationIsNull(def)) return (MlirValue){NULL};
    infc_op_desc desc;
    infc_ir_describe(ir, def, &desc);
    const infc_attr *perm = infc_desc_attr(&desc, "perm");
    int rank = perm->n_ints;
    bool last = rank >= 4 && perm->ints[0] == 0 && perm->ints[rank - 1] == 1;
    for (int i = 1; last && i + 1 < rank; i++) last = perm->ints[i] == i + 1;
    return last ? mlirOperationGetOperand(def, 0) : (MlirValue){NULL};
}

/* Where axis i of channels last is in channels first. */
static int64_t axis_first(int rank, int64_t i) { return i == 0 ? 0 : i == rank - 1 ? 1 : i + 1; }

/* A constant that broadcasts to channels last, for channels first. */
static infc_status constant_first(infc_pass_cx *pass, MlirOperation op, int rank,
                                  const infc_weight *weight, MlirValue *out) {
    infc_ir *ir = pass->ir;
    infc_tensor wide = {weight->type, (void *)(uintptr_t)weight->bytes}, made; /* only read */
    infc_attr perm = {.name = "perm", .kind = INFC_ATTR_I64S, .n_ints = rank};
    int missing = rank - weight->type.rank;
    wide.type.rank = rank;
    for (int i = 0; i < rank; i++)
        wide.type.dims[i] = i < missing ? 1 : weight->type.dims[i - missing];
    perm.ints[0] = 0;
    perm.ints[1] = rank - 1;
    for (int i = 2; i < rank; i++) perm.ints[i] = i - 1;
    infc_op_desc desc = {.kind = INFC_OP_transpose, .n_in = 1, .n_attrs = 1, .in = {wide.type}, .attrs = {perm}};
    INFC_TRY(infc_eval_op(ir->cx, pass->scratch, &desc, &wide, &made));
    while (made.type.rank > 1 && made.type.dims[0] == 1) /* [C,1,1], as what comes after a convolution mostly is */
        memmove(made.type.dims, made.type.dims + 1, (size_t)--made.type.rank * sizeof *made.type.dims);
    size_t bytes = (size_t)infc_type_bytes(&made.type);
    void *kept = infc_arena_alloc(ir->cx->arena, bytes + INFC_OVER_READ, INFC_ALIGN);
    memcpy(kept, made.data, bytes);
    infc_ir_at at = {mlirOperationGetBlock(op), op};
    *out = infc_constant_add(ir, at, mlirOperationGetLocation(op), weight->name, &made.type, kept,
                             weight->origin);
    return INFC_OK;
}

/* Operands of `op` for channels first; *out_n_moved of them were transposes. Zero when some operand cannot be had. */
static infc_status operands_first(infc_pass_cx *pass, MlirOperation op, const infc_op_desc *desc,
                                  MlirValue *in, int *out_n_moved) {
    infc_ir *ir = pass->ir;
    *out_n_moved = 0;
    for (int i = 0; i < desc->n_in; i++) {
        MlirValue value = mlirOperationGetOperand(op, i);
        const infc_weight *weight = infc_ir_weight_of(ir, value);
        in[i] = channels_first(ir, value);
        bool moved = !mlirValueIsNull(in[i]) && desc->in[i].rank == desc->out.rank;
        bool one = infc_type_count(&desc->in[i]) == 1;
        if (!moved && !one && !weight) return *out_n_moved = 0, INFC_OK;
        if (!moved) in[i] = value;
        *out_n_moved += moved;
    }
    for (int i = 0; i < desc->n_in && *out_n_moved > 0; i++) {
        const infc_weight *weight = infc_ir_weight_of(ir, in[i]);
        if (weight && infc_type_count(&weight->type) != 1)
            INFC_TRY(constant_first(pass, op, desc->out.rank, weight, &in[i]));
    }
    return INFC_OK;
}

/* The attributes for channels first; false when the op does not exist there. */
static bool attributes_first(const infc_op_desc *desc, infc_attr *attrs) {
    int rank = desc->out.rank;
    for (int i = 0; i < desc->n_attrs; i++) {
        attrs[i] = desc->attrs[i];
        if (strcmp(attrs[i].name, "axis") == 0) attrs[i].i = axis_first(rank, attrs[i].i);
        if (strcmp(attrs[i].name, "axes") != 0) continue;
        bool channels = attrs[i].ints[attrs[i].n_ints - 1] == rank - 1;
        if (channels && attrs[i].n_ints > 1 && attrs[i].n_ints < rank - 1)
            return false; /* not adjacent there */
        if (channels && attrs[i].n_ints == rank && attrs[i].ints[0] == 0) continue; /* all */
        for (int k = 0; k < attrs[i].n_ints; k++)
            attrs[i].ints[k] = axis_first(rank, attrs[i].ints[k]);
        if (!channels && attrs[i].n_ints > 1 && attrs[i].ints[0] == 0)
            return false;                            /* channels lie between */
        if (channels && attrs[i].n_ints == rank - 1) /* 2, 3, .., 1 in order */
            for (int k = 0; k < attrs[i].n_ints; k++) attrs[i].ints[k] = k + 1;
    }
    return true;
}

infc_status infc_sink_transposes(infc_pass_cx *pass, MlirOperation op, const infc_op_desc *desc, MlirValue *out) {
    MlirValue in[INFC_MAX_OPERANDS], made;
    infc_attr attrs[INFC_MAX_ATTRS],
        perm = {.name = "perm", .kind = INFC_ATTR_I64S, .n_ints = desc->out.rank};
    int n_moved, rank = desc->out.rank;
    if (rank < 4 || !attributes_first(desc, attrs)) return INFC_OK;
    INFC_TRY(operands_first(pass, op, desc, in, &n_moved));
    bool concat = desc->kind >= INFC_OP_concat2 && desc->kind <= INFC_OP_concat4;
    if (n_moved == 0 || (concat && n_moved != desc->n_in)) return INFC_OK;
    infc_ir_at at = {mlirOperationGetBlock(op), op};
    INFC_TRY(infc_ir_build(pass->ir, at, desc->kind, mlirOperationGetLocation(op), in, desc->n_in,
                           attrs, desc->n_attrs, &made));
    for (int i = 0; i < rank; i++) perm.ints[i] = axis_first(rank, i);
    return infc_transposed(pass, op, made, &perm, out);
}

infc_status infc_lift_over_pad(infc_pass_cx *pass, MlirOperation op, const infc_attr *perm, MlirValue *out) {
    infc_ir *ir = pass->ir;
    MlirValue value = mlirOperationGetOperand(op, 0), moved;
    MlirOperation pad = infc_match_kind(ir, value, INFC_OP_pad);
    if (mlirOperationIsNull(pad) || infc_ir_uses(value) != 1) return INFC_OK;
    infc_op_desc desc;
    infc_ir_describe(ir, pad, &desc);
    INFC_TRY(infc_transposed(pass, op, mlirOperationGetOperand(pad, 0), perm, &moved));
    for (int i = 0; i < desc.n_attrs; i++) {
        infc_attr old = desc.attrs[i];
        bool sides = strcmp(old.name, "before") == 0 || strcmp(old.name, "after") == 0;
        for (int k = 0; sides && k < perm->n_ints; k++)
            desc.attrs[i].ints[k] = old.ints[perm->ints[k]];
    }
    infc_ir_at at = {mlirOperationGetBlock(op), op};
    return infc_ir_build(ir, at, INFC_OP_pad, mlirOperationGetLocation(op), &moved, 1, desc.attrs,
                         desc.n_attrs, out);
}
