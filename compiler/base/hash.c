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

/* ---- messages ------------------------------------------------------------------------------------------ */

typedef struct reading {
    infc_message *message;
    XXH3_state_t keyed;
    sha256 sha;
    infc_bytes part; /* of the message, what SHA-256 has not seen */
    bool ended;
} reading;

static void reading_begin(reading *r, infc_message *message, infc_bytes secret) {
    r->message = message;
    r->ended = false;
    XXH3_INITSTATE(&r->keyed);
    XXH3_128bits_reset_withSecret(&r->keyed, secret.ptr, secret.len);
    sha256_begin(&r->sha);
}

static void reading_next(reading *r) {
    r->part = r->ended ? (infc_bytes){NULL, 0} : r->message->next(r->message->user);
    r->ended |= r->part.len == 0 || r->part.len % 64;
    if (r->part.len) XXH3_128bits_update(&r->keyed, r->part.ptr, r->part.len);
}

static void put_both(reading *a, reading *b) {
    const size_t n = (a->part.len < b->part.len ? a->part.len : b->part.len) / 64 * 64;
    if (!n || !a->sha.fast || !b->sha.fast) return;
    infc_sha256_fast_put_two(&a->sha.state, &b->sha.state, a->part.ptr, b->part.ptr, n);
    a->part = (infc_bytes){a->part.ptr + n, a->part.len - n};
    b->part = (infc_bytes){b->part.ptr + n, b->part.len - n};
}

static void reading_end(reading *r) {
    XXH128_canonical_t canonical;
    XXH128_canonicalFromHash(&canonical, XXH3_128bits_digest(&r->keyed));
    memcpy(r->message->keyed, canonical.digest, sizeof canonical.digest);
    sha256_end(&r->sha, r->message->sha256);
}

void infc_hash_messages(infc_message *messages, size_t n, infc_bytes secret) {
    reading readings[INFC_MESSAGES];
    bool ended = n == 0;
    for (size_t i = 0; i < n; i++) reading_begin(&readings[i], &messages[i], secret);
    while (!ended) {
        for (size_t i = 0; i < n; i++) reading_next(&readings[i]);
        if (n == INFC_MESSAGES) put_both(&readings[0], &readings[1]);
        ended = true;
        for (size_t i = 0; i < n; i++) {
            if (readings[i].part.len) sha256_put(&readings[i].sha, readings[i].part);
            ended &= readings[i].ended;
        }
    }
    for (size_t i = 0; i < n; i++) reading_end(&readings[i]);
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
