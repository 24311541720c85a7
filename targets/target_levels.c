#include "target_levels.h"
#include <string.h>

/* "v4+vnni" of "x86-64": x86-64-v4+vnni. */
static const infc_target *find(infc_arena *arena, const char *arch, const char *level, size_t *index) {
    const char *const forms[] = {strcmp(level, "base") == 0 ? arch : level,
                                 infc_arena_printf(arena, "%s-%s", arch, level),
                                 infc_arena_printf(arena, "%s+%s", arch, level)};
    for (*index = 0; *index < infc_target_count(); ++*index)
        for (size_t f = 0; f < sizeof forms / sizeof *forms; f++)
            if (strcmp(infc_target_at(*index)->name, forms[f]) == 0) return infc_target_at(*index);
    return NULL;
}

/* The names of levels that the architecture has. */
static const char *known(infc_arena *arena, const char *arch) {
    infc_buf out = {.arena = arena};
    const size_t n = strlen(arch);
    for (size_t i = 0; i < infc_target_count(); i++) {
        const char *name = infc_target_at(i)->name;
        if (strncmp(name, arch, n) != 0 || (name[n] && !strchr("-+", name[n]))) continue;
        infc_buf_printf(&out, "%s%s", out.len ? ", " : "", name[n] ? name + n + 1 : "base");
    }
    return infc_buf_str(&out);
}

static infc_status check_arch(infc_cx *cx, infc_loc loc, const char *text, const char *arch) {
    size_t i;
    const infc_target *base = find(cx->arena, arch, "base", &i);
    const char *name = base ? base->platform->arch : "";
    if (strcmp(name, "x86_64") == 0 || strcmp(name, "aarch64") == 0) return INFC_OK;
    return infc_fail(
        cx, INFC_ERR_SPEC, loc,
        "target \"%s\": levels are for x86-64 and aarch64, whose programs can ask the CPU what it "
        "has",
        text);
}

/* What was meant as two targets: the first n characters of `text`, and what comes after the comma there. */
static infc_status refuse_two(infc_cx *cx, infc_loc loc, const char *text, size_t n) {
    return infc_fail(
        cx, INFC_ERR_SPEC, loc,
        "target \"%s\": a comma after a colon stands between levels of one target; for two write "
        "--target %.*s --target %s, or two items of the list in a spec",
        text, (int)n, text, text + n + 1);
}

/* Levels of one architecture alone: `level`, at text[n + 1], is of it. */
static infc_status check_level(infc_cx *cx, infc_loc loc, const char *text, size_t n,
                               const char *arch, const char *name, const infc_target *level) {
    size_t i;
    const char *base = find(cx->arena, arch, "base", &i)->platform->arch;
    const bool other = level && strcmp(level->platform->arch, base) != 0;
    if (text[n] == ',' && (other || strchr(name, ':'))) return refuse_two(cx, loc, text, n);
    if (other)
        return infc_fail(cx, INFC_ERR_SPEC, loc, "target \"%s\": %s is no level of %s; write --target %s for it alone",
                         text, name, arch, name);
    if (level) return INFC_OK;
    if (!*name)
        return infc_fail(cx, INFC_ERR_SPEC, loc, "target \"%s\": a level is missing %s; %s has: %s",
                         text, text[n] == ',' ? "beside a comma" : "after the colon", arch,
                         known(cx->arena, arch));
    return infc_fail(cx, INFC_ERR_SPEC, loc, "target \"%s\": %s has no level \"%s\"; it has: %s",
                     text, arch, name, known(cx->arena, arch));
}

/* Copies of what `list` names, in order. */
static infc_status read_levels(infc_cx *cx, infc_loc loc, const char *text, const char *arch,
                               const char *list, const infc_target **levels, size_t *n) {
    size_t last = 0;
    for (const char *at = list;; at++) {
        size_t index;
        const size_t length = strcspn(at, ",");
        const char *name = infc_arena_copy_string(cx->arena, at, length);
        const infc_target *level = find(cx->arena, arch, name, &index);
        INFC_TRY(check_level(cx, loc, text, (size_t)(at - 1 - text), arch, name, level));
        if (*n && index <= last)
            return infc_fail(cx, INFC_ERR_SPEC, loc, "target \"%s\": %s comes after %s; name levels once, oldest first",
                             text, name, levels[*n - 1]->name);
        if (*n == INFC_MOST_LEVELS)
            return infc_fail(cx, INFC_ERR_SPEC, loc, "target \"%s\": more than %d levels", text, INFC_MOST_LEVELS);
        levels[(*n)++] = level;
        last = index;
        at += length;
        if (!*at) return INFC_OK;
    }
}

infc_status infc_target_parse_levels(infc_cx *cx, infc_loc loc, const char *text, infc_target *out) {
    const infc_target **levels = INFC_NEW(cx->arena, const infc_target *, INFC_MOST_LEVELS);
    const size_t n = strcspn(text, ":");
    const char *arch = infc_arena_copy_string(cx->arena, text, n);
    const char *comma = strrchr(arch, ',');
    size_t n_levels = 0;
    if (comma) return refuse_two(cx, loc, text, (size_t)(comma - arch));
    INFC_TRY(check_arch(cx, loc, text, arch));
    INFC_TRY(read_levels(cx, loc, text, arch, text + n + 1, levels, &n_levels));
    *out = *levels[0];
    if (n_levels == 1) return INFC_OK;
    out->name = infc_arena_copy_string(cx->arena, text, strlen(text));
    out->levels = levels;
    out->n_levels = n_levels;
    return INFC_OK;
}

size_t infc_target_run_count(const infc_target *target) {
    return target->n_levels ? target->n_levels : 1;
}

infc_target infc_target_run_at(infc_arena *arena, const infc_target *target, size_t i) {
    if (target->n_levels == 0) return *target;
    infc_target run = *target->levels[i];
    run.level = run.name;
    run.name = infc_arena_printf(arena, "%s at %s", target->name, run.level);
    return run;
}
