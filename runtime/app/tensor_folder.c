/* tensor_folder.c - one .npy per tensor in a folder. */
#include "output_file.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

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
static void file_name(const infc_tensor_info *const *infos, size_t i, char out[FILE_NAME_BYTES]) {
    char mine[SAFE_BYTES + 1], other[SAFE_BYTES + 1];
    size_t nth = 1;
    safe_name(infos[i]->name, mine);
    for (size_t k = 0; k < i; k++) {
        safe_name(infos[k]->name, other);
        if (strcmp(mine, other) == 0) nth++;
    }
    if (nth > 1) snprintf(out, FILE_NAME_BYTES, "%s~%zu.npy", mine, nth);
    else snprintf(out, FILE_NAME_BYTES, "%s.npy", mine);
}

static infrt_status npy_write(const char *path, const infc_tensor_info *info, const void *data,
                              infrt_error *error) {
    char header[INFRT_NPY_HEADER];
    uint64_t bytes;
    infrt_output_file file;
    if (!infrt_shape_bytes(info->dtype, info->rank, info->dims, &bytes))
        return infrt_fail(error, INFRT_ERR_INTERNAL, "tensor \"%s\" has no size", info->name);
    infrt_status status = infrt_output_open(path, &file, error);
    if (status != INFRT_OK) return status;
    size_t n = infrt_npy_header(info->dtype, info->rank, info->dims, header);
    if (fwrite(header, 1, n, file.stream) != n || fwrite(data, 1, (size_t)bytes, file.stream) != bytes)
        status = infrt_fail(error, INFRT_ERR_IO, "%s: cannot write: %s", path, strerror(errno));
    return infrt_output_close(&file, status, error);
}

infrt_status infrt_npy_write_all(const char *path, const infc_tensor_info *const *infos,
                                 const void *const *data, size_t n, infrt_error *error) {
    infrt_status status = infrt_output_folder(path, error);
    for (size_t i = 0; i < n && status == INFRT_OK; i++) {
        char name[FILE_NAME_BYTES], *full = malloc(strlen(path) + FILE_NAME_BYTES + 1);
        if (!full) return infrt_fail(error, INFRT_ERR_NO_MEMORY, "%s: no memory", path);
        file_name(infos, i, name);
        sprintf(full, "%s/%s", path, name);
        status = npy_write(full, infos[i], data[i], error);
        free(full);
    }
    return status;
}
