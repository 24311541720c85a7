/* What the command line chooses, checked before any work: stages, passes, targets. */
#include "../base/map.h"
#include "compile.h"
#include <string.h>

static infc_status check_pass(infc_cx *cx, const char *name) {
    const infc_pass *pass = infc_pass_find(name);
    if (pass && !pass->required) return INFC_OK;
    if (pass) {
        return infc_fail(cx, INFC_ERR_SPEC, INFC_NO_LOC,
                         "--without %s: nothing compiles without this pass; "
                         "infc passes shows which can be left out",
                         name);
    }
    size_t n = infc_pass_count();
    const char **names = INFC_NEW(cx->arena, const char *, n);
    for (size_t i = 0; i < n; i++) names[i] = infc_pass_at(i)->name;
    const char *nearest = infc_nearest(name, names, n);
    return infc_fail(cx, INFC_ERR_SPEC, INFC_NO_LOC, "--without %s: there is no such pass%s%s; see infc passes",
                     name, nearest ? "; nearest: " : "", nearest ? nearest : "");
}

/* A pass that is left out, or that comes after the end, neither dumps nor ends anything. */
static void check_reached(infc_cx *cx, const infc_compile_options *o) {
    size_t end = o->stop_after ? infc_stage_index(o->stop_after) : infc_stage_count();
    for (size_t i = 0; i < o->dumps.n; i++) {
        const char *name = o->dumps.items[i];
        if (strcmp(name, "all") != 0 && infc_stage_index(name) > end)
            infc_fail(cx, INFC_ERR_SPEC, INFC_NO_LOC, "--dump %s: --stop-after %s ends before it; stop after %s",
                      name, o->stop_after, name);
    }
    for (size_t k = 0; k < o->without.n; k++) {
        const char *name = o->without.items[k];
        bool dumped = false;
        for (size_t i = 0; i < o->dumps.n; i++) dumped |= strcmp(name, o->dumps.items[i]) == 0;
        if (dumped)
            infc_fail(cx, INFC_ERR_SPEC, INFC_NO_LOC, "--dump %s: --without %s leaves it out", name, name);
        if (o->stop_after && strcmp(name, o->stop_after) == 0) {
            infc_fail(cx, INFC_ERR_SPEC, INFC_NO_LOC, "--stop-after %s: --without %s leaves it out", name, name);
        } else if (infc_stage_index(name) > end) {
            infc_fail(cx, INFC_ERR_SPEC, INFC_NO_LOC,
                      "--without %s: --stop-after %s ends before it; leave one of them out", name, o->stop_after);
        }
    }
    if (o->out_dir && end < infc_stage_index("emit"))
        infc_fail(cx, INFC_ERR_SPEC, INFC_NO_LOC,
                  "--output: with --stop-after %s nothing is written there; "
                  "leave it out, or stop after emit",
                  o->stop_after);
}

/* `--set targets=...` beside `--target`: one of them would be ignored. */
static void check_targets_once(infc_cx *cx, const infc_compile_options *o) {
    for (size_t i = 0; i < o->sets.n && o->targets.n; i++) {
        if (strncmp(o->sets.items[i], "targets=", 8) == 0)
            infc_fail(cx, INFC_ERR_SPEC,
                      INFC_NO_LOC, "--target and --set targets=... both say what to compile for; give one of them");
    }
}

infc_status infc_compile_options_check(infc_cx *cx, const infc_compile_options *options) {
    size_t mark = cx->n_diags;
    for (size_t i = 0; i < options->dumps.n; i++)
        infc_stage_name_check(cx, "--dump", options->dumps.items[i], true);
    for (size_t i = 0; i < options->without.n; i++) check_pass(cx, options->without.items[i]);
    if (options->stop_after) infc_stage_name_check(cx, "--stop-after", options->stop_after, false);
    if (options->dump_to && options->dumps.n == 0) {
        infc_fail(cx, INFC_ERR_SPEC, INFC_NO_LOC, "--dump-to says where dumps go; add --dump all");
    }
    check_targets_once(cx, options);
    if (infc_diags_status(cx, mark) == INFC_OK) check_reached(cx, options);
    return infc_diags_status(cx, mark);
}

infc_texts infc_targets_split(infc_arena *arena, const infc_texts *names) {
    infc_texts out = {0};
    for (size_t i = 0; i < names->n; i++) {
        const char *at = names->items[i];
        const bool one = strchr(at, ':');
        for (;; at++) {
            const size_t n = one ? strlen(at) : strcspn(at, ",");
            INFC_GROW(arena, out.items, out.n, out.cap);
            out.items[out.n++] = infc_arena_copy_string(arena, at, n);
            at += n;
            if (!*at) break;
        }
    }
    return out;
}

infc_status infc_targets_choose(infc_cx *cx, const infc_texts *names, infc_spec *spec) {
    if (names->n == 0) return INFC_OK;
    size_t mark = cx->n_diags;
    const infc_texts each = infc_targets_split(cx->arena, names);
    infc_target *targets = INFC_NEW(cx->arena, infc_target, each.n);
    size_t n = 0;
    for (size_t i = 0; i < each.n; i++) {
        const infc_loc loc = {.file = "--target"};
        if (!*each.items[i]) {
            infc_fail(cx, INFC_ERR_SPEC, loc, "a name is missing beside a comma; write A,B");
            continue;
        }
        if (infc_target_parse(cx, loc, each.items[i], &targets[n]) != INFC_OK) continue;
        bool again = false; /* host and the name of what it is, for one */
        for (size_t k = 0; k < n; k++) again |= strcmp(targets[k].name, targets[n].name) == 0;
        if (!again) n++;
    }
    spec->targets = targets;
    spec->n_targets = n;
    return infc_diags_status(cx, mark);
}
