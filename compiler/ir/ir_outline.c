#include "ir_mlir.h"

typedef struct values {
    MlirValue *items;
    size_t n, cap;
} values;

static bool has_op(const MlirOperation *ops, size_t n, MlirOperation op) {
    for (size_t i = 0; i < n; i++)
        if (mlirOperationEqual(ops[i], op)) return true;
    return false;
}

static void add_once(infc_arena *arena, values *list, MlirValue value) {
    for (size_t i = 0; i < list->n; i++)
        if (mlirValueEqual(list->items[i], value)) return;
    INFC_GROW(arena, list->items, list->n, list->cap);
    list->items[list->n++] = value;
}

static bool used_outside(const MlirOperation *ops, size_t n, MlirValue value) {
    MlirOpOperand use = mlirValueGetFirstUse(value);
    for (; !mlirOpOperandIsNull(use); use = mlirOpOperandGetNextUse(use))
        if (!has_op(ops, n, mlirOpOperandGetOwner(use))) return true;
    return false;
}

static MlirType *types_of(infc_arena *arena, const values *list) {
    MlirType *types = INFC_NEW(arena, MlirType, list->n + 1);
    for (size_t i = 0; i < list->n; i++) types[i] = mlirValueGetType(list->items[i]);
    return types;
}

/* Makes uses of `value` outside the group refer to `replacement`; those inside keep it. */
static void replace_outside(infc_arena *arena, const MlirOperation *ops, size_t n, MlirValue value,
                            MlirValue replacement) {
    struct {
        MlirOperation op;
        intptr_t operand;
    } *found = NULL;
    size_t count = 0, cap = 0;
    MlirOpOperand use = mlirValueGetFirstUse(value);
    for (; !mlirOpOperandIsNull(use); use = mlirOpOperandGetNextUse(use)) {
        if (has_op(ops, n, mlirOpOperandGetOwner(use))) continue;
        INFC_GROW(arena, found, count, cap);
        found[count].op = mlirOpOperandGetOwner(use);
        found[count++].operand = mlirOpOperandGetOperandNumber(use);
    }
    for (size_t i = 0; i < count; i++)
        mlirOperationSetOperand(found[i].op, found[i].operand, replacement);
}

infc_status infc_ir_outline(infc_ir *ir, const MlirOperation *ops, size_t n, const char *name,
                            MlirOperation *out_call) {
    infc_arena *arena = ir->cx->arena;
    values in = {0}, out = {0};
    MlirLocation *locations = INFC_NEW(arena, MlirLocation, n + 1);
    for (size_t i = 0; i < n; i++) {
        locations[i] = mlirOperationGetLocation(ops[i]);
        for (intptr_t k = 0; k < mlirOperationGetNumOperands(ops[i]); k++) {
            MlirValue value = mlirOperationGetOperand(ops[i], k);
            if (!has_op(ops, n, infc_ir_def(value))) add_once(arena, &in, value);
        }
        for (intptr_t k = 0; k < mlirOperationGetNumResults(ops[i]); k++) {
            MlirValue value = mlirOperationGetResult(ops[i], k);
            if (used_outside(ops, n, value)) add_once(arena, &out, value);
        }
    }
    MlirLocation location = infc_ir_location_fuse(ir, locations, n);
    const MlirType *in_types = types_of(arena, &in), *out_types = types_of(arena, &out);
    MlirBlock entry;
    MlirOperation func = infc_ir_func(ir, name, true, location, in_types, (intptr_t)in.n, out_types,
                                      (intptr_t)out.n, &entry);
    const char *symbol = infc_ir_add_func(ir, func, name);
    MlirNamedAttribute callee =
        infc_mlir_named(ir->ctx, "callee", mlirFlatSymbolRefAttrGet(ir->ctx, infc_mlir_str(symbol)));
    infc_ir_at at = {mlirOperationGetBlock(ops[n - 1]), ops[n - 1]};
    MlirOperation call = infc_ir_op(at, "func.call", location, in.items, (intptr_t)in.n, out_types,
                                    (intptr_t)out.n, &callee, 1);
    for (size_t i = 0; i < out.n; i++)
        replace_outside(arena, ops, n, out.items[i], mlirOperationGetResult(call, (intptr_t)i));
    for (size_t i = 0; i < n; i++) {
        mlirOperationRemoveFromParent(ops[i]);
        mlirBlockAppendOwnedOperation(entry, ops[i]);
        for (size_t k = 0; k < in.n; k++)
            mlirOperationReplaceUsesOfWith(ops[i], in.items[k], mlirBlockGetArgument(entry, (intptr_t)k));
    }
    infc_ir_op((infc_ir_at){.block = entry}, "func.return", location, out.items, (intptr_t)out.n,
               NULL, 0, NULL, 0);
    *out_call = call;
    return INFC_OK;
}
