/* kv_pool.h - who holds which block of the key-value cache. Only ids: the memory is the engine's.
 *
 * A block is free, or held by as many holders as its count says. Blocks that were freed last are handed out first,
 * so that memory that was never needed is never touched. */
#ifndef INFRT_KV_POOL_H
#define INFRT_KV_POOL_H
#include <stdbool.h>
#include <stdint.h>

enum { INFRT_KV_NONE = -1 };

typedef struct infrt_kv_pool {
    uint32_t n_blocks, n_free;
    uint32_t *holders; /* [n_blocks] */
    int32_t *free;     /* [n_blocks]: the first n_free are free, the last of them goes out next */
} infrt_kv_pool;

/* All free. False: no memory. */
bool infrt_kv_pool_init(infrt_kv_pool *pool, uint32_t n_blocks);
void infrt_kv_pool_deinit(infrt_kv_pool *pool); /* {0} is fine; leaves {0} */
/* A block with one holder, or INFRT_KV_NONE. */
int32_t infrt_kv_pool_take(infrt_kv_pool *pool);
/* One more, one less holder of a block that is held. Without holders it is free. */
void infrt_kv_pool_hold(infrt_kv_pool *pool, int32_t block);
void infrt_kv_pool_drop(infrt_kv_pool *pool, int32_t block);
/* Whether free blocks and held ones are all blocks, each once. */
bool infrt_kv_pool_sound(const infrt_kv_pool *pool);

#endif
