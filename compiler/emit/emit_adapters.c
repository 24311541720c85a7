/* emit_adapters.c - src/NAME_adapters.c: the weights of the layers that adapters (LoRA) change, as floats. With DoRA
 * the runtime divides by their norms when it loads one. Where they lie is read off the steps: what makes the rows that
 * an adapter adds to, and before a concat, its parts. */
#include "emit_unit.h"
#include "kernel_text.h"

/* A product, and which of its columns is meant. */
typedef struct product {
    const infc_plan_step *step;
    int64_t column;
} product;

typedef struct writer {
    infc_emit_unit *u;
    infc_map formats; /* the call that unpacks a panel -> number of its function */
    size_t n_formats;
    const char **places; /* a row of the table for each module */
    infc_buf functions;
} writer;

static bool multiplies(const infc_plan_step *step) {
    if (!step->kernel) return false;
    switch (infk_exact(step->kernel->kind)) {
    case INFK_matmul:
    case INFK_linear_i8:
    case INFK_linear_i4:
    case INFK_linear_keep: return true;
    default: return false;
    }
}

/* What makes a column of `buffer`, before step `end`. */
static bool find(const infc_plan *plan, int end, int buffer, int64_t column, product *out) {
    const int root = infc_plan_root(plan, buffer);
    for (int s = 0; s < end; s++) {
        const infc_plan_step *step = &plan->steps[s];
        if (!step->kernel || step->n_stores != 1 ||
            infc_plan_root(plan, plan->stores[step->first_store].buffer) != root)
            continue;
        if (multiplies(step)) {
            *out = (product){step, column};
            return true;
        }
        if (step->kernel->kind != INFK_strided) return false;
        const infc_type *part = &plan->buffers[step->operands[0]].type; /* of a concat, in order */
        const int64_t width = part->dims[part->rank - 1];
        if (column < width) return find(plan, s, step->operands[0], column, out);
        column -= width;
    }
    return false;
}

/* The call that unpacks panel `panel` of the weights at `at`; null: they do not lie in panels. */
static const char *call_of(const infc_emit_unit *u, const infc_plan_step *step) {
    infc_arena *arena = u->cx->arena;
    const infc_kernel_call *call = &step->call;
    const long long linear_k = (long long)call->dims.linear.k, bytes = (long long)call->dims.linear.w_panel;
    const long long keep_k = (long long)call->dims.keep.k, format = (long long)call->dims.keep.format;
    const bool int4 = step->kernel->kind == INFK_linear_i4;
    const long long rotate = (long long)infc_llm_rotate(u->plan->llm, int4);
    switch (step->kernel->kind) {
    case INFK_linear_i8:
        return infc_arena_printf(arena, "s_unpack_i8((const int8_t *)at + panel * %lld, %lld, %lld, out)",
                                 bytes, rotate, linear_k);
    case INFK_linear_i4:
        return infc_arena_printf(arena, "s_unpack_i4((const int8_t *)at + panel * %lld, %lld, %lld, %lld, out)",
                                 bytes, bytes, rotate, linear_k);
    case INFK_linear_keep:
        return infc_arena_printf(
            arena,
            "s_unpack_keep(%lld, (const int8_t *)at + panel * s_keep_panel(%lld, %lld), "
            "%lld, out)",
            format, format, keep_k, keep_k);
    default: break;
    }
    const infc_type *type = &u->plan->buffers[step->operands[1]].type;
    const long long k = (long long)call->dims.matmul.k;
    if (type->layout != INFC_LAYOUT_panel || call->dims.matmul.batch != 1) return NULL;
    return infc_arena_printf(arena, "s_unpack_%s((const %s *)(const void *)at + panel * %lld, %lld, out)",
                             infc_dtype_name(type->dtype),
                             type->dtype == INFC_DTYPE_f32 ? "float" : "infk_b2", k * 16, k);
}

/* The number of the function that does it. */
static size_t function_of(writer *w, const char *call) {
    size_t number = w->n_formats;
    if (infc_map_find(&w->formats, call, &number)) return number;
    infc_map_put(&w->formats, call, number);
    infc_buf_printf(
        &w->functions,
        "static void panel_%zu(const unsigned char *at, ptrdiff_t panel, float *out) {\n"
        "    %s;\n}\n\n",
        number, call);
    return w->n_formats++;
}

/* Module `number`, whose first output is `column` of `buffer`; its panels are every by-th of the weights. */
static infc_status place(writer *w, int end, int64_t number, int buffer, int64_t column, int by) {
    const infc_plan *plan = w->u->plan;
    product made;
    const char *call = find(plan, end, buffer, column, &made) ? call_of(w->u, made.step) : NULL;
    if (!call || made.column % 16)
        return infc_fail(w->u->cx, INFC_ERR_INTERNAL, INFC_NO_LOC,
                         "the weights of module %lld of adapters are not found", (long long)number);
    const infc_plan_buffer *weights = &plan->buffers[infc_plan_root(plan, made.step->operands[1])];
    w->places[number] = infc_arena_printf(
        w->u->cx->arena, "    {UINT64_C(%llu), %lld, %d, panel_%zu}, /* %s */\n",
        (unsigned long long)weights->offset, (long long)made.column / 16, by, function_of(w, call),
        infc_emit_comment(w->u->cx->arena, weights->tensor ? weights->tensor : weights->name));
    return INFC_OK;
}

static infc_status places_of(writer *w, int s) {
    const infc_plan_step *step = &w->u->plan->steps[s];
    const infk_adapter_dims *d = &step->call.dims.adapter;
    if (!step->kernel) return INFC_OK;
    switch (step->kernel->kind) {
    case INFK_adapter_gate: /* 16 of gate and 16 of up in turn */
        INFC_TRY(place(w, s, d->first, step->operands[1], 0, 2));
        return place(w, s, d->first + 1, step->operands[1], 16, 2);
    case INFK_adapter_out:
    case INFK_adapter_sum:
        for (int m = 0; m < d->modules; m++)
            INFC_TRY(place(w, s, d->first + m, step->operands[0],
                           m == 0   ? 0
                           : m == 1 ? d->n0
                                    : d->n0 + d->n1,
                           1));
        return INFC_OK;
    default: return INFC_OK;
    }
}

const char *infc_emit_adapter_panel(const infc_emit_unit *u) {
    return infc_arena_printf(u->cx->arena, "%s_adapter_panel", u->name);
}

static void print_table(const writer *w, size_t n, infc_buf *out) {
    const char *name = infc_emit_adapter_panel(w->u);
    infc_buf_puts(out,
                  "static const struct {\n    uint64_t at;\n    uint32_t first, by;\n"
                  "    void (*of)(const unsigned char *, ptrdiff_t, float *);\n} places[] = {\n");
    for (size_t i = 0; i < n; i++) infc_buf_puts(out, w->places[i]);
    infc_buf_printf(out,
                    "};\n\nINFC_HIDDEN void %s(const void *weights, uint32_t module, uint32_t "
                    "panel, float *out);\n"
                    "void %s(const void *weights, uint32_t module, uint32_t panel, float *out) {\n"
                    "    const unsigned char *at = (const unsigned char *)weights + "
                    "sizeof(infc_weights_header);\n"
                    "    at += places[module].at;\n"
                    "    places[module].of(at, places[module].first + (ptrdiff_t)panel * "
                    "places[module].by, out);\n"
                    "}\n",
                    name, name);
}

infc_status infc_emit_adapters_write(infc_emit_unit *u) {
    const infc_llm_facts *facts = u->plan->llm;
    infc_arena *arena = u->cx->arena;
    infc_buf out = {.arena = arena};
    if (!facts || !facts->adapters.max_loaded) return INFC_OK;
    const size_t n = (size_t)facts->adapters.layers * INFC_ADAPTER_MODULES;
    writer w = {.u = u, .formats = {.arena = arena}, .functions = {.arena = arena}};
    w.places = INFC_NEW(arena, const char *, n);
    for (int s = 0; s < u->plan->n_steps; s++) INFC_TRY(places_of(&w, s));
    for (size_t i = 0; i < n; i++)
        if (!w.places[i])
            return infc_fail(u->cx, INFC_ERR_INTERNAL, INFC_NO_LOC, "no step is of module %zu of adapters", i);
    infc_buf_printf(
        &out,
        "/* %s_adapters.c: generated by infc %s from %s.\n * The weights that adapters change, as "
        "floats.\n * SPDX-License-Identifier: %s */\n#include \"%s_internal.h\"\n",
        u->name, INFC_VERSION, infc_emit_comment(arena, u->plan->source),
        infc_emit_comment(arena, u->spec->license), u->name);
    INFC_TRY(infc_simd_file_text(u->cx, "unpack.h", &out));
    infc_buf_printf(&out, "\n%s", infc_buf_str(&w.functions));
    print_table(&w, n, &out);
    const char *path = infc_arena_printf(arena, "src/%s_adapters.c", u->name);
    u->out->baseline_sources[u->out->n_baseline_sources++] = path;
    return infc_emit_write(u, path, infc_buf_bytes(&out), 0644);
}
