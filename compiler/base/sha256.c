/* sha256.c - FIPS 180-4 over the SHA extensions of x86-64. Two registers hold the state as the instructions want it, by
 * letters of the standard from the highest lane down: ABEF and CDGH. */
#include "sha256.h"
#include <string.h>

#if defined(__x86_64__)
#include <cpuid.h>
#include <immintrin.h>

static const uint32_t constants[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

static bool has_instructions(void) {
    unsigned a, b, c, d, extended;
    if (!__get_cpuid_count(7, 0, &a, &extended, &c, &d) || !__get_cpuid(1, &a, &b, &c, &d))
        return false;
    return (extended >> 29 & 1) && (c >> 19 & 1) && (c >> 9 & 1); /* SHA, SSE4.1, SSSE3 */
}

typedef struct halves {
    __m128i abef, cdgh;
} halves;

#define SHA __attribute__((target("sha,sse4.1,ssse3")))
#define ALWAYS SHA __attribute__((always_inline)) static inline

typedef struct block {
    __m128i w[4]; /* the next 16 words */
} block;

ALWAYS block load_block(const uint8_t *from) {
    const __m128i big_endian = _mm_set_epi64x(0x0c0d0e0f08090a0b, 0x0405060700010203);
    block b;
    for (int i = 0; i < 4; i++)
        b.w[i] = _mm_shuffle_epi8(_mm_loadu_si128((const __m128i *)(const void *)(from + 16 * i)), big_endian);
    return b;
}

/* Rounds i to i + 3. */
ALWAYS void four_rounds(halves *s, block *b, int i) {
    __m128i *w = b->w,
            sum = _mm_add_epi32(w[0], _mm_loadu_si128((const __m128i *)(const void *)(constants + i)));
    s->cdgh = _mm_sha256rnds2_epu32(s->cdgh, s->abef, sum);
    s->abef = _mm_sha256rnds2_epu32(s->abef, s->cdgh, _mm_shuffle_epi32(sum, 0x0e));
    __m128i next = _mm_add_epi32(_mm_sha256msg1_epu32(w[0], w[1]), _mm_alignr_epi8(w[3], w[2], 4));
    next = _mm_sha256msg2_epu32(next, w[3]);
    w[0] = w[1], w[1] = w[2], w[2] = w[3], w[3] = next;
}

ALWAYS halves plus(halves a, halves b) {
    return (halves){_mm_add_epi32(a.abef, b.abef), _mm_add_epi32(a.cdgh, b.cdgh)};
}

SHA static halves add_block(halves s, const uint8_t *from) {
    block b = load_block(from);
    halves next = s;
    for (int i = 0; i < 64; i += 4) four_rounds(&next, &b, i);
    return plus(next, s);
}

SHA static void add_block_each(halves *s, const uint8_t *from, halves *t, const uint8_t *from_t) {
    block b = load_block(from), c = load_block(from_t);
    halves next = *s, next_t = *t;
    for (int i = 0; i < 64; i += 4) {
        four_rounds(&next, &b, i);
        four_rounds(&next_t, &c, i);
    }
    *s = plus(next, *s);
    *t = plus(next_t, *t);
}

static void put_word(uint8_t *to, uint32_t word) {
    for (int i = 0; i < 4; i++) to[i] = (uint8_t)(word >> (24 - 8 * i));
}

static halves load(const infc_sha256_fast *state) {
    halves s;
    memcpy(&s, state->halves, sizeof s);
    return s;
}

static void store(infc_sha256_fast *state, halves s) { memcpy(state->halves, &s, sizeof s); }

bool infc_sha256_fast_begin(infc_sha256_fast *out) {
    if (!has_instructions()) return false;
    const halves s = {_mm_set_epi32(0x6a09e667, (int)0xbb67ae85, 0x510e527f, (int)0x9b05688c),
                      _mm_set_epi32(0x3c6ef372, (int)0xa54ff53a, 0x1f83d9ab, 0x5be0cd19)};
    *out = (infc_sha256_fast){.bytes = 0};
    store(out, s);
    return true;
}

void infc_sha256_fast_put(infc_sha256_fast *state, infc_bytes part) {
    const size_t whole = part.len / 64 * 64;
    halves s = load(state);
    for (size_t i = 0; i < whole; i += 64) s = add_block(s, part.ptr + i);
    store(state, s);
    state->n_rest = part.len - whole;
    if (state->n_rest) memcpy(state->rest, part.ptr + whole, state->n_rest);
    state->bytes += part.len;
}

void infc_sha256_fast_put_two(infc_sha256_fast *a, infc_sha256_fast *b, const uint8_t *to_a,
                              const uint8_t *to_b, size_t n) {
    halves s = load(a), t = load(b);
    for (size_t i = 0; i < n; i += 64) add_block_each(&s, to_a + i, &t, to_b + i);
    store(a, s);
    store(b, t);
    a->bytes += n;
    b->bytes += n;
}

/* What is left of the message, a one bit, zeros and the length in bits: one block or two. */
static halves add_end(halves s, const infc_sha256_fast *state) {
    uint8_t end[128] = {0};
    const size_t rest = state->n_rest, size = rest < 56 ? 64 : 128;
    const uint64_t bits = state->bytes * 8;
    memcpy(end, state->rest, rest);
    end[rest] = 0x80;
    put_word(end + size - 8, (uint32_t)(bits >> 32));
    put_word(end + size - 4, (uint32_t)bits);
    for (size_t i = 0; i < size; i += 64) s = add_block(s, end + i);
    return s;
}

void infc_sha256_fast_end(infc_sha256_fast *state, uint8_t digest[32]) {
    const halves s = add_end(load(state), state);
    static const int words[8] = {3, 2, 7, 6, 1, 0, 5, 4}; /* A to H, of F E B A H G D C */
    uint32_t lanes[8];
    memcpy(lanes, &s.abef, 16);
    memcpy(lanes + 4, &s.cdgh, 16);
    for (int i = 0; i < 8; i++) put_word(digest + 4 * i, lanes[words[i]]);
}
#else
bool infc_sha256_fast_begin(infc_sha256_fast *out) {
    (void)out;
    return false;
}
void infc_sha256_fast_put(infc_sha256_fast *state, infc_bytes part) {
    (void)state;
    (void)part;
}
void infc_sha256_fast_put_two(infc_sha256_fast *a, infc_sha256_fast *b, const uint8_t *to_a,
                              const uint8_t *to_b, size_t n) {
    (void)a;
    (void)b;
    (void)to_a;
    (void)to_b;
    (void)n;
}
void infc_sha256_fast_end(infc_sha256_fast *state, uint8_t digest[32]) {
    (void)state;
    (void)digest;
}
#endif
