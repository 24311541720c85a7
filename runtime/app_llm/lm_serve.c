/* lm_serve.c - the command `serve`: flags, then what the model was compiled with, then defaults. */
#include "lm_app.h"
#include "adapters.h"
#include "infrt_serve.h"

/* Linked where its libraries were found when the model was compiled. */
#pragma weak infrt_serve_llm

/* What the spec says, or enough for a whole context of each sequence; memory is taken only where it is used. */
static uint64_t cache_bytes(const infc_llm_info *info) {
    if (info->kv_bytes) return info->kv_bytes;
    const uint64_t most = UINT64_C(2) << 30, one = info->block_bytes * info->max_blocks;
    return one > most / info->max_sequences ? most : one * info->max_sequences;
}

/* What only language models have: flags, then what was compiled in. */
static void options_add(const infrt_lm_app *app, infrt_serve_options *out) {
    static const infc_serve_info nothing;
    const infc_serve_info *said = app->model->llm->serve ? app->model->llm->serve : &nothing;
    const infrt_lm_options *o = &app->options;
    out->adapter_root = o->adapter_root ? o->adapter_root : said->adapter_root;
    out->session_root = o->session_root ? o->session_root : said->session_root;
    out->key_sessions = o->key_sessions      ? o->key_sessions
                        : said->key_sessions ? said->key_sessions
                                             : UINT64_C(1) << 30;
    out->key_tokens = o->key_tokens ? o->key_tokens : said->key_tokens;
    out->key_adapters = o->key_adapters ? o->key_adapters : said->key_adapters;
}

/* What is only for adapters is refused where none can be. */
static infrt_status adapters_check(infrt_lm_app *app, const infrt_serve_options *options) {
    const char *flag = options->adapter_root   ? "--adapter-root: "
                       : options->key_adapters ? "--key-adapters: "
                                               : NULL;
    return flag ? infrt_adapters_needed(app->model, flag, &app->error) : INFRT_OK;
}

infrt_status infrt_lm_serve(infrt_lm_app *app) {
    const uint32_t sequences = app->model->llm->max_sequences;
    infrt_serve_options options;
    if (!infrt_serve_llm) return infrt_fail(&app->error, INFRT_ERR_USAGE, INFRT_NO_SERVER);
    app->shell.serves = true;
    infrt_status status =
        infrt_serve_options_make(&app->options.serve, app->model->llm->serve, &options, &app->error);
    options_add(app, &options);
    if (status == INFRT_OK) status = adapters_check(app, &options);
    if (status == INFRT_OK && options.queue > INFRT_LLM_REQUESTS - sequences)
        options.queue = INFRT_LLM_REQUESTS - sequences;
    if (status == INFRT_OK)
        status = infrt_lm_open(app, (infrt_llm_config){.requests = options.queue + sequences,
                                                       .kv_bytes = cache_bytes(app->model->llm),
                                                       .target_itl_ns = app->options.target_itl});
    if (status == INFRT_OK) status = infrt_serve_llm(app->llm, app->model, &options, &app->error);
    return status;
}
