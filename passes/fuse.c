/* fuse.c - outlines each kernel with its epilogue, and each run of element-wise ops, into a private function.
 *
 * A group starts at an op with a kernel (its root) or at an element-wise op, and takes in later element-wise ops
 * that use a value of the group, have the group's shape, and whose other operands stand before the group and
 * can be read beside the output (ir/access.h). Values used outside the group are its results, so there may be
 * several. Afterwards @main holds weights, their preparation, reshapes and calls: one call is one step. */
#include "../compiler/ir/access.h"
#include "../compiler/ir/op_rules.h"
#include "pass.h"
#include <ctype.h>
#include <string.h>

enum { MAX_GROUP = 64, MAX_EXTRAS = 24, MAX_RESULTS = 8 };

typedef struct group {
    MlirOperation ops[MAX_GROUP];
    size_t n;
    int n_extras;
    infc_op_kind root;          /* a map kind: a loop nest */
    const infc_ptr_set *before; /* ops that stand before the group */
    infc_type out;
} group;

/* An element-wise op that joins others: of wide integers, each stands alone. */
static bool in_lanes(const infc_ir *ir, MlirOperation op) {
    infc_op_desc desc;
    if (!infc_op_is_map(infc_ir_kind(ir, op))) return false;
    infc_ir_describe(ir, op, &desc);
    return infc_desc_in_lanes(&desc);
}

static bool is_compute(infc_op_kind kind) {
    return kind < INFC_N_OP_KINDS && kind != INFC_OP_weight && kind != INFC_OP_reshape;
}

static bool in_group(const group *g, MlirOperation op) {
    for (size_t i = 0; i < g->n; i++)
        if (mlirOperationEqual(g->ops[i], op)) return true;
    return false;
}

/* Whether the map `op` can join: see the top of the file. Counts the operands it would add. */
static bool can_join(infc_ir *ir, const group *g, MlirOperation op, int *n_new) {
    infc_type out = infc_ir_type(ir, mlirOperationGetResult(op, 0));
    if (!infc_shape_equal(&out, &g->out) || out.layout != g->out.layout) return false;
    bool touches = false;
    *n_new = 0;
    for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); i++) {
        MlirValue value = mlirOperationGetOperand(op, i);
        MlirOperation def = infc_ir_def(value);
        if (!mlirOperationIsNull(def) && in_group(g, def)) {
            touches = true;
            continue;
        }
        bool argument = mlirOperationIsNull(def);
        if (!argument && !infc_ptr_set_has(g->before, def.ptr)) return false;
        infc_type extra = infc_ir_type(ir, value);
        infc_access access;
        int64_t strides[INFC_MAX_RANK + 1];
        bool readable = infc_op_is_map(g->root)
                            ? infc_access_strides(&g->out, &extra, !argument, strides)
                            : infc_access_epilogue(g->root, &g->out, &extra, !argument, &access);
        if (!readable) return false;
        (*n_new)++;
    }
    return touches && g->n < MAX_GROUP && g->n_extras + *n_new <= MAX_EXTRAS;
}

/* Kernels that move elements by size know no arithmetic, so nothing joins them. */
static bool takes_epilogue(infc_op_kind kind) {
    switch (kind) {
    case INFC_OP_choose:
    case INFC_OP_gather:
    case INFC_OP_scatter:
    case INFC_OP_top: /* results of which others take parts */
    case INFC_OP_running_sum:
    case INFC_OP_sample:
    case INFC_OP_transpose:
    case INFC_OP_slice:
    case INFC_OP_expand:
    case INFC_OP_concat2:
    case INFC_OP_concat3:
    case INFC_OP_concat4:
    case INFC_OP_pad:
    case INFC_OP_ipack:
    case INFC_OP_qpack:
    case INFC_OP_adapter_in: /* where no row has an adapter, they do nothing */
    case INFC_OP_adapter_rms:
    case INFC_OP_adapter_out:
    case INFC_OP_adapter_sum:
    case INFC_OP_adapter_gate:
    case INFC_OP_kv_store: /* records and panels are no tensors of numbers */
    case INFC_OP_quantize:
    case INFC_OP_rms_quantize:
    case INFC_OP_quantize_groups:
    case INFC_OP_rms_groups:
    case INFC_OP_pack_i8:
    case INFC_OP_pack_i4:
    case INFC_OP_choose_i4:
    case INFC_OP_pack_keep:
    case INFC_OP_lstm: /* several states in one tensor: what follows takes a part of it */
    case INFC_OP_gru:
    case INFC_OP_rnn:
    case INFC_OP_relayout: return false;
    default: return true;
    }
}

/* Tries the users of every op of the group, those that joined meanwhile included; each comes after what it uses. */
static void grow(infc_ir *ir, group *g) {
    bool sums = infc_op_sums_integers(g->root);
    if (!takes_epilogue(g->root) || !infc_dtype_in_lanes(g->out.dtype)) return;
    if (!infc_op_is_map(g->root) && !sums && g->out.dtype != INFC_DTYPE_f32) return;
    if (infc_op_is_map(g->root) && !in_lanes(ir, g->ops[0])) return;
    for (size_t i = 0; i < g->n; i++) {
        MlirOpOperand use = mlirValueGetFirstUse(mlirOperationGetResult(g->ops[i], 0));
        for (; !mlirOpOperandIsNull(use); use = mlirOpOperandGetNextUse(use)) {
            int n_new;
            MlirOperation user = mlirOpOperandGetOwner(use);
            if (!in_lanes(ir, user) || in_group(g, user) || !can_join(ir, g, user, &n_new))
                continue;
            g->ops[g->n++] = user;
            g->n_extras += n_new;
        }
    }
}

static bool is_result(const group *g, size_t i) {
    MlirOpOperand use = mlirValueGetFirstUse(mlirOperationGetResult(g->ops[i], 0));
    for (; !mlirOpOperandIsNull(use); use = mlirOpOperandGetNextUse(use))
        if (!in_group(g, mlirOpOperandGetOwner(use))) return true;
    return false;
}

/* The last ones to join leave while the group has too many results; nothing that stays uses them. */
static void limit_results(group *g) {
    for (; g->n > MAX_RESULTS; g->n--) {
        int n = 0;
        for (size_t i = 0; i < g->n; i++) n += is_result(g, i);
        if (n <= MAX_RESULTS) return;
    }
}

/* A C identifier from `node "/conv2/Conv" (Conv)`: conv2. */
static void node_identifier(const char *node, char *out, size_t cap) {
    const char *begin = node ? strchr(node, '"') : NULL;
    const char *end = begin ? strchr(begin + 1, '"') : NULL;
    size_t n = 0;
    if (end) {
        const char *op = strchr(end, '('), *slash = end;
        while (slash > begin && *slash != '/') slash--;
        if (op && slash > begin + 1 && strncasecmp(slash + 1, op + 1, (size_t)(end - slash - 1)) == 0)
            end = slash;
        for (const char *p = begin + 1; p < end && n + 1 < cap; p++) {
            bool word = isalnum((unsigned char)*p);
            if (word || (n > 0 && out[n - 1] != '_'))
                out[n++] = word ? (char)tolower((unsigned char)*p) : '_';
        }
    }
    while (n > 0 && out[n - 1] == '_') n--;
    out[n] = 0;
}

static const char *group_name(infc_pass_cx *pass, const group *g) {
    infc_ir *ir = pass->ir;
    char base[48];
    infc_loc loc = infc_ir_loc(ir, mlirOperationGetLocation(g->ops[0]));
    node_identifier(loc.node, base, sizeof base);
    const char *kind = infc_op_get(g->root)->name;
    if (infc_op_is_map(g->root)) kind = "map";
    infc_buf name = {.arena = pass->scratch};
    if (!base[0] || isdigit((unsigned char)base[0]) || g->root == INFC_OP_relayout)
        infc_buf_printf(&name, base[0] ? "%s_%s" : "%s", kind, base);
    else infc_buf_puts(&name, base);
    for (size_t i = infc_op_is_map(g->root) ? 0 : 1; i < g->n; i++) {
        infc_op_desc desc;
        infc_ir_describe(ir, g->ops[i], &desc);
        const char *fn = infc_desc_str(&desc, desc.kind == INFC_OP_convert ? "to" : "fn");
        if (strcmp(fn, "add") != 0 && strcmp(fn, "mul") != 0 && name.len < 56)
            infc_buf_printf(&name, "_%s", fn);
    }
    return infc_buf_str(&name);
}

/* Moves constants to the front: they are weights' recipes, not steps. Returns the first op after them; `before`
 * gets those before it. */
static MlirOperation hoist_constants(infc_pass_cx *pass, infc_ptr_set *before) {
    MlirOperation *ops;
    MlirBlock body = infc_ir_body(pass->ir->main);
    infc_ir_constants(pass->ir, body, before);
    size_t n = infc_ir_ops(pass->scratch, body, &ops), first = 0;
    while (infc_ptr_set_has(before, ops[first].ptr)) first++; /* ends at the return */
    for (size_t i = first + 1; i < n; i++)
        if (infc_ptr_set_has(before, ops[i].ptr)) infc_ir_move_before(ops[i], ops[first]);
    return ops[first];
}

infc_status infc_pass_fuse(infc_pass_cx *pass) {
    infc_ir *ir = pass->ir;
    infc_ptr_set before = {.arena = pass->scratch};
    MlirOperation op = hoist_constants(pass, &before);
    while (!mlirOperationIsNull(op)) {
        infc_op_kind kind = infc_ir_kind(ir, op);
        if (!is_compute(kind)) {
            infc_ptr_set_add(&before, op.ptr);
            op = mlirOperationGetNextInBlock(op);
            continue;
        }
        group g = {.root = kind, .n = 1, .ops = {op}, .before = &before};
        g.n_extras = infc_op_is_map(kind) ? (int)mlirOperationGetNumOperands(op) : 0;
        g.out = infc_ir_type(ir, mlirOperationGetResult(op, 0));
        grow(ir, &g);
        limit_results(&g);
        MlirOperation call;
        for (size_t i = 1; i < g.n; i++) infc_ir_move_after(g.ops[i], g.ops[i - 1]);
        INFC_TRY(infc_ir_outline(ir, g.ops, g.n, group_name(pass, &g), &call));
        pass->n_changes++;
        infc_ptr_set_add(&before, call.ptr);
        op = mlirOperationGetNextInBlock(call);
    }
    return INFC_OK;
}
