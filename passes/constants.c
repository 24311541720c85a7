#include "constants.h"
#include <string.h>

bool infc_constant_splat(const infc_ir *ir, MlirValue value, float *out) {
    const infc_weight *weight = infc_ir_weight_of(ir, value);
    if (!weight || !weight->bytes || weight->type.dtype != INFC_DTYPE_f32) return false;
    int64_t n = infc_type_count(&weight->type);
    const char *bytes = weight->bytes;
    if (n < 1 || memcmp(bytes, bytes + sizeof *out, (size_t)(n - 1) * sizeof *out) != 0)
        return false;
    memcpy(out, bytes, sizeof *out);
    return true;
}

const infc_weight *infc_constant_matrix(const infc_ir *ir, MlirValue value) {
    infc_type type = infc_ir_type(ir, value);
    MlirOperation def = infc_ir_def(value);
    if (mlirOperationIsNull(def) || type.dtype != INFC_DTYPE_f32 || type.layout != INFC_LAYOUT_plain)
        return NULL;
    bool transposed = infc_ir_kind(ir, def) == INFC_OP_transpose;
    return infc_ir_weight_of(ir, transposed ? mlirOperationGetOperand(def, 0) : value);
}

infc_status infc_constant_read(const infc_ir *ir, infc_arena *arena, MlirValue value, infc_tensor *out) {
    const infc_weight *weight = infc_constant_matrix(ir, value);
    infc_tensor in = {weight->type, (void *)(uintptr_t)weight->bytes}; /* only read */
    MlirOperation def = infc_ir_def(value);
    infc_op_desc desc;
    *out = in;
    if (infc_ir_kind(ir, def) != INFC_OP_transpose) return INFC_OK;
    infc_ir_describe(ir, def, &desc);
    return infc_eval_op(ir->cx, arena, &desc, &in, out);
}

int64_t infc_outputs_count(infc_op_kind kind, const infc_type *weight) {
    return kind == INFC_OP_conv ? weight->dims[0] : weight->dims[weight->rank - 1];
}

int64_t infc_outputs_of(infc_op_kind kind, const infc_type *weight, int64_t i) {
    int64_t n = infc_outputs_count(kind, weight);
    return kind == INFC_OP_conv ? i / (infc_type_count(weight) / n) : i % n;
}

infc_type infc_outputs_vector_type(infc_op_kind kind, int64_t n) {
    if (kind == INFC_OP_conv) return (infc_type){INFC_DTYPE_f32, INFC_LAYOUT_plain, 3, {n, 1, 1}};
    return (infc_type){INFC_DTYPE_f32, INFC_LAYOUT_plain, 1, {n}};
}

MlirValue infc_constant_add(infc_ir *ir, infc_ir_at at, MlirLocation location, const char *name,
                            const infc_type *type, const void *bytes, const char *origin) {
    infc_weight weight = {name, *type, bytes, origin, NULL};
    weight.type.layout = INFC_LAYOUT_plain;
    return infc_ir_weight(ir, at, infc_weights_add(&ir->weights, weight), location);
}

infc_status infc_rebuild(infc_ir *ir, MlirOperation op, const MlirValue *in, int n_in, MlirValue *out) {
    infc_op_desc desc;
    infc_ir_describe(ir, op, &desc);
    infc_ir_at at = {mlirOperationGetBlock(op), op};
    return infc_ir_build(ir, at, desc.kind, mlirOperationGetLocation(op), in, n_in, desc.attrs,
                         desc.n_attrs, out);
}
