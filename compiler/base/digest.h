/* digest.h - SHA-256 of large files that have been seen before. */
#ifndef INFC_DIGEST_H
#define INFC_DIGEST_H
#include "cx.h"

/* infc_sha256_hex of the same bytes. Of much, the cache is asked first. */
const char *infc_digest(infc_cx *cx, infc_bytes bytes);

#endif
