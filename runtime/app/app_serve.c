/* app_serve.c - the command `serve`. */
#include "app.h"
#include "infrt_serve.h"

/* Linked where the spec asks for it. */
#pragma weak infrt_serve_tensors

enum { JSON_BYTES = 32 /* of one element, with room */ };

/* Enough for the inputs as JSON, unless something is said. */
static void body_fit(const infc_model *model, infrt_serve_options *options) {
    const uint64_t most = UINT64_C(1) << 30;
    uint64_t bytes = 1 << 16;
    for (uint32_t i = 0; i < model->n_inputs && bytes < most; i++) {
        const uint64_t n = model->inputs[i].bytes / infrt_dtype_bytes(model->inputs[i].dtype);
        bytes = n > most / JSON_BYTES ? most : bytes + n * JSON_BYTES;
    }
    if (bytes > options->max_body) options->max_body = bytes < most ? bytes : most;
}

static infrt_status options_make(infrt_app *app, infrt_serve_options *out) {
    const infc_serve_info *said = app->model->serve;
    const infrt_options *o = &app->options;
    const infrt_status status = infrt_serve_options_make(&o->serve, said, out, &app->error);
    if (!o->serve.max_body && !(said && said->max_body)) body_fit(app->model, out);
    out->batch_wait_ns = said ? said->batch_wait_ns : 0;
    if (o->batch_wait) out->batch_wait_ns = o->batch_wait;
    return status;
}

infrt_status infrt_app_serve(infrt_app *app) {
    const infc_model *model = app->model;
    infrt_serve_options options;
    if (!infrt_serve_tensors)
        return infrt_fail(
            &app->error, INFRT_ERR_USAGE, "%s",
            model->serve
                ? INFRT_NO_SERVER
                : "this program has no server: compile it with the key serve in its spec, or "
                  "with --set serve.port=8000");
    app->shell.serves = true;
    infrt_status status = options_make(app, &options);
    if (status == INFRT_OK) status = infrt_model_check(model, &app->error);
    if (status == INFRT_OK)
        status = infrt_weights_open(model, app->options.weights, &app->weights, &app->error);
    if (status == INFRT_OK) status = infrt_weights_check_hash(&app->weights, &app->error);
    if (status != INFRT_OK) return status;
    return infrt_serve_tensors(model, &app->weights, infrt_app_workers(app), &options, &app->error);
}
