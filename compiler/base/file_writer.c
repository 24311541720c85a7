/* file_writer.c - infc_file_writer of file.h. As long as all that is put agrees with `like`, nothing is written and
 * `fd` is -1; the first byte that differs makes the file, with the part that agreed. */
#include "digest.h"
#include "file.h"
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MOST = 1 << 30, PART = 1 << 18 };
static _Thread_local char part_of_source[PART], part_of_like[PART];

/* As much of `from`, from *at on, as the kernel copies by itself, `n` bytes at most. */
static void copy_within_kernel(infc_file_writer *writer, int from, off64_t *at, uint64_t n, uint64_t *to) {
    while (n && !writer->error) {
        off64_t there = (off64_t)*to;
        const ssize_t done = copy_file_range(from, at, writer->fd, &there, n < MOST ? n : MOST, 0);
        if (done <= 0) return;
        *to += (uint64_t)done;
        n -= (uint64_t)done;
    }
}

static void write_at(infc_file_writer *writer, uint64_t offset, const void *bytes, size_t n) {
    const char *at = bytes;
    while (n && !writer->error) {
        ssize_t done = pwrite(writer->fd, at, n < MOST ? n : MOST, (off_t)offset);
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

/* Less than `n` at the end of the file; -1 and errno. */
static ssize_t read_at(int from, uint64_t offset, char *to, size_t n) {
    ssize_t done;
    do done = pread(from, to, n, (off_t)offset);
    while (done < 0 && errno == EINTR);
    return done;
}

/* `n` bytes of `from`, or all there are, from `at` on, to offset *to on. */
static void copy(infc_file_writer *writer, int from, uint64_t at, uint64_t n, uint64_t *to) {
    off64_t begin = (off64_t)at;
    copy_within_kernel(writer, from, &begin, n, to);
    n -= (uint64_t)begin - at;
    at = (uint64_t)begin;
    while (n && !writer->error) {
        const ssize_t got = read_at(from, at, part_of_source, n < PART ? (size_t)n : PART);
        if (got < 0) writer->error = errno;
        if (got <= 0) return;
        write_at(writer, *to, part_of_source, (size_t)got);
        at += (uint64_t)got;
        *to += (uint64_t)got;
        n -= (uint64_t)got;
    }
}

static int create(const char *path, unsigned mode) {
    return open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, (mode_t)mode);
}

/* ---- a file that may be the same ----------------------------------------------------------------------- */

/* A file that a new one could be: ours, with the mode that it would get; else -1. */
static int open_like(const char *path, unsigned mode) {
    const mode_t mask = umask(0);
    umask(mask);
    struct stat info;
    const int fd = path ? open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC) : -1;
    if (fd < 0) return -1;
    if (fstat(fd, &info) == 0 && S_ISREG(info.st_mode) && info.st_uid == geteuid() &&
        (info.st_mode & 07777) == (mode & ~mask))
        return fd;
    close(fd);
    return -1;
}

static bool agrees(const infc_file_writer *writer, uint64_t offset, const char *bytes, size_t n) {
    for (size_t from = 0; from < n; from += PART) {
        const size_t here = n - from < PART ? n - from : PART;
        if (read_at(writer->like, offset + from, part_of_like, here) < (ssize_t)here ||
            memcmp(part_of_like, bytes + from, here) != 0)
            return false;
    }
    return true;
}

/* From now on it is a file of its own. */
static void differ(infc_file_writer *writer) {
    uint64_t end = 0;
    writer->fd = create(writer->path, writer->mode);
    if (writer->fd < 0 && !writer->error) writer->error = errno;
    copy(writer, writer->like, 0, writer->bytes, &end);
    if (end < writer->bytes && !writer->error)
        writer->error = EIO; /* it became shorter meanwhile */
    infc_digest_retire(writer->cx, writer->like_path, writer->like);
    close(writer->like);
    writer->like = -1;
}

/* Gives the file open as `fd`, of this size, a second name. */
static bool share(int fd, const char *like, uint64_t bytes, const char *path) {
    struct stat info;
    if (fstat(fd, &info) < 0 || (uint64_t)info.st_size != bytes) return false;
    if (link(like, path) < 0) return false;
    if (infc_file_is(path, &info)) return true;
    unlink(path);
    return false;
}

/* ---- file.h ------------------------------------------------------------------------------------------------ */

bool infc_file_share(const char *like, uint64_t bytes, const char *path, unsigned mode) {
    const int fd = open_like(like, mode);
    if (fd < 0) return false;
    const bool shared = share(fd, like, bytes, path);
    close(fd);
    return shared;
}

infc_status infc_file_writer_open(infc_cx *cx, const char *path, const char *like, unsigned mode,
                                  infc_file_writer *out) {
    *out = (infc_file_writer){.cx = cx, .path = path, .like_path = like, .mode = mode, .fd = -1};
    out->like = open_like(like, mode);
    if (out->like >= 0) return INFC_OK;
    out->fd = create(path, mode);
    if (out->fd >= 0) return INFC_OK;
    return infc_fail(cx, INFC_ERR_IO, (infc_loc){.file = path}, "cannot create this file: %s", strerror(errno));
}

void infc_file_writer_patch(infc_file_writer *writer, uint64_t offset, const void *bytes, size_t n) {
    if (writer->like >= 0) {
        if (agrees(writer, offset, bytes, n)) return;
        differ(writer);
    }
    write_at(writer, offset, bytes, n);
}

void infc_file_writer_put(infc_file_writer *writer, const void *bytes, size_t n) {
    infc_file_writer_patch(writer, writer->bytes, bytes, n);
    writer->bytes += n;
}

void infc_file_writer_skip(infc_file_writer *writer, size_t n) { writer->bytes += n; }

/* Puts the parts of `from` that agree and the first that does not; how many bytes of it. */
static uint64_t put_same(infc_file_writer *writer, int from) {
    for (uint64_t at = 0;;) {
        const ssize_t n = writer->like >= 0 && !writer->error ? read_at(from, at, part_of_source, PART) : 0;
        if (n < 0) writer->error = errno;
        if (n <= 0) return at;
        infc_file_writer_put(writer, part_of_source, (size_t)n);
        at += (uint64_t)n;
    }
}

void infc_file_writer_copy(infc_file_writer *writer, const char *path) {
    const int from = open(path, O_RDONLY | O_CLOEXEC);
    if (from < 0 && !writer->error) writer->error = errno;
    const uint64_t at = put_same(writer, from);
    if (writer->like < 0 && !writer->error) copy(writer, from, at, UINT64_MAX, &writer->bytes);
    if (from >= 0) close(from);
}

infc_status infc_file_writer_close(infc_file_writer *writer) {
    writer->shared = writer->like >= 0 && !writer->error &&
                     share(writer->like, writer->like_path, writer->bytes, writer->path);
    if (writer->like >= 0 && !writer->error && !writer->shared) differ(writer);
    if (writer->like >= 0) close(writer->like);
    if (writer->fd >= 0 && close(writer->fd) < 0 && !writer->error) writer->error = errno;
    writer->fd = writer->like = -1;
    if (!writer->error) return INFC_OK;
    return infc_fail(
        writer->cx, INFC_ERR_IO, (infc_loc){.file = writer->path}, "cannot write this file (%llu bytes): %s%s",
        (unsigned long long)writer->bytes, strerror(writer->error),
        writer->error == ENOSPC || writer->error == EDQUOT ? "; free some space and run again" : "");
}
