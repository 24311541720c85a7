/* lm_open.c - an engine as the command line asks for it. */
#include "lm_app.h"

infrt_status infrt_lm_open(infrt_lm_app *app, infrt_llm_config config) {
    const infrt_lm_options *o = &app->options;
    config.weights = o->weights;
    config.workers = o->threads;
    config.chunk = o->chunk;
    if (!config.context) config.context = o->context;
    if (o->kv_memory) config.kv_bytes = o->kv_memory;
    config.huge_pages = o->huge_pages;
    config.lock_memory = o->lock_memory;
    config.pin_workers = o->pin;
    infrt_status status = infrt_llm_open(app->model, &config, &app->llm, &app->error);
    if (status != INFRT_OK) return status;
    infrt_llm_describe(app->llm, &app->facts);
    if (!config.context && app->facts.context < app->model->llm->context)
        infrt_shell_note(&app->shell, "the context is %u tokens, not %u: more need a larger --kv-memory",
                         app->facts.context, app->model->llm->context);
    return infrt_lm_adapters_load(app);
}
