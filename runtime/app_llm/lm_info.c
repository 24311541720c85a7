/* lm_info.c - the command `info`: what this binary is. Works on any CPU. */
#include "app_identity.h"
#include "chat.h"
#include "lm_app.h"
#include "tokenizer.h"
#include <inttypes.h>

static uint64_t kv_bytes_per_token(const infc_llm_info *l) {
    return l->block_bytes / l->block_positions;
}

static const char *chat_text(const infc_llm_info *l) {
    return !l->chat ? "none" : l->chat->why_not ? l->chat->why_not : "yes";
}

static void info_text(const infrt_lm_app *app) {
    const infc_llm_info *l = app->model->llm;
    infrt_identity_text(app->model);
    printf("%-14s %" PRIu64 " (%.1f M), weights %s\n", "parameters", l->parameters,
           (double)l->parameters / 1e6, l->format);
    printf("%-14s %u ids", "vocabulary", l->vocab);
    if (l->tokenizer) printf(", of which the tokenizer has %u", l->tokenizer->n_tokens);
    printf("%s\n", l->tokenizer ? "" : "; no tokenizer: give --tokens");
    printf("%-14s", "special ids");
    if (l->bos >= 0) printf(" begin %d;", l->bos);
    printf(" end");
    for (int32_t i = 0; i < l->n_eos; i++) printf(" %d", l->eos[i]);
    printf("%s\n", l->n_eos ? "" : " none");
    printf("%-14s %s\n", "chat template", chat_text(l));
    printf("%-14s %u tokens, %u sequences at a time, at most %u rows a step\n", "context",
           l->context, l->max_sequences, l->chunk);
    printf("%-14s %s, %" PRIu64 " bytes per token, %.1f MiB for the whole context\n", "cache",
           l->kv_format, kv_bytes_per_token(l), (double)l->block_bytes * l->max_blocks / 1048576);
    if (l->adapters)
        printf("%-14s %u at a time, of rank %u at most; %.1f MiB each at most\n", "adapters",
               l->adapters->max_loaded, l->adapters->max_rank, (double)l->adapters->slot_bytes / 1048576);
    infrt_memory_text(app->model);
    printf("%-14s %u, one per usable CPU; --threads changes it\n", "workers", infrt_workers_available());
}

static void info_json(const infrt_lm_app *app) {
    const infc_llm_info *l = app->model->llm;
    infrt_json json = {.out = stdout};
    infrt_json_open(&json, NULL, '{');
    infrt_identity_json(&json, app->model);
    infrt_json_uint(&json, "parameters", l->parameters);
    infrt_json_string(&json, "format", l->format);
    infrt_json_string(&json, "kv_format", l->kv_format);
    infrt_json_uint(&json, "vocabulary", l->vocab);
    infrt_json_uint(&json, "tokenizer_ids", l->tokenizer ? l->tokenizer->n_tokens : 0);
    infrt_json_int(&json, "bos", l->bos);
    infrt_json_open(&json, "eos", '[');
    for (int32_t i = 0; i < l->n_eos; i++) infrt_json_int(&json, NULL, l->eos[i]);
    infrt_json_close(&json, ']');
    infrt_json_bool(&json, "chat", l->chat && !l->chat->why_not);
    infrt_json_uint(&json, "context", l->context);
    infrt_json_uint(&json, "sequences", l->max_sequences);
    infrt_json_uint(&json, "chunk", l->chunk);
    infrt_json_uint(&json, "kv_bytes_per_token", kv_bytes_per_token(l));
    infrt_json_uint(&json, "kv_block_bytes", l->block_bytes);
    infrt_json_uint(&json, "kv_block_positions", l->block_positions);
    infrt_json_uint(&json, "adapters", l->adapters ? l->adapters->max_loaded : 0);
    infrt_json_uint(&json, "adapter_rank", l->adapters ? l->adapters->max_rank : 0);
    infrt_memory_json(&json, app->model);
    infrt_json_uint(&json, "workers", infrt_workers_available());
    infrt_json_close(&json, '}');
}

infrt_status infrt_lm_info(infrt_lm_app *app) {
    (app->options.parsed.json ? info_json : info_text)(app);
    return INFRT_OK;
}
