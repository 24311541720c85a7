/* serve_tensor.h - inside of the server of a model of tensors. SPDX-License-Identifier: MIT */
#ifndef INFRT_SERVE_TENSOR_H
#define INFRT_SERVE_TENSOR_H
#include "serve_server.h"
#include "tensor_runner.h"

/* Histograms: member, name, bounds, help. */
#define INFRT_TENSOR_HISTOGRAMS(X)                                                                    \
    X(queue, "infrt_queue_seconds", infrt_seconds_fine, "From a body that has been read to its run.") \
    X(run, "infrt_infer_seconds", infrt_seconds_fine, "Runs of the model, with the rows of others.")  \
    X(request, "infrt_request_seconds", infrt_seconds_fine, "From a request's head to its reply.")    \
    X(rows, "infrt_batch_rows", infrt_counts_small, "Rows of a request's run, those of others too.")

typedef struct infrt_tensor_server {
    infrt_server base; /* first */
    infrt_runners runners;
    uint32_t n_jobs; /* under way */
#define INFRT_X(member, name, bounds, help) infrt_histogram member;
    INFRT_TENSOR_HISTOGRAMS(INFRT_X)
#undef INFRT_X
    uint64_t n_infer, n_texts, n_tokens;
} infrt_tensor_server;

typedef struct infrt_tensor_conn {
    infrt_conn base;       /* first */
    infrt_tensor_job *job; /* of the request that waits */
} infrt_tensor_conn;

static inline infrt_tensor_server *infrt_tensor_server_of(const infrt_conn *c) {
    return (infrt_tensor_server *)c->server;
}

extern const infrt_service infrt_tensor_service; /* tensor_routes.c */

/* serve_tensor.c */
void infrt_tensor_job_start(infrt_conn *c, bool embeds);
void infrt_tensor_letter(infrt_server *s, infrt_letter *letter);
void infrt_tensor_left(infrt_conn *c);
void infrt_tensor_fail(infrt_server *s, const infrt_refusal *why); /* all that waits, when the server ends */

#endif
