/* The staged output folder of file.h: a locked folder below the final one. */
#include "file.h"
#include "locked_dir.h"
#include "moves.h"
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
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

static int is_entry(const struct dirent *entry) {
    return strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
}

infc_status infc_stage_commit(infc_stage *stage) {
    struct dirent **entries;
    infc_arena *arena = stage->cx->arena;
    infc_loc loc = {.file = stage->final_dir};
    infc_moves moves = {.arena = arena, .kept_dir = stage->dir};
    int n = scandir(stage->dir, &entries, is_entry, alphasort), error = 0;
    if (n < 0)
        return infc_fail(stage->cx, INFC_ERR_IO, loc, "cannot list the staged files: %s", strerror(errno));
    for (int i = 0; i < n; i++) {
        const char *to = infc_path_join(arena, stage->final_dir, entries[i]->d_name);
        if (!error &&
            (error = infc_moves_replace(&moves, infc_path_join(arena, stage->dir, entries[i]->d_name), to)))
            loc.file = to;
        free(entries[i]);
    }
    free(entries);
    if (error) {
        infc_moves_undo(&moves);
        bool folder = error == EISDIR;
        return infc_fail(stage->cx, folder ? INFC_ERR_SPEC : INFC_ERR_IO, loc, "cannot be put into place: %s",
                         folder ? "a folder of this name is in the way" : strerror(error));
    }
    infc_stage_end(stage);
    return INFC_OK;
}

void infc_stage_end(infc_stage *stage) {
    stage->committed = true;
    stage_discard(stage);
}
