/* engine_session.c - what the cache holds of a conversation is saved to a file and restored. Only full blocks are: of
 * what is behind them, less than a block, an answer is computed again, with the same bits. */
#include "engine_session.h"
#include "engine.h"
#include "infrt_hash.h"
#include "infrt_os.h"
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static infrt_status no_memory(infrt_error *error) {
    return infrt_fail(error, INFRT_ERR_NO_MEMORY, "no memory for a session");
}

/* ---- whose it is -------------------------------------------------------------------------------- */

/* Not what the model is called: what its cache has in it. */
static uint64_t model_hash(const infc_model *m) {
    char text[1024];
    const int n = snprintf(text, sizeof text, "%s %s %s %016" PRIx64 " %s %u", m->infc_version,
                           m->source_sha256, m->isa, m->layout_hash, m->llm->kv_format, m->llm->vocab);
    return infrt_hash64(text, n < (int)sizeof text ? (size_t)n : sizeof text - 1);
}

/* What a session of this engine, for requests like this one, says of itself; *root: the parent of its first block. */
static infrt_status header_make(const infrt_llm *llm, const infrt_llm_request *request,
                                infrt_session_header *out, uint64_t *root, infrt_error *error) {
    *root = 0;
    *out = (infrt_session_header){.model = model_hash(llm->model),
                                  .weights = llm->weights.hash,
                                  .salt = request->salt,
                                  .block_bytes = llm->info->block_bytes,
                                  .positions = llm->info->block_positions};
    memcpy(out->magic, INFRT_SESSION_MAGIC, sizeof out->magic);
    snprintf(out->model_name, sizeof out->model_name, "%s", llm->model->name);
    if (!llm->reuse)
        return infrt_fail(error, INFRT_ERR_USAGE,
                          "%s has kv.prefix_cache: false: it keeps nothing, so there is no session",
                          llm->model->name);
    if (!request->adapter) return INFRT_OK;
    const int32_t slot = infrt_adapters_find(&llm->adapters, request->adapter);
    if (slot == INFRT_NO_ADAPTER)
        return infrt_fail(error, INFRT_ERR_USAGE, "there is no adapter \"%.128s\"", request->adapter);
    out->adapter = llm->adapters.slots[slot].hash;
    snprintf(out->adapter_name, sizeof out->adapter_name, "%s", request->adapter);
    *root = infrt_adapter_root(&llm->adapters, slot);
    return INFRT_OK;
}

static infrt_status texts_take(const infrt_llm_request *request, infrt_llm_session *s, infrt_error *error) {
    size_t bytes = 0;
    for (uint32_t i = 0; i < request->n_messages; i++)
        bytes += strlen(request->messages[i].role) + strlen(request->messages[i].content) + 2;
    char *at = s->texts = malloc(bytes + 1);
    if (!at) return no_memory(error);
    for (uint32_t i = 0; i < request->n_messages; i++) {
        const char *const both[] = {request->messages[i].role, request->messages[i].content};
        for (int k = 0; k < 2; k++) {
            const size_t n = strlen(both[k]) + 1;
            memcpy(at, both[k], n);
            at += n;
        }
    }
    s->header.text_bytes = bytes;
    s->header.n_messages = request->n_messages;
    return INFRT_OK;
}

static infrt_status prompt_take(const infrt_llm *llm, const infrt_llm_request *request,
                                infrt_llm_session *s, infrt_error *error) {
    if (!request->messages && !request->text && !request->tokens) return INFRT_OK;
    s->ids = calloc(llm->facts.context, sizeof *s->ids);
    if (!s->ids) return no_memory(error);
    infrt_llm_request prompt = *request;
    if (request->tokens) prompt.messages = NULL;
    const infrt_status status =
        infrt_llm_encode(llm->model, &prompt, s->ids, llm->facts.context, &s->n_ids, error);
    if (s->n_ids > llm->facts.context) s->n_ids = llm->facts.context;
    return status == INFRT_OK && request->messages ? texts_take(request, s, error) : status;
}

infrt_status infrt_llm_session_create(const infrt_llm *llm, const infrt_llm_request *request,
                                      infrt_llm_session **out, infrt_error *error) {
    infrt_llm_session *s = *out = calloc(1, sizeof *s);
    if (!s) return no_memory(error);
    infrt_status status = header_make(llm, request, &s->header, &s->root, error);
    s->vocab = llm->info->vocab;
    s->at = s->root;
    if (status == INFRT_OK) status = prompt_take(llm, request, s, error);
    if (status != INFRT_OK) infrt_llm_session_destroy(out);
    return status;
}

void infrt_llm_session_destroy(infrt_llm_session **session) {
    infrt_llm_session *s = *session;
    if (!s) return;
    free(s->ids);
    free(s->texts);
    free(s->image);
    free(s->held);
    free(s);
    *session = NULL;
}

static size_t row_bytes(const infrt_llm_session *s) { return s->header.positions * sizeof *s->ids; }

/* At least one block at a time. */
static uint32_t blocks_of(const infrt_llm_session *s, uint64_t bytes) {
    const uint64_t n = bytes / s->header.block_bytes;
    return n < 1 ? 1 : n > UINT32_MAX ? UINT32_MAX : (uint32_t)n;
}

/* ---- to a file ---------------------------------------------------------------------------------- */

/* The block that holds number n of the prompt's, after one of the name `parent`; or INFRT_KV_NONE. */
static int32_t block_find(const infrt_llm *llm, const infrt_llm_session *s, uint64_t parent, uint32_t n) {
    const uint32_t per = s->header.positions;
    if (n >= s->n_ids / per) return INFRT_KV_NONE;
    const infrt_kv_key key = {parent, s->header.salt, s->ids + (size_t)n * per};
    return infrt_kv_pool_find(&llm->pool, &key);
}

static infrt_status image_make(const infrt_llm *llm, infrt_llm_session *s, infrt_error *error) {
    uint64_t parent = s->root;
    for (int32_t block; (block = block_find(llm, s, parent, s->room)) != INFRT_KV_NONE; s->room++)
        parent = llm->pool.name[block];
    const size_t each = row_bytes(s) + (size_t)s->header.block_bytes;
    s->image = malloc(sizeof s->header + s->room * each + (size_t)s->header.text_bytes);
    return s->image ? INFRT_OK : no_memory(error);
}

infrt_status infrt_llm_session_fetch(const infrt_llm *llm, infrt_llm_session *s,
                                     uint64_t most_bytes, bool *more, infrt_error *error) {
    const size_t block_bytes = (size_t)s->header.block_bytes;
    *more = false;
    if (!s->image && image_make(llm, s, error) != INFRT_OK) return INFRT_ERR_NO_MEMORY;
    char *blocks = s->image + sizeof s->header + s->room * row_bytes(s);
    for (uint32_t n = blocks_of(s, most_bytes); n > 0 && s->n < s->room; n--, s->n++) {
        const int32_t block = block_find(llm, s, s->at, s->n);
        if (block == INFRT_KV_NONE) return INFRT_OK;
        memcpy(blocks + s->n * block_bytes, (const char *)llm->kv + (size_t)block * block_bytes, block_bytes);
        s->at = llm->pool.name[block];
    }
    *more = s->n < s->room;
    return INFRT_OK;
}

uint64_t infrt_llm_session_bytes(const infrt_llm_session *s) {
    return sizeof s->header + s->n * (row_bytes(s) + s->header.block_bytes) + s->header.text_bytes;
}

infrt_status infrt_llm_session_write(infrt_llm_session *s, const char *path, infrt_error *error) {
    infrt_session_header *h = &s->header;
    const size_t tokens = s->n * row_bytes(s), blocks = s->n * (size_t)h->block_bytes;
    char *at = s->image + sizeof *h;
    h->n_blocks = s->n;
    h->bytes = infrt_llm_session_bytes(s);
    memmove(at + tokens, at + s->room * row_bytes(s), blocks); /* fewer than there was room for */
    if (tokens) memcpy(at, s->ids, tokens);
    if (h->text_bytes) memcpy(at + tokens + blocks, s->texts, (size_t)h->text_bytes);
    memcpy(s->image, h, sizeof *h);
    const size_t hashed = offsetof(infrt_session_header, bytes);
    h->hash = infrt_hash64(s->image + hashed, (size_t)h->bytes - hashed);
    memcpy(s->image, h, sizeof *h);
    return infrt_os_file_replace(path, s->image, (size_t)h->bytes, error);
}

infrt_status infrt_llm_session_save(infrt_llm *llm, const infrt_llm_request *request,
                                    const char *path, uint32_t *out_tokens, infrt_error *error) {
    infrt_llm_session *s;
    bool more;
    *out_tokens = 0;
    infrt_status status = infrt_llm_session_create(llm, request, &s, error);
    if (status == INFRT_OK) status = infrt_llm_session_fetch(llm, s, UINT64_MAX, &more, error);
    if (status == INFRT_OK) status = infrt_llm_session_write(s, path, error);
    if (status == INFRT_OK) *out_tokens = infrt_llm_session_tokens(s);
    infrt_llm_session_destroy(&s);
    return status;
}

/* ---- from a file -------------------------------------------------------------------------------- */

static infrt_status image_read(const char *path, const char *called, char **out, size_t *bytes,
                               infrt_error *error) {
    infrt_os_file file;
    infrt_status status = infrt_os_file_open(path, &file, error);
    *out = NULL;
    if (status != INFRT_OK) return status;
    *bytes = (size_t)file.bytes;
    *out = malloc(*bytes + 1);
    if (!*out) status = infrt_fail(error, INFRT_ERR_NO_MEMORY, "no memory for %s", called);
    else if (!infrt_os_file_read(&file, 0, *out, *bytes))
        status = infrt_fail(error, INFRT_ERR_IO, "%s cannot be read to its end", called);
    infrt_os_file_close(&file);
    return status;
}

infrt_status infrt_llm_session_read(infrt_llm_session *s, const char *path, const char *called,
                                    infrt_error *error) {
    size_t bytes = 0;
    infrt_status status = image_read(path, called, &s->image, &bytes, error);
    if (status == INFRT_OK)
        status = infrt_session_file_check(called, s->image, bytes, &s->header, s->vocab, error);
    if (status != INFRT_OK) return status;
    memcpy(&s->header, s->image, sizeof s->header);
    s->room = s->header.n_blocks;
    free(s->ids);
    s->ids = calloc(s->header.positions, sizeof *s->ids);
    s->held = calloc((size_t)s->room + 1, sizeof *s->held);
    return s->ids && s->held ? INFRT_OK : no_memory(error);
}

bool infrt_llm_session_put(infrt_llm *llm, infrt_llm_session *s, uint64_t most_bytes) {
    const infrt_session_header *h = &s->header;
    const char *tokens = s->image + sizeof *h, *blocks = tokens + s->room * row_bytes(s);
    const uint32_t before = s->n;
    uint32_t left = blocks_of(s, most_bytes), n = 0;
    uint64_t parent = s->root;
    for (; n < s->room; n++) { /* from the first on: requests may have driven some out since */
        memcpy(s->ids, tokens + n * row_bytes(s), row_bytes(s));
        const infrt_kv_key key = {parent, h->salt, s->ids};
        int32_t block = infrt_kv_pool_find(&llm->pool, &key);
        if (block != INFRT_KV_NONE) infrt_kv_pool_hold(&llm->pool, block);
        else {
            block = left ? infrt_kv_pool_take(&llm->pool) : INFRT_KV_NONE;
            if (block == INFRT_KV_NONE) break;
            memcpy((char *)llm->kv + (size_t)block * h->block_bytes,
                   blocks + (size_t)n * h->block_bytes, (size_t)h->block_bytes);
            infrt_kv_pool_give_name(&llm->pool, block, &key);
            left--;
        }
        s->held[n] = block;
        parent = llm->pool.name[block];
    }
    for (uint32_t i = n; i > 0; i--) infrt_kv_pool_drop(&llm->pool, s->held[i - 1]);
    s->n = n;
    return !left && n < s->room && n > before;
}

bool infrt_llm_session_message(const infrt_llm_session *s, const char **at, infrt_llm_message *out) {
    const char *end = s->image + s->header.bytes;
    if (!*at) *at = end - s->header.text_bytes;
    if (*at == end) return false;
    out->role = *at;
    out->content = out->role + strlen(out->role) + 1;
    *at = out->content + strlen(out->content) + 1;
    return true;
}

infrt_status infrt_llm_session_restore(infrt_llm *llm, const infrt_llm_request *request,
                                       const char *path, uint32_t *out_tokens, infrt_error *error) {
    const infrt_llm_request like = {.adapter = request->adapter, .salt = request->salt};
    infrt_llm_session *s;
    *out_tokens = 0;
    infrt_status status = infrt_llm_session_create(llm, &like, &s, error);
    if (status == INFRT_OK) status = infrt_llm_session_read(s, path, path, error);
    if (status == INFRT_OK) {
        infrt_llm_session_put(llm, s, UINT64_MAX);
        *out_tokens = infrt_llm_session_tokens(s);
    }
    infrt_llm_session_destroy(&s);
    return status;
}
