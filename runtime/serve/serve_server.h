/* serve_server.h - inside of the server: the network thread's connections, and what its parts call of each other.
 * SPDX-License-Identifier: MIT */
#ifndef INFRT_SERVE_SERVER_H
#define INFRT_SERVE_SERVER_H
#include "http_parse.h"
#include "infrt_serve.h"
#include "serve_engine.h"
#include "serve_keys.h"
#include "serve_metrics.h"
#include "serve_reply.h"
#include "serve_worker.h"

struct event;
struct event_base;
struct evconnlistener;
struct bufferevent;
typedef struct infrt_conn infrt_conn;

typedef struct infrt_server {
    const infc_model *model;
    const infrt_serve_options *options;
    infrt_llm_facts facts;
    infrt_engine_thread engine;
    infrt_worker_thread preparer, loader;
    infrt_mailbox in; /* the network thread's */
    infrt_keys keys;
    infrt_metrics metrics;
    struct event_base *base;
    struct evconnlistener *listener;
    struct event *mail, *tick, *signals[2], *reopen;
    infrt_conn *conns;
    uint32_t n_connections;
    uint32_t n_answers; /* under way: running, waiting, being prepared */
    uint32_t n_changes; /* of adapters, under way */
    uint64_t n_requests, random;
    int64_t created;
    int root_fd; /* of adapters; -1: none */
    bool draining;
    int signal; /* that ends it at once */
} infrt_server;

typedef struct infrt_route {
    const char *method, *path;
    void (*handle)(infrt_conn *c);
    bool open;   /* without a key */
    bool prefix; /* the path goes on */
} infrt_route;
extern const infrt_route infrt_routes[];
extern const uint32_t infrt_n_routes;

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
    const infrt_route *route; /* null: none */
    const char *path;         /* of the target, without what follows "?" */
    size_t path_bytes;
    char request_id[65];
    uint64_t begin_ns, first_ns; /* first: when the first token was there */
    bool close;                  /* after this answer */
    /* Of the request that waits: */
    infrt_serve_job *job;
    infrt_reply *reply;
    infrt_adapter_change *change;
};

/* serve_conn.c */
infrt_status infrt_conns_listen(infrt_server *s, infrt_error *error); /* serve_listen.c; the next opens it */
void infrt_conns_open(infrt_server *s);
void infrt_listen_close(infrt_server *s);
void infrt_conn_accept(infrt_server *s, int fd); /* given */
void infrt_conns_close(infrt_server *s);         /* all of them, and the listener */
/* Whether something is left to be sent. */
bool infrt_conns_pending(const infrt_server *s);
/* Sends what is there of a stream; `last`: it has ended. */
void infrt_conn_stream(infrt_conn *c, infrt_out *frames, bool last);
/* The reply to a request, complete. `more`: further fields, each with CR LF; may be null. */
void infrt_conn_reply(infrt_conn *c, int status, const char *type, infrt_out *body, const char *more);
void infrt_conn_json(infrt_conn *c, int status, infrt_out *body); /* frees it */
void infrt_conn_refuse(infrt_conn *c, const infrt_refusal *refusal);
/* "{"error": {..}}" */
void infrt_error_json(const infrt_refusal *refusal, infrt_out *out);

/* serve_routes.c */
void infrt_request_handle(infrt_conn *c); /* head and body are there */
/* Before the body: false when it is refused already. */
bool infrt_request_admit(infrt_conn *c);
/* At the end of a request: counted, and a line on stderr. `status`: of HTTP, 499 when the client left. */
void infrt_request_log(infrt_conn *c, int status);

/* serve_generate.c */
void infrt_handle_chat(infrt_conn *c);
void infrt_handle_completions(infrt_conn *c);
void infrt_handle_tokenize(infrt_conn *c);
void infrt_job_letter(infrt_server *s, infrt_serve_job *job, bool prepared); /* it came back */
void infrt_piece_letter(infrt_server *s, infrt_piece *piece);
void infrt_job_abandon(infrt_conn *c);             /* its client has left */
void infrt_job_flow(infrt_conn *c, size_t unsent); /* how much its client has not taken */

/* serve_facts.c */
void infrt_handle_health(infrt_conn *c);
void infrt_handle_ready(infrt_conn *c);
void infrt_handle_version(infrt_conn *c);
void infrt_handle_metrics(infrt_conn *c);
void infrt_handle_models(infrt_conn *c);
void infrt_handle_model(infrt_conn *c);
/* The adapter of a model's name: *adapter null for the base. False: there is none. */
bool infrt_model_find(infrt_server *s, const char *name, const char **adapter);

/* serve_tokens.c */
void infrt_tokens_reply(infrt_conn *c, const infrt_ask *ask); /* to /tokenize */
void infrt_handle_detokenize(infrt_conn *c);

/* serve_adapters.c */
void infrt_handle_adapter_load(infrt_conn *c);
void infrt_handle_adapter_unload(infrt_conn *c);
void infrt_handle_adapters(infrt_conn *c);
void infrt_change_letter(infrt_server *s, infrt_adapter_change *change); /* it came back */

#endif
