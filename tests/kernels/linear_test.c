/* linear_test.c - the references of templates/kernels/linear against arithmetic of this file's own: the transform by
 * its definition, sums in int64, everything else in double. From f32 weights and rows to results. */
#include "kernel_case.h"
#include "templates/reference.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static long failures;

static void check(bool ok, const char *what, double got, double want) {
    if (ok || failures++ >= 20) return;
    printf("FAILED %s: %.9g, expected %.9g\n", what, got, want);
}

static void call(infk_kind kind, const void *dims, const void *x, const void *w, void *y) {
    const void *in[INFK_SCRATCH + 1] = {x, w};
    size_t i = 0;
    while (infk_kernel_at(i)->kind != kind) i++; /* the first of a kind is its reference */
    infk_reference_find(infk_kernel_at(i))(dims, in, y, 0, infk_units(kind, dims));
}

/* (-1)^(bits that i and j share): entry of the Hadamard matrix. */
static double sign(int i, int j) {
    int shared = 0;
    for (int both = i & j; both; both &= both - 1) shared++;
    return shared % 2 ? -1 : 1;
}
/* H times each `most` values, 64 or 128, or of 128 the root of 2 times H times the 64 that are left over, times
 * `factor`; what the last 64 lack counts as zeros. */
static void transform(const float *x, ptrdiff_t k, ptrdiff_t most, double factor, double *out) {
    for (ptrdiff_t g = 0, n; g < k; g += n) {
        n = k - g > 64 ? most : 64;
        for (int i = 0; i < n; i++) {
            out[g + i] = 0;
            for (int j = 0; j < n && g + j < k; j++)
                out[g + i] += sign(i, j) * (double)x[g + j] * factor * sqrt((double)(most / n));
        }
    }
}

static double normal(uint64_t *state) { /* near enough */
    double sum = -6;
    for (int i = 0; i < 12; i++) sum += (double)(kernel_random(state) >> 11) * 0x1p-53;
    return sum;
}

static double scale_at(const int8_t *p) {
    float scale;
    memcpy(&scale, p, sizeof scale);
    return (double)scale;
}

static void *fresh(ptrdiff_t bytes) { /* filled, so that what is not written shows */
    void *p = aligned_alloc(64, (size_t)(bytes + 63) / 64 * 64);
    if (!p) exit(1);
    return memset(p, 0x5a, (size_t)bytes);
}

typedef struct shape {
    ptrdiff_t t, n, k, rotate;
} shape;

/* ---- records ---------------------------------------------------------------------------------------------- */

static void check_record(const int8_t *record, const double *want, ptrdiff_t k, const char *what) {
    const ptrdiff_t groups = (k + 63) / 64;
    const double scale = scale_at(record + groups * 68);
    double most = 0;
    for (ptrdiff_t i = 0; i < groups * 64; i++) most = fmax(most, fabs(want[i]));
    check(fabs(scale * 127 - most) <= most * 1e-6, what, scale * 127, most);
    for (ptrdiff_t g = 0; g < groups; g++) {
        int32_t sum, expected = 0;
        memcpy(&sum, record + groups * 64 + g * 4, sizeof sum);
        for (int i = 0; i < 64; i++) {
            const double value = record[g * 64 + i] * scale;
            check(fabs(value - want[g * 64 + i]) <= scale * 0.5001, what, value, want[g * 64 + i]);
            expected += record[g * 64 + i];
        }
        check(sum == expected, "sum of 64", sum, expected);
    }
    for (ptrdiff_t i = groups * 68 + 4; i < infk_record_bytes(k); i++)
        check(record[i] == 0, "pad", record[i], 0);
}

static void check_quantize(shape s, uint64_t *state) {
    const infk_quantize_dims d = {s.t, s.k, s.rotate, 0x3727c5ac, infk_record_bytes(s.k)};
    const ptrdiff_t k64 = (s.k + 63) / 64 * 64;
    float *x = fresh(s.t * s.k * 4), *weight = fresh(s.k * 4), *scaled = fresh(s.k * 4);
    double *want = fresh(k64 * 8);
    int8_t *y = fresh(s.t * d.y_row);
    for (ptrdiff_t i = 0; i < s.t * s.k; i++) x[i] = (float)normal(state);
    for (ptrdiff_t i = 0; i < s.k; i++) weight[i] = (float)normal(state);
    call(INFK_quantize, &d, x, NULL, y);
    for (ptrdiff_t t = 0; t < s.t; t++) {
        transform(x + t * s.k, s.k, s.rotate, 8.0 / (double)s.rotate, want);
        check_record(y + t * d.y_row, want, s.k, "quantize");
    }
    call(INFK_rms_quantize, &d, x, weight, y);
    for (ptrdiff_t t = 0; t < s.t; t++) {
        double square = 0;
        for (ptrdiff_t i = 0; i < s.k; i++)
            square += (double)x[t * s.k + i] * (double)x[t * s.k + i];
        for (ptrdiff_t i = 0; i < s.k; i++)
            scaled[i] =
                (float)((double)x[t * s.k + i] / sqrt(square / (double)s.k + 1e-5) * (double)weight[i]);
        transform(scaled, s.k, s.rotate, 8.0 / (double)s.rotate, want);
        check_record(y + t * d.y_row, want, s.k, "rms_quantize");
    }
    free(x), free(weight), free(scaled), free(want), free(y);
}

/* What a row becomes when it has no scale, or none that is a number. */
static void check_odd_rows(void) {
    static const float odd[] = {0.0f, NAN, INFINITY, -INFINITY, 0x1p-130f};
    const infk_quantize_dims d = {1, 70, 128, 0, infk_record_bytes(70)};
    for (size_t i = 0; i < sizeof odd / sizeof *odd; i++) {
        float x[70] = {0};
        int8_t y[256];
        x[69] = odd[i];
        call(INFK_quantize, &d, x, NULL, y);
        const double scale = scale_at(y + 2 * 68);
        check(i == 0 || i == 4 ? scale == 0 : isnan(scale), "scale of an odd row", scale, (double)odd[i]);
        for (int k = 0; k < 136; k++) check(y[k] == 0, "value of an odd row", y[k], 0);
    }
}

/* ---- from weights to results ------------------------------------------------------------------------------ */

/* Weights packed as int8 or int4, and what they are worth, [n][K64] in double, read from the panels. */
static int8_t *pack(shape s, int bits, int parts, const float *w, double *worth) {
    const ptrdiff_t groups = (s.k + 63) / 64, panels = parts * ((s.n / parts + 15) / 16);
    const ptrdiff_t bytes = bits == 8 ? infk_panel_i8_bytes(s.k) : infk_panel_i4_bytes(s.k);
    const ptrdiff_t chosen_bytes = infk_chosen_i4_bytes(s.k);
    int8_t *packed = fresh(panels * bytes), *chosen = fresh(s.n * chosen_bytes);
    if (bits == 8) {
        const infk_pack_dims d = {s.n, s.k, s.rotate, parts, s.k, bytes};
        call(INFK_pack_i8, &d, w, NULL, packed);
    } else {
        const infk_pack_dims choose = {s.n, s.k, s.rotate, 1, s.k, chosen_bytes},
                             lay = {s.n, s.k, 0, parts, chosen_bytes, bytes};
        call(INFK_choose_i4, &choose, w, NULL, chosen);
        call(INFK_pack_i4, &lay, chosen, NULL, packed);
    }
    for (ptrdiff_t n = 0; n < s.n; n++) {
        const ptrdiff_t in_part = n % (s.n / parts), part = n / (s.n / parts), lane = in_part % 16;
        const int8_t *panel = packed + (in_part / 16 * parts + part) * bytes;
        const double row_scale = scale_at(panel + bytes - 64 + lane * 4);
        for (ptrdiff_t k = 0; k < groups * 64; k++) {
            int whole;
            if (bits == 8) {
                whole = panel[(k / 4 * 16 + lane) * 4 + k % 4];
            } else {
                const ptrdiff_t in_half = k % 32;
                const int8_t *four = panel + k / 256 * 2112, *of = four + 64 + k / 64 % 4 * 512;
                const int both = (uint8_t)of[(in_half / 4 * 16 + lane) * 4 + in_half % 4];
                const int code = (uint8_t)four[k / 64 % 4 * 16 + lane], scale = (code & 15) + 1,
                          zero = code >> 4;
                check(zero * scale <= 128 && (15 - zero) * scale <= 127, "limits of int4", code, 0);
                whole = scale * ((k % 64 < 32 ? both & 15 : both >> 4) - zero);
            }
            worth[n * groups * 64 + k] = row_scale * whole;
        }
    }
    free(chosen);
    return packed;
}

static double silu(double a) { return a / (1 + exp(-a)); }

static void check_results(shape s, int bits, int parts, const float *y, const int8_t *records,
                          const double *worth) {
    const ptrdiff_t groups = (s.k + 63) / 64, n_results = s.n / parts, row = infk_record_bytes(s.k);
    for (ptrdiff_t t = 0; t < s.t; t++)
        for (ptrdiff_t n = 0; n < n_results; n++) {
            double sums[2] = {0, 0}, sizes[2] = {0, 0};
            for (int p = 0; p < parts; p++)
                for (ptrdiff_t k = 0; k < groups * 64; k++) {
                    const double product = records[t * row + k] * scale_at(records + t * row + groups * 68) *
                                           worth[(p * n_results + n) * groups * 64 + k];
                    sums[p] += product;
                    sizes[p] += fabs(product);
                }
            const double want = parts == 2 ? silu(sums[0]) * sums[1] : sums[0];
            const double size = parts == 2 ? fabs(want) + sizes[0] + sizes[1] : sizes[0];
            const double got = (double)y[t * n_results + n];
            check(fabs(got - want) <= size * 1e-6, bits == 8 ? "result of int8" : "result of int4", got, want);
        }
}

static void check_linear(shape s, int bits, int parts, uint64_t *state) {
    const ptrdiff_t k64 = (s.k + 63) / 64 * 64, row = infk_record_bytes(s.k);
    float *x = fresh(s.t * s.k * 4), *w = fresh(s.n * s.k * 4), *y = fresh(s.t * s.n / parts * 4);
    double *worth = fresh(s.n * k64 * 8), *rotated = fresh(k64 * 8), off = 0, all = 0;
    int8_t *records = fresh(s.t * row);
    for (ptrdiff_t i = 0; i < s.t * s.k; i++) x[i] = (float)normal(state);
    for (ptrdiff_t i = 0; i < s.n * s.k; i++)
        w[i] = (float)(normal(state) * (i % 97 == 0 ? 0.3 : 0.05));
    int8_t *packed = pack(s, bits, parts, w, worth);
    for (ptrdiff_t n = 0; n < s.n; n++) {
        transform(w + n * s.k, s.k, s.rotate, 0.125, rotated);
        for (ptrdiff_t k = 0; k < k64; k++) {
            off += pow(worth[n * k64 + k] - rotated[k], 2);
            all += pow(rotated[k], 2);
        }
    }
    /* Of normal weights: a step of the largest of 64 / 127 for int8; 4 bits of an even grid reach 0.11 at best. */
    const double error = sqrt(off / all), limit = bits == 8 ? 0.012 : 0.13;
    check(error > 0 && error < limit, bits == 8 ? "error of int8" : "error of int4", error, limit);
    const infk_quantize_dims q = {s.t, s.k, s.rotate, 0, row};
    call(INFK_quantize, &q, x, NULL, records);
    const infk_linear_dims d = {s.t,
                                s.n / parts,
                                s.k,
                                row,
                                bits == 8 ? infk_panel_i8_bytes(s.k) : infk_panel_i4_bytes(s.k),
                                s.n / parts};
    static const infk_kind kinds[2][2] = {{INFK_linear_i8, INFK_linear_i4}, {INFK_gated_i8, INFK_gated_i4}};
    call(kinds[parts - 1][bits == 4], &d, records, packed, y);
    check_results(s, bits, parts, y, records, worth);
    free(x), free(w), free(y), free(worth), free(rotated), free(records), free(packed);
}

static void check_embed(shape s, uint64_t *state) {
    const infk_embed_dims d = {s.t, s.k, s.rotate, infk_panel_i8_bytes(s.k)};
    const ptrdiff_t k64 = (s.k + 63) / 64 * 64;
    float *w = fresh(s.n * s.k * 4), *y = fresh(s.t * s.k * 4);
    int32_t *tokens = fresh(s.t * 4);
    double *worth = fresh(s.n * k64 * 8);
    for (ptrdiff_t i = 0; i < s.n * s.k; i++) w[i] = (float)normal(state);
    for (ptrdiff_t t = 0; t < s.t; t++) tokens[t] = (int32_t)(kernel_random(state) % (uint64_t)s.n);
    int8_t *packed = pack(s, 8, 1, w, worth);
    call(INFK_embed_i8, &d, tokens, packed, y);
    for (ptrdiff_t t = 0; t < s.t; t++)
        for (ptrdiff_t k = 0; k < s.k; k++) {
            const double got = (double)y[t * s.k + k], want = (double)w[tokens[t] * s.k + k];
            check(fabs(got - want) < 0.21, "embedding", got, want); /* 8 times half a step of 6.4 / 127 */
        }
    free(w), free(y), free(tokens), free(worth), free(packed);
}

int main(void) {
    static const shape shapes[] = {
        {1, 16, 64, 0}, {3, 34, 130, 0}, {2, 80, 576, 0}, {5, 6, 63, 0}, {2, 18, 256, 0}};
    uint64_t state = 20;
    check_odd_rows();
    for (size_t i = 0; i < 2 * (sizeof shapes / sizeof *shapes); i++) {
        shape s = shapes[i / 2];
        s.rotate = i % 2 ? 128 : 64;
        check_quantize(s, &state);
        check_embed(s, &state);
        for (int bits = 4; bits <= 8; bits += 4)
            for (int parts = 1; parts <= 2; parts++) check_linear(s, bits, parts, &state);
    }
    printf("%ld failures\n", failures);
    return failures ? 1 : 0;
}
