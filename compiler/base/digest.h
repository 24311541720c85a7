/* digest.h - SHA-256 of files, large ones from the cache where these bytes were digested before. */
#ifndef INFC_DIGEST_H
#define INFC_DIGEST_H
#include "cx.h"

/* infc_sha256_hex of each of `n` mapped files, large ones side by side. What is read is dropped from memory. */
void infc_digests(infc_cx *cx, const infc_bytes *files, size_t n, const char **out);
const char *infc_digest(infc_cx *cx, infc_bytes file);
/* For who digests elsewhere: the secret of the cache, false without one; and what infc_digests is to find, by the keyed
 * hash under that secret. */
bool infc_digest_secret(infc_cx *cx, infc_bytes *out);
void infc_digest_keep(infc_cx *cx, const uint8_t name[16], uint64_t bytes, const uint8_t digest[32]);

#endif
