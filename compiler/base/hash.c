#include "hash.h"
#include "sha256.h"
#include <sha1.h>
#include <sha2.h>
#include <string.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

const char *infc_to_hex(infc_arena *arena, const uint8_t *digest, size_t n) {
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
    return infc_to_hex(arena, digest.digest, sizeof digest.digest);
}

enum { PART = 4 << 20 }; /* whole blocks */

static infc_bytes part_at(infc_bytes bytes, size_t at) {
    const size_t left = bytes.len - at;
    return (infc_bytes){bytes.ptr + at, left < PART ? left : PART};
}

void infc_keyed_hash(infc_bytes bytes, infc_bytes secret, void (*seen)(infc_bytes part), uint8_t digest[16]) {
    XXH3_state_t state;
    XXH128_canonical_t canonical;
    XXH3_INITSTATE(&state);
    XXH3_128bits_reset_withSecret(&state, secret.ptr, secret.len);
    for (size_t at = 0; at < bytes.len; at += PART) {
        const infc_bytes part = part_at(bytes, at);
        XXH3_128bits_update(&state, part.ptr, part.len);
        if (seen) seen(part);
    }
    XXH128_canonicalFromHash(&canonical, XXH3_128bits_digest(&state));
    memcpy(digest, canonical.digest, sizeof canonical.digest);
}

typedef struct sha256 { /* by the processor's instructions where it has them */
    infc_sha256_fast state;
    SHA2_CTX slow;
    bool fast;
} sha256;

static void sha256_begin(sha256 *s) {
    s->fast = infc_sha256_fast_begin(&s->state);
    if (!s->fast) SHA256Init(&s->slow);
}

static void sha256_put(sha256 *s, infc_bytes part) {
    if (s->fast) infc_sha256_fast_put(&s->state, part);
    else SHA256Update(&s->slow, part.ptr, part.len);
}

static void sha256_end(sha256 *s, uint8_t digest[32]) {
    if (s->fast) infc_sha256_fast_end(&s->state, digest);
    else SHA256Final(digest, &s->slow);
}

void infc_sha256(infc_bytes bytes, void (*seen)(infc_bytes part), uint8_t digest[32]) {
    sha256 state;
    sha256_begin(&state);
    for (size_t at = 0; at < bytes.len; at += PART) {
        const infc_bytes part = part_at(bytes, at);
        sha256_put(&state, part);
        if (seen) seen(part);
    }
    sha256_end(&state, digest);
}

void infc_hash_parts(infc_bytes (*next)(void *user), void *user, infc_bytes secret,
                     uint8_t keyed[16], uint8_t sha256_digest[32]) {
    XXH3_state_t state;
    XXH128_canonical_t canonical;
    sha256 sha;
    infc_bytes part;
    XXH3_INITSTATE(&state);
    XXH3_128bits_reset_withSecret(&state, secret.ptr, secret.len);
    sha256_begin(&sha);
    do {
        part = next(user);
        XXH3_128bits_update(&state, part.ptr, part.len);
        sha256_put(&sha, part);
    } while (part.len && part.len % 64 == 0);
    XXH128_canonicalFromHash(&canonical, XXH3_128bits_digest(&state));
    memcpy(keyed, canonical.digest, sizeof canonical.digest);
    sha256_end(&sha, sha256_digest);
}

const char *infc_sha256_hex(infc_arena *arena, infc_bytes bytes) {
    uint8_t digest[SHA256_DIGEST_LENGTH];
    infc_sha256(bytes, NULL, digest);
    return infc_to_hex(arena, digest, sizeof digest);
}

const char *infc_sha1_hex(infc_arena *arena, infc_bytes bytes) {
    uint8_t digest[SHA1_DIGEST_LENGTH];
    SHA1_CTX state;
    SHA1Init(&state);
    SHA1Update(&state, bytes.ptr, bytes.len);
    SHA1Final(digest, &state);
    return infc_to_hex(arena, digest, sizeof digest);
}

_Static_assert(sizeof(XXH64_state_t) <= sizeof(infc_xxh64), "infc_xxh64 holds the state");

void infc_xxh64_begin(infc_xxh64 *hash) { XXH64_reset((XXH64_state_t *)hash->state, 0); }

void infc_xxh64_put(infc_xxh64 *hash, const void *bytes, size_t n) {
    if (n) XXH64_update((XXH64_state_t *)hash->state, bytes, n);
}

uint64_t infc_xxh64_end(const infc_xxh64 *hash) {
    return XXH64_digest((const XXH64_state_t *)hash->state);
}
