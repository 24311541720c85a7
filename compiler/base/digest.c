/* An edit of a spec leaves a model and its weights as they were, in gigabytes. What names their digest in the cache is
 * XXH3 over all bytes, ten times as fast as SHA-256; with a secret of this cache, so that nobody can make two files
 * that have the same name here. */
#include "digest.h"
#include "cache.h"
#include "hash.h"
#include <string.h>
#include <sys/random.h>

#define SECRET_KEY "5ec2e75ec2e75ec2"
#define DIGESTS "5a256" /* before the names of digests, hexadecimal as all keys */
enum { LARGE = 1 << 20, SECRET_BYTES = INFC_KEYED_SECRET_BYTES, DIGITS = 64 };

static bool secret_of(infc_cx *cx, infc_bytes *out) {
    if (infc_cache_get(cx, SECRET_KEY, out) && out->len == SECRET_BYTES) return true;
    uint8_t *made = infc_arena_alloc(cx->arena, SECRET_BYTES, 1);
    if (getrandom(made, SECRET_BYTES, 0) != SECRET_BYTES) return false;
    *out = (infc_bytes){made, SECRET_BYTES};
    infc_cache_put(cx, SECRET_KEY, *out);
    return true;
}

const char *infc_digest(infc_cx *cx, infc_bytes bytes) {
    infc_bytes secret, found;
    if (bytes.len < LARGE || !cx->cache_dir || !secret_of(cx, &secret))
        return infc_sha256_hex(cx->arena, bytes);
    const char *name = infc_keyed_hash_hex(cx->arena, bytes, secret);
    const char *key = infc_arena_printf(cx->arena, DIGESTS "%s%016zx", name, bytes.len);
    if (infc_cache_get(cx, key, &found) && found.len == DIGITS)
        return infc_arena_copy_string(cx->arena, (const char *)found.ptr, DIGITS);
    const char *digest = infc_sha256_hex(cx->arena, bytes);
    infc_cache_put(cx, key, (infc_bytes){(const uint8_t *)digest, DIGITS});
    return digest;
}
