#include "op_rules.h"

static const infc_op_info ops[] = {
#define INFC_OP(name, n_in, attrs, shape, call, summary) \
    {#name, n_in, attrs, infc_shape_##shape, infc_call_##call, summary},
#include "ops.def"
#undef INFC_OP
};

const infc_op_info *infc_op_get(infc_op_kind kind) { return &ops[kind]; }

bool infc_op_layout_free(infc_op_kind kind) {
    return kind == INFC_OP_conv || kind == INFC_OP_iconv || kind == INFC_OP_qconv ||
           kind == INFC_OP_pool_max || kind == INFC_OP_pool_avg || kind == INFC_OP_resize;
}

bool infc_op_sums_integers(infc_op_kind kind) {
    switch (kind) {
    case INFC_OP_iconv:
    case INFC_OP_imatmul:
    case INFC_OP_qconv:
    case INFC_OP_qmatmul:
    case INFC_OP_qmatmul_both: return true;
    default: return false;
    }
}
