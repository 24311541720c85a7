/* reference_test.c - the reference kernels against the definitions of the ONNX operators, computed here in double over
 * plain arrays with logical indices; sums also in float, in the order that docs/numerics.md fixes, bit by bit. */
#include "kernel_case.h"
#include "templates/reference.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_COUNT = 1 << 18 };
static float x[MAX_COUNT], w[MAX_COUNT], y[MAX_COUNT], plain_w[MAX_COUNT];
static int8_t w8[MAX_COUNT];
static long checks, failures;

static void check(bool ok, const char *what, size_t index, ptrdiff_t at, double got, double want) {
    checks++;
    if (ok || failures++ >= 20) return;
    printf("FAILED %s, case %zu, element %td: %.9g, expected %.9g\n", what, index, at, got, want);
}

static bool same(float a, float b) { return memcmp(&a, &b, sizeof a) == 0; }

static void call(infk_kind kind, const char *x_type, const char *w_type, const kernel_case *c,
                 const void *in, const void *weights, void *out) {
    const void *const operands[2] = {in, weights};
    for (size_t i = 0; i < infk_kernel_count(); i++) {
        const infk_kernel *k = infk_kernel_at(i);
        if (k->kind != kind || strcmp(k->tile, "ref") != 0 || strcmp(k->types[0], x_type) != 0 ||
            strcmp(k->types[1], w_type) != 0)
            continue;
        infk_reference_find(k)(&c->dims, operands, out, 0, infk_units(kind, &c->dims));
        return;
    }
    check(false, "no reference", 0, 0, 0, 0);
}

/* Where element (n, c, h, w) of a tensor of that shape lies: row-major, or [n][c/16][h][w][16]. */
static ptrdiff_t place(ptrdiff_t n, ptrdiff_t c, ptrdiff_t h, ptrdiff_t v, ptrdiff_t channels,
                       ptrdiff_t height, ptrdiff_t width, bool blocked) {
    if (!blocked) return ((n * channels + c) * height + h) * width + v;
    const ptrdiff_t blocks = (channels + 15) / 16;
    return (((n * blocks + c / 16) * height + h) * width + v) * 16 + c % 16;
}

/* ADR 0002, said another way: the place of every (step, output) in turn. */
static ptrdiff_t panel_place(ptrdiff_t step, ptrdiff_t steps, ptrdiff_t output, bool bytes) {
    ptrdiff_t panel = 0;
    while (output >= 16) output -= 16, panel++;
    if (!bytes) return panel * steps * 16 + step * 16 + output;
    ptrdiff_t padded = steps;
    while (padded % 64) padded++;
    return panel * padded * 16 + step / 4 * 64 + output * 4 + step % 4;
}

static void fill_floats(float *to, ptrdiff_t n, uint64_t *state) {
    if (n > MAX_COUNT) abort();
    kernel_fill(to, "f32", n, DATA_PLAIN, state);
}

/* ---- convolution ------------------------------------------------------------------------------------------ */

/* Packs plain weights [oc][ic][kh][kw] in visiting order: blocks of 16 inputs, then taps, then inputs of the block. */
static void pack_by_hand(const infk_conv_dims *d, bool bytes) {
    const ptrdiff_t taps = d->kh * d->kw;
    for (ptrdiff_t o = 0; o < d->oc; o++) {
        ptrdiff_t step = 0;
        for (ptrdiff_t first = 0; first < d->ic; first += 16)
            for (ptrdiff_t tap = 0; tap < taps; tap++)
                for (ptrdiff_t i = first; i < d->ic && i < first + 16; i++, step++) {
                    const float value = plain_w[(o * d->ic + i) * taps + tap];
                    const ptrdiff_t at = panel_place(step, d->ic * taps, o, bytes);
                    if (bytes) w8[at] = (int8_t)value;
                    else w[at] = value;
                }
    }
}

typedef struct sum {
    float in_order;
    double exact, magnitude;
} sum;

static void sum_add(sum *s, float a, float b) {
    s->in_order = fmaf(a, b, s->in_order);
    s->exact += (double)a * (double)b;
    s->magnitude += fabs((double)a * (double)b);
}

static sum conv_at(const infk_conv_dims *d, ptrdiff_t n, ptrdiff_t o, ptrdiff_t oh, ptrdiff_t ow, bool blocked) {
    sum s = {0};
    const ptrdiff_t group = o / (d->oc / d->groups);
    for (ptrdiff_t first = 0; first < d->ic; first += 16)
        for (ptrdiff_t r = 0; r < d->kh; r++)
            for (ptrdiff_t q = 0; q < d->kw; q++)
                for (ptrdiff_t i = first; i < d->ic && i < first + 16; i++) {
                    const ptrdiff_t h = oh * d->sh + r * d->dh - d->ph, v = ow * d->sw + q * d->dw - d->pw;
                    if (h < 0 || v < 0 || h >= d->ih || v >= d->iw) continue;
                    sum_add(&s, x[place(n, group * d->ic + i, h, v, d->groups * d->ic, d->ih, d->iw, blocked)],
                            plain_w[((o * d->ic + i) * d->kh + r) * d->kw + q]);
                }
    return s;
}

static void test_conv(const char *w_type) {
    kernel_case c;
    uint64_t state = 5;
    for (size_t index = 0; kernel_case_get(INFK_conv, index, w_type, &c); index++) {
        const infk_conv_dims *d = &c.dims.conv;
        const ptrdiff_t weights = d->oc * d->ic * d->kh * d->kw;
        const bool bytes = strcmp(w_type, "i8") == 0, x_blocked = index & 1, y_blocked = !(index & 2);
        fill_floats(x, c.x_count, &state);
        fill_floats(plain_w, weights, &state);
        for (ptrdiff_t i = 0; bytes && i < weights; i++) plain_w[i] = truncf(plain_w[i] * 128);
        memset(w, 0, sizeof w);
        memset(w8, 0, sizeof w8);
        pack_by_hand(d, bytes);
        call(INFK_conv, "f32", w_type, &c, x, bytes ? (const void *)w8 : w, y);
        for (ptrdiff_t i = 0; i < d->batch * d->oc * d->oh * d->ow; i++) {
            const ptrdiff_t v = i % d->ow, h = i / d->ow % d->oh, o = i / d->ow / d->oh % d->oc,
                            n = i / d->ow / d->oh / d->oc;
            const float got = y[place(n, o, h, v, d->oc, d->oh, d->ow, y_blocked)];
            const sum s = conv_at(d, n, o, h, v, x_blocked);
            check(same(got, s.in_order), "conv, order", index, i, (double)got, (double)s.in_order);
            check(fabs((double)got - s.exact) <= 1e-4 * s.magnitude, "conv", index, i, (double)got, s.exact);
        }
    }
}

/* ---- matmul ----------------------------------------------------------------------------------------------- */

/* A number that f16 or bf16 holds: eight bits of fraction; and its bits, from the definitions of the formats. */
static float half_value(float a, const char *type) {
    int exponent;
    const float fraction = frexpf(a, &exponent);
    return exponent < -13 ? 0.0f
                          : ldexpf(truncf(fraction * 256), exponent - (strcmp(type, "f16") == 0 ? 8 : 40));
}
static uint16_t half_bits(float a, const char *type) {
    const bool f16 = strcmp(type, "f16") == 0;
    const int bias = f16 ? 15 : 127, width = f16 ? 10 : 7;
    if (a == 0) return 0;
    int exponent;
    const float fraction = frexpf(fabsf(a), &exponent) * 2; /* 1 to 2 */
    return (uint16_t)((a < 0) << 15 | (exponent - 1 + bias) << width |
                      (int)((fraction - 1) * (float)(1 << width)));
}

static void test_matmul(const char *w_type) {
    kernel_case c;
    uint64_t state = 6;
    for (size_t index = 0; kernel_case_get(INFK_matmul, index, w_type, &c); index++) {
        const infk_matmul_dims *d = &c.dims.matmul;
        const bool bytes = strcmp(w_type, "i8") == 0, half = strcmp(w_type, "f32") != 0 && !bytes;
        const ptrdiff_t matrices = d->w_batch ? d->batch : 1, total = kernel_case_w_count(&c, w_type);
        fill_floats(x, c.x_count, &state);
        fill_floats(plain_w, matrices * d->k * d->n, &state);
        for (ptrdiff_t i = 0; i < matrices * d->k * d->n; i++) {
            if (bytes) plain_w[i] = truncf(plain_w[i] * 128);
            if (half) plain_w[i] = half_value(plain_w[i], w_type);
            const ptrdiff_t n = i % d->n, k = i / d->n % d->k, matrix = i / d->n / d->k;
            const ptrdiff_t at = total / matrices * matrix + panel_place(k, d->k, n, bytes);
            if (bytes) w8[at] = (int8_t)plain_w[i];
            else if (half) ((uint16_t *)(void *)w)[at] = half_bits(plain_w[i], w_type);
            else w[at] = plain_w[i];
        }
        call(INFK_matmul, "f32", w_type, &c, x, bytes ? (const void *)w8 : w, y);
        for (ptrdiff_t i = 0; i < d->batch * d->m * d->n; i++) {
            const ptrdiff_t n = i % d->n, m = i / d->n % d->m, b = i / d->n / d->m;
            sum s = {0};
            for (ptrdiff_t k = 0; k < d->k; k++)
                sum_add(&s, x[b * d->a_batch + m * d->a_row + k],
                        plain_w[((d->w_batch ? b : 0) * d->k + k) * d->n + n]);
            const float got = y[b * d->y_batch + m * d->y_row + n];
            check(same(got, s.in_order), "matmul, order", index, i, (double)got, (double)s.in_order);
            check(fabs((double)got - s.exact) <= 1e-4 * s.magnitude, "matmul", index, i, (double)got, s.exact);
        }
    }
}

/* ---- pooling, reductions, softmax --------------------------------------------------------------------------- */

static void test_pool(infk_kind kind) {
    kernel_case c;
    uint64_t state = 7;
    for (size_t index = 0; kernel_case_get(kind, index, "f32", &c); index++) {
        const infk_pool_dims *d = &c.dims.pool;
        fill_floats(x, c.x_count, &state);
        call(kind, "f32", "", &c, x, NULL, y);
        for (ptrdiff_t i = 0; i < d->batch * d->c * d->oh * d->ow; i++) {
            const ptrdiff_t v = i % d->ow, h = i / d->ow % d->oh, ch = i / d->ow / d->oh % d->c,
                            n = i / d->ow / d->oh / d->c;
            double total = 0, most = -INFINITY, count = 0;
            for (ptrdiff_t tap = 0; tap < d->kh * d->kw; tap++) { /* in coordinates of the padded image */
                const ptrdiff_t ph = h * d->sh + tap / d->kw * d->dh, pv = v * d->sw + tap % d->kw * d->dw;
                const bool inside = ph >= d->ph && ph < d->ph + d->ih && pv >= d->pw && pv < d->pw + d->iw;
                const bool padded = ph < d->ph + d->ih + d->eh && pv < d->pw + d->iw + d->ew;
                if (inside || (d->count_pad && padded)) count++;
                if (!inside) continue;
                const double value =
                    (double)x[place(n, ch, ph - d->ph, pv - d->pw, d->c, d->ih, d->iw, index & 1)];
                total += value;
                most = value > most ? value : most;
            }
            const double got = (double)y[place(n, ch, h, v, d->c, d->oh, d->ow, !(index & 2))];
            const double want = kind == INFK_pool_max ? most : total / count;
            check(got == want || (isnan(got) && isnan(want)) || fabs(got - want) <= 1e-6, "pool",
                  index, i, got, want);
        }
    }
}

static double reduced(infk_kind kind, const float *p, ptrdiff_t r, ptrdiff_t inner) {
    double total = 0, most = -INFINITY;
    for (ptrdiff_t i = 0; i < r; i++) {
        total += (double)p[i * inner];
        most = fmax(most, (double)p[i * inner]);
    }
    return kind == INFK_reduce_sum ? total : most;
}

/* Sixteen partial sums, then halves onto halves; written with the tree unrolled. */
static float sum_in_lanes(const float *p, ptrdiff_t r, ptrdiff_t inner) {
    float l[16] = {0};
    for (ptrdiff_t i = 0; i < r; i++) l[i & 15] += p[i * inner];
    for (int i = 0; i < 8; i++) l[i] += l[i + 8];
    return ((l[0] + l[4]) + (l[2] + l[6])) + ((l[1] + l[5]) + (l[3] + l[7]));
}

static void test_reduce(infk_kind kind) {
    kernel_case c;
    uint64_t state = 8;
    for (size_t index = 0; kernel_case_get(kind, index, "f32", &c); index++) {
        const infk_reduce_dims *d = &c.dims.reduce;
        fill_floats(x, c.x_count, &state);
        call(kind, "f32", "", &c, x, NULL, y);
        for (ptrdiff_t i = 0; i < d->outer * d->inner; i++) {
            const float *p = x + i / d->inner * d->r * d->inner + i % d->inner;
            const double want = reduced(kind, p, d->r, d->inner);
            check(fabs((double)y[i] - want) <= 1e-5, "reduce", index, i, (double)y[i], want);
            if (kind != INFK_reduce_sum) continue;
            float ordered = 0;
            for (ptrdiff_t r = 0; r < d->r; r++) ordered += p[r * d->inner];
            if (d->lanes) ordered = sum_in_lanes(p, d->r, d->inner);
            check(same(y[i], ordered), "reduce, order", index, i, (double)y[i], (double)ordered);
        }
    }
}

static void test_softmax(void) {
    kernel_case c;
    uint64_t state = 9;
    for (size_t index = 0; kernel_case_get(INFK_softmax, index, "f32", &c); index++) {
        const infk_softmax_dims *d = &c.dims.softmax;
        fill_floats(x, c.x_count, &state);
        for (ptrdiff_t i = 0; i < c.x_count; i++) x[i] *= 20;
        call(INFK_softmax, "f32", "", &c, x, NULL, y);
        for (ptrdiff_t i = 0; i < c.x_count; i++) {
            const ptrdiff_t first = i / (d->r * d->inner) * d->r * d->inner + i % d->inner;
            double total = 0;
            for (ptrdiff_t r = 0; r < d->r; r++)
                total += exp((double)x[first + r * d->inner] - (double)x[i]);
            check(fabs((double)y[i] * total - 1) <= 3e-6, "softmax", index, i, (double)y[i], 1 / total);
        }
    }
}

static void test_norm(void) {
    kernel_case c;
    uint64_t state = 10;
    for (size_t index = 0; kernel_case_get(INFK_norm, index, "f32", &c); index++) {
        const infk_norm_dims *d = &c.dims.norm;
        fill_floats(x, c.x_count, &state);
        for (ptrdiff_t i = 0; i < c.x_count; i++) x[i] = x[i] * 3 + 1;
        call(INFK_norm, "f32", "", &c, x, NULL, y);
        for (ptrdiff_t i = 0; i < c.x_count; i++) {
            const float *p = x + i / d->r * d->r;
            double mean = 0, square = 0;
            for (ptrdiff_t r = 0; r < d->r; r++)
                mean += d->center ? (double)p[r] / (double)d->r : 0;
            for (ptrdiff_t r = 0; r < d->r; r++)
                square += pow((double)p[r] - mean, 2) / (double)d->r;
            const double want = ((double)x[i] - mean) / sqrt(square + (d->epsilon ? 1e-5 : 0));
            const bool alone = d->center && d->r == 1; /* 0 / sqrt(epsilon) */
            if (!alone || d->epsilon)
                check(fabs((double)y[i] - want) <= 3e-6, "norm", index, i, (double)y[i], want);
        }
    }
}

/* Where output o of an axis of `in` pixels comes from, and which pixel is the nearest. */
static double source_of(ptrdiff_t o, ptrdiff_t half, ptrdiff_t num, ptrdiff_t den, ptrdiff_t by,
                        ptrdiff_t in, ptrdiff_t out) {
    const uint32_t bits = (uint32_t)den;
    float divisor;
    memcpy(&divisor, &bits, sizeof divisor);
    if (by == 1) num = in, divisor = (float)out;
    if (by == 2) num = out > 1 ? in - 1 : 0, divisor = (float)(out > 1 ? out - 1 : 1);
    const double at = ((double)o + (half ? 0.5 : 0)) * (double)num / (double)divisor - (half ? 0.5 : 0);
    return fmin(fmax(at, 0), (double)(in - 1));
}
static ptrdiff_t nearest_of(double at, ptrdiff_t pick) {
    const double whole = floor(at), rest = at - whole;
    const bool up = pick == 2 ? rest > 0 : pick == 3 ? rest > 0.5 : pick == 4 && rest >= 0.5;
    return (ptrdiff_t)whole + up;
}

static void test_resize(void) {
    kernel_case c;
    uint64_t state = 11;
    for (size_t index = 0; kernel_case_get(INFK_resize, index, "f32", &c); index++) {
        const infk_resize_dims *d = &c.dims.resize;
        fill_floats(x, c.x_count, &state);
        call(INFK_resize, "f32", "", &c, x, NULL, y);
        for (ptrdiff_t i = 0; i < d->batch * d->c * d->oh * d->ow; i++) {
            const ptrdiff_t v = i % d->ow, h = i / d->ow % d->oh, ch = i / d->ow / d->oh % d->c,
                            n = i / d->ow / d->oh / d->c;
            const double sv = source_of(v, d->w_half, d->w_num, d->w_den, d->w_by, d->iw, d->ow);
            const double sh = source_of(h, d->h_half, d->h_num, d->h_den, d->h_by, d->ih, d->oh);
            const double edge_v = fabs(sv * 2 - rint(sv * 2)), edge_h = fabs(sh * 2 - rint(sh * 2));
            const bool near_edge = (edge_v > 0 && edge_v < 1e-5) || (edge_h > 0 && edge_h < 1e-5);
            double want = 0;
            for (int k = 0; k < 4; k++) { /* the corners, weighted */
                const ptrdiff_t down = k / 2, right = k % 2;
                ptrdiff_t ph = (ptrdiff_t)floor(sh) + down, pv = (ptrdiff_t)floor(sv) + right;
                const double wv = 1 - fabs(sv - (double)pv), wh = 1 - fabs(sh - (double)ph);
                if (d->h_pick) ph = nearest_of(sh, d->h_pick), pv = nearest_of(sv, d->w_pick);
                if (ph >= d->ih || pv >= d->iw) continue; /* of weight 0 */
                const double weight = d->h_pick ? 0.25 : wv * wh;
                want += weight * (double)x[place(n, ch, ph, pv, d->c, d->ih, d->iw, index & 1)];
            }
            const double got = (double)y[place(n, ch, h, v, d->c, d->oh, d->ow, !(index & 2))];
            check((d->h_pick && near_edge) || fabs(got - want) <= 2e-6, "resize", index, i, got, want);
        }
    }
}

/* ---- data movement ---------------------------------------------------------------------------------------- */

static void test_strided(void) {
    kernel_case c;
    static uint32_t from[MAX_COUNT], to[MAX_COUNT];
    for (ptrdiff_t i = 0; i < MAX_COUNT; i++) from[i] = (uint32_t)i * 2654435761u;
    for (size_t index = 0; kernel_case_get(INFK_strided, index, "b4", &c); index++) {
        const infk_strided_dims *d = &c.dims.strided;
        const ptrdiff_t *extent = c.dims.fields, *stride = extent + 6;
        const ptrdiff_t inner = d->d2 * d->d3 * d->d4 * d->d5;
        call(INFK_strided, "b4", "", &c, from, NULL, to);
        for (ptrdiff_t i = 0; i < d->d0 * d->d1 * inner; i++) {
            ptrdiff_t rest = i, source = d->base;
            for (int axis = 5; axis >= 0; axis--) {
                source += rest % extent[axis] * stride[axis];
                rest /= extent[axis];
            }
            const uint32_t got = to[d->y_base + i / inner * d->y_unit + i % inner];
            check(got == from[source], "strided", index, i, got, from[source]);
        }
    }
}

/* Which index of numpy.pad's line of `extent` elements stands at i, or -1. */
static ptrdiff_t pad_source(ptrdiff_t i, ptrdiff_t extent, ptrdiff_t before, ptrdiff_t mode) {
    i -= before;
    if (i >= 0 && i < extent) return i;
    if (mode == 0) return -1;
    if (mode == 1) return i < 0 ? 0 : extent - 1;
    return i < 0 ? -i : 2 * extent - 2 - i;
}

static void test_pad(void) {
    kernel_case c;
    static uint32_t from[MAX_COUNT], to[MAX_COUNT];
    for (ptrdiff_t i = 0; i < MAX_COUNT; i++) from[i] = (uint32_t)i * 2654435761u;
    for (size_t index = 0; kernel_case_get(INFK_pad, index, "b4", &c); index++) {
        const ptrdiff_t *y_extent = c.dims.fields, *x_extent = y_extent + 4, *before = y_extent + 8;
        call(INFK_pad, "b4", "", &c, from, NULL, to);
        for (ptrdiff_t i = 0; i < c.y_count; i++) {
            ptrdiff_t rest = i, at = 0, step = 1;
            for (int axis = 3; axis >= 0; axis--) {
                const ptrdiff_t j =
                    pad_source(rest % y_extent[axis], x_extent[axis], before[axis], c.dims.pad.mode);
                at = j < 0 || at < 0 ? -1 : at + j * step;
                step *= x_extent[axis];
                rest /= y_extent[axis];
            }
            const uint32_t want = at < 0 ? 0x7f80a55au : from[at];
            check(to[i] == want, "pad", index, i, to[i], want);
        }
    }
}

static void test_relayout(infk_kind kind) {
    kernel_case c;
    uint64_t state = 10;
    for (size_t index = 0; kernel_case_get(kind, index, "b4", &c); index++) {
        const infk_relayout_dims *d = &c.dims.relayout;
        fill_floats(x, c.x_count, &state);
        memset(y, 0xA5, sizeof y);
        call(kind, "b4", "", &c, x, NULL, y);
        for (ptrdiff_t i = 0; i < d->batch * d->c * d->hw; i++) {
            const ptrdiff_t at =
                place(i / d->hw / d->c, i / d->hw % d->c, 0, i % d->hw, d->c, 1, d->hw, true);
            const float got = y[kind == INFK_to_c16 ? at : i], want = x[kind == INFK_to_c16 ? i : at];
            check(same(got, want), "relayout", index, i, (double)got, (double)want);
        }
    }
}

static void test_pack_matmul(const char *type) {
    kernel_case c;
    static int8_t from[MAX_COUNT], to[MAX_COUNT], expected[MAX_COUNT];
    const bool bytes = strcmp(type, "b1") == 0;
    for (ptrdiff_t i = 0; i < MAX_COUNT; i++) from[i] = (int8_t)(i * 91);
    for (size_t index = 0; kernel_case_get(INFK_pack_matmul, index, type, &c); index++) {
        const infk_relayout_dims *d = &c.dims.relayout;
        const ptrdiff_t size = bytes ? 1 : 4, total = kernel_case_w_count(&c, type);
        memset(to, 0xA5, (size_t)(total * size));
        memset(expected, 0, (size_t)(total * size));
        for (ptrdiff_t i = 0; i < c.x_count; i++) {
            const ptrdiff_t n = i % d->c, k = i / d->c % d->k, matrix = i / d->c / d->k;
            const ptrdiff_t at = total / d->batch * matrix + panel_place(k, d->k, n, bytes);
            memcpy(expected + at * size, from + i * size, (size_t)size);
        }
        call(INFK_pack_matmul, type, "", &c, from, NULL, to);
        check(memcmp(to, expected, (size_t)(total * size)) == 0, "pack_matmul", index, 0, 0, 0);
    }
}

static void test_pack_conv(const char *type) {
    kernel_case c;
    uint64_t state = 11;
    const bool bytes = strcmp(type, "b1") == 0;
    for (size_t index = 0; kernel_case_get(INFK_pack_conv, index, type, &c); index++) {
        const infk_relayout_dims *d = &c.dims.relayout;
        const infk_conv_dims conv = {.oc = d->c, .ic = d->k, .kh = 1, .kw = d->hw};
        static int8_t narrow[MAX_COUNT], to8[MAX_COUNT];
        fill_floats(plain_w, c.x_count, &state);
        for (ptrdiff_t i = 0; bytes && i < c.x_count; i++) {
            narrow[i] = (int8_t)(plain_w[i] * 127);
            plain_w[i] = (float)narrow[i];
        }
        memset(w, 0, sizeof w);
        memset(w8, 0, sizeof w8);
        pack_by_hand(&conv, bytes);
        call(INFK_pack_conv, type, "", &c, bytes ? (const void *)narrow : plain_w, NULL,
             bytes ? (void *)to8 : y);
        const size_t size = (size_t)kernel_case_w_count(&c, type) * (bytes ? 1 : 4);
        check(memcmp(bytes ? (const void *)to8 : y, bytes ? (const void *)w8 : w, size) == 0,
              "pack_conv", index, 0, 0, 0);
    }
}

int main(void) {
    test_conv("f32");
    test_conv("i8");
    test_matmul("f32");
    test_matmul("i8");
    test_matmul("f16");
    test_matmul("bf16");
    test_pool(INFK_pool_max);
    test_pool(INFK_pool_avg);
    test_reduce(INFK_reduce_sum);
    test_reduce(INFK_reduce_max);
    test_softmax();
    test_norm();
    test_resize();
    test_strided();
    test_pad();
    test_relayout(INFK_to_c16);
    test_relayout(INFK_from_c16);
    test_pack_matmul("b4");
    test_pack_matmul("b1");
    test_pack_conv("b4");
    test_pack_conv("b1");
    printf("%ld checks, %ld failures\n", checks, failures);
    return failures ? 1 : 0;
}
