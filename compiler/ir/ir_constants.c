#include "eval.h"
#include "ir.h"

#define MAX_WORK UINT64_C(16000000000) /* half a minute or less */

/* Whether the op, of constants alone, is worth computing at compile time; *left is what may still be done. */
static bool affordable(const infc_ir *ir, MlirOperation op, uint64_t *left) {
    infc_op_desc desc;
    infc_ir_describe(ir, op, &desc);
    uint64_t work = desc.kind == INFC_OP_weight ? 0 : infc_eval_work(&desc);
    if (work > *left) return false;
    *left -= work;
    return true;
}

void infc_ir_constants(const infc_ir *ir, MlirBlock block, infc_ptr_set *out) {
    uint64_t left = MAX_WORK;
    MlirOperation op = mlirBlockGetFirstOperation(block);
    for (; !mlirOperationIsNull(op); op = mlirOperationGetNextInBlock(op)) {
        infc_op_kind kind = infc_ir_kind(ir, op);
        bool constant = kind < INFC_N_OP_KINDS;
        for (intptr_t i = 0; constant && i < mlirOperationGetNumOperands(op); i++)
            constant = infc_ptr_set_has(out, infc_ir_def(mlirOperationGetOperand(op, i)).ptr);
        if (constant && affordable(ir, op, &left)) infc_ptr_set_add(out, op.ptr);
    }
}
