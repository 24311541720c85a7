/* An edit of a spec leaves a model and its weights as they were, in gigabytes. What names their digest in the cache is
 * XXH3 over all bytes, ten times as fast as SHA-256; with a secret of this cache, so that nobody can make two files
 * that have the same name here. */
#include "digest.h"
#include "cache.h"
#include "file.h"
#include "hash.h"
#include "stamp.h"
#include "threads.h"
#include <fcntl.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define SECRET_KEY "5ec2e75ec2e75ec2"
#define DIGESTS "5a256" /* before the names of digests, hexadecimal as all keys */
enum { LARGE = INFC_DIGEST_LARGE, SECRET_BYTES = INFC_KEYED_SECRET_BYTES, DIGITS = 64 };

typedef struct large {
    infc_bytes file;
    const char *key; /* null: no cache */
    size_t index;
    bool known;
    uint8_t name[16], digest[32];
} large;

typedef struct naming {
    large *items;
    infc_bytes secret;
} naming;

static void name(void *user, size_t i) {
    const naming *n = user;
    infc_keyed_hash(n->items[i].file, n->secret, infc_file_drop, n->items[i].name);
}

static void digest(void *user, size_t i) {
    large *item = (large *)user + i;
    if (!item->known) infc_sha256(item->file, infc_file_drop, item->digest);
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
    infc_bytes found;
    naming names = {items, {NULL, 0}};
    if (!infc_digest_secret(cx, &names.secret)) return;
    infc_side_by_side(n, name, &names);
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
        if (out[i]) continue;
        if (files[i].len < LARGE) out[i] = infc_sha256_hex(cx->arena, files[i]);
        else items[n_large++] = (large){.file = files[i], .index = i};
    }
    if (n_large == 0) return;
    look_up(cx, items, n_large, out);
    infc_side_by_side(n_large, digest, items);
    for (size_t i = 0; i < n_large; i++) {
        if (items[i].known) continue;
        out[items[i].index] = infc_to_hex(cx->arena, items[i].digest, sizeof items[i].digest);
        if (items[i].key) infc_digest_keep(cx, items[i].name, items[i].file.len, items[i].digest);
    }
}

const char *infc_digest(infc_cx *cx, infc_bytes file) {
    const char *digest = NULL;
    infc_digests(cx, &file, 1, &digest);
    return digest;
}

/* ---- files that were read before: stamp.h ----------------------------------------------------------------- */

void infc_digests_stamped(infc_cx *cx, const infc_bytes *files, const infc_stamp *stamps,
                          const char *const *paths, size_t n, const char **out) {
    bool *known = INFC_NEW(cx->arena, bool, n + 1);
    struct stat after;
    for (size_t i = 0; i < n; i++) {
        out[i] = infc_stamp_find(cx, &stamps[i]);
        known[i] = out[i];
    }
    infc_digests(cx, files, n, out);
    for (size_t i = 0; i < n; i++)
        if (!known[i] && lstat(paths[i], &after) == 0)
            infc_stamp_keep(cx, &stamps[i], &after, out[i]);
}

const char *infc_digest_mapped(infc_cx *cx, infc_bytes file) {
    infc_mapped_file mapped;
    struct stat after;
    if (!infc_file_mapped(cx, file.ptr, file.len, &mapped)) return infc_digest(cx, file);
    const char *digest = infc_stamp_find(cx, mapped.stamp);
    if (digest) return digest;
    digest = infc_digest(cx, mapped.bytes);
    if (stat(mapped.path, &after) == 0) infc_stamp_keep(cx, mapped.stamp, &after, digest);
    return digest;
}

/* Whether all that memory holds of the file is on the disk. Linux 6.5; what is older says no. */
static bool is_written(int fd) {
    enum { CACHESTAT = 451 };
    const uint64_t range[2] = {0, 0}; /* all of it */
    struct {
        uint64_t cached, dirty, written, evicted, recently;
    } pages = {0};
    return syscall(CACHESTAT, fd, range, &pages, 0) == 0 && pages.dirty == 0 && pages.written == 0;
}

void infc_digest_retire(infc_cx *cx, const char *path, int fd) {
    infc_bytes file;
    struct stat info, after;
    const char *dir = infc_path_dir(cx->arena, path), *name = infc_path_base(path);
    if (!is_written(fd) || infc_file_try_map_beneath(dir, name, false, &file, &info)) return;
    const infc_stamp stamp = infc_stamp_of(&info);
    bool kept = infc_stamp_find(cx, &stamp);
    if (!kept && stamp.still)
        kept = infc_stamp_keep(cx, &stamp, lstat(path, &after) == 0 ? &after : &info, infc_digest(cx, file));
    infc_file_unmap(file);
    if (kept) (void)posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
}

/* ---- files that this process wrote ------------------------------------------------------------------- */

struct infc_digest_note {
    const char *path, *digest;
    uint64_t bytes;
    struct infc_digest_note *next;
};

void infc_digest_note(infc_cx *cx, const char *path, uint64_t bytes, const char *digest) {
    struct infc_digest_note *note = INFC_NEW(cx->arena, struct infc_digest_note, 1);
    *note = (struct infc_digest_note){path, digest, bytes, cx->digests};
    cx->digests = note;
}

const char *infc_digest_noted(const infc_cx *cx, const char *path, uint64_t bytes) {
    for (const struct infc_digest_note *note = cx->digests; note; note = note->next)
        if (note->bytes == bytes && strcmp(note->path, path) == 0) return note->digest;
    return NULL;
}
