/* emit_steps.c - the functions that steps call. Text is compared, not guessed: two steps share a kernel instance when
 * kernel and epilogue read the same, and share a function when its whole text would, names aside. So neither the
 * library nor its compile time grows with the depth of a model that repeats itself. */
#include "emit_unit.h"
#include <string.h>

const infc_plan_extra *infc_emit_extra(const infc_emit_unit *u, const infc_plan_step *step, int i) {
    return &u->plan->extras[step->first_extra + i];
}

const infc_plan_buffer *infc_emit_stored(const infc_emit_unit *u, const infc_plan_step *step, int i) {
    return &u->plan->buffers[u->plan->stores[step->first_store + i].buffer];
}

static bool overlap(const infc_plan *plan, int a, int b) {
    const infc_plan_buffer *x = &plan->buffers[infc_plan_root(plan, a)],
                           *y = &plan->buffers[infc_plan_root(plan, b)];
    if (x->place != y->place) return false;
    if (x->place == INFC_PLACE_INPUT || x->place == INFC_PLACE_OUTPUT) return x->index == y->index;
    return x->offset < y->offset + y->bytes && y->offset < x->offset + x->bytes;
}

bool infc_emit_apart(const infc_plan *plan, const infc_plan_step *step) {
    for (int s = 0; s < step->n_stores; s++) {
        const int stored = plan->stores[step->first_store + s].buffer;
        for (int i = 0; i < step->n_operands; i++)
            if (overlap(plan, stored, step->operands[i])) return false;
        for (int i = 0; i < step->n_extras; i++)
            if (overlap(plan, stored, plan->extras[step->first_extra + i].buffer)) return false;
        for (int i = 0; i < s; i++)
            if (overlap(plan, stored, plan->stores[step->first_store + i].buffer)) return false;
    }
    return true;
}

/* ---- epilogues ------------------------------------------------------------------------------------------ */

/* What a kernel writes: its last type. */
static const char *result_type(const infk_kernel *kernel) { return infk_c_type(kernel->types[2]); }

/* Kernels by size write what they read; others the type of the buffer. */
static infc_dtype stored_dtype(const infc_emit_unit *u, const infc_plan_step *step, int i) {
    if (infk_kind_get(step->kernel->kind)->by_size) return INFC_DTYPE_NONE;
    return infc_emit_stored(u, step, i)->type.dtype;
}

static const char *stored_type(const infc_emit_unit *u, const infc_plan_step *step, int i) {
    const infc_dtype dtype = stored_dtype(u, step, i);
    return dtype == INFC_DTYPE_NONE ? result_type(step->kernel) : infc_dtype_c_type(dtype);
}

static const char *extra_type(const infc_emit_unit *u, const infc_plan_step *step, int i) {
    return infc_dtype_c_type(u->plan->buffers[infc_emit_extra(u, step, i)->buffer].type.dtype);
}

static bool sums_integers(const infk_kernel *kernel) {
    return strcmp(kernel->types[2], "i32") == 0;
}

static void print_epilogue_body(const infc_emit_unit *u, const infc_plan_step *step,
                                const char *count, infc_buf *out) {
    static const infc_expr_place places[] = {[INFC_ACCESS_SCALAR] = {.index = "0"},
                                             [INFC_ACCESS_ROW] = {.index = "m"},
                                             [INFC_ACCESS_COLUMN] = {.index = "n", .vector = true},
                                             [INFC_ACCESS_FULL] = {.index = "o", .vector = true}};
    infc_arena *arena = u->cx->arena;
    infc_expr_place *extras = INFC_NEW(arena, infc_expr_place, (size_t)step->n_extras + 1);
    infc_expr_place *stores = INFC_NEW(arena, infc_expr_place, (size_t)step->n_stores + 1);
    bool reads_m = false, reads_n = false;
    for (int i = 0; i < step->n_extras; i++) {
        const infc_access access = infc_emit_extra(u, step, i)->access;
        extras[i] = places[access];
        extras[i].base = infc_arena_printf(arena, "e->a%d", i);
        extras[i].dtype = u->plan->buffers[infc_emit_extra(u, step, i)->buffer].type.dtype;
        reads_m |= access == INFC_ACCESS_ROW && infc_expr_reads(u->cx->arena, u->plan, step, i);
        reads_n |= access == INFC_ACCESS_COLUMN && infc_expr_reads(u->cx->arena, u->plan, step, i);
    }
    for (int i = 0; i < step->n_stores; i++)
        stores[i] =
            (infc_expr_place){infc_arena_printf(arena, "e->y%d", i), "o", true, stored_dtype(u, step, i)};
    if (!reads_m) infc_buf_puts(out, "    (void)m;\n");
    if (!reads_n) infc_buf_puts(out, "    (void)n;\n");
    const infc_expr_form form = {step->kernel->lanes, count, 4, extras, stores};
    infc_expr_print(u->plan, step, &form, out);
}

/* The struct's fields and the body: what tells epilogues apart. */
static const char *epilogue_key(const infc_emit_unit *u, const infc_plan_step *step) {
    infc_buf key = {.arena = u->cx->arena};
    infc_buf_printf(&key, "%s", step->kernel->name);
    for (int i = 0; i < step->n_extras; i++) infc_buf_printf(&key, " %s", extra_type(u, step, i));
    for (int i = 0; i < step->n_stores; i++)
        infc_buf_printf(&key, " %s *", stored_type(u, step, i));
    infc_buf_puts(&key, "\n");
    print_epilogue_body(u, step, NULL, &key);
    return infc_buf_str(&key);
}

static void print_epilogue_function(const infc_emit_unit *u, const infc_plan_step *step,
                                    const char *name, bool tail, infc_buf *out) {
    const bool vector = step->kernel->lanes > 1;
    infc_buf_printf(out, "static INFK_INLINE void %s_epi%s(", name, tail ? "_tail" : "");
    infc_emit_args args = infc_emit_args_begin(out, 8);
    infc_emit_arg(&args, "const struct %s_epi *e", name);
    infc_emit_arg(&args, "%s acc",
                  !vector                       ? result_type(step->kernel)
                  : sums_integers(step->kernel) ? "vi16x"
                                                : "vf16x");
    infc_emit_arg(&args, "ptrdiff_t o");
    infc_emit_arg(&args, "ptrdiff_t m");
    infc_emit_arg(&args, "ptrdiff_t n");
    if (tail) infc_emit_arg(&args, "ptrdiff_t lanes");
    infc_buf_puts(out, ") {\n");
    print_epilogue_body(u, step, tail ? "lanes" : NULL, out);
    infc_buf_puts(out, "}\n");
}

/* The step as it is done by one of its kernels. */
static infc_plan_step by_kernel(const infc_plan_step *step, const infk_kernel *kernel) {
    infc_plan_step one = *step;
    one.kernel = kernel;
    return one;
}

infc_status infc_emit_instance_text(const infc_emit_unit *u, size_t index, infc_buf *out) {
    const infc_emit_instance *instance = &u->instances[index];
    const infc_plan_step one = by_kernel(&u->plan->steps[instance->step], instance->kernel), *step = &one;
    const char *words = infc_expr_words(u->cx->arena, u->plan, step, ", ");
    infc_buf_printf(out, "\n/* %s, then %s */\nstruct %s_epi {\n", step->kernel->name,
                    words[0] ? words : "store", instance->name);
    for (int i = 0; i < step->n_extras; i++)
        infc_buf_printf(out, "    const %s *a%d;\n", extra_type(u, step, i), i);
    for (int i = 0; i < step->n_stores; i++)
        infc_buf_printf(out, "    %s *y%d;\n", stored_type(u, step, i), i);
    infc_buf_puts(out, "};\n");
    if (infk_has_epilogue(step->kernel))
        print_epilogue_function(u, step, instance->name, false, out);
    if (infk_has_epilogue(step->kernel) && step->kernel->lanes > 1)
        print_epilogue_function(u, step, instance->name, true, out);
    const char *epi = infc_arena_printf(u->cx->arena, "%s_epi", instance->name);
    return infc_kernel_text(u->cx, step->kernel, instance->name, epi, out);
}

/* ---- functions ------------------------------------------------------------------------------------------ */

int infc_emit_place(const infc_emit_unit *u, const infc_plan_step *step) {
    return step->kernel && infc_emit_is_open(u->plan, step) ? infk_place_dim(step->kernel->kind) : -1;
}

/* Fixed dims stand beside the function, as constants; open ones are set in it. */
static void print_dims(const infc_emit_unit *u, const infc_plan_step *step, const char *name, infc_buf *out) {
    const infk_kind_info *kind = infk_kind_get(step->kernel->kind);
    const bool open = infc_emit_is_open(u->plan, step);
    const int place = infc_emit_place(u, step);
    if (open) infc_buf_printf(out, "    const infk_%s_dims dims = {", kind->dims_name);
    else infc_buf_printf(out, "static const infk_%s_dims %s_dims = {", kind->dims_name, name);
    const char *line = open ? "\n        " : "\n    ";
    for (int i = 0; i < kind->n_dims; i++)
        infc_buf_printf(out, "%s%s.%s = %s", i == 0 || i % 6 ? "" : ",",
                        i == 0 || i % 6 == 0 ? line : ", ", kind->dim_names[i],
                        i == place ? "place" : infc_emit_dim(u, step->call.dims.fields[i]));
    infc_buf_puts(out, "};\n");
    if (open) infc_buf_printf(out, "    const infk_%s_dims *const d = &dims;\n", kind->dims_name);
}

static const char *const operands[INFK_MAX_OPERANDS] = {"x", "w", "u2", "u3", "u4", "u5", "u6"};

/* Hands dims and epilogue to the inlined kernel. */
static void print_kernel_call(const infc_emit_unit *u, const infc_plan_step *step, const char *name,
                              const char *instance, const char *indent, infc_buf *out) {
    infc_buf_printf(out, "%sconst struct %s_epi e = {", indent, instance);
    for (int i = 0; i < step->n_extras; i++) infc_buf_printf(out, "%sa%d", i ? ", " : "", i);
    for (int i = 0; i < step->n_stores; i++)
        infc_buf_printf(out, "%sy%d", i + step->n_extras ? ", " : "", i);
    if (infc_emit_is_open(u->plan, step)) infc_buf_printf(out, "};\n%s%s(d, ", indent, instance);
    else infc_buf_printf(out, "};\n%s%s(&%s_dims, ", indent, instance, name);
    for (int i = 0; i < step->n_operands; i++) infc_buf_printf(out, "%s, ", operands[i]);
    if (step->scratch >= 0) infc_buf_puts(out, "scratch, ");
    infc_buf_puts(out, "&e, begin, end);\n");
}

/* From "(" to the closing brace. `large`: the instance for large dims, or null. */
static void print_wrapper(const infc_emit_unit *u, const infc_plan_step *step, const char *name,
                          const char *instance, const char *large, infc_buf *out) {
    const char *restrict_ = infc_emit_apart(u->plan, step) ? "restrict " : "";
    infc_buf_puts(out, "(");
    infc_emit_args parameters = infc_emit_args_begin(out, 8);
    const bool open = infc_emit_is_open(u->plan, step);
    if (open) infc_emit_arg(&parameters, "const struct %s_dims *z", u->plan->name);
    if (infc_emit_place(u, step) >= 0) infc_emit_arg(&parameters, "ptrdiff_t place");
    for (int i = 0; i < step->n_operands; i++)
        infc_emit_arg(&parameters, "const %s *%s%s",
                      infk_c_type(infk_operand_type(step->kernel, i)), restrict_, operands[i]);
    if (step->scratch >= 0) infc_emit_arg(&parameters, "float *%sscratch", restrict_);
    for (int i = 0; i < step->n_extras; i++)
        infc_emit_arg(&parameters, "const %s *%sa%d", extra_type(u, step, i), restrict_, i);
    for (int i = 0; i < step->n_stores; i++)
        infc_emit_arg(&parameters, "%s *%sy%d", stored_type(u, step, i), restrict_, i);
    infc_emit_arg(&parameters, "ptrdiff_t begin");
    infc_emit_arg(&parameters, "ptrdiff_t end");
    infc_buf_puts(out, ") {\n");
    if (open) print_dims(u, step, name, out);
    if (large) {
        infc_buf_printf(out, "    if (%s) {\n", step->large->condition);
        print_kernel_call(u, step, name, large, "        ", out);
        infc_buf_puts(out, "        return;\n    }\n");
    }
    print_kernel_call(u, step, name, instance, "    ", out);
    infc_buf_puts(out, "}\n");
}

static const char *definition(const infc_emit_unit *u, const infc_emit_function *f) {
    const infc_plan_step *step = &u->plan->steps[f->step];
    infc_buf out = {.arena = u->cx->arena};
    const char *large = f->large < 0 ? NULL : u->instances[f->large].name;
    infc_buf_printf(&out, "%sINFC_STEP void %s", u->n_parts ? "" : "static ", f->name);
    if (step->kernel) print_wrapper(u, step, f->name, u->instances[f->instance].name, large, &out);
    else infc_nest_print(u, step, &out);
    return infc_buf_str(&out);
}

void infc_emit_declaration(const infc_emit_unit *u, size_t function, infc_buf *out) {
    const char *text = definition(u, &u->functions[function]);
    infc_buf_printf(out, "%.*s;\n", (int)strcspn(text, "{") - 1, text);
}

void infc_emit_function_text(const infc_emit_unit *u, size_t function, infc_buf *out) {
    const infc_emit_function *f = &u->functions[function];
    const infc_plan_step *step = &u->plan->steps[f->step];
    infc_buf_printf(out, "\n/* %s */\n", infc_emit_comment(u->cx->arena, step->what));
    if (step->kernel && !infc_emit_is_open(u->plan, step)) print_dims(u, step, f->name, out);
    const char *text = definition(u, f);
    const int head = (int)strcspn(text, "{") + 2; /* up to the body */
    if (u->n_parts) infc_emit_declaration(u, function, out);
    infc_buf_printf(out, "%.*s%s%s", head, text, u->n_parts ? "    INFC_FROM(begin);\n" : "", text + head);
}

/* ---- sharing -------------------------------------------------------------------------------------------- */

/* A kernel must be of types that epilogues can name, with as many operands as it takes. */
static infc_status check_step(infc_emit_unit *u, const infc_plan_step *step) {
    if (!step->kernel) return INFC_OK;
    bool known = result_type(step->kernel) && step->n_operands <= INFK_MAX_OPERANDS;
    for (int i = 0; i < step->n_operands; i++)
        known = known && infk_c_type(infk_operand_type(step->kernel, i));
    bool plain = step->n_extras == 0 && step->n_exprs == 0;
    if (known && (plain || strcmp(step->kernel->types[2], "f32") == 0 || sums_integers(step->kernel)))
        return INFC_OK;
    return infc_fail(u->cx, INFC_ERR_INTERNAL, INFC_NO_LOC,
                     "step %s: no epilogue can be written for %s", step->name, step->kernel->name);
}

static int share_instance(infc_emit_unit *u, infc_map *seen, int s, const infk_kernel *kernel) {
    size_t found;
    if (!kernel) return -1;
    const infc_plan_step one = by_kernel(&u->plan->steps[s], kernel);
    const char *key = epilogue_key(u, &one);
    if (infc_map_find(seen, key, &found)) return (int)found;
    INFC_GROW(u->cx->arena, u->instances, u->n_instances, u->cap_instances);
    u->instances[u->n_instances] = (infc_emit_instance){.kernel = kernel, .step = s};
    infc_map_put(seen, key, u->n_instances);
    return (int)u->n_instances++;
}

static const char *function_key(const infc_emit_unit *u, const infc_plan_step *step, int instance, int large) {
    infc_buf key = {.arena = u->cx->arena};
    const char *other = large < 0 ? NULL : infc_arena_printf(u->cx->arena, "%d", large);
    if (step->kernel) {
        print_dims(u, step, "", &key);
        print_wrapper(u, step, "", infc_arena_printf(u->cx->arena, "%d", instance), other, &key);
    } else {
        infc_nest_print(u, step, &key);
    }
    return infc_buf_str(&key);
}

infc_status infc_emit_share(infc_emit_unit *u) {
    infc_map instances = {.arena = u->cx->arena}, functions = {.arena = u->cx->arena};
    u->step_function = INFC_NEW(u->cx->arena, int, (size_t)u->plan->n_steps + 1);
    for (int s = 0; s < u->plan->n_steps; s++) {
        const infc_plan_step *step = &u->plan->steps[s];
        INFC_TRY(check_step(u, step));
        const int instance = share_instance(u, &instances, s, step->kernel);
        const int large = share_instance(u, &instances, s, step->large);
        const char *key = function_key(u, step, instance, large);
        size_t found;
        if (!infc_map_find(&functions, key, &found)) {
            found = u->n_functions;
            INFC_GROW(u->cx->arena, u->functions, u->n_functions, u->cap_functions);
            u->functions[u->n_functions++] =
                (infc_emit_function){.step = s, .instance = instance, .large = large};
            infc_map_put(&functions, key, found);
        }
        u->step_function[s] = (int)found;
    }
    return INFC_OK;
}

/* Each dims struct once, in order of first use. */
static void print_dims_types(const infc_emit_unit *u, const bool *instances, infc_buf *out) {
    infc_map seen = {.arena = u->cx->arena};
    for (size_t i = 0; i < u->n_instances; i++) {
        const infk_kind kind = u->plan->steps[u->instances[i].step].kernel->kind;
        const char *name = infk_kind_get(kind)->dims_name;
        if (!instances[i] || infc_map_find(&seen, name, NULL)) continue;
        infc_map_put(&seen, name, 1);
        infc_buf_puts(out, "\n");
        infc_kernel_dims_text(kind, out);
    }
}

infc_status infc_emit_functions(const infc_emit_unit *u, size_t part, infc_buf *out) {
    bool *wanted = INFC_NEW(u->cx->arena, bool, u->n_instances + 1);
    for (size_t i = 0; i < u->n_functions; i++) {
        const infc_emit_function *f = &u->functions[i];
        if (f->part == part && f->instance >= 0) wanted[f->instance] = true;
        if (f->part == part && f->large >= 0) wanted[f->large] = true;
    }
    print_dims_types(u, wanted, out);
    for (size_t i = 0; i < u->n_functions; i++) {
        const infc_emit_function *f = &u->functions[i];
        if (f->part != part) continue;
        const int instances[] = {f->instance, f->large};
        for (int k = 0; k < 2; k++) {
            if (instances[k] < 0 || !wanted[instances[k]]) continue;
            wanted[instances[k]] = false; /* printed */
            INFC_TRY(infc_emit_instance_text(u, (size_t)instances[k], out));
        }
        infc_emit_function_text(u, i, out);
    }
    return INFC_OK;
}
