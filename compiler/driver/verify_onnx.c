/* The graph as the file has it, node by node, beside what the compiled code made of it. */
#include "verify.h"
#include <string.h>

typedef struct comparison {
    infc_cx *cx;
    const infc_ir *ir;
    const infc_tensor *inputs;
    infc_ptr_map stats; /* value -> infc_tensor_stats */
    infc_ptr_set kept;  /* values that were compared */
    double tolerance;
    infc_onnx_check *check;
} comparison;

static void value(void *user, MlirOperation op, const infc_tensor *tensor) {
    comparison *c = user;
    infc_tensor_stats *stats = INFC_NEW(c->cx->arena, infc_tensor_stats, 1);
    *stats = infc_verify_stats(tensor);
    *infc_ptr_map_at(&c->stats, mlirOperationGetResult(op, 0).ptr) = stats;
}

/* ---- what the step of the first divergence is made of ----------------------------------------------------- */

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

/* From an op back to values that the compiled code keeps, which were right. */
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

/* ---- comparing ----------------------------------------------------------------------------------------- */

static void keep_first(comparison *c, MlirOperation op, const infc_tensor *reference) {
    infc_onnx_check *check = c->check;
    infc_ptr_set found = {.arena = c->cx->arena};
    size_t bytes = (size_t)infc_type_bytes(&reference->type);
    check->first = check->n_rows - 1;
    check->first_reference =
        (infc_tensor){reference->type, infc_arena_alloc(c->cx->arena, bytes + 1, INFC_ALIGN)};
    if (bytes) memcpy(check->first_reference.data, reference->data, bytes);
    if (!mlirOperationIsNull(op)) find_step(c, op, &found);
}

static bool has_row(const infc_onnx_check *check, const char *name) {
    for (size_t i = 0; i < check->n_rows; i++)
        if (strcmp(check->rows[i].tensor, name) == 0) return true;
    return false;
}

static void tensor(void *user, MlirOperation op, const char *name, const infc_tensor *reference,
                   const infc_npz_entry *got) {
    comparison *c = user;
    infc_onnx_check *check = c->check;
    if (!got) {
        check->n_fused++;
        return;
    }
    if (mlirOperationIsNull(op) && has_row(check, name)) return;
    infc_onnx_row row = {.tensor = name, .node = infc_verify_node(c->ir, op), .type = reference->type};
    row.close = infc_verify_close(reference, got, c->tolerance);
    row.diverges = row.close.n_over > 0;
    INFC_GROW(c->cx->arena, check->rows, check->n_rows, check->cap_rows);
    check->rows[check->n_rows++] = row;
    if (!mlirOperationIsNull(op)) infc_ptr_set_add(&c->kept, mlirOperationGetResult(op, 0).ptr);
    if (row.diverges && check->n_diverged++ == 0) keep_first(c, op, reference);
}

infc_status infc_verify_onnx(infc_cx *cx, infc_ir *ir, const infc_tensor *inputs,
                             const infc_dumped *dumped, double tolerance, infc_onnx_check *out) {
    comparison c = {.cx = cx, .ir = ir, .inputs = inputs, .tolerance = tolerance, .check = out};
    const infc_verify_walk told = {.what = "the ONNX graph", .value = value, .tensor = tensor, .user = &c};
    *out = (infc_onnx_check){0};
    c.stats.arena = c.kept.arena = cx->arena;
    return infc_verify_each(cx, ir, inputs, dumped, &told);
}
