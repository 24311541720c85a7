/* serve_watch.c - whether what computes goes on: its service tells when it was last seen to, and looked at is whether
 * that changes. A time when nobody looked (the process was stopped) counts as one look, so that an engine which was
 * stopped with everything else is given the time to go on. */
#include "serve_server.h"
#include "infrt_os.h"
#include <event2/event.h>

#define SECOND UINT64_C(1000000000)
enum { WATCHDOG_SECONDS = 60, WATCHDOG_LEAST = 2, LOOKS = 8 };

bool infrt_server_alive(const infrt_server *s) { return s->watch.still_ns < s->watch.limit_ns; }

static void on_look(evutil_socket_t fd, short what, void *self) {
    infrt_server *s = self;
    infrt_watch_state *w = &s->watch;
    const uint64_t busy = s->service->busy_since_ns(s), now = infrt_os_now_ns(), since = now - w->seen_ns;
    (void)fd;
    (void)what;
    if (!busy || busy != w->seen_busy) w->still_ns = 0;
    else w->still_ns += since < 2 * w->look_ns ? since : 2 * w->look_ns;
    w->seen_busy = busy;
    w->seen_ns = now;
    if (infrt_server_alive(s)) return;
    infrt_refusal refusal = {.type = "server_error", .code = "engine_stalled"};
    infrt_refuse(&refusal, 503, NULL, "the engine stands still");
    s->service->fail(s, &refusal);
}

infrt_status infrt_watch_start(infrt_server *s, infrt_error *error) {
    infrt_watch_state *w = &s->watch;
    w->limit_ns = s->options->watchdog_ns ? s->options->watchdog_ns : WATCHDOG_SECONDS * SECOND;
    if (w->limit_ns < WATCHDOG_LEAST * SECOND)
        return infrt_fail(error, INFRT_ERR_USAGE,
                          "--watchdog: give %ds or more; an idle engine goes round once a second",
                          (int)WATCHDOG_LEAST);
    w->look_ns = w->limit_ns / LOOKS < SECOND ? w->limit_ns / LOOKS : SECOND;
    const struct timeval time = {.tv_sec = (time_t)(w->look_ns / SECOND),
                                 .tv_usec = (suseconds_t)(w->look_ns % SECOND / 1000)};
    w->seen_ns = infrt_os_now_ns();
    w->look = event_new(s->base, -1, EV_PERSIST, on_look, s);
    if (w->look && event_add(w->look, &time) == 0) return INFRT_OK;
    return infrt_fail(error, INFRT_ERR_NO_MEMORY, "no memory for the server");
}
