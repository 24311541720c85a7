/* engine_memory.c - the memory of an engine: cache, inputs and outputs of a step, requests.
 *
 * Cache and requests are reserved, not touched: what is never used never becomes resident. */
#include "engine_memory.h"
#include "infrt_os.h"
#include <inttypes.h>
#include <string.h>

#define KV_DEFAULT_MOST ((uint64_t)2 << 30)
enum { TEXT_ROOM = 8192, COPY_AT_ONCE = 4 << 20 };

infrt_status infrt_kv_size(infrt_llm *llm, const infrt_llm_config *config, infrt_error *error) {
    const infc_llm_info *info = llm->info;
    uint32_t context = config->context ? config->context : info->context, per = info->block_positions;
    uint64_t whole = context / per + (context % per != 0), blocks = whole;
    const uint64_t most =
        llm->model->inputs[STEP_KV].dims[0] > 0 ? (uint64_t)llm->model->inputs[STEP_KV].dims[0] : 1;
    const uint64_t bytes = config->kv_bytes ? config->kv_bytes : info->kv_bytes;
    if (bytes) blocks = bytes / info->block_bytes;
    else if (blocks > KV_DEFAULT_MOST / info->block_bytes)
        blocks = KV_DEFAULT_MOST / info->block_bytes;
    if (blocks > most) blocks = most;
    if (blocks > INT32_MAX) blocks = INT32_MAX;
    if (blocks == 0)
        return infrt_fail(error, INFRT_ERR_USAGE,
                          "a cache of %" PRIu64
                          " bytes holds no block; one of %u positions takes %" PRIu64,
                          bytes, per, info->block_bytes);
    if (blocks < whole && config->context)
        return infrt_fail(error, INFRT_ERR_USAGE,
                          "a context of %u takes %" PRIu64 " bytes of cache; it has %" PRIu64,
                          context, whole * info->block_bytes, blocks * info->block_bytes);
    llm->facts.kv_blocks = (uint32_t)blocks;
    llm->facts.kv_bytes = blocks * info->block_bytes;
    llm->facts.context = blocks < whole ? (uint32_t)blocks * per : context;
    return INFRT_OK;
}

/* Hands out pieces of one block; with a null base it only counts. */
typedef struct carver {
    char *base;
    size_t used;
} carver;

static void *carve(carver *c, size_t n, size_t bytes) {
    void *piece = c->base ? c->base + c->used : NULL;
    c->used += (n * bytes + INFC_ALIGN - 1) / INFC_ALIGN * INFC_ALIGN;
    return piece;
}

static void step_carve(infrt_llm *llm, carver *c) {
    const infrt_llm_facts *f = &llm->facts;
    llm->tokens = carve(c, f->chunk, sizeof *llm->tokens);
    llm->positions = carve(c, f->chunk, sizeof *llm->positions);
    llm->slots = carve(c, f->chunk, sizeof *llm->slots);
    llm->adapter_slots = carve(c, f->chunk, sizeof *llm->adapter_slots);
    llm->last_rows = carve(c, f->sequences, sizeof *llm->last_rows);
    llm->wanting = carve(c, f->sequences, sizeof *llm->wanting);
    llm->sequence_taken = carve(c, f->sequences, sizeof *llm->sequence_taken);
    llm->tables = carve(c, (size_t)f->sequences * llm->info->max_blocks, sizeof *llm->tables);
    llm->logits = carve(c, (size_t)f->sequences * f->vocab, sizeof *llm->logits);
    carve(c, INFC_OVER_READ, 1);
}

static void requests_carve(infrt_llm *llm, carver *c) {
    const infrt_llm_facts *f = &llm->facts;
    llm->requests = carve(c, f->requests, sizeof *llm->requests);
    llm->scheduler.jobs = carve(c, f->requests, sizeof *llm->scheduler.jobs);
    llm->scheduler.running = carve(c, f->sequences, sizeof *llm->scheduler.running);
    llm->scheduler.tenants = carve(c, f->requests, sizeof *llm->scheduler.tenants);
    for (uint32_t i = 0; i < f->requests; i++) {
        infrt_request own, *r = c->base ? &llm->requests[i] : &own;
        r->tokens = carve(c, f->context, sizeof *r->tokens);
        r->events = carve(c, INFRT_LLM_EVENTS, sizeof *r->events);
        r->bias = carve(c, INFRT_LLM_BIASES, sizeof *r->bias);
        r->text = carve(c, llm->text_room, 1);
    }
}

/* Weights are read once from the file into pages of their own; the mapping is given up. */
static infrt_status weights_copy(infrt_weights *weights, infrt_error *error) {
    size_t bytes = (size_t)weights->bytes + INFC_OVER_READ;
    infrt_weights copy = *weights;
    if (!weights->data) return INFRT_OK;
    copy.map = infrt_os_block_reserve(bytes, true);
    if (!copy.map)
        return infrt_fail(error, INFRT_ERR_NO_MEMORY,
                          "no memory for a copy of %" PRIu64 " bytes of weights", weights->bytes);
    for (size_t at = 0, n; at < weights->bytes; at += n) {
        const char *from = (const char *)weights->data + at;
        n = weights->bytes - at < COPY_AT_ONCE ? (size_t)(weights->bytes - at) : COPY_AT_ONCE;
        memcpy((char *)copy.map + at, from, n);
        if (weights->map) infrt_os_forget(from, n); /* never all of both in memory */
    }
    copy.map_bytes = bytes;
    copy.data = copy.map;
    infrt_weights_close(weights);
    *weights = copy;
    return INFRT_OK;
}

static void *block_carve(infrt_llm *llm, void (*layout)(infrt_llm *, carver *), size_t *bytes) {
    carver count = {0}, real = {0};
    layout(llm, &count);
    *bytes = count.used;
    real.base = infrt_os_block_reserve(*bytes, false);
    if (real.base) layout(llm, &real);
    return real.base;
}

infrt_status infrt_engine_memory(infrt_llm *llm, const infrt_llm_config *config, infrt_error *error) {
    const infrt_llm_facts *f = &llm->facts;
    infrt_status status = config->huge_pages ? weights_copy(&llm->weights, error) : INFRT_OK;
    if (status != INFRT_OK) return status;
    llm->text_room =
        llm->info->tokenizer ? TEXT_ROOM + 2 * (uint32_t)infrt_detokenizer_room(llm->info->tokenizer) : 0;
    llm->kv_block_bytes = (size_t)f->kv_bytes;
    llm->kv = llm->kv_block =
        infrt_os_block_reserve(llm->kv_block_bytes, llm->kv_block_bytes >= INFRT_OS_HUGE_FROM);
    if (llm->kv && config->touch_cache) infrt_os_block_touch(llm->kv, llm->kv_block_bytes);
    llm->step_block = block_carve(llm, step_carve, &llm->step_block_bytes);
    llm->request_block = block_carve(llm, requests_carve, &llm->request_block_bytes);
    if (!llm->kv || !llm->step_block || !llm->request_block ||
        !infrt_kv_pool_init(&llm->pool, f->kv_blocks, f->block_positions) ||
        !infrt_adapters_init(&llm->adapters, llm->info->adapters) ||
        !infrt_sampler_init(&llm->sampler, f->vocab, f->n_ids))
        return infrt_fail(error, INFRT_ERR_NO_MEMORY,
                          "no memory for a cache of %" PRIu64 " bytes and %u requests of %u tokens",
                          f->kv_bytes, f->requests, f->context);
    return INFRT_OK;
}

void infrt_engine_memory_free(infrt_llm *llm) {
    infrt_sampler_deinit(&llm->sampler);
    infrt_adapters_deinit(&llm->adapters);
    infrt_kv_pool_deinit(&llm->pool);
    infrt_os_block_destroy(llm->request_block, llm->request_block_bytes);
    infrt_os_block_destroy(llm->step_block, llm->step_block_bytes);
    infrt_os_block_destroy(llm->kv_block, llm->kv_block_bytes);
}

static void worker_pin(void *self, uint32_t worker) {
    (void)self;
    infrt_os_pin(worker);
}

static bool all_locked(const infrt_llm *llm) {
    return infrt_os_lock(llm->weights.data, (size_t)llm->weights.bytes) &&
           infrt_os_lock(llm->kv_block, llm->kv_block_bytes) &&
           infrt_os_lock(llm->step_block, llm->step_block_bytes) &&
           infrt_os_lock(infrt_session_arena(llm->session), (size_t)infrt_session_arena_bytes(llm->session));
}

infrt_status infrt_engine_place(infrt_llm *llm, const infrt_llm_config *config, infrt_error *error) {
    if (config->pin_workers) infrt_session_each(llm->session, worker_pin, NULL);
    if (!config->lock_memory || all_locked(llm)) return INFRT_OK;
    return infrt_fail(error, INFRT_ERR_NO_MEMORY,
                      "cannot lock %" PRIu64 " bytes of weights and %" PRIu64
                      " of cache in memory; raise `ulimit -l`, or leave that out",
                      llm->weights.bytes, llm->facts.kv_bytes);
}
