/* calibrate_attend.c - attention of the calibration's forward pass: as attend, but over floats and without a cache. */
#include "calibrate.h"
#include <math.h>

enum { MAX_DIM = 256, MAX_LENGTH = 512 };

void infc_turn(const float *x, const float *rope, ptrdiff_t dim, float *out, ptrdiff_t stride) {
    for (ptrdiff_t i = 0; i < dim / 2; i++) {
        const float c = rope[2 * i], s = rope[2 * i + 1], low = x[i], high = x[i + dim / 2];
        out[i * stride] = low * c - high * s;
        out[(i + dim / 2) * stride] = high * c + low * s;
    }
}

static ptrdiff_t columns(const infc_attention *a) { return (a->heads + 2 * a->groups) * a->dim; }

/* A unit is a group of a sequence: its keys, element by element. */
static void keys_turn(const void *what, const void *const *in, void *out, ptrdiff_t begin, ptrdiff_t end) {
    const infc_attention *a = what;
    (void)in, (void)out;
    for (ptrdiff_t unit = begin; unit < end; unit++) {
        const ptrdiff_t sequence = unit / a->groups, group = unit % a->groups;
        for (ptrdiff_t p = 0; p < a->length; p++)
            infc_turn(a->qkv + (sequence * a->length + p) * columns(a) + (a->heads + group) * a->dim,
                      a->rope + p * a->dim, a->dim, a->keys + unit * a->dim * a->length + p, a->length);
    }
}

static void attend_row(const infc_attention *a, const float *keys, const float *values, ptrdiff_t p,
                       const float *q, float *out) {
    const ptrdiff_t first = a->window && p + 1 > a->window ? p + 1 - a->window : 0;
    float turned[MAX_DIM], score[MAX_LENGTH] = {0}, most = -INFINITY, sum = 0;
    infc_turn(q, a->rope + p * a->dim, a->dim, turned, 1);
    for (ptrdiff_t c = 0; c < a->dim; c++)
        for (ptrdiff_t i = first; i <= p; i++) score[i] += turned[c] * keys[c * a->length + i];
    for (ptrdiff_t i = first; i <= p; i++) {
        score[i] *= a->scale;
        most = score[i] > most ? score[i] : most;
    }
    for (ptrdiff_t i = first; i <= p; i++) sum += score[i] = infc_exp_below(score[i] - most);
    for (ptrdiff_t c = 0; c < a->dim; c++) out[c] = 0;
    for (ptrdiff_t i = first; i <= p; i++)
        for (ptrdiff_t c = 0; c < a->dim; c++) out[c] += score[i] * values[i * columns(a) + c];
    for (ptrdiff_t c = 0; c < a->dim; c++) out[c] /= sum;
}

/* A unit is a head of a sequence. */
static void heads_attend(const void *what, const void *const *in, void *out, ptrdiff_t begin, ptrdiff_t end) {
    const infc_attention *a = what;
    (void)in, (void)out;
    for (ptrdiff_t unit = begin; unit < end; unit++) {
        const ptrdiff_t sequence = unit / a->heads, head = unit % a->heads,
                        group = head / (a->heads / a->groups);
        const float *rows = a->qkv + sequence * a->length * columns(a);
        for (ptrdiff_t p = 0; p < a->length; p++)
            attend_row(a, a->keys + (sequence * a->groups + group) * a->dim * a->length,
                       rows + (a->heads + a->groups + group) * a->dim, p,
                       rows + p * columns(a) + head * a->dim,
                       a->out + (sequence * a->length + p) * a->heads * a->dim + head * a->dim);
    }
}

void infc_attention_run(const infc_attention *a) {
    infc_share(keys_turn, a, a->t / a->length * a->groups);
    infc_share(heads_attend, a, a->t / a->length * a->heads);
}
