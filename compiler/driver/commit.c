#include "commit.h"
#include "../base/moves.h"
#include "commit_plan.h"
#include "../base/interrupt.h"
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

typedef struct commit {
    infc_cx *cx;
    infc_stage *stage;
    infc_made now, before;
    infc_commit_plan plan;
    infc_moves moves;
    const char *failed; /* the file of the step that failed */
} commit;

#define MANIFEST "manifest.json"
#define UNFINISHED ".unfinished.json" /* in the stage: the manifest of both */

/* ---- one after the other ----------------------------------------------------------------------------- */

static void release(void *handle) { close(*(int *)handle); }

static infc_status lock(infc_cx *cx, const char *dir) {
    enum { TRIES = 500 };
    static const struct timespec pause = {.tv_nsec = 20 * 1000 * 1000};
    int *fd = INFC_NEW(cx->arena, int, 1);
    *fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (*fd < 0) return infc_fail(cx, INFC_ERR_IO, (infc_loc){.file = dir}, "%s", strerror(errno));
    infc_arena_defer(cx->arena, release, fd);
    for (int i = 0; flock(*fd, LOCK_EX | LOCK_NB) < 0; i++) {
        if (errno != EWOULDBLOCK && errno != EINTR)
            return INFC_OK; /* no locks on this file system */
        if (i == TRIES)
            return infc_fail(cx, INFC_ERR_IO, (infc_loc){.file = dir},
                             "another process holds the lock of this folder");
        INFC_TRY(infc_interrupt_check(cx));
        nanosleep(&pause, NULL);
    }
    return INFC_OK;
}

/* ---- the manifest of both ------------------------------------------------------------------------------ */

static void list(const infc_made *made, const char *target, infc_buf *out, bool *first) {
    for (size_t i = 0; i < made->n; i++) {
        const char *path;
        if (!infc_made_in(made, made->files[i].path, target, &path)) continue;
        infc_buf_puts(out, *first ? "\n    {\"path\": " : ",\n    {\"path\": ");
        *first = false;
        infc_buf_json_string(out, path);
        infc_buf_puts(out, ", \"sha256\": ");
        infc_buf_json_string(out, made->files[i].sha256);
        infc_buf_puts(out, "}");
    }
}

static infc_status write_unfinished(commit *c, const char *target) {
    infc_buf out = {.arena = c->cx->arena};
    bool first = true;
    infc_buf_puts(&out, "{\n  \"infc_version\": \"" INFC_VERSION
                        "\",\n  \"unfinished\": true,\n  \"files\": [");
    list(&c->before, target, &out, &first);
    list(&c->now, target, &out, &first);
    infc_buf_puts(&out, "\n  ]\n}\n");
    const char *dir = target ? infc_path_join(c->cx->arena, c->stage->dir, target) : c->stage->dir;
    return infc_file_write(c->cx, infc_path_join(c->cx->arena, dir, UNFINISHED), infc_buf_bytes(&out), 0644);
}

/* ---- the steps: each 0 or an errno --------------------------------------------------------------------- */

static int put_as(commit *c, const char *staged, const char *path) {
    infc_arena *arena = c->cx->arena;
    c->failed = path;
    int error = infc_moves_make_folders(&c->moves, c->stage->final_dir, path);
    if (error) return error;
    return infc_moves_replace(&c->moves, infc_path_join(arena, c->stage->dir, staged),
                              infc_path_join(arena, c->stage->final_dir, path));
}

static int put_aside(commit *c, const infc_commit_aside *aside) {
    infc_arena *arena = c->cx->arena;
    const char *dir = c->stage->final_dir, *from = infc_path_join(arena, dir, aside->path);
    int error = 0;
    c->failed = aside->path;
    if (aside->kept)
        error = infc_moves_replace(&c->moves, from, infc_path_join(arena, dir, aside->kept));
    else if (aside->there) error = infc_moves_take(&c->moves, from);
    if (!error && !aside->kept) infc_moves_prune(&c->moves, dir, aside->path);
    return error;
}

static int put_manifests(commit *c, const char *name) {
    int error = 0;
    for (size_t i = 0; !error && i < c->now.targets.n; i++) {
        const char *target = c->now.targets.entries[i].key;
        error = put_as(c, infc_path_join(c->cx->arena, target, name),
                       infc_path_join(c->cx->arena, target, MANIFEST));
    }
    return error;
}

static bool is_manifest(const char *path) { return strcmp(infc_path_base(path), MANIFEST) == 0; }

static int put_all(commit *c) {
    int error = put_as(c, UNFINISHED, MANIFEST);
    for (size_t i = 0; !error && i < c->plan.n; i++) error = put_aside(c, &c->plan.asides[i]);
    if (!error) error = put_manifests(c, UNFINISHED);
    for (size_t i = 0; !error && i < c->now.n; i++) {
        const char *path = c->now.files[i].path;
        if (!is_manifest(path)) error = put_as(c, path, path);
    }
    if (!error) error = put_manifests(c, MANIFEST);
    return error ? error : put_as(c, MANIFEST, MANIFEST);
}

infc_status infc_commit(infc_stage *stage) {
    commit c = {.cx = stage->cx, .stage = stage};
    infc_cx *cx = stage->cx;
    INFC_TRY(lock(cx, stage->final_dir));
    infc_made_find(cx, stage->dir, NULL, &c.now);
    infc_made_find(cx, stage->final_dir, &c.now, &c.before);
    c.plan = (infc_commit_plan){
        .cx = cx, .dir = stage->final_dir, .staged = stage->dir, .now = &c.now, .before = &c.before};
    INFC_TRY(infc_commit_plan_make(&c.plan));
    INFC_TRY(write_unfinished(&c, NULL));
    for (size_t i = 0; i < c.now.targets.n; i++)
        INFC_TRY(write_unfinished(&c, c.now.targets.entries[i].key));
    INFC_TRY(infc_interrupt_check(cx));
    c.moves = (infc_moves){.arena = cx->arena, .kept_dir = stage->dir};
    stage->touched = true;
    int error = put_all(&c);
    if (error) {
        bool back = infc_moves_undo(&c.moves);
        stage->touched = !back;
        return infc_fail(cx, INFC_ERR_IO,
                         (infc_loc){.file = infc_path_join(cx->arena, stage->final_dir, c.failed)},
                         "cannot be put into place: %s%s", strerror(error),
                         back ? "; the folder is as it was" : "; the folder is incomplete: compile again");
    }
    for (size_t i = 0; i < c.plan.n_warnings; i++)
        infc_warn(cx, c.plan.warnings[i].loc, "%s", c.plan.warnings[i].text);
    infc_stage_end(stage);
    return INFC_OK;
}
