/* engine_score.c - logits of many positions of one text, for measuring how likely it is. The text has the engine for
 * itself: a sequence of its own, and blocks that nothing else will find. */
#include "engine.h"
#include <string.h>

static infrt_status score_check(const infrt_llm *llm, const int32_t *tokens, uint32_t n, infrt_error *error) {
    for (uint32_t i = 0; i < llm->facts.requests; i++)
        if (infrt_request_lives(&llm->requests[i]))
            return infrt_fail(error, INFRT_ERR_USAGE, "a text is scored while no request runs: end them first");
    if (n > llm->facts.context)
        return infrt_fail(error, INFRT_ERR_USAGE, "%u tokens are more than the context of %u", n,
                          llm->facts.context);
    for (uint32_t i = 0; i < n; i++)
        if (tokens[i] < 0 || (uint32_t)tokens[i] >= llm->info->vocab)
            return infrt_fail(error, INFRT_ERR_USAGE, "token %u is %d: ids are 0 to %u", i,
                              tokens[i], llm->info->vocab - 1);
    return INFRT_OK;
}

/* Rows [at, at + rows) of the text; `wanted`: with the logits of each. */
static void score_fill(infrt_llm *llm, const int32_t *tokens, uint32_t at, uint32_t rows, bool wanted) {
    llm->n_rows = rows;
    llm->n_wanting = wanted ? rows : 0;
    memset(llm->adapts, 0, sizeof llm->adapts);
    for (uint32_t i = 0; i < rows; i++) {
        llm->tokens[i] = tokens[at + i];
        llm->positions[i] = (int32_t)(at + i);
        llm->slots[i] = 0;
        llm->adapter_slots[i] = INFRT_NO_ADAPTER;
        if (wanted) llm->last_rows[i] = (int32_t)i;
    }
}

static uint32_t least(uint32_t a, uint32_t b) { return a < b ? a : b; }

infrt_status infrt_llm_score(infrt_llm *llm, const int32_t *tokens, uint32_t n, uint32_t first,
                             infrt_llm_scored seen, void *user, infrt_error *error) {
    const uint32_t per = llm->info->block_positions, together = least(llm->facts.chunk, llm->facts.sequences);
    uint32_t n_blocks = 0;
    infrt_status status = score_check(llm, tokens, n, error);
    if (status != INFRT_OK) return status;
    for (; n_blocks * per < n; n_blocks++) /* there are enough for a context, and no one holds any */
        llm->tables[n_blocks] = infrt_kv_pool_take(&llm->pool);
    for (uint32_t at = 0, rows; at < n && status == INFRT_OK; at += rows) {
        const bool wanted = at >= first;
        rows = wanted ? least(together, n - at) : least(llm->facts.chunk, least(first, n) - at);
        score_fill(llm, tokens, at, rows, wanted);
        status = infrt_batch_run(llm, error);
        for (uint32_t i = 0; wanted && n && i < rows && status == INFRT_OK; i++)
            if (!seen(user, at + i, llm->logits + (size_t)i * llm->info->vocab)) n = 0; /* enough */
    }
    while (n_blocks > 0) infrt_kv_pool_drop(&llm->pool, llm->tables[--n_blocks]);
    llm->n_rows = llm->n_wanting = 0;
    return status;
}
