#include "stale.h"
#include "../base/file.h"
#include "../base/hash.h"
#include <string.h>

static void add(infc_cx *cx, infc_made *made, const char *path, const char *sha256) {
    if (infc_map_find(&made->index, path, NULL)) return;
    INFC_GROW(cx->arena, made->files, made->n, made->cap);
    infc_map_put(&made->index, path, made->n);
    made->files[made->n++] = (infc_manifest_file){path, sha256};
}

static bool unchanged(infc_cx *cx, const char *dir, const infc_manifest_file *file, bool *out_there) {
    infc_bytes bytes;
    int error = infc_file_try_map_beneath(dir, file->path, &bytes);
    *out_there = error == 0;
    if (error) return false;
    bool same = strcmp(infc_sha256_hex(cx->arena, bytes), file->sha256) == 0;
    infc_file_unmap(bytes);
    return same;
}

/* `TARGET/manifest.json` */
static bool is_targets_manifest(const char *path) {
    const char *slash = strchr(path, '/');
    return slash && strcmp(slash, "/manifest.json") == 0;
}

static void add_target(infc_cx *cx, const char *dir, const infc_manifest_file *listed, infc_made *out) {
    infc_manifest own;
    bool there;
    if (!unchanged(cx, dir, listed, &there)) return; /* compiled into by itself since */
    if (!infc_manifest_try(cx, dir, listed->path, &own)) return;
    const char *folder = infc_path_dir(cx->arena, listed->path);
    for (size_t i = 0; i < own.n; i++)
        add(cx, out, infc_path_join(cx->arena, folder, own.files[i].path), own.files[i].sha256);
    add(cx, out, listed->path, listed->sha256);
}

void infc_made_find(infc_cx *cx, const char *dir, infc_made *out) {
    infc_manifest manifest;
    *out = (infc_made){.index = {.arena = cx->arena}};
    if (!infc_manifest_try(cx, dir, "manifest.json", &manifest)) return;
    for (size_t i = 0; i < manifest.n; i++) {
        const infc_manifest_file *file = &manifest.files[i];
        if (is_targets_manifest(file->path)) add_target(cx, dir, file, out);
        else add(cx, out, file->path, file->sha256);
    }
}

static void remove_file(infc_cx *cx, const char *dir, const infc_manifest_file *file) {
    bool there, same = unchanged(cx, dir, file, &there);
    if (!there) return;
    if (!same || infc_try_remove_beneath(dir, file->path, false)) {
        infc_warn(cx, (infc_loc){.file = infc_path_join(cx->arena, dir, file->path)},
                  "of an earlier compile, %s; remove it if it is not yours",
                  same ? "but it cannot be removed" : "changed since, and left as it is");
        return;
    }
    const char *folder = infc_path_dir(cx->arena, file->path);
    while (strcmp(folder, ".") != 0 && infc_try_remove_beneath(dir, folder, true) == 0)
        folder = infc_path_dir(cx->arena, folder);
}

void infc_stale_remove(infc_cx *cx, const char *dir, const infc_made *before) {
    infc_made now;
    infc_made_find(cx, dir, &now);
    for (size_t i = 0; i < before->n; i++) {
        if (!infc_map_find(&now.index, before->files[i].path, NULL))
            remove_file(cx, dir, &before->files[i]);
    }
}
