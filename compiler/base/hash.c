#include "hash.h"
#include "sha256.h"
#include <sha1.h>
#include <sha2.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

static const char *to_hex(infc_arena *arena, const uint8_t *digest, size_t n) {
    static const char digits[] = "0123456789abcdef";
    char *text = infc_arena_alloc(arena, 2 * n + 1, 1);
    for (size_t i = 0; i < n; i++) {
        text[2 * i] = digits[digest[i] >> 4];
        text[2 * i + 1] = digits[digest[i] & 15];
    }
    return text;
}

uint64_t infc_hash64(infc_bytes bytes) { return XXH3_64bits(bytes.ptr, bytes.len); }

const char *infc_hash_hex(infc_arena *arena, infc_bytes bytes) {
    XXH128_canonical_t digest;
    XXH128_canonicalFromHash(&digest, XXH3_128bits(bytes.ptr, bytes.len));
    return to_hex(arena, digest.digest, sizeof digest.digest);
}

const char *infc_keyed_hash_hex(infc_arena *arena, infc_bytes bytes, infc_bytes secret) {
    XXH128_canonical_t digest;
    XXH128_canonicalFromHash(&digest,
                             XXH3_128bits_withSecret(bytes.ptr, bytes.len, secret.ptr, secret.len));
    return to_hex(arena, digest.digest, sizeof digest.digest);
}

const char *infc_sha256_hex(infc_arena *arena, infc_bytes bytes) {
    uint8_t digest[SHA256_DIGEST_LENGTH];
    SHA2_CTX state;
    if (infc_sha256_try_fast(bytes, digest)) return to_hex(arena, digest, sizeof digest);
    SHA256Init(&state);
    SHA256Update(&state, bytes.ptr, bytes.len);
    SHA256Final(digest, &state);
    return to_hex(arena, digest, sizeof digest);
}

const char *infc_sha1_hex(infc_arena *arena, infc_bytes bytes) {
    uint8_t digest[SHA1_DIGEST_LENGTH];
    SHA1_CTX state;
    SHA1Init(&state);
    SHA1Update(&state, bytes.ptr, bytes.len);
    SHA1Final(digest, &state);
    return to_hex(arena, digest, sizeof digest);
}

_Static_assert(sizeof(XXH64_state_t) <= sizeof(infc_xxh64), "infc_xxh64 holds the state");

void infc_xxh64_begin(infc_xxh64 *hash) { XXH64_reset((XXH64_state_t *)hash->state, 0); }

void infc_xxh64_put(infc_xxh64 *hash, const void *bytes, size_t n) {
    if (n) XXH64_update((XXH64_state_t *)hash->state, bytes, n);
}

uint64_t infc_xxh64_end(const infc_xxh64 *hash) {
    return XXH64_digest((const XXH64_state_t *)hash->state);
}
