#include "calibrate_math.h"
#include "../templates/simd/scalar.h"
#include <math.h>
#include <string.h>

typedef float lanes16 __attribute__((vector_size(64)));
#define ALWAYS static inline __attribute__((always_inline))

/* `rows` is a constant where this is inlined, so that the sums stay in registers. */
ALWAYS void tile(const infc_product *p, ptrdiff_t first, int rows) {
    const float *a = p->a + first * p->a_row, *b = p->b;
    lanes16 sum[4] = {{0}};
    for (ptrdiff_t k = 0; k < p->k; k++, b += p->b_k) {
        lanes16 v; /* no function returns one: how is different with every instruction set */
        memcpy(&v, b, sizeof v);
        for (int r = 0; r < rows; r++) sum[r] += v * a[r * p->a_row + k * p->a_k];
    }
    for (int r = 0; r < rows; r++) {
        float out[16];
        float *y = p->y + (first + r) * p->y_row;
        memcpy(out, &sum[r], sizeof out);
        for (int l = 0; l < p->lanes; l++)
            y[l] = p->mode == 0 ? out[l] : p->mode > 0 ? y[l] + out[l] : y[l] - out[l];
    }
}

ALWAYS void tiles(const infc_product *p) {
    ptrdiff_t r = 0;
    for (; r + 4 <= p->rows; r += 4) tile(p, r, 4);
    for (; r < p->rows; r++) tile(p, r, 1);
}

static void tiles_plain(const infc_product *p) { tiles(p); }
#ifdef __x86_64__
__attribute__((target("avx2"))) static void tiles_avx2(const infc_product *p) { tiles(p); }
__attribute__((target("avx512f"))) static void tiles_avx512(const infc_product *p) { tiles(p); }
#endif

void infc_product_run(const infc_product *p) {
#ifdef __x86_64__
    if (__builtin_cpu_supports("avx512f")) {
        tiles_avx512(p);
        return;
    }
    if (__builtin_cpu_supports("avx2")) {
        tiles_avx2(p);
        return;
    }
#endif
    tiles_plain(p);
}

void infc_share(infk_entry *fn, const void *what, ptrdiff_t units) {
    infc_eval_units(fn, what, units, NULL, NULL);
}

/* ---- rows times panels --------------------------------------------------------------------------------------- */

enum { ROWS_AT_ONCE = 64, SQUARE_ROWS = 256 };

typedef struct task {
    const float *x, *w;
    float *y;
    ptrdiff_t t, k, n;
} task;

static void multiply(const void *what, const void *const *in, void *out, ptrdiff_t begin, ptrdiff_t end) {
    const task *m = what;
    (void)in, (void)out;
    for (ptrdiff_t row = begin * ROWS_AT_ONCE; row < m->t && row < end * ROWS_AT_ONCE; row += ROWS_AT_ONCE)
        for (ptrdiff_t n = 0; n < m->n; n += INFC_LANES) {
            const infc_product p = {.a = m->x + row * m->k,
                                    .a_row = m->k,
                                    .a_k = 1,
                                    .b = m->w + n * m->k,
                                    .b_k = INFC_LANES,
                                    .y = m->y + row * m->n + n,
                                    .y_row = m->n,
                                    .rows = m->t - row < ROWS_AT_ONCE ? m->t - row : ROWS_AT_ONCE,
                                    .k = m->k,
                                    .lanes = m->n - n < INFC_LANES ? (int)(m->n - n) : INFC_LANES};
            infc_product_run(&p);
        }
}

void infc_rows_times_panels(const float *x, ptrdiff_t t, ptrdiff_t k, const float *panels,
                            ptrdiff_t n, float *y) {
    const task m = {x, panels, y, t, k, n};
    infc_share(multiply, &m, (t + ROWS_AT_ONCE - 1) / ROWS_AT_ONCE);
}

void infc_panel_put(const float *row, ptrdiff_t at, ptrdiff_t k, float *panels) {
    float *to = panels + at / INFC_LANES * INFC_LANES * k + at % INFC_LANES;
    for (ptrdiff_t i = 0; i < k; i++) to[i * INFC_LANES] = row[i];
}

/* A unit is 16 columns. */
static void square(const void *what, const void *const *in, void *out, ptrdiff_t begin, ptrdiff_t end) {
    const task *m = what;
    (void)in, (void)out;
    for (ptrdiff_t j = begin * INFC_LANES; j < end * INFC_LANES; j += INFC_LANES)
        for (ptrdiff_t t = 0; t < m->t; t += SQUARE_ROWS) {
            const infc_product p = {.a = m->x + t * m->k,
                                    .a_row = 1,
                                    .a_k = m->k,
                                    .b = m->x + t * m->k + j,
                                    .b_k = m->k,
                                    .y = m->y + j,
                                    .y_row = m->k,
                                    .rows = j + INFC_LANES,
                                    .k = m->t - t < SQUARE_ROWS ? m->t - t : SQUARE_ROWS,
                                    .lanes = INFC_LANES,
                                    .mode = t ? 1 : 0};
            infc_product_run(&p);
        }
}

void infc_square_of_rows(const float *x, ptrdiff_t t, ptrdiff_t k, float *sum) {
    const task m = {x, NULL, sum, t, k, k};
    infc_share(square, &m, k / INFC_LANES);
}

/* ---- by element ---------------------------------------------------------------------------------------------- */

void infc_rotate(float *x, ptrdiff_t n, ptrdiff_t rotate, float factor) {
    for (ptrdiff_t at = 0, size; at < n; at += size) {
        size = s_rotate_size(rotate, n - at);
        s_rotate(x + at, size, rotate);
    }
    for (ptrdiff_t i = 0; i < n; i++) x[i] *= factor;
}

/* Of x = n ln 2 + r: 2^n times the polynomial of Cephes' expf. */
float infc_exp_below(float x) {
    static const float c[] = {1.9875691500e-4f, 1.3981999507e-3f, 8.3334519073e-3f,
                              4.1665795894e-2f, 1.6666665459e-1f, 5.0000001201e-1f};
    if (!(x >= -87.0f)) return 0.0f;
    const float n = (x * 1.44269504f + 12582912.0f) - 12582912.0f; /* 1.5 * 2^23: to a whole number */
    const float r = (x - n * 0.693359375f) + n * 2.12194440e-4f;
    float p = c[0];
    for (int i = 1; i < 6; i++) p = p * r + c[i];
    return ldexpf(p * (r * r) + r + 1.0f, (int)n);
}
