#include "file.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int write_all(int fd, infc_bytes bytes) {
    while (bytes.len) {
        ssize_t n = write(fd, bytes.ptr, bytes.len < (1u << 30) ? bytes.len : (1u << 30));
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) return errno;
        if (n == 0) return ENOSPC;
        bytes.ptr += n;
        bytes.len -= (size_t)n;
    }
    return 0;
}

/* A new file beside `path`; its name is short so that a long final name still fits. */
static int open_beside(const char *path, unsigned mode, char *out_temp, size_t n) {
    static atomic_uint counter;
    int dir = (int)(infc_path_base(path) - path);
    for (int attempt = 0; attempt < 100; attempt++) {
        int length = snprintf(out_temp, n, "%.*s.infc-%ld-%u.tmp", dir, path, (long)getpid(),
                              atomic_fetch_add(&counter, 1u));
        if (length < 0 || (size_t)length >= n) {
            errno = ENAMETOOLONG;
            return -1;
        }
        int fd = open(out_temp, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, (mode_t)mode);
        if (fd >= 0 || errno != EEXIST) return fd;
    }
    return -1;
}

int infc_file_try_write(const char *path, const infc_bytes *pieces, size_t n, unsigned mode) {
    char temp[4096];
    int fd = open_beside(path, mode, temp, sizeof temp);
    if (fd < 0) return errno;
    int error = 0;
    for (size_t i = 0; i < n && !error; i++) error = write_all(fd, pieces[i]);
    if (close(fd) < 0 && !error) error = errno;
    if (!error && rename(temp, path) < 0) error = errno;
    if (error) unlink(temp);
    return error;
}

static int write_in_place(const char *path, infc_bytes bytes) {
    const int fd = open(path, O_WRONLY | O_CLOEXEC);
    if (fd < 0) return errno;
    int error = write_all(fd, bytes);
    if (close(fd) < 0 && !error) error = errno;
    return error;
}

static infc_status written(infc_cx *cx, const char *path, infc_bytes bytes, int error) {
    if (!error) return INFC_OK;
    return infc_fail(cx, INFC_ERR_IO, (infc_loc){.file = path},
                     "cannot write this file (%zu bytes): %s%s", bytes.len, strerror(error),
                     error == ENOSPC || error == EDQUOT ? "; free some space and run again" : "");
}

infc_status infc_file_write(infc_cx *cx, const char *path, infc_bytes bytes, unsigned mode) {
    return written(cx, path, bytes, infc_file_try_write(path, &bytes, 1, mode));
}

/* Makes the file that infc_file_try_write would, and takes it away again. */
static int try_beside(const char *path) {
    char temp[4096], target[PATH_MAX];
    const char *real = realpath(path, target) ? target : path;
    const int fd = open_beside(real, 0644, temp, sizeof temp);
    if (fd < 0) return errno;
    close(fd);
    unlink(temp);
    return 0;
}

infc_status infc_file_check_named(infc_cx *cx, const char *path) {
    const infc_loc loc = {.file = path};
    const char *dir = infc_path_dir(cx->arena, path), *hidden = infc_file_hidden(path);
    INFC_TRY(infc_file_spare(cx, path));
    if (access(dir, F_OK) < 0)
        return infc_fail(cx, INFC_ERR_IO, loc, "cannot write this file: %s: %s", dir, strerror(errno));
    if (hidden) return infc_fail(cx, INFC_ERR_IO, loc, "cannot write this file: %s", hidden);
    if (infc_dir_exists(path))
        return infc_fail(cx, INFC_ERR_IO, loc, "this is a folder; name a file, in it or elsewhere");
    const bool in_place = infc_file_what_else(path);
    const int error = !in_place ? try_beside(path) : access(path, W_OK) < 0 ? errno : 0;
    return error ? infc_fail(cx, INFC_ERR_IO, loc, "cannot write this file: %s", strerror(error)) : INFC_OK;
}

infc_status infc_file_write_named(infc_cx *cx, const char *path, infc_bytes bytes) {
    struct stat info;
    char target[PATH_MAX];
    INFC_TRY(infc_file_spare(cx, path));
    if (stat(path, &info) == 0 && !S_ISREG(info.st_mode) && !S_ISDIR(info.st_mode))
        return written(cx, path, bytes, write_in_place(path, bytes));
    const char *real = realpath(path, target) ? target : path;
    return written(cx, path, bytes, infc_file_try_write(real, &bytes, 1, 0644));
}
