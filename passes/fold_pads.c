/* fold_pads.c - a pad before a convolution or a maximum becomes the window's own padding, which costs nothing:
 *   zeros around the pixels that a convolution reads (its kernel skips what it would multiply by zero);
 *   the edge repeated around those that a maximum is taken of, by less than the window: each window that reaches an
 *   added pixel has the one it was copied from too. */
#include "fold_pads.h"
#include "match.h"
#include <string.h>

static bool pads_pixels_only(const infc_op_desc *pad, const char *name) {
    const infc_attr *attr = infc_desc_attr(pad, name);
    return attr->ints[0] == 0 && attr->ints[1] == 0;
}

/* Whether the window's op does not see the difference. */
static bool can_fold(const infc_op_desc *desc, const infc_op_desc *pad) {
    const char *mode = infc_desc_str(pad, "mode");
    if (pad->out.rank != 4 || !pads_pixels_only(pad, "before") || !pads_pixels_only(pad, "after"))
        return false;
    if (desc->kind == INFC_OP_conv)
        return strcmp(mode, "constant") == 0 && infc_desc_int(pad, "fill") == 0;
    for (int i = 0; i < 4; i++) {
        int64_t kernel = infc_desc_attr(desc, "kernel")->ints[i % 2];
        int64_t more = infc_desc_attr(pad, i < 2 ? "before" : "after")->ints[2 + i % 2];
        if (infc_desc_attr(desc, "pads")->ints[i] != 0 || infc_dim_least(infc_dim_sub(kernel, more)) < 1)
            return false;
        if (more != 0 && infc_desc_attr(desc, "dilations")->ints[i % 2] != 1) return false;
    }
    return strcmp(mode, "edge") == 0;
}

infc_status infc_fold_pad(infc_pass_cx *pass, MlirOperation op, const infc_op_desc *desc, MlirValue *out) {
    infc_ir *ir = pass->ir;
    MlirOperation def = infc_match_kind(ir, mlirOperationGetOperand(op, 0), INFC_OP_pad);
    if (mlirOperationIsNull(def)) return INFC_OK;
    infc_op_desc pad;
    infc_attr attrs[INFC_MAX_ATTRS];
    MlirValue in[INFC_MAX_OPERANDS];
    infc_ir_describe(ir, def, &pad);
    if (!can_fold(desc, &pad)) return INFC_OK;
    for (int i = 0; i < desc->n_in; i++) in[i] = mlirOperationGetOperand(op, i);
    in[0] = mlirOperationGetOperand(def, 0);
    for (int i = 0; i < desc->n_attrs; i++) {
        attrs[i] = desc->attrs[i];
        if (strcmp(attrs[i].name, "pads") != 0) continue;
        for (int k = 0; k < 4; k++) {
            int64_t more = infc_desc_attr(&pad, k < 2 ? "before" : "after")->ints[2 + k % 2];
            attrs[i].ints[k] = infc_dim_add(attrs[i].ints[k], more);
            if (infc_dim_most(attrs[i].ints[k]) > INFC_MAX_PADDING) return INFC_OK;
        }
    }
    infc_ir_at at = {mlirOperationGetBlock(op), op};
    return infc_ir_build(ir, at, desc->kind, mlirOperationGetLocation(op), in, desc->n_in, attrs,
                         desc->n_attrs, out);
}
