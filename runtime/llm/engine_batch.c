/* engine_batch.c - which rows the next step computes.
 *
 * Every running request that has a token to go on from gets one row, then prompts fill up what is left of the chunk,
 * the oldest first. Blocks are given out in the order of arrival; when none is left the request that came last gives
 * back its own and waits, to be computed again from its tokens. So the oldest always goes on, and since any one
 * request fits into the whole cache, all come to their end. */
#include "engine.h"

static uint32_t blocks_of(const infrt_llm *llm, uint32_t positions) {
    uint32_t per = llm->info->block_positions;
    return positions / per + (positions % per != 0);
}

static infrt_request *first_waiting(infrt_llm *llm) {
    infrt_request *first = NULL;
    for (uint32_t i = 0; i < llm->facts.requests; i++) {
        infrt_request *r = &llm->requests[i];
        if (r->state == REQUEST_WAITING && (!first || r->order < first->order)) first = r;
    }
    return first;
}

/* The running request that came last; the one that came next after another, or first. */
static infrt_request *last_running(infrt_llm *llm) {
    infrt_request *last = NULL;
    for (uint32_t i = 0; i < llm->facts.requests; i++) {
        infrt_request *r = &llm->requests[i];
        if (r->state == REQUEST_RUNNING && (!last || r->order > last->order)) last = r;
    }
    return last;
}
static infrt_request *next_running(infrt_llm *llm, const infrt_request *after) {
    infrt_request *next = NULL;
    for (uint32_t i = 0; i < llm->facts.requests; i++) {
        infrt_request *r = &llm->requests[i];
        if (r->state == REQUEST_RUNNING && (!after || r->order > after->order) &&
            (!next || r->order < next->order))
            next = r;
    }
    return next;
}

void infrt_request_stop_running(infrt_llm *llm, infrt_request *r, infrt_request_state state) {
    const int32_t *table = llm->tables + (size_t)r->sequence * llm->info->max_blocks;
    while (r->n_blocks > 0) infrt_kv_pool_drop(&llm->pool, table[--r->n_blocks]);
    llm->sequence_taken[r->sequence] = false;
    r->state = state;
    r->n_computed = r->n_rows = r->n_named = 0;
    r->name = infrt_request_root(llm, r);
}

/* Names count up from 1, so no block has one of these. */
uint64_t infrt_request_root(const infrt_llm *llm, const infrt_request *r) {
    if (r->adapter == INFRT_NO_ADAPTER) return 0;
    return llm->adapters.slots[r->adapter].content | UINT64_C(1) << 63;
}

void infrt_request_name_blocks(infrt_llm *llm, infrt_request *r) {
    const int32_t *table = llm->tables + (size_t)r->sequence * llm->info->max_blocks;
    uint32_t per = llm->info->block_positions;
    for (; llm->reuse && (r->n_named + 1) * per <= r->n_computed; r->n_named++) {
        const infrt_kv_key key = {r->name, r->salt, r->tokens + (size_t)r->n_named * per};
        r->name = infrt_kv_pool_give_name(&llm->pool, table[r->n_named], &key);
    }
}

/* Blocks that hold the beginning of its tokens; at least one token is left to be computed. */
static void blocks_reuse(infrt_llm *llm, infrt_request *r) {
    int32_t *table = llm->tables + (size_t)r->sequence * llm->info->max_blocks;
    uint32_t per = llm->info->block_positions;
    while (llm->reuse && (r->n_blocks + 1) * per < r->n) {
        const infrt_kv_key key = {r->name, r->salt, r->tokens + (size_t)r->n_blocks * per};
        int32_t block = infrt_kv_pool_find(&llm->pool, &key);
        if (block == INFRT_KV_NONE) break;
        infrt_kv_pool_hold(&llm->pool, block);
        r->name = llm->pool.name[block];
        table[r->n_blocks++] = block;
    }
    r->n_named = r->n_blocks;
    r->n_computed = r->n_blocks * per;
    if (r->n == r->n_prompt) r->n_reused = r->n_computed;
}

static uint32_t running_count(const infrt_llm *llm) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < llm->facts.requests; i++)
        n += llm->requests[i].state == REQUEST_RUNNING;
    return n;
}

/* Lets the next one run if there are blocks for all of its tokens, and one more for each that runs already. */
static bool admit_one(infrt_llm *llm) {
    infrt_request *r = first_waiting(llm);
    uint32_t n_running = running_count(llm), sequence = 0;
    if (!r || n_running == llm->facts.sequences) return false;
    if (n_running && blocks_of(llm, r->n) + n_running > llm->pool.n_free) return false;
    while (llm->sequence_taken[sequence]) sequence++;
    llm->sequence_taken[sequence] = true;
    r->sequence = sequence;
    r->state = REQUEST_RUNNING;
    blocks_reuse(llm, r);
    return true;
}

/* False: `r` itself had to give its blocks back. */
static bool blocks_get(infrt_llm *llm, infrt_request *r, uint32_t positions) {
    int32_t *table = llm->tables + (size_t)r->sequence * llm->info->max_blocks;
    uint32_t need = blocks_of(llm, positions);
    while (r->n_blocks < need) {
        int32_t block = infrt_kv_pool_take(&llm->pool);
        if (block != INFRT_KV_NONE) {
            table[r->n_blocks++] = block;
            continue;
        }
        infrt_request *victim = last_running(llm);
        infrt_request_stop_running(llm, victim, REQUEST_WAITING);
        llm->facts.times_preempted++;
        if (victim == r) return false;
    }
    return true;
}

static bool decodes(const infrt_request *r) { return r->n - r->n_computed == 1; }

/* How many rows each running request gets. */
static void rows_share(infrt_llm *llm) {
    uint32_t decoding = 0, most = llm->facts.chunk, prompts;
    for (infrt_request *r = NULL; (r = next_running(llm, r));) {
        r->n_rows = 0;
        if (decodes(r) && infrt_request_has_room(llm, r) && decoding < most) decoding++;
    }
    prompts = most - decoding;
    if (llm->target_itl_ns && decoding)
        prompts = infrt_step_time_rows(&llm->time, llm->target_itl_ns, prompts);
    for (infrt_request *r = NULL; (r = next_running(llm, r));) {
        uint32_t left = r->n - r->n_computed, rows = decodes(r)       ? decoding > 0
                                                     : left < prompts ? left
                                                                      : prompts;
        if (rows == 0 || !infrt_request_has_room(llm, r)) continue;
        if (!blocks_get(llm, r, r->n_computed + rows)) return; /* it was the last */
        r->n_rows = rows;
        if (decodes(r)) decoding--;
        else prompts -= rows;
    }
}

static void rows_fill(infrt_llm *llm, infrt_request *r, infrt_llm_step_info *info) {
    if (!decodes(r) || r->n == r->n_prompt) info->prompt_tokens += r->n_rows;
    for (uint32_t i = 0; i < r->n_rows; i++) {
        llm->tokens[llm->n_rows] = r->tokens[r->n_computed + i];
        llm->positions[llm->n_rows] = (int32_t)(r->n_computed + i);
        llm->slots[llm->n_rows] = (int32_t)r->sequence;
        llm->adapter_slots[llm->n_rows] = r->adapter;
        llm->n_rows++;
    }
    for (int i = 0; r->adapter != INFRT_NO_ADAPTER && i < STEP_GROUPS; i++)
        llm->adapts[i] |= llm->adapters.slots[r->adapter].uses >> (STEP_ADAPTS + i) & 1u;
    if (r->n_computed + r->n_rows < r->n) return;
    llm->last_rows[llm->n_wanting] = (int32_t)llm->n_rows - 1;
    llm->wanting[llm->n_wanting++] = r;
}

void infrt_batch_make(infrt_llm *llm, infrt_llm_step_info *info) {
    while (admit_one(llm)) {}
    rows_share(llm);
    llm->n_rows = llm->n_wanting = 0;
    for (int i = 0; i < STEP_GROUPS; i++) llm->adapts[i] = 0;
    for (infrt_request *r = NULL; (r = next_running(llm, r));)
        if (r->n_rows && decodes(r)) rows_fill(llm, r, info);
    for (infrt_request *r = NULL; (r = next_running(llm, r));)
        if (r->n_rows && !decodes(r)) rows_fill(llm, r, info);
    info->tokens = llm->n_rows;
}
