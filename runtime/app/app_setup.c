/* app_setup.c - everything a run needs, opened in order. */
#include "app.h"

infrt_status infrt_app_open(infrt_app *app, uint32_t workers) {
    const infc_model *model = app->model;
    infrt_status status = infrt_model_check(model, &app->error);
    if (status == INFRT_OK) status = infrt_app_sizes(app);
    if (status != INFRT_OK) return status;
    model = app->model;
    status = infrt_weights_open(model, app->options.weights, &app->weights, &app->error);
    if (status != INFRT_OK) return status;
    if (app->options.weights || app->weights.bytes <= INFRT_APP_HASH_BYTES)
        status = infrt_weights_check_hash(&app->weights, &app->error);
    if (status == INFRT_OK) status = infrt_buffers_create(model, &app->buffers, &app->error);
    if (status == INFRT_OK)
        status = infrt_session_create(model, &app->weights, workers, &app->session, &app->error);
    if (status == INFRT_OK) infrt_session_sizes(app->session, model->n_sizes ? app->sizes : NULL);
    return status;
}

uint32_t infrt_app_workers(const infrt_app *app) {
    return app->options.threads ? app->options.threads : infrt_workers_default(app->model);
}

infrt_status infrt_app_once(infrt_app *app, const infrt_watch *watch) {
    return infrt_session_run(app->session, (const void *const *)app->buffers.inputs,
                             app->buffers.outputs, watch, &app->error);
}
