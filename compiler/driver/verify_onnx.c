/* The graph as the file has it, node by node, beside what the compiled code made of it. Where a float becomes a whole
 * number or a truth value, its last bit decides, and what follows drifts apart in good order: so when the model as a
 * whole is off, its steps are looked at one by one, each from what the compiled code has before it. */
#include "verify.h"
#include <string.h>

/* Where a step rounds, the root mean square may be this much more than the tolerance. */
#define ROUNDS_ALLOWANCE 100

typedef struct comparison {
    infc_cx *cx;
    infc_ir *ir;
    const infc_tensor *inputs;
    infc_ptr_map stats;                 /* value -> infc_tensor_stats */
    infc_ptr_set kept;                  /* values that were compared */
    infc_ptr_set rounded, rounded_here; /* anywhere before; within the step */
    double tolerance;
    size_t at; /* row, when steps are looked at */
    infc_onnx_check *check;
} comparison;

/* ---- values ------------------------------------------------------------------------------------------ */

static bool is_float(const infc_type *type) {
    return !infc_dtype_is_integer(type->dtype) && type->dtype != INFC_DTYPE_bool;
}

/* A jump: numbers next to each other need not give such. */
static bool jumps(const infc_ir *ir, MlirOperation op) {
    static const char *const fns[] = {"round", "floor", "ceil", "sign"};
    infc_op_desc desc;
    infc_ir_describe(ir, op, &desc);
    bool from_float = false;
    for (int i = 0; i < desc.n_in; i++) from_float = from_float || is_float(&desc.in[i]);
    if (from_float && !is_float(&desc.out)) return true;
    for (size_t i = 0; desc.kind == INFC_OP_map1 && i < sizeof fns / sizeof *fns; i++)
        if (strcmp(infc_desc_str(&desc, "fn"), fns[i]) == 0) return true;
    return false;
}

static void value(void *user, MlirOperation op, const infc_tensor *tensor) {
    comparison *c = user;
    const void *result = mlirOperationGetResult(op, 0).ptr;
    infc_tensor_stats *stats = INFC_NEW(c->cx->arena, infc_tensor_stats, 1);
    bool here = jumps(c->ir, op), before = here;
    for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); i++) {
        const void *operand = mlirOperationGetOperand(op, i).ptr;
        before = before || infc_ptr_set_has(&c->rounded, operand);
        here = here || (infc_ptr_set_has(&c->rounded_here, operand) && !infc_ptr_set_has(&c->kept, operand));
    }
    if (before) infc_ptr_set_add(&c->rounded, result);
    if (here) infc_ptr_set_add(&c->rounded_here, result);
    *stats = infc_verify_stats(tensor);
    *infc_ptr_map_at(&c->stats, result) = stats;
}

/* ---- what the step of the first divergence is made of ------------------------------------------------------ */

static infc_onnx_operand_stats operand_stats(const comparison *c, MlirValue operand) {
    const infc_weight *weight = infc_ir_weight_of(c->ir, operand);
    infc_onnx_operand_stats r = {.name = infc_ir_name(c->ir, operand), .type = infc_ir_type(c->ir, operand)};
    if (weight) {
        const infc_tensor tensor = {weight->type, (void *)(uintptr_t)weight->bytes}; /* only read */
        r.name = weight->name;
        r.stats = infc_verify_stats(&tensor);
    } else if (mlirValueIsABlockArgument(operand)) {
        size_t i = (size_t)mlirBlockArgumentGetArgNumber(operand);
        r.name = infc_ir_input_name(c->ir, i);
        r.type = c->inputs[i].type;
        r.stats = infc_verify_stats(&c->inputs[i]);
    } else {
        const infc_tensor_stats *known = infc_ptr_map_find(&c->stats, operand.ptr);
        if (known) r.stats = *known;
    }
    return r;
}

static void add_node(infc_onnx_check *check, const char *node) {
    for (size_t i = 0; i < check->n_nodes; i++)
        if (strcmp(check->nodes[i], node) == 0) return;
    if (check->n_nodes < INFC_VERIFY_MAX_NODES) check->nodes[check->n_nodes++] = node;
}

/* From an op back to values that the compiled code keeps. */
static void find_step(comparison *c, MlirOperation op, infc_ptr_set *found) {
    infc_onnx_check *check = c->check;
    const char *node = infc_verify_node(c->ir, op);
    for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); i++) {
        MlirValue operand = mlirOperationGetOperand(op, i);
        MlirOperation def = infc_ir_def(operand);
        if (infc_ptr_set_has(found, operand.ptr)) continue;
        infc_ptr_set_add(found, operand.ptr);
        bool inside = !mlirOperationIsNull(def) && infc_ir_kind(c->ir, def) != INFC_OP_weight &&
                      !infc_ptr_set_has(&c->kept, operand.ptr);
        if (inside) find_step(c, def, found);
        else if (check->n_read < INFC_VERIFY_MAX_READ)
            check->read[check->n_read++] = operand_stats(c, operand);
    }
    if (node) add_node(check, node);
}

static void keep_first(comparison *c, size_t row, MlirOperation op, const infc_tensor *reference) {
    infc_onnx_check *check = c->check;
    infc_ptr_set found = {.arena = c->cx->arena};
    size_t bytes = (size_t)infc_type_bytes(&reference->type);
    check->first = row;
    check->n_nodes = check->n_read = 0;
    check->first_reference =
        (infc_tensor){reference->type, infc_arena_alloc(c->cx->arena, bytes + 1, INFC_ALIGN)};
    if (bytes) memcpy(check->first_reference.data, reference->data, bytes);
    if (!mlirOperationIsNull(op)) find_step(c, op, &found);
}

/* ---- all of it, from the inputs ------------------------------------------------------------------------------ */

static void keep(comparison *c, MlirOperation op) {
    if (!mlirOperationIsNull(op)) infc_ptr_set_add(&c->kept, mlirOperationGetResult(op, 0).ptr);
}

static bool has_row(const infc_onnx_check *check, const char *name) {
    for (size_t i = 0; i < check->n_rows; i++)
        if (strcmp(check->rows[i].tensor, name) == 0) return true;
    return false;
}

static bool total(void *user, MlirOperation op, const char *name, const infc_tensor *reference,
                  const infc_npz_entry *got) {
    comparison *c = user;
    infc_onnx_check *check = c->check;
    bool output = mlirOperationIsNull(op);
    if (!got) check->n_fused++;
    if (!got || (output && has_row(check, name))) return true;
    infc_onnx_row row = {.tensor = name, .node = infc_verify_node(c->ir, op), .type = reference->type};
    const void *result = output ? NULL : mlirOperationGetResult(op, 0).ptr;
    row.total = infc_verify_close(reference, got, c->tolerance);
    row.rounds_before = result && infc_ptr_set_has(&c->rounded, result);
    row.rounds = result && infc_ptr_set_has(&c->rounded_here, result);
    keep(c, op);
    INFC_GROW(c->cx->arena, check->rows, check->n_rows, check->cap_rows);
    check->rows[check->n_rows++] = row;
    check->n_off += row.total.n_over > 0;
    return true;
}

/* ---- step by step ---------------------------------------------------------------------------------------------- */

static bool own_is_off(const comparison *c, const infc_onnx_row *row) {
    return row->rounds ? row->own.rms > ROUNDS_ALLOWANCE * c->tolerance : row->own.n_over > 0;
}

static bool own(void *user, MlirOperation op, const char *name, const infc_tensor *reference,
                const infc_npz_entry *got) {
    comparison *c = user;
    infc_onnx_check *check = c->check;
    infc_onnx_row *row = &check->rows[c->at];
    if (!got || c->at == check->n_rows || strcmp(row->tensor, name) != 0)
        return true; /* outputs that have a row */
    row->own = infc_verify_close(reference, got, c->tolerance);
    bool off = own_is_off(c, row);
    row->diverges = off || (row->total.n_over > 0 && !row->rounds_before);
    if (off && !check->own_is_off) keep_first(c, c->at, op, reference);
    check->own_is_off = check->own_is_off || off;
    check->n_diverged += row->diverges;
    keep(c, op);
    c->at++;
    return true;
}

/* No step is off, but their roundings add up: the first to show it. */
static void first_of_total(infc_onnx_check *check) {
    check->first = 0;
    while (!check->rows[check->first].diverges) check->first++;
}

infc_status infc_verify_onnx(infc_cx *cx, infc_ir *ir, const infc_tensor *inputs,
                             const infc_dumped *dumped, double tolerance, infc_onnx_check *out) {
    comparison c = {.cx = cx, .ir = ir, .inputs = inputs, .tolerance = tolerance, .check = out};
    infc_verify_walk told = {.what = "the ONNX graph", .value = value, .tensor = total, .user = &c};
    *out = (infc_onnx_check){0};
    c.stats.arena = c.kept.arena = c.rounded.arena = c.rounded_here.arena = cx->arena;
    INFC_TRY(infc_verify_each(cx, ir, inputs, dumped, &told));
    if (!out->n_off) return INFC_OK;
    out->stepped = told.forced = true;
    told.tensor = own;
    told.what = "the ONNX graph, step by step";
    INFC_TRY(infc_verify_each(cx, ir, inputs, dumped, &told));
    if (out->n_diverged && !out->own_is_off) first_of_total(out);
    return INFC_OK;
}
