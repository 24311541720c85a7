/* calibrate_gptq.c - 4 bit with error feedback (GPTQ, Frantar et al. 2022): inputs are rounded one after another, and
 * what rounding one of them costs is made up for by those that are still to come, as far as they tell the same.
 *
 * With H = X^T X of the layer's inputs and H^-1 = U^T U, U upper triangular: once input c has become q, the error
 * e = (w - q) / U[c][c] is taken off the others by w[j] -= e U[c][j], j > c. Since H = R R^T with R = U^-1 upper
 * triangular too, R comes from a Cholesky factorisation that starts at the last row, and U from inverting it.
 *
 * The grid is that of choose_i4: when the first of 64 inputs is reached, their scale and zero are searched for on what
 * the weights have become by then, errors weighted by H's diagonal. */
#include "calibrate.h"
#include <math.h>
#include <string.h>

/* ---- U of H -------------------------------------------------------------------------------------------------- */

enum { BLOCK = 64 };

typedef struct factor {
    double *r;             /* [k][k]: H, then R, in the upper half */
    float *u;              /* [k][k] */
    ptrdiff_t k, from, to; /* columns of this block */
} factor;

static double dot(const double *a, const double *b, ptrdiff_t n) {
    double part[8] = {0};
    ptrdiff_t i = 0;
    for (; i + 8 <= n; i += 8)
        for (int l = 0; l < 8; l++) part[l] += a[i + l] * b[i + l];
    for (; i < n; i++) part[i % 8] += a[i] * b[i];
    return ((part[0] + part[4]) + (part[2] + part[6])) + ((part[1] + part[5]) + (part[3] + part[7]));
}

/* Rows of R above the block: its columns, which need the block's own rows. */
static void rows_above(const void *what, const void *const *in, void *out, ptrdiff_t begin, ptrdiff_t end) {
    const factor *f = what;
    (void)in, (void)out;
    for (ptrdiff_t i = begin; i < end; i++)
        for (ptrdiff_t j = f->to - 1; j >= f->from; j--) {
            double *row = f->r + i * f->k;
            const double *other = f->r + j * f->k;
            row[j] = (row[j] - dot(row + j + 1, other + j + 1, f->k - j - 1)) / other[j];
        }
}

static bool decompose(factor *f) {
    for (f->to = f->k; f->to > 0; f->to = f->from) {
        f->from = f->to > BLOCK ? f->to - BLOCK : 0;
        for (ptrdiff_t j = f->to - 1; j >= f->from; j--) {
            double *row = f->r + j * f->k;
            const double square = row[j] - dot(row + j + 1, row + j + 1, f->k - j - 1);
            if (!(square > 0)) return false;
            row[j] = sqrt(square);
            for (ptrdiff_t i = f->from; i < j; i++) {
                double *above = f->r + i * f->k;
                above[j] = (above[j] - dot(above + j + 1, row + j + 1, f->k - j - 1)) / row[j];
            }
        }
        infc_share(rows_above, f, f->from);
    }
    return true;
}

enum { TOGETHER = 8 }; /* rows of U: each row of R is read once for all of them */

static void invert_rows(const void *what, const void *const *in, void *out, ptrdiff_t begin, ptrdiff_t end) {
    const factor *f = what;
    const ptrdiff_t k = f->k;
    (void)in, (void)out;
    for (ptrdiff_t at = begin * TOGETHER; at < end * TOGETHER && at < k; at += TOGETHER)
        for (ptrdiff_t c = at; c < k; c++) { /* U[i][c] is known: take it off what follows */
            const double *r = f->r + c * k;
            for (ptrdiff_t i = at; i < at + TOGETHER && i <= c; i++) {
                float *u = f->u + i * k;
                const float value = (float)((i == c ? 1.0 : (double)u[c]) / r[c]);
                u[c] = value;
                for (ptrdiff_t j = c + 1; j < k; j++) u[j] -= value * (float)r[j];
            }
        }
}

bool infc_gptq_factor(infc_arena *scratch, const float *h, ptrdiff_t k, float damping, float *u) {
    factor f = {.r = INFC_NEW(scratch, double, (size_t)(k * k)), .u = u, .k = k};
    double mean = 0;
    for (ptrdiff_t i = 0; i < k; i++) mean += (double)h[i * k + i] / (double)k;
    for (ptrdiff_t i = 0; i < k; i++)
        for (ptrdiff_t j = i; j < k; j++) f.r[i * k + j] = h[i * k + j];
    const double more = mean > 0 ? mean * (double)damping : 1;
    for (ptrdiff_t i = 0; i < k; i++) f.r[i * k + i] += more;
    memset(u, 0, (size_t)(k * k) * sizeof *u);
    if (!decompose(&f)) return false;
    infc_share(invert_rows, &f, (k + TOGETHER - 1) / TOGETHER);
    return true;
}

/* ---- the grid ------------------------------------------------------------------------------------------------ */

/* To the nearest whole number, half to even, of what lies within 2^22. */
static inline float whole(float x) { return (x + 12582912.0f) - 12582912.0f; }
static inline float within(float x, float low, float high) {
    return x < low ? low : x > high ? high : x;
}

static float error_of(const float *v, const float *weight, float step, float zero) {
    const float by = 1.0f / step;
    float part[8] = {0};
    for (int i = 0; i < INFC_GROUP; i++) {
        const float n = within(whole(within(v[i] * by, -64, 64)) + zero, 0, 15), off = v[i] - (n - zero) * step;
        part[i % 8] += off * off * weight[i];
    }
    return ((part[0] + part[4]) + (part[2] + part[6])) + ((part[1] + part[5]) + (part[3] + part[7]));
}

/* The best (scale - 1) | zero << 4 of 64 values; `wide`: among more. As choose_i4. */
static int code_of(const float *v, const float *weight, float row_scale, int wide, float *out_error) {
    float low = 0, high = 0, least = INFINITY;
    int best = 0x70;
    for (int i = 0; i < INFC_GROUP; i++) {
        low = v[i] < low ? v[i] : low;
        high = v[i] > high ? v[i] : high;
    }
    const int covers = (int)within(ceilf((high - low) / (row_scale * 15.0f)), 1, 16);
    for (int scale = covers; scale > 0 && scale >= covers - 1 - wide; scale--) {
        const float step = row_scale * (float)scale;
        const int middle = (int)within(whole(within(7.5f - (low + high) / (step * 2.0f), -64, 64)), -1, 16);
        const int first = 15 - 127 / scale > 0 ? 15 - 127 / scale : 0,
                  last = 128 / scale < 15 ? 128 / scale : 15;
        const int inside = middle < first ? first : middle > last ? last : middle;
        for (int zero = inside - wide; zero <= inside + wide; zero++) {
            if (zero < first || zero > last) continue;
            const float error = error_of(v, weight, step, (float)zero);
            if (!(error < least)) continue;
            least = error;
            best = (scale - 1) | zero << 4;
        }
    }
    *out_error = least;
    return best;
}

/* Values of one output at 64 inputs of a panel. */
static void take_group(const float *panel, ptrdiff_t at, int lane, float v[INFC_GROUP]) {
    for (int i = 0; i < INFC_GROUP; i++) v[i] = panel[(at + i) * INFC_LANES + lane];
}

static float row_scale_of(const infc_gptq *g, const float *panel, int lane) {
    float v[INFC_GROUP], most = 0, best = 0, least = INFINITY;
    for (ptrdiff_t i = 0; i < g->k; i++) {
        const float size = fabsf(panel[i * INFC_LANES + lane]);
        most = size > most ? size : most;
    }
    if (most < 0x1p-100f) return 0;
    for (int cut = 0; cut < 4; cut++) {
        const float row_scale = most / 127.0f * (1.0f - 0.125f * (float)cut);
        float total = 0, error;
        for (ptrdiff_t at = 0; at < g->k && total < least; at += INFC_GROUP) {
            take_group(panel, at, lane, v);
            code_of(v, g->importance + at, row_scale, 0, &error);
            total += error;
        }
        if (!(total < least)) continue;
        least = total;
        best = row_scale;
    }
    return best;
}

/* ---- 16 outputs ---------------------------------------------------------------------------------------------- */

typedef struct panel_state {
    float row_scale[INFC_LANES], step[INFC_LANES], zero[INFC_LANES];
    float errors[INFC_GROUP][INFC_LANES];
} panel_state;

static int8_t *chosen_row(const infc_gptq *g, ptrdiff_t panel, int lane) {
    const ptrdiff_t n = panel * INFC_LANES + lane;
    return n < g->n ? g->chosen + n * g->chosen_row : NULL;
}

static void choose_codes(const infc_gptq *g, ptrdiff_t panel, const float *w, ptrdiff_t at, panel_state *s) {
    float v[INFC_GROUP], error;
    for (int l = 0; l < INFC_LANES; l++) {
        int8_t *row = chosen_row(g, panel, l);
        s->step[l] = s->zero[l] = 0;
        if (!row || !(s->row_scale[l] > 0)) continue;
        take_group(w, at, l, v);
        const int code = code_of(v, g->importance + at, s->row_scale[l], 1, &error);
        row[g->k + at / INFC_GROUP] = (int8_t)code;
        s->step[l] = s->row_scale[l] * (float)(code % 16 + 1);
        s->zero[l] = (float)(code / 16);
    }
}

/* Rounds 64 inputs one after another; those of the 64 that follow take the errors at once. */
static void round_group(const infc_gptq *g, ptrdiff_t panel, float *w, ptrdiff_t at, panel_state *s) {
    for (int c = 0; c < INFC_GROUP; c++) {
        const float *u = g->u + (at + c) * g->k + at;
        float *x = w + (at + c) * INFC_LANES;
        for (int l = 0; l < INFC_LANES; l++) {
            const float by = s->step[l] > 0 ? 1.0f / s->step[l] : 0;
            const float n = within(whole(within(x[l] * by, -64, 64)) + s->zero[l], 0, 15);
            const float q = (n - s->zero[l]) * s->step[l];
            int8_t *row = chosen_row(g, panel, l);
            if (row) row[at + c] = (int8_t)n;
            s->errors[c][l] = (x[l] - q) / u[c];
            x[l] = q;
        }
        for (int j = c + 1; j < INFC_GROUP; j++)
            for (int l = 0; l < INFC_LANES; l++)
                w[(at + j) * INFC_LANES + l] -= s->errors[c][l] * u[j];
    }
}

static void round_panels(const void *what, const void *const *in, void *out, ptrdiff_t begin, ptrdiff_t end) {
    const infc_gptq *g = what;
    (void)in, (void)out;
    for (ptrdiff_t panel = begin; panel < end; panel++) {
        float *w = g->panels + panel * g->k * INFC_LANES;
        panel_state s;
        for (int l = 0; l < INFC_LANES; l++) s.row_scale[l] = row_scale_of(g, w, l);
        for (ptrdiff_t at = 0; at < g->k; at += INFC_GROUP) {
            choose_codes(g, panel, w, at, &s);
            round_group(g, panel, w, at, &s);
            const ptrdiff_t rest = at + INFC_GROUP;
            const infc_product p = {.a = g->u + at * g->k + rest,
                                    .a_row = 1,
                                    .a_k = g->k,
                                    .b = &s.errors[0][0],
                                    .b_k = INFC_LANES,
                                    .y = w + rest * INFC_LANES,
                                    .y_row = INFC_LANES,
                                    .rows = g->k - rest,
                                    .k = INFC_GROUP,
                                    .lanes = INFC_LANES,
                                    .mode = -1};
            if (rest < g->k) infc_product_run(&p);
        }
        for (int l = 0; l < INFC_LANES; l++)
            if (chosen_row(g, panel, l))
                memcpy(chosen_row(g, panel, l) + g->k / INFC_GROUP * (INFC_GROUP + 1),
                       &s.row_scale[l], sizeof(float));
    }
}

void infc_gptq_round(const infc_gptq *g) {
    infc_share(round_panels, g, (g->n + INFC_LANES - 1) / INFC_LANES);
}
