/* emit_known.c - weights that an earlier compile packed. The cache has the digest of a payload by the hash of all that
 * it follows from: this very infc, the layout, the recipes, and each weight, as the digest of the file that it lies in
 * and where, or else as its bytes. Where the file that stands in the output folder has that digest, it is taken as it
 * is: the digest is ten times as fast as packing, and needs nothing of the model. */
#include "../base/cache.h"
#include "../base/digest.h"
#include "../base/stamp.h"
#include "emit_unit.h"
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PAYLOADS "9a71d" /* before the names of payloads, hexadecimal as all keys */
enum { DIGITS = 64 };

typedef struct known_entry {
    char sha256[DIGITS];
    uint64_t hash; /* of infc_weights_header, in the byte order of this machine */
} known_entry;

/* Another infc may pack otherwise. */
static bool put_own_stamp(infc_buf *out) {
    struct stat info;
    if (stat("/proc/self/exe", &info) < 0) return false;
    const infc_stamp own = infc_stamp_of(&info);
    infc_buf_put(out, own.words, sizeof own.words);
    return true;
}

/* The file that a weight lies in: how it is known, once; null when it may be changing. */
static const infc_emit_origin *origin_of(infc_emit_unit *u, infc_emit_known *known, const infc_mapped_file *file) {
    for (size_t i = 0; i < known->n; i++)
        if (known->origins[i].file.bytes.ptr == file->bytes.ptr) return &known->origins[i];
    if (!file->stamp->settled) return NULL;
    INFC_GROW(u->cx->arena, known->origins, known->n, known->cap);
    infc_emit_origin *origin = &known->origins[known->n++];
    *origin = (infc_emit_origin){*file, infc_digest_mapped(u->cx, file->bytes)};
    return origin;
}

static bool put_bytes(infc_emit_unit *u, infc_emit_known *known, const void *bytes, size_t n, infc_buf *out) {
    infc_mapped_file file;
    if (!bytes) infc_buf_puts(out, "none\n");
    else if (!infc_file_mapped(u->cx, bytes, n, &file))
        infc_buf_printf(out, "%s\n", infc_hash_hex(u->cx->arena, (infc_bytes){bytes, n}));
    else {
        const infc_emit_origin *origin = origin_of(u, known, &file);
        if (!origin) return false;
        infc_buf_printf(out, "%s %zu %zu\n", origin->digest,
                        (size_t)((const uint8_t *)bytes - file.bytes.ptr), n);
    }
    return true;
}

static bool put_recipe(infc_emit_unit *u, infc_emit_known *known, const infc_plan_recipe *recipe, infc_buf *out) {
    const infc_weights *weights = u->plan->weights;
    const infc_op_desc *ops = &u->plan->recipe_ops[recipe->first_op];
    bool good = true;
    infc_buf_printf(out, "recipe %s\n", u->plan->buffers[recipe->buffer].name);
    infc_plan_recipe_text(u->cx->arena, weights, ops, recipe->n_ops, out);
    if (recipe->packed.ptr) return put_bytes(u, known, recipe->packed.ptr, recipe->packed.len, out);
    for (int i = 0; i < recipe->n_ops && good; i++) {
        if (ops[i].kind != INFC_OP_weight) {
            infc_buf_printf(out, "%d\n", ops[i].n_in);
            continue;
        }
        const infc_weight *weight = infc_weights_get(weights, infc_desc_int(&ops[i], "id"));
        good = put_bytes(u, known, weight->bytes, (size_t)infc_type_bytes(&weight->type), out);
    }
    return good;
}

void infc_emit_known_begin(infc_emit_unit *u, infc_emit_known *known) {
    infc_arena *arena = u->cx->arena;
    infc_buf text = {.arena = arena};
    *known = (infc_emit_known){.n_diags = u->cx->n_diags};
    if (!u->cx->cache_dir || !put_own_stamp(&text)) return;
    infc_buf_printf(&text, "\n%016llx %llu %d %d\n", (unsigned long long)u->layout_hash,
                    (unsigned long long)u->weights_bytes, u->plan->target.platform->big_endian,
                    u->plan->llm ? 1 : 0);
    for (int i = 0; i < u->plan->n_recipes; i++)
        if (!put_recipe(u, known, &u->plan->recipes[i], &text)) return;
    known->key = infc_arena_printf(arena, PAYLOADS "%s", infc_hash_hex(arena, infc_buf_bytes(&text)));
}

/* The digest of a file whose name nobody else knows. */
static const char *digest_of(infc_cx *cx, const char *path, uint64_t bytes) {
    infc_bytes file;
    if (infc_file_try_map(path, &file)) return NULL;
    const char *digest = file.len == bytes ? infc_digest(cx, file) : NULL;
    infc_file_unmap(file);
    return digest;
}

bool infc_emit_known_take(infc_emit_unit *u, const infc_emit_known *known, const char *before, const char *path) {
    infc_bytes found;
    known_entry entry;
    if (!known->key || !before || !infc_cache_get(u->cx, known->key, &found) || found.len != sizeof entry)
        return false;
    memcpy(&entry, found.ptr, sizeof entry);
    if (!infc_file_share(before, u->weights_bytes, path, 0644)) return false;
    const char *digest = digest_of(u->cx, path, u->weights_bytes);
    if (!digest || memcmp(digest, entry.sha256, DIGITS) != 0) {
        unlink(path);
        return false;
    }
    u->weights_hash = entry.hash;
    infc_digest_note(u->cx, path, u->weights_bytes, digest);
    return true;
}

void infc_emit_known_keep(infc_emit_unit *u, const infc_emit_known *known, const char *path) {
    known_entry entry = {.hash = u->weights_hash};
    struct stat info;
    if (!known->key || u->cx->n_diags != known->n_diags) return; /* a warning is to be told again */
    for (size_t i = 0; i < known->n; i++) { /* read since its digest was taken */
        if (stat(known->origins[i].file.path, &info) < 0) return;
        const infc_stamp now = infc_stamp_of(&info);
        if (!infc_stamp_same(known->origins[i].file.stamp, &now)) return;
    }
    const char *digest = digest_of(u->cx, path, u->weights_bytes);
    if (!digest) return;
    memcpy(entry.sha256, digest, DIGITS);
    infc_cache_put(u->cx, known->key, (infc_bytes){(const uint8_t *)&entry, sizeof entry});
    infc_digest_note(u->cx, path, u->weights_bytes, digest);
}
