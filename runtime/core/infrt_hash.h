/* infrt_hash.h - XXH64, as the weights header uses it. */
#ifndef INFRT_HASH_H
#define INFRT_HASH_H
#include <stddef.h>
#include <stdint.h>

uint64_t infrt_hash64(const void *data, size_t bytes); /* XXH64, seed 0 */

#endif
