/* calibrate_weights.c - what the calibration's forward pass multiplies by: weights as floats, one layer's at a time. */
#include "../compiler/base/file.h"
#include "../compiler/ir/op_rules.h"
#include "../templates/simd/scalar.h"
#include "calibrate.h"
#include <math.h>
#include <string.h>

/* The weight that v is made of, the last if there are several; null: none. */
static const infc_weight *weight_of(const infc_ir *ir, MlirValue v) {
    MlirOperation def = infc_ir_def(v);
    const infc_weight *weight = infc_ir_weight_of(ir, v);
    if (weight || mlirOperationIsNull(def) || mlirOperationGetNumOperands(def) == 0) return weight;
    return weight_of(ir, mlirOperationGetOperand(def, mlirOperationGetNumOperands(def) - 1));
}

const char *infc_constant_name(const infc_ir *ir, MlirValue v) {
    const infc_weight *weight = weight_of(ir, v);
    return weight ? weight->name : "weight";
}

void infc_constant_forget(const infc_ir *ir, const infc_tensor *t) {
    infc_file_forget(ir->cx, t->data, (size_t)infc_type_bytes(&t->type));
}

infc_status infc_constant(infc_ir *ir, infc_arena *scratch, MlirValue v, infc_tensor *out) {
    const infc_weight *weight = infc_ir_weight_of(ir, v);
    MlirOperation op = infc_ir_def(v);
    infc_op_desc desc;
    infc_tensor in[INFC_MAX_OPERANDS];
    if (weight) {
        *out = (infc_tensor){weight->type, (void *)(uintptr_t)weight->bytes}; /* only read */
        return INFC_OK;
    }
    infc_ir_describe(ir, op, &desc);
    for (int i = 0; i < desc.n_in; i++) {
        INFC_TRY(infc_constant(ir, scratch, mlirOperationGetOperand(op, i), &in[i]));
        desc.in[i] = in[i].type;
    }
    INFC_TRY(infc_eval_op(ir->cx, scratch, &desc, in, out));
    for (int i = 0; i < desc.n_in; i++) infc_constant_forget(ir, &in[i]);
    return INFC_OK;
}

/* The weight that row i of a matrix comes from: of those that are joined, one of them. */
static const infc_weight *row_weight(const infc_ir *ir, MlirValue v, int64_t i) {
    MlirOperation def = infc_ir_def(v);
    if (mlirOperationIsNull(def)) return weight_of(ir, v);
    const infc_op_kind kind = infc_ir_kind(ir, def);
    const bool joins = kind == INFC_OP_concat2 || kind == INFC_OP_concat3;
    for (intptr_t k = 0; joins && k < mlirOperationGetNumOperands(def); k++) {
        MlirValue part = mlirOperationGetOperand(def, k);
        const int64_t n = infc_ir_type(ir, part).dims[0];
        if (i < n) return row_weight(ir, part, i);
        i -= n;
    }
    return weight_of(ir, v);
}

static infc_status no_number(infc_ir *ir, MlirOperation op, MlirValue source, int64_t row) {
    const infc_weight *weight = row_weight(ir, source, row);
    const infc_loc loc = weight && weight->file ? (infc_loc){.file = weight->file}
                                                : infc_ir_loc(ir, mlirOperationGetLocation(op));
    return infc_fail(ir->cx, INFC_ERR_MODEL,
                     loc, "weight \"%s\" has an element that is no finite number; it cannot become integers",
                     weight ? weight->name : "weight");
}

infc_status infc_float_matrix(infc_ir *ir, infc_arena *scratch, MlirOperation op,
                              MlirOperation pack, bool rotates, infc_matrix *out) {
    const MlirValue source = mlirOperationGetOperand(pack, 0);
    infc_op_desc desc;
    infc_tensor stored, w;
    infc_ir_describe(ir, pack, &desc);
    const ptrdiff_t rotate = (ptrdiff_t)infc_desc_int(&desc, "rotate");
    INFC_TRY(infc_constant(ir, scratch, source, &stored));
    w = infc_tensor_aligned(scratch, &stored);
    const int64_t inputs = w.type.dims[1], n = w.type.dims[0],
                  k = rotates ? infc_round_up(inputs, INFC_GROUP) : inputs;
    *out = (infc_matrix){.n = n, .inputs = inputs, .k = k};
    out->panels = INFC_NEW(scratch, float, (size_t)(infc_round_up(n, INFC_LANES) * k));
    float *row = INFC_NEW(scratch, float, (size_t)k);
    for (int64_t i = 0; i < n; i++) {
        memcpy(row, (const float *)w.data + i * inputs, (size_t)inputs * sizeof *row);
        memset(row + inputs, 0, (size_t)(k - inputs) * sizeof *row);
        if (rotates) infc_rotate(row, k, rotate, s_rotated_weight(rotate));
        for (int64_t j = 0; j < k; j++)
            if (!isfinite(row[j])) return no_number(ir, op, source, i);
        infc_panel_put(row, i, k, out->panels);
    }
    infc_constant_forget(ir, &stored);
    return INFC_OK;
}

static infc_attr *attr_of(infc_op_desc *desc, const char *name) {
    int i = 0;
    while (strcmp(desc->attrs[i].name, name) != 0) i++;
    return &desc->attrs[i];
}

/* Rows of an embedding, all of them, are rows of a matrix. */
static infc_status look_up(infc_cx *cx, infc_arena *scratch, const infc_tensor *packed, int64_t n,
                           int64_t k, infc_attr format, infc_tensor *out) {
    const infc_type numbers = {.dtype = INFC_DTYPE_i32, .rank = 1, .dims = {n}};
    infc_tensor in[2] = {[1] = *packed};
    INFC_TRY(infc_tensor_create(cx, scratch, &numbers, &in[0]));
    for (int64_t i = 0; i < n; i++) ((int32_t *)in[0].data)[i] = (int32_t)i;
    const infc_op_desc look = {.kind = INFC_OP_embed_keep,
                               .n_in = 2,
                               .in = {numbers, packed->type},
                               .n_attrs = 3,
                               .attrs = {infc_attr_int("outputs", n), infc_attr_int("inputs", k), format}};
    return infc_eval_op(cx, scratch, &look, in, out);
}

infc_status infc_kept_matrix(infc_ir *ir, infc_arena *scratch, MlirOperation pack, infc_matrix *out) {
    infc_op_desc desc;
    infc_tensor stored, packed, w;
    infc_ir_describe(ir, pack, &desc);
    INFC_TRY(infc_constant(ir, scratch, mlirOperationGetOperand(pack, 0), &stored));
    const int64_t n = stored.type.dims[0], k = infc_desc_int(&desc, "inputs");
    desc.in[0] = stored.type;
    attr_of(&desc, "parts")->i = 1; /* gate and up one after the other */
    INFC_TRY(infc_eval_op(ir->cx, scratch, &desc, &stored, &packed));
    infc_constant_forget(ir, &stored);
    INFC_TRY(look_up(ir->cx, scratch, &packed, n, k, *attr_of(&desc, "format"), &w));
    *out = (infc_matrix){.n = n, .inputs = k, .k = k};
    out->panels = INFC_NEW(scratch, float, (size_t)(infc_round_up(n, INFC_LANES) * k));
    for (int64_t i = 0; i < n; i++)
        infc_panel_put((const float *)w.data + i * k, i, k, out->panels);
    return INFC_OK;
}
