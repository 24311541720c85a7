/* infrt_hash.c - XXH64 from the header-only xxHash. */
#include "infrt_hash.h"
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wsign-conversion"
#pragma GCC diagnostic ignored "-Wundef"
#pragma GCC diagnostic ignored "-Wshadow"
#define XXH_INLINE_ALL
#define XXH_VECTOR 0 /* XXH_SCALAR: XXH3 is not used, its intrinsics would only slow the compile */
#include "xxhash.h"
#pragma GCC diagnostic pop

uint64_t infrt_hash64(const void *data, size_t bytes) { return XXH64(data, bytes, 0); }
