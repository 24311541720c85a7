/* ir_text.c - printing and parsing. Weights show their name, and their value when they have at most 16 elements
 * or one value throughout, else a hash of it, so that texts are equal only when modules are. These attributes
 * exist in text alone and are gone from the IR afterwards. */
#include "../base/file.h"
#include "../base/hash.h"
#include "ir_mlir.h"
#include "op_rules.h"

enum { MAX_SHOWN = 16 };

/* ---- printing ----------------------------------------------------------------------------------- */

static bool same_throughout(const infc_weight *weight, int64_t n) {
    size_t size = infc_dtype_bytes(weight->type.dtype);
    const char *bytes = weight->bytes;
    return n > 0 && memcmp(bytes, bytes + size, (size_t)(n - 1) * size) == 0;
}

static MlirAttribute dense_bools(MlirType type, const uint8_t *bytes, int64_t n) {
    int values[MAX_SHOWN];
    for (int64_t i = 0; i < n; i++) values[i] = bytes[i] != 0;
    return mlirDenseElementsAttrBoolGet(type, (intptr_t)n, values);
}

/* Null when the value is not shown. */
static MlirAttribute shown_value(const infc_ir *ir, const infc_weight *weight) {
    int64_t n = infc_type_count(&weight->type);
    MlirType type = infc_ir_mlir_type(ir->ctx, &weight->type);
    if (n == 0) return mlirDenseElementsAttrGet(type, 0, NULL);
    if (same_throughout(weight, n)) n = 1;
    else if (n > MAX_SHOWN) return mlirAttributeGetNull();
    if (weight->type.dtype == INFC_DTYPE_bool) {
        if (n == 1)
            return mlirDenseElementsAttrBoolSplatGet(type, *(const uint8_t *)weight->bytes != 0);
        return dense_bools(type, weight->bytes, n);
    }
    size_t bytes = (size_t)n * infc_dtype_bytes(weight->type.dtype);
    return mlirDenseElementsAttrRawBufferGet(type, bytes, weight->bytes);
}

static const char *const shown[] = {"name", "value", "hash"};

static void show_weight(infc_ir *ir, infc_arena *scratch, MlirOperation op, bool show) {
    const infc_weight *weight = infc_ir_weight_of(ir, mlirOperationGetResult(op, 0));
    if (!weight) return;
    if (!show) {
        for (int i = 0; i < 3; i++) mlirOperationRemoveAttributeByName(op, infc_mlir_str(shown[i]));
        return;
    }
    MlirAttribute value = weight->bytes ? shown_value(ir, weight) : mlirAttributeGetNull();
    const char *name = weight->name ? weight->name : "";
    mlirOperationSetAttributeByName(op, infc_mlir_str("name"),
                                    mlirStringAttrGet(ir->ctx, infc_mlir_str(name)));
    if (!mlirAttributeIsNull(value)) {
        mlirOperationSetAttributeByName(op, infc_mlir_str("value"), value);
        return;
    }
    infc_bytes bytes = {weight->bytes, (size_t)infc_type_bytes(&weight->type)};
    const char *text = bytes.ptr ? infc_hash_hex(scratch, bytes) : "packed";
    if (bytes.ptr) infc_file_forget(ir->cx, bytes.ptr, bytes.len);
    MlirAttribute hash = mlirStringAttrGet(ir->ctx, infc_mlir_str(text));
    mlirOperationSetAttributeByName(op, infc_mlir_str("hash"), hash);
}

static void show_weights(infc_ir *ir, infc_arena *scratch, bool show) {
    MlirOperation *funcs, *ops;
    size_t n_funcs = infc_ir_funcs(scratch, ir, &funcs);
    for (size_t f = 0; f < n_funcs; f++) {
        size_t n = infc_ir_ops(scratch, infc_ir_body(funcs[f]), &ops);
        for (size_t i = 0; i < n; i++)
            if (infc_ir_kind(ir, ops[i]) == INFC_OP_weight) show_weight(ir, scratch, ops[i], show);
    }
}

typedef struct sink {
    char *data; /* null: count only */
    size_t n;
} sink;

static void put_text(MlirStringRef part, void *user) {
    sink *to = user;
    if (to->data && part.length) memcpy(to->data + to->n, part.data, part.length);
    to->n += part.length;
}

void infc_ir_print(infc_ir *ir, infc_buf *out) {
    infc_arena *scratch = infc_arena_create_scratch(ir->cx->arena);
    MlirOperation module = mlirModuleGetOperation(ir->module);
    show_weights(ir, scratch, true);
    sink size = {0}, printed = {0}; /* twice, so that no allocation can fail inside MLIR */
    mlirOperationPrint(module, put_text, &size);
    printed.data = infc_arena_alloc(scratch, size.n + 1, 1);
    mlirOperationPrint(module, put_text, &printed);
    show_weights(ir, scratch, false);
    infc_buf_put(out, printed.data, printed.n);
    infc_buf_puts(out, "\n");
    infc_arena_destroy(&scratch);
}

/* ---- parsing ------------------------------------------------------------------------------------ */

static void copy_elements(MlirAttribute value, const infc_type *type, char *to) {
    int64_t n = infc_type_count(type);
    bool splat = mlirDenseElementsAttrIsSplat(value);
    if (type->dtype == INFC_DTYPE_bool) {
        for (int64_t i = 0; i < n; i++)
            to[i] = (char)(splat ? mlirDenseElementsAttrGetBoolSplatValue(value)
                                 : mlirDenseElementsAttrGetBoolValue(value, (intptr_t)i));
        return;
    }
    size_t size = infc_dtype_bytes(type->dtype);
    const char *from = mlirDenseElementsAttrGetRawData(value);
    if (!splat && n) memcpy(to, from, (size_t)n * size);
    for (int64_t i = 0; splat && i < n; i++) memcpy(to + (size_t)i * size, from, size);
}

/* Moves the value of one infc.weight from its attributes to the table. */
static infc_status take_weight(infc_ir *ir, MlirOperation op) {
    infc_arena *arena = ir->cx->arena;
    infc_loc loc = infc_ir_loc(ir, mlirOperationGetLocation(op));
    infc_type type = infc_ir_type(ir, mlirOperationGetResult(op, 0));
    const char *wrong = infc_type_check(arena, &type);
    if (wrong) return infc_fail(ir->cx, INFC_ERR_MODEL, loc, "weight: %s", wrong);
    MlirAttribute value = infc_mlir_attr(op, "value");
    if (mlirAttributeIsNull(value) || !mlirAttributeIsADenseElements(value))
        return infc_fail(ir->cx, INFC_ERR_MODEL,
                         loc, "weight: text holds no value for it; write value = dense<...> : tensor<...>");
    infc_type of_value = infc_ir_type_of(ir->kinds, mlirAttributeGetType(value));
    if (!infc_type_equal(&of_value, &type))
        return infc_fail(ir->cx, INFC_ERR_MODEL, loc, "weight: the value is %s, the result %s",
                         infc_type_text(arena, &of_value), infc_type_text(arena, &type));
    char *bytes = infc_arena_alloc(arena, (size_t)infc_type_bytes(&type) + INFC_OVER_READ, INFC_ALIGN);
    copy_elements(value, &type, bytes);
    const char *name = infc_ir_attr_string(ir, infc_mlir_attr(op, "name"));
    if (!name) name = infc_arena_printf(arena, "w%zu", ir->weights.n);
    int64_t id = infc_weights_add(&ir->weights, (infc_weight){name, type, bytes, "text", NULL});
    infc_attr attr = infc_attr_int("id", id);
    mlirOperationSetAttributeByName(op, infc_mlir_str("id"), infc_ir_mlir_attr(ir->ctx, &attr));
    for (int i = 0; i < 3; i++) mlirOperationRemoveAttributeByName(op, infc_mlir_str(shown[i]));
    return INFC_OK;
}

static infc_status take_weights(infc_ir *ir) {
    MlirOperation *funcs, *ops;
    size_t n_funcs = infc_ir_funcs(ir->cx->arena, ir, &funcs);
    for (size_t f = 0; f < n_funcs; f++) {
        MlirBlock body = infc_ir_body(funcs[f]);
        if (mlirBlockIsNull(body)) continue;
        size_t n = infc_ir_ops(ir->cx->arena, body, &ops);
        for (size_t i = 0; i < n; i++)
            if (infc_ir_kind(ir, ops[i]) == INFC_OP_weight) INFC_TRY(take_weight(ir, ops[i]));
    }
    return INFC_OK;
}

infc_status infc_ir_parse(infc_cx *cx, infc_bytes text, const char *name, infc_ir *out) {
    struct infc_ir_kinds *kinds;
    INFC_TRY(infc_ir_context_create(cx, &kinds));
    kinds->source = name;
    kinds->diag_status = INFC_ERR_MODEL;
    size_t mark = cx->n_diags;
    MlirModule *place = infc_ir_module_place(cx);
    *place = mlirModuleCreateParse(kinds->ctx, mlirStringRefCreate((const char *)text.ptr, text.len));
    kinds->diag_status = INFC_ERR_INTERNAL;
    infc_loc loc = {.file = name};
    if (mlirModuleIsNull(*place)) {
        infc_status status = infc_diags_status(cx, mark);
        return status ? status : infc_fail(cx, INFC_ERR_MODEL, loc, "not a module of IR text");
    }
    infc_ir_adopt(kinds, *place, name, out);
    out->main = infc_ir_find_main(out);
    if (mlirOperationIsNull(out->main))
        return infc_fail(cx, INFC_ERR_MODEL, loc, "there is no @main");
    INFC_TRY(infc_ir_sizes_read(out));
    INFC_TRY(take_weights(out));
    return infc_ir_verify(out, NULL);
}
