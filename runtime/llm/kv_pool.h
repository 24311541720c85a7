/* kv_pool.h - who holds which block of the key-value cache, and which full blocks can be used again. Only ids: the
 * memory is the engine's.
 *
 * A block is free, or held by as many holders as its count says. A full block may have a name: its tokens, the name of
 * the block before it in its sequence, so that a name stands for all tokens up to its end, and a salt, which keeps
 * those apart that must not find each other's. A named block is found as long as it has not been taken for something
 * else, free or not; of the free ones those without a name are taken first, then the one that has been free for
 * longest. */
#ifndef INFRT_KV_POOL_H
#define INFRT_KV_POOL_H
#include <stdbool.h>
#include <stdint.h>

enum { INFRT_KV_NONE = -1 };

typedef struct infrt_kv_pool {
    uint32_t n_blocks, positions; /* positions: of a block */
    uint32_t n_free, n_blank;     /* free ones; of these, without a name */
    uint32_t *holders;            /* [n_blocks] */
    int32_t *blank;               /* [n_blocks]: a stack */
    /* Free blocks with a name, a ring through entry n_blocks: after it comes what has been free for longest. */
    int32_t *after, *before;        /* [n_blocks + 1] */
    uint64_t *name, *parent, *salt; /* [n_blocks]; name 0: none */
    int32_t *tokens;                /* [n_blocks][positions], of named ones */
    int32_t *bucket;                /* [n_buckets]: named blocks by hash, chained through `next` */
    int32_t *next;
    uint32_t n_buckets; /* a power of two */
    uint64_t n_named;
    uint32_t *counted; /* [n_blocks]: for infrt_kv_pool_check */
} infrt_kv_pool;

/* All free. False: no memory. */
bool infrt_kv_pool_init(infrt_kv_pool *pool, uint32_t n_blocks, uint32_t positions);
void infrt_kv_pool_deinit(infrt_kv_pool *pool); /* {0} is fine; leaves {0} */
/* A block with one holder and without a name, or INFRT_KV_NONE. */
int32_t infrt_kv_pool_take(infrt_kv_pool *pool);
/* One more holder of a block that is held or named, one less of one that is held. */
void infrt_kv_pool_hold(infrt_kv_pool *pool, int32_t block);
void infrt_kv_pool_drop(infrt_kv_pool *pool, int32_t block);

/* What a name stands for: these tokens after those that `parent` names (0: none). */
typedef struct infrt_kv_key {
    uint64_t parent, salt;
    const int32_t *tokens; /* [positions] */
} infrt_kv_key;
/* The block of that name, or INFRT_KV_NONE. */
int32_t infrt_kv_pool_find(const infrt_kv_pool *pool, const infrt_kv_key *key);
/* Names a full block; returns the name. It gets none of its own when another block has it already. */
uint64_t infrt_kv_pool_give_name(infrt_kv_pool *pool, int32_t block, const infrt_kv_key *key);
/* Whether everything above holds, given in `counted` how many holders each block has; for assertions and tests. */
bool infrt_kv_pool_check(const infrt_kv_pool *pool);
/* No block has a name any more. */
void infrt_kv_pool_forget(infrt_kv_pool *pool);

#endif
