/* lm_eval.h - what `eval` adds up, and the head of a file of logits. */
#ifndef INFRT_LM_EVAL_H
#define INFRT_LM_EVAL_H
#include "lm_app.h"
#include "output_file.h"
#include "tokenizer.h"

#define LM_LOGITS_MAGIC "INFRTLG1" /* eight characters */

/* Followed by f32 [vocab] for each prediction; little-endian, as all that infc compiles for. */
typedef struct lm_logits_head {
    char magic[8];
    uint32_t vocab, chunk;
    uint64_t ids_hash;
} lm_logits_head;

typedef struct lm_sum { /* of numbers and of their squares */
    uint64_t n;
    double sum, squares;
} lm_sum;

typedef struct lm_eval {
    infrt_lm_app *app;
    bool terminal;
    int32_t *ids;
    uint32_t n_ids, chunk, n_chunks, first; /* first: position of a chunk that predicts */
    uint32_t at;                            /* where the current chunk begins */
    lm_logits_head head;
    FILE *to, *from;        /* null: not asked for */
    infrt_output_file made; /* `to`, unless that is standard output */
    float *base;            /* [vocab]: a row of `from` */
    lm_sum loss, kl, base_loss;
    uint64_t n_same, ns;
    infrt_status status; /* of a prediction */
} lm_eval;

#endif
