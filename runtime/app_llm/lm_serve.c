/* lm_serve.c - the command `serve`: flags, then what the model was compiled with, then defaults. */
#include "lm_app.h"
#include "infrt_serve.h"
#include <errno.h>
#include <stdlib.h>

/* Linked where its libraries were found when the model was compiled. */
#pragma weak infrt_serve_llm

static infrt_status port_read(infrt_lm_app *app, uint32_t *out) {
    const infrt_words *words = &app->options.port;
    char *end;
    if (!words->n) return INFRT_OK;
    errno = 0;
    const unsigned long port = strtoul(words->at[0], &end, 10);
    if (words->n > 1 || errno || *end || words->at[0][0] < '0' || words->at[0][0] > '9' || port > 65535)
        return infrt_fail(&app->error, INFRT_ERR_USAGE,
                          "--port %s: give one number from 0 to 65535", words->at[0]);
    *out = (uint32_t)port;
    return INFRT_OK;
}

/* Of what was given, what was compiled in, and the default the first that says something. */
#define FIRST(given, said, or_else) ((given) ? (given) : (said) ? (said) : (or_else))

static infrt_serve_options options_of(const infrt_lm_app *app) {
    static const infc_serve_info nothing;
    const infc_serve_info *said = app->model->llm->serve ? app->model->llm->serve : &nothing;
    const infrt_lm_options *o = &app->options;
    return (infrt_serve_options){
        .host = FIRST(o->host, said->host, "127.0.0.1"),
        .port = said->port ? said->port : 8000,
        .api_keys = FIRST(o->api_keys, said->api_keys, NULL),
        .queue = FIRST(o->queue, said->queue, 128),
        .connections = FIRST(o->connections, said->connections, 1024),
        .max_body = FIRST(o->max_body, said->max_body, 8 << 20),
        .adapter_root = FIRST(o->adapter_root, said->adapter_root, NULL),
        .requests_per_minute = FIRST(o->requests_per_minute, said->requests_per_minute, 0),
        .key_tokens = FIRST(o->key_tokens, said->key_tokens, 0),
        .key_adapters = FIRST(o->key_adapters, said->key_adapters, 0),
        .timeout_ns = FIRST(o->timeout, said->timeout_ns, 0),
        .watchdog_ns = FIRST(o->watchdog, said->watchdog_ns, 0),
    };
}

/* Enough for a whole context of each sequence; memory is taken only where it is used. */
static uint64_t cache_bytes(const infc_llm_info *info) {
    const uint64_t most = UINT64_C(2) << 30, one = info->block_bytes * info->max_blocks;
    return one > most / info->max_sequences ? most : one * info->max_sequences;
}

infrt_status infrt_lm_serve(infrt_lm_app *app) {
    infrt_serve_options options = options_of(app);
    const uint32_t sequences = app->model->llm->max_sequences;
    if (!infrt_serve_llm)
        return infrt_fail(&app->error, INFRT_ERR_USAGE,
                          "this program has no server: where it was compiled, libevent and libmd "
                          "were not found, or it was "
                          "compiled for another architecture; on a machine like this one: apt-get "
                          "install -y libevent-dev "
                          "libmd-dev, and compile it again");
    infrt_status status = port_read(app, &options.port);
    if (status == INFRT_OK && options.queue > INFRT_LLM_REQUESTS - sequences)
        options.queue = INFRT_LLM_REQUESTS - sequences;
    if (status == INFRT_OK)
        status = infrt_lm_open(app, (infrt_llm_config){.requests = options.queue + sequences,
                                                       .kv_bytes = cache_bytes(app->model->llm),
                                                       .target_itl_ns = app->options.target_itl});
    if (status == INFRT_OK)
        status = infrt_serve_llm(app->llm, app->model, &options, &app->signal, &app->error);
    return status;
}
