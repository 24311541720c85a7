#include "../base/file.h"
#include "../emit/emit.h"
#include "compile.h"
#include "stayed_float.h"
#include <inttypes.h>

static void put_hash(infc_json *j, const char *key, uint64_t hash) {
    infc_json_text(j, key, infc_arena_printf(j->out->arena, "%016" PRIx64, hash));
}

static void put_artefact(infc_json *j, const char *kind, const char *name, uint64_t bytes) {
    if (!name) return;
    infc_json_object(j, NULL);
    infc_json_text(j, "kind", kind);
    infc_json_text(j, "file", name);
    infc_json_u64(j, "bytes", bytes);
    infc_json_end(j);
}

static void put_artefacts(infc_json *j, const infc_built *built) {
    const infc_linked *l = &built->linked;
    infc_json_array(j, "artefacts");
    put_artefact(j, "binary", l->binary, l->binary_bytes);
    put_artefact(j, "static-library", l->library, l->library_bytes);
    put_artefact(j, "weights", l->weights, built->emitted.weights_bytes);
    infc_json_end(j);
}

static void put_sizes(infc_json *j, const infc_built *built) {
    const infc_object_sizes *m = &built->linked.model;
    infc_json_object(j, "code"); /* of the model, weights and runtime left out */
    infc_json_u64(j, "text", m->text);
    infc_json_u64(j, "rodata", m->rodata);
    infc_json_u64(j, "text_and_rodata", m->text + m->rodata);
    if (built->linked.stack) infc_json_u64(j, "stack", built->linked.stack);
    infc_json_u64(j, "data", m->data);
    infc_json_u64(j, "bss", m->bss);
    infc_json_end(j);
    infc_json_object(j, "memory");
    infc_json_u64(j, "activations", built->plan.arena_bytes);
    infc_json_u64(j, "lower_bound", built->plan.arena_lower_bound);
    if (infc_sizes_count(built->plan.sizes) > 0)
        infc_json_text(j, "planned_for", "the largest sizes");
    infc_json_end(j);
    infc_json_array(j, "run_time_sizes");
    for (int i = 0; i < infc_sizes_count(built->plan.sizes); i++) {
        const infc_size *size = infc_sizes_at(built->plan.sizes, i);
        infc_json_object(j, NULL);
        infc_json_text(j, "name", size->name);
        infc_json_u64(j, "min", (uint64_t)size->min);
        infc_json_u64(j, "max", (uint64_t)size->max);
        infc_json_u64(j, "multiple", (uint64_t)size->step);
        infc_json_end(j);
    }
    infc_json_end(j);
}

static void put_ports(infc_json *j, const char *key, const infc_plan *plan, const int *buffers, int n) {
    infc_json_array(j, key);
    for (int i = 0; i < n; i++) {
        const infc_plan_buffer *b = &plan->buffers[buffers[i]];
        infc_json_object(j, NULL);
        infc_json_text(j, "name", b->tensor ? b->tensor : b->name);
        infc_json_text(j, "type", infc_dtype_name(b->type.dtype));
        int64_t most[INFC_MAX_RANK];
        for (int k = 0; k < b->type.rank; k++) most[k] = infc_dim_most(b->type.dims[k]);
        infc_json_dims(j, "shape", most, b->type.rank);
        infc_json_end(j);
    }
    infc_json_end(j);
}

static void put_steps(infc_json *j, const infc_plan *plan) {
    uint64_t flops = 0;
    infc_json_array(j, "steps");
    for (int i = 0; i < plan->n_steps; i++) {
        const infc_plan_step *s = &plan->steps[i];
        infc_json_object(j, NULL);
        infc_json_text(j, "function", s->name);
        infc_json_text(j, "node", s->node);
        infc_json_text(j, "what", s->what);
        infc_json_text(j, "kernel", s->kernel ? s->kernel->name : NULL); /* null: a loop nest */
        infc_json_u64(j, "flops", s->flops);
        infc_json_u64(j, "bytes", s->bytes);
        infc_json_u64(j, "units", (uint64_t)infc_dim_most(s->units));
        infc_json_bool(j, "barrier", s->barrier);
        infc_json_end(j);
        flops += s->flops;
    }
    infc_json_end(j);
    infc_json_u64(j, "flops", flops);
}

static void put_weights(infc_json *j, const infc_build *build, const infc_built *built) {
    const infc_emitted *e = &built->emitted;
    infc_json_object(j, "weights");
    infc_json_text(j, "kept", build->spec.weights_file ? "file" : "embedded");
    infc_json_u64(j, "bytes", e->weights_bytes);
    put_hash(j, "xxh64", e->weights_hash);
    put_hash(j, "layout", e->layout_hash);
    if (build->ir.llm && build->ir.llm->calibration)
        infc_json_text(j, "calibrated_on", build->ir.llm->calibration);
    infc_json_end(j);
    infc_json_object(j, "self_check"); /* hash 0: none */
    infc_json_u64(j, "seed", built->plan.check_seed);
    put_hash(j, "hash", built->plan.check_hash);
    infc_json_end(j);
}

static void put_target(infc_json *j, const infc_built *built) {
    const infc_target *t = built->target;
    infc_json_object(j, "target");
    infc_json_text(j, "name", t->name);
    infc_json_text(j, "arch", t->platform->arch);
    infc_json_text(j, "kernels", infc_isa_token(t->isa));
    infc_json_text(j, "cflags", t->cflags);
    infc_json_text(j, "compiler", built->linked.compiler);
    infc_json_end(j);
}

static infc_status write_manifest(infc_cx *cx, const infc_build *build, const infc_built *built) {
    const infc_linked *l = &built->linked;
    const infc_emit_options options = {.spec = &build->spec, .dir = built->staged};
    const char *const made[] = {l->binary, l->library, l->weights, "report.json",
                                l->named == l->binary ? NULL : l->named};
    const char *more[5];
    size_t n = 0;
    for (size_t i = 0; i < 5; i++) {
        if (made[i]) more[n++] = made[i];
    }
    return infc_emit_manifest(cx, &built->plan, &options, &built->emitted, more, n);
}

infc_status infc_report_write(infc_cx *cx, const infc_build *build, const infc_built *built) {
    infc_buf text = {.arena = cx->arena};
    infc_json j = {.out = &text};
    const infc_plan *plan = &built->plan;
    infc_json_object(&j, NULL);
    infc_json_text(&j, "infc", INFC_VERSION);
    infc_json_text(&j, "model", plan->name);
    infc_json_text(&j, "source", plan->source);
    infc_json_text(&j, "source_sha256", plan->source_sha256);
    infc_json_text(&j, "spec_sha256", infc_emit_spec_sha256(cx, &build->spec));
    infc_json_text(&j, "content_hash", built->emitted.content_hash);
    put_target(&j, built);
    put_artefacts(&j, built);
    put_sizes(&j, built);
    put_weights(&j, build, built);
    put_ports(&j, "inputs", plan, plan->inputs, plan->n_inputs);
    put_ports(&j, "outputs", plan, plan->outputs, plan->n_outputs);
    put_steps(&j, plan);
    infc_stayed_float_json(&j, plan->stayed_float);
    infc_json_end(&j);
    const char *path = infc_path_join(cx->arena, built->staged, "report.json");
    INFC_TRY(infc_file_write(cx, path, infc_buf_bytes(&text), 0644));
    return write_manifest(cx, build, built);
}
