/* tensor_runner.h - threads that run a model for requests. Each has memory of its own for a run, and takes from one
 * queue: bodies to be read first, then rows of jobs, as many as fit one run.
 * SPDX-License-Identifier: MIT */
#ifndef INFRT_TENSOR_RUNNER_H
#define INFRT_TENSOR_RUNNER_H
#include "app.h"
#include "tensor_job.h"

enum { INFRT_RUNNERS = 64, INFRT_RUN_UNITS = 256 /* most of one run */ };

typedef struct infrt_runners infrt_runners;

typedef struct infrt_runner {
    infrt_runners *team;
    infrt_session *session;
    infrt_buffers buffers; /* for the largest sizes */
    int64_t sizes[INFRT_TENSOR_SIZES];
    pthread_t thread;
    bool started;
    _Atomic uint64_t busy_since_ns; /* 0: it waits for work */
} infrt_runner;

struct infrt_runners {
    const infc_model *model;
    const infrt_weights *weights;
    infrt_embedder embedder;
    infrt_mailbox *out; /* where jobs go back to */
    int batch_size; /* which of the model's sizes rows of several requests are joined along; -1: none */
    uint64_t wait_ns; /* how long a run may wait for more rows */
    infrt_runner runner[INFRT_RUNNERS];
    uint32_t n;
    /* Below `lock`: */
    pthread_mutex_t lock;
    pthread_cond_t came;
    infrt_tensor_job *unread, **unread_end; /* bodies */
    infrt_tensor_job *ready, **ready_end;   /* with units that have not begun */
    bool stops;
};

/* `n` runners of `workers` each. Those that have begun are ended by infrt_runners_stop in any case. Tries whether rows
 * of several requests can share a run, and has each run once. */
infrt_status infrt_runners_start(infrt_runners *r, const infc_model *model, const infrt_weights *weights,
                                 uint32_t n, uint32_t workers, infrt_mailbox *out, infrt_error *error);
void infrt_runners_put(infrt_runners *r, infrt_tensor_job *job);
/* What runs is finished; all jobs have come back when this returns. {0} is fine. */
void infrt_runners_stop(infrt_runners *r);
uint64_t infrt_runners_busy_since(infrt_runners *r); /* the oldest run; 0: there is none */

/* tensor_check.c: whether a row's outputs are the same bits alone and beside others, tried on made-up inputs. False
 * where they are not: the model mixes rows. */
infrt_status infrt_rows_check(infrt_runner *runner, bool *apart, infrt_error *error);
/* One run on the runner's own buffers, or on other inputs, for runner->sizes. */
infrt_status infrt_runner_run(infrt_runner *runner, void *const *inputs, infrt_error *error);

#endif
