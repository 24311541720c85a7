/* emit_source.c - NAME.c: the skeleton's holes. What runs on every worker is one call per step; buffers are named
 * once at the top of that function. */
#include "embedded.h"
#include "emit_unit.h"
#include <string.h>

/* Attending to as many positions takes longer than one more meeting saves, where KV groups do not divide. */
enum { UNEVEN_POSITIONS = 256 };

static bool *buffers_used(const infc_emit_unit *u) {
    const infc_plan *plan = u->plan;
    bool *used = INFC_NEW(u->cx->arena, bool, (size_t)plan->n_buffers + 1);
    for (int s = 0; s < plan->n_steps; s++) {
        const infc_plan_step *step = &plan->steps[s];
        if (step->scratch >= 0) used[step->scratch] = true;
        for (int i = 0; i < step->n_operands; i++) used[step->operands[i]] = true;
        for (int i = 0; i < step->n_extras; i++) used[infc_emit_extra(u, step, i)->buffer] = true;
        for (int g = 0; (g = infc_plan_guard_next(plan, step, g)) > 0;)
            used[plan->guards[g].buffer] = true;
        for (int i = 0; i < step->n_stores; i++)
            used[plan->stores[step->first_store + i].buffer] = true;
    }
    return used;
}

static const char *address(const infc_emit_unit *u, const infc_plan_buffer *root) {
    switch (root->place) {
    case INFC_PLACE_INPUT: return infc_arena_printf(u->cx->arena, "c->inputs[%d]", root->index);
    case INFC_PLACE_OUTPUT: return infc_arena_printf(u->cx->arena, "c->outputs[%d]", root->index);
    case INFC_PLACE_WEIGHT:
        return infc_arena_printf(u->cx->arena, "(const void *)(weights + %llu)",
                                 (unsigned long long)root->offset);
    default:
        return infc_arena_printf(u->cx->arena, "(void *)(arena + %llu)", (unsigned long long)root->offset);
    }
}

/* With few rows: the worker's own. */
static const char *own_address(const infc_emit_unit *u, const infc_plan_buffer *root) {
    return infc_arena_printf(u->cx->arena, "(void *)(few ? mine + %llu : arena + %llu)",
                             (unsigned long long)root->own_offset, (unsigned long long)root->offset);
}

/* Of all layers; null where none attends. */
static const infk_kv_dims *kv_dims(const infc_plan *plan) {
    for (int s = 0; s < plan->n_steps; s++)
        if (plan->steps[s].kernel && plan->steps[s].kernel->kind == INFK_kv_store)
            return &plan->steps[s].call.dims.kv;
    return NULL;
}

/* Whether parts of what the only row sees are shared out: there are enough for all workers. */
static void print_alone(const infk_kv_dims *kv, const char *tokens, infc_buf *out) {
    const long long all = (long long)kv->width * 32, seen = kv->window ? (long long)kv->window : all;
    infc_buf_printf(
        out,
        "    const int alone = mode == %du && %s == 1 &&\n"
        "        %lld * parts_seen(c->inputs[%d], %lld) >= 2 * (long long)n;\n    (void)alone;\n",
        INFC_MODE_FEW, tokens, (long long)kv->groups, INFC_LLM_POSITIONS, seen);
}

/* For which groups rows have adapters: workers meet elsewhere then. */
static void print_adapted(infc_buf *out) {
    infc_buf_puts(out, "    const unsigned meeting = mode");
    for (int i = 0; i < INFC_PLAN_GROUPS; i++)
        infc_buf_printf(out, "%s+ (*(const uint8_t *)c->inputs[%d] ? %du : 0u)",
                        i % 2 ? " " : "\n        ", INFC_LLM_ADAPTS_QKV + i, INFC_N_MODES << i);
    infc_buf_puts(out, ";\n");
}

/* What rows there are: infc_plan_mode. */
static void print_mode(const infc_emit_unit *u, infc_buf *out) {
    const infc_plan *plan = u->plan;
    const char *tokens = infc_emit_dim(u, plan->buffers[plan->inputs[INFC_LLM_TOKENS]].type.dims[0]),
               *rows = infc_emit_dim(u, plan->buffers[plan->inputs[INFC_LLM_LAST_ROWS]].type.dims[0]);
    infc_buf_printf(out, "    const int few = %s <= %d && %s <= %d;\n", tokens, INFC_PLAN_FEW_ROWS,
                    rows, INFC_PLAN_FEW_ROWS);
    const infk_kv_dims *kv = kv_dims(plan);
    const long long groups = kv ? (long long)kv->groups : 1;
    infc_buf_printf(
        out,
        "    const int32_t most = %s * %lld %% n == 0 ? INT32_MAX : %d;\n"
        "    const int apart = few && rows_apart(c->inputs[%d], c->inputs[%d], %s, most);\n",
        tokens, groups, UNEVEN_POSITIONS, INFC_LLM_SLOTS, INFC_LLM_POSITIONS, tokens);
    infc_buf_printf(out, "    const unsigned mode = !few ? %du : %lld %% n == 0 ? %du : apart ? %du : %du;\n",
                    INFC_MODE_MANY, groups, INFC_MODE_SHARED, INFC_MODE_APART, INFC_MODE_FEW);
    infc_buf_puts(out, "    (void)mode;\n");
    if (kv) print_alone(kv, tokens, out);
    if (infc_plan_adapts(plan)) print_adapted(out);
    if (plan->arena_bytes_per_worker <= INFC_ALIGN)
        return; /* no worker makes anything of its own: no records in floats */
    infc_buf_printf(out, "    unsigned char *const mine = arena + %llu + (size_t)worker * %llu;\n",
                    (unsigned long long)plan->arena_bytes, (unsigned long long)plan->arena_bytes_per_worker);
}

static bool is_guided(const infc_plan *plan) {
    for (int s = 0; s < plan->n_steps; s++)
        if (plan->steps[s].guided) return true;
    return false;
}

static void print_locals(const infc_emit_unit *u, infc_buf *out) {
    const infc_plan *plan = u->plan;
    const bool *used = buffers_used(u);
    bool places[4] = {false};
    for (int i = 0; i < plan->n_buffers; i++)
        if (used[i]) places[plan->buffers[infc_plan_root(plan, i)].place] = true;
    if (places[INFC_PLACE_WEIGHT])
        infc_buf_puts(
            out, "    const unsigned char *const weights = (const unsigned char *)c->weights + "
                 "sizeof(infc_weights_header);\n");
    if (places[INFC_PLACE_ARENA])
        infc_buf_puts(out, "    unsigned char *const arena = (unsigned char *)c->arena;\n");
    if (infc_emit_n_sizes(u) > 0)
        infc_buf_printf(out,
                        "    struct %s_dims dims;\n    %s_dims_set(c->sizes, &dims);\n"
                        "    const struct %s_dims *const z = &dims;\n    (void)z;\n",
                        u->name, u->name, u->name);
    if (plan->n_steps > 0)
        infc_buf_puts(out, "    const uint32_t worker = c->worker, n = c->n_workers;\n");
    else infc_buf_puts(out, "    (void)c;\n");
    if (plan->llm) print_mode(u, out);
    if (is_guided(plan)) infc_buf_puts(out, "    uint32_t step = 0;\n    take_none(c);\n");
    for (int i = 0; i < plan->n_buffers; i++) {
        const infc_plan_buffer *buffer = &plan->buffers[i], *root = &plan->buffers[infc_plan_root(plan, i)];
        if (!used[i]) continue;
        const bool constant = root->place == INFC_PLACE_INPUT || root->place == INFC_PLACE_WEIGHT;
        infc_buf_printf(out, "    %s%s *const %s = %s; /* %s", constant ? "const " : "",
                        infc_dtype_c_type(buffer->type.dtype), u->locals[i],
                        root->own ? own_address(u, root) : address(u, root),
                        infc_type_text(u->cx->arena, &buffer->type));
        if (buffer->tensor)
            infc_buf_printf(out, "  %s", infc_emit_comment(u->cx->arena, buffer->tensor));
        infc_buf_puts(out, " */\n");
    }
}

static bool is_f32(const infc_emit_unit *u, int buffer) {
    return u->plan->buffers[buffer].type.dtype == INFC_DTYPE_f32;
}

/* Indices are looked at before they are used: by every worker all of them, so that all give up together. So are
 * conditions that must hold. */
static void print_check(const infc_emit_unit *u, const infc_plan_step *step, const char *indent, infc_buf *out) {
    if (!infc_plan_step_checks(step)) return;
    const char *checked = u->locals[step->operands[1]];
    const infk_gather_dims *g = &step->call.dims.gather;
    const infk_scatter_dims *s = &step->call.dims.scatter;
    bool gathers = step->kernel->kind == INFK_gather;
    if (step->kernel->kind == INFK_choose)
        infc_buf_printf(out, "%sif (!*%s) return INFC_RUN_TOO_LONG;\n", indent, checked);
    else
        infc_buf_printf(out, "%sif (!indices_fit_%s(%s, %s, %s)) return INFC_RUN_BAD_INDEX;\n", indent,
                        step->kernel->types[1], checked, infc_emit_dim(u, gathers ? g->n : s->n),
                        infc_emit_dim(u, gathers ? g->extent : s->rows));
}

/* The outermost condition first: an inner one has a value only where that holds. */
static void print_guard(const infc_emit_unit *u, int guard, infc_buf *out) {
    const infc_plan_guard *g = &u->plan->guards[guard];
    if (g->parent > 0) {
        print_guard(u, g->parent, out);
        infc_buf_puts(out, " && ");
    }
    infc_buf_printf(out, "%s*%s", g->taken ? "" : "!", u->locals[g->buffer]);
}

/* The call of units that are `part`, two arguments. */
static void print_part(const infc_emit_unit *u, int s, const char *indent, const char *part, infc_buf *out) {
    const infc_plan_step *step = &u->plan->steps[s];
    infc_buf_printf(out, "%s%s(", indent, u->functions[u->step_function[s]].name);
    infc_emit_args args = infc_emit_args_begin(out, (int)strlen(indent) + 4);
    if (infc_emit_is_open(u->plan, step)) infc_emit_arg(&args, "z");
    const int place = infc_emit_place(u, step);
    if (place >= 0) infc_emit_arg(&args, "%lld", (long long)step->call.dims.fields[place]);
    const bool by_size = step->kernel && infk_kind_get(step->kernel->kind)->by_size;
    for (int i = 0; i < step->n_operands; i++) { /* kernels by size see other types: through void */
        const int id = step->operands[i];
        infc_emit_arg(&args, "%s%s", by_size || !is_f32(u, id) ? "(const void *)" : "", u->locals[id]);
    }
    if (step->scratch >= 0) infc_emit_arg(&args, "%s", u->locals[step->scratch]);
    for (int i = 0; i < step->n_extras; i++)
        infc_emit_arg(&args, "%s", u->locals[infc_emit_extra(u, step, i)->buffer]);
    for (int i = 0; i < step->n_stores; i++) {
        const int id = u->plan->stores[step->first_store + i].buffer;
        infc_emit_arg(&args, "%s%s", by_size || !is_f32(u, id) ? "(void *)" : "", u->locals[id]);
    }
    infc_emit_arg(&args, "%s", part);
    infc_buf_puts(out, ");\n");
}

/* Its units are heads; without a meeting since kv_store they must be those of the groups that the worker stored. Of a
 * row alone parts are shared out, then heads that join them. */
static void print_attend(const infc_emit_unit *u, int s, const char *indent, infc_buf *out) {
    const infc_plan_step *step = &u->plan->steps[s];
    infc_arena *arena = u->cx->arena;
    const infk_kv_dims *d = &step->call.dims.kv;
    const char *deeper = infc_arena_printf(arena, "%s    ", indent), *units = infc_emit_dim(u, step->units);
    const char *apart = infc_arena_printf(arena, "INFC_PART_TIMES(%lld, %s * %lld, worker, n)",
                                          (long long)(d->heads / d->groups),
                                          infc_emit_dim(u, d->rows), (long long)d->groups);
    const long long heads = (long long)d->heads, n_parts = (long long)(d->groups * d->width);
    const char *from = "INFC_PART_FROM(%lld, %lld, worker, n)";
    infc_buf_printf(out, "%sif (alone) {\n", indent);
    print_part(u, s, deeper, infc_arena_printf(arena, from, heads, n_parts), out);
    infc_buf_printf(out, "%sINFC_MEET(c);\n", deeper);
    print_part(u, s, deeper, infc_arena_printf(arena, from, heads + n_parts, heads), out);
    infc_buf_printf(out, "%s} else if (mode == %du) {\n", indent, INFC_MODE_APART);
    print_part(u, s, deeper, apart, out);
    infc_buf_printf(out, "%s} else {\n", indent);
    print_part(u, s, deeper, infc_arena_printf(arena, "INFC_PART(%s, worker, n)", units), out);
    infc_buf_printf(out, "%s}\n", indent);
}

/* Whether rows are as the bits say: see infc_plan_step.meets. */
static const char *in_modes(const infc_emit_unit *u, uint64_t bits) {
    uint64_t all = 0, many = 0;
    for (int i = 0; i < (infc_plan_adapts(u->plan) ? 1 << INFC_PLAN_GROUPS : 1); i++) {
        all |= (uint64_t)((1u << INFC_N_MODES) - 1) << (INFC_N_MODES * i);
        many |= (uint64_t)1 << (INFC_N_MODES * i + INFC_MODE_MANY);
    }
    if (bits == all) return "1";
    if (bits == many) return "!few";
    if (!infc_plan_adapts(u->plan))
        return infc_arena_printf(u->cx->arena, "%uu >> mode & 1u", (unsigned)bits);
    return infc_arena_printf(u->cx->arena, "UINT64_C(0x%llx) >> meeting & 1u", (unsigned long long)bits);
}

/* Units of its own that a worker takes at a time, at least: counting is nothing beside them. */
static int64_t least_piece(const infc_plan *plan, const infc_plan_step *step) {
    enum { LEAST_BYTES = 64 << 10 };
    const int64_t bytes = (int64_t)plan->buffers[infc_plan_root(plan, step->operands[1])].bytes / step->units;
    return bytes > 0 && bytes < LEAST_BYTES / 2 ? LEAST_BYTES / bytes / 2 * 2 : 2;
}

/* Each worker does its share, and may take from others'. */
static void print_shared(const infc_emit_unit *u, int s, const char *indent, infc_buf *out) {
    const infc_plan_step *step = &u->plan->steps[s];
    infc_arena *arena = u->cx->arena;
    const char *units = infc_emit_dim(u, step->units), *deeper = infc_arena_printf(arena, "%s    ", indent);
    if (step->guided == 0) {
        const char *whole = step->own ? "INFC_ALL_OR_PART(few, %s, worker, n)" : "INFC_PART(%s, worker, n)";
        print_part(u, s, indent, infc_arena_printf(arena, whole, units), out);
        return;
    }
    infc_buf_printf(out, "%sfor (struct piece p = {++step, 0, 0, 0}; next_piece(c, %s, %s, %lld, &p);)\n",
                    indent, in_modes(u, step->guided), units, (long long)least_piece(u->plan, step));
    print_part(u, s, deeper, "p.begin, p.end", out);
}

static void print_call(const infc_emit_unit *u, int s, const char *indent, infc_buf *out) {
    const infc_plan_step *step = &u->plan->steps[s];
    infc_arena *arena = u->cx->arena;
    const char *deeper = infc_arena_printf(arena, "%s    ", indent);
    print_check(u, step, indent, out);
    if (step->kernel && step->kernel->kind == INFK_attend) {
        print_attend(u, s, indent, out);
    } else if (step->parts[0] == 0) {
        print_shared(u, s, indent, out);
    } else {
        infc_buf_printf(out, "%sif (mode == %du) { /* of q, k and v what the worker's KV groups need */\n",
                        indent, INFC_MODE_SHARED);
        long long from = 0;
        for (int i = 0; i < 3; from += (long long)step->parts[i++])
            print_part(u, s, deeper,
                       infc_arena_printf(arena, "INFC_PART_FROM(%lld, %lld, worker, n)", from,
                                         (long long)step->parts[i]),
                       out);
        infc_buf_printf(out, "%s} else {\n", indent);
        print_shared(u, s, deeper, out);
        infc_buf_printf(out, "%s}\n", indent);
    }
    infc_buf_printf(out, "%sINFC_STEP_DONE(c, %d);\n", indent, s);
}

/* All workers meet before the step, or only with so many rows. */
static void print_meeting(const infc_emit_unit *u, const infc_plan_step *step, infc_buf *out) {
    if (!step->barrier) return;
    const char *when = u->plan->llm ? in_modes(u, step->meets) : "1";
    if (strcmp(when, "1") == 0) infc_buf_puts(out, "    INFC_MEET(c);\n");
    else infc_buf_printf(out, "    if (%s) INFC_MEET(c);\n", when);
}

static void print_step(const infc_emit_unit *u, int s, infc_buf *out) {
    const infc_plan_step *step = &u->plan->steps[s];
    infc_buf_printf(out, "\n    /* step %d  %s: %s */\n", s, infc_emit_comment(u->cx->arena, step->node),
                    infc_emit_comment(u->cx->arena, step->what));
    print_meeting(u, step, out);
    if (step->guard == 0) {
        print_call(u, s, "    ", out);
        return;
    }
    infc_buf_puts(out, "    if (");
    print_guard(u, step->guard, out);
    infc_buf_puts(out, ") {\n");
    print_call(u, s, "        ", out);
    infc_buf_puts(out, "    }\n");
}

static const char *steps_text(const infc_emit_unit *u) {
    infc_buf out = {.arena = u->cx->arena};
    print_locals(u, &out);
    for (int s = 0; s < u->plan->n_steps; s++) print_step(u, s, &out);
    return infc_buf_str(&out);
}

static void print_checks(const infc_emit_unit *u, const char *table, const int *ids, int n, infc_buf *out) {
    if (n > 0) infc_buf_printf(out, "    if (!c->%s) return 0;\n", table);
    for (int i = 0; i < n; i++) {
        const size_t bytes = infc_dtype_bytes(u->plan->buffers[ids[i]].type.dtype);
        infc_buf_printf(out, "    if (!c->%s[%d]", table, i);
        if (bytes > 1) infc_buf_printf(out, " || (uintptr_t)c->%s[%d] %% %zu", table, i, bytes);
        infc_buf_puts(out, ") return 0;\n");
    }
}

static const char *pointer_checks(const infc_emit_unit *u) {
    infc_buf out = {.arena = u->cx->arena};
    print_checks(u, "inputs", u->plan->inputs, u->plan->n_inputs, &out);
    print_checks(u, "outputs", u->plan->outputs, u->plan->n_outputs, &out);
    return infc_buf_str(&out);
}

/* "inputs->a, inputs->b", or a null when there are none. */
static const char *field_list(const infc_emit_unit *u, const char *from, const char *const *fields, int n) {
    infc_buf out = {.arena = u->cx->arena};
    for (int i = 0; i < n; i++) infc_buf_printf(&out, "%s%s->%s", i ? ", " : "", from, fields[i]);
    return n ? infc_buf_str(&out) : "0";
}

infc_status infc_emit_source_text(infc_emit_unit *u, infc_buf *out) {
    infc_buf functions = {.arena = u->cx->arena};
    if (u->n_parts) infc_emit_declarations(u, &functions);
    else INFC_TRY(infc_emit_functions(u, 0, &functions));
    const infc_bytes *fpenv = infc_embedded("runtime/core/fpenv.h");
    if (!fpenv)
        return infc_fail(u->cx, INFC_ERR_INTERNAL, INFC_NO_LOC, "fpenv.h is not in this executable");
    int barriers = 0, indices = 0;
    for (int s = 0; s < u->plan->n_steps; s++) {
        const infc_plan_step *step = &u->plan->steps[s];
        barriers |= step->barrier;
        indices |= infc_plan_step_checks(step) && step->kernel->kind != INFK_choose;
    }
    const char *steps = steps_text(u);
    const infc_expand_var vars[] = {
        {"parts", u->n_parts ? "1" : "0"},
        {"dims_struct", infc_emit_dims_struct(u)},
        {"dims", infc_emit_dims_text(u)},
        {"n_sizes", infc_arena_printf(u->cx->arena, "%d", infc_emit_n_sizes(u))},
        {"sizes", infc_emit_n_sizes(u) ? "1" : "0"},
        {"sizes_of", infc_emit_sizes_of(u)},
        {"output_dims", infc_emit_output_dims(u)},
        {"fpenv", infc_arena_copy_string(u->cx->arena, (const char *)fpenv->ptr, fpenv->len)},
        {"functions", infc_buf_str(&functions)},
        {"steps", steps},
        {"barriers", barriers ? "1" : "0"},
        {"indices", indices ? "1" : "0"},
        {"guided", is_guided(u->plan) ? "1" : "0"},
        {"pointer_checks", pointer_checks(u)},
        {"input_list", field_list(u, "inputs", u->input_fields, u->plan->n_inputs)},
        {"output_list", field_list(u, "outputs", u->output_fields, u->plan->n_outputs)},
    };
    return infc_emit_skeleton(u, "NAME.c.in", vars, sizeof vars / sizeof *vars, out);
}
