/* plan_build.c - @main after `fuse` as arrays: ports and weights become buffers, calls become steps, reshapes
 * become aliases. A value that @main returns is written straight into the caller's output. */
#include "../base/file.h"
#include "../ir/op_rules.h"
#include "plan_internal.h"
#include <ctype.h>
#include <stdio.h>
#include <string.h>

static const char *value_key(MlirValue value, char *key, size_t cap) {
    snprintf(key, cap, "%p", value.ptr);
    return key;
}

bool infc_builder_find(const infc_builder *b, MlirValue value, int *buffer) {
    char key[32];
    size_t found;
    if (!infc_map_find(&b->values, value_key(value, key, sizeof key), &found)) return false;
    *buffer = (int)found;
    return true;
}

void infc_builder_bind(infc_builder *b, MlirValue value, int buffer) {
    char key[32];
    infc_map_put(&b->values, value_key(value, key, sizeof key), (size_t)buffer);
}

/* A C identifier for a tensor name, not used yet in this plan. */
static const char *identifier(infc_builder *b, const char *name) {
    infc_buf base = {.arena = b->cx->arena};
    for (const char *p = name; *p && base.len < 40; p++) {
        bool word = isalnum((unsigned char)*p);
        if (word) infc_buf_printf(&base, "%c", *p);
        else if (base.len > 0 && base.data[base.len - 1] != '_') infc_buf_puts(&base, "_");
    }
    while (base.len > 0 && base.data[base.len - 1] == '_') base.data[--base.len] = 0;
    const char *text = infc_buf_str(&base);
    if (!text[0]) text = "t";
    if (isdigit((unsigned char)text[0])) text = infc_arena_printf(b->cx->arena, "t%s", text);
    const char *unique = text;
    size_t next = 2;
    if (infc_map_find(&b->names, text, &next)) {
        do unique = infc_arena_printf(b->cx->arena, "%s_%zu", text, next++);
        while (infc_map_find(&b->names, unique, NULL));
        infc_map_put(&b->names, text, next);
    }
    infc_map_put(&b->names, unique, 2);
    return unique;
}

int infc_builder_buffer(infc_builder *b, infc_place place, int index, const char *name, const infc_type *type) {
    infc_plan *plan = b->plan;
    INFC_GROW(b->cx->arena, plan->buffers, (size_t)plan->n_buffers, b->cap_buffers);
    plan->buffers[plan->n_buffers] = (infc_plan_buffer){.name = identifier(b, name ? name : "t"),
                                                        .tensor = name,
                                                        .type = *type,
                                                        .place = place,
                                                        .index = index,
                                                        .bytes = infc_type_bytes(type),
                                                        .first = -1,
                                                        .last = -1,
                                                        .whole = -1,
                                                        .alias_of = -1};
    return plan->n_buffers++;
}

static void add_inputs(infc_builder *b) {
    infc_plan *plan = b->plan;
    MlirBlock body = infc_ir_body(b->ir->main);
    plan->n_inputs = (int)infc_ir_input_count(b->ir);
    plan->inputs = INFC_NEW(b->cx->arena, int, (size_t)plan->n_inputs + 1);
    for (int i = 0; i < plan->n_inputs; i++) {
        MlirValue value = mlirBlockGetArgument(body, i);
        infc_type type = infc_ir_type(b->ir, value);
        plan->inputs[i] =
            infc_builder_buffer(b, INFC_PLACE_INPUT, i, infc_ir_input_name(b->ir, (size_t)i), &type);
        infc_builder_bind(b, value, plan->inputs[i]);
    }
}

/* The value whose memory `value` shares, looking through reshapes. */
static MlirValue through_reshapes(const infc_builder *b, MlirValue value) {
    MlirOperation def = infc_ir_def(value);
    while (!mlirOperationIsNull(def) && infc_ir_kind(b->ir, def) == INFC_OP_reshape) {
        value = mlirOperationGetOperand(def, 0);
        def = infc_ir_def(value);
    }
    return value;
}

/* Outputs: a buffer each, bound to the value that a call computes; others are copied at the end. */
static void add_outputs(infc_builder *b, MlirOperation ret, bool *copied) {
    infc_plan *plan = b->plan;
    plan->n_outputs = (int)infc_ir_output_count(b->ir);
    plan->outputs = INFC_NEW(b->cx->arena, int, (size_t)plan->n_outputs + 1);
    for (int i = 0; i < plan->n_outputs; i++) {
        MlirValue value = mlirOperationGetOperand(ret, i), root = through_reshapes(b, value);
        infc_type type = infc_ir_type(b->ir, value);
        plan->outputs[i] =
            infc_builder_buffer(b, INFC_PLACE_OUTPUT, i, infc_ir_output_name(b->ir, (size_t)i), &type);
        int taken;
        MlirOperation def = infc_ir_def(root);
        bool by_call = !mlirOperationIsNull(def) && infc_ir_kind(b->ir, def) == INFC_OP_CALL;
        copied[i] = !by_call || infc_builder_find(b, root, &taken);
        if (!copied[i]) infc_builder_bind(b, root, plan->outputs[i]);
    }
}

/* The model's name of result i of a call: that of the op inside the function whose value is returned. */
static const char *result_name(const infc_builder *b, MlirOperation call, int i) {
    MlirOperation callee = infc_ir_callee(b->ir, call);
    const char *name = infc_ir_name(b->ir, mlirOperationGetResult(call, i));
    if (name || mlirOperationIsNull(callee)) return name;
    MlirOperation ret = mlirBlockGetTerminator(infc_ir_body(callee));
    return infc_ir_name(b->ir, mlirOperationGetOperand(ret, i));
}

/* Sets b->guard: what must hold for `call`. Conditions stand before it, so they have buffers. */
static infc_status take_guard(infc_builder *b, int guard) {
    infc_plan *plan = b->plan;
    b->guard = 0;
    if (guard < 0) return INFC_OK;
    const infc_guard *from = &b->guards.items[guard];
    b->guard = b->plan_guards[guard];
    if (b->guard > 0) return INFC_OK;
    INFC_TRY(take_guard(b, from->parent));
    infc_plan_guard made = {.parent = b->guard, .taken = from->taken};
    if (infc_builder_is_constant(b, from->condition))
        INFC_TRY(infc_builder_weight(b, from->condition, &made.buffer));
    else if (!infc_builder_find(b, from->condition, &made.buffer))
        return infc_fail(b->cx, INFC_ERR_INTERNAL, INFC_NO_LOC, "a step depends on a condition that no step computes");
    INFC_GROW(b->cx->arena, plan->guards, (size_t)plan->n_guards, b->cap_guards);
    plan->guards[plan->n_guards] = made;
    b->guard = b->plan_guards[guard] = plan->n_guards++;
    return INFC_OK;
}

static void find_guards(infc_builder *b) {
    infc_guards_find(b->ir, b->cx->arena, &b->guards);
    b->plan_guards = INFC_NEW(b->cx->arena, int, b->guards.n + 1);
    if (b->guards.n == 0) return;
    INFC_GROW(b->cx->arena, b->plan->guards, 0, b->cap_guards);
    b->plan->n_guards = 1;
}

/* The buffer that the call of an op in place writes, else -1. Nothing else may read what was there. */
static infc_status written_in_place(infc_builder *b, MlirOperation call, int *buffer) {
    MlirOperation first = mlirBlockGetFirstOperation(infc_ir_body(infc_ir_callee(b->ir, call)));
    *buffer = -1;
    if (!infc_op_is_adapted(infc_ir_kind(b->ir, first))) return INFC_OK;
    const intptr_t at = mlirBlockArgumentGetArgNumber(mlirOperationGetOperand(first, 0));
    MlirValue value = mlirOperationGetOperand(call, at);
    MlirOpOperand use = mlirValueGetFirstUse(value);
    if (infc_builder_find(b, value, buffer) && mlirOpOperandIsNull(mlirOpOperandGetNextUse(use)))
        return INFC_OK;
    return infc_fail(b->cx, INFC_ERR_INTERNAL, INFC_NO_LOC, "what %s writes in place is read elsewhere",
                     infc_op_get(infc_ir_kind(b->ir, first))->name);
}

static void bind_alias(infc_builder *b, MlirValue value, int base, const char *name) {
    infc_type type = infc_ir_type(b->ir, value);
    const infc_plan_buffer *of = &b->plan->buffers[base];
    int alias = infc_builder_buffer(b, of->place, of->index, name, &type);
    b->plan->buffers[alias].alias_of = base;
    infc_builder_bind(b, value, alias);
}

static infc_status add_call(infc_builder *b, MlirOperation call) {
    int results[8];
    int n = (int)mlirOperationGetNumResults(call);
    INFC_TRY(take_guard(b, infc_guards_of(&b->guards, call)));
    if (n > 8)
        return infc_fail(b->cx, INFC_ERR_INTERNAL, INFC_NO_LOC, "a fused function has %d results", n);
    int base;
    INFC_TRY(written_in_place(b, call, &base));
    if (base >= 0) bind_alias(b, mlirOperationGetResult(call, 0), base, result_name(b, call, 0));
    for (int i = 0; i < n; i++) {
        MlirValue value = mlirOperationGetResult(call, i);
        infc_type type = infc_ir_type(b->ir, value);
        const char *name = result_name(b, call, i);
        if (infc_builder_find(b, value, &results[i])) { /* an output of the model, or bound above */
            if (!b->plan->buffers[results[i]].tensor) b->plan->buffers[results[i]].tensor = name;
            continue;
        }
        const char *step = infc_ir_symbol(b->cx->arena, infc_ir_callee(b->ir, call));
        results[i] = infc_builder_buffer(b, INFC_PLACE_ARENA, -1, name ? name : step, &type);
        b->plan->buffers[results[i]].tensor = name;
        infc_builder_bind(b, value, results[i]);
    }
    return infc_builder_step(b, call, results);
}

static infc_status add_reshape(infc_builder *b, MlirOperation op) {
    MlirValue from = mlirOperationGetOperand(op, 0), to = mlirOperationGetResult(op, 0);
    int base;
    if (infc_builder_is_constant(b, from)) INFC_TRY(infc_builder_weight(b, from, &base));
    else if (!infc_builder_find(b, from, &base))
        return infc_fail(b->cx, INFC_ERR_INTERNAL, infc_ir_loc(b->ir, mlirOperationGetLocation(op)),
                         "a reshape reads a value that no step computes");
    bind_alias(b, to, base, infc_ir_name(b->ir, to));
    return INFC_OK;
}

static infc_status copy_outputs(infc_builder *b, MlirOperation ret, const bool *copied) {
    for (int i = 0; i < b->plan->n_outputs; i++) {
        int from;
        MlirValue value = mlirOperationGetOperand(ret, i);
        if (!copied[i]) continue;
        if (infc_builder_is_constant(b, value)) INFC_TRY(infc_builder_weight(b, value, &from));
        else if (!infc_builder_find(b, value, &from))
            return infc_fail(b->cx, INFC_ERR_INTERNAL, INFC_NO_LOC, "output %d is computed by no step", i);
        INFC_TRY(infc_builder_copy(b, from, b->plan->outputs[i]));
    }
    return INFC_OK;
}

static infc_status add_ops(infc_builder *b) {
    MlirOperation *ops;
    size_t n = infc_ir_ops(b->cx->arena, infc_ir_body(b->ir->main), &ops);
    MlirOperation ret = ops[n - 1];
    bool *copied = INFC_NEW(b->cx->arena, bool, (size_t)mlirOperationGetNumOperands(ret) + 1);
    add_outputs(b, ret, copied);
    for (size_t i = 0; i + 1 < n; i++) {
        infc_op_kind kind = infc_ir_kind(b->ir, ops[i]);
        if (infc_builder_is_constant(b, mlirOperationGetResult(ops[i], 0)))
            continue; /* when something reads it */
        if (kind == INFC_OP_CALL) INFC_TRY(add_call(b, ops[i]));
        else if (kind == INFC_OP_reshape) INFC_TRY(add_reshape(b, ops[i]));
        else
            return infc_fail(b->cx, INFC_ERR_INTERNAL, infc_ir_loc(b->ir, mlirOperationGetLocation(ops[i])),
                             "an op was left outside the fused functions");
    }
    b->guard = 0;
    return copy_outputs(b, ret, copied);
}

static void set_lifetimes(infc_plan *plan) {
    for (int s = 0; s < plan->n_steps; s++) {
        const infc_plan_step *step = &plan->steps[s];
        for (int i = 0; i < step->n_stores; i++) {
            infc_plan_buffer *buffer =
                &plan->buffers[infc_plan_root(plan, plan->stores[step->first_store + i].buffer)];
            if (buffer->first < 0) buffer->first = s;
            buffer->whole = s;
            if (buffer->last < s) buffer->last = s;
        }
        if (step->scratch >= 0)
            plan->buffers[step->scratch].first = plan->buffers[step->scratch].last = s;
        for (int i = 0; i < step->n_operands; i++)
            plan->buffers[infc_plan_root(plan, step->operands[i])].last = s;
        for (int i = 0; i < step->n_extras; i++)
            plan->buffers[infc_plan_root(plan, plan->extras[step->first_extra + i].buffer)].last = s;
        for (int g = 0; (g = infc_plan_guard_next(plan, step, g)) > 0;)
            plan->buffers[infc_plan_root(plan, plan->guards[g].buffer)].last = s;
    }
    for (int i = 0; i < plan->n_buffers; i++) {
        infc_plan_buffer *buffer = &plan->buffers[i];
        if (buffer->place == INFC_PLACE_OUTPUT) buffer->last = plan->n_steps;
    }
}

static void place_weights(infc_plan *plan) {
    for (int i = 0; i < plan->n_buffers; i++) {
        infc_plan_buffer *buffer = &plan->buffers[i];
        if (buffer->place != INFC_PLACE_WEIGHT || buffer->alias_of >= 0) continue;
        buffer->offset = plan->weights_bytes;
        plan->weights_bytes += (buffer->bytes + INFC_ALIGN - 1) / INFC_ALIGN * INFC_ALIGN;
    }
    if (plan->weights_bytes > 0) plan->weights_bytes += INFC_OVER_READ;
}

infc_status infc_plan_build(infc_cx *cx, infc_ir *lowered, const infc_spec *spec,
                            const infc_target *target, infc_plan *out) {
    *out = (infc_plan){.name = spec->name,
                       .source = infc_path_base(spec->model),
                       .target = *target,
                       .sizes = infc_ir_sizes(lowered),
                       .weights = &lowered->weights,
                       .stayed_float = lowered->stayed_float,
                       .llm = lowered->llm};
    infc_builder b = {.cx = cx,
                      .ir = lowered,
                      .plan = out,
                      .values.arena = cx->arena,
                      .names.arena = cx->arena,
                      .constants.arena = cx->arena,
                      .evaluated.arena = cx->arena};
    infc_ir_constants(lowered, infc_ir_body(lowered->main), &b.constants);
    find_guards(&b);
    add_inputs(&b);
    INFC_TRY(add_ops(&b));
    set_lifetimes(out);
    place_weights(out);
    infc_plan_own(cx, out);
    infc_plan_place(cx, out);
    infc_plan_barriers(out);
    return INFC_OK;
}
