/* simplify.c - rewrites that keep every bit, but for sums over pixels of channels last (move_transposes.c), which then
 * run in the order of channels first:
 *   reshape to the same shape; reshape of a reshape
 *   transpose that moves no element (a reshape, or nothing); transpose of a transpose; see move_transposes.c
 *   pads folded into windows (fold_pads.c)
 *   x * 1, 1 * x, x / 1, x + -0, -0 + x, x - 0; relu of relu
 * Not here, because a bit changes: x + 0 (makes -0 into +0), x - -0, clip with infinite limits (makes NaN into
 * a limit). A neutral constant that widens x by broadcasting is not neutral. */
#include "fold_pads.h"
#include "move_transposes.h"
#include <math.h>
#include <string.h>

static MlirOperation def_of_kind(const infc_ir *ir, MlirValue value, infc_op_kind kind) {
    MlirOperation def = infc_ir_def(value);
    if (mlirOperationIsNull(def) || infc_ir_kind(ir, def) != kind) return (MlirOperation){NULL};
    return def;
}

/* `from` in the shape of `to`, past reshapes on the way to it. */
static infc_status reshape_to(infc_pass_cx *pass, MlirOperation op, MlirValue from,
                              const infc_type *to, MlirValue *out) {
    MlirOperation inner;
    while (inner = def_of_kind(pass->ir, from, INFC_OP_reshape), !mlirOperationIsNull(inner))
        from = mlirOperationGetOperand(inner, 0);
    infc_type type = infc_ir_type(pass->ir, from);
    *out = from;
    if (infc_shape_equal(&type, to)) return INFC_OK;
    infc_attr shape = infc_attr_ints("shape", to->dims, to->rank);
    infc_ir_at at = {mlirOperationGetBlock(op), op};
    return infc_ir_build(pass->ir, at, INFC_OP_reshape, mlirOperationGetLocation(op), &from, 1, &shape, 1, out);
}

static infc_status simplify_reshape(infc_pass_cx *pass, MlirOperation op, const infc_op_desc *desc,
                                    MlirValue *out) {
    MlirValue from = mlirOperationGetOperand(op, 0);
    bool nested = !mlirOperationIsNull(def_of_kind(pass->ir, from, INFC_OP_reshape));
    if (!nested && !infc_shape_equal(&desc->in[0], &desc->out)) return INFC_OK;
    return reshape_to(pass, op, from, &desc->out, out);
}

static infc_status simplify_transpose(infc_pass_cx *pass, MlirOperation op,
                                      const infc_op_desc *desc, MlirValue *out) {
    MlirValue from = mlirOperationGetOperand(op, 0);
    const infc_attr *perm = infc_desc_attr(desc, "perm");
    INFC_TRY(infc_lift_over_pad(pass, op, perm, out));
    if (!mlirValueIsNull(*out)) return INFC_OK;
    bool nested = !mlirOperationIsNull(def_of_kind(pass->ir, from, INFC_OP_transpose));
    if (!nested && !infc_moves_nothing(&desc->in[0], perm->ints)) return INFC_OK;
    return infc_transposed(pass, op, from, perm, out);
}

/* Whether fn with the constant c as operand `i` gives the other operand, bit for bit. */
static bool is_neutral(const char *fn, int i, float c) {
    if (strcmp(fn, "mul") == 0) return c == 1.0f;
    if (strcmp(fn, "div") == 0) return i == 1 && c == 1.0f;
    if (strcmp(fn, "add") == 0) return c == 0.0f && signbit(c);
    if (strcmp(fn, "sub") == 0) return i == 1 && c == 0.0f && !signbit(c);
    return false;
}

static void simplify_map2(infc_pass_cx *pass, MlirOperation op, const infc_op_desc *desc, MlirValue *out) {
    for (int i = 0; i < 2; i++) {
        float c;
        if (!infc_constant_splat(pass->ir, mlirOperationGetOperand(op, i), &c)) continue;
        if (!is_neutral(infc_desc_str(desc, "fn"), i, c)) continue;
        if (!infc_type_equal(&desc->in[1 - i], &desc->out)) continue;
        *out = mlirOperationGetOperand(op, 1 - i);
        return;
    }
}

static void simplify_map1(infc_pass_cx *pass, MlirOperation op, const infc_op_desc *desc, MlirValue *out) {
    MlirValue from = mlirOperationGetOperand(op, 0);
    MlirOperation inner = def_of_kind(pass->ir, from, INFC_OP_map1);
    if (mlirOperationIsNull(inner) || strcmp(infc_desc_str(desc, "fn"), "relu") != 0) return;
    infc_op_desc first;
    infc_ir_describe(pass->ir, inner, &first);
    if (strcmp(infc_desc_str(&first, "fn"), "relu") == 0) *out = from;
}

/* *out is set when there is something equal and simpler. */
static infc_status simplify(infc_pass_cx *pass, MlirOperation op, MlirValue *out) {
    infc_op_desc desc;
    infc_ir_describe(pass->ir, op, &desc);
    switch (desc.kind) {
    case INFC_OP_reshape: return simplify_reshape(pass, op, &desc, out);
    case INFC_OP_transpose: return simplify_transpose(pass, op, &desc, out);
    case INFC_OP_conv:
    case INFC_OP_pool_max: return infc_fold_pad(pass, op, &desc, out);
    case INFC_OP_map1: simplify_map1(pass, op, &desc, out); break;
    case INFC_OP_map2: simplify_map2(pass, op, &desc, out); break;
    case INFC_OP_map3:
    case INFC_OP_concat2:
    case INFC_OP_concat3:
    case INFC_OP_concat4:
    case INFC_OP_reduce_sum:
    case INFC_OP_reduce_max: break;
    default: return INFC_OK;
    }
    return mlirValueIsNull(*out) ? infc_sink_transposes(pass, op, &desc, out) : INFC_OK;
}

/* In program order, so that operands are simple already; what is left unused is for dce. */
infc_status infc_pass_simplify(infc_pass_cx *pass) {
    MlirOperation *ops;
    size_t n = infc_ir_ops(pass->scratch, infc_ir_body(pass->ir->main), &ops);
    for (size_t i = 0; i < n; i++) {
        MlirValue simpler = {NULL};
        INFC_TRY(simplify(pass, ops[i], &simpler));
        if (mlirValueIsNull(simpler)) continue;
        infc_ir_replace(pass->ir, mlirOperationGetResult(ops[i], 0), simpler);
        infc_ir_erase(ops[i]);
        pass->n_changes++;
    }
    return INFC_OK;
}
