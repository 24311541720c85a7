#include "ir.h"

void infc_ir_constants(const infc_ir *ir, MlirBlock block, infc_ptr_set *out) {
    MlirOperation op = mlirBlockGetFirstOperation(block);
    for (; !mlirOperationIsNull(op); op = mlirOperationGetNextInBlock(op)) {
        infc_op_kind kind = infc_ir_kind(ir, op);
        bool constant = kind < INFC_N_OP_KINDS;
        for (intptr_t i = 0; constant && i < mlirOperationGetNumOperands(op); i++)
            constant = infc_ptr_set_has(out, infc_ir_def(mlirOperationGetOperand(op, i)).ptr);
        if (constant) infc_ptr_set_add(out, op.ptr);
    }
}
