/* hash.h - content keys (XXH3) and published digests (SHA-256), as lower-case hex on an arena. */
#ifndef INFC_HASH_H
#define INFC_HASH_H
#include "buf.h"

uint64_t infc_hash64(infc_bytes bytes);                           /* XXH3, 64 bit */
const char *infc_hash_hex(infc_arena *arena, infc_bytes bytes);   /* XXH3, 128 bit: 32 digits */
const char *infc_sha256_hex(infc_arena *arena, infc_bytes bytes); /* 64 digits */

#endif
