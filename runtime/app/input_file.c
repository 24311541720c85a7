/* input_file.c - maps files. */
#define _GNU_SOURCE 1
#include "input_file.h"
#include "infrt_os.h"
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static infrt_status kind_check(const char *path, int fd, uint64_t *bytes, infrt_error *error) {
    struct stat info;
    if (fstat(fd, &info) != 0)
        return infrt_fail(error, INFRT_ERR_IO, "%s: cannot read: %s", path, strerror(errno));
    if (S_ISDIR(info.st_mode))
        return infrt_fail(error, INFRT_ERR_IO, "%s: a folder, not a file", path);
    if (!S_ISREG(info.st_mode))
        return infrt_fail(error, INFRT_ERR_IO,
                          "%s: not a regular file; write what it gives into one first", path);
    *bytes = (uint64_t)info.st_size;
    return INFRT_OK;
}

infrt_status infrt_input_open(const char *path, infrt_input_file *out, infrt_error *error) {
    infrt_os_file file = {.fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)}; /* a FIFO must not block us */
    *out = (infrt_input_file){0};
    if (file.fd < 0)
        return infrt_fail(error, INFRT_ERR_IO, "%s: cannot open: %s", path, strerror(errno));
    infrt_status status = kind_check(path, file.fd, &file.bytes, error);
    out->bytes = (infrt_bytes){(const unsigned char *)"", (size_t)file.bytes};
    if (status == INFRT_OK && file.bytes > 0) {
        out->bytes.data = infrt_os_file_map(&file, 0, file.bytes, &out->map, &out->map_bytes);
        if (!out->bytes.data)
            status = infrt_fail(error, INFRT_ERR_IO, "%s: cannot map its %llu bytes: %s", path,
                                (unsigned long long)file.bytes, strerror(errno));
    }
    infrt_os_file_close(&file);
    if (status != INFRT_OK) *out = (infrt_input_file){0};
    return status;
}

void infrt_input_close(infrt_input_file *file) {
    infrt_os_file_unmap(file->map, file->map_bytes);
    *file = (infrt_input_file){0};
}
