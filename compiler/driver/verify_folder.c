#include "../base/file.h"
#include "../base/hash.h"
#include "verify.h"
#include <inttypes.h>
#include <string.h>

static infc_status damaged(infc_cx *cx, const char *path, const char *what) {
    return infc_fail(cx, INFC_ERR_CHECK, (infc_loc){.file = path}, "%s; compile again", what);
}

static bool states(const infc_cx *cx, const infc_manifest *manifest, const char *key, uint64_t value) {
    return strcmp(infc_manifest_text(manifest, key), infc_arena_printf(cx->arena, "%016" PRIx64, value)) == 0;
}

/* A payload of weights is what the manifest says, header and tensors. */
static infc_status check_weights(infc_cx *cx, const infc_manifest *manifest, const char *name) {
    static const infc_weights_header zero;
    const char *path = infc_path_join(cx->arena, manifest->dir, name);
    infc_weights_header header;
    infc_bytes bytes;
    infc_xxh64 hash;
    INFC_TRY(infc_file_map(cx, path, &bytes));
    if (bytes.len < sizeof header) return damaged(cx, path, "too short for weights");
    memcpy(&header, bytes.ptr, sizeof header);
    if (memcmp(header.magic, INFC_WEIGHTS_MAGIC, sizeof header.magic) != 0 || header.bytes != bytes.len)
        return damaged(cx, path, "its header does not describe the weights in it");
    if (memcmp(header.reserved, zero.reserved, sizeof header.reserved) != 0)
        return damaged(cx, path, "bytes 32 to 63 of its header are reserved and must be zero");
    infc_xxh64_begin(&hash);
    infc_xxh64_put(&hash, bytes.ptr + sizeof header, bytes.len - sizeof header);
    if (infc_xxh64_end(&hash) != header.hash)
        return damaged(cx, path, "the weights have not the hash that their header states");
    if (!states(cx, manifest, "weights_hash", header.hash) ||
        !states(cx, manifest, "layout_hash", header.layout_hash))
        return damaged(cx, path, "weights_hash or layout_hash of manifest.json is not that of these weights");
    return INFC_OK;
}

infc_status infc_verify_manifest(infc_cx *cx, const infc_built_folder *built, size_t *out_n_files) {
    const infc_manifest *manifest = &built->manifest;
    const char *name = infc_manifest_text(manifest, "name");
    size_t mark = cx->n_diags;
    for (size_t i = 0; i < manifest->n; i++) {
        const char *path = manifest->files[i].path, *dot = strrchr(path, '.');
        if (infc_manifest_check(cx, manifest, path) == INFC_OK && dot && strcmp(dot, ".weights") == 0)
            check_weights(cx, manifest, path);
    }
    const char *always[] = {infc_arena_printf(cx->arena, "%s.h", name),
                            infc_arena_printf(cx->arena, "%s.spdx.json", name)};
    for (size_t i = 0; i < 2; i++) {
        if (!infc_manifest_find(manifest, always[i])) infc_manifest_check(cx, manifest, always[i]);
    }
    *out_n_files = manifest->n;
    return infc_diags_status(cx, mark);
}
