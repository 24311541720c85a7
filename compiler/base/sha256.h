/* sha256.h - SHA-256 by the processor's own instructions, where it has them: models and weights are large. */
#ifndef INFC_SHA256_H
#define INFC_SHA256_H
#include "buf.h"
#include <stdbool.h>

typedef struct infc_sha256_fast {
    uint32_t halves[8];
    uint64_t bytes;
    size_t n_rest;
    uint8_t rest[64];
} infc_sha256_fast;

/* False when this processor has none. */
bool infc_sha256_fast_begin(infc_sha256_fast *out);
/* Parts but the last are a multiple of 64 bytes. */
void infc_sha256_fast_put(infc_sha256_fast *state, infc_bytes part);
/* `n` bytes, a multiple of 64, to each of two: in half the time, as each instruction waits for the one before. */
void infc_sha256_fast_put_two(infc_sha256_fast *a, infc_sha256_fast *b, const uint8_t *to_a,
                              const uint8_t *to_b, size_t n);
void infc_sha256_fast_end(infc_sha256_fast *state, uint8_t digest[32]);

#endif
