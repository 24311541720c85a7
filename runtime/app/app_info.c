/* app_info.c - the command `info`: what this binary is. Works on any CPU. */
#include "app.h"
#include "app_json.h"
#include <inttypes.h>

static uint32_t barrier_count(const infc_model *model) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < model->n_steps; i++) n += model->steps[i].barrier != 0;
    return n;
}

static void tensors_text(const char *title, const infc_tensor_info *infos, uint32_t n) {
    char shape[INFRT_SHAPE_TEXT];
    for (uint32_t i = 0; i < n; i++)
        printf("%-14s %s %s\n", i ? "" : title, infos[i].name,
               infrt_shape_text(infos[i].dtype, infos[i].rank, infos[i].dims, shape));
}

static void info_text(const infrt_app *app, const char *missing, const char *glibc) {
    const infc_model *m = app->model;
    printf("%-14s %s\n", "model", m->name);
    printf("%-14s %s (%s)%s%s\n", "target", m->target, m->isa, missing ? "; this CPU lacks " : "",
           missing ? missing : "");
    printf("%-14s infc %s, ABI %u\n", "compiled by", m->infc_version, m->abi);
    printf("%-14s %s, sha256 %s\n", "source", m->source, m->source_sha256);
    printf("%-14s %s\n", "license", m->license ? m->license : "not stated");
    for (uint32_t i = 0; i < m->n_sizes; i++)
        printf("%-14s %s: %lld to %lld in steps of %lld; shapes below are the largest\n",
               i ? "" : "sizes", m->sizes[i].name, (long long)m->sizes[i].min,
               (long long)m->sizes[i].max, (long long)m->sizes[i].step);
    tensors_text("inputs", m->inputs, m->n_inputs);
    tensors_text("outputs", m->outputs, m->n_outputs);
    printf("%-14s %" PRIu64 " bytes + %" PRIu64 " per worker, lower bound %" PRIu64 "\n", "arena",
           m->arena_bytes, m->arena_bytes_per_worker, m->arena_lower_bound);
    printf("%-14s %" PRIu64 " bytes, xxh64 %016" PRIx64 ", layout %016" PRIx64 "\n", "weights",
           m->weights_bytes, m->weights_hash, m->layout_hash);
    printf("%-14s %u, %u barriers, %" PRIu64 " flops\n", "steps", m->n_steps, barrier_count(m),
           infrt_model_flops(m));
    if (glibc) printf("%-14s glibc %s or newer\n", "needs", glibc);
    else printf("%-14s no glibc (linked statically)\n", "needs");
}

static void tensors_json(infrt_json *json, const char *key, const infc_tensor_info *infos, uint32_t n, bool steps) {
    infrt_json_open(json, key, '[');
    for (uint32_t i = 0; i < n; i++) {
        infrt_json_open(json, NULL, '{');
        infrt_json_string(json, "name", infos[i].name);
        infrt_json_string(json, "dtype", infrt_dtype_name(infos[i].dtype));
        infrt_json_open(json, "shape", '[');
        for (uint32_t d = 0; d < infos[i].rank; d++) infrt_json_int(json, NULL, infos[i].dims[d]);
        infrt_json_close(json, ']');
        infrt_json_uint(json, "bytes", infos[i].bytes);
        if (steps) infrt_json_uint(json, "step", infos[i].step);
        infrt_json_close(json, '}');
    }
    infrt_json_close(json, ']');
}

static void steps_json(infrt_json *json, const infc_model *m) {
    infrt_json_open(json, "steps", '[');
    for (uint32_t i = 0; i < m->n_steps; i++) {
        infrt_json_open(json, NULL, '{');
        infrt_json_string(json, "name", m->steps[i].name);
        infrt_json_string(json, "node", m->steps[i].node);
        infrt_json_string(json, "kernel", m->steps[i].kernel);
        infrt_json_uint(json, "flops", m->steps[i].flops);
        infrt_json_uint(json, "bytes", m->steps[i].bytes);
        infrt_json_bool(json, "barrier", m->steps[i].barrier != 0);
        infrt_json_uint(json, "units", m->steps[i].units);
        infrt_json_close(json, '}');
    }
    infrt_json_close(json, ']');
}

static void info_json(const infrt_app *app, const char *missing, const char *glibc) {
    const infc_model *m = app->model;
    infrt_json json = {.out = stdout};
    infrt_json_open(&json, NULL, '{');
    infrt_json_string(&json, "name", m->name);
    infrt_json_string(&json, "target", m->target);
    infrt_json_string(&json, "isa", m->isa);
    infrt_json_string(&json, "cpu_missing", missing);
    infrt_json_string(&json, "infc_version", m->infc_version);
    infrt_json_uint(&json, "abi", m->abi);
    infrt_json_string(&json, "source", m->source);
    infrt_json_string(&json, "source_sha256", m->source_sha256);
    infrt_json_string(&json, "license", m->license);
    infrt_json_string(&json, "minimum_glibc", glibc);
    infrt_json_open(&json, "sizes", '[');
    for (uint32_t i = 0; i < m->n_sizes; i++) {
        infrt_json_open(&json, NULL, '{');
        infrt_json_string(&json, "name", m->sizes[i].name);
        infrt_json_int(&json, "min", m->sizes[i].min);
        infrt_json_int(&json, "max", m->sizes[i].max);
        infrt_json_int(&json, "step", m->sizes[i].step);
        infrt_json_close(&json, '}');
    }
    infrt_json_close(&json, ']');
    tensors_json(&json, "inputs", m->inputs, m->n_inputs, false);
    tensors_json(&json, "outputs", m->outputs, m->n_outputs, false);
    infrt_json_uint(&json, "arena_bytes", m->arena_bytes);
    infrt_json_uint(&json, "arena_bytes_per_worker", m->arena_bytes_per_worker);
    infrt_json_uint(&json, "arena_lower_bound", m->arena_lower_bound);
    infrt_json_uint(&json, "weights_bytes", m->weights_bytes);
    infrt_json_hash(&json, "weights_hash", m->weights_hash);
    infrt_json_hash(&json, "layout_hash", m->layout_hash);
    infrt_json_uint(&json, "flops", infrt_model_flops(m));
    infrt_json_uint(&json, "barriers", barrier_count(m));
    steps_json(&json, m);
    tensors_json(&json, "tensors", m->tensors, m->n_tensors, true);
    infrt_json_close(&json, '}');
}

infrt_status infrt_app_info(infrt_app *app) {
    char version[32];
    const char *missing = app->model->cpu_missing ? app->model->cpu_missing() : NULL;
    const char *glibc = infrt_glibc_needed(version);
    (app->options.parsed.json ? info_json : info_text)(app, missing, glibc);
    return INFRT_OK;
}
