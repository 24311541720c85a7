#include "locked_dir.h"
#include "file.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

static int open_dir(const char *path) {
    return open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

/* Whether `path` still names the folder open as fd. */
static bool same_dir(const char *path, int fd) {
    struct stat info;
    return fstat(fd, &info) == 0 && infc_file_is(path, &info);
}

static void remove_if_stale(infc_arena *arena, const char *dir, const char *name) {
    const char *path = infc_path_join(arena, dir, name);
    int fd = open_dir(path);
    if (fd < 0) return;
    struct stat info;
    bool ours = fstat(fd, &info) == 0 && info.st_uid == geteuid();
    if (ours && flock(fd, LOCK_EX | LOCK_NB) == 0 && same_dir(path, fd)) infc_dir_remove(path);
    close(fd);
}

void infc_locked_dirs_sweep(infc_arena *arena, const char *dir, const char *prefix) {
    size_t n_prefix = strlen(prefix);
    DIR *entries = opendir(dir);
    if (!entries) return;
    for (struct dirent *entry; (entry = readdir(entries));) {
        size_t n = strlen(entry->d_name);
        if (n == n_prefix + 6 && strncmp(entry->d_name, prefix, n_prefix) == 0)
            remove_if_stale(arena, dir, entry->d_name);
    }
    closedir(entries);
}

/* Makes and locks a fresh folder. Someone else's cleaning may take it between the two: then again. */
int infc_locked_dir_make(infc_arena *arena, const char *below, const char *prefix, const char **out_dir) {
    for (int attempt = 0; attempt < 100; attempt++) {
        char *dir = infc_arena_printf(arena, "%s%s%sXXXXXX", below,
                                      below[strlen(below) - 1] == '/' ? "" : "/", prefix);
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
