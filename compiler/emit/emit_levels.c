#include <string.h>
#include "emit_unit.h"

/* "x86_64_v4_vnni" of x86-64-v4+vnni. */
static const char *token(infc_arena *arena, const infc_target *level) {
    char *text = infc_arena_copy_string(arena, level->name, strlen(level->name));
    for (char *p = text; *p; p++)
        if (strchr("-+.:,", *p)) *p = '_';
    return text;
}

static const char *level_name(const infc_emit_unit *u, const infc_target *level) {
    return infc_arena_printf(u->cx->arena, "%s__%s", u->name, token(u->cx->arena, level));
}

/* One newer level: src/NAME__LEVEL.c, its kernels, vocabulary and headers. */
static infc_status emit_level(infc_emit_unit *u, const infc_plan *plan, const infc_spec *spec,
                              infc_emitted_level *out) {
    infc_emit_unit v;
    infc_emitted written = {0};
    infc_buf header = {.arena = u->cx->arena};
    infc_plan *own = INFC_NEW(u->cx->arena, infc_plan, 1);
    *own = *plan;
    own->name = level_name(u, &plan->target);
    INFC_TRY(infc_emit_begin(&v, u->cx, own, spec, u->dir));
    if (v.layout_hash != u->layout_hash || v.weights_bytes != u->weights_bytes)
        return infc_fail(
            u->cx, INFC_ERR_UNSUPPORTED, (infc_loc){.file = spec ? spec->path : NULL},
            "level %s wants the weights in another layout than %s: make them two targets",
            plan->target.name, u->plan->target.name);
    const char *entry = infc_arena_printf(u->cx->arena, "%s_call", v.name);
    v.weights_hash = u->weights_hash;
    v.out = &written;
    INFC_TRY(infc_emit_code(&v));
    INFC_TRY(infc_emit_header_text(&v, &header));
    INFC_TRY(infc_emit_source_headers(&v, &header));
    for (size_t i = 0; i < written.n_files; i++) infc_emit_add_file(u, written.files[i]);
    *out = (infc_emitted_level){
        entry, &plan->target, written.model_sources, written.n_model_sources, infc_emit_step_infos(&v), plan->n_steps};
    u->levels_hash =
        infc_arena_printf(u->cx->arena, "%s%s", u->levels_hash ? u->levels_hash : "", v.content_hash);
    return INFC_OK;
}

infc_status infc_emit_levels(infc_emit_unit *u, const infc_emit_options *options) {
    const size_t n = u->plan->target.n_levels;
    u->out->entry = infc_emit_entry(u);
    u->out->levels = INFC_NEW(u->cx->arena, infc_emitted_level, n);
    for (size_t i = 1; i < n; i++)
        INFC_TRY(emit_level(u, &options->levels[i - 1], options->spec, &u->out->levels[u->out->n_levels++]));
    return INFC_OK;
}

/* ---- the table -------------------------------------------------------------------------------------------------- */

const char *infc_emit_entry(const infc_emit_unit *u) {
    return infc_arena_printf(u->cx->arena, u->plan->target.n_levels ? "%s_call__oldest" : "%s_call", u->name);
}

static const char *entry_of(const infc_emit_unit *u, size_t level) {
    const infc_target *target = &u->plan->target;
    if (level == 0) return infc_emit_entry(u);
    return infc_arena_printf(u->cx->arena, "%s_call", level_name(u, target->levels[level]));
}

const char *infc_emit_level_declarations(const infc_emit_unit *u) {
    infc_buf out = {.arena = u->cx->arena};
    for (size_t i = 0; i < u->plan->target.n_levels; i++)
        infc_buf_printf(&out, "%sINFC_HIDDEN int %s(const infc_call *c);", i ? "\n" : "", entry_of(u, i));
    return infc_buf_str(&out);
}

infc_status infc_emit_level_checks(const infc_emit_unit *u, infc_buf *out) {
    const infc_target *target = &u->plan->target;
    for (size_t i = 1; i < target->n_levels; i++) {
        infc_buf_printf(out, "static const char *%s_missing(void) {\n",
                        token(u->cx->arena, target->levels[i]));
        INFC_TRY(infc_emit_cpu_checks(u, target->levels[i], out));
        infc_buf_puts(out, "    return 0;\n}\n\n");
    }
    return INFC_OK;
}

const char *infc_emit_level_steps(const infc_emit_unit *u) {
    infc_buf out = {.arena = u->cx->arena};
    for (size_t i = 0; i < u->out->n_levels; i++) {
        const infc_emitted_level *level = &u->out->levels[i];
        if (level->n_steps)
            infc_buf_printf(&out, "static const infc_step_info %s_steps[] = {\n%s};\n\n",
                            token(u->cx->arena, level->target), level->step_infos);
    }
    return infc_buf_str(&out);
}

const char *infc_emit_level_infos(const infc_emit_unit *u) {
    infc_arena *arena = u->cx->arena;
    const infc_target *target = &u->plan->target;
    infc_buf out = {.arena = arena};
    for (size_t i = 0; i < target->n_levels; i++) {
        const infc_target *level = target->levels[i];
        const char *missing = i ? infc_arena_printf(arena, "%s_missing", token(arena, level))
                                : infc_arena_printf(arena, "%s_cpu_missing", u->name);
        const int n_steps = i ? u->out->levels[i - 1].n_steps : u->plan->n_steps;
        const char *steps = i ? infc_arena_printf(arena, "%s_steps", token(arena, level)) : "steps";
        infc_buf_printf(&out, "    {%s, %s, %s, %s, %s, %d},\n", infc_emit_literal(arena, level->name),
                        infc_emit_literal(arena, infc_isa_token(level->isa)), missing,
                        entry_of(u, i), n_steps ? steps : "0", n_steps);
    }
    return infc_buf_str(&out);
}
