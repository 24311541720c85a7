/* serve_log.h - the log: a line of JSON on stderr for each event. Writing to it never waits: what nobody reads is
 * dropped and counted. SPDX-License-Identifier: MIT */
#ifndef INFRT_SERVE_LOG_H
#define INFRT_SERVE_LOG_H
#include "serve_text.h"

typedef struct infrt_log { /* the network thread's */
    int fd;
    bool open, socket, own, file; /* of `fd`: a socket; opened here, without waiting; a file of a disk */
    bool torn;      /* for want of memory a line was written in part, and its rest is lost */
    infrt_out rest; /* of a line that was written in part */
    uint64_t dropped, untold; /* lines, all and those that no line tells of yet */
} infrt_log;

void infrt_log_open(infrt_log *log);
/* A line with its newline. */
void infrt_log_put(infrt_log *log, const infrt_out *line);
void infrt_log_format(infrt_log *log, const char *format, ...) __attribute__((format(printf, 2, 3)));
void infrt_log_close(infrt_log *log); /* {0} is fine */

#endif
