/* ir_layout.c - what the layout and fuse passes need beyond building: retyping, rewiring, moving; and
 * the name of a function, for the plan. */
#include "ir_mlir.h"

void infc_ir_set_layout(infc_ir *ir, MlirValue value, infc_layout layout) {
    infc_type type = infc_ir_type(ir, value);
    type.layout = layout;
    mlirValueSetType(value, infc_ir_mlir_type(ir->ctx, &type));
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
