#include "in_the_way.h"
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

enum { MAX_DEPTH = 8 }; /* what infc makes is three deep */

/* A folder with the manifest that speaks for it; text empty when there is none of ours. */
typedef struct owner {
    const char *dir, *manifest;
} owner;

static owner owner_of(infc_cx *cx, const char *dir) {
    owner made = {dir, ""};
    infc_buf text = {.arena = cx->arena};
    FILE *file = fopen(infc_path_join(cx->arena, dir, "manifest.json"), "rb");
    char part[4096];
    if (!file) return made;
    for (size_t n; (n = fread(part, 1, sizeof part, file)) > 0;) infc_buf_put(&text, part, n);
    fclose(file);
    if (strstr(infc_buf_str(&text), "\"infc_version\": ")) made.manifest = infc_buf_str(&text);
    return made;
}

/* `path` is below owner.dir. The manifest is our own text, written one way (emit_manifest.c). */
static bool is_ours(infc_cx *cx, const owner *by, const char *path) {
    const char *below = path + strlen(by->dir) + 1;
    if (strcmp(below, "manifest.json") == 0) return by->manifest[0] != 0;
    infc_buf line = {.arena = cx->arena};
    infc_buf_puts(&line, "{\"path\": ");
    infc_buf_json_string(&line, below);
    infc_buf_puts(&line, ",");
    return strstr(by->manifest, infc_buf_str(&line)) != NULL;
}

static infc_status in_the_way(infc_cx *cx, const char *path) {
    return infc_fail(
        cx, INFC_ERR_IO, (infc_loc){.file = path},
        "is in the way, and no manifest.json of infc lists it; move it, or choose another "
        "folder with -o");
}

/* All of `path` was made by infc: the file, or every file below the folder. */
static infc_status check_path(infc_cx *cx, owner by, const char *path, int depth) {
    struct stat info;
    if (lstat(path, &info) < 0)
        return errno == ENOENT
                   ? INFC_OK
                   : infc_fail(cx, INFC_ERR_IO, (infc_loc){.file = path}, "%s", strerror(errno));
    if (!S_ISDIR(info.st_mode)) return is_ours(cx, &by, path) ? INFC_OK : in_the_way(cx, path);
    DIR *dir = depth < MAX_DEPTH ? opendir(path) : NULL;
    if (!dir) return in_the_way(cx, path);
    owner own = owner_of(cx, path); /* a target's folder has a manifest of its own */
    if (own.manifest[0]) by = own;
    infc_status status = INFC_OK;
    for (struct dirent *entry; status == INFC_OK && (entry = readdir(dir));) {
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0) continue;
        status = check_path(cx, by, infc_path_join(cx->arena, path, entry->d_name), depth + 1);
    }
    closedir(dir);
    return status;
}

infc_status infc_in_the_way_check(infc_stage *stage) {
    infc_cx *cx = stage->cx;
    owner by = owner_of(cx, stage->final_dir);
    infc_status status = INFC_OK;
    DIR *made = opendir(stage->dir);
    if (!made)
        return infc_fail(cx, INFC_ERR_IO, (infc_loc){.file = stage->dir}, "%s", strerror(errno));
    for (struct dirent *entry; status == INFC_OK && (entry = readdir(made));) {
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0) continue;
        status = check_path(cx, by, infc_path_join(cx->arena, stage->final_dir, entry->d_name), 0);
    }
    closedir(made);
    return status;
}
