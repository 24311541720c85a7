/* image_resize.c - two passes, columns then rows, each a weighted sum of source pixels per output pixel.
 *
 * The weights are a triangle of half-width max(1, scale) around the output pixel's centre in the source,
 * normalised, in fixed point with 22 bits; each pass rounds to 8 bits. That is Pillow's definition, which most
 * image models were trained with. Integer sums: the same on every machine. */
#include "image_resize.h"
#include <math.h>
#include <stdlib.h>

enum { FRACTION_BITS = 22 };

/* For each of `to` outputs: its first source pixel, how many, and their weights (`stride` apart). */
typedef struct taps {
    int *first, *n, stride;
    int32_t *weights;
} taps;

static void taps_free(taps *t) {
    free(t->first);
    free(t->n);
    free(t->weights);
}

static bool taps_make(int from, int to, taps *t) {
    double scale = (double)from / to, support = scale < 1 ? 1 : scale, inverse = 1 / support;
    t->stride = (int)ceil(support) * 2 + 1;
    t->first = malloc((size_t)to * sizeof *t->first);
    t->n = malloc((size_t)to * sizeof *t->n);
    t->weights = calloc((size_t)to * (size_t)t->stride, sizeof *t->weights);
    double *exact = malloc((size_t)t->stride * sizeof *exact);
    if (!t->first || !t->n || !t->weights || !exact) {
        free(exact);
        taps_free(t);
        return false;
    }
    for (int i = 0; i < to; i++) {
        double center = (i + 0.5) * scale, sum = 0;
        int begin = (int)(center - support + 0.5), end = (int)(center + support + 0.5);
        if (begin < 0) begin = 0;
        if (end > from) end = from;
        for (int k = 0; k < end - begin; k++) {
            double distance = fabs((k + begin - center + 0.5) * inverse);
            exact[k] = distance < 1 ? 1 - distance : 0;
            sum += exact[k];
        }
        t->first[i] = begin;
        t->n[i] = end - begin;
        for (int k = 0; k < end - begin; k++)
            t->weights[(size_t)i * (size_t)t->stride + (size_t)k] =
                (int32_t)(0.5 + (sum != 0 ? exact[k] / sum : exact[k]) * (1 << FRACTION_BITS));
    }
    free(exact);
    return true;
}

/* One weighted sum over `n` values that lie `step` apart. */
static uint8_t blend(const uint8_t *from, size_t step, const int32_t *weights, int n) {
    int32_t sum = 1 << (FRACTION_BITS - 1);
    for (int k = 0; k < n; k++) sum += from[(size_t)k * step] * weights[k];
    sum >>= FRACTION_BITS;
    return (uint8_t)(sum < 0 ? 0 : sum > 255 ? 255 : sum);
}

bool infrt_image_resize(const uint8_t *from, int width, int height, int channels, uint8_t *to,
                        int to_width, int to_height) {
    taps columns, rows;
    size_t c = (size_t)channels, row = (size_t)to_width * c;
    if (!taps_make(width, to_width, &columns)) return false;
    if (!taps_make(height, to_height, &rows)) {
        taps_free(&columns);
        return false;
    }
    uint8_t *between = malloc((size_t)height * row);
    if (between) {
        for (size_t y = 0; y < (size_t)height; y++)
            for (size_t x = 0; x < (size_t)to_width; x++)
                for (size_t k = 0; k < c; k++)
                    between[y * row + x * c + k] =
                        blend(from + (y * (size_t)width + (size_t)columns.first[x]) * c + k, c,
                              columns.weights + x * (size_t)columns.stride, columns.n[x]);
        for (size_t y = 0; y < (size_t)to_height; y++)
            for (size_t i = 0; i < row; i++)
                to[y * row + i] = blend(between + (size_t)rows.first[y] * row + i, row,
                                        rows.weights + y * (size_t)rows.stride, rows.n[y]);
    }
    free(between);
    taps_free(&columns);
    taps_free(&rows);
    return between != NULL;
}
