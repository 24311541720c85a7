/* tensor_job.h - a request for runs of a model: what is asked, its runs, and its reply. The network thread owns it but
 * between the letter that it hands to the runners and the one that brings it back.
 * SPDX-License-Identifier: MIT */
#ifndef INFRT_TENSOR_JOB_H
#define INFRT_TENSOR_JOB_H
#include "embed_read.h"
#include "infer_read.h"
#include "mailbox.h"
#include "serve_text.h"
#include <stdatomic.h>

/* What texts become vectors with; info null: nothing does. */
typedef struct infrt_embedder {
    const infc_embed_info *info;
    const infc_text_info *text;
    uint32_t output; /* f32 [texts, width] */
    uint64_t width;
    int64_t max;     /* tokens */
    int tokens_size; /* one of the model's sizes that the axis of tokens is; -1: it is always `max` */
} infrt_embedder;

/* One run's worth of a job: rows that are given together. */
typedef struct infrt_unit {
    uint32_t input; /* of an embedding: which text */
    int64_t sizes[INFRT_TENSOR_SIZES];
} infrt_unit;

typedef struct infrt_tensor_job {
    infrt_letter letter;
    void *owner; /* of the network thread: who waits for it; null: nobody any more */
    _Atomic bool cancelled;
    bool embeds; /* /v1/embeddings; else an inference */
    infrt_out body;
    size_t json_bytes; /* of the body */
    /* What was read of it: */
    infrt_infer infer;
    infrt_embed embed;
    uint64_t n_tokens;
    float *vectors; /* [embed.n_inputs, width] */
    infrt_unit *units;
    uint32_t n_units, n_begun, n_done; /* the queue's, below its lock */
    uint64_t ready_ns;                 /* when it had been read */
    uint64_t begin_ns, timeout_ns; /* when it came, and how long it may wait for its runs; 0: as long as it takes */
    struct infrt_tensor_job *next; /* the queue's */
    /* What comes of it: */
    infrt_refusal refusal;
    infrt_out reply;
    char more[64];     /* fields of its head */
    bool binary;       /* the reply is not JSON alone */
    uint64_t queue_ns; /* before its first run */
    uint64_t run_ns;   /* in runs, those for others too */
    uint32_t rows;     /* of its largest run, others' too */
} infrt_tensor_job;

/* From a body to units; job->refusal says what is wrong. */
void infrt_tensor_job_read(const infc_model *model, const infrt_embedder *embedder, infrt_tensor_job *job);
/* The rows of one unit into row `row` of the inputs of a run for the unit's sizes with more rows. */
void infrt_tensor_unit_fill(const infc_model *model, const infrt_embedder *embedder,
                            const infrt_tensor_job *job, const infrt_unit *unit, int64_t row,
                            void *const *inputs);
/* What of the outputs is wanted: of an inference, the reply; of an embedding, one vector. */
void infrt_tensor_unit_take(const infc_model *model, const infrt_embedder *embedder, infrt_tensor_job *job,
                            const infrt_unit *unit, int64_t row, void *const *outputs);
/* All units are done: the reply of an embedding. */
void infrt_tensor_job_end(const infc_model *model, const infrt_embedder *embedder, infrt_tensor_job *job);
void infrt_tensor_job_free(infrt_tensor_job *job);

#endif
