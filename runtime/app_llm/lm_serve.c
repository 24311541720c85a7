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

static infrt_serve_options options_of(const infrt_lm_app *app) {
    static const infc_serve_info nothing;
    const infc_serve_info *said = app->model->llm->serve ? app->model->llm->serve : &nothing;
    const infrt_lm_options *o = &app->options;
    infrt_serve_options out = {
        .host = "127.0.0.1", .port = 8000, .queue = 128, .connections = 1024, .max_body = 8 << 20};
    if (said->host || o->host) out.host = o->host ? o->host : said->host;
    if (said->port) out.port = said->port;
    out.api_keys = o->api_keys ? o->api_keys : said->api_keys;
    if (said->queue || o->queue) out.queue = o->queue ? o->queue : said->queue;
    if (said->connections || o->connections)
        out.connections = o->connections ? o->connections : said->connections;
    if (said->max_body || o->max_body) out.max_body = o->max_body ? o->max_body : said->max_body;
    out.adapter_root = o->adapter_root ? o->adapter_root : said->adapter_root;
    return out;
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
                                                       .kv_bytes = cache_bytes(app->model->llm)});
    if (status == INFRT_OK)
        status = infrt_serve_llm(app->llm, app->model, &options, &app->signal, &app->error);
    return status;
}
