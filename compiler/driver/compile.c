/* compile.c - the pipeline. infc_compile below is the whole of it; the rest is bookkeeping: dumps, times, names. */
#include "compile.h"
#include "../base/file.h"
#include "../base/hash.h"
#include "../base/map.h"
#include "../frontend/import.h"
#include "clock.h"
#include "interrupt.h"
#include <string.h>

typedef struct pipeline {
    infc_cx *cx;
    const infc_compile_options *options;
    infc_build *build;
    infc_dumps dumps;
    infc_pass_options passes;
    const infc_target *target; /* null before it is known */
    infc_stage *stage;         /* null when no file is to be written */
    double mark;               /* when the stage that runs began */
    bool stopped;              /* --stop-after has been reached */
} pipeline;

/* A stage of the pipeline has ended: its time, and whether it was the last one asked for. */
static infc_status ended(pipeline *p, const char *name) {
    infc_build *b = p->build;
    double now = infc_seconds();
    INFC_GROW(p->cx->arena, b->timings, b->n_timings, b->cap_timings);
    b->timings[b->n_timings++] = (infc_timing){name, p->target ? p->target->name : NULL, now - p->mark};
    p->mark = now;
    p->stopped = p->options->stop_after && strcmp(p->options->stop_after, name) == 0;
    return infc_interrupt_check(p->cx);
}

static infc_status dump_ir(pipeline *p, const char *stage, infc_ir *ir) {
    if (!infc_dump_wanted(&p->dumps, stage)) return INFC_OK;
    infc_buf text = {.arena = p->cx->arena};
    infc_ir_print(ir, &text);
    return infc_dump_text(&p->dumps, stage, p->target, "mlir", infc_buf_bytes(&text));
}

static void pass_seen(void *user, const infc_pass *pass, infc_ir *ir, size_t n_changes, double seconds) {
    pipeline *p = user;
    infc_build *b = p->build;
    (void)n_changes;
    INFC_GROW(p->cx->arena, b->timings, b->n_timings, b->cap_timings);
    b->timings[b->n_timings++] = (infc_timing){pass->name, p->target ? p->target->name : NULL, seconds};
    dump_ir(p, pass->name, ir); /* a failure is recorded; run_passes looks */
}

static infc_status run_passes(pipeline *p, infc_ir *ir, infc_pass_phase phase) {
    size_t mark = p->cx->n_diags;
    INFC_TRY(infc_passes_run(ir, &p->build->spec, p->target, phase, &p->passes));
    INFC_TRY(infc_diags_status(p->cx, mark));
    const infc_pass *last = p->options->stop_after ? infc_pass_find(p->options->stop_after) : NULL;
    p->stopped = last && last->phase == phase;
    p->mark = infc_seconds();
    return infc_interrupt_check(p->cx);
}

static infc_status read_spec(pipeline *p) {
    const infc_compile_options *o = p->options;
    infc_spec *spec = &p->build->spec;
    infc_spec_set *sets = INFC_NEW(p->cx->arena, infc_spec_set, o->sets.n);
    for (size_t i = 0; i < o->sets.n; i++) sets[i].assignment = o->sets.items[i];
    infc_progress(p->cx, "reading %s", o->path);
    INFC_TRY(infc_spec_read(p->cx, o->path, sets, o->sets.n, spec));
    INFC_TRY(infc_targets_choose(p->cx, &o->targets, spec));
    p->dumps.many_targets = spec->n_targets > 1;
    if (infc_dump_wanted(&p->dumps, "spec")) {
        infc_buf text = {.arena = p->cx->arena};
        infc_spec_print(spec, &text);
        INFC_TRY(infc_dump_text(&p->dumps, "spec", NULL, "yaml", infc_buf_bytes(&text)));
    }
    return ended(p, "spec");
}

/* Opened before the work begins: a folder that cannot be written is known at once. */
static infc_status open_stage(pipeline *p) {
    infc_build *b = p->build;
    const char *stop = p->options->stop_after;
    b->out_dir = p->options->out_dir ? p->options->out_dir
                                     : infc_arena_printf(p->cx->arena, "%s-infc", b->spec.name);
    if (stop && strcmp(stop, "emit") != 0) return INFC_OK;
    return infc_stage_open(p->cx, b->out_dir, &p->stage);
}

static infc_status import(pipeline *p) {
    infc_progress(p->cx, "reading %s", p->build->spec.model);
    INFC_TRY(infc_import(p->cx, &p->build->spec, &p->build->ir));
    INFC_TRY(dump_ir(p, "import", &p->build->ir));
    return ended(p, "import");
}

static infc_status plan(pipeline *p, infc_built *built) {
    infc_ir *lowered = INFC_NEW(p->cx->arena, infc_ir, 1); /* the plan borrows its weights */
    infc_bytes model;
    INFC_TRY(infc_ir_clone(&p->build->ir, lowered));
    INFC_TRY(run_passes(p, lowered, INFC_PASSES_TARGET));
    if (p->stopped) return INFC_OK;
    INFC_TRY(infc_plan_build(p->cx, lowered, &p->build->spec, built->target, &built->plan)); /* MLIR ends here */
    INFC_TRY(infc_file_map(p->cx, p->build->spec.model, &model));
    built->plan.source_sha256 = infc_sha256_hex(p->cx->arena, model);
    INFC_TRY(infc_self_check(p->cx, &p->build->ir, &built->plan));
    if (infc_dump_wanted(&p->dumps, "plan")) {
        infc_buf text = {.arena = p->cx->arena};
        infc_plan_dump(&built->plan, &text);
        INFC_TRY(infc_dump_text(&p->dumps, "plan", p->target, "yaml", infc_buf_bytes(&text)));
    }
    return ended(p, "plan");
}

static infc_status emit(pipeline *p, infc_built *built) {
    const infc_emit_options options = {.spec = &p->build->spec, .dir = built->staged};
    infc_progress(p->cx, "%s: writing C and weights", built->target->name);
    INFC_TRY(infc_dir_create(p->cx, built->staged));
    INFC_TRY(infc_emit(p->cx, &built->plan, &options, &built->emitted));
    if (infc_dump_wanted(&p->dumps, "emit")) {
        infc_buf text = {.arena = p->cx->arena};
        INFC_TRY(infc_emit_source(p->cx, &built->plan, &p->build->spec, &text));
        INFC_TRY(infc_dump_text(&p->dumps, "emit", p->target, "c", infc_buf_bytes(&text)));
    }
    return ended(p, "emit");
}

static infc_status link_artefacts(pipeline *p, infc_built *built) {
    infc_build *b = p->build;
    INFC_TRY(infc_link(p->cx, &b->spec, built->target, &built->emitted, built->staged, &built->linked));
    INFC_TRY(infc_report_write(p->cx, b, built));
    return ended(p, "link");
}

static infc_status compile_for(pipeline *p, infc_built *built) {
    p->target = built->target;
    INFC_TRY(plan(p, built));
    if (p->stopped) return INFC_OK;
    INFC_TRY(emit(p, built));
    if (p->stopped) return INFC_OK;
    return link_artefacts(p, built);
}

static void name_folders(pipeline *p) {
    infc_build *b = p->build;
    b->n_targets = b->spec.n_targets;
    b->targets = INFC_NEW(p->cx->arena, infc_built, b->n_targets);
    for (size_t i = 0; i < b->n_targets; i++) {
        const infc_target *t = &b->spec.targets[i];
        const char *staged = p->stage ? p->stage->dir : NULL;
        b->targets[i] = (infc_built){.target = t, .dir = b->out_dir, .staged = staged};
        if (b->n_targets == 1) continue;
        b->targets[i].dir = infc_path_join(p->cx->arena, b->out_dir, t->name);
        if (staged) b->targets[i].staged = infc_path_join(p->cx->arena, staged, t->name);
    }
}

static infc_status begin(pipeline *p) {
    const infc_compile_options *o = p->options;
    p->mark = infc_seconds();
    p->dumps = (infc_dumps){.cx = p->cx, .wanted = &o->dumps, .dir = o->dump_to, .out = o->dump_out};
    p->passes = (infc_pass_options){.without = o->without.items, .n_without = o->without.n, .seen = pass_seen, .user = p};
    if (o->stop_after && infc_pass_find(o->stop_after)) p->passes.stop_after = o->stop_after;
    INFC_TRY(infc_compile_options_check(p->cx, o));
    return o->dump_to ? infc_dir_create(p->cx, o->dump_to) : INFC_OK;
}

static infc_status run(pipeline *p) {
    infc_build *b = p->build;
    INFC_TRY(begin(p));
    INFC_TRY(read_spec(p)); /* YAML, or the defaults for a bare model */
    if (p->stopped) return INFC_OK;
    INFC_TRY(open_stage(p));
    INFC_TRY(import(p)); /* to the infc dialect and a weight table */
    if (p->stopped) return INFC_OK;
    INFC_TRY(run_passes(p, &b->ir, INFC_PASSES_MODEL)); /* all that may change a bit; no target yet */
    if (p->stopped) return INFC_OK;
    name_folders(p);
    for (size_t i = 0; i < b->n_targets; i++) INFC_TRY(compile_for(p, &b->targets[i]));
    if (!p->stage) return INFC_OK;
    if (!p->stopped) INFC_TRY(infc_budgets_check(p->cx, b));
    INFC_TRY(infc_interrupt_check(p->cx));
    INFC_TRY(infc_stage_commit(p->stage)); /* only now is anything under its final name */
    b->reached = p->stopped ? INFC_REACHED_SOURCES : INFC_REACHED_ARTEFACTS;
    return INFC_OK;
}

infc_status infc_compile(infc_cx *cx, const infc_compile_options *options, infc_build *out) {
    pipeline p = {.cx = cx, .options = options, .build = out};
    double start = infc_seconds();
    infc_status status = run(&p);
    out->seconds = infc_seconds() - start;
    return status;
}
