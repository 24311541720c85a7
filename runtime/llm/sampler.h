/* sampler.h - from logits to the next token: a pure function of the logits, the tokens so far and the request's
 * settings, the same on every machine and in every batch.
 *
 * In this order: ids at or beyond `n_ids`, NaN and -inf are never chosen; repetition, presence and frequency
 * penalties; logit bias; greedy at temperature 0, else division by it; top-k; top-p of what is left; min-p; a draw.
 * Equal logits: the lower id comes first. */
#ifndef INFRT_SAMPLER_H
#define INFRT_SAMPLER_H
#include "infrt_llm.h"

typedef struct infrt_candidate {
    float logit; /* after penalties and bias */
    int32_t id;
} infrt_candidate;

/* Room for one draw at a time, shared by all requests of an engine. */
typedef struct infrt_sampler {
    uint32_t vocab, n_ids;
    infrt_candidate *candidates; /* [vocab] */
    float *weights;              /* [vocab] */
    uint32_t *counts;            /* [vocab]: zero between calls */
} infrt_sampler;

bool infrt_sampler_init(infrt_sampler *s, uint32_t vocab, uint32_t n_ids); /* false: no memory */
void infrt_sampler_deinit(infrt_sampler *s); /* {0} is fine; leaves {0} */

/* INFRT_ERR_USAGE names the setting that makes no sense. */
infrt_status infrt_sampling_check(const infrt_llm_sampling *how, uint32_t n_ids, infrt_error *error);

/* The tokens that logits follow: the prompt's, then those of the answer; position n_history - 1 is the last. */
typedef struct infrt_history {
    const int32_t *tokens;
    uint32_t n_prompt, n;
} infrt_history;

/* The next token, or -1 when no logit is a number above -inf, or one is +inf. */
int32_t infrt_sample(infrt_sampler *s, const float *logits, const infrt_llm_sampling *how,
                     const infrt_history *history);
/* Natural logarithms of what softmax of the logits alone gives `token` and the `n_top` most likely, most likely
 * first; returns how many of those there are. */
uint32_t infrt_logprobs(infrt_sampler *s, const float *logits, int32_t token, float *out_logprob,
                        infrt_llm_logprob *out_top, uint32_t n_top);

#endif
