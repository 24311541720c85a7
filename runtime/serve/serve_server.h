/* serve_server.h - inside of the server: the network thread's connections, and what its parts call of each other. What
 * a server is for is a service: language models (serve_llm/) or tensors (serve_tensor/).
 * SPDX-License-Identifier: MIT */
#ifndef INFRT_SERVE_SERVER_H
#define INFRT_SERVE_SERVER_H
#include "http_parse.h"
#include "infrt_serve.h"
#include "mailbox.h"
#include "serve_keys.h"
#include "serve_log.h"
#include "serve_metrics.h"
#include "serve_quota.h"
#include "serve_refusal.h"
#include "serve_text.h"
#include "serve_tls.h"

struct event;
struct event_base;
struct evconnlistener;
struct bufferevent;
typedef struct infrt_conn infrt_conn;
typedef struct infrt_server infrt_server;

enum {                        /* of a route: bits */
       INFRT_ROUTE_OPEN = 1,  /* without a key */
       INFRT_ROUTE_BELOW = 2, /* the path goes on */
       INFRT_ROUTE_BYTES = 4, /* POST: application/octet-stream, or no type at all, is fine too */
};

typedef struct infrt_route {
    const char *method, *path;
    void (*handle)(infrt_conn *c);
    unsigned how;
} infrt_route;

/* All functions are called on the network thread. */
typedef struct infrt_service {
    const infrt_route *routes;
    uint32_t n_routes; /* below INFRT_ROUTES_MOST */
    size_t conn_bytes; /* of a connection with what the service keeps there: begins with an infrt_conn, then zeros */
    void (*letter)(infrt_server *s, infrt_letter *letter); /* it came */
    bool (*idle)(const infrt_server *s);                   /* nothing is under way */
    /* When what computes was last seen to go on; 0: nothing is under way. */
    uint64_t (*busy_since_ns)(infrt_server *s);
    void (*fail)(infrt_server *s, const infrt_refusal *why); /* what waits: it is told so */
    void (*left)(infrt_conn *c); /* the connection ends: its request, if it waits, is no longer wanted */
    void (*flow)(infrt_conn *c, size_t unsent); /* of a stream: how much its client has not taken; may be null */
    void (*log)(const infrt_conn *c, infrt_out *out); /* members of the request's line, each after a comma */
    void (*metrics)(infrt_server *s, infrt_out *out); /* its own */
    /* The body of a refusal; c null: of one of whom nothing was read. */
    void (*error_put)(const infrt_conn *c, const infrt_refusal *refusal, infrt_out *out);
} infrt_service;

typedef struct infrt_watch_state {
    struct event *look;
    uint64_t limit_ns, look_ns;  /* how long it may stand still, and how often it is looked at */
    uint64_t seen_busy, seen_ns; /* what it said then, and when */
    uint64_t still_ns;           /* for how long it has not gone on */
} infrt_watch_state;

struct infrt_server {
    const infrt_service *service;
    const infc_model *model;
    const infrt_serve_options *options;
    infrt_mailbox in; /* the network thread's */
    infrt_keys keys;
    infrt_quotas quotas;
    infrt_tls *tls; /* null: HTTP */
    infrt_log log;
    infrt_metrics metrics;
    infrt_watch_state watch;
    struct event_base *base;
    struct evconnlistener *listener;
    struct event *mail, *tick, *hangup, *reopen;
    infrt_conn *conns;
    uint32_t n_connections;
    uint64_t body_bytes;                   /* of requests that have not come to their end */
    uint64_t full_told_ns, failed_told_ns; /* when the log last said that nobody is let in; 0: never */
    uint64_t n_requests, random;
    int64_t created;
    bool draining, drain_told;
    uint64_t drained_ns; /* when what still runs is cancelled */
};

typedef enum infrt_phase {
    INFRT_PHASE_READING,   /* a request, or waits for one */
    INFRT_PHASE_WAITING,   /* for its answer */
    INFRT_PHASE_STREAMING, /* it */
    INFRT_PHASE_CLOSING,   /* when all is sent */
    INFRT_PHASE_LINGERING, /* what still comes is not looked at, so that the last answer arrives */
} infrt_phase;

struct infrt_conn {
    infrt_server *server;
    infrt_conn *next, **link;
    struct bufferevent *bev;
    struct event *timer;
    infrt_phase phase;
    infrt_http http;
    infrt_out body;
    uint64_t body_counted;    /* in the server's body_bytes */
    const infrt_route *route; /* null: none */
    const char *path;         /* of the target, without what follows "?" */
    size_t path_bytes;
    char request_id[65];
    const char *code; /* of the refusal; null: none */
    uint32_t key;     /* who asks, from 1; 0: without keys */
    uint64_t begin_ns;
    bool close;  /* after this answer */
    bool broken; /* for want of memory: nothing more is sent */
};

/* serve.c: a server from its start to its end. `s` is all zeros but for what the service keeps behind it. */
infrt_status infrt_server_open(infrt_server *s, const infrt_service *service, const infc_model *model,
                               const infrt_serve_options *options, infrt_error *error);
/* Takes requests until it has shut down, by a first SIGTERM or SIGINT; a second one ends the process. */
infrt_status infrt_server_run(infrt_server *s, infrt_error *error);
/* After infrt_conns_close and the end of all who write letters. `s` itself stays. */
void infrt_server_free(infrt_server *s);

/* serve_conn.c */
infrt_status infrt_conns_listen(infrt_server *s, infrt_error *error); /* serve_listen.c; the next opens it */
infrt_status infrt_conns_open(infrt_server *s, infrt_error *error);
void infrt_listen_close(infrt_server *s);
void infrt_conn_accept(infrt_server *s, int fd); /* given */
void infrt_conns_close(infrt_server *s);         /* all of them */
/* Whether something is left to be sent. */
bool infrt_conns_pending(const infrt_server *s);
/* Sends what is there of a stream; `last`: it has ended. */
void infrt_conn_stream(infrt_conn *c, infrt_out *frames, bool last);
/* The reply to a request, complete. `more`: further fields, each with CR LF; may be null. */
void infrt_conn_reply(infrt_conn *c, int status, const char *type, const infrt_out *body, const char *more);
void infrt_conn_json(infrt_conn *c, int status, infrt_out *body); /* frees it */
void infrt_conn_refuse(infrt_conn *c, const infrt_refusal *refusal);
/* {"error": {"message", ..}}, as OpenAI has it */
void infrt_error_json(const infrt_refusal *refusal, infrt_out *out);

/* serve_routes.c */
/* Before the body: false when it is refused already. */
bool infrt_request_admit(infrt_conn *c);
/* At the end of a request: counted, and a line in the log. `status`: of HTTP, 499 when the client left. */
void infrt_request_log(infrt_conn *c, int status);

/* serve_facts.c: routes of any service. */
#define INFRT_ROUTES_OF_ALL                                             \
    {"GET", "/health", infrt_handle_health, INFRT_ROUTE_OPEN},          \
        {"GET", "/health/ready", infrt_handle_ready, INFRT_ROUTE_OPEN}, \
        {"GET", "/metrics", infrt_handle_metrics, 0}, {"GET", "/version", infrt_handle_version, 0}
void infrt_handle_health(infrt_conn *c);
void infrt_handle_ready(infrt_conn *c);
void infrt_handle_version(infrt_conn *c);
void infrt_handle_metrics(infrt_conn *c);

/* serve_reload.c: of SIGHUP, for libevent; `server` is an infrt_server. */
void infrt_on_hangup(int number, short what, void *server);

/* serve_watch.c: whether what computes goes on; otherwise what waits for it fails. */
infrt_status infrt_watch_start(infrt_server *s, infrt_error *error);
bool infrt_server_alive(const infrt_server *s);

#endif
