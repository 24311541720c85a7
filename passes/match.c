#include "match.h"
#include <math.h>
#include <string.h>

MlirOperation infc_match_kind(const infc_ir *ir, MlirValue value, infc_op_kind kind) {
    MlirOperation def = infc_ir_def(value);
    if (mlirOperationIsNull(def) || infc_ir_kind(ir, def) != kind) return (MlirOperation){NULL};
    return def;
}

MlirOperation infc_match_map(const infc_ir *ir, MlirValue value, const char *fn) {
    MlirOperation def = infc_ir_def(value);
    infc_op_desc desc;
    if (mlirOperationIsNull(def) || !infc_op_is_map(infc_ir_kind(ir, def)))
        return (MlirOperation){NULL};
    infc_ir_describe(ir, def, &desc);
    if (!infc_desc_is_f32_map(&desc) || strcmp(infc_desc_str(&desc, "fn"), fn) != 0)
        return (MlirOperation){NULL};
    return def;
}

bool infc_match_constant_operand(const infc_ir *ir, MlirOperation op, MlirValue *out, float *constant) {
    for (int i = 0; i < 2; i++) {
        if (!infc_constant_splat(ir, mlirOperationGetOperand(op, i), constant)) continue;
        *out = mlirOperationGetOperand(op, 1 - i);
        return true;
    }
    return false;
}

bool infc_match_with_constant(const infc_ir *ir, MlirValue value, const char *fn, MlirValue *out, float *constant) {
    MlirOperation op = infc_match_map(ir, value, fn);
    if (mlirOperationIsNull(op)) return false;
    *out = mlirOperationGetOperand(op, 0);
    if (infc_constant_splat(ir, mlirOperationGetOperand(op, 1), constant)) return true;
    bool commutes = strcmp(fn, "mul") == 0 || strcmp(fn, "add") == 0;
    return commutes && infc_match_constant_operand(ir, op, out, constant);
}

bool infc_match_close(float value, double want) {
    return fabs((double)value - want) <= 1e-4 * fabs(want);
}

MlirValue infc_match_past_reshapes(const infc_ir *ir, MlirValue value) {
    MlirOperation def = infc_match_kind(ir, value, INFC_OP_reshape);
    while (!mlirOperationIsNull(def)) {
        value = mlirOperationGetOperand(def, 0);
        def = infc_match_kind(ir, value, INFC_OP_reshape);
    }
    return value;
}

infc_status infc_match_reshape(infc_ir *ir, infc_ir_at at, MlirLocation location, MlirValue value,
                               const int64_t *dims, int rank, MlirValue *out) {
    infc_type type = infc_ir_type(ir, value), want = {.rank = rank};
    for (int i = 0; i < rank; i++) want.dims[i] = dims[i];
    *out = value;
    if (infc_shape_equal(&type, &want)) return INFC_OK;
    infc_attr attr = infc_attr_ints("shape", dims, rank);
    return infc_ir_build(ir, at, INFC_OP_reshape, location, &value, 1, &attr, 1, out);
}
