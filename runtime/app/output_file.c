/* output_file.c - reading whole files, and writing them under their name only when complete. */
#define _GNU_SOURCE 1
#include "output_file.h"
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void file_free(infrt_output_file *file) {
    free(file->path);
    free(file->partial);
    *file = (infrt_output_file){0};
}

infrt_status infrt_output_open(const char *path, infrt_output_file *out, infrt_error *error) {
    struct stat info;
    *out = (infrt_output_file){.path = strdup(path)};
    bool direct = stat(path, &info) == 0 && !S_ISREG(info.st_mode);
    size_t room = strlen(path) + 32;
    if (!direct && (out->partial = malloc(room)))
        snprintf(out->partial, room, "%s.part-%ld", path, (long)getpid());
    if (!out->path || (!direct && !out->partial)) {
        file_free(out);
        return infrt_fail(error, INFRT_ERR_NO_MEMORY, "%s: no memory", path);
    }
    out->stream = fopen(direct ? path : out->partial, "we");
    if (out->stream) return INFRT_OK;
    int reason = errno;
    file_free(out);
    return infrt_fail(error, INFRT_ERR_IO, "%s: cannot write: %s", path, strerror(reason));
}

infrt_status infrt_output_seal(infrt_output_file *file, infrt_status status, infrt_error *error) {
    if (!file->stream) return status;
    bool failed = ferror(file->stream) != 0;
    if (fclose(file->stream) != 0) failed = true;
    file->stream = NULL;
    if (status == INFRT_OK && failed)
        status = infrt_fail(error, INFRT_ERR_IO, "%s: cannot write: %s", file->path, strerror(errno));
    if (status != INFRT_OK && file->partial) unlink(file->partial);
    return status;
}

infrt_status infrt_output_close(infrt_output_file *file, infrt_status status, infrt_error *error) {
    status = infrt_output_seal(file, status, error);
    if (status == INFRT_OK && file->partial && rename(file->partial, file->path) != 0)
        status = infrt_fail(error, INFRT_ERR_IO, "%s: cannot write: %s", file->path, strerror(errno));
    if (status != INFRT_OK && file->partial) unlink(file->partial);
    file_free(file);
    return status;
}

infrt_status infrt_output_folder(const char *path, infrt_error *error) {
    struct stat info;
    if (mkdir(path, 0777) == 0) return INFRT_OK;
    int reason = errno;
    if (reason == EEXIST && stat(path, &info) == 0 && S_ISDIR(info.st_mode)) return INFRT_OK;
    return infrt_fail(error, INFRT_ERR_IO, "%s: cannot make this folder: %s", path, strerror(reason));
}

infrt_status infrt_file_read(const char *path, infrt_bytes *out, infrt_error *error) {
    struct stat info;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return infrt_fail(error, INFRT_ERR_IO, "%s: cannot open: %s", path, strerror(errno));
    size_t room = fstat(fd, &info) == 0 && S_ISREG(info.st_mode) ? (size_t)info.st_size + 1 : 65536, n = 0;
    unsigned char *bytes = NULL;
    infrt_status status = INFRT_OK;
    for (;;) {
        if (!bytes || n == room) { /* one byte more than the file, so that its end is seen without growing */
            if (bytes) room *= 2;
            unsigned char *grown = realloc(bytes, room);
            if (!grown) {
                status = infrt_fail(error, INFRT_ERR_NO_MEMORY, "%s: no memory for %zu bytes", path, room);
                break;
            }
            bytes = grown;
        }
        ssize_t got = read(fd, bytes + n, room - n);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0)
            status = infrt_fail(error, INFRT_ERR_IO, "%s: cannot read: %s", path, strerror(errno));
        if (got <= 0) break;
        n += (size_t)got;
    }
    close(fd);
    if (status != INFRT_OK) {
        free(bytes);
        return status;
    }
    *out = (infrt_bytes){bytes, n};
    return INFRT_OK;
}
