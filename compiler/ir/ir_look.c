#include "ir_mlir.h"
#include "op_rules.h"
#include <assert.h>

/* ---- names -------------------------------------------------------------------------------------- */

void infc_ir_set_name(infc_ir *ir, MlirValue value, const char *name) {
    MlirOperation def = infc_ir_def(value);
    if (mlirOperationIsNull(def)) return; /* an input has its own name */
    mlirOperationSetAttributeByName(def, infc_mlir_str("out"),
                                    mlirStringAttrGet(ir->ctx, infc_mlir_str(name)));
}

const char *infc_ir_name(const infc_ir *ir, MlirValue value) {
    MlirOperation def = infc_ir_def(value);
    if (!mlirOperationIsNull(def) && infc_ir_kind(ir, def) == INFC_OP_CALL) {
        MlirOperation callee = infc_ir_callee(ir, def); /* the name stays with the op that was outlined */
        if (mlirOperationIsNull(callee)) return NULL;
        MlirOperation last = mlirBlockGetTerminator(infc_ir_body(callee));
        return infc_ir_name(ir, mlirOperationGetOperand(last, mlirOpResultGetResultNumber(value)));
    }
    if (!mlirOperationIsNull(def)) return infc_ir_attr_string(ir, infc_mlir_attr(def, "out"));
    MlirBlock body = infc_ir_body(ir->main);
    if (!mlirBlockEqual(mlirBlockArgumentGetOwner(value), body)) return NULL;
    return infc_ir_input_name(ir, (size_t)mlirBlockArgumentGetArgNumber(value));
}

/* ---- ops and values ----------------------------------------------------------------------------- */

const infc_weight *infc_ir_weight_of(const infc_ir *ir, MlirValue value) {
    MlirOperation def = infc_ir_def(value);
    if (mlirOperationIsNull(def) || infc_ir_kind(ir, def) != INFC_OP_weight) return NULL;
    infc_op_desc desc;
    infc_ir_describe(ir, def, &desc);
    const infc_attr *id = infc_desc_attr(&desc, "id");
    return id ? infc_weights_get(&ir->weights, id->i) : NULL;
}

MlirOperation infc_ir_def(MlirValue value) {
    return mlirValueIsAOpResult(value) ? mlirOpResultGetOwner(value) : (MlirOperation){NULL};
}

int infc_ir_uses(MlirValue value) {
    MlirOpOperand use = mlirValueGetFirstUse(value);
    if (mlirOpOperandIsNull(use)) return 0;
    return mlirOpOperandIsNull(mlirOpOperandGetNextUse(use)) ? 1 : 2;
}

MlirOperation infc_ir_only_user(MlirValue value) {
    if (infc_ir_uses(value) != 1) return (MlirOperation){NULL};
    return mlirOpOperandGetOwner(mlirValueGetFirstUse(value));
}

MlirBlock infc_ir_body(MlirOperation func) {
    if (mlirOperationGetNumRegions(func) == 0) return (MlirBlock){NULL};
    return mlirRegionGetFirstBlock(mlirOperationGetRegion(func, 0));
}

size_t infc_ir_ops(infc_arena *arena, MlirBlock block, MlirOperation **out) {
    size_t n = 0, cap = 0;
    MlirOperation *ops = NULL, op = mlirBlockGetFirstOperation(block);
    for (; !mlirOperationIsNull(op); op = mlirOperationGetNextInBlock(op)) {
        INFC_GROW(arena, ops, n, cap);
        ops[n++] = op;
    }
    *out = ops;
    return n;
}

size_t infc_ir_funcs(infc_arena *arena, const infc_ir *ir, MlirOperation **out) {
    size_t n = infc_ir_ops(arena, mlirModuleGetBody(ir->module), out), kept = 0;
    for (size_t i = 0; i < n; i++)
        if (infc_ir_kind(ir, (*out)[i]) == INFC_OP_FUNC) (*out)[kept++] = (*out)[i];
    return kept;
}

static const char *symbol_of(const infc_ir *ir, MlirOperation func) {
    return infc_ir_attr_string(ir, infc_mlir_attr(func, "sym_name"));
}

/* Takes in what came into the module without infc_ir_add_func: parsed or cloned. */
static void index_funcs(const infc_ir *ir) {
    MlirOperation op = mlirBlockGetFirstOperation(mlirModuleGetBody(ir->module));
    for (; !mlirOperationIsNull(op); op = mlirOperationGetNextInBlock(op))
        if (infc_ir_kind(ir, op) == INFC_OP_FUNC)
            infc_map_put(&ir->symbols->funcs, symbol_of(ir, op), (size_t)(uintptr_t)op.ptr);
}

static MlirOperation find_func(const infc_ir *ir, const char *name) {
    size_t address;
    if (ir->symbols->funcs.n == 0) index_funcs(ir);
    if (!infc_map_find(&ir->symbols->funcs, name, &address)) return (MlirOperation){NULL};
    return (MlirOperation){(void *)(uintptr_t)address};
}

const char *infc_ir_add_func(infc_ir *ir, MlirOperation func, const char *name) {
    struct infc_ir_symbols *symbols = ir->symbols;
    const char *unique = name;
    size_t n = 0;
    mlirBlockAppendOwnedOperation(mlirModuleGetBody(ir->module), func); /* the module owns it from here on */
    (void)infc_map_find(&symbols->tries, name, &n);
    while (infc_map_find(&symbols->funcs, unique, NULL))
        unique = infc_arena_printf(ir->cx->arena, "%s_%zu", name, n++);
    infc_map_put(&symbols->tries, name, n);
    infc_map_put(&symbols->funcs, unique, (size_t)(uintptr_t)func.ptr);
    mlirOperationSetAttributeByName(func, infc_mlir_str("sym_name"),
                                    mlirStringAttrGet(ir->ctx, infc_mlir_str(unique)));
    return unique;
}

MlirOperation infc_ir_find_main(const infc_ir *ir) { return find_func(ir, "main"); }

MlirOperation infc_ir_callee(const infc_ir *ir, MlirOperation call) {
    MlirAttribute callee = infc_mlir_attr(call, "callee");
    if (mlirAttributeIsNull(callee) || !mlirAttributeIsAFlatSymbolRef(callee))
        return (MlirOperation){NULL};
    return find_func(ir, infc_ir_string(ir->kinds, callee.ptr, mlirFlatSymbolRefAttrGetValue(callee)));
}

/* ---- changing ----------------------------------------------------------------------------------- */

void infc_ir_replace(infc_ir *ir, MlirValue old, MlirValue value) {
    const char *name = infc_ir_name(ir, old);
    if (name && !infc_ir_name(ir, value)) infc_ir_set_name(ir, value, name);
    mlirValueReplaceAllUsesOfWith(old, value);
}

void infc_ir_erase(MlirOperation op) {
    for (intptr_t i = 0; i < mlirOperationGetNumResults(op); i++)
        assert(infc_ir_uses(mlirOperationGetResult(op, i)) == 0);
    mlirOperationDestroy(op);
}
