/* compare_measure.c - every target compiled, run on the same made-up inputs as `infc verify` takes, and removed. */
#include "../base/file.h"
#include "../base/interrupt.h"
#include "../../targets/target_levels.h"
#include "code_words.h"
#include "compare.h"
#include "model_digest.h"
#include "toolchain.h"
#include <jansson.h>
#include <math.h>
#include <string.h>
#include <strings.h>

/* A context whose problems are facts about a target, and no failure of the comparison. */
static infc_cx attempt(const infc_cx *cx) {
    infc_cx trial = *cx;
    trial.diags = NULL;
    trial.n_diags = trial.cap_diags = trial.n_errors = 0;
    return trial;
}

static const char *first_error(const infc_cx *trial) {
    for (size_t i = 0; i < trial->n_diags; i++)
        if (trial->diags[i].severity == INFC_ERROR) return trial->diags[i].text;
    return "it failed without saying why";
}

static void cannot(infc_compared *r, infc_agreement agreement, const infc_cx *trial) {
    r->agreement = agreement;
    r->why = first_error(trial);
}

/* A row that says why not when `target`, of which it is one way to run, cannot be compiled. */
static void begin(infc_comparison *c, const infc_target *target, size_t way, infc_compared *r) {
    infc_toolchain tools;
    infc_cx trial = attempt(c->cx);
    *r = (infc_compared){.target = infc_target_run_at(c->cx->arena, target, way), .way = way, .temp = r->temp};
    r->how = infc_runner_text(c->cx->arena, &r->target);
    for (int m = 0; m < INFC_N_METRICS; m++) r->measures[m] = (infc_measure){NAN, NAN};
    if (infc_toolchain_find(&trial, target, &tools) != INFC_OK || infc_toolchain_can_link(&trial, target) != INFC_OK)
        cannot(r, INFC_NOT_RUN, &trial);
}

static void take_sizes(infc_compared *r, const infc_built *built) {
    const infc_linked *l = &built->linked;
    const infc_linked_level *level = &l->levels[r->way];
    const infc_plan *plan = r->way ? &built->levels[r->way - 1] : &built->plan;
    infc_measure *m = r->measures;
    double flops = 0, reference = 0;
    const uint64_t file = r->target.platform->check ? l->library_bytes : l->binary_bytes;
    if (file) m[INFC_METRIC_file].now = (double)file;
    m[INFC_METRIC_text].now = (double)level->model.text;
    m[INFC_METRIC_rodata].now = (double)level->model.rodata;
    m[INFC_METRIC_data].now = (double)level->model.data;
    m[INFC_METRIC_bss].now = (double)level->model.bss;
    if (level->stack) m[INFC_METRIC_stack].now = (double)level->stack;
    r->mix = level->mix;
    if (r->mix.instructions) {
        m[INFC_METRIC_scalar].now = (double)(r->mix.instructions - r->mix.vector);
        if (infc_machine_code_get(r->target.platform->arch)->stack)
            m[INFC_METRIC_spills].now = (double)r->mix.spills;
    }
    m[INFC_METRIC_arena].now = (double)built->plan.arena_bytes;
    m[INFC_METRIC_weights].now = (double)built->emitted.weights_bytes;
    for (int i = 0; i < plan->n_steps; i++) {
        const infc_plan_step *step = &plan->steps[i];
        flops += (double)step->flops;
        if (!step->kernel) continue;
        r->n_steps++;
        if (step->kernel->lanes > 1) continue;
        r->n_reference++;
        reference += (double)step->flops;
    }
    r->reference_share = flops > 0 ? reference / flops : 0;
}

static infc_status take_time(infc_comparison *c, const char *binary, infc_compared *r) {
    const char *args[] = {"bench", "--json", "--seconds", "0.3", "--threads", "1"};
    const char *text;
    int code;
    if (!infc_target_runs_here(&r->target)) return INFC_OK;
    INFC_TRY(infc_binary_run(c->cx, &r->target, binary, args, sizeof args / sizeof *args, &code, &text));
    json_t *said = json_loads(text, 0, NULL);
    if (code == 0 && json_is_number(json_object_get(said, "p50_ns")))
        r->measures[INFC_METRIC_time].now = json_number_value(json_object_get(said, "p50_ns"));
    json_decref(said);
    return INFC_OK;
}

/* One run on the most useful sizes, every tensor against the reference. */
static infc_status run(infc_comparison *c, infc_cx *trial, infc_build *build,
                       const infc_built *built, infc_compared *r) {
    const char *binary = infc_path_join(trial->arena, built->staged, built->linked.binary);
    const char *named = infc_path_join(trial->arena, built->staged, built->linked.named);
    infc_ir *ir = &build->ir;
    const char *left_out;
    const char *path = infc_path_join(trial->arena, r->temp, "inputs.npz");
    const size_t n = infc_ir_input_count(ir);
    infc_tensor *inputs = INFC_NEW(trial->arena, infc_tensor, n);
    const char **names = INFC_NEW(trial->arena, const char *, n);
    infc_verify_sizes sizes[INFC_VERIFY_MAX_SIZES] = {0};
    infc_dumped dumped;
    infc_verified_run verified = {0};
    infc_verify_sizes_choose(ir, sizes, &left_out);
    INFC_TRY(infc_verify_inputs(trial, ir, sizes[0].at, NULL, inputs, names));
    INFC_TRY(infc_npz_write(trial, path, names, inputs, n));
    const infc_status ran = infc_verify_run(trial, &r->target, binary, path, r->temp, "run", true, &dumped);
    if (ran == INFC_ERR_MODEL)
        infc_warn(trial, INFC_NO_LOC, "these inputs were made up, and may not suit the model");
    INFC_TRY(ran);
    INFC_TRY(infc_fast_suit(trial, build, &r->target));
    INFC_TRY(infc_verify_compare(trial, ir, inputs, &dumped, &verified));
    r->first = verified.first;
    r->agreement = verified.first.tensor ? INFC_DIFFERS : INFC_AGREES;
    INFC_TRY(infc_compare_count(c, named, path, r));
    return take_time(c, binary, r);
}

static infc_status measure(infc_comparison *c, infc_build *build, const infc_built *built, infc_compared *r) {
    infc_cx trial = attempt(c->cx);
    trial.run_limit = c->spec->run_seconds;
    infc_words runner = {.arena = c->cx->arena};
    take_sizes(r, built);
    if (infc_runner_words(&trial, &r->target, &runner) != INFC_OK) {
        cannot(r, INFC_NOT_RUN, &trial);
        return infc_compare_loop(c, r);
    }
    const infc_status status = run(c, &trial, build, built, r);
    infc_file_let_go(&trial, r->temp);
    INFC_TRY(infc_interrupt_check(c->cx));
    if (status != INFC_OK) cannot(r, INFC_RUN_FAILED, &trial);
    return infc_compare_loop(c, r);
}

static infc_status measure_row(infc_comparison *c, infc_build *build, const infc_built *built, infc_compared *r) {
    infc_progress(c->cx, "comparing %s", r->target.name);
    if (built->failed) {
        r->agreement = INFC_RUN_FAILED;
        r->why = built->failed;
        return INFC_OK;
    }
    INFC_TRY(infc_memory_check(c->cx, &build->spec, &built->plan));
    INFC_TRY(infc_dir_create(c->cx, r->temp));
    INFC_TRY(measure(c, build, built, r));
    infc_dir_remove(r->temp);
    return INFC_OK;
}

static void finish_row(infc_comparison *c) {
    const infc_compared *r = &c->results[c->n_finished++];
    infc_milestone(c->cx, "%s: %s (%zu of %zu)", r->target.name, infc_agreement_text(r->agreement),
                   c->n_finished, c->n);
}

/* Rows of targets that cannot be compiled for here. */
static void finish_not_built(infc_comparison *c) {
    while (c->n_finished < c->n && c->results[c->n_finished].why) finish_row(c);
}

/* All rows of a target, and those before it of targets without a compiler. */
static infc_status look(void *user, infc_build *build, infc_built *built) {
    infc_comparison *c = user;
    finish_not_built(c);
    do {
        INFC_TRY(measure_row(c, build, built, &c->results[c->n_finished]));
        finish_row(c);
    } while (c->n_finished < c->n && c->results[c->n_finished].way > 0);
    return INFC_OK;
}

/* The targets to compile for: the spec's, or those named, of which `all` is all that have a name. */
static infc_status choose(infc_comparison *c, const infc_compile_options *compile, infc_spec *spec) {
    infc_spec_set *sets = INFC_NEW(c->cx->arena, infc_spec_set, compile->sets.n);
    infc_texts names = {0};
    for (size_t i = 0; i < compile->sets.n; i++) sets[i].assignment = compile->sets.items[i];
    INFC_TRY(infc_spec_read(c->cx, compile->path, sets, compile->sets.n, spec));
    infc_texts given = infc_targets_split(c->cx->arena, &compile->targets);
    for (size_t i = 0; i < given.n; i++) {
        const bool all = strcasecmp(given.items[i], "all") == 0;
        for (size_t k = 0; k < (all ? infc_target_count() : 1); k++) {
            INFC_GROW(c->cx->arena, names.items, names.n, names.cap);
            names.items[names.n++] = all ? infc_target_at(k)->name : given.items[i];
        }
    }
    return infc_targets_choose(c->cx, &names, spec);
}

/* A row for each way that a target runs; those that can be compiled are `targets`. */
static void begin_all(infc_comparison *c, infc_texts *targets) {
    infc_arena *arena = c->cx->arena;
    c->results = INFC_NEW(arena, infc_compared, c->spec->n_targets * INFC_MOST_LEVELS);
    for (size_t i = 0; i < c->spec->n_targets; i++) {
        const infc_target *target = &c->spec->targets[i];
        const infc_compared *first = &c->results[c->n];
        for (size_t way = 0; way < infc_target_run_count(target); way++) {
            c->results[c->n].temp = infc_arena_printf(arena, "%s/row%zu", c->temp, c->n);
            begin(c, target, way, &c->results[c->n]);
            c->n++;
        }
        if (first->why) continue;
        INFC_GROW(arena, targets->items, targets->n, targets->cap);
        targets->items[targets->n++] = target->name;
    }
}

infc_status infc_compare_measure(infc_comparison *c, const infc_compile_options *compile) {
    infc_spec *spec = INFC_NEW(c->cx->arena, infc_spec, 1);
    infc_build *build = INFC_NEW(c->cx->arena, infc_build, 1);
    infc_compile_options with = *compile;
    with.out_dir = infc_path_join(c->cx->arena, c->temp, "out");
    with.for_checks = with.with_names = with.keep_going = true;
    with.look = look;
    with.look_user = c;
    with.targets = (infc_texts){0};
    INFC_TRY(choose(c, compile, spec));
    if (spec->llm)
        return infc_fail(c->cx, INFC_ERR_UNSUPPORTED, (infc_loc){.file = spec->model},
                         "infc compare is for models whose inputs are tensors; measure a language "
                         "model by the `bench` of "
                         "its binaries");
    c->spec = spec;
    c->model = spec->name;
    INFC_TRY(infc_compare_baseline_suits(c, spec->name));
    begin_all(c, &with.targets);
    INFC_TRY(infc_interrupt_check(c->cx)); /* else compilers seem to be missing */
    if (with.targets.n == 0) { /* the rows say why; the model is read for its name and digest */
        with.stop_after = "import";
        with.out_dir = NULL;
    }
    INFC_TRY(infc_compile(c->cx, &with, build));
    finish_not_built(c);
    return infc_model_digest(c->cx, &build->spec, &build->ir, &c->model_sha256);
}

const char *infc_compare_so_far(const infc_comparison *c) {
    infc_buf text = {.arena = c->cx->arena};
    if (c->n_finished == 0) return NULL;
    infc_buf_printf(&text, "%zu of %zu targets were compared", c->n_finished, c->n);
    for (size_t i = 0; i < c->n_finished; i++)
        infc_buf_printf(&text, "%s%s %s", i ? ", " : ": ", c->results[i].target.name,
                        infc_agreement_text(c->results[i].agreement));
    return infc_buf_str(&text);
}
