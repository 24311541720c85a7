/* serve_engine.h - the thread that owns the engine: takes jobs, steps, hands their pieces back.
 * SPDX-License-Identifier: MIT */
#ifndef INFRT_SERVE_ENGINE_H
#define INFRT_SERVE_ENGINE_H
#include "serve_job.h"
#include "serve_metrics.h"

typedef struct infrt_board_adapter {
    char name[INFRT_LLM_ADAPTER_NAME]; /* empty: draining */
    char base[128]; /* of another model that it says it was made for; empty: none */
    uint32_t requests, running, rank, n_modules;
    bool pinned;    /* there from the start */
    int64_t loaded; /* when; seconds since 1970 */
    uint64_t bytes, hash;
} infrt_board_adapter;

/* What the engine thread tells about itself; written after each step, read by anyone with `lock`. */
typedef struct infrt_board {
    pthread_mutex_t lock;
    infrt_llm_facts facts;
    uint32_t running, waiting;
    uint64_t steps, sampled_tokens;
    infrt_histogram step_sizes;
    double written;                /* seconds since 1970 */
    infrt_board_adapter *adapters; /* [adapters_room] */
    uint32_t n_adapters, adapters_room;
} infrt_board;

typedef struct infrt_engine_thread {
    infrt_llm *llm; /* the thread's own from start to join */
    infrt_mailbox in;
    infrt_mailbox *out; /* the network thread's */
    infrt_board board;
    _Atomic uint64_t busy_since_ns; /* when it last went round; idle it does so once a second */
    pthread_t thread;
    infrt_serve_job *jobs; /* this and the next: private */
    infrt_llm_adapter_facts *facts;
    struct infrt_session_task *session; /* that is copied; null: none */
    bool started;
} infrt_engine_thread;

/* `llm` is borrowed until infrt_engine_thread_stop. */
infrt_status infrt_engine_thread_start(infrt_engine_thread *e, infrt_llm *llm, const infc_model *model,
                                       infrt_mailbox *out, infrt_error *error);
/* Cancels what runs; all jobs have come back to `out` when this returns. {0} is fine. */
void infrt_engine_thread_stop(infrt_engine_thread *e);

#endif
