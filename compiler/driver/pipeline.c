#include "pipeline.h"
#include "../base/interrupt.h"
#include "../frontend/import.h"
#include "clock.h"
#include "commit.h"
#include "model_digest.h"
#include <string.h>

/* ---- bookkeeping --------------------------------------------------------------------------------- */

static void time_stage(infc_pipeline *p, const char *name, double seconds) {
    infc_build *b = p->build;
    INFC_GROW(p->cx->arena, b->timings, b->n_timings, b->cap_timings);
    b->timings[b->n_timings++] = (infc_timing){name, p->target ? p->target->name : NULL, seconds};
}

/* A stage has ended: its time, and whether it was the last one asked for. */
static infc_status ended(infc_pipeline *p, const char *name) {
    double now = infc_seconds();
    time_stage(p, name, now - p->mark);
    p->mark = now;
    p->stopped = p->options->stop_after && strcmp(p->options->stop_after, name) == 0;
    return infc_interrupt_check(p->cx);
}

static infc_status dump_ir(infc_pipeline *p, const char *stage, infc_ir *ir) {
    if (!infc_dump_wanted(&p->dumps, stage)) return INFC_OK;
    infc_buf text = {.arena = p->cx->arena};
    infc_ir_print(ir, &text);
    return infc_dump_text(&p->dumps, stage, p->target, "mlir", infc_buf_bytes(&text));
}

/* The passes of a target change no value: those stages are not kept. */
static infc_status keep_stage(infc_pipeline *p, const infc_pass *pass, const infc_ir *ir) {
    infc_build *b = p->build;
    if (!p->options->keep_stages || p->target) return INFC_OK;
    INFC_GROW(p->cx->arena, b->stages, b->n_stages, b->cap_stages);
    b->stages[b->n_stages].pass = pass;
    return infc_ir_clone(ir, &b->stages[b->n_stages++].ir);
}

static void pass_seen(void *user, const infc_pass *pass, infc_ir *ir, size_t n_changes, double seconds) {
    infc_pipeline *p = user;
    if (n_changes) keep_stage(p, pass, ir);
    time_stage(p, pass->name, seconds);
    dump_ir(p, pass->name, ir); /* a failure is recorded; run_passes looks */
}

static infc_status run_passes(infc_pipeline *p, infc_ir *ir, infc_pass_phase phase) {
    size_t mark = p->cx->n_diags;
    INFC_TRY(infc_passes_run(ir, &p->build->spec, p->target, phase, &p->passes));
    INFC_TRY(infc_diags_status(p->cx, mark));
    const infc_pass *last = p->options->stop_after ? infc_pass_find(p->options->stop_after) : NULL;
    p->stopped = last && last->phase == phase;
    p->mark = infc_seconds();
    return infc_interrupt_check(p->cx);
}

/* ---- the steps ------------------------------------------------------------------------------------- */

infc_status infc_pipeline_begin(infc_pipeline *p) {
    const infc_compile_options *o = p->options;
    p->mark = infc_seconds();
    p->dumps = (infc_dumps){.cx = p->cx, .wanted = &o->dumps, .out = o->dump_out};
    p->passes = (infc_pass_options){.without = o->without.items, .n_without = o->without.n};
    p->passes.seen = pass_seen;
    p->passes.user = p;
    if (o->stop_after && infc_pass_find(o->stop_after)) p->passes.stop_after = o->stop_after;
    INFC_TRY(infc_compile_options_check(p->cx, o));
    if (!o->dump_to) return INFC_OK;
    INFC_TRY(infc_stage_open(p->cx, o->dump_to, &p->dump_stage));
    p->dumps.dir = p->dump_stage->dir;
    p->dumps.final_dir = o->dump_to;
    return INFC_OK;
}

/* Dumps made before a stage failed are what tells why; when they could not be written, or the work was stopped, there
 * are none. */
infc_status infc_pipeline_keep_dumps(infc_pipeline *p, infc_status status) {
    if (!p->dump_stage || p->dumps.n_files == 0 || p->dumps.refused) return INFC_OK;
    if (status == INFC_ERR_IO || infc_interrupt_signal()) return INFC_OK;
    return infc_stage_commit(p->dump_stage);
}

static infc_status suit_options(infc_pipeline *p, infc_spec *spec) {
    spec->binary |= p->options->for_checks;
    if (p->options->only_llm && !spec->llm)
        return infc_fail(p->cx, INFC_ERR_SPEC, (infc_loc){.file = spec->model},
                         "this is for language models; %s", p->options->only_llm);
    if (!p->options->as_floats) return INFC_OK;
    spec->weights = INFC_FORMAT_f32;
    spec->n_rules = 0;
    spec->calibrates = false;
    spec->kv = INFC_KV_f16;
    spec->fast = false;
    return INFC_OK;
}

/* Without an operating system there are only libraries. */
static infc_status check_kinds(const infc_pipeline *p) {
    const infc_spec *spec = &p->build->spec;
    for (size_t i = 0; i < spec->n_targets && spec->binary; i++) {
        const infc_target *t = &spec->targets[i];
        if (!t->platform->check) continue;
        return infc_fail(
            p->cx, INFC_ERR_SPEC, (infc_loc){.file = spec->path},
            "target %s has no operating system that programs of infc run on: give --set "
            "output.kinds=[static-library], or say so in the spec",
            t->name);
    }
    return INFC_OK;
}

infc_status infc_pipeline_spec(infc_pipeline *p) {
    const infc_compile_options *o = p->options;
    infc_spec *spec = &p->build->spec;
    infc_spec_set *sets = INFC_NEW(p->cx->arena, infc_spec_set, o->sets.n);
    for (size_t i = 0; i < o->sets.n; i++) sets[i].assignment = o->sets.items[i];
    infc_progress(p->cx, "reading %s", o->path);
    INFC_TRY(infc_spec_read(p->cx, o->path, sets, o->sets.n, spec));
    INFC_TRY(infc_targets_choose(p->cx, &o->targets, spec));
    INFC_TRY(suit_options(p, spec));
    if (!o->for_checks) INFC_TRY(check_kinds(p));
    p->dumps.many_targets = spec->n_targets > 1;
    if (infc_dump_wanted(&p->dumps, "spec")) {
        infc_buf text = {.arena = p->cx->arena};
        infc_spec_print(spec, &text);
        INFC_TRY(infc_dump_text(&p->dumps, "spec", NULL, "yaml", infc_buf_bytes(&text)));
    }
    return ended(p, "spec");
}

static void name_folders(infc_pipeline *p) {
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

/* Before the work begins: a folder that cannot be written is known at once. */
infc_status infc_pipeline_open(infc_pipeline *p) {
    infc_build *b = p->build;
    const char *stop = p->options->stop_after;
    if (p->stopped) return INFC_OK;
    b->out_dir = p->options->out_dir ? p->options->out_dir
                                     : infc_arena_printf(p->cx->arena, "%s-infc", b->spec.name);
    if (!stop || strcmp(stop, "emit") == 0) INFC_TRY(infc_stage_open(p->cx, b->out_dir, &p->stage));
    name_folders(p);
    return INFC_OK;
}

infc_status infc_pipeline_import(infc_pipeline *p) {
    if (p->stopped) return INFC_OK;
    infc_progress(p->cx, "reading %s", p->build->spec.model);
    INFC_TRY(infc_frontend_import(p->cx, &p->build->spec, &p->build->ir));
    INFC_TRY(dump_ir(p, "import", &p->build->ir));
    INFC_TRY(keep_stage(p, NULL, &p->build->ir));
    return ended(p, "import");
}

infc_status infc_pipeline_model(infc_pipeline *p) {
    if (!p->stopped) INFC_TRY(run_passes(p, &p->build->ir, INFC_PASSES_MODEL));
    p->no_targets = p->stopped;
    return INFC_OK;
}

infc_status infc_pipeline_lower(infc_pipeline *p, infc_built *built) {
    if (p->no_targets) return INFC_OK;
    p->stopped = false; /* the target before may have ended early, as this one will */
    infc_progress(p->cx, "%s: layouts, steps, memory", built->target->name);
    p->lowered = built->lowered = INFC_NEW(p->cx->arena, infc_ir, 1);
    INFC_TRY(infc_fast_suit(p->cx, p->build, built->target));
    INFC_TRY(infc_ir_clone(&p->build->ir, p->lowered));
    return run_passes(p, p->lowered, INFC_PASSES_TARGET);
}

/* What plans of all targets have in common, made with the first: the digest of the model, what the reference gives. */
static infc_status check_facts(infc_pipeline *p, infc_built *built) {
    for (const infc_built *before = p->build->targets; before < built; before++) {
        if (!before->plan.source_sha256) continue;                   /* it failed earlier */
        if (before->lowered->fast != built->lowered->fast) continue; /* other bits */
        built->plan.source_sha256 = before->plan.source_sha256;
        built->plan.check_seed = before->plan.check_seed;
        built->plan.check_hash = before->plan.check_hash;
        built->plan.made_up = before->plan.made_up;
        return INFC_OK;
    }
    infc_index_range *ranges = INFC_NEW(p->cx->arena, infc_index_range, (size_t)built->plan.n_inputs);
    for (int i = 0; i < built->plan.n_inputs; i++)
        ranges[i] = infc_index_range_of(&p->build->ir, (size_t)i, NULL);
    built->plan.made_up = ranges;
    INFC_TRY(infc_model_digest(p->cx, &p->build->spec, &p->build->ir, &built->plan.source_sha256));
    return infc_self_check(p->cx, &p->build->ir, &built->plan);
}

/* Plans of the newer levels: from the same module, for passes do not look at the level. Their arena is shared. */
static infc_status plan_levels(infc_pipeline *p, infc_built *built) {
    const infc_target *target = built->target;
    infc_plan *plan = &built->plan;
    if (target->n_levels == 0) return INFC_OK;
    built->levels = INFC_NEW(p->cx->arena, infc_plan, target->n_levels);
    for (size_t i = 1; i < target->n_levels; i++) {
        infc_plan *level = &built->levels[i - 1];
        INFC_TRY(infc_plan_build(p->cx, p->lowered, &p->build->spec, target->levels[i], level));
        if (level->arena_bytes > plan->arena_bytes) plan->arena_bytes = level->arena_bytes;
        if (level->arena_bytes_per_worker > plan->arena_bytes_per_worker)
            plan->arena_bytes_per_worker = level->arena_bytes_per_worker;
    }
    return INFC_OK;
}

infc_status infc_pipeline_plan(infc_pipeline *p, infc_built *built) {
    if (p->stopped) return INFC_OK;
    INFC_TRY(infc_plan_build(p->cx, p->lowered, &p->build->spec, built->target, &built->plan));
    INFC_TRY(plan_levels(p, built));
    infc_memory_warn(p->cx, &p->build->spec, &built->plan);
    infc_fast_warn(p->cx, &p->build->spec, &built->plan);
    INFC_TRY(check_facts(p, built));
    for (size_t i = 1; i < built->target->n_levels; i++)
        built->levels[i - 1].source_sha256 = built->plan.source_sha256;
    if (infc_dump_wanted(&p->dumps, "plan")) {
        infc_buf text = {.arena = p->cx->arena};
        infc_plan_dump(&built->plan, &text);
        INFC_TRY(infc_dump_text(&p->dumps, "plan", p->target, "yaml", infc_buf_bytes(&text)));
    }
    return ended(p, "plan");
}

infc_status infc_pipeline_emit(infc_pipeline *p, infc_built *built) {
    if (p->stopped) return INFC_OK;
    const infc_emit_options options = {
        .spec = &p->build->spec, .dir = built->staged, .levels = built->levels, .before = built->dir};
    infc_progress(p->cx, "%s: writing C and weights", built->target->name);
    INFC_TRY(infc_dir_create(p->cx, built->staged));
    INFC_TRY(infc_emit(p->cx, &built->plan, &options, &built->emitted));
    if (infc_dump_wanted(&p->dumps, "emit")) {
        infc_buf text = {.arena = p->cx->arena};
        INFC_TRY(infc_emit_source(p->cx, &built->plan, &p->build->spec, &text));
        INFC_TRY(infc_dump_text(&p->dumps, "emit", p->target, "c", infc_buf_bytes(&text)));
    }
    INFC_TRY(ended(p, "emit"));
    return p->stopped ? infc_emit_manifest(p->cx, &built->plan, &options, &built->emitted, NULL, 0) : INFC_OK;
}

infc_status infc_pipeline_link(infc_pipeline *p, infc_built *built) {
    infc_build *b = p->build;
    if (p->stopped) return INFC_OK;
    INFC_TRY(infc_link(p->cx, &b->spec, built->target, &built->emitted, built->staged, built->dir,
                       p->options->with_names, &built->linked));
    INFC_TRY(infc_report_write(p->cx, b, built));
    return ended(p, "link");
}

infc_status infc_pipeline_commit(infc_pipeline *p) {
    infc_build *b = p->build;
    if (!p->options->for_checks) INFC_TRY(infc_budgets_check(p->cx, b));
    if (!p->stage) return INFC_OK; /* --stop-after something before emit */
    INFC_TRY(infc_interrupt_check(p->cx));
    infc_target *made = INFC_NEW(p->cx->arena, infc_target, b->n_targets);
    size_t n = 0;
    for (size_t i = 0; i < b->n_targets; i++)
        if (!b->targets[i].failed) made[n++] = *b->targets[i].target;
    if (n == 0) return INFC_OK; /* keep_going: each was told */
    if (b->n_targets > 1)
        INFC_TRY(infc_emit_targets_manifest(p->cx, b->spec.name, p->stage->dir, made, n));
    INFC_TRY(infc_commit(p->stage));
    b->reached = p->stopped ? INFC_REACHED_SOURCES : INFC_REACHED_ARTEFACTS;
    return INFC_OK;
}
