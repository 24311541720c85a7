#include "in_the_way.h"
#include "manifest.h"
#include <dirent.h>
#include <errno.h>
#include <string.h>
#include <sys/stat.h>

enum { MAX_DEPTH = 8 }; /* what infc makes is three deep */

/* A folder and what the manifest of infc in it lists; `listed` is empty when there is none. */
typedef struct owner {
    const char *dir;
    infc_map listed;
} owner;

static owner owner_of(infc_cx *cx, const char *dir) {
    infc_manifest manifest;
    if (!infc_manifest_try(cx, dir, "manifest.json", &manifest))
        return (owner){dir, {.arena = cx->arena}};
    infc_map_put(&manifest.index, "manifest.json", 0);
    return (owner){dir, manifest.index};
}

static infc_status in_the_way(infc_cx *cx, const char *path) {
    return infc_fail(
        cx, INFC_ERR_IO, (infc_loc){.file = path},
        "is in the way, and no manifest.json of infc lists it; move it, or choose another "
        "folder with -o");
}

static bool is_dots(const char *name) { return strcmp(name, ".") == 0 || strcmp(name, "..") == 0; }

/* All of `name`, counted from the owner's folder, was made by infc: the file, or every file below the folder. */
static infc_status check_entry(infc_cx *cx, const owner *by, const char *name, int depth) {
    const char *path = infc_path_join(cx->arena, by->dir, name);
    struct stat info;
    if (lstat(path, &info) < 0)
        return errno == ENOENT
                   ? INFC_OK
                   : infc_fail(cx, INFC_ERR_IO, (infc_loc){.file = path}, "%s", strerror(errno));
    if (!S_ISDIR(info.st_mode))
        return infc_map_find(&by->listed, name, NULL) ? INFC_OK : in_the_way(cx, path);
    DIR *dir = depth < MAX_DEPTH ? opendir(path) : NULL;
    if (!dir) return in_the_way(cx, path);
    owner own = owner_of(cx, path); /* a target's folder has a manifest of its own */
    bool its_own = own.listed.n > 0;
    infc_status status = INFC_OK;
    for (struct dirent *entry; status == INFC_OK && (entry = readdir(dir));) {
        if (is_dots(entry->d_name)) continue;
        if (its_own) status = check_entry(cx, &own, entry->d_name, depth + 1);
        else
            status = check_entry(cx, by, infc_path_join(cx->arena, name, entry->d_name), depth + 1);
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
    for (struct dirent *entry; status == INFC_OK && (entry = readdir(made));)
        if (!is_dots(entry->d_name)) status = check_entry(cx, &by, entry->d_name, 0);
    closedir(made);
    return status;
}
