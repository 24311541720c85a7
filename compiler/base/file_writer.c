#include "file.h"
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

infc_status infc_file_writer_open(infc_cx *cx, const char *path, unsigned mode, infc_file_writer *out) {
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, (mode_t)mode);
    *out = (infc_file_writer){.cx = cx, .path = path, .fd = fd};
    if (fd >= 0) return INFC_OK;
    return infc_fail(cx, INFC_ERR_IO, (infc_loc){.file = path}, "cannot create this file: %s", strerror(errno));
}

void infc_file_writer_patch(infc_file_writer *writer, uint64_t offset, const void *bytes, size_t n) {
    const char *at = bytes;
    while (n && !writer->error) {
        ssize_t done = pwrite(writer->fd, at, n < (1u << 30) ? n : (1u << 30), (off_t)offset);
        if (done < 0 && errno == EINTR) continue;
        if (done <= 0) {
            writer->error = done < 0 ? errno : ENOSPC;
            return;
        }
        at += done;
        n -= (size_t)done;
        offset += (uint64_t)done;
    }
}

void infc_file_writer_put(infc_file_writer *writer, const void *bytes, size_t n) {
    infc_file_writer_patch(writer, writer->bytes, bytes, n);
    writer->bytes += n;
}

/* As much as the kernel copies by itself; `from` then stands at the rest. */
static void copy_within_kernel(infc_file_writer *writer, int from) {
    ssize_t n = 1;
    while (n > 0 && !writer->error) {
        off64_t to = (off64_t)writer->bytes;
        n = copy_file_range(from, NULL, writer->fd, &to, 1u << 30, 0);
        if (n > 0) writer->bytes += (uint64_t)n;
    }
}

void infc_file_writer_copy(infc_file_writer *writer, const char *path) {
    static _Thread_local char buffer[1 << 18];
    int from = open(path, O_RDONLY | O_CLOEXEC);
    if (from < 0 && !writer->error) writer->error = errno;
    copy_within_kernel(writer, from);
    while (!writer->error) {
        ssize_t n = read(from, buffer, sizeof buffer);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) writer->error = errno;
        if (n <= 0) break;
        infc_file_writer_put(writer, buffer, (size_t)n);
    }
    if (from >= 0) close(from);
}

infc_status infc_file_writer_close(infc_file_writer *writer) {
    if (close(writer->fd) < 0 && !writer->error) writer->error = errno;
    writer->fd = -1;
    if (!writer->error) return INFC_OK;
    return infc_fail(
        writer->cx, INFC_ERR_IO, (infc_loc){.file = writer->path}, "cannot write this file (%llu bytes): %s%s",
        (unsigned long long)writer->bytes, strerror(writer->error),
        writer->error == ENOSPC || writer->error == EDQUOT ? "; free some space and run again" : "");
}
