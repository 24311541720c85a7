/* fold_constants.c - runs ops whose operands are all constants, up to a result of 64 KiB; larger ones stay ops
 * and become recipes of weights. Relayouts are no folding: they come after the target is known. Of a model's
 * constants no more than a billion operations are done here: what is beyond stays an op as well. */
#include "constants.h"

enum { MAX_FOLDED_BYTES = 64 * 1024, MAX_FOLDING_WORK = 1000000000 };

static bool can_fold(const infc_ir *ir, MlirOperation op, const infc_op_desc *desc) {
    if (desc->kind >= INFC_N_OP_KINDS || desc->n_in == 0) return false;
    if (desc->kind == INFC_OP_relayout || desc->kind == INFC_OP_ipack || desc->kind == INFC_OP_qpack)
        return false;
    if (desc->kind == INFC_OP_narrow)
        return false; /* the emitter names the weight that is out of range */
    if (infc_type_bytes(&desc->out) > MAX_FOLDED_BYTES || infc_desc_open(desc)) return false;
    for (int i = 0; i < desc->n_in; i++)
        if (!infc_ir_weight_of(ir, mlirOperationGetOperand(op, i))) return false;
    return true;
}

/* Of the largest operand, so that rules on weight names go on to hold for what a weight became. */
static const char *name_of(const infc_ir *ir, MlirOperation op, int n_in) {
    const infc_weight *best = NULL;
    for (int i = 0; i < n_in; i++) {
        const infc_weight *weight = infc_ir_weight_of(ir, mlirOperationGetOperand(op, i));
        if (!best || infc_type_count(&weight->type) > infc_type_count(&best->type)) best = weight;
    }
    return best->name;
}

static infc_status fold(infc_pass_cx *pass, MlirOperation op, const infc_op_desc *desc) {
    infc_ir *ir = pass->ir;
    infc_tensor in[INFC_MAX_OPERANDS], out;
    for (int i = 0; i < desc->n_in; i++) {
        const infc_weight *weight = infc_ir_weight_of(ir, mlirOperationGetOperand(op, i));
        in[i] = (infc_tensor){weight->type, (void *)(uintptr_t)weight->bytes}; /* only read */
    }
    INFC_TRY(infc_eval_op(ir->cx, ir->cx->arena, desc, in, &out));
    MlirValue result = mlirOperationGetResult(op, 0);
    MlirLocation location = mlirOperationGetLocation(op);
    const char *node = infc_ir_loc(ir, location).node, *name = name_of(ir, op, desc->n_in);
    infc_ir_at at = {mlirOperationGetBlock(op), op};
    const char *origin = infc_arena_printf(ir->cx->arena, "folded from %s", node ? node : "constants");
    infc_ir_replace(ir, result, infc_constant_add(ir, at, location, name, &out.type, out.data, origin));
    infc_ir_erase(op);
    pass->n_changes++;
    return INFC_OK;
}

infc_status infc_pass_fold_constants(infc_pass_cx *pass) {
    MlirOperation *ops;
    size_t n = infc_ir_ops(pass->scratch, infc_ir_body(pass->ir->main), &ops);
    uint64_t left = MAX_FOLDING_WORK;
    if (pass->ir->llm)
        return INFC_OK; /* its constants are weights on their way: made when they are written */
    for (size_t i = 0; i < n; i++) {
        infc_op_desc desc;
        infc_ir_describe(pass->ir, ops[i], &desc);
        if (!can_fold(pass->ir, ops[i], &desc)) continue;
        uint64_t work = infc_eval_work(&desc);
        if (work > left) continue;
        left -= work;
        INFC_TRY(fold(pass, ops[i], &desc));
    }
    return INFC_OK;
}
