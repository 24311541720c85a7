/* calibrate_math.h - products of matrices in f32 with one order for every machine: each result is a sum in the order of
 * k, a product and a sum rounded one after the other, whatever the width of vectors and the number of threads. */
#ifndef INFC_CALIBRATE_MATH_H
#define INFC_CALIBRATE_MATH_H
#include "../compiler/ir/eval_units.h"
#include <stddef.h>

enum { INFC_LANES = 16, INFC_GROUP = 64 };

/* y[r * y_row + l] (mode 0: =, 1: +=, -1: -=) sum over k of a[r * a_row + k * a_k] * b[k * b_k + l], for r < rows and
 * l < lanes; b is read in 16 lanes. */
typedef struct infc_product {
    const float *a, *b;
    float *y;
    ptrdiff_t a_row, a_k, b_k, y_row, rows, k;
    int lanes, mode;
} infc_product;
void infc_product_run(const infc_product *p);

/* y[t][n] = x[t][k] * w, w as panels [ceil(n / 16)][k][16]. */
void infc_rows_times_panels(const float *x, ptrdiff_t t, ptrdiff_t k, const float *panels,
                            ptrdiff_t n, float *y);
/* Bytes of panels are ceil(n / 16) * k * 16 * sizeof(float). Row `at` of the weights, k values, into its place. */
void infc_panel_put(const float *row, ptrdiff_t at, ptrdiff_t k, float *panels);
/* The upper half (j >= i) of sum[k][k] = x transposed times x, x[t][k]; k a multiple of 16. */
void infc_square_of_rows(const float *x, ptrdiff_t t, ptrdiff_t k, float *sum);
/* A row of n values, whole groups of 64, goes through the Hadamard transform of linear layers, of `rotate` values, and
 * is multiplied by `factor`: s_rotated_weight or s_rotated_row of scalar.h. */
void infc_rotate(float *x, ptrdiff_t n, ptrdiff_t rotate, float factor);
/* e^x for x <= 0, 0 below -87: the same bits everywhere, within 1e-7 of the value. */
float infc_exp_below(float x);

/* `fn` for ranges that cover [0, units), on all processors. */
void infc_share(infk_entry *fn, const void *what, ptrdiff_t units);

#endif
