/* engine_batch.c - the rows of the next step as the scheduler gives them out, and the blocks that it has taken and
 * given back for them. Only full blocks are shared, and rows are computed beyond them: no block of two holders is ever
 * written, so none is copied. Of a common beginning at most one block is computed more than once. */
#include "engine.h"
#include "infrt_os.h"
#include <assert.h>
#include <string.h>

static infrt_request *request_of(infrt_job *job) {
    return (infrt_request *)job;
} /* its first member */

static int32_t *table_of(const infrt_llm *llm, const infrt_request *r) {
    return llm->tables + (size_t)r->sequence * llm->info->max_blocks;
}

static uint64_t root_of(const infrt_llm *llm, const infrt_request *r) {
    return infrt_adapter_root(&llm->adapters, r->adapter);
}

/* ---- what the scheduler asks for ---- */

static uint32_t blocks_free(void *self) { return ((infrt_llm *)self)->pool.n_free; }

/* The next full block of its tokens, after those that `name` stands for; none that would leave no token to compute. */
static int32_t block_find(const infrt_llm *llm, const infrt_request *r, uint64_t name, uint32_t n_blocks) {
    const uint32_t per = llm->info->block_positions;
    const infrt_kv_key key = {name, r->salt, r->tokens + (size_t)n_blocks * per};
    if (!llm->reuse || (n_blocks + 1) * per >= r->job.n) return INFRT_KV_NONE;
    return infrt_kv_pool_find(&llm->pool, &key);
}

static void begin(void *self, infrt_job *job) {
    infrt_llm *llm = self;
    infrt_request *r = request_of(job);
    r->sequence = 0;
    while (llm->sequence_taken[r->sequence]) r->sequence++;
    llm->sequence_taken[r->sequence] = true;
    r->name = root_of(llm, r);
    for (int32_t block; (block = block_find(llm, r, r->name, job->n_blocks)) != INFRT_KV_NONE;) {
        infrt_kv_pool_hold(&llm->pool, block);
        r->name = llm->pool.name[block];
        table_of(llm, r)[job->n_blocks++] = block;
    }
    r->n_named = job->n_blocks;
    job->n_computed = job->n_blocks * llm->info->block_positions;
    if (job->n > job->n_prompt) return; /* computed again, in the middle of its answer */
    r->n_reused = job->n_computed;
    r->begun_ns = infrt_os_now_ns();
}

static bool take_block(void *self, infrt_job *job) {
    infrt_llm *llm = self;
    const int32_t block = infrt_kv_pool_take(&llm->pool);
    if (block == INFRT_KV_NONE) return false;
    table_of(llm, request_of(job))[job->n_blocks++] = block;
    return true;
}

static void give_back(void *self, infrt_job *job) {
    infrt_llm *llm = self;
    infrt_request *r = request_of(job);
    const int32_t *table = table_of(llm, r);
    while (job->n_blocks > 0) infrt_kv_pool_drop(&llm->pool, table[--job->n_blocks]);
    llm->sequence_taken[r->sequence] = false;
    job->n_computed = r->n_named = 0;
}

static bool computes_for(void *self, const infrt_job *running, const infrt_job *waiting) {
    const infrt_llm *llm = self;
    const infrt_request *first = (const infrt_request *)running, *r = (const infrt_request *)waiting;
    const uint32_t per = llm->info->block_positions;
    uint32_t there = 0;
    uint64_t name = root_of(llm, r);
    if (!llm->reuse || name != root_of(llm, first) || r->salt != first->salt || running->n < per ||
        waiting->n <= per || memcmp(r->tokens, first->tokens, per * sizeof *r->tokens) != 0)
        return false;
    for (int32_t block; (block = block_find(llm, r, name, there)) != INFRT_KV_NONE; there++)
        name = llm->pool.name[block];
    const uint32_t end = (there + 1) * per;
    return end < r->job.n && end <= running->n && running->n_computed < end &&
           memcmp(r->tokens, first->tokens, end * sizeof *r->tokens) == 0;
}

void infrt_batch_owner(infrt_llm *llm) {
    llm->scheduler.owner =
        (infrt_job_owner){llm, blocks_free, begin, take_block, give_back, computes_for};
}

/* ---- the step ---- */

void infrt_request_name_blocks(infrt_llm *llm, infrt_request *r) {
    const uint32_t per = llm->info->block_positions;
    for (; llm->reuse && (r->n_named + 1) * per <= r->job.n_computed; r->n_named++) {
        const infrt_kv_key key = {r->name, r->salt, r->tokens + (size_t)r->n_named * per};
        r->name = infrt_kv_pool_give_name(&llm->pool, table_of(llm, r)[r->n_named], &key);
    }
}

static void rows_fill(infrt_llm *llm, infrt_request *r, infrt_llm_step_info *info) {
    const infrt_job *job = &r->job;
    if (!infrt_job_answers(job) || job->n == job->n_prompt) info->prompt_tokens += job->n_rows;
    for (uint32_t i = 0; i < job->n_rows; i++) {
        llm->tokens[llm->n_rows] = r->tokens[job->n_computed + i];
        llm->positions[llm->n_rows] = (int32_t)(job->n_computed + i);
        llm->slots[llm->n_rows] = (int32_t)r->sequence;
        llm->adapter_slots[llm->n_rows] = r->adapter;
        llm->n_rows++;
    }
    for (int i = 0; r->adapter != INFRT_NO_ADAPTER && i < STEP_GROUPS; i++)
        llm->adapts[i] |= llm->adapters.slots[r->adapter].uses >> (STEP_ADAPTS + i) & 1u;
    if (job->n_computed + job->n_rows < job->n) return;
    llm->last_rows[llm->n_wanting] = (int32_t)llm->n_rows - 1;
    llm->wanting[llm->n_wanting++] = r;
}

#ifndef NDEBUG
static bool pages_are_right(const infrt_llm *llm) {
    uint32_t *holders = llm->pool.counted;
    memset(holders, 0, llm->pool.n_blocks * sizeof *holders);
    for (uint32_t i = 0; i < llm->scheduler.n_running; i++) {
        const infrt_request *r = request_of(llm->scheduler.running[i]);
        for (uint32_t b = 0; b < r->job.n_blocks; b++) holders[table_of(llm, r)[b]]++;
    }
    return infrt_kv_pool_check(&llm->pool);
}
#endif

void infrt_batch_make(infrt_llm *llm, infrt_llm_step_info *info) {
    infrt_scheduler *s = &llm->scheduler;
    infrt_scheduler_plan(s, info->begin_ns);
    assert(pages_are_right(llm));
    llm->n_rows = llm->n_wanting = 0;
    memset(llm->adapts, 0, sizeof llm->adapts);
    for (uint32_t prompts = 0; prompts < 2; prompts++)
        for (uint32_t i = 0; i < s->n_running; i++)
            if (s->running[i]->n_rows && infrt_job_answers(s->running[i]) != (prompts == 1))
                rows_fill(llm, request_of(s->running[i]), info);
    info->tokens = llm->n_rows;
}
