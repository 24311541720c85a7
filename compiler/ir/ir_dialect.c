/* ir_dialect.c - contexts. The dialect is IRDL text assembled from ops.def: op names, operand counts, required
 * attributes and their kinds. What IRDL cannot say, ir_verify.c checks. A weight's `id` is not declared, since
 * text may give its value instead. */
#include "ir_mlir.h"
#include "op_rules.h"
#include <mlir-c/Diagnostics.h>
#include <mlir-c/Dialect/Func.h>
#include <mlir-c/Dialect/IRDL.h>

static void put_op(infc_buf *buf, infc_op_kind kind) {
    static const char *const bases[] = {"#builtin.integer", "#builtin.dense_array",
                                        "#builtin.string", "#builtin.string"};
    const infc_op_info *info = infc_op_get(kind);
    infc_buf_printf(buf, "  irdl.operation @%s {\n", info->name);
    infc_buf names = {.arena = buf->arena};
    infc_attr_decl decl;
    for (const char *list = kind == INFC_OP_weight ? "" : info->attrs; infc_attr_next(&list, &decl);) {
        infc_buf_printf(buf, "    %%a_%s = irdl.base \"%s\"\n", decl.name, bases[decl.kind]);
        infc_buf_printf(&names, "%s\"%s\" = %%a_%s", names.len ? ", " : "", decl.name, decl.name);
    }
    if (names.len) infc_buf_printf(buf, "    irdl.attributes { %s }\n", infc_buf_str(&names));
    infc_buf operands = {.arena = buf->arena};
    for (int i = 0; i < info->n_in; i++) { /* one constraint value used twice would mean "the same type" */
        infc_buf_printf(buf, "    %%o%d = irdl.base \"!builtin.tensor\"\n", i);
        infc_buf_printf(&operands, "%sin%d: %%o%d", i ? ", " : "", i, i);
    }
    if (info->n_in) infc_buf_printf(buf, "    irdl.operands(%s)\n", infc_buf_str(&operands));
    infc_buf_puts(buf, "    %r = irdl.base \"!builtin.tensor\"\n    irdl.results(out: %r)\n  }\n");
}

static void put_message(MlirStringRef text, void *buf) {
    infc_buf_put(buf, text.data, text.length);
}

/* MLIR's diagnostics become ours. Returning success means that nothing is printed. */
static MlirLogicalResult on_diagnostic(MlirDiagnostic diagnostic, void *user) {
    struct infc_ir_kinds *kinds = user;
    infc_buf text = {.arena = kinds->cx->arena};
    if (kinds->diag_prefix) infc_buf_printf(&text, "%s: ", kinds->diag_prefix);
    mlirDiagnosticPrint(diagnostic, put_message, &text);
    infc_loc loc = infc_ir_loc_of(kinds, mlirDiagnosticGetLocation(diagnostic));
    if (mlirDiagnosticGetSeverity(diagnostic) == MlirDiagnosticError)
        infc_fail(kinds->cx, kinds->diag_status, loc, "%s", infc_buf_str(&text));
    else infc_warn(kinds->cx, loc, "%s", infc_buf_str(&text));
    return mlirLogicalResultSuccess();
}

static unsigned kind_slot(const void *key) {
    return (unsigned)((uintptr_t)key >> 4) * 0x9E3779B1u >> 24; /* the top 8 bits */
}

_Static_assert(2 * (INFC_N_OP_KINDS + 2) < INFC_IR_KIND_SLOTS,
               "a table of kinds that is half full at most");

static void add_kind(struct infc_ir_kinds *kinds, const char *name, infc_op_kind kind) {
    const void *key = mlirIdentifierGet(kinds->ctx, infc_mlir_str(name)).ptr;
    unsigned i = kind_slot(key);
    while (kinds->slots[i].key) i = (i + 1) % INFC_IR_KIND_SLOTS;
    kinds->slots[i].key = key;
    kinds->slots[i].kind = kind;
}

infc_op_kind infc_ir_kind(const infc_ir *ir, MlirOperation op) {
    const void *key = mlirOperationGetName(op).ptr; /* identifiers are unique in a context */
    for (unsigned i = kind_slot(key); ir->kinds->slots[i].key; i = (i + 1) % INFC_IR_KIND_SLOTS)
        if (ir->kinds->slots[i].key == key) return ir->kinds->slots[i].kind;
    return INFC_OP_OTHER;
}

static void destroy_context(void *kinds) {
    MlirContext ctx = ((struct infc_ir_kinds *)kinds)->ctx;
    if (!mlirContextIsNull(ctx)) mlirContextDestroy(ctx);
}

static bool load_dialect(MlirContext ctx, infc_arena *arena) {
    infc_buf text = {.arena = arena};
    infc_buf_puts(&text, "irdl.dialect @infc {\n");
    for (int kind = 0; kind < INFC_N_OP_KINDS; kind++) put_op(&text, (infc_op_kind)kind);
    infc_buf_puts(&text, "}\n");
    MlirModule module = mlirModuleCreateParse(ctx, mlirStringRefCreate(text.data, text.len));
    if (mlirModuleIsNull(module)) return false;
    bool ok = mlirLogicalResultIsSuccess(mlirLoadIRDLDialects(module));
    mlirModuleDestroy(module); /* the loaded dialect does not refer to it */
    return ok;
}

infc_status infc_ir_context_create(infc_cx *cx, struct infc_ir_kinds **out) {
    struct infc_ir_kinds *kinds = INFC_NEW(cx->arena, struct infc_ir_kinds, 1);
    kinds->cx = cx;
    kinds->strings.arena = kinds->open_types.arena = cx->arena;
    kinds->diag_status = INFC_ERR_INTERNAL;
    kinds->sizes = infc_sizes_create(cx->arena);
    infc_arena_defer(cx->arena, destroy_context, kinds); /* first: it may run out of memory */
    kinds->ctx = mlirContextCreateWithThreading(false);
    mlirContextAttachDiagnosticHandler(kinds->ctx, on_diagnostic, kinds, NULL);
    mlirDialectHandleLoadDialect(mlirGetDialectHandle__func__(), kinds->ctx);
    mlirDialectHandleLoadDialect(mlirGetDialectHandle__irdl__(), kinds->ctx);
    if (!load_dialect(kinds->ctx, cx->arena))
        return infc_fail(cx, INFC_ERR_INTERNAL, INFC_NO_LOC, "the infc dialect does not load");
    for (int kind = 0; kind < INFC_N_OP_KINDS; kind++)
        add_kind(kinds, infc_arena_printf(cx->arena, "infc.%s", infc_op_get((infc_op_kind)kind)->name),
                 (infc_op_kind)kind);
    add_kind(kinds, "func.func", INFC_OP_FUNC);
    add_kind(kinds, "func.call", INFC_OP_CALL);
    add_kind(kinds, "func.return", INFC_OP_RETURN);
    *out = kinds;
    return INFC_OK;
}

/* ---- strings ------------------------------------------------------------------------------------ */

const char *infc_ir_string(struct infc_ir_kinds *kinds, const void *key, MlirStringRef text) {
    void **known = infc_ptr_map_at(&kinds->strings, key);
    if (!*known) *known = infc_arena_copy_string(kinds->cx->arena, text.data, text.length);
    return *known;
}

const char *infc_ir_attr_string(const infc_ir *ir, MlirAttribute attr) {
    if (mlirAttributeIsNull(attr) || !mlirAttributeIsAString(attr)) return NULL;
    return infc_ir_string(ir->kinds, attr.ptr, mlirStringAttrGetValue(attr));
}
