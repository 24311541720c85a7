/* ir_layout.c - what the layout and fuse passes need beyond building: retyping, rewiring, moving; and
 * the name of a function, for the plan. */
#include "ir.h"
#include <mlir-c/BuiltinAttributes.h>
#include <mlir-c/BuiltinTypes.h>

void infc_ir_set_layout(infc_ir *ir, MlirValue value, infc_layout layout) {
    MlirType old = mlirValueGetType(value);
    int64_t dims[INFC_MAX_RANK];
    intptr_t rank = mlirShapedTypeGetRank(old);
    for (intptr_t i = 0; i < rank; i++) dims[i] = mlirShapedTypeGetDimSize(old, i);
    MlirAttribute encoding = mlirAttributeGetNull();
    if (layout != INFC_LAYOUT_plain)
        encoding = mlirStringAttrGet(ir->ctx, mlirStringRefCreateFromCString(infc_layout_name(layout)));
    mlirValueSetType(value, mlirRankedTensorTypeGet(rank, dims, mlirShapedTypeGetElementType(old), encoding));
}

void infc_ir_set_operand(MlirOperation op, int i, MlirValue value) {
    mlirOperationSetOperand(op, i, value);
}

void infc_ir_move_before(MlirOperation op, MlirOperation before) {
    mlirOperationMoveBefore(op, before);
}

void infc_ir_move_after(MlirOperation op, MlirOperation after) {
    mlirOperationMoveAfter(op, after);
}

const char *infc_ir_symbol(infc_arena *arena, MlirOperation func) {
    MlirAttribute name =
        mlirOperationGetAttributeByName(func, mlirStringRefCreateFromCString("sym_name"));
    MlirStringRef text = mlirStringAttrGetValue(name);
    return infc_arena_copy_string(arena, text.data, text.length);
}
