/* tensor_folder.c - one .npy, or one per tensor in a folder. */
#include "output_file.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SAFE_BYTES = 200, FILE_NAME_BYTES = SAFE_BYTES + 32 };

static bool is_plain(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-';
}

/* A tensor's name as a file name that can only lie in the folder. */
static void safe_name(const char *name, char out[SAFE_BYTES + 1]) {
    size_t n = 0;
    for (; name[n] && n < SAFE_BYTES; n++)
        out[n] = is_plain(name[n]) || (name[n] == '.' && n > 0) ? name[n] : '_';
    out[n] = 0;
}

/* The i-th of several that are the same by then gets ~2, ~3, ...; '~' is in no safe name. */
char *infrt_npy_path(const char *folder, const infc_tensor_info *const *infos, size_t i) {
    char mine[SAFE_BYTES + 1], other[SAFE_BYTES + 1], nth_text[24] = "";
    size_t nth = 1, room = strlen(folder) + FILE_NAME_BYTES + 1;
    char *out = malloc(room);
    safe_name(infos[i]->name, mine);
    for (size_t k = 0; k < i; k++) {
        safe_name(infos[k]->name, other);
        if (strcmp(mine, other) == 0) nth++;
    }
    if (nth > 1) snprintf(nth_text, sizeof nth_text, "~%zu", nth);
    if (out) snprintf(out, room, "%s/%s%s.npy", folder, mine, nth_text);
    return out;
}

/* Complete, but not yet under its name. */
static infrt_status npy_prepare(const char *path, const infc_tensor_info *info, const void *data,
                                infrt_output_file *file, infrt_error *error) {
    char header[INFRT_NPY_HEADER];
    uint64_t bytes;
    if (!infrt_shape_bytes(info->dtype, info->rank, info->dims, &bytes))
        return infrt_fail(error, INFRT_ERR_INTERNAL, "tensor \"%s\" has no size", info->name);
    infrt_status status = infrt_output_open(path, file, error);
    if (status != INFRT_OK) return status;
    size_t n = infrt_npy_header(info->dtype, info->rank, info->dims, header);
    if (fwrite(header, 1, n, file->stream) != n || fwrite(data, 1, (size_t)bytes, file->stream) != bytes)
        status = infrt_fail(error, INFRT_ERR_IO, "%s: cannot write: %s", path, strerror(errno));
    return infrt_output_seal(file, status, error);
}

infrt_status infrt_npy_write(const char *path, const infc_tensor_info *info, const void *data,
                             infrt_error *error) {
    infrt_output_file file = {0};
    infrt_status status = npy_prepare(path, info, data, &file, error);
    return file.path ? infrt_output_close(&file, status, error) : status;
}

/* All are written before the first gets its name: a full disk leaves what was there. */
infrt_status infrt_npy_write_all(const char *path, const infc_tensor_info *const *infos,
                                 const void *const *data, size_t n, infrt_error *error) {
    bool made = access(path, F_OK) != 0;
    infrt_output_file *files = calloc(n + 1, sizeof *files);
    if (!files) return infrt_fail(error, INFRT_ERR_NO_MEMORY, "%s: no memory", path);
    infrt_status status = infrt_output_folder(path, error);
    for (size_t i = 0; i < n && status == INFRT_OK; i++) {
        char *full = infrt_npy_path(path, infos, i);
        if (!full) {
            status = infrt_fail(error, INFRT_ERR_NO_MEMORY, "%s: no memory", path);
            break;
        }
        status = npy_prepare(full, infos[i], data[i], &files[i], error);
        free(full);
    }
    for (size_t i = 0; i < n; i++)
        if (files[i].path) status = infrt_output_close(&files[i], status, error);
    if (status != INFRT_OK && made) rmdir(path);
    free(files);
    return status;
}
