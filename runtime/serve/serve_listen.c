/* serve_listen.c - the address, and who is let in. */
#define _GNU_SOURCE 1
#include "serve_server.h"
#include "infrt_os.h"
#include <errno.h>
#include <event2/event.h>
#include <event2/listener.h>
#include <inttypes.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { BACKLOG = 1024, REOPEN_MS = 100 };

static void on_reopen(evutil_socket_t fd, short what, void *self) {
    static const struct timeval time = {.tv_usec = REOPEN_MS * 1000};
    infrt_server *s = self;
    (void)fd;
    (void)what;
    if (evconnlistener_enable(s->listener) < 0) evtimer_add(s->reopen, &time);
}

/* Nobody is let in for a moment: too many are, or the system has no descriptors left. */
static void pause_listening(infrt_server *s) {
    const struct timeval time = {.tv_usec = REOPEN_MS * 1000};
    if (evtimer_add(s->reopen, &time) == 0) evconnlistener_disable(s->listener);
}

/* At most one line in ten seconds. */
static bool is_told(uint64_t *told_ns) {
    const uint64_t now = infrt_os_now_ns();
    if (*told_ns && now - *told_ns < UINT64_C(10000000000)) return false;
    *told_ns = now;
    return true;
}

/* What a client is told that gets no place; nothing was read of it. */
static void refusal_send(infrt_server *s, int fd) {
    infrt_refusal refusal = {.type = "overloaded_error", .code = "connections_full"};
    infrt_out body = {0}, out = {0};
    char unread[4096];
    infrt_refuse(&refusal, 503, NULL, "%u connections are open, and no more are taken; try again", s->n_connections);
    s->service->error_put(NULL, &refusal, &body);
    infrt_out_format(&out,
                     "HTTP/1.1 503 Service Unavailable\r\nContent-Type: "
                     "application/json\r\nContent-Length: %zu\r\n"
                     "Retry-After: 1\r\nConnection: close\r\n\r\n",
                     body.n);
    infrt_out_add(&out, body.at, body.n);
    if (!body.failed && !out.failed && send(fd, out.at, out.n, MSG_DONTWAIT | MSG_NOSIGNAL) > 0) {
        shutdown(fd, SHUT_WR);
        for (int i = 0; i < 16 && recv(fd, unread, sizeof unread, MSG_DONTWAIT) > 0; i++) {
        } /* else it would be a reset */
    }
    infrt_out_free(&body);
    infrt_out_free(&out);
}

static void turn_away(infrt_server *s, int fd) {
    const uint64_t n = ++s->metrics.rejected[INFRT_REJECTED_CONNECTIONS];
    if (is_told(&s->full_told_ns))
        infrt_log_format(&s->log,
                         "{\"event\":\"connections_full\",\"connections\":%u,"
                         "\"turned_away_total\":%" PRIu64 "}\n",
                         s->n_connections, n);
    if (!s->tls) refusal_send(s, fd);
    evutil_closesocket(fd);
}

static void on_accept(struct evconnlistener *listener, evutil_socket_t fd, struct sockaddr *address,
                      int bytes, void *self) {
    static const int on = 1;
    infrt_server *s = self;
    (void)listener;
    (void)address;
    (void)bytes;
    if (s->n_connections >= s->options->connections) {
        turn_away(s, fd);
        return;
    }
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    infrt_conn_accept(s, fd);
    if (s->n_connections >= s->options->connections) pause_listening(s);
}

static void on_accept_error(struct evconnlistener *listener, void *self) {
    const int why = errno;
    infrt_server *s = self;
    (void)listener;
    if (is_told(&s->failed_told_ns))
        infrt_log_format(&s->log, "{\"event\":\"accept_failed\",\"connections\":%u,\"error\":\"%s\"}\n",
                         s->n_connections, strerror(why));
    pause_listening(s);
}

static int socket_bind(const infrt_serve_options *o, infrt_error *error) {
    const struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE | AI_NUMERICSERV};
    static const int on = 1;
    struct addrinfo *found;
    char port[16], host[256];
    int fd = -1, failure = 0;
    const size_t n = strlen(o->host);
    const bool brackets = n > 2 && o->host[0] == '[' && o->host[n - 1] == ']'; /* as addresses have them */
    snprintf(port, sizeof port, "%u", o->port);
    snprintf(host, sizeof host, "%.*s", (int)(brackets ? n - 2 : n), o->host + brackets);
    const int wrong = getaddrinfo(host, port, &hints, &found);
    if (wrong) {
        infrt_fail(error, wrong == EAI_AGAIN || wrong == EAI_SYSTEM ? INFRT_ERR_IO : INFRT_ERR_USAGE,
                   "--host %s (or serve.host of the spec): no address is known by that name: %s; "
                   "give 127.0.0.1 for this "
                   "machine alone, 0.0.0.0 for whoever reaches it, or an address that it has",
                   o->host, gai_strerror(wrong));
        return -1;
    }
    for (struct addrinfo *a = found; a && fd < 0; a = a->ai_next) {
        fd = socket(a->ai_family, a->ai_socktype | SOCK_CLOEXEC | SOCK_NONBLOCK, a->ai_protocol);
        if (fd >= 0) setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
        if (fd >= 0 && bind(fd, a->ai_addr, a->ai_addrlen) == 0) continue;
        failure = errno;
        if (fd >= 0) close(fd);
        fd = -1;
    }
    freeaddrinfo(found);
    if (fd < 0)
        infrt_fail(error, INFRT_ERR_IO, "%s port %u cannot be served: %s%s", o->host, o->port,
                   strerror(failure),
                   failure == EADDRINUSE ? "; --port 0 takes any that is free"
                   : failure == EADDRNOTAVAIL
                       ? "; --host takes an address that this machine has, or 0.0.0.0 for all"
                   : failure == EACCES ? "; take one above 1023"
                                       : "");
    return fd;
}

infrt_status infrt_conns_listen(infrt_server *s, infrt_error *error) {
    const int fd = socket_bind(s->options, error);
    if (fd < 0) return error->status;
    s->reopen = evtimer_new(s->base, on_reopen, s);
    s->listener = evconnlistener_new(s->base, on_accept, s,
                                     LEV_OPT_CLOSE_ON_FREE | LEV_OPT_CLOSE_ON_EXEC | LEV_OPT_DISABLED,
                                     BACKLOG, fd);
    if (!s->listener || !s->reopen)
        return infrt_fail(error, INFRT_ERR_IO, "%s port %u cannot be listened on", s->options->host,
                          s->options->port);
    evconnlistener_set_error_cb(s->listener, on_accept_error);
    return INFRT_OK;
}

infrt_status infrt_conns_open(infrt_server *s, infrt_error *error) {
    struct sockaddr_storage address;
    socklen_t bytes = sizeof address;
    char host[64] = "", port[16] = "";
    if (evconnlistener_enable(s->listener) < 0)
        return infrt_fail(error, INFRT_ERR_NO_MEMORY, "no memory for the server");
    getsockname(evconnlistener_get_fd(s->listener), (struct sockaddr *)&address, &bytes);
    getnameinfo((struct sockaddr *)&address, bytes, host, sizeof host, port, sizeof port,
                NI_NUMERICHOST | NI_NUMERICSERV);
    const bool six = strchr(host, ':') != NULL;
    const int n = printf("listening on %s://%s%s%s:%s\n", s->tls ? "https" : "http", six ? "[" : "",
                         host, six ? "]" : "", port);
    if (n > 0 && fflush(stdout) == 0) return INFRT_OK;
    return infrt_fail(error, INFRT_ERR_IO, "standard output: cannot write the address: %s", strerror(errno));
}

void infrt_listen_close(infrt_server *s) {
    if (s->listener) evconnlistener_free(s->listener);
    if (s->reopen) event_free(s->reopen);
}
