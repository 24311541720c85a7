#include "commit_plan.h"
#include "../base/digest.h"
#include "../base/file.h"
#include "../base/stamp.h"
#include <dirent.h>
#include <errno.h>
#include <string.h>
#include <sys/stat.h>

static const char *full(const infc_commit_plan *p, const char *path) {
    return infc_path_join(p->cx->arena, p->dir, path);
}

static infc_status in_the_way(infc_commit_plan *p, const char *path) {
    return infc_fail(
        p->cx, INFC_ERR_SPEC, (infc_loc){.file = full(p, path)},
        "is in the way, and no manifest.json of infc lists it; move it, or choose another "
        "folder with -o");
}

static void warn(infc_commit_plan *p, const char *path, const char *text) {
    INFC_GROW(p->cx->arena, p->warnings, p->n_warnings, p->cap_warnings);
    p->warnings[p->n_warnings++] = (infc_diag){.loc = {.file = full(p, path)}, .text = text};
}

/* ---- large files: digested side by side before the others are looked at ------------------------------- */

static const char *digest_of(const infc_commit_plan *p, const char *path) {
    size_t i;
    return infc_map_find(&p->large, path, &i) ? p->digests[i] : NULL;
}

/* Whether the digest of what stands there will be asked for, and takes long. */
static bool is_large(const infc_commit_plan *p, const char *path) {
    struct stat info;
    return lstat(full(p, path), &info) == 0 && S_ISREG(info.st_mode) && info.st_size >= INFC_DIGEST_LARGE &&
           !infc_file_is(infc_path_join(p->cx->arena, p->staged, path), &info);
}

static void digest_large(infc_commit_plan *p) {
    const infc_map *sets[] = {&p->before->paths, &p->now->paths};
    const size_t most = sets[0]->n + sets[1]->n + 1;
    infc_bytes *files = INFC_NEW(p->cx->arena, infc_bytes, most);
    infc_stamp *stamps = INFC_NEW(p->cx->arena, infc_stamp, most);
    const char **paths = INFC_NEW(p->cx->arena, const char *, most);
    struct stat info;
    p->digests = INFC_NEW(p->cx->arena, const char *, most);
    p->large = (infc_map){.arena = p->cx->arena};
    for (int s = 0; s < 2; s++)
        for (size_t i = 0; i < sets[s]->n; i++) {
            const char *path = sets[s]->entries[i].key;
            if (infc_map_find(&p->large, path, NULL) || !is_large(p, path)) continue;
            if (infc_file_try_map_beneath(p->dir, path, false, &files[p->large.n], &info)) continue;
            stamps[p->large.n] = infc_stamp_of(&info);
            paths[p->large.n] = full(p, path);
            infc_map_put(&p->large, path, p->large.n);
        }
    infc_digests_stamped(p->cx, files, stamps, paths, p->large.n, p->digests);
    for (size_t i = 0; i < p->large.n; i++) infc_file_unmap(files[i]);
}

/* ---- what leaves its place ------------------------------------------------------------------------- */

static void set_aside(infc_commit_plan *p, const char *path, const char *kept, bool there) {
    INFC_GROW(p->cx->arena, p->asides, p->n, p->cap);
    p->asides[p->n++] = (infc_commit_aside){path, kept, there};
    infc_map_put(&p->gone, path, 0);
    if (kept) return;
    for (const char *folder = infc_path_dir(p->cx->arena, path); strcmp(folder, ".") != 0;
         folder = infc_path_dir(p->cx->arena, folder))
        infc_map_put(&p->folders_gone, folder, 0);
}

static bool free_name(const infc_commit_plan *p, const char *path) {
    struct stat info;
    return lstat(full(p, path), &info) < 0 && errno == ENOENT && !infc_map_find(&p->now->paths, path, NULL);
}

static infc_status keep(infc_commit_plan *p, const char *path) {
    enum { MOST = 1000 };
    infc_arena *arena = p->cx->arena;
    const char *kept = infc_arena_printf(arena, "%s.changed", path);
    for (int i = 2; i < MOST && !free_name(p, kept); i++)
        kept = infc_arena_printf(arena, "%s.changed-%d", path, i);
    if (!free_name(p, kept))
        return infc_fail(
            p->cx, INFC_ERR_SPEC, (infc_loc){.file = full(p, path)},
            "is in the way: changed since a compile made it; move it, or choose another folder "
            "with -o");
    set_aside(p, path, kept, true);
    warn(p, path,
         infc_arena_printf(arena, "changed since an earlier compile made it; kept as %s", full(p, kept)));
    return INFC_OK;
}

static bool needed_as_folder(const infc_commit_plan *p, const char *path) {
    size_t n = strlen(path);
    for (size_t i = 0; i < p->now->n; i++) {
        const char *made = p->now->files[i].path;
        if (strncmp(made, path, n) == 0 && made[n] == '/') return true;
    }
    return false;
}

static infc_status retire(infc_commit_plan *p, const char *path) {
    infc_found found = infc_made_look(p->cx, p->dir, path, digest_of(p, path), p->before, NULL);
    if (found != INFC_FOUND_CHANGED) {
        set_aside(p, path, NULL, found == INFC_FOUND_MADE);
        return INFC_OK;
    }
    if (needed_as_folder(p, path)) return keep(p, path);
    warn(p, path, "of an earlier compile, changed since, and left as it is; remove it if it is not yours");
    return INFC_OK;
}

/* ---- what takes a place ------------------------------------------------------------------------------ */

/* Nothing stays in this folder, so that a file can have its name. */
static infc_status check_leaves(infc_commit_plan *p, const char *folder) {
    DIR *entries = infc_map_find(&p->folders_gone, folder, NULL) ? opendir(full(p, folder)) : NULL;
    if (!entries) return in_the_way(p, folder);
    infc_status status = INFC_OK;
    for (struct dirent *entry; status == INFC_OK && (entry = readdir(entries));) {
        struct stat info;
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0) continue;
        const char *path = infc_path_join(p->cx->arena, folder, entry->d_name);
        bool is_folder = lstat(full(p, path), &info) == 0 && S_ISDIR(info.st_mode);
        if (is_folder) status = check_leaves(p, path);
        else if (!infc_map_find(&p->gone, path, NULL)) status = in_the_way(p, path);
    }
    closedir(entries);
    return status;
}

/* The folders of `path` are there or can be made; *out_there: all of them are. */
static infc_status check_folders(infc_commit_plan *p, const char *path, bool *out_there) {
    struct stat info;
    *out_there = true;
    for (const char *slash = path; *out_there && (slash = strchr(slash, '/')); slash++) {
        const char *folder = infc_arena_copy_string(p->cx->arena, path, (size_t)(slash - path));
        *out_there = lstat(full(p, folder), &info) == 0 && !infc_map_find(&p->gone, folder, NULL);
        if (*out_there && !S_ISDIR(info.st_mode)) return in_the_way(p, folder);
    }
    return INFC_OK;
}

static infc_status check_place(infc_commit_plan *p, const char *path) {
    struct stat info;
    bool there;
    INFC_TRY(check_folders(p, path, &there));
    if (!there || lstat(full(p, path), &info) < 0) return INFC_OK;
    if (S_ISDIR(info.st_mode)) return check_leaves(p, path);
    if (infc_file_is(infc_path_join(p->cx->arena, p->staged, path), &info))
        return INFC_OK; /* an earlier compile's file is the new one: see infc_file_writer */
    if (infc_made_look(p->cx, p->dir, path, digest_of(p, path), p->before, p->now) != INFC_FOUND_CHANGED)
        return INFC_OK;
    return infc_map_find(&p->before->paths, path, NULL) ? keep(p, path) : in_the_way(p, path);
}

static infc_status check_manifest(infc_commit_plan *p) {
    infc_manifest manifest;
    struct stat info;
    if (lstat(full(p, "manifest.json"), &info) < 0) return INFC_OK;
    if (infc_manifest_try(p->cx, p->dir, "manifest.json", &manifest)) return INFC_OK;
    return infc_fail(
        p->cx, INFC_ERR_SPEC, (infc_loc){.file = full(p, "manifest.json")},
        "is in the way, and not what infc writes; move it, or choose another folder with -o");
}

infc_status infc_commit_plan_make(infc_commit_plan *plan) {
    const infc_map *before = &plan->before->paths, *now = &plan->now->paths;
    plan->gone = plan->folders_gone = (infc_map){.arena = plan->cx->arena};
    INFC_TRY(check_manifest(plan));
    digest_large(plan);
    for (size_t i = 0; i < before->n; i++)
        if (!infc_map_find(now, before->entries[i].key, NULL))
            INFC_TRY(retire(plan, before->entries[i].key));
    for (size_t i = 0; i < now->n; i++) INFC_TRY(check_place(plan, now->entries[i].key));
    return INFC_OK;
}
