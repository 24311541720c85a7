/* ir_verify.c - what must hold between any two passes, beyond what MLIR and the IRDL text check:
 *   - @main exists; functions have one block that ends in func.return; only @main calls, so nothing recurses.
 *   - every value is a tensor of a valid type (type.h).
 *   - every op is ours or a call or return, and its operands and attributes satisfy its shape rule.
 *   - its result type is the rule's, except for the layout where infc_op_layout_free.
 *   - infc.weight refers to the table, with the table's type. */
#include "ir_mlir.h"
#include "op_rules.h"

typedef struct verify {
    infc_ir *ir;
    infc_status status; /* what a violation means: a bug of ours after a pass, else bad input */
    const char *after;
} verify;

static infc_status fail(const verify *v, MlirOperation op, const char *text) {
    infc_loc loc = infc_ir_loc(v->ir, mlirOperationGetLocation(op));
    if (v->after) return infc_fail(v->ir->cx, v->status, loc, "after pass %s: %s", v->after, text);
    return infc_fail(v->ir->cx, v->status, loc, "%s", text);
}

static const char *check_weight(const infc_ir *ir, const infc_op_desc *desc) {
    infc_arena *arena = ir->cx->arena;
    const infc_attr *id = infc_desc_attr(desc, "id");
    if (!id) return "attribute \"id\" is missing";
    const infc_weight *weight = infc_weights_get(&ir->weights, id->i);
    if (!weight)
        return infc_arena_printf(arena, "weight %lld is not in the table of %zu", (long long)id->i,
                                 ir->weights.n);
    if (!infc_type_equal(&weight->type, &desc->out))
        return infc_arena_printf(arena, "weight %lld (\"%s\") is %s in the table, not %s",
                                 (long long)id->i, weight->name, infc_type_text(arena, &weight->type),
                                 infc_type_text(arena, &desc->out));
    return NULL;
}

static infc_status check_op(const verify *v, MlirOperation op) {
    infc_arena *arena = v->ir->cx->arena;
    infc_op_desc desc;
    infc_type want;
    infc_ir_describe(v->ir, op, &desc);
    const infc_op_info *info = infc_op_get(desc.kind);
    const char *wrong = info->shape(arena, &desc, &want);
    if (!wrong && desc.kind == INFC_OP_weight) wrong = check_weight(v->ir, &desc);
    if (wrong) return fail(v, op, infc_arena_printf(arena, "%s: %s", info->name, wrong));
    bool image = desc.out.layout == INFC_LAYOUT_plain || desc.out.layout == INFC_LAYOUT_c16;
    if (infc_op_layout_free(desc.kind) && image) want.layout = desc.out.layout;
    if (!infc_type_equal(&want, &desc.out))
        return fail(v, op,
                    infc_arena_printf(arena, "%s: the result is %s but should be %s", info->name,
                                      infc_type_text(arena, &desc.out), infc_type_text(arena, &want)));
    return INFC_OK;
}

static infc_status check_arguments(const verify *v, MlirOperation func, MlirBlock body) {
    for (intptr_t i = 0; i < mlirBlockGetNumArguments(body); i++) {
        infc_type type = infc_ir_type(v->ir, mlirBlockGetArgument(body, i));
        const char *wrong = infc_type_check(v->ir->cx->arena, &type);
        if (wrong)
            return fail(v, func, infc_arena_printf(v->ir->cx->arena, "argument %d: %s", (int)i, wrong));
    }
    return INFC_OK;
}

static infc_status check_func(const verify *v, MlirOperation func, bool is_main) {
    MlirBlock body = infc_ir_body(func);
    if (mlirBlockIsNull(body) || !mlirBlockIsNull(mlirBlockGetNextInRegion(body)))
        return fail(v, func, "a function must have one block");
    INFC_TRY(check_arguments(v, func, body));
    MlirOperation op = mlirBlockGetFirstOperation(body);
    for (; !mlirOperationIsNull(op); op = mlirOperationGetNextInBlock(op)) {
        infc_op_kind kind = infc_ir_kind(v->ir, op);
        if (kind < INFC_N_OP_KINDS) INFC_TRY(check_op(v, op));
        else if (kind == INFC_OP_CALL && !is_main)
            return fail(v, op, "only @main may call functions");
        else if (kind == INFC_OP_CALL && mlirOperationEqual(infc_ir_callee(v->ir, op), v->ir->main))
            return fail(v, op, "@main may not call itself");
        else if (kind != INFC_OP_CALL && kind != INFC_OP_RETURN)
            return fail(v, op, "an operation that is neither infc's nor func.call or func.return");
    }
    return INFC_OK;
}

infc_status infc_ir_verify(infc_ir *ir, const char *after_pass) {
    verify v = {ir, after_pass ? INFC_ERR_INTERNAL : INFC_ERR_MODEL, after_pass};
    struct infc_ir_kinds *kinds = ir->kinds;
    size_t mark = ir->cx->n_diags;
    kinds->diag_status = v.status;
    kinds->diag_prefix = after_pass ? infc_arena_printf(ir->cx->arena, "after pass %s", after_pass) : NULL;
    bool ok = mlirOperationVerify(mlirModuleGetOperation(ir->module));
    kinds->diag_prefix = NULL;
    kinds->diag_status = INFC_ERR_INTERNAL;
    if (!ok) {
        infc_status status = infc_diags_status(ir->cx, mark);
        return status ? status : fail(&v, ir->main, "the module does not verify");
    }
    MlirOperation op = mlirBlockGetFirstOperation(mlirModuleGetBody(ir->module));
    for (; !mlirOperationIsNull(op); op = mlirOperationGetNextInBlock(op)) {
        if (infc_ir_kind(ir, op) != INFC_OP_FUNC)
            return fail(&v, op, "only functions may stand in a module");
        INFC_TRY(check_func(&v, op, mlirOperationEqual(op, ir->main)));
    }
    return INFC_OK;
}
