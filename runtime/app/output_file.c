/* output_file.c - writing files under their name only when complete. */
#define _GNU_SOURCE 1
#include "output_file.h"
#include <errno.h>
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
    int reason = ferror(file->stream) ? EIO : 0; /* of an earlier write: what it was is not kept */
    if (fclose(file->stream) != 0) reason = errno;
    file->stream = NULL;
    if (status == INFRT_OK && reason)
        status = infrt_fail(error, INFRT_ERR_IO, "%s: cannot write: %s", file->path, strerror(reason));
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
