/* serve_log.c - see serve_log.h. Who else has our stderr expects it to wait, so O_NONBLOCK is not set on it: a pipe and
 * a terminal are opened once more, a socket is told so each time. */
#define _GNU_SOURCE 1
#include "serve_log.h"
#include "infrt_os.h"
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

void infrt_log_open(infrt_log *log) {
    struct stat info = {0};
    *log = (infrt_log){.fd = STDERR_FILENO, .open = true};
    if (fstat(STDERR_FILENO, &info) != 0) return;
    log->socket = S_ISSOCK(info.st_mode);
    log->file = S_ISREG(info.st_mode);
    if (!S_ISFIFO(info.st_mode) && !S_ISCHR(info.st_mode)) return;
    const int fd = open("/proc/self/fd/2", O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (fd >= 0) log->fd = fd;
    log->own = fd >= 0;
}

/* How many bytes could be written; fewer than n: no more at present. */
static size_t write_some(const infrt_log *log, const char *at, size_t n) {
    size_t done = 0;
    while (done < n) {
        struct pollfd room = {.fd = log->fd, .events = POLLOUT};
        const bool ask = !log->socket && !log->own && !log->file;
        const size_t part = ask && n - done > PIPE_BUF ? PIPE_BUF : n - done; /* a pipe with room has that much */
        if (ask && poll(&room, 1, 0) != 1) break;
        const ssize_t got = log->socket ? send(log->fd, at + done, part, MSG_DONTWAIT | MSG_NOSIGNAL)
                                        : write(log->fd, at + done, part);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) break;
        done += (size_t)got;
    }
    return done;
}

/* Writes what a line before left: false when some is left still. */
static bool rest_write(infrt_log *log) {
    if (log->torn && write_some(log, "\n", 1) == 0) return false;
    log->torn = false;
    if (!log->rest.n) return true;
    const size_t done = write_some(log, log->rest.at, log->rest.n);
    memmove(log->rest.at, log->rest.at + done, log->rest.n - done);
    log->rest.n -= done;
    return log->rest.n == 0;
}

/* A line that has begun is written to its end, before any other; false: it has not begun. */
static bool line_write(infrt_log *log, const char *at, size_t n) {
    if (!rest_write(log)) return false;
    const size_t done = write_some(log, at, n);
    if (done > 0 && done < n) {
        infrt_out_free(&log->rest);
        infrt_out_add(&log->rest, at + done, n - done);
        log->torn = log->rest.failed;
    }
    return done > 0 && !log->torn;
}

/* A line is an object: the time becomes its first key; of a long one there may be no memory for that. */
static bool stamped_write(infrt_log *log, const char *at, size_t n) {
    char time[INFRT_OS_TIME], text[2048];
    infrt_out line = {0};
    infrt_os_time_text(time);
    const size_t k = (size_t)snprintf(text, sizeof text, "{\"time\":\"%s\",", time);
    if (n - 1 <= sizeof text - k) {
        memcpy(text + k, at + 1, n - 1);
        return line_write(log, text, k + n - 1);
    }
    infrt_out_add(&line, text, k);
    infrt_out_add(&line, at + 1, n - 1);
    const bool done = line.failed ? line_write(log, at, n) : line_write(log, line.at, line.n);
    infrt_out_free(&line);
    return done;
}

static void dropped_tell(infrt_log *log) {
    char text[96];
    if (!log->untold) return;
    const int n =
        snprintf(text, sizeof text, "{\"event\":\"log_dropped\",\"lines\":%" PRIu64 "}\n", log->untold);
    if (stamped_write(log, text, (size_t)n)) log->untold = 0;
}

void infrt_log_put(infrt_log *log, const infrt_out *line) {
    dropped_tell(log);
    if (!log->untold && !line->failed && stamped_write(log, line->at, line->n)) return;
    log->dropped++;
    log->untold++;
}

void infrt_log_format(infrt_log *log, const char *format, ...) {
    char text[512];
    va_list arguments;
    infrt_out line = {0};
    va_start(arguments, format);
    const int n = vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    if (n > 0) infrt_out_add(&line, text, (size_t)n < sizeof text ? (size_t)n : sizeof text - 1);
    infrt_log_put(log, &line);
    infrt_out_free(&line);
}

void infrt_log_close(infrt_log *log) {
    if (!log->open) return;
    rest_write(log);
    dropped_tell(log);
    infrt_out_free(&log->rest);
    if (log->own) close(log->fd);
    *log = (infrt_log){0};
}
