/* sampler.c - chooses the next token. Sums are doubles over a fixed order, so that they are the same everywhere. */
#include "sampler.h"
#include "sampler_math.h"
#include <float.h>
#include <math.h>
#include <stddef.h>
#include <stdlib.h>

bool infrt_sampler_init(infrt_sampler *s, uint32_t vocab, uint32_t n_ids) {
    *s = (infrt_sampler){.vocab = vocab, .n_ids = n_ids < vocab ? n_ids : vocab};
    s->candidates = calloc(vocab, sizeof *s->candidates);
    s->weights = calloc(vocab, sizeof *s->weights);
    s->counts = calloc(vocab, sizeof *s->counts);
    if (s->candidates && s->weights && s->counts) return true;
    infrt_sampler_deinit(s);
    return false;
}

void infrt_sampler_deinit(infrt_sampler *s) {
    free(s->candidates);
    free(s->weights);
    free(s->counts);
    *s = (infrt_sampler){0};
}

static infrt_status in_range(const char *name, float value, float least, float most, infrt_error *error) {
    if (value >= least && value <= most) return INFRT_OK; /* not so for NaN */
    return infrt_fail(error, INFRT_ERR_USAGE, "%s is %g: give a number from %g to %g", name,
                      (double)value, (double)least, (double)most);
}

infrt_status infrt_sampling_check(const infrt_llm_sampling *how, uint32_t n_ids, infrt_error *error) {
    infrt_status status = in_range("temperature", how->temperature, 0, 100, error);
    if (status == INFRT_OK) status = in_range("top_p", how->top_p, 0, 1, error);
    if (status == INFRT_OK) status = in_range("min_p", how->min_p, 0, 1, error);
    if (status == INFRT_OK)
        status = in_range("repetition_penalty", how->repetition_penalty, 0, 100, error);
    if (status == INFRT_OK)
        status = in_range("presence_penalty", how->presence_penalty, -100, 100, error);
    if (status == INFRT_OK)
        status = in_range("frequency_penalty", how->frequency_penalty, -100, 100, error);
    if (status != INFRT_OK) return status;
    if (how->n_bias > INFRT_LLM_BIASES || (how->n_bias && !how->bias))
        return infrt_fail(error, INFRT_ERR_USAGE, "%u logit biases: give at most %u", how->n_bias, INFRT_LLM_BIASES);
    for (uint32_t i = 0; i < how->n_bias; i++) {
        if (how->bias[i].token < 0 || (uint32_t)how->bias[i].token >= n_ids)
            return infrt_fail(error, INFRT_ERR_USAGE, "logit bias of token %d: ids are 0 to %u",
                              how->bias[i].token, n_ids - 1);
        if (isnan(how->bias[i].add))
            return infrt_fail(error, INFRT_ERR_USAGE, "logit bias of token %d is no number",
                              how->bias[i].token);
    }
    return INFRT_OK;
}

/* counts[id] is odd for tokens of the history, and twice how often the answer has them. Each is treated once. */
static void penalize(infrt_sampler *s, const infrt_llm_sampling *how, const infrt_history *history) {
    float repetition = how->repetition_penalty;
    for (uint32_t i = 0; i < history->n; i++) {
        uint32_t *count = &s->counts[history->tokens[i]];
        *count = (*count | 1) + (i >= history->n_prompt ? 2 : 0);
    }
    for (uint32_t i = 0; i < history->n; i++) {
        uint32_t *count = &s->counts[history->tokens[i]], times = *count / 2;
        float *logit = &s->weights[history->tokens[i]];
        if (*count == 0) continue;
        if (repetition > 0) *logit = *logit > 0 ? *logit / repetition : *logit * repetition;
        if (times) *logit -= how->presence_penalty + (float)times * how->frequency_penalty;
        *count = 0;
    }
}

static bool better(infrt_candidate a, infrt_candidate b) {
    return a.logit > b.logit || (a.logit == b.logit && a.id < b.id);
}

/* Candidates in the order of ids; out_best is the first of those with the largest logit. */
static uint32_t candidates_make(infrt_sampler *s, infrt_candidate *out_best) {
    uint32_t n = 0;
    *out_best = (infrt_candidate){0, -1};
    for (uint32_t id = 0; id < s->n_ids; id++) {
        float logit = s->weights[id];
        if (!(logit > -INFINITY)) continue; /* nor NaN */
        infrt_candidate c = {logit > FLT_MAX ? FLT_MAX : logit, (int32_t)id};
        if (n == 0 || c.logit > out_best->logit) *out_best = c;
        s->candidates[n++] = c;
    }
    return n;
}

/* -inf: none is a number. This pass and the next become vectors: with a large vocabulary they are a part of every
 * token's time. */
static float largest(const float *logits, uint32_t n) {
    enum { LANES = 16 };
    float most[LANES], best = -INFINITY;
    for (uint32_t l = 0; l < LANES; l++) most[l] = -INFINITY;
    for (uint32_t i = 0; i < n / LANES * LANES; i += LANES)
        for (uint32_t l = 0; l < LANES; l++)
            most[l] = logits[i + l] > most[l] ? logits[i + l] : most[l]; /* passes over NaN */
    for (uint32_t i = n / LANES * LANES; i < n; i++) best = logits[i] > best ? logits[i] : best;
    for (uint32_t l = 0; l < LANES; l++) best = most[l] > best ? most[l] : best;
    return best;
}

/* The first of those with the largest logit, `best`, as candidates_make has it; -1: none. */
static int32_t best_find(const float *logits, uint32_t n, float best) {
    best = best > FLT_MAX ? FLT_MAX : best;
    for (uint32_t i = 0; i < n && best > -INFINITY; i++)
        if (logits[i] >= best) return (int32_t)i;
    return -1;
}

/* The heap's first is the best, or the worst. */
static bool comes_first(infrt_candidate a, infrt_candidate b, bool worst) {
    return worst ? better(b, a) : better(a, b);
}

static void sift_down(infrt_candidate *heap, uint32_t n, uint32_t at, bool worst) {
    infrt_candidate moved = heap[at];
    for (uint32_t child; (child = 2 * at + 1) < n; at = child) {
        if (child + 1 < n && comes_first(heap[child + 1], heap[child], worst)) child++;
        if (comes_first(moved, heap[child], worst)) break;
        heap[at] = heap[child];
    }
    heap[at] = moved;
}

static void heap_make(infrt_candidate *heap, uint32_t n, bool worst) {
    for (uint32_t i = n / 2; i-- > 0;) sift_down(heap, n, i, worst);
}

/* The best of n moves to heap[n - 1]. */
static infrt_candidate heap_pop(infrt_candidate *heap, uint32_t n) {
    infrt_candidate best = heap[0];
    heap[0] = heap[n - 1];
    if (n > 1) sift_down(heap, n - 1, 0, false);
    heap[n - 1] = best;
    return best;
}

/* Moves the k < n best to the front, in any order. */
static void best_keep(infrt_candidate *of, uint32_t n, uint32_t k) {
    heap_make(of, k, true);
    for (uint32_t i = k; i < n; i++) {
        if (!better(of[i], of[0])) continue;
        of[0] = of[i];
        sift_down(of, k, 0, true);
    }
}

static float weight_of(infrt_candidate c, float best, float temperature) {
    return infrt_exp_neg((c.logit - best) / temperature);
}

/* The first of of[0], of[stride], ... whose cumulated weight exceeds `unit` of the total. */
static int32_t draw(const infrt_candidate *of, ptrdiff_t stride, const float *weights, uint32_t n, double unit) {
    double total = 0, sum = 0;
    int32_t last = -1;
    for (uint32_t i = 0; i < n; i++) total += (double)weights[i];
    for (uint32_t i = 0; i < n && !(sum > unit * total); i++) {
        sum += (double)weights[i];
        if (weights[i] > 0) last = of[(ptrdiff_t)i * stride].id;
    }
    return last;
}

/* Without top-k and top-p nothing has to be in order. */
static int32_t draw_unsorted(infrt_sampler *s, uint32_t n, float best, const infrt_llm_sampling *how, double unit) {
    for (uint32_t i = 0; i < n; i++) {
        float weight = weight_of(s->candidates[i], best, how->temperature);
        s->weights[i] = weight >= how->min_p ? weight : 0;
    }
    return draw(s->candidates, 1, s->weights, n, unit);
}

/* The likeliest first, until there are top_k, or top_p of the probability: of all, or of the top_k. */
static int32_t draw_sorted(infrt_sampler *s, uint32_t n, float best, const infrt_llm_sampling *how, double unit) {
    infrt_candidate *heap = s->candidates;
    uint32_t kept = 0, left = 0;
    double top_p = how->top_p > 0 ? (double)how->top_p : 1, total = 0, sum = 0;
    if (how->top_k && how->top_k < n) {
        best_keep(heap, n, how->top_k);
        n = how->top_k;
    }
    for (uint32_t i = 0; i < n; i++) {
        s->weights[i] = weight_of(heap[i], best, how->temperature);
        total += (double)s->weights[i];
    }
    /* n of them below this have less than 1 - top_p together: the others are enough. */
    double least = (1 - top_p) * total / n;
    for (uint32_t i = 0; i < n; i++)
        if ((double)s->weights[i] >= least) heap[left++] = heap[i];
    heap_make(heap, left, false);
    for (; kept < left && sum < top_p * total; kept++) {
        float weight = weight_of(heap_pop(heap, left - kept), best, how->temperature);
        if (weight == 0 || weight < how->min_p) break;
        s->weights[kept] = weight;
        sum += (double)weight;
    }
    return draw(heap + (left - 1), -1, s->weights, kept, unit);
}

static bool penalizes(const infrt_llm_sampling *how) {
    return (how->repetition_penalty > 0 && how->repetition_penalty != 1) ||
           how->presence_penalty != 0 || how->frequency_penalty != 0;
}

int32_t infrt_sample(infrt_sampler *s, const float *logits, const infrt_llm_sampling *how,
                     const infrt_history *history) {
    infrt_candidate best;
    const float most = largest(logits, s->n_ids);
    if (most > FLT_MAX)
        return -1; /* a sum that left the range of floats: how it compares is not known */
    if (how->temperature == 0 && how->n_bias == 0 && !penalizes(how))
        return best_find(logits, s->n_ids, most);
    memcpy(s->weights, logits, s->n_ids * sizeof *logits);
    if (penalizes(how)) penalize(s, how, history);
    for (uint32_t i = 0; i < how->n_bias; i++) s->weights[how->bias[i].token] += how->bias[i].add;
    if (how->temperature == 0)
        return best_find(s->weights, s->n_ids, largest(s->weights, s->n_ids));
    uint32_t n = candidates_make(s, &best);
    if (n == 0) return best.id;
    double unit = infrt_random_unit(how->seed, history->n);
    bool sorted = (how->top_k && how->top_k < n) || (how->top_p > 0 && how->top_p < 1);
    return (sorted ? draw_sorted : draw_unsorted)(s, n, best.logit, how, unit);
}

uint32_t infrt_logprobs(infrt_sampler *s, const float *logits, int32_t token, float *out_logprob,
                        infrt_llm_logprob *out_top, uint32_t n_top) {
    infrt_candidate best;
    double sum = 0;
    memcpy(s->weights, logits, s->n_ids * sizeof *logits);
    uint32_t n = candidates_make(s, &best);
    for (uint32_t i = 0; i < n; i++) sum += (double)weight_of(s->candidates[i], best.logit, 1);
    float log_sum = n ? best.logit + infrt_log((float)sum) : 0;
    *out_logprob = token >= 0 ? logits[token] - log_sum : -INFINITY;
    if (n_top == 0) return 0;
    if (n_top > n) n_top = n;
    if (n_top < n) best_keep(s->candidates, n, n_top);
    heap_make(s->candidates, n_top, false);
    for (uint32_t i = 0; i < n_top; i++) {
        infrt_candidate c = heap_pop(s->candidates, n_top - i);
        out_top[i] = (infrt_llm_logprob){c.id, c.logit - log_sum};
    }
    return n_top;
}
