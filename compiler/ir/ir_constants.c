#include "eval.h"
#include "ir.h"

#define MAX_WORK UINT64_C(16000000000) /* half a minute or less */
/* Weights become a few times as large on their way, and are transposed and packed; what repeats them does not end. */
#define MAX_BYTES (UINT64_C(512) << 20)
enum { MAX_TIMES = 16 };

typedef struct budget { /* what may still be done at compile time */
    uint64_t work, bytes;
} budget;

static budget begin(const infc_ir *ir) {
    budget left = {MAX_WORK, MAX_BYTES};
    for (size_t i = 0; i < ir->weights.n; i++) {
        left.work += ir->llm ? MAX_TIMES * infc_type_bytes(&ir->weights.items[i].type) : 0;
        left.bytes += MAX_TIMES * infc_type_bytes(&ir->weights.items[i].type);
    }
    return left;
}

/* Whether the op, of constants alone, can be computed at compile time and is worth it. */
static bool affordable(const infc_ir *ir, MlirOperation op, budget *left) {
    infc_op_desc desc;
    infc_ir_describe(ir, op, &desc);
    if (desc.kind == INFC_OP_weight) return true;
    if (infc_desc_open(&desc)) return false;
    uint64_t work = infc_eval_work(&desc), bytes = infc_type_bytes(&desc.out);
    if (work > left->work || bytes > left->bytes) return false;
    left->work -= work;
    left->bytes -= bytes;
    return true;
}

void infc_ir_constants(const infc_ir *ir, MlirBlock block, infc_ptr_set *out) {
    budget left = begin(ir);
    MlirOperation op = mlirBlockGetFirstOperation(block);
    for (; !mlirOperationIsNull(op); op = mlirOperationGetNextInBlock(op)) {
        infc_op_kind kind = infc_ir_kind(ir, op);
        bool constant = kind < INFC_N_OP_KINDS;
        for (intptr_t i = 0; constant && i < mlirOperationGetNumOperands(op); i++)
            constant = infc_ptr_set_has(out, infc_ir_def(mlirOperationGetOperand(op, i)).ptr);
        if (constant && affordable(ir, op, &left)) infc_ptr_set_add(out, op.ptr);
    }
}
