/* The staged output folder of file.h. A stage in use holds an flock on its own folder; the kernel
 * drops it when the process ends however it ends, so a stage whose lock is free is stale. */
#include "file.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define STAGE_PREFIX ".infc-stage-"

static int open_dir(const char *path) {
    return open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

/* Whether `path` still names the folder open as fd. */
static bool same_dir(const char *path, int fd) {
    struct stat by_path, by_fd;
    return lstat(path, &by_path) == 0 && fstat(fd, &by_fd) == 0 && by_path.st_ino == by_fd.st_ino &&
           by_path.st_dev == by_fd.st_dev;
}

static void remove_if_stale(infc_arena *arena, const char *dir, const char *name) {
    const char *path = infc_path_join(arena, dir, name);
    int fd = open_dir(path);
    if (fd < 0) return;
    if (flock(fd, LOCK_EX | LOCK_NB) == 0 && same_dir(path, fd)) infc_dir_remove(path);
    close(fd);
}

static void remove_stale_stages(infc_cx *cx, const char *dir) {
    DIR *entries = opendir(dir);
    if (!entries) return;
    for (struct dirent *entry; (entry = readdir(entries));) {
        size_t n = strlen(entry->d_name);
        if (n == strlen(STAGE_PREFIX) + 6 && strncmp(entry->d_name, STAGE_PREFIX, strlen(STAGE_PREFIX)) == 0) {
            remove_if_stale(cx->arena, dir, entry->d_name);
        }
    }
    closedir(entries);
}

static void stage_discard(void *handle) {
    infc_stage *stage = handle;
    if (stage->lock_fd < 0) return;
    infc_dir_remove(stage->dir);
    close(stage->lock_fd);
    stage->lock_fd = -1;
    if (!stage->committed && stage->made_dir) rmdir(stage->final_dir);
}

/* Makes and locks a fresh folder. Someone else's cleaning may take it between the two: then again. */
static int make_locked(infc_arena *arena, const char *final_dir, const char **out_dir) {
    for (int attempt = 0; attempt < 100; attempt++) {
        char *dir = infc_path_join(arena, final_dir, STAGE_PREFIX "XXXXXX");
        if (*final_dir != '/' && strcmp(final_dir, ".") == 0)
            dir = infc_arena_printf(arena, "./%s", dir);
        if (!mkdtemp(dir)) return -1;
        int fd = open_dir(dir);
        if (fd < 0 && errno != ENOENT) return -1;
        if (fd < 0) continue;
        int locked = flock(fd, LOCK_EX); /* fails where locks are unknown: nobody cleans there either */
        *out_dir = dir;
        if (locked < 0 || same_dir(dir, fd)) return fd;
        close(fd);
    }
    errno = EBUSY;
    return -1;
}

infc_status infc_stage_open(infc_cx *cx, const char *final_dir, infc_stage **out) {
    infc_stage *stage = INFC_NEW(cx->arena, infc_stage, 1);
    *stage = (infc_stage){.cx = cx, .lock_fd = -1, .made_dir = !infc_dir_exists(final_dir)};
    stage->final_dir = infc_arena_copy_string(cx->arena, final_dir, strlen(final_dir));
    INFC_TRY(infc_dir_create(cx, final_dir));
    remove_stale_stages(cx, final_dir);
    infc_arena_defer(cx->arena, stage_discard, stage);
    stage->lock_fd = make_locked(cx->arena, stage->final_dir, &stage->dir);
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
    if (errno != ENOTEMPTY && errno != EEXIST && errno != EISDIR && errno != ENOTDIR) return errno;
    if (lstat(to, &info) < 0) return errno;
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
