#include "made.h"
#include "../base/file.h"
#include <errno.h>
#include <string.h>

static const char *pair(infc_cx *cx, const char *path, const char *sha256) {
    return infc_arena_printf(cx->arena, "%s %s", sha256, path);
}

static void add_file(infc_cx *cx, infc_made *made, const char *path, const char *sha256) {
    const char *key = pair(cx, path, sha256);
    if (infc_map_find(&made->pairs, key, NULL)) return;
    INFC_GROW(cx->arena, made->files, made->n, made->cap);
    infc_map_put(&made->paths, path, made->n);
    infc_map_put(&made->pairs, key, made->n);
    made->files[made->n++] = (infc_manifest_file){path, sha256};
}

infc_found infc_made_look(infc_cx *cx, const char *dir, const char *path, const char *digest,
                          const infc_made *made, const infc_made *also) {
    const char *found = digest;
    const int error = digest ? 0 : infc_manifest_digest(cx, dir, path, &found);
    if (error == ENOENT || error == ENOTDIR) return INFC_FOUND_NOTHING;
    if (error) return INFC_FOUND_CHANGED;
    const char *key = pair(cx, path, found);
    bool known = infc_map_find(&made->pairs, key, NULL) || (also && infc_map_find(&also->pairs, key, NULL));
    return known ? INFC_FOUND_MADE : INFC_FOUND_CHANGED;
}

/* The T of `T/manifest.json`, or null. */
static const char *target_of(infc_cx *cx, const char *path) {
    const char *slash = strchr(path, '/');
    if (!slash || strcmp(slash, "/manifest.json") != 0) return NULL;
    return infc_arena_copy_string(cx->arena, path, (size_t)(slash - path));
}

static void add_target(infc_cx *cx, const char *dir, const char *target, infc_made *out) {
    infc_manifest own;
    const char *path = infc_path_join(cx->arena, target, "manifest.json"), *sha256;
    if (infc_map_find(&out->targets, target, NULL) || infc_manifest_digest(cx, dir, path, &sha256))
        return;
    if (!infc_manifest_try(cx, dir, path, &own)) return;
    infc_map_put(&out->targets, target, 0);
    for (size_t i = 0; i < own.n; i++)
        add_file(cx, out, infc_path_join(cx->arena, target, own.files[i].path), own.files[i].sha256);
    add_file(cx, out, path, sha256);
}

/* Compiled into by itself since, it is another compile's; half-made, it is of the same as the half-made folder. */
static bool is_own(infc_cx *cx, const char *dir, const infc_manifest *by, const infc_manifest_file *listed) {
    infc_manifest own;
    const char *found;
    if (infc_manifest_digest(cx, dir, listed->path, &found)) return false;
    if (strcmp(found, listed->sha256) == 0) return true;
    return by->unfinished && infc_manifest_try(cx, dir, listed->path, &own) && own.unfinished;
}

void infc_made_find(infc_cx *cx, const char *dir, const infc_made *now, infc_made *out) {
    infc_manifest manifest;
    infc_map empty = {.arena = cx->arena};
    *out = (infc_made){.paths = empty, .pairs = empty, .targets = empty};
    for (size_t i = 0; now && i < now->targets.n; i++)
        add_target(cx, dir, now->targets.entries[i].key, out);
    if (!infc_manifest_try(cx, dir, "manifest.json", &manifest)) return;
    for (size_t i = 0; i < manifest.n; i++) {
        const infc_manifest_file *file = &manifest.files[i];
        const char *target = target_of(cx, file->path);
        if (!target) add_file(cx, out, file->path, file->sha256);
        else if (is_own(cx, dir, &manifest, file)) add_target(cx, dir, target, out);
    }
}

bool infc_made_in(const infc_made *made, const char *path, const char *target, const char **out_path) {
    for (size_t i = 0; i < made->targets.n; i++) {
        const char *folder = made->targets.entries[i].key;
        size_t n = strlen(folder);
        if (strncmp(path, folder, n) != 0 || path[n] != '/') continue;
        bool manifest = strcmp(path + n, "/manifest.json") == 0;
        *out_path = target ? path + n + 1 : path;
        return target ? !manifest && strcmp(folder, target) == 0 : manifest;
    }
    *out_path = path;
    return !target;
}
