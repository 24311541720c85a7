/* serve_llm.h - inside of the server of a language model. SPDX-License-Identifier: MIT */
#ifndef INFRT_SERVE_LLM_H
#define INFRT_SERVE_LLM_H
#include "serve_engine.h"
#include "serve_reply.h"
#include "serve_server.h"
#include "serve_worker.h"

typedef struct infrt_llm_metrics {
    uint64_t preempted, prompt_tokens, generation_tokens, cache_queries, cache_hits;
    uint64_t finished[3];                     /* stop, length, abort */
    uint64_t session_saved, session_restored; /* tokens */
#define INFRT_HISTOGRAM(member, name, buckets, help) infrt_histogram member;
#include "llm_metrics.def"
} infrt_llm_metrics;

typedef struct infrt_llm_server {
    infrt_server base; /* first */
    infrt_llm_facts facts;
    infrt_engine_thread engine;
    infrt_worker_thread preparer, loader;
    infrt_llm_metrics metrics;
    uint32_t n_answers;                  /* under way: running, waiting, being prepared */
    uint32_t n_changes;                  /* of adapters, under way */
    int root_fd;                         /* of adapters; -1: none */
    int session_root;                    /* the same of sessions */
    uint32_t n_sessions;                 /* requests about them, under way and waiting */
    struct infrt_session_task *sessions; /* those that wait */
} infrt_llm_server;

typedef struct infrt_llm_conn {
    infrt_conn base; /* first */
    /* Of the request that waits: */
    infrt_serve_job *job;
    infrt_reply *reply;
    infrt_adapter_change *change;
    struct infrt_session_task *session;
    uint64_t first_ns; /* when the first token was there */
} infrt_llm_conn;

static inline infrt_llm_server *infrt_llm_server_of(const infrt_conn *c) {
    return (infrt_llm_server *)c->server;
}

extern const infrt_service infrt_llm_service; /* llm_routes.c */
/* Nobody waits for its change of adapters, or its session, any more; false: nobody did. */
bool infrt_others_let_go(infrt_llm_conn *c);

/* serve_generate.c */
void infrt_handle_chat(infrt_conn *c);
void infrt_handle_completions(infrt_conn *c);
void infrt_handle_tokenize(infrt_conn *c);
void infrt_job_letter(infrt_llm_server *s, infrt_serve_job *job, bool prepared); /* it came back */
void infrt_piece_letter(infrt_llm_server *s, infrt_piece *piece);
void infrt_job_abandon(infrt_llm_conn *c);         /* its client has left */
void infrt_job_flow(infrt_conn *c, size_t unsent); /* how much its client has not taken */
void infrt_jobs_fail(infrt_server *s, const infrt_refusal *why); /* all of them, and at the end all that waits */

/* llm_models.c */
void infrt_handle_models(infrt_conn *c);
void infrt_handle_model(infrt_conn *c);
bool infrt_adapter_there(void *server, const char *name); /* an infrt_adapter_is_there */
/* The adapter of a model's name: *adapter null for the base. False: there is none. */
bool infrt_model_find(infrt_llm_server *s, const char *name, const char **adapter);
/* 404; false. */
bool infrt_refuse_model(infrt_refusal *refusal, const char *name);
bool infrt_adapter_name_is_free(const infc_model *model, const char *name);
void infrt_llm_metrics_put(infrt_server *s, infrt_out *out); /* llm_metrics.c */

/* serve_tokens.c */
void infrt_tokens_reply(infrt_conn *c, const infrt_ask *ask); /* to /tokenize */
void infrt_handle_detokenize(infrt_conn *c);

/* serve_adapters.c */
void infrt_handle_adapter_load(infrt_conn *c);
void infrt_handle_adapter_unload(infrt_conn *c);
void infrt_handle_adapters(infrt_conn *c);
void infrt_change_letter(infrt_llm_server *s, infrt_adapter_change *change); /* it came back */

/* adapter_log.c */
/* What became of a change; `why`, with a status: it was refused. */
void infrt_change_log(infrt_llm_server *s, const infrt_adapter_change *change, const infrt_refusal *why);
void infrt_adapters_log(infrt_llm_server *s, const infrt_llm_adapter_facts *facts, uint32_t n); /* from the start */
void infrt_folders_log(infrt_llm_server *s); /* where those of adapters and of sessions are */

/* serve_sessions.c */
void infrt_handle_session_save(infrt_conn *c);
void infrt_handle_session_restore(infrt_conn *c);
void infrt_handle_sessions(infrt_conn *c);
void infrt_handle_session_remove(infrt_conn *c);
void infrt_session_letter(infrt_llm_server *s, struct infrt_session_task *task); /* it came back from a thread */

#endif
