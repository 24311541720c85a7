/* hash.h - content keys (XXH3), published digests (SHA-256) as lower-case hex on an arena, and the hash of
 * weights (XXH64). */
#ifndef INFC_HASH_H
#define INFC_HASH_H
#include "buf.h"

uint64_t infc_hash64(infc_bytes bytes);                         /* XXH3, 64 bit */
const char *infc_hash_hex(infc_arena *arena, infc_bytes bytes); /* XXH3, 128 bit: 32 digits */
/* XXH3 under a secret of random bytes, and SHA-256. Both tell `seen`, unless it is null, of each part that they have no
 * more need of. */
enum { INFC_KEYED_SECRET_BYTES = 192 };
void infc_keyed_hash(infc_bytes bytes, infc_bytes secret, void (*seen)(infc_bytes part), uint8_t digest[16]);
void infc_sha256(infc_bytes bytes, void (*seen)(infc_bytes part), uint8_t digest[32]);
/* Both of messages that `next` gives part by part: multiples of 64 bytes, then a shorter or empty part. Two at a time
 * take little longer than one. */
typedef struct infc_message {
    infc_bytes (*next)(void *user);
    void *user;
    uint8_t keyed[16], sha256[32]; /* the results */
} infc_message;
enum { INFC_MESSAGES = 2 };
void infc_hash_messages(infc_message *messages, size_t n, infc_bytes secret);
const char *infc_to_hex(infc_arena *arena, const uint8_t *digest, size_t n);
const char *infc_sha256_hex(infc_arena *arena, infc_bytes bytes); /* 64 digits */
/* 40 digits; what ONNX has, safe against accidents only. */
const char *infc_sha1_hex(infc_arena *arena, infc_bytes bytes);

/* XXH64 with seed 0 piece by piece, as infc_weights_header has it. */
typedef struct infc_xxh64 {
    uint64_t state[11];
} infc_xxh64;
void infc_xxh64_begin(infc_xxh64 *hash);
void infc_xxh64_put(infc_xxh64 *hash, const void *bytes, size_t n);
uint64_t infc_xxh64_end(const infc_xxh64 *hash);

#endif
