/* The staged output folder of file.h: a locked folder below the final one. */
#include "file.h"
#include "locked_dir.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define STAGE_PREFIX ".infc-stage-"

static void stage_discard(void *handle) {
    infc_stage *stage = handle;
    if (stage->lock_fd < 0) return;
    infc_dir_remove(stage->dir);
    close(stage->lock_fd);
    stage->lock_fd = -1;
    if (!stage->committed && stage->made_dir) rmdir(stage->final_dir);
}

infc_status infc_stage_open(infc_cx *cx, const char *final_dir, infc_stage **out) {
    infc_stage *stage = INFC_NEW(cx->arena, infc_stage, 1);
    *stage = (infc_stage){.cx = cx, .lock_fd = -1, .made_dir = !infc_dir_exists(final_dir)};
    stage->final_dir = infc_arena_copy_string(cx->arena, final_dir, strlen(final_dir));
    INFC_TRY(infc_dir_create(cx, final_dir));
    infc_locked_dirs_sweep(cx->arena, final_dir, STAGE_PREFIX);
    infc_arena_defer(cx->arena, stage_discard, stage);
    stage->lock_fd = infc_locked_dir_make(cx->arena, stage->final_dir, STAGE_PREFIX, &stage->dir);
    if (stage->lock_fd < 0) {
        int error = errno;
        if (stage->made_dir) rmdir(final_dir);
        return infc_fail(cx, INFC_ERR_IO, (infc_loc){.file = stage->final_dir},
                         "cannot write into this folder: %s; choose another with -o", strerror(error));
    }
    *out = stage;
    return INFC_OK;
}

/* A folder cannot replace a folder: the old one is moved into the stage and goes with it. */
static int move_into_place(infc_stage *stage, const char *name) {
    infc_arena *arena = stage->cx->arena;
    const char *from = infc_path_join(arena, stage->dir, name);
    const char *to = infc_path_join(arena, stage->final_dir, name);
    struct stat info;
    if (rename(from, to) == 0) return 0;
    int error = errno;
    if (error != ENOTEMPTY && error != EEXIST && error != EISDIR && error != ENOTDIR) return error;
    if (lstat(to, &info) < 0) return error;
    if (renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_EXCHANGE) == 0) return 0;
    const char *aside = infc_arena_printf(arena, "%s/.old-%s", stage->dir, name);
    if (rename(to, aside) < 0 || rename(from, to) < 0) return errno;
    return 0;
}

/* The manifest goes first: whatever a killed commit leaves in place is then listed as ours. */
static int manifest_first(const struct dirent **a, const struct dirent **b) {
    bool first = strcmp((*a)->d_name, "manifest.json") == 0,
         second = strcmp((*b)->d_name, "manifest.json") == 0;
    return first != second ? second - first : alphasort(a, b);
}

static int is_entry(const struct dirent *entry) {
    return strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
}

infc_status infc_stage_commit(infc_stage *stage) {
    struct dirent **entries;
    infc_loc loc = {.file = stage->final_dir};
    int n = scandir(stage->dir, &entries, is_entry, manifest_first);
    if (n < 0)
        return infc_fail(stage->cx, INFC_ERR_IO, loc, "cannot list the staged files: %s", strerror(errno));
    infc_status status = INFC_OK;
    for (int i = 0; i < n; i++) {
        int error = status == INFC_OK ? move_into_place(stage, entries[i]->d_name) : 0;
        if (error) {
            status = infc_fail(stage->cx, INFC_ERR_IO, loc, "cannot move \"%s\" into this folder: %s",
                               entries[i]->d_name, strerror(error));
        }
        free(entries[i]);
    }
    free(entries);
    INFC_TRY(status);
    stage->committed = true;
    stage_discard(stage);
    return INFC_OK;
}
