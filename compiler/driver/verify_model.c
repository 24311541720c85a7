/* What is run and compared, for a model and for the folder of an earlier compile. */
#include "../../targets/target_levels.h"
#include "../base/file.h"
#include "../base/digest.h"
#include "verify.h"
#include <string.h>

static infc_status expect(infc_verification *v, const infc_dumped *dumped, infc_verified_run *run) {
    if (!v->options->expect) return INFC_OK;
    return infc_verify_expect(v->cx, &dumped->outputs, v->options->expect, run);
}

static void conclude(const infc_verification *v, infc_verified_run *run) {
    run->ok = !run->first.tensor && !(run->worst > v->tolerance) && !(run->onnx && run->onnx->n_diverged);
}

/* One choice of sizes: the binary, and the graph as imported or the program it was compiled from. */
static infc_status run_at(infc_verification *v, infc_build *build, const infc_target *target, const char *binary,
                          const char *id, const infc_verify_sizes *sizes, infc_verified_run *run) {
    infc_cx *cx = v->cx;
    infc_ir *ir = &build->ir;
    const char *input_path = infc_arena_printf(cx->arena, "%s/%s-inputs.npz", v->temp, id);
    size_t n = infc_ir_input_count(ir);
    infc_tensor *inputs = INFC_NEW(cx->arena, infc_tensor, n);
    const char **names = INFC_NEW(cx->arena, const char *, n);
    infc_dumped dumped;
    *run = (infc_verified_run){.worst = -1};
    INFC_TRY(infc_verify_inputs(cx, ir, sizes->at, v->options->inputs, inputs, names));
    INFC_TRY(infc_npz_write(cx, input_path, names, inputs, n));
    const infc_status status = infc_verify_run(cx, target, binary, input_path, v->temp, id, true, &dumped);
    if (status == INFC_ERR_MODEL && !v->options->inputs)
        infc_warn(cx, INFC_NO_LOC, "made up inputs do not suit this model; give real ones: --inputs F.npz");
    INFC_TRY(status);
    INFC_TRY(infc_fast_suit(cx, build, target));
    run->sizes = infc_verify_sizes_of(ir, inputs);
    if (v->options->against_onnx) {
        run->onnx = INFC_NEW(cx->arena, infc_onnx_check, 1);
        INFC_TRY(infc_verify_onnx(cx, &build->stages[0].ir, inputs, &dumped, v->tolerance, run->onnx));
        if (run->onnx->n_diverged)
            INFC_TRY(infc_verify_cause(cx, build, inputs, &dumped, run->onnx));
    } else {
        INFC_TRY(infc_verify_compare(cx, ir, inputs, &dumped, run));
    }
    INFC_TRY(expect(v, &dumped, run));
    conclude(v, run);
    return INFC_OK;
}

static infc_status verify_target(infc_verification *v, infc_build *build, const infc_target *target,
                                 const char *binary, infc_verified *r) {
    infc_verify_sizes sizes[INFC_VERIFY_MAX_SIZES] = {0};
    r->ok = true;
    if (build->ir.llm)
        return INFC_OK; /* its program takes requests, not tensors: what it checks itself is all */
    r->n_runs = 1;
    if (!v->options->inputs) r->n_runs = infc_verify_sizes_choose(&build->ir, sizes, &r->left_out);
    r->runs = INFC_NEW(v->cx->arena, infc_verified_run, r->n_runs);
    for (size_t i = 0; i < r->n_runs; i++) {
        const char *id = infc_arena_printf(v->cx->arena, "%s-%zu", target->name, i);
        INFC_TRY(run_at(v, build, target, binary, id, &sizes[i], &r->runs[i]));
        r->ok = r->ok && r->runs[i].ok;
    }
    return INFC_OK;
}

static infc_status check_options(const infc_verification *v, const infc_build *build) {
    const infc_verify_options *o = v->options;
    if (!build->ir.llm || !(o->inputs || o->expect || o->against_onnx)) return INFC_OK;
    return infc_fail(
        v->cx, INFC_ERR_SPEC, (infc_loc){.file = build->spec.model},
        "--inputs, --expect and --against-onnx are for models whose inputs are tensors");
}

/* A row for `target`; false: it is a level that cannot run here, which the row says. */
static bool begin(infc_verification *v, const infc_target *target, infc_verified *r) {
    infc_words words = {.arena = v->cx->arena};
    const size_t mark = v->cx->n_diags;
    *r = (infc_verified){
        .target = target->name, .how = infc_runner_text(v->cx->arena, target), .own_ok = true, .ok = true};
    if (!target->level || infc_runner_words(v->cx, target, &words) == INFC_OK) return true;
    r->not_run = infc_diags_take(v->cx, mark);
    v->n++;
    return false;
}

static infc_status end(infc_verification *v, const infc_target *target, const char *binary, infc_verified *r) {
    INFC_TRY(infc_verify_own(v->cx, target, binary, r));
    r->ok = r->ok && r->own_ok;
    v->ok = v->ok && r->ok;
    v->n++;
    return INFC_OK;
}

typedef infc_status verify_way(infc_verification *v, void *user, const infc_target *target,
                               const char *binary, infc_verified *r);

/* The target, or each of its levels that runs here, and the program's own check of it. */
static infc_status verify_ways(infc_verification *v, const infc_target *target, const char *binary,
                               verify_way *way, void *user) {
    for (size_t i = 0; i < infc_target_run_count(target); i++) {
        const infc_target run = infc_target_run_at(v->cx->arena, target, i);
        infc_verified *r = &v->results[v->n];
        if (!begin(v, &run, r)) continue;
        INFC_TRY(way(v, user, &run, binary, r));
        INFC_TRY(end(v, &run, binary, r));
    }
    return INFC_OK;
}

static infc_status compiled_tensors(infc_verification *v, void *build, const infc_target *target,
                                    const char *binary, infc_verified *r) {
    return verify_target(v, build, target, binary, r);
}

infc_status infc_verify_model(infc_verification *v, const char *path) {
    infc_cx *cx = v->cx;
    infc_build build = {0};
    infc_compile_options compile = {.path = path,
                                    .out_dir = infc_path_join(cx->arena, v->temp, "out"),
                                    .targets = v->options->targets,
                                    .sets = v->options->sets,
                                    .for_checks = true,
                                    .keep_stages = v->options->against_onnx};
    INFC_TRY(infc_compile(cx, &compile, &build));
    INFC_TRY(check_options(v, &build));
    v->name = build.spec.name;
    v->results = INFC_NEW(cx->arena, infc_verified, build.n_targets * INFC_MOST_LEVELS);
    for (size_t i = 0; i < build.n_targets; i++) {
        const infc_built *built = &build.targets[i];
        const char *binary = infc_path_join(cx->arena, built->dir, built->linked.binary);
        INFC_TRY(infc_memory_check(cx, &build.spec, &built->plan));
        INFC_TRY(verify_ways(v, built->target, binary, compiled_tensors, &build));
    }
    return INFC_OK;
}

/* ---- a folder ------------------------------------------------------------------------------------------ */

/* The outputs alone, on inputs that are given. */
static infc_status outputs_of_folder(infc_verification *v, void *user, const infc_target *target,
                                     const char *binary, infc_verified *r) {
    infc_dumped dumped;
    (void)user;
    r->ok = true;
    if (!v->options->inputs) return INFC_OK;
    r->runs = INFC_NEW(v->cx->arena, infc_verified_run, 1);
    r->runs[0].worst = -1;
    INFC_TRY(infc_verify_run(v->cx, target, binary, v->options->inputs, v->temp, target->name, false, &dumped));
    INFC_TRY(expect(v, &dumped, r->runs));
    conclude(v, r->runs);
    r->n_runs = 1;
    r->ok = r->runs->ok;
    return INFC_OK;
}

/* The last pass before the target is known. */
static const char *last_model_pass(void) {
    const char *last = NULL;
    for (size_t i = 0; i < infc_pass_count(); i++)
        if (infc_pass_at(i)->phase == INFC_PASSES_MODEL) last = infc_pass_at(i)->name;
    return last;
}

/* Its tensors, against the model that --model names. */
static infc_status tensors_of_folder(infc_verification *v, void *user, const infc_target *target,
                                     const char *binary, infc_verified *r) {
    const infc_built_folder *built = user;
    infc_build build = {0};
    infc_bytes model;
    infc_compile_options compile = {
        .path = v->options->model, .sets = v->options->sets, .stop_after = last_model_pass(), .keep_stages = true};
    INFC_TRY(infc_compile(v->cx, &compile, &build));
    INFC_TRY(infc_file_map(v->cx, build.spec.model, &model));
    if (strcmp(infc_digest(v->cx, model), infc_manifest_text(&built->manifest, "model_sha256")) != 0)
        infc_warn(v->cx, (infc_loc){.file = build.spec.model},
                  "not the file that %s was compiled from", built->dir);
    return verify_target(v, &build, target, binary, r);
}

static infc_status no_binary(infc_verification *v, const char *dir) {
    const infc_verify_options *o = v->options;
    if (!o->inputs && !o->against_onnx) return INFC_OK;
    return infc_fail(v->cx, INFC_ERR_SPEC, (infc_loc){.file = dir},
                     "%s: there is no binary here to run, only a library; compile with "
                     "--set output.kinds=[binary]",
                     o->against_onnx ? "--against-onnx" : "--inputs");
}

infc_status infc_verify_folder(infc_verification *v, const char *dir) {
    infc_built_folder built;
    INFC_TRY(infc_built_folder_open(v->cx, dir, &built));
    infc_status intact = infc_verify_manifest(v->cx, &built, &v->n_files);
    if (!v->options->against_onnx)
        INFC_TRY(intact); /* else what was changed is compared all the same */
    const char *name = json_string_value(json_object_get(built.report, "model"));
    v->name = name ? name : dir;
    v->results = INFC_NEW(v->cx->arena, infc_verified, INFC_MOST_LEVELS);
    if (!built.binary) return no_binary(v, dir);
    INFC_TRY(verify_ways(v, &built.target, built.binary,
                         v->options->against_onnx ? tensors_of_folder : outputs_of_folder, &built));
    if (intact != INFC_OK) v->n_files = 0;
    return intact;
}
