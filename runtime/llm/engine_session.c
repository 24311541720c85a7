/* engine_session.c - what the cache holds of a conversation is saved to a file and restored. Only full blocks are: of
 * what is behind them, less than a block, an answer is computed again, with the same bits. */
#include "engine.h"
#include "infrt_hash.h"
#include "infrt_os.h"
#include "session_file.h"
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
    if (!llm->reuse)
        return infrt_fail(error, INFRT_ERR_USAGE,
                          "%s has kv.prefix_cache: false: it keeps nothing, so there is no session",
                          llm->model->name);
    if (!request->adapter) return INFRT_OK;
    const int32_t slot = infrt_adapters_find(&llm->adapters, request->adapter);
    if (slot == INFRT_NO_ADAPTER)
        return infrt_fail(error, INFRT_ERR_USAGE, "there is no adapter \"%.128s\"", request->adapter);
    out->adapter = llm->adapters.slots[slot].hash;
    *root = infrt_adapter_root(&llm->adapters, slot);
    return INFRT_OK;
}

static const char *block_of(const infrt_llm *llm, int32_t block) {
    return (const char *)llm->kv + (size_t)block * llm->info->block_bytes;
}

/* The file of the n_blocks blocks that hold what ids begin with; null: no memory. */
static char *image_make(const infrt_llm *llm, infrt_session_header *h, const int32_t *ids, const int32_t *blocks) {
    const size_t token_bytes = (size_t)h->n_blocks * h->positions * sizeof *ids;
    h->bytes = sizeof *h + token_bytes + (uint64_t)h->n_blocks * h->block_bytes;
    char *image = malloc((size_t)h->bytes), *at = image ? image + sizeof *h + token_bytes : NULL;
    if (!image) return NULL;
    if (token_bytes) memcpy(image + sizeof *h, ids, token_bytes);
    for (uint32_t i = 0; i < h->n_blocks; i++, at += h->block_bytes)
        memcpy(at, block_of(llm, blocks[i]), (size_t)h->block_bytes);
    memcpy(image, h, sizeof *h);
    const size_t hashed = offsetof(infrt_session_header, bytes);
    h->hash = infrt_hash64(image + hashed, (size_t)h->bytes - hashed);
    memcpy(image, h, sizeof *h);
    return image;
}

/* The blocks that hold what ids[n] begin with, in order; how many. */
static uint32_t blocks_find(const infrt_llm *llm, const infrt_session_header *h, uint64_t root,
                            const int32_t *ids, uint32_t n, int32_t *blocks) {
    uint32_t found = 0;
    for (; (found + 1) * h->positions <= n; found++) {
        const infrt_kv_key key = {root, h->salt, ids + (size_t)found * h->positions};
        blocks[found] = infrt_kv_pool_find(&llm->pool, &key);
        if (blocks[found] == INFRT_KV_NONE) break;
        root = llm->pool.name[blocks[found]];
    }
    return found;
}

infrt_status infrt_llm_session_save(infrt_llm *llm, const infrt_llm_request *request,
                                    const char *path, uint32_t *out_tokens, infrt_error *error) {
    infrt_session_header h;
    uint64_t root;
    uint32_t n = 0;
    *out_tokens = 0;
    infrt_status status = header_make(llm, request, &h, &root, error);
    if (status != INFRT_OK) return status;
    const size_t context = llm->facts.context; /* the blocks' places stand behind the ids */
    int32_t *ids = calloc(context + context / h.positions + 1, sizeof *ids);
    if (!ids) return infrt_fail(error, INFRT_ERR_NO_MEMORY, "no memory for a session");
    status = infrt_llm_encode(llm->model, request, ids, llm->facts.context, &n, error);
    if (n > llm->facts.context) n = llm->facts.context;
    if (status == INFRT_OK) h.n_blocks = blocks_find(llm, &h, root, ids, n, ids + context);
    char *image = status == INFRT_OK ? image_make(llm, &h, ids, ids + context) : NULL;
    if (status == INFRT_OK && !image)
        status = infrt_fail(error, INFRT_ERR_NO_MEMORY, "no memory for a session");
    if (status == INFRT_OK) status = infrt_os_file_replace(path, image, (size_t)h.bytes, error);
    if (status == INFRT_OK) *out_tokens = h.n_blocks * h.positions;
    free(image);
    free(ids);
    return status;
}

/* Puts blocks into the cache, as if a request had computed them; as many as there is room for. */
static uint32_t blocks_put(infrt_llm *llm, const infrt_session_header *h, const char *image,
                           int32_t *ids, int32_t *held, uint64_t root) {
    const size_t row = (size_t)h->positions * sizeof *ids;
    const char *tokens = image + sizeof *h, *blocks = tokens + h->n_blocks * row;
    uint32_t n = 0;
    for (; n < h->n_blocks; n++) {
        memcpy(ids, tokens + n * row, row);
        const infrt_kv_key key = {root, h->salt, ids};
        held[n] = infrt_kv_pool_find(&llm->pool, &key);
        if (held[n] != INFRT_KV_NONE) infrt_kv_pool_hold(&llm->pool, held[n]);
        else {
            held[n] = infrt_kv_pool_take(&llm->pool);
            if (held[n] == INFRT_KV_NONE) break;
            memcpy((char *)llm->kv + (size_t)held[n] * h->block_bytes,
                   blocks + (size_t)n * h->block_bytes, (size_t)h->block_bytes);
            infrt_kv_pool_give_name(&llm->pool, held[n], &key);
        }
        root = llm->pool.name[held[n]];
    }
    for (uint32_t i = n; i > 0; i--) infrt_kv_pool_drop(&llm->pool, held[i - 1]);
    return n;
}

static infrt_status image_read(const char *path, char **out, size_t *bytes, infrt_error *error) {
    infrt_os_file file;
    infrt_status status = infrt_os_file_open(path, &file, error);
    *out = NULL;
    if (status != INFRT_OK) return status;
    *bytes = (size_t)file.bytes;
    *out = malloc(*bytes + 1);
    if (!*out) status = infrt_fail(error, INFRT_ERR_NO_MEMORY, "no memory for %s", path);
    else if (!infrt_os_file_read(&file, 0, *out, *bytes))
        status = infrt_fail(error, INFRT_ERR_IO, "%s cannot be read to its end", path);
    infrt_os_file_close(&file);
    return status;
}

infrt_status infrt_llm_session_restore(infrt_llm *llm, const infrt_llm_request *request,
                                       const char *path, uint32_t *out_tokens, infrt_error *error) {
    infrt_session_header own, h;
    uint64_t root;
    char *image;
    size_t bytes = 0;
    *out_tokens = 0;
    infrt_status status = header_make(llm, request, &own, &root, error);
    if (status != INFRT_OK) return status;
    status = image_read(path, &image, &bytes, error);
    if (status == INFRT_OK)
        status = infrt_session_file_check(path, image, bytes, &own, llm->info->vocab, error);
    if (status == INFRT_OK) {
        memcpy(&h, image, sizeof h);
        int32_t *ids = calloc(h.positions, sizeof *ids), *held = calloc((size_t)h.n_blocks + 1, sizeof *held);
        if (!ids || !held)
            status = infrt_fail(error, INFRT_ERR_NO_MEMORY, "no memory for a session");
        else *out_tokens = blocks_put(llm, &h, image, ids, held, root) * h.positions;
        free(ids);
        free(held);
    }
    free(image);
    return status;
}
