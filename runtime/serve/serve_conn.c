/* serve_conn.c - connections: bytes to requests, replies to bytes, and how long each may take.
 *
 * A connection has one request at a time; what a client sends meanwhile waits in its buffer, which is bounded, and in
 * the system's. Connections are freed by the callbacks of libevent alone, so nothing else has to expect it. */
#define _GNU_SOURCE 1
#include "serve_server.h"
#include "infrt_os.h"
#include "serve_libevent.h"
#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

enum {
    HEAD_SECONDS = 10, /* from its first byte to the end of a head */
    BODY_SECONDS = 60,
    IDLE_SECONDS = 75, /* between requests */
    SEND_SECONDS = 30, /* without the client taking anything */
    LINGER_SECONDS = 2,
    INPUT_MOST = 65536,       /* waits while a request is answered */
    UNSENT_LOW = 16384,       /* then what was held back goes on */
    HEAD_ROOM = 1024,         /* of a reply's head */
    BODIES = 64,              /* of the longest, that come at a time .. */
    BODIES_LEAST = 128 << 20, /* .. but so many bytes in any case */
};

static size_t unsent(const infrt_conn *c) {
    return evbuffer_get_length(bufferevent_get_output(c->bev));
}

/* Nothing more is said, whatever comes until libevent has ended it: a half-sent reply ends with its connection. */
static void conn_give_up(infrt_conn *c) {
    c->broken = c->close = true;
    bufferevent_disable(c->bev, EV_READ | EV_WRITE);
    bufferevent_trigger_event(c->bev, BEV_EVENT_ERROR, BEV_TRIG_DEFER_CALLBACKS);
}

static void wait_for(infrt_conn *c, int seconds) {
    const struct timeval time = {.tv_sec = seconds};
    if (!seconds) evtimer_del(c->timer);
    else if (evtimer_add(c->timer, &time) < 0) conn_give_up(c); /* it could wait for ever */
}

/* It is whole, or nobody waits for the rest of it. */
static void body_uncount(infrt_conn *c) {
    c->server->body_bytes -= c->body_counted;
    c->body_counted = 0;
}

static void conn_free(infrt_conn *c) {
    body_uncount(c);
    c->server->service->left(c);
    if (c->next) c->next->link = c->link;
    *c->link = c->next;
    c->server->n_connections--;
    infrt_out_free(&c->body);
    if (c->timer) event_free(c->timer);
    bufferevent_free(c->bev);
    free(c);
}

static void request_begin(infrt_conn *c) {
    body_uncount(c);
    infrt_out_free(&c->body);
    infrt_http_begin(&c->http, c->server->options->max_body);
    c->phase = INFRT_PHASE_READING;
    c->route = NULL;
    c->path_bytes = 0;
    c->begin_ns = 0;
    c->request_id[0] = 0;
    c->code = NULL;
    wait_for(c, IDLE_SECONDS);
}

/* ---- replies ------------------------------------------------------------------------------------ */

static const char *reason_of(int status) {
    static const struct {
        int status;
        const char *text;
    } known[] = {{200, "OK"},
                 {400, "Bad Request"},
                 {401, "Unauthorized"},
                 {403, "Forbidden"},
                 {404, "Not Found"},
                 {405, "Method Not Allowed"},
                 {408, "Request Timeout"},
                 {409, "Conflict"},
                 {413, "Content Too Large"},
                 {414, "URI Too Long"},
                 {415, "Unsupported Media Type"},
                 {417, "Expectation Failed"},
                 {422, "Unprocessable Content"},
                 {429, "Too Many Requests"},
                 {431, "Request Header Fields Too Large"},
                 {500, "Internal Server Error"},
                 {501, "Not Implemented"},
                 {503, "Service Unavailable"},
                 {504, "Gateway Timeout"},
                 {505, "HTTP Version Not Supported"},
                 {507, "Insufficient Storage"}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (known[i].status == status) return known[i].text;
    return "Unknown";
}

/* All of both or, for want of memory, nothing and never anything more. */
static bool send_both(infrt_conn *c, const void *first, size_t n_first, const void *then, size_t n_then) {
    struct evbuffer *out = bufferevent_get_output(c->bev);
    if (c->broken) return false;
    infrt_libevent_lacked();
    if (evbuffer_expand(out, n_first + n_then) == 0 && evbuffer_add(out, first, n_first) == 0 &&
        (!n_then || evbuffer_add(out, then, n_then) == 0) && !infrt_libevent_lacked())
        return true;
    conn_give_up(c);
    return false;
}

#define HEAD_FORMAT "HTTP/1.1 %d %s\r\nContent-Type: %s\r\n%s%s%s%s%s\r\n"

/* Status line and fields, up to and with the empty line; returns its bytes. */
static size_t head_make(const infrt_conn *c, int status, const char *type, const char *more,
                        char head[HEAD_ROOM]) {
    const bool named = c->request_id[0] != 0;
    const int n = snprintf(head, HEAD_ROOM, HEAD_FORMAT, status, reason_of(status), type,
                           named ? "X-Request-Id: " : "", c->request_id, named ? "\r\n" : "", more ? more : "",
                           c->close      ? "Connection: close\r\n"
                           : c->http.old ? "Connection: keep-alive\r\n"
                                         : "");
    return n > 0 && n < HEAD_ROOM ? (size_t)n : 0;
}

static void request_end(infrt_conn *c, int status) {
    infrt_request_log(c, status);
    if (!c->close) {
        request_begin(c);
        if (evbuffer_get_length(bufferevent_get_input(c->bev))) /* the next one is there already */
            bufferevent_trigger(c->bev, EV_READ, BEV_TRIG_IGNORE_WATERMARKS | BEV_TRIG_DEFER_CALLBACKS);
        return;
    }
    c->phase = INFRT_PHASE_CLOSING;
    wait_for(c, SEND_SECONDS);
}

void infrt_conn_reply(infrt_conn *c, int status, const char *type, const infrt_out *body, const char *more) {
    static const char sorry[] =
        "{\"error\":{\"message\":\"there is no memory for the answer\",\"type\":\"server_error\","
        "\"param\":null,\"code\":null}}\n";
    const char *text = body->failed ? sorry : body->at;
    const size_t n = body->failed ? sizeof sorry - 1 : body->n;
    char fields[256], head[HEAD_ROOM];
    if (body->failed) status = 500;
    c->close = c->close || c->server->draining || !c->http.keep_alive;
    const bool head_alone = infrt_http_is_method(&c->http, "HEAD");
    snprintf(fields, sizeof fields, "%sContent-Length: %zu\r\n", more ? more : "", n);
    send_both(c, head, head_make(c, status, body->failed ? "application/json" : type, fields, head),
              text, head_alone ? 0 : n);
    request_end(c, status);
}

void infrt_conn_json(infrt_conn *c, int status, infrt_out *body) {
    infrt_conn_reply(c, status, "application/json", body, NULL);
    infrt_out_free(body);
}

void infrt_error_json(const infrt_refusal *r, infrt_out *out) {
    infrt_out_text(out, "{\"error\":{\"message\":");
    infrt_out_string(out, r->text, strlen(r->text));
    const char *type = r->status >= 500 ? "server_error" : "invalid_request_error";
    infrt_out_format(out, ",\"type\":\"%s\",\"param\":", r->type ? r->type : type);
    if (r->param[0]) infrt_out_string(out, r->param, strlen(r->param));
    else infrt_out_text(out, "null");
    if (r->code) infrt_out_format(out, ",\"code\":\"%s\"}}", r->code);
    else infrt_out_text(out, ",\"code\":null}}");
}

void infrt_conn_refuse(infrt_conn *c, const infrt_refusal *r) {
    infrt_out body = {0};
    char retry[40], allow[sizeof r->allow + 16];
    snprintf(allow, sizeof allow, "Allow: %s\r\n", r->allow);
    const char *more = r->status == 429 || r->status == 503 ? retry
                       : r->status == 401                   ? "WWW-Authenticate: Bearer\r\n"
                       : r->allow[0]                        ? allow
                                                            : NULL;
    c->code = r->code;
    snprintf(retry, sizeof retry, "Retry-After: %u\r\n", r->retry_after ? r->retry_after : 1);
    c->server->service->error_put(c, r, &body);
    infrt_out_text(&body, "\n");
    infrt_conn_reply(c, r->status, "application/json", &body, more);
    infrt_out_free(&body);
}

/* What a stream's reply begins with, when it has not begun. */
static bool stream_begin(infrt_conn *c) {
    char head[HEAD_ROOM];
    if (c->phase != INFRT_PHASE_WAITING) return true;
    c->phase = INFRT_PHASE_STREAMING;
    c->close = c->close || c->server->draining || !c->http.keep_alive || c->http.old;
    const char *more = c->http.old ? "Cache-Control: no-cache\r\n"
                                   : "Cache-Control: no-cache\r\nTransfer-Encoding: chunked\r\n";
    const size_t n = head_make(c, 200, "text/event-stream; charset=utf-8", more, head);
    return send_both(c, head, n, NULL, 0);
}

void infrt_conn_stream(infrt_conn *c, infrt_out *frames, bool last) {
    const bool chunked = !c->http.old;
    const size_t n = frames->n;
    char size[32];
    const int n_size = chunked && n ? snprintf(size, sizeof size, "%zx\r\n", n) : 0;
    if (chunked && n) infrt_out_text(frames, "\r\n");
    if (chunked && last) infrt_out_text(frames, "0\r\n\r\n");
    if (frames->failed && !c->broken) conn_give_up(c); /* the client sees that it is not whole */
    else if (stream_begin(c) && frames->n)
        send_both(c, size, (size_t)n_size, frames->at, frames->n);
    frames->n = 0;
    if (last) request_end(c, 200);
    else if (c->server->service->flow) c->server->service->flow(c, unsent(c));
}

/* ---- requests ----------------------------------------------------------------------------------- */

static void request_bad(infrt_conn *c, int status, const char *text) {
    infrt_refusal refusal = {0};
    c->close = true;
    infrt_out_free(&c->body);
    body_uncount(c);
    if (status == 413)
        infrt_refuse(&refusal, status, NULL, "the body is longer than the %llu bytes of --max-body",
                     (unsigned long long)c->http.body_most);
    else infrt_refuse(&refusal, status, NULL, "%s", text);
    infrt_conn_refuse(c, &refusal);
}

/* Beside those that others send: many that stop before their end would take all memory. */
static void body_take(infrt_conn *c, const infrt_http_piece *body) {
    static const char full[] = "too many long requests come at a time; try again";
    infrt_server *s = c->server;
    const uint64_t each = s->options->max_body, own = each < UINT64_MAX / BODIES ? BODIES * each : UINT64_MAX,
                   most = own > BODIES_LEAST ? own : BODIES_LEAST;
    if (s->body_bytes + body->bytes > most) {
        s->metrics.rejected[INFRT_REJECTED_BODIES]++;
        request_bad(c, 503, full);
        return;
    }
    s->body_bytes += body->bytes;
    c->body_counted += body->bytes;
    infrt_out_add(&c->body, body->at, body->bytes);
    if (c->body.failed) request_bad(c, 503, "there is no memory for the request");
}

static void event_take(infrt_conn *c, infrt_http_event event, const infrt_http_piece *body) {
    static const char go_on[] = "HTTP/1.1 100 Continue\r\n\r\n";
    switch (event) {
    case INFRT_HTTP_HEAD_DONE:
        c->begin_ns = infrt_os_now_ns();
        wait_for(c, BODY_SECONDS);
        if (!infrt_request_admit(c)) return;
        if (c->http.expects) send_both(c, go_on, sizeof go_on - 1, NULL, 0);
        return;
    case INFRT_HTTP_BODY: body_take(c, body); return;
    case INFRT_HTTP_END:
        body_uncount(c);
        wait_for(c, 0);
        c->phase = INFRT_PHASE_WAITING;
        c->route->handle(c);
        return;
    case INFRT_HTTP_BAD:
        if (!c->begin_ns) c->begin_ns = infrt_os_now_ns();
        request_bad(c, c->http.status, c->http.wrong);
        return;
    case INFRT_HTTP_MORE: return;
    }
}

static void input_take(infrt_conn *c) {
    struct evbuffer *in = bufferevent_get_input(c->bev);
    infrt_http_event event = INFRT_HTTP_END;
    while (c->phase == INFRT_PHASE_READING && !c->broken && unsent(c) < INPUT_MOST &&
           (event != INFRT_HTTP_MORE || evbuffer_get_length(in))) {
        struct evbuffer_iovec piece = {0};
        infrt_http_piece body;
        size_t used;
        const bool began = infrt_http_began(&c->http);
        if (evbuffer_peek(in, -1, NULL, &piece, 1) < 1) piece.iov_len = 0;
        event = infrt_http_feed(&c->http, piece.iov_base, piece.iov_len, &used, &body);
        if (!began && infrt_http_began(&c->http) && event == INFRT_HTTP_MORE)
            wait_for(c, HEAD_SECONDS);
        event_take(c, event, &body);
        evbuffer_drain(in, used);
    }
    if (c->phase >= INFRT_PHASE_CLOSING) evbuffer_drain(in, evbuffer_get_length(in));
    if (c->broken || evbuffer_get_length(in) >= INPUT_MOST) bufferevent_disable(c->bev, EV_READ);
    else if (bufferevent_enable(c->bev, EV_READ) < 0) conn_give_up(c);
}

/* ---- callbacks ---------------------------------------------------------------------------------- */

static void on_read(struct bufferevent *bev, void *self) {
    (void)bev;
    input_take(self);
}

/* Little or nothing is left to be sent. */
static void on_write(struct bufferevent *bev, void *self) {
    infrt_conn *c = self;
    if (c->phase == INFRT_PHASE_STREAMING) c->server->service->flow(c, unsent(c));
    if (c->phase == INFRT_PHASE_READING) input_take(c);
    if (c->phase != INFRT_PHASE_CLOSING || unsent(c)) return;
    c->phase = INFRT_PHASE_LINGERING;
    if (c->server->tls) infrt_tls_end(bev);
    shutdown(bufferevent_getfd(bev), SHUT_WR);
    wait_for(c, LINGER_SECONDS);
}

/* The client has closed its side or is gone. What was answered already may still be taken; what is not is given up. */
static void on_event(struct bufferevent *bev, short what, void *self) {
    infrt_conn *c = self;
    if (what & BEV_EVENT_CONNECTED) { /* the handshake is done */
        wait_for(c, IDLE_SECONDS);
        return;
    }
    const bool waits = c->phase == INFRT_PHASE_WAITING || c->phase == INFRT_PHASE_STREAMING;
    const bool sends = (what & BEV_EVENT_EOF) && (what & BEV_EVENT_READING) && unsent(c) && !waits;
    if (!sends) {
        conn_free(c);
        return;
    }
    c->close = true;
    bufferevent_disable(bev, EV_READ);
    if (c->phase != INFRT_PHASE_CLOSING) {
        c->phase = INFRT_PHASE_CLOSING;
        wait_for(c, SEND_SECONDS);
    }
}

static void on_time(evutil_socket_t fd, short what, void *self) {
    infrt_conn *c = self;
    (void)fd;
    (void)what;
    if (c->phase == INFRT_PHASE_READING && infrt_http_began(&c->http)) {
        if (!c->begin_ns) c->begin_ns = infrt_os_now_ns();
        request_bad(c, 408, "the request did not come to its end in time");
    } else {
        conn_free(c);
    }
}

void infrt_conn_accept(infrt_server *s, int fd) {
    static const struct timeval send_time = {.tv_sec = SEND_SECONDS};
    infrt_conn *c = calloc(1, s->service->conn_bytes);
    infrt_libevent_lacked();
    struct bufferevent *bev = !c       ? NULL
                              : s->tls ? infrt_tls_accept(s->tls, s->base, fd)
                                       : bufferevent_socket_new(s->base, fd, BEV_OPT_CLOSE_ON_FREE);
    if (!bev) {
        evutil_closesocket(fd);
        free(c);
        return;
    }
    *c = (infrt_conn){.server = s, .bev = bev, .next = s->conns, .link = &s->conns};
    if (s->conns) s->conns->link = &c->next;
    s->conns = c;
    s->n_connections++;
    c->timer = evtimer_new(s->base, on_time, c);
    if (!c->timer) {
        conn_free(c);
        return;
    }
    request_begin(c);
    if (s->tls) wait_for(c, HEAD_SECONDS); /* for its handshake */
    bufferevent_setcb(bev, on_read, on_write, on_event, c);
    bufferevent_setwatermark(bev, EV_WRITE, UNSENT_LOW, 0);
    bufferevent_set_timeouts(bev, NULL, &send_time);
    bufferevent_enable(bev, EV_READ | EV_WRITE);
    if (infrt_libevent_lacked()) conn_free(c);
}

bool infrt_conns_pending(const infrt_server *s) {
    for (const infrt_conn *c = s->conns; c; c = c->next)
        if (unsent(c) || c->phase == INFRT_PHASE_WAITING || c->phase == INFRT_PHASE_STREAMING)
            return true;
    return false;
}

void infrt_conns_close(infrt_server *s) {
    while (s->conns) conn_free(s->conns);
}
