/* serve_libevent.h - what libevent, which is one for the whole process, has of a server: its memory and its log.
 * SPDX-License-Identifier: MIT */
#ifndef INFRT_SERVE_LIBEVENT_H
#define INFRT_SERVE_LIBEVENT_H
#include "serve_log.h"

/* Before anything else of it. `log`: borrowed until infrt_libevent_end; for what it warns of on this thread. */
void infrt_libevent_begin(infrt_log *log);
void infrt_libevent_end(void); /* after all that was made of it is freed */
/* Whether it got no memory on this thread since this was last asked: it does not tell of each such failure, and a
 * connection that goes on after one could wait for ever. */
bool infrt_libevent_lacked(void);

#endif
