/* kv_pool.c - blocks of the key-value cache: a stack of free ones and counts of holders. */
#include "kv_pool.h"
#include <assert.h>
#include <stdlib.h>

bool infrt_kv_pool_init(infrt_kv_pool *pool, uint32_t n_blocks) {
    *pool = (infrt_kv_pool){.n_blocks = n_blocks, .n_free = n_blocks};
    pool->holders = calloc(n_blocks, sizeof *pool->holders);
    pool->free = calloc(n_blocks, sizeof *pool->free);
    if (!pool->holders || !pool->free) {
        infrt_kv_pool_deinit(pool);
        return false;
    }
    for (uint32_t i = 0; i < n_blocks; i++) pool->free[i] = (int32_t)(n_blocks - 1 - i);
    return true;
}

void infrt_kv_pool_deinit(infrt_kv_pool *pool) {
    free(pool->holders);
    free(pool->free);
    *pool = (infrt_kv_pool){0};
}

int32_t infrt_kv_pool_take(infrt_kv_pool *pool) {
    if (pool->n_free == 0) return INFRT_KV_NONE;
    int32_t block = pool->free[--pool->n_free];
    pool->holders[block] = 1;
    return block;
}

void infrt_kv_pool_hold(infrt_kv_pool *pool, int32_t block) {
    assert(pool->holders[block] > 0);
    pool->holders[block]++;
}

void infrt_kv_pool_drop(infrt_kv_pool *pool, int32_t block) {
    assert(pool->holders[block] > 0);
    if (--pool->holders[block] == 0) pool->free[pool->n_free++] = block;
}

bool infrt_kv_pool_sound(const infrt_kv_pool *pool) {
    uint32_t n_held = 0;
    for (uint32_t i = 0; i < pool->n_blocks; i++) n_held += pool->holders[i] > 0;
    if (n_held + pool->n_free != pool->n_blocks) return false;
    for (uint32_t i = 0; i < pool->n_free; i++) {
        if (pool->free[i] < 0 || (uint32_t)pool->free[i] >= pool->n_blocks) return false;
        if (pool->holders[pool->free[i]]) return false;
        for (uint32_t k = 0; k < i; k++)
            if (pool->free[k] == pool->free[i]) return false;
    }
    return true;
}
