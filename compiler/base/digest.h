/* digest.h - SHA-256 of files, large ones from the cache where these bytes were digested before. */
#ifndef INFC_DIGEST_H
#define INFC_DIGEST_H
#include "cx.h"

/* infc_sha256_hex of each of `n` mapped files, large ones side by side. What is read is dropped from memory. */
void infc_digests(infc_cx *cx, const infc_bytes *files, size_t n, const char **out);
const char *infc_digest(infc_cx *cx, infc_bytes file);

#endif
