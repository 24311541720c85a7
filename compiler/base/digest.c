/* An edit of a spec leaves a model and its weights as they were, in gigabytes. What names their digest in the cache is
 * XXH3 over all bytes, ten times as fast as SHA-256; with a secret of this cache, so that nobody can make two files
 * that have the same name here. */
#include "digest.h"
#include "cache.h"
#include "file.h"
#include "hash.h"
#include <pthread.h>
#include <stdatomic.h>
#include <sys/random.h>
#include <unistd.h>

#define SECRET_KEY "5ec2e75ec2e75ec2"
#define DIGESTS "5a256" /* before the names of digests, hexadecimal as all keys */
enum { LARGE = 1 << 20, SECRET_BYTES = INFC_KEYED_SECRET_BYTES, DIGITS = 64 };

typedef struct large {
    infc_bytes file;
    const char *key; /* null: no cache */
    size_t index;
    bool known;
    uint8_t name[16], digest[32];
} large;

typedef struct work { /* shared by threads, each taking the next one */
    large *items;
    size_t n;
    infc_bytes secret; /* empty: digests, else names */
    atomic_size_t next;
} work;

static void *take(void *user) {
    work *w = user;
    for (size_t i; (i = atomic_fetch_add(&w->next, 1)) < w->n;) {
        large *item = &w->items[i];
        if (w->secret.len) infc_keyed_hash(item->file, w->secret, infc_file_drop, item->name);
        else if (!item->known) infc_sha256(item->file, infc_file_drop, item->digest);
    }
    return NULL;
}

/* On this thread and as many others as there are processors and items more. */
static void side_by_side(large *items, size_t n, infc_bytes secret) {
    enum { MOST = 8 };
    pthread_t threads[MOST];
    work w = {items, n, secret, 0};
    const long processors = sysconf(_SC_NPROCESSORS_ONLN);
    size_t started = 0;
    while (started < MOST && started + 1 < n && (long)started + 1 < processors &&
           pthread_create(&threads[started], NULL, take, &w) == 0)
        started++;
    take(&w);
    while (started > 0) pthread_join(threads[--started], NULL);
}

bool infc_digest_secret(infc_cx *cx, infc_bytes *out) {
    if (!cx->cache_dir) return false;
    if (infc_cache_get(cx, SECRET_KEY, out) && out->len == SECRET_BYTES) return true;
    uint8_t *made = infc_arena_alloc(cx->arena, SECRET_BYTES, 1);
    if (getrandom(made, SECRET_BYTES, 0) != SECRET_BYTES) return false;
    *out = (infc_bytes){made, SECRET_BYTES};
    infc_cache_put(cx, SECRET_KEY, *out);
    return true;
}

static const char *key_of(infc_cx *cx, const uint8_t name[16], uint64_t bytes) {
    return infc_arena_printf(cx->arena, DIGESTS "%s%016llx", infc_to_hex(cx->arena, name, 16),
                             (unsigned long long)bytes);
}

void infc_digest_keep(infc_cx *cx, const uint8_t name[16], uint64_t bytes, const uint8_t digest[32]) {
    if (bytes < LARGE) return;
    const char *text = infc_to_hex(cx->arena, digest, 32);
    infc_cache_put(cx, key_of(cx, name, bytes), (infc_bytes){(const uint8_t *)text, DIGITS});
}

static void look_up(infc_cx *cx, large *items, size_t n, const char **out) {
    infc_bytes secret, found;
    if (!infc_digest_secret(cx, &secret)) return;
    side_by_side(items, n, secret);
    for (size_t i = 0; i < n; i++) {
        items[i].key = key_of(cx, items[i].name, items[i].file.len);
        items[i].known = infc_cache_get(cx, items[i].key, &found) && found.len == DIGITS;
        if (items[i].known)
            out[items[i].index] = infc_arena_copy_string(cx->arena, (const char *)found.ptr, DIGITS);
    }
}

void infc_digests(infc_cx *cx, const infc_bytes *files, size_t n, const char **out) {
    large *items = INFC_NEW(cx->arena, large, n + 1);
    size_t n_large = 0;
    for (size_t i = 0; i < n; i++) {
        if (files[i].len < LARGE) out[i] = infc_sha256_hex(cx->arena, files[i]);
        else items[n_large++] = (large){.file = files[i], .index = i};
    }
    if (n_large == 0) return;
    look_up(cx, items, n_large, out);
    side_by_side(items, n_large, (infc_bytes){NULL, 0});
    for (size_t i = 0; i < n_large; i++) {
        if (items[i].known) continue;
        out[items[i].index] = infc_to_hex(cx->arena, items[i].digest, sizeof items[i].digest);
        if (items[i].key) infc_digest_keep(cx, items[i].name, items[i].file.len, items[i].digest);
    }
}

const char *infc_digest(infc_cx *cx, infc_bytes file) {
    const char *digest;
    infc_digests(cx, &file, 1, &digest);
    return digest;
}
