/* serve_file.c - see serve_file.h. */
#define _GNU_SOURCE 1
#include "serve_file.h"
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* As much as comes, up to n; -1: errno says why. */
static ssize_t read_all(int fd, char *out, size_t n) {
    size_t done = 0;
    while (done < n) {
        const ssize_t got = read(fd, out + done, n - done);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return -1;
        if (got == 0) break;
        done += (size_t)got;
    }
    return (ssize_t)done;
}

static infrt_status text_read(const char *what, const char *path, size_t most, bool pipes, int fd,
                              char *text, size_t *out_bytes, infrt_error *error) {
    struct stat info;
    if (fstat(fd, &info) != 0 || (!S_ISREG(info.st_mode) && (!pipes || S_ISDIR(info.st_mode))))
        return infrt_fail(error, INFRT_ERR_IO, "%s%s: %s", what, path,
                          S_ISDIR(info.st_mode) ? strerror(EISDIR) : "not a regular file");
    const ssize_t n = read_all(fd, text, most + 1);
    if (n < 0)
        return infrt_fail(error, INFRT_ERR_IO, "%s%s: cannot read: %s", what, path, strerror(errno));
    if ((size_t)n > most)
        return infrt_fail(error, INFRT_ERR_IO, "%s%s: more than %zu bytes", what, path, most);
    text[n] = 0;
    *out_bytes = (size_t)n;
    return INFRT_OK;
}

infrt_status infrt_serve_file_read(const char *what, const char *path, size_t most, bool pipes,
                                   char **out, size_t *out_bytes, infrt_error *error) {
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | (pipes ? 0 : O_NONBLOCK));
    *out = NULL;
    if (fd < 0) return infrt_fail(error, INFRT_ERR_IO, "%s%s: %s", what, path, strerror(errno));
    char *text = calloc(1, most + 1);
    const infrt_status status = text ? text_read(what, path, most, pipes, fd, text, out_bytes, error)
                                     : infrt_fail(error, INFRT_ERR_NO_MEMORY, "no memory for %s", path);
    close(fd);
    if (status == INFRT_OK) *out = text;
    else free(text);
    return status;
}
