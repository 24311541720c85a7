/* An entry is DIR/kk/rest-of-key: a magic word, the hash of the content, the content. The hash makes a
 * damaged entry a miss; renaming into place keeps two compilers that store the same key apart. */
#include "cache.h"
#include "file.h"
#include "hash.h"
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define CACHE_MAGIC "infccac1"
enum { MAGIC_BYTES = 8, HASH_BYTES = 32, HEADER_BYTES = MAGIC_BYTES + HASH_BYTES };

const char *infc_cache_default_dir(infc_arena *arena) {
    const char *own = getenv("INFC_CACHE"), *xdg = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    if (own && *own) return infc_arena_copy_string(arena, own, strlen(own));
    if (xdg && *xdg == '/') return infc_path_join(arena, xdg, "infc");
    if (home && *home) return infc_path_join(arena, home, ".cache/infc");
    return NULL;
}

/* Null where there is no cache or the key is not one. */
static char *entry_path(infc_cx *cx, const char *key) {
    size_t n = strlen(key);
    if (!cx->cache_dir || n < 8 || strspn(key, "0123456789abcdef") != n) return NULL;
    return infc_arena_printf(cx->arena, "%s/%.2s/%s", cx->cache_dir, key, key + 2);
}

static bool make_parents(char *path) {
    for (char *p = path + 1; (p = strchr(p, '/')); p++) {
        *p = '\0';
        mkdir(path, 0777);
        bool there = infc_dir_exists(path);
        *p = '/';
        if (!there) return false;
    }
    return true;
}

/* The content of an entry, in `out_entry`, which is mapped and to be unmapped. */
static bool find(infc_cx *cx, const char *key, infc_bytes *out_entry, infc_bytes *out_content) {
    const char *from = entry_path(cx, key);
    if (!from || infc_file_try_map(from, out_entry) != 0) return false;
    if (out_entry->len >= HEADER_BYTES && memcmp(out_entry->ptr, CACHE_MAGIC, MAGIC_BYTES) == 0) {
        *out_content = (infc_bytes){out_entry->ptr + HEADER_BYTES, out_entry->len - HEADER_BYTES};
        const char *hash = infc_hash_hex(cx->arena, *out_content);
        if (memcmp(out_entry->ptr + MAGIC_BYTES, hash, HASH_BYTES) == 0) return true;
    }
    infc_file_unmap(*out_entry);
    return false;
}

bool infc_cache_fetch(infc_cx *cx, const char *key, const char *path) {
    infc_bytes entry, content;
    if (!find(cx, key, &entry, &content)) return false;
    bool written = infc_file_try_write(path, &content, 1, 0644) == 0;
    infc_file_unmap(entry);
    return written;
}

bool infc_cache_get(infc_cx *cx, const char *key, infc_bytes *out) {
    infc_bytes entry, content;
    if (!find(cx, key, &entry, &content)) return false;
    uint8_t *copy = infc_arena_alloc(cx->arena, content.len + 1, 1);
    memcpy(copy, content.ptr, content.len);
    *out = (infc_bytes){copy, content.len};
    infc_file_unmap(entry);
    return true;
}

bool infc_cache_map(infc_cx *cx, const char *key, infc_bytes *out) {
    infc_bytes entry, content;
    if (!find(cx, key, &entry, &content)) return false; /* also checks its hash */
    infc_file_unmap(entry);
    if (infc_file_map(cx, entry_path(cx, key), &entry) != INFC_OK) return false;
    *out = (infc_bytes){entry.ptr + HEADER_BYTES, entry.len - HEADER_BYTES};
    return true;
}

void infc_cache_put(infc_cx *cx, const char *key, infc_bytes content) {
    char *to = entry_path(cx, key);
    if (!to || !make_parents(to)) return;
    infc_bytes pieces[] = {
        {(const uint8_t *)CACHE_MAGIC, MAGIC_BYTES},
        {(const uint8_t *)infc_hash_hex(cx->arena, content), HASH_BYTES},
        content,
    };
    infc_file_try_write(to, pieces, sizeof pieces / sizeof *pieces, 0644);
}

void infc_cache_store(infc_cx *cx, const char *key, const char *path) {
    infc_bytes content;
    if (!cx->cache_dir || infc_file_try_map(path, &content) != 0) return;
    infc_cache_put(cx, key, content);
    infc_file_unmap(content);
}
