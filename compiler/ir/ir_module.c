/* ir_module.c - modules: creating, cloning, @main with its named inputs and outputs. */
#include "ir_mlir.h"
#include <mlir-c/Dialect/Func.h>
#include <stdio.h>

static void destroy_module(void *place) {
    MlirModule module = *(MlirModule *)place;
    if (!mlirModuleIsNull(module)) mlirModuleDestroy(module);
}

MlirModule *infc_ir_module_place(infc_cx *cx) {
    MlirModule *place = INFC_NEW(cx->arena, MlirModule, 1);
    infc_arena_defer(cx->arena, destroy_module, place);
    return place;
}

void infc_ir_adopt(struct infc_ir_kinds *kinds, MlirModule module, const char *source, infc_ir *out) {
    infc_cx *cx = kinds->cx;
    struct infc_ir_symbols *symbols = INFC_NEW(cx->arena, struct infc_ir_symbols, 1);
    symbols->funcs.arena = symbols->tries.arena = cx->arena;
    *out = (infc_ir){.cx = cx,
                     .ctx = kinds->ctx,
                     .module = module,
                     .weights = {.arena = cx->arena},
                     .source = source ? source : "",
                     .symbols = symbols,
                     .kinds = kinds};
}

infc_status infc_ir_create(infc_cx *cx, const char *source, infc_ir *out) {
    struct infc_ir_kinds *kinds;
    INFC_TRY(infc_ir_context_create(cx, &kinds));
    kinds->source = source;
    MlirModule *place = infc_ir_module_place(cx);
    *place = mlirModuleCreateEmpty(mlirLocationUnknownGet(kinds->ctx));
    infc_ir_adopt(kinds, *place, source, out);
    return INFC_OK;
}

infc_status infc_ir_clone(const infc_ir *ir, infc_ir *out) {
    MlirModule *place = infc_ir_module_place(ir->cx);
    *place = mlirModuleFromOperation(mlirOperationClone(mlirModuleGetOperation(ir->module)));
    infc_ir_adopt(ir->kinds, *place, ir->source, out);
    out->main = infc_ir_find_main(out);
    out->stayed_float = ir->stayed_float;
    out->llm = ir->llm;
    out->fast = ir->fast;
    const infc_weights *from = &ir->weights;
    out->weights.items = INFC_NEW(ir->cx->arena, infc_weight, from->n ? from->n : 1);
    out->weights.n = out->weights.cap = from->n;
    out->weights.packed = from->packed;
    if (from->n) memcpy(out->weights.items, from->items, from->n * sizeof *from->items);
    return INFC_OK;
}

void infc_ir_note(infc_ir *ir, const char *node, const char *text) {
    infc_arena *arena = ir->cx->arena;
    if (!ir->stayed_float) ir->stayed_float = INFC_NEW(arena, infc_ir_notes, 1);
    infc_ir_notes *notes = ir->stayed_float;
    INFC_GROW(arena, notes->items, notes->n, notes->cap);
    notes->items[notes->n++] = (infc_ir_note_row){node ? node : "", text};
}

MlirOperation infc_ir_func(infc_ir *ir, const char *name, bool is_private, MlirLocation location,
                           const MlirType *in, intptr_t n_in, const MlirType *out, intptr_t n_out,
                           MlirBlock *entry) {
    MlirLocation *locations = INFC_NEW(ir->cx->arena, MlirLocation, (size_t)n_in + 1);
    for (intptr_t i = 0; i < n_in; i++) locations[i] = location;
    *entry = mlirBlockCreate(n_in, in, locations);
    MlirRegion region = mlirRegionCreate();
    mlirRegionAppendOwnedBlock(region, *entry);
    MlirAttribute type = mlirTypeAttrGet(mlirFunctionTypeGet(ir->ctx, n_in, in, n_out, out));
    MlirNamedAttribute attrs[] = {
        infc_mlir_named(ir->ctx, "sym_name", mlirStringAttrGet(ir->ctx, infc_mlir_str(name))),
        infc_mlir_named(ir->ctx, "function_type", type),
        infc_mlir_named(ir->ctx, "sym_visibility", mlirStringAttrGet(ir->ctx, infc_mlir_str("private"))),
    };
    MlirOperationState state = mlirOperationStateGet(infc_mlir_str("func.func"), location);
    mlirOperationStateAddAttributes(&state, is_private ? 3 : 2, attrs);
    mlirOperationStateAddOwnedRegions(&state, 1, &region);
    return mlirOperationCreate(&state);
}

infc_status infc_ir_main_begin(infc_ir *ir, const infc_ir_port *inputs, size_t n, MlirBlock *out_block) {
    MlirType *types = INFC_NEW(ir->cx->arena, MlirType, n + 1);
    for (size_t i = 0; i < n; i++) {
        const char *wrong = infc_type_check(ir->cx->arena, &inputs[i].type);
        if (wrong)
            return infc_fail(ir->cx, INFC_ERR_MODEL, (infc_loc){.file = ir->source},
                             "input \"%s\": %s", inputs[i].name, wrong);
        types[i] = infc_ir_mlir_type(ir->ctx, &inputs[i].type);
    }
    MlirLocation location = infc_ir_location(ir, NULL, 0);
    ir->main = infc_ir_func(ir, "main", false, location, types, (intptr_t)n, NULL, 0, out_block);
    infc_ir_add_func(ir, ir->main, "main");
    infc_ir_sizes_write(ir);
    for (size_t i = 0; i < n; i++)
        mlirFuncSetArgAttr(ir->main, (intptr_t)i, infc_mlir_str("infc.name"),
                           mlirStringAttrGet(ir->ctx, infc_mlir_str(inputs[i].name)));
    return INFC_OK;
}

infc_status infc_ir_main_end(infc_ir *ir, const MlirValue *results, const char *const *names, size_t n) {
    MlirBlock body = infc_ir_body(ir->main);
    size_t n_in = infc_ir_input_count(ir);
    MlirType *types = INFC_NEW(ir->cx->arena, MlirType, n_in + n + 1);
    for (size_t i = 0; i < n_in; i++)
        types[i] = mlirValueGetType(mlirBlockGetArgument(body, (intptr_t)i));
    for (size_t i = 0; i < n; i++) types[n_in + i] = mlirValueGetType(results[i]);
    MlirType type = mlirFunctionTypeGet(ir->ctx, (intptr_t)n_in, types, (intptr_t)n, types + n_in);
    mlirOperationSetAttributeByName(ir->main, infc_mlir_str("function_type"), mlirTypeAttrGet(type));
    infc_ir_op((infc_ir_at){.block = body}, "func.return", infc_ir_location(ir, NULL, 0), results,
               (intptr_t)n, NULL, 0, NULL, 0);
    for (size_t i = 0; i < n; i++)
        mlirFuncSetResultAttr(ir->main, (intptr_t)i, infc_mlir_str("infc.name"),
                              mlirStringAttrGet(ir->ctx, infc_mlir_str(names[i])));
    return INFC_OK;
}

/* "infc.name" in entry i of main's `list` of dictionaries; what text without names gets instead. */
static const char *port_name(const infc_ir *ir, const char *list, size_t i, const char *otherwise) {
    MlirAttribute all = infc_mlir_attr(ir->main, list);
    if (!mlirAttributeIsNull(all) && mlirAttributeIsAArray(all) &&
        (intptr_t)i < mlirArrayAttrGetNumElements(all)) {
        MlirAttribute entry = mlirArrayAttrGetElement(all, (intptr_t)i);
        const char *name = infc_ir_attr_string(
            ir, mlirDictionaryAttrGetElementByName(entry, infc_mlir_str("infc.name")));
        if (name) return name;
    }
    char text[32];
    int n = snprintf(text, sizeof text, "%s%zu", otherwise, i);
    MlirAttribute made = mlirStringAttrGet(ir->ctx, mlirStringRefCreate(text, (size_t)n));
    return infc_ir_attr_string(ir, made);
}

infc_sizes *infc_ir_sizes(const infc_ir *ir) { return ir->kinds->sizes; }

size_t infc_ir_input_count(const infc_ir *ir) {
    return (size_t)mlirBlockGetNumArguments(infc_ir_body(ir->main));
}

const char *infc_ir_input_name(const infc_ir *ir, size_t i) {
    return port_name(ir, "arg_attrs", i, "input");
}

size_t infc_ir_output_count(const infc_ir *ir) {
    MlirOperation last = mlirBlockGetTerminator(infc_ir_body(ir->main));
    return mlirOperationIsNull(last) ? 0 : (size_t)mlirOperationGetNumOperands(last);
}

const char *infc_ir_output_name(const infc_ir *ir, size_t i) {
    return port_name(ir, "res_attrs", i, "output");
}
