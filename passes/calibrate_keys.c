/* calibrate_keys.c - what keys and queries are balanced by before they become int8, docs/adr/0024-balanced-keys.md. */
#include "calibrate.h"
#include <math.h>

enum { MAX_DIM = 256 };

typedef struct sums { /* of an element, over rows: keys, their squares; squares of the queries that meet them */
    double k[MAX_DIM], k_square[MAX_DIM], q_square[MAX_DIM];
} sums;

static void add_row(const infc_attention *a, ptrdiff_t t, ptrdiff_t group, sums *s) {
    const ptrdiff_t dim = a->dim, shared = a->heads / a->groups;
    const float *row = a->qkv + t * (a->heads + 2 * a->groups) * dim, *rope = a->rope + t % a->length * dim;
    float turned[MAX_DIM];
    infc_turn(row + (a->heads + group) * dim, rope, dim, turned, 1);
    for (ptrdiff_t c = 0; c < dim; c++) {
        s->k[c] += (double)turned[c];
        s->k_square[c] += (double)turned[c] * (double)turned[c];
    }
    for (ptrdiff_t h = group * shared; h < (group + 1) * shared; h++) {
        infc_turn(row + h * dim, rope, dim, turned, 1);
        for (ptrdiff_t c = 0; c < dim; c++)
            s->q_square[c] += (double)turned[c] * (double)turned[c] / (double)shared;
    }
}

/* The eighth root of q / k: half of what would be best were rounding all that matters and the sample the truth. */
static double factor(double q, double k) {
    const double most = 1e4, ratio = q / k;
    if (!(k > 0) || !isfinite(ratio)) return 1;
    return sqrt(sqrt(sqrt(ratio > most ? most : ratio < 1 / most ? 1 / most : ratio)));
}

void infc_balance_of(infc_arena *scratch, const infc_attention *a, float *out) {
    const ptrdiff_t n = a->groups * a->dim;
    for (ptrdiff_t g = 0; g < a->groups; g++) {
        sums *s = INFC_NEW(scratch, sums, 1);
        for (ptrdiff_t t = 0; t < a->t; t++) add_row(a, t, g, s);
        for (ptrdiff_t c = 0; c < a->dim; c++, out++) {
            const double mean = s->k[c] / (double)a->t, square = s->k_square[c] / (double)a->t - mean * mean,
                         by = factor(s->q_square[c] / (double)a->t, square);
            out[0] = isfinite(mean) ? (float)mean : 0;
            out[n] = (float)by;
            out[2 * n] = (float)(1 / by);
        }
    }
}
