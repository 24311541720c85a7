#include "../base/file.h"
#include "built_folder.h"
#include "command.h"
#include "json.h"
#include "verify.h"
#include <inttypes.h>
#include <math.h>

#define DEFAULT_TOLERANCE 1e-4

typedef struct verification {
    infc_cx *cx;
    const infc_verify_options *options;
    const char *temp;
    const char *name; /* of the model */
    size_t n_files;   /* of a folder: hashes that were checked */
    infc_verified *results;
    size_t n;
} verification;

static void conclude(infc_verified *r) {
    r->ok = !r->first.tensor && r->own_ok && !(r->worst > r->tolerance);
}

static infc_status expect(verification *v, const infc_npz *outputs, infc_verified *r) {
    const infc_verify_options *o = v->options;
    if (!o->expect) return INFC_OK;
    return infc_verify_expect(v->cx, outputs, o->expect, o->tolerance > 0 ? o->tolerance : DEFAULT_TOLERANCE, r);
}

static infc_status verify_target(verification *v, infc_build *build, const infc_built *built, infc_verified *r) {
    infc_cx *cx = v->cx;
    const infc_plan *plan = &built->plan;
    const char *binary = infc_path_join(cx->arena, built->dir, built->linked.binary);
    const char *input_path = infc_path_join(cx->arena, v->temp, "inputs.npz");
    infc_tensor *inputs = INFC_NEW(cx->arena, infc_tensor, (size_t)plan->n_inputs);
    const char **names = INFC_NEW(cx->arena, const char *, (size_t)plan->n_inputs);
    infc_npz outputs, dumps;
    *r = (infc_verified){.target = built->target->name, .worst = -1};
    r->how = infc_runner_text(cx->arena, built->target);
    INFC_TRY(infc_verify_inputs(cx, plan, v->options->inputs, inputs, names));
    INFC_TRY(infc_npz_write(cx, input_path, names, inputs, (size_t)plan->n_inputs));
    INFC_TRY(infc_verify_run(cx, built->target, binary, input_path, v->temp, &outputs, &dumps));
    infc_progress(cx, "running the reference");
    INFC_TRY(infc_verify_compare(cx, &build->ir, inputs, (size_t)plan->n_outputs, &dumps, &outputs, r));
    INFC_TRY(infc_verify_own(cx, built->target, binary, r));
    INFC_TRY(expect(v, &outputs, r));
    conclude(r);
    return INFC_OK;
}

/* A spec or a model: compiled into a temporary folder, then layer by layer against the reference. */
static infc_status verify_model(verification *v, const char *path) {
    infc_cx *cx = v->cx;
    infc_build build = {0};
    infc_compile_options compile = {.path = path,
                                    .out_dir = infc_path_join(cx->arena, v->temp, "out"),
                                    .targets = v->options->targets,
                                    .sets = v->options->sets,
                                    .for_checks = true};
    INFC_TRY(infc_compile(cx, &compile, &build));
    v->name = build.spec.name;
    v->results = INFC_NEW(cx->arena, infc_verified, build.n_targets);
    for (size_t i = 0; i < build.n_targets; i++) {
        INFC_TRY(verify_target(v, &build, &build.targets[i], &v->results[i]));
        v->n++;
    }
    return INFC_OK;
}

/* What an earlier compile left: the files are the ones it wrote, and the binary agrees with itself. */
static infc_status verify_folder(verification *v, const char *dir) {
    infc_cx *cx = v->cx;
    infc_built_folder built;
    infc_npz outputs;
    infc_verified *r = INFC_NEW(cx->arena, infc_verified, 1);
    INFC_TRY(infc_built_folder_open(cx, dir, &built));
    INFC_TRY(infc_verify_manifest(cx, &built, &v->n_files));
    const char *name = json_string_value(json_object_get(built.report, "model"));
    v->name = name ? name : dir;
    v->results = r;
    if (!built.binary && v->options->inputs) {
        return infc_fail(cx, INFC_ERR_SPEC, (infc_loc){.file = dir},
                         "--inputs: there is no binary here to run, only a library; compile with "
                         "--set output.kinds=[binary]");
    }
    if (!built.binary) return INFC_OK;
    *r = (infc_verified){.target = built.target.name, .worst = -1};
    r->how = infc_runner_text(cx->arena, &built.target);
    INFC_TRY(infc_verify_own(cx, &built.target, built.binary, r));
    if (v->options->inputs) {
        INFC_TRY(infc_verify_run(cx, &built.target, built.binary, v->options->inputs, v->temp, &outputs, NULL));
        INFC_TRY(expect(v, &outputs, r));
    }
    conclude(r);
    v->n = 1;
    return INFC_OK;
}

static void put_divergence(const infc_divergence *d, infc_buf *out) {
    infc_buf_printf(out, "  first difference: tensor \"%s\", %s\n", d->tensor, d->node ? d->node : "node unknown");
    infc_buf_printf(out, "    %" PRId64 " of %" PRId64 " elements differ; element %" PRId64,
                    d->n_different, d->n_elements, d->element);
    infc_buf_printf(out, ": reference %.9g, compiled %.9g", d->reference, d->compiled);
    if (d->ulp && d->ulp != UINT64_MAX) infc_buf_printf(out, ", %" PRIu64 " ulp apart", d->ulp);
    infc_buf_puts(out, "\n");
}

static void put_text(const verification *v, infc_buf *out) {
    if (v->n_files)
        infc_buf_printf(out, "%s: %zu files have the hashes of the manifest\n", v->name, v->n_files);
    for (size_t i = 0; i < v->n; i++) {
        const infc_verified *r = &v->results[i];
        infc_buf_printf(out, "%s for %s, run %s: %s\n", v->name, r->target, r->how, r->ok ? "holds" : "DOES NOT HOLD");
        if (r->n_tensors && !r->first.tensor) {
            infc_buf_printf(out, "  %zu tensors have the bits of the reference; %zu more are inside fused steps\n",
                            r->n_tensors, r->n_fused);
        }
        if (r->first.tensor) put_divergence(&r->first, out);
        if (r->worst_output) {
            infc_buf_printf(out, "  expected outputs: \"%s\" is off by %.3g of its largest value; allowed %.3g\n",
                            r->worst_output, r->worst, r->tolerance);
        }
        infc_buf_printf(out, "  the binary's own check %s:\n", r->own_ok ? "holds" : "DOES NOT HOLD");
        infc_buf_puts(out, r->own_text);
    }
}

static void put_divergence_json(infc_json *j, const infc_divergence *d) {
    if (!d->tensor) {
        infc_json_null(j, "first_difference");
        return;
    }
    infc_json_object(j, "first_difference");
    infc_json_text(j, "tensor", d->tensor);
    infc_json_text(j, "node", d->node);
    infc_json_u64(j, "elements", (uint64_t)d->n_elements);
    infc_json_u64(j, "different", (uint64_t)d->n_different);
    infc_json_u64(j, "element", (uint64_t)d->element);
    infc_json_f64(j, "reference", d->reference, 9);
    infc_json_f64(j, "compiled", d->compiled, 9);
    if (d->ulp == UINT64_MAX) infc_json_null(j, "ulp");
    else infc_json_u64(j, "ulp", d->ulp);
    infc_json_end(j);
}

static void put_json(const verification *v, bool ok, infc_buf *out) {
    infc_json j = {.out = out};
    infc_json_object(&j, NULL);
    infc_json_text(&j, "name", v->name);
    infc_json_bool(&j, "ok", ok);
    if (v->n_files) infc_json_u64(&j, "files_checked", v->n_files);
    infc_json_array(&j, "targets");
    for (size_t i = 0; i < v->n; i++) {
        const infc_verified *r = &v->results[i];
        infc_json_object(&j, NULL);
        infc_json_text(&j, "target", r->target);
        infc_json_text(&j, "run", r->how);
        infc_json_bool(&j, "ok", r->ok);
        infc_json_u64(&j, "tensors_compared", r->n_tensors);
        infc_json_u64(&j, "tensors_fused", r->n_fused);
        put_divergence_json(&j, &r->first);
        infc_json_bool(&j, "own_check", r->own_ok);
        if (r->worst_output) {
            infc_json_text(&j, "worst_output", r->worst_output);
            infc_json_f64(&j, "worst_error", r->worst, 9);
            infc_json_f64(&j, "tolerance", r->tolerance, 9);
        }
        infc_json_end(&j);
    }
    infc_json_end(&j);
    infc_json_end(&j);
}

/* Options that would say nothing. */
static infc_status check_options(infc_cx *cx, const infc_verify_options *o, const char *path) {
    if (o->against_onnx) {
        return infc_fail(cx, INFC_ERR_SPEC, INFC_NO_LOC,
                         "--against-onnx is not implemented yet; run the model elsewhere "
                         "and give its outputs with --inputs F.npz --expect F.npz");
    }
    if (o->expect && !o->inputs) {
        return infc_fail(cx, INFC_ERR_SPEC, INFC_NO_LOC,
                         "--expect needs --inputs: outputs are expected of some inputs");
    }
    if (o->tolerance > 0 && !o->expect) {
        return infc_fail(cx, INFC_ERR_SPEC,
                         INFC_NO_LOC, "--tolerance is for --expect F.npz; the reference is compared bit for bit");
    }
    if ((o->targets.n || o->sets.n) && infc_dir_exists(path)) {
        return infc_fail(cx, INFC_ERR_SPEC, INFC_NO_LOC,
                         "--%s is for a spec or a model; %s was compiled already: leave --%s out, "
                         "or verify its spec",
                         o->targets.n ? "target" : "set", path, o->targets.n ? "target" : "set");
    }
    return INFC_OK;
}

static infc_status run(infc_call_cx *call) {
    infc_cx *cx = call->cx;
    const char *path = call->args.operands[0];
    verification v = {.cx = cx, .options = call->args.values};
    bool ok = true;
    INFC_TRY(check_options(cx, v.options, path));
    INFC_TRY(infc_temp_folder(cx, &v.temp));
    INFC_TRY(infc_dir_exists(path) ? verify_folder(&v, path) : verify_model(&v, path));
    for (size_t i = 0; i < v.n; i++) ok &= v.results[i].ok;
    if (call->json) put_json(&v, ok, call->out);
    else put_text(&v, call->out);
    return ok ? INFC_OK : infc_fail(cx, INFC_ERR_CHECK, (infc_loc){.file = path}, "the check does not hold");
}

#define FIELD(name) offsetof(infc_verify_options, name)
static const infc_option options[] = {
    {"inputs", 0, INFC_OPTION_TEXT, "F.npz", FIELD(inputs), "run on these, by exact name; default: made-up values"},
    {"expect", 0, INFC_OPTION_TEXT, "F.npz", FIELD(expect), "compare the outputs with these, by exact name"},
    {"tolerance", 0, INFC_OPTION_NUMBER, "X", FIELD(tolerance),
     "for --expect: allowed error as a part of the output's largest\nvalue; default 1e-4"},
    {"target", 0, INFC_OPTION_LIST, "T", FIELD(targets), "for these targets instead of the spec's; repeat for more"},
    {"set", 0, INFC_OPTION_LIST, "KEY=VALUE", FIELD(sets), "a key of the spec, as in infc compile"},
    {"against-onnx", 0, INFC_OPTION_FLAG, NULL, FIELD(against_onnx), "compare with ONNX Runtime (not implemented yet)"},
    INFC_OPTION_JSON,
};

const infc_command infc_command_verify = {
    .name = "verify",
    .operands = "SPEC|MODEL|DIR",
    .min_operands = 1,
    .max_operands = 1,
    .about = "Compiles a SPEC or MODEL into a temporary folder, runs the binary (natively or under "
             "an emulator), and\n"
             "compares every tensor that the model names with the plain-C reference kernels, bit "
             "for bit and in order:\n"
             "the first one that differs is named with its node, both values and their distance. "
             "The reference runs\n"
             "on the program before it knew its target. Then the binary's own check runs with "
             "several workers.\n"
             "For the DIR of an earlier compile the hashes of its manifest are checked, and the "
             "binary's own check.",
    .options = options,
    .n_options = sizeof options / sizeof *options,
    .values_bytes = sizeof(infc_verify_options),
    .examples = "  infc verify spec.yaml\n"
                "  infc verify model.onnx --target x86-64-v3 --target aarch64\n"
                "  infc verify spec.yaml --inputs in.npz --expect out.npz --tolerance 1e-5\n"
                "  infc verify build\n",
    .exits = "it does not hold: the output says where",
    .run = run,
};
