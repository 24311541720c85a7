/* app_info.c - the command `info`: what this binary is. Works on any CPU. */
#include "app.h"
#include "app_identity.h"

static void tensors_text(const char *title, const infc_tensor_info *infos, uint32_t n) {
    char shape[INFRT_SHAPE_TEXT];
    for (uint32_t i = 0; i < n; i++)
        printf("%-14s %s %s\n", i ? "" : title, infos[i].name,
               infrt_shape_text(infos[i].dtype, infos[i].rank, infos[i].dims, shape));
}

static void info_text(const infrt_app *app) {
    const infc_model *m = app->model;
    infrt_identity_text(m);
    for (uint32_t i = 0; i < m->n_sizes; i++)
        printf("%-14s %s: %lld to %lld in steps of %lld; shapes below are the largest\n",
               i ? "" : "sizes", m->sizes[i].name, (long long)m->sizes[i].min,
               (long long)m->sizes[i].max, (long long)m->sizes[i].step);
    tensors_text("inputs", m->inputs, m->n_inputs);
    tensors_text("outputs", m->outputs, m->n_outputs);
    infrt_memory_text(m);
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

static void info_json(const infrt_app *app) {
    const infc_model *m = app->model;
    infrt_json json = {.out = stdout};
    infrt_json_open(&json, NULL, '{');
    infrt_identity_json(&json, m);
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
    infrt_memory_json(&json, m);
    steps_json(&json, m);
    tensors_json(&json, "tensors", m->tensors, m->n_tensors, true);
    infrt_json_close(&json, '}');
}

infrt_status infrt_app_info(infrt_app *app) {
    (app->options.parsed.json ? info_json : info_text)(app);
    return INFRT_OK;
}
