/* kv_pool.c - blocks of the key-value cache: a stack of blank ones, a ring of those that may be used again, a hash
 * table of the named ones. */
#include "kv_pool.h"
#include "sampler_math.h"
#include <assert.h>
#include <stdlib.h>
#include <string.h>

static void ring_reset(infrt_kv_pool *p) {
    p->after[p->n_blocks] = p->before[p->n_blocks] = (int32_t)p->n_blocks;
}

bool infrt_kv_pool_init(infrt_kv_pool *p, uint32_t n_blocks, uint32_t positions) {
    *p = (infrt_kv_pool){
        .n_blocks = n_blocks, .positions = positions, .n_free = n_blocks, .n_blank = n_blocks, .n_buckets = 16};
    while (p->n_buckets < n_blocks && p->n_buckets < 1u << 30) p->n_buckets *= 2;
    p->holders = calloc(n_blocks, sizeof *p->holders);
    p->blank = calloc(n_blocks, sizeof *p->blank);
    p->after = calloc((size_t)n_blocks + 1, sizeof *p->after);
    p->before = calloc((size_t)n_blocks + 1, sizeof *p->before);
    p->name = calloc(n_blocks, sizeof *p->name);
    p->parent = calloc(n_blocks, sizeof *p->parent);
    p->salt = calloc(n_blocks, sizeof *p->salt);
    p->tokens = calloc((size_t)n_blocks * positions, sizeof *p->tokens);
    p->bucket = calloc(p->n_buckets, sizeof *p->bucket);
    p->next = calloc(n_blocks, sizeof *p->next);
    p->counted = calloc(n_blocks, sizeof *p->counted);
    if (!p->holders || !p->blank || !p->after || !p->before || !p->name || !p->parent || !p->salt ||
        !p->tokens || !p->bucket || !p->next || !p->counted) {
        infrt_kv_pool_deinit(p);
        return false;
    }
    ring_reset(p);
    for (uint32_t i = 0; i < n_blocks; i++) p->blank[i] = (int32_t)(n_blocks - 1 - i);
    for (uint32_t i = 0; i < p->n_buckets; i++) p->bucket[i] = INFRT_KV_NONE;
    return true;
}

void infrt_kv_pool_deinit(infrt_kv_pool *p) {
    free(p->holders);
    free(p->blank);
    free(p->after);
    free(p->before);
    free(p->name);
    free(p->parent);
    free(p->salt);
    free(p->tokens);
    free(p->bucket);
    free(p->next);
    free(p->counted);
    *p = (infrt_kv_pool){0};
}

static void ring_add(infrt_kv_pool *p, int32_t block) { /* as the one that is free for the shortest time */
    int32_t head = (int32_t)p->n_blocks, last = p->before[head];
    p->after[last] = p->before[head] = block;
    p->before[block] = last;
    p->after[block] = head;
}

static void ring_remove(infrt_kv_pool *p, int32_t block) {
    p->after[p->before[block]] = p->after[block];
    p->before[p->after[block]] = p->before[block];
}

static infrt_kv_key key_of(const infrt_kv_pool *p, int32_t block) {
    return (infrt_kv_key){p->parent[block], p->salt[block], p->tokens + (size_t)block * p->positions};
}

static bool has_key(const infrt_kv_pool *p, int32_t block, const infrt_kv_key *key) {
    const infrt_kv_key own = key_of(p, block);
    return own.parent == key->parent && own.salt == key->salt &&
           memcmp(own.tokens, key->tokens, p->positions * sizeof *own.tokens) == 0;
}

static int32_t *bucket_of(const infrt_kv_pool *p, const infrt_kv_key *key) {
    uint64_t hash = infrt_mix64(infrt_mix64(key->parent + 1) ^ key->salt);
    for (uint32_t i = 0; i < p->positions; i++) hash = infrt_mix64(hash ^ (uint32_t)key->tokens[i]);
    return &p->bucket[hash & (p->n_buckets - 1)];
}

static void name_remove(infrt_kv_pool *p, int32_t block) {
    const infrt_kv_key key = key_of(p, block);
    int32_t *at = bucket_of(p, &key);
    while (*at != block) at = &p->next[*at];
    *at = p->next[block];
    p->name[block] = 0;
}

int32_t infrt_kv_pool_take(infrt_kv_pool *p) {
    int32_t block;
    if (p->n_free == 0) return INFRT_KV_NONE;
    if (p->n_blank > 0) {
        block = p->blank[--p->n_blank];
    } else {
        block = p->after[p->n_blocks];
        ring_remove(p, block);
        name_remove(p, block);
    }
    p->n_free--;
    p->holders[block] = 1;
    return block;
}

void infrt_kv_pool_hold(infrt_kv_pool *p, int32_t block) {
    assert(p->holders[block] > 0 || p->name[block]);
    if (p->holders[block]++ > 0) return;
    ring_remove(p, block);
    p->n_free--;
}

void infrt_kv_pool_drop(infrt_kv_pool *p, int32_t block) {
    assert(p->holders[block] > 0);
    if (--p->holders[block] > 0) return;
    p->n_free++;
    if (p->name[block]) ring_add(p, block);
    else p->blank[p->n_blank++] = block;
}

int32_t infrt_kv_pool_find(const infrt_kv_pool *p, const infrt_kv_key *key) {
    int32_t block = *bucket_of(p, key);
    while (block != INFRT_KV_NONE && !has_key(p, block, key)) block = p->next[block];
    return block;
}

uint64_t infrt_kv_pool_give_name(infrt_kv_pool *p, int32_t block, const infrt_kv_key *key) {
    int32_t other = infrt_kv_pool_find(p, key), *bucket = bucket_of(p, key);
    if (other != INFRT_KV_NONE) return p->name[other];
    assert(p->holders[block] > 0 && !p->name[block]);
    p->name[block] = ++p->n_named;
    p->parent[block] = key->parent;
    p->salt[block] = key->salt;
    memcpy(p->tokens + (size_t)block * p->positions, key->tokens, p->positions * sizeof *key->tokens);
    p->next[block] = *bucket;
    *bucket = block;
    return p->name[block];
}

/* Each free block is in the stack or in the ring, whichever its name says, and none twice. */
static bool free_ones_are_right(const infrt_kv_pool *p) {
    const int32_t head = (int32_t)p->n_blocks;
    uint32_t seen = p->n_blank;
    for (uint32_t i = 0; i < p->n_blank; i++) {
        const int32_t block = p->blank[i];
        if (p->holders[block] || p->name[block] || p->counted[block]++) return false;
    }
    for (int32_t block = p->after[head]; block != head; block = p->after[block], seen++)
        if (p->holders[block] || !p->name[block] || p->before[p->after[block]] != block || p->counted[block]++)
            return false;
    return seen == p->n_free;
}

bool infrt_kv_pool_check(const infrt_kv_pool *p) {
    for (uint32_t i = 0; i < p->n_blocks; i++) {
        const infrt_kv_key key = key_of(p, (int32_t)i);
        if (p->holders[i] != p->counted[i]) return false;
        if (p->name[i] && infrt_kv_pool_find(p, &key) != (int32_t)i) return false;
    }
    if (!free_ones_are_right(p)) return false;
    for (uint32_t i = 0; i < p->n_blocks; i++)
        if (p->counted[i] == 0) return false; /* neither held nor free */
    return true;
}

void infrt_kv_pool_forget(infrt_kv_pool *p) {
    for (int32_t block = p->after[p->n_blocks]; block != (int32_t)p->n_blocks; block = p->after[block])
        p->blank[p->n_blank++] = block;
    ring_reset(p);
    for (uint32_t i = 0; i < p->n_blocks; i++) p->name[i] = 0;
    for (uint32_t i = 0; i < p->n_buckets; i++) p->bucket[i] = INFRT_KV_NONE;
}
