/* dce.c - removes ops whose results are not used. All ops are pure; backwards, so chains go in one sweep. */
#include "pass.h"

infc_status infc_pass_dce(infc_pass_cx *pass) {
    MlirOperation *ops;
    size_t n = infc_ir_ops(pass->scratch, infc_ir_body(pass->ir->main), &ops);
    for (size_t i = n; i-- > 0;) {
        if (infc_ir_kind(pass->ir, ops[i]) >= INFC_N_OP_KINDS) continue;
        if (infc_ir_uses(mlirOperationGetResult(ops[i], 0)) > 0) continue;
        infc_ir_erase(ops[i]);
        pass->n_changes++;
    }
    return INFC_OK;
}
