/* emit_names.c - names and text of the model in C. Both come from hostile files: identifiers are kept off
 * keywords and each other, comments and strings cannot be broken out of. */
#include "../base/c_names.h"
#include "emit_unit.h"
#include <ctype.h>
#include <string.h>

const char *infc_emit_comment(infc_arena *arena, const char *text) {
    infc_buf out = {.arena = arena};
    for (const char *p = text ? text : ""; *p; p++) {
        const char last = out.len ? out.data[out.len - 1] : ' ';
        const char c = *p >= 0x20 && *p < 0x7f && *p != '\\' ? *p : '?';
        const bool pair = (last == '*' && c == '/') || (last == '/' && c == '*') || (last == '?' && c == '?');
        infc_buf_printf(&out, "%s%c", pair ? " " : "", c); /* no end, no nested start, no trigraph */
    }
    return infc_buf_str(&out);
}

const char *infc_emit_literal(infc_arena *arena, const char *text) {
    if (!text) return "0";
    infc_buf out = {.arena = arena};
    infc_buf_puts(&out, "\"");
    for (const unsigned char *p = (const unsigned char *)text; *p; p++) {
        if (*p == '"' || *p == '\\') infc_buf_printf(&out, "\\%c", *p);
        else if (*p < 0x20 || *p >= 0x7f || *p == '?') infc_buf_printf(&out, "\\%03o", *p);
        else infc_buf_put(&out, p, 1);
    }
    infc_buf_puts(&out, "\"");
    return infc_buf_str(&out);
}

/* Means something else in a program that includes NAME.h, or the element types that it uses. */
static bool is_reserved(const char *name) {
    size_t n = strlen(name);
    bool type = n > 2 && strcmp(name + n - 2, "_t") == 0 &&
                (strstr(name, "int") || strcmp(name, "size_t") == 0);
    return type || infc_c_keyword(name) || infc_c_macro(name);
}

static const char *identifier(infc_arena *arena, const char *text) {
    infc_buf out = {.arena = arena};
    for (const char *p = text; *p && out.len < 60; p++)
        infc_buf_printf(&out, "%c", isalnum((unsigned char)*p) ? *p : '_');
    const char *name = infc_buf_str(&out);
    if (!isalpha((unsigned char)name[0])) name = infc_arena_printf(arena, "t%s", name);
    return is_reserved(name) ? infc_arena_printf(arena, "%s_", name) : name;
}

/* What is named after one thing: "" and suffixes, up to null. */
static const char *const alone[] = {"", NULL}, *const with_dims[] = {"", "_dims", NULL},
                         *const instance_parts[] = {"", "_epi", "_epi_tail", NULL};

static bool is_taken(infc_arena *arena, const infc_map *taken, const char *name, const char *const *parts) {
    for (; *parts; parts++)
        if (infc_map_find(taken, infc_arena_printf(arena, "%s%s", name, *parts), NULL)) return true;
    return false;
}

/* `text`, or with a number so that none of its parts is taken; then they are. */
static const char *unique(infc_arena *arena, infc_map *taken, const char *text, const char *const *parts) {
    const char *name = text;
    for (int i = 2; is_taken(arena, taken, name, parts); i++)
        name = infc_arena_printf(arena, "%s_%d", text, i);
    for (; *parts; parts++) infc_map_put(taken, infc_arena_printf(arena, "%s%s", name, *parts), 1);
    return name;
}

static const char *const *fields(const infc_emit_unit *u, const int *ids, int n) {
    infc_map taken = {.arena = u->cx->arena};
    const char **names = INFC_NEW(u->cx->arena, const char *, (size_t)n + 1);
    for (int i = 0; i < n; i++) {
        const infc_plan_buffer *buffer = &u->plan->buffers[ids[i]];
        names[i] = unique(u->cx->arena, &taken, identifier(u->cx->arena, buffer->name),
                          infc_type_open(&buffer->type) ? with_dims : alone);
    }
    return names;
}

static const char *const *locals(const infc_emit_unit *u) {
    static const char *const prefixes[] = {"in", "out", "w", "t"}; /* by infc_place */
    infc_map taken = {.arena = u->cx->arena};
    const char **names = INFC_NEW(u->cx->arena, const char *, (size_t)u->plan->n_buffers + 1);
    for (int i = 0; i < u->plan->n_buffers; i++) {
        const infc_plan_buffer *buffer = &u->plan->buffers[i];
        const infc_place place = u->plan->buffers[infc_plan_root(u->plan, i)].place;
        const char *name = identifier(u->cx->arena, buffer->name);
        names[i] = unique(u->cx->arena, &taken,
                          infc_arena_printf(u->cx->arena, "%s_%s", prefixes[place], name), alone);
    }
    return names;
}

/* Names of functions: those of the header are taken first. */
static void name_functions(infc_emit_unit *u) {
    static const char *const ours[] = {
        "dims",    "dims_set",      "output_dims",  "sizes_fit",       "sizes_of",
        "abi",     "call",          "call_fits",    "cpu_missing",     "inputs",
        "model",   "outputs",       "run",          "run_part",        "steps",
        "weights", "weights_check", "weights_data", "weights_embedded"};
    infc_arena *arena = u->cx->arena;
    infc_map taken = {.arena = arena};
    for (size_t i = 0; i < sizeof ours / sizeof *ours; i++) infc_map_put(&taken, ours[i], 1);
    for (int i = 0; i < u->plan->n_inputs; i++)
        infc_map_put(&taken, infc_arena_printf(arena, "prepare_%s", u->input_fields[i]), 1);
    for (size_t i = 0; u->spec && i < u->spec->n_texts; i++) {
        infc_map_put(&taken, infc_arena_printf(arena, "prepare_%s", u->spec->texts[i].name), 1);
        infc_map_put(&taken, infc_arena_printf(arena, "tokens_%s", u->spec->texts[i].name), 1);
        infc_map_put(&taken, infc_arena_printf(arena, "whole_%s", u->spec->texts[i].name), 1);
    }
    for (size_t i = 0; i < u->n_functions; i++) {
        infc_emit_function *f = &u->functions[i];
        f->label = unique(arena, &taken, identifier(arena, u->plan->steps[f->step].name), with_dims);
        f->name = infc_arena_printf(arena, "%s_%s", u->name, f->label);
    }
    for (size_t i = 0; i < u->n_instances; i++) {
        const infc_plan_step *step = &u->plan->steps[u->instances[i].step];
        const char *words = infc_expr_words(arena, u->plan, step, "_");
        const char *base = infc_arena_printf(arena, "%s_%s_%.40s", infk_kind_get(step->kernel->kind)->name,
                                             u->instances[i].kernel->tile, words[0] ? words : "store");
        const char *label = unique(arena, &taken, identifier(arena, base), instance_parts);
        u->instances[i].name = infc_arena_printf(arena, "%s_%s", u->name, label);
    }
}

int infc_emit_port(const infc_emit_unit *u, const int *ids, int n, const char *name) {
    for (int i = 0; i < n; i++) {
        const char *tensor = u->plan->buffers[ids[i]].tensor;
        if (tensor && strcmp(tensor, name) == 0) return i;
    }
    return -1;
}

infc_status infc_emit_input(const infc_emit_unit *u, infc_loc loc, const char *name, const char *fix, int *out) {
    const infc_plan *plan = u->plan;
    infc_buf has = {.arena = u->cx->arena};
    *out = infc_emit_port(u, plan->inputs, plan->n_inputs, name);
    if (*out >= 0) return INFC_OK;
    for (int i = 0; i < plan->n_inputs; i++) {
        const char *tensor = plan->buffers[plan->inputs[i]].tensor;
        infc_buf_printf(&has, "%s\"%s\"", i ? ", " : "", tensor ? tensor : "");
    }
    return infc_fail(u->cx, INFC_ERR_SPEC, loc, "the model has no input \"%s\"; it has %s%s", name,
                     infc_buf_str(&has), fix);
}

infc_status infc_emit_names(infc_emit_unit *u) {
    u->name = u->plan->name;
    infc_buf upper = {.arena = u->cx->arena};
    for (const char *p = u->name; *p; p++)
        infc_buf_printf(&upper, "%c", toupper((unsigned char)*p));
    u->upper = infc_buf_str(&upper);
    u->locals = locals(u);
    u->input_fields = fields(u, u->plan->inputs, u->plan->n_inputs);
    u->output_fields = fields(u, u->plan->outputs, u->plan->n_outputs);
    name_functions(u);
    return INFC_OK;
}
