/* Connections over a socket pair, on this thread alone: what a client sees when memory runs out. */
#define _GNU_SOURCE 1
#include "serve_libevent.h"
#include "serve_server.h"
#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/event.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>
#include <cmocka.h>

enum { FRAME = 12000, RECEIVED = 1 << 22 };

static infrt_conn *waiting; /* whose request has come */

static void handle(infrt_conn *c) { waiting = c; }
static void left(infrt_conn *c) {
    if (c == waiting) waiting = NULL;
}
static void flow(infrt_conn *c, size_t unsent) {
    (void)c;
    (void)unsent;
}
static void log_add(const infrt_conn *c, infrt_out *out) {
    (void)c;
    (void)out;
}
static void error_put(const infrt_conn *c, const infrt_refusal *refusal, infrt_out *out) {
    (void)c;
    infrt_error_json(refusal, out);
}

static const infrt_route routes[] = {{"GET", "/stream", handle, INFRT_ROUTE_OPEN}};
static const infrt_service service = {.routes = routes,
                                      .n_routes = 1,
                                      .conn_bytes = sizeof(infrt_conn),
                                      .left = left,
                                      .flow = flow,
                                      .log = log_add,
                                      .error_put = error_put};
static const infrt_serve_options options = {.max_body = 4096, .connections = 4};

typedef struct world {
    infrt_server server;
    int client, log[2]; /* log: a pipe */
    size_t n;           /* received */
    char received[RECEIVED];
} world;

static void loop_once(world *w) { event_base_loop(w->server.base, EVLOOP_ONCE | EVLOOP_NONBLOCK); }

static void begin(world *w) {
    static const char request[] = "GET /stream HTTP/1.1\r\nHost: h\r\n\r\n";
    const int room = 4096;
    int fds[2];
    *w = (world){.server = {.service = &service, .options = &options}};
    assert_int_equal(pipe2(w->log, O_CLOEXEC | O_NONBLOCK), 0);
    w->server.log.fd = w->log[1];
    infrt_libevent_begin(&w->server.log);
    w->server.base = event_base_new();
    assert_non_null(w->server.base);
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, fds), 0);
    setsockopt(fds[0], SOL_SOCKET, SO_SNDBUF, &room, sizeof room);
    w->client = fds[1];
    infrt_conn_accept(&w->server, fds[0]);
    assert_int_equal(write(w->client, request, sizeof request - 1), sizeof request - 1);
    for (int i = 0; i < 10 && !waiting; i++) loop_once(w);
    assert_non_null(waiting);
}

/* What has come; false: the end. */
static bool take(world *w) {
    ssize_t got;
    while ((got = read(w->client, w->received + w->n, RECEIVED - w->n)) > 0) w->n += (size_t)got;
    return got < 0;
}

static void end(world *w) {
    for (int i = 0; i < 1000 && take(w); i++) loop_once(w);
    infrt_conns_close(&w->server);
    event_base_free(w->server.base);
    infrt_libevent_end();
    close(w->client);
    close(w->log[0]);
    close(w->log[1]);
}

static bool ends_with(const world *w, const char *text) {
    const size_t n = strlen(text);
    return w->n >= n && memcmp(w->received + w->n - n, text, n) == 0;
}

static void stream(infrt_conn *c, const char *text, size_t n, bool last) {
    infrt_out frames = {0};
    infrt_out_add(&frames, text, n);
    infrt_conn_stream(c, &frames, last);
    infrt_out_free(&frames);
}

/* More than the system takes: some is left unsent. */
static void fill(void) {
    static char frame[FRAME];
    memset(frame, 'x', FRAME);
    stream(waiting, frame, FRAME, false);
}

static void lost_then_last(evutil_socket_t fd, short what, void *self) {
    infrt_out lost = {.failed = true};
    (void)fd;
    (void)what;
    (void)self;
    infrt_conn_stream(waiting, &lost, false);
    stream(waiting, "data: [DONE]\n\n", 14, true);
}

static void whole_then_last(evutil_socket_t fd, short what, void *self) {
    (void)fd;
    (void)what;
    (void)self;
    stream(waiting, "data: 1\n\n", 9, false);
    stream(waiting, "data: [DONE]\n\n", 14, true);
}

/* What is there of a stream is sent in the same round in which more of it comes, by `more`. */
static void sent_while(world *w, event_callback_fn more) {
    const int mail = eventfd(1, EFD_CLOEXEC | EFD_NONBLOCK);
    begin(w);
    fill();
    for (int i = 0; i < 4; i++) loop_once(w); /* until it knows that no more can be written */
    assert_true(evbuffer_get_length(bufferevent_get_output(waiting->bev)) > 0);
    struct event *event = event_new(w->server.base, mail, EV_READ, more, NULL);
    event_add(event, NULL);
    take(w);
    loop_once(w);
    event_free(event);
    close(mail);
}

static world w;

static void a_stream_that_lost_a_part_never_ends_well(void **state) {
    (void)state;
    sent_while(&w, lost_then_last);
    end(&w);
    assert_null(waiting); /* it is closed */
    assert_false(ends_with(&w, "0\r\n\r\n"));
    assert_null(memmem(w.received, w.n, "[DONE]", 6));
}

static void a_whole_one_does(void **state) {
    (void)state;
    sent_while(&w, whole_then_last);
    end(&w);
    assert_true(ends_with(&w, "9\r\ndata: 1\n\n\r\ne\r\ndata: [DONE]\n\n\r\n0\r\n\r\n"));
    assert_int_equal(w.server.metrics.http[0][2], 1);
}

static void again(evutil_socket_t fd, short what, void *base) {
    (void)fd;
    (void)what;
    event_base_loop(base, EVLOOP_NONBLOCK); /* which libevent warns of */
}

static void libevent_warns_in_a_line_of_json(void **state) {
    (void)state;
    char text[512];
    static const struct timeval now = {0};
    begin(&w);
    while (read(w.log[0], text, sizeof text) > 0) {}
    event_base_once(w.server.base, -1, EV_TIMEOUT, again, w.server.base, &now);
    for (int i = 0; i < 3; i++) loop_once(&w);
    const ssize_t n = read(w.log[0], text, sizeof text);
    assert_true(n > 0);
    static const char after_time[] =
        "Z\",\"event\":\"libevent\",\"text\":\"event_base_loop: reentrant invocation.";
    assert_memory_equal(text, "{\"time\":\"20", 11);
    const char *end_of_time = memchr(text, 'Z', (size_t)n);
    assert_non_null(end_of_time);
    assert_memory_equal(end_of_time, after_time, sizeof after_time - 1);
    assert_memory_equal(text + n - 3, "\"}\n", 3);
    infrt_conns_close(&w.server);
    end(&w);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_whole_one_does),
                                       cmocka_unit_test(libevent_warns_in_a_line_of_json),
                                       cmocka_unit_test(a_stream_that_lost_a_part_never_ends_well)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
