/* attention_test.c - the reference kernels of attention against its definition, computed here in double. */
#include "kernel_case.h"
#include "templates/reference.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MAX_COUNT = 1 << 17 };
static float x[MAX_COUNT], w[MAX_COUNT], v[MAX_COUNT], mask[MAX_COUNT], y[MAX_COUNT];
static long checks, failures;

static const infk_kernel *reference(infk_kind kind) {
    size_t i = 0;
    while (infk_kernel_at(i)->kind != kind) i++; /* the first of a kind */
    return infk_kernel_at(i);
}

static double score_of(const infk_attention_dims *d, const float *added, ptrdiff_t b, ptrdiff_t h,
                       ptrdiff_t i, ptrdiff_t j) {
    double dot = 0;
    for (ptrdiff_t c = 0; c < d->d; c++)
        dot += (double)x[(b * d->m + i) * d->q_row + d->q_at + h * d->d + c] *
               (double)w[(b * d->n + j) * d->k_row + d->k_at + h * d->groups / d->heads * d->d + c];
    if (d->causal && j > i + d->past) return -INFINITY;
    dot /= sqrt(8);
    return added ? dot + (double)added[b * d->mask_batch + h * d->mask_head + i * d->mask_row + j * d->mask_key]
                 : dot;
}

/* One query of one head; a query that sees no key has no answer. */
static void check_query(const infk_attention_dims *d, const float *added, ptrdiff_t b, ptrdiff_t h,
                        ptrdiff_t i, size_t index) {
    double max = -INFINITY, total = 0;
    for (ptrdiff_t j = 0; j < d->n; j++) max = fmax(max, score_of(d, added, b, h, i, j));
    if (isinf(max)) return;
    for (ptrdiff_t j = 0; j < d->n; j++) total += exp(score_of(d, added, b, h, i, j) - max);
    for (ptrdiff_t c = 0; c < d->dv; c++) {
        double want = 0;
        for (ptrdiff_t j = 0; j < d->n; j++)
            want += exp(score_of(d, added, b, h, i, j) - max) / total *
                    (double)v[(b * d->n + j) * d->v_row + d->v_at + h * d->groups / d->heads * d->dv + c];
        const ptrdiff_t at = ((b * d->m + i) * d->heads + h) * d->dv + c;
        checks++;
        if (fabs((double)y[at] - want) <= 3e-6 || failures++ >= 20) continue;
        printf("FAILED case %zu, element %td: %.9g, expected %.9g\n", index, at, (double)y[at], want);
    }
}

static void test_attention(infk_kind kind) {
    kernel_case c;
    uint64_t state = 11;
    for (size_t index = 0; kernel_case_get(kind, index, "f32", &c); index++) {
        const infk_attention_dims *d = &c.dims.attention;
        kernel_fill(x, "f32", c.x_count, DATA_PLAIN, &state);
        kernel_fill(w, "f32", c.w_inner, DATA_PLAIN, &state);
        kernel_fill(v, "f32", c.more[0], DATA_PLAIN, &state);
        kernel_fill(mask, "f32", c.more[1], DATA_PLAIN, &state);
        for (ptrdiff_t i = 0; i < c.more[1]; i += 3) mask[i] = i % 2 ? -INFINITY : -1e30f;
        const void *const in[INFK_MAX_OPERANDS] = {x, w, v, mask};
        infk_reference_find(reference(kind))(&c.dims, in, y, 0, infk_units(kind, &c.dims));
        const ptrdiff_t step = d->n > 100 ? 7 : 1;
        for (ptrdiff_t q = 0; q < d->batch * d->heads * d->m; q += step)
            check_query(d, c.more[1] ? mask : NULL, q / d->m / d->heads, q / d->m % d->heads, q % d->m, index);
    }
}

int main(void) {
    test_attention(INFK_attention);
    test_attention(INFK_attention_masked);
    printf("%ld checks, %ld failures\n", checks, failures);
    return failures ? 1 : 0;
}
