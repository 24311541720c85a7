/* plan_dump.c - the plan as YAML: for --dump plan, golden tests and curious readers. */
#include "plan_internal.h"

static const char *place_text(const infc_plan_buffer *buffer, infc_arena *arena) {
    if (buffer->alias_of >= 0) return infc_arena_printf(arena, "same as %d", buffer->alias_of);
    switch (buffer->place) {
    case INFC_PLACE_INPUT: return "input";
    case INFC_PLACE_OUTPUT: return "output";
    case INFC_PLACE_WEIGHT:
        return infc_arena_printf(arena, "weights + %llu", (unsigned long long)buffer->offset);
    default: return infc_arena_printf(arena, "%llu", (unsigned long long)buffer->offset);
    }
}

static void dump_buffers(const infc_plan *plan, infc_buf *out) {
    infc_buf_puts(out, "buffers:\n");
    for (int i = 0; i < plan->n_buffers; i++) {
        const infc_plan_buffer *buffer = &plan->buffers[i];
        infc_buf_printf(out, "  - {id: %d, name: %s, type: \"%s\", bytes: %llu, at: %s", i,
                        buffer->name, infc_type_text(out->arena, &buffer->type),
                        (unsigned long long)buffer->bytes, place_text(buffer, out->arena));
        if (buffer->place == INFC_PLACE_ARENA && buffer->alias_of < 0)
            infc_buf_printf(out, ", live: [%d, %d]", buffer->first, buffer->last);
        infc_buf_puts(out, "}\n");
    }
}

static void dump_weight(const infc_plan *plan, const infc_op_desc *desc, infc_buf *out) {
    const infc_weight *weight = infc_weights_get(plan->weights, infc_desc_int(desc, "id"));
    infc_buf_json_string(out, weight->name ? weight->name : "");
}

static void dump_recipes(const infc_plan *plan, infc_buf *out) {
    infc_buf_puts(out, "recipes:\n");
    for (int i = 0; i < plan->n_recipes; i++) {
        const infc_plan_recipe *recipe = &plan->recipes[i];
        infc_buf_printf(out, "  - {buffer: %d, from: ", recipe->buffer);
        dump_weight(plan, &plan->recipe_ops[recipe->first_op], out);
        infc_buf_puts(out, ", ops: [");
        for (int k = 1; k < recipe->n_ops; k++) {
            const infc_op_desc *desc = &plan->recipe_ops[recipe->first_op + k];
            if (k > 1) infc_buf_puts(out, ", ");
            if (desc->kind == INFC_OP_weight) dump_weight(plan, desc, out);
            else infc_buf_puts(out, infc_op_get(desc->kind)->name);
            if (desc->kind == INFC_OP_relayout)
                infc_buf_printf(out, " %s", infc_layout_name(desc->out.layout));
        }
        infc_buf_puts(out, "]}\n");
    }
}

static void dump_expr(const infc_plan *plan, const infc_plan_step *step, int node, infc_buf *out) {
    const infc_plan_expr *expr = &plan->exprs[step->first_expr + node];
    if (expr->kind == INFC_EXPR_ACC) infc_buf_puts(out, "acc");
    else if (expr->kind == INFC_EXPR_EXTRA)
        infc_buf_puts(out, plan->buffers[plan->extras[step->first_extra + expr->args[0]].buffer].name);
    else {
        infc_buf_printf(out, "%s(", infc_expr_fn_name(expr));
        for (int i = 0; i < infc_expr_fn_arity(expr); i++) {
            if (i) infc_buf_puts(out, ", ");
            dump_expr(plan, step, expr->args[i], out);
        }
        infc_buf_puts(out, ")");
    }
}

static void dump_ids(const char *key, const int *ids, int n, infc_buf *out) {
    infc_buf_printf(out, ", %s: [", key);
    for (int i = 0; i < n; i++) infc_buf_printf(out, "%s%d", i ? ", " : "", ids[i]);
    infc_buf_puts(out, "]");
}

/* Buffers whose bool must be so, the last to be looked at first. */
static void dump_guards(const infc_plan *plan, const infc_plan_step *step, infc_buf *out) {
    if (step->guard == 0) return;
    infc_buf_puts(out, ", when: {");
    for (int g = 0; (g = infc_plan_guard_next(plan, step, g)) > 0;)
        infc_buf_printf(out, "%s%d: %s", g == step->guard ? "" : ", ", plan->guards[g].buffer,
                        plan->guards[g].taken ? "true" : "false");
    infc_buf_puts(out, "}");
}

static void dump_step(const infc_plan *plan, int s, infc_buf *out) {
    const infc_plan_step *step = &plan->steps[s];
    infc_buf_printf(out, "  - {id: %d, name: %s, kernel: %s", s, step->name,
                    step->kernel ? step->kernel->name : "nest");
    if (step->large) infc_buf_printf(out, ", large: %s", step->large->name);
    if (!step->kernel) {
        infc_buf_puts(out, ", over: [");
        for (int i = 0; i < step->nest_rank; i++)
            infc_buf_printf(out, "%s%s", i ? ", " : "", infc_dim_text(out->arena, step->nest_dims[i]));
        infc_buf_puts(out, "]");
    }
    dump_ids("in", step->operands, step->n_operands, out);
    infc_buf_puts(out, ", out: {");
    for (int i = 0; i < step->n_stores; i++) {
        const infc_plan_store *store = &plan->stores[step->first_store + i];
        infc_buf_printf(out, "%s%d: \"", i ? ", " : "", store->buffer);
        if (store->expr < 0) infc_buf_puts(out, "acc");
        else dump_expr(plan, step, store->expr, out);
        infc_buf_puts(out, "\"");
    }
    infc_buf_puts(out, "}");
    dump_guards(plan, step, out);
    infc_buf_printf(out, ", units: %s, barrier: %s, flops: %llu,\n     what: \"%s\", node: ",
                    infc_dim_text(out->arena, step->units), step->barrier ? "before" : "none",
                    (unsigned long long)step->flops, step->what);
    infc_buf_json_string(out, step->node);
    infc_buf_puts(out, "}\n");
}

void infc_plan_dump(const infc_plan *plan, infc_buf *out) {
    int barriers = 0;
    for (int s = 0; s < plan->n_steps; s++) barriers += plan->steps[s].barrier;
    infc_buf_printf(out, "model: %s  # %d steps, %d barriers, arena %llu B (lower bound %llu B), weights %llu B\n",
                    plan->name, plan->n_steps, barriers, (unsigned long long)plan->arena_bytes,
                    (unsigned long long)plan->arena_lower_bound, (unsigned long long)plan->weights_bytes);
    infc_buf_printf(out, "target: %s\n", plan->target.name);
    for (int i = 0; i < infc_sizes_count(plan->sizes); i++)
        infc_buf_printf(out, "%s%s", i ? ", " : "sizes: {",
                        infc_size_text(out->arena, infc_sizes_at(plan->sizes, i)));
    if (infc_sizes_count(plan->sizes)) infc_buf_puts(out, "}\n");
    dump_buffers(plan, out);
    dump_recipes(plan, out);
    infc_buf_puts(out, "steps:\n");
    for (int s = 0; s < plan->n_steps; s++) dump_step(plan, s, out);
}
