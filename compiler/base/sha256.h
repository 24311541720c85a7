/* sha256.h - SHA-256 by the processor's own instructions, where it has them: models and weights are large. */
#ifndef INFC_SHA256_H
#define INFC_SHA256_H
#include "buf.h"

/* False, and nothing done, when this processor has none. */
bool infc_sha256_try_fast(infc_bytes bytes, uint8_t digest[32]);

#endif
