/* adapter_test.c - kernels of adapters of one level (LEVEL: its token): every line against its reference bit by bit, in
 * parts of the units, with rows alone and beside others; the references against sums in double, with an indexing of
 * their own. */
#include "kernel_case.h"
#include "level_here.h"
#include "level_rows.h"
#include "templates/simd/scalar.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SLOTS = 3, MOST = 70, FIRST = 2, MOST_K = 600, MOST_N = 96, RANKS = 528 };
static long checks, failures;

/* t rows; outputs of the modules; ranks of the first module in each slot, which others follow. */
typedef struct adapter_case {
    ptrdiff_t t, k, outputs[3], modules, rank;
} adapter_case;
static const adapter_case cases[] = {
    {1, 64, {32}, 1, 16},       {1, 130, {23}, 1, 5},          {4, 64, {64, 16, 16}, 3, 32},
    {13, 200, {16, 48}, 2, 33}, {40, 65, {32, 16, 32}, 3, 48}, {7, 1, {40}, 1, 1},
    {26, 96, {48, 48}, 2, 20},  {9, 70, {90}, 1, 24},          {70, 577, {33}, 1, 40},
    {3, 40, {64, 18}, 2, 515}, /* more ranks than a strip of int16 has */
};

static float x[MOST * MOST_K], weight[MOST_K], y[MOST * 2 * MOST_N], before[MOST * MOST_N],
    down[MOST * 3 * RANKS], out[MOST * 2 * MOST_N], other[MOST * 2 * MOST_N];
static int32_t slots[MOST];
static int8_t *pool;
static ptrdiff_t slot_bytes;
static uint64_t state = 5;
static int turn; /* each slot has each type once */

/* Most ranks that the kernels are told of. */
static ptrdiff_t ranks_of(const adapter_case *c) { return c->rank > 48 ? RANKS : 48; }
static ptrdiff_t rank_of(const adapter_case *c, int slot, ptrdiff_t m) {
    const ptrdiff_t rank =
        slot == 1 && m == c->modules - 1 ? 0 : (c->rank + slot * 7 + m * 3) % (ranks_of(c) + 1);
    return slot == 0 && rank == 0 ? 1 : rank;
}
static int type_of(int slot, ptrdiff_t m) { return (int)((slot + m + turn) % 4); }

static bool dora_of(const adapter_case *c, int slot, ptrdiff_t m) {
    return rank_of(c, slot, m) && (slot + m + turn) % 2;
}

static float value(void) { return (float)((double)(kernel_random(&state) % 2001) / 1000.0 - 1.0); }

/* What is stored, as a float. */
static float put(int8_t *at, ptrdiff_t i, int type, float v) {
    uint32_t bits;
    if (type == 3) {
        at[i] = (int8_t)(v * 100.0f);
        return (float)at[i];
    }
    memcpy(&bits, &v, 4);
    const uint16_t half = type == 1 ? (uint16_t)(bits >> 16) : s_to_f16(v);
    if (type == 0) memcpy(at + i * 4, &v, 4);
    else memcpy(at + i * 2, &half, 2);
    bits = (uint32_t)half << 16;
    if (type == 2) return s_from_f16(half);
    if (type == 1) memcpy(&v, &bits, 4);
    return v;
}

/* A matrix of rows x columns at `at`, in panels of 16 rows; what is stored of (row, column) goes to
 * stored[row * stride + column]. -> its bytes, whole lines */
static ptrdiff_t put_panels(int8_t *at, int type, ptrdiff_t rows, ptrdiff_t columns, float *stored,
                            ptrdiff_t stride) {
    const ptrdiff_t scales = type == 3 ? 64 : 0,
                    element = type == 3 ? 1
                              : type    ? 2
                                        : 4,
                    panel = scales + 16 * (columns + (type == 3 ? columns % 2 : 0)) * element;
    for (ptrdiff_t row = 0; row < rows; row++) {
        int8_t *of = at + row / 16 * panel;
        const float scale_of = 0.001f * (float)(1 + row % 7);
        if (type == 3) memcpy(of + row % 16 * 4, &scale_of, 4);
        for (ptrdiff_t i = 0; i < columns; i++) {
            const ptrdiff_t to = type == 3 ? i / 2 * 32 + row % 16 * 2 + i % 2 : i * 16 + row % 16;
            stored[row * stride + i] = put(of + scales, to, type, value()) * (type == 3 ? scale_of : 1.0f);
        }
    }
    return ((rows + 15) / 16 * panel + 63) / 64 * 64;
}

/* [slot][module][rank][k], [slot][module][output][rank] and g of each output, 1 without DoRA, as stored. */
static float a_of[SLOTS][3][RANKS][MOST_K], b_of[SLOTS][3][MOST_N][RANKS], g_of[SLOTS][3][MOST_N];
static const float scale = 0.75f;

static void fill_pool(const adapter_case *c) {
    slot_bytes = 1 << 18;
    memset(pool, 0, (size_t)(SLOTS * slot_bytes));
    for (int s = 0; s < SLOTS; s++) {
        ptrdiff_t at = 256;
        for (ptrdiff_t m = 0; m < c->modules; m++) {
            const ptrdiff_t rank = rank_of(c, s, m);
            const int type = type_of(s, m);
            int8_t *slot = pool + s * slot_bytes;
            const bool dora = dora_of(c, s, m);
            int32_t entry[4] = {(int32_t)rank | type << 16 | dora << 24, 0, (int32_t)(at / 64), 0};
            memcpy(&entry[1], &scale, 4);
            at += put_panels(slot + at, type, rank, c->k, a_of[s][m][0], MOST_K);
            for (ptrdiff_t n = 0; n < c->outputs[m]; n++)
                g_of[s][m][n] = dora ? 1.0f + value() : 1.0f;
            if (dora) memcpy(slot + at, g_of[s][m], (size_t)c->outputs[m] * 4);
            at += dora ? (c->outputs[m] + 15) / 16 * 64 : 0;
            entry[3] = (int32_t)(at / 64);
            at += put_panels(slot + at, type, c->outputs[m], rank, b_of[s][m][0], RANKS);
            memcpy(slot + (FIRST + m) * 16, entry, sizeof entry);
        }
    }
}

static infk_adapter_dims dims_of(const adapter_case *c, infk_kind kind) {
    const float epsilon = 1e-5f;
    ptrdiff_t n = c->outputs[0];
    for (ptrdiff_t m = 1; m < c->modules && kind != INFK_adapter_gate; m++) n += c->outputs[m];
    uint32_t bits;
    memcpy(&bits, &epsilon, 4);
    return (infk_adapter_dims){
        c->t,       c->k,        n,     c->outputs[0], c->modules > 1 ? c->outputs[1] : 0,
        c->modules, ranks_of(c), FIRST, SLOTS,         slot_bytes,
        bits};
}

static void fail(const char *name, const char *what, ptrdiff_t row) {
    failures++;
    printf("FAILED %s: %s, row %td\n", name, what, row);
}

/* ---- calls ---------------------------------------------------------------------------------------------- */

static infk_entry *find(const char *name) { /* null: of another level */
    for (size_t i = 0; i < N_ROWS; i++)
        if (strcmp(ROWS[i].name, name) == 0) return ROWS[i].entry;
    return NULL;
}

/* `from`: the first of the rows. */
static void call(const infk_kernel *k, infk_entry *entry, const infk_adapter_dims *d,
                 ptrdiff_t from, float *result, ptrdiff_t parts) {
    const uint8_t use = 1;
    const float *rows = x + from * d->k, *one = y + from * d->n, *both = y + from * 2 * d->n,
                *of = down + from * d->modules * d->ranks;
    const void *in[5][6] = {{rows, slots + from, pool},
                            {rows, weight, slots + from, pool},
                            {one, of, slots + from, pool, &use},
                            {one, of, before + from * d->n, slots + from, pool, &use},
                            {one, both, of, slots + from, pool, &use}};
    const ptrdiff_t units = infk_units(k->kind, d);
    void *outs[2] = {result, NULL};
    for (ptrdiff_t p = parts; p-- > 0;) {
        const ptrdiff_t begin = units * p / parts, end = units * (p + 1) / parts;
        if (entry) entry(d, in[k->kind - INFK_adapter_in], outs, begin, end);
        else infk_reference_find(k)(d, in[k->kind - INFK_adapter_in], result, begin, end);
    }
}

static ptrdiff_t row_floats(const infk_adapter_dims *d, infk_kind kind) {
    return kind == INFK_adapter_in || kind == INFK_adapter_rms ? d->modules * d->ranks : d->n;
}

static void compare(const infk_kernel *k, const infk_adapter_dims *d, const char *what) {
    const ptrdiff_t row = row_floats(d, k->kind);
    checks++;
    for (ptrdiff_t t = 0; t < d->t; t++)
        if (!kernel_equal(out + t * row, other + t * row, "f32", row)) {
            fail(k->name, what, t);
            return;
        }
}

static void test_line(const adapter_case *c, const infk_kernel *k, const infk_kernel *reference) {
    const infk_adapter_dims d = dims_of(c, k->kind);
    infk_adapter_dims one = d;
    const size_t bytes = (size_t)(d.t * row_floats(&d, k->kind)) * sizeof *out;
    one.t = 1;
    memset(out, 0, bytes);
    call(reference, NULL, &d, 0, out, 1);
    for (ptrdiff_t parts = 1; parts < 4; parts += 2) {
        memset(other, 0, bytes);
        call(k, find(k->name), &d, 0, other, parts);
        compare(k, &d, parts == 1 ? "another result than the reference" : "another result in parts");
    }
    memset(other, 0, bytes);
    for (ptrdiff_t t = 0; t < d.t; t++)
        call(k, find(k->name), &one, t, other + t * row_floats(&d, k->kind), 2);
    compare(k, &d, "another result of a row alone");
    if (k->kind != INFK_adapter_out && k->kind != INFK_adapter_sum) return;
    memcpy(other, y, bytes); /* in place */
    const uint8_t use = 1;
    const void *plain[] = {other, down, slots, pool, &use},
               *summed[] = {other, down, before, slots, pool, &use};
    const void *const *in = k->kind == INFK_adapter_out ? plain : summed;
    void *outs[] = {other, NULL};
    find(k->name)(&d, in, outs, 0, infk_units(k->kind, &d));
    compare(k, &d, "another result in place");
}

/* ---- the definition ------------------------------------------------------------------------------------- */

static void near(const char *what, ptrdiff_t t, float got, double want, double size) {
    checks++;
    if (!(fabs((double)got - want) <= 1e-5 * (size + 1)))
        fail(what, "far from the sum in double", t);
}

static void check_down(const adapter_case *c, bool rms, ptrdiff_t t) {
    const infk_adapter_dims d = dims_of(c, INFK_adapter_in);
    double mean = 0;
    for (ptrdiff_t k = 0; k < c->k; k++)
        mean += (double)x[t * c->k + k] * (double)x[t * c->k + k] / (double)c->k;
    for (ptrdiff_t m = 0; slots[t] >= 0 && slots[t] < SLOTS && m < c->modules; m++)
        for (ptrdiff_t r = 0; r < rank_of(c, slots[t], m); r++) {
            double sum = 0, size = 0;
            for (ptrdiff_t k = 0; k < c->k; k++) {
                const double xi =
                    (double)x[t * c->k + k] * (rms ? (double)weight[k] / sqrt(mean + 1e-5) : 1.0);
                sum += xi * (double)a_of[slots[t]][m][r][k] * (double)scale;
                size += fabs(xi);
            }
            near(rms ? "adapter_rms" : "adapter_in", t, out[(t * d.modules + m) * d.ranks + r], sum, size);
        }
}

static double up_of(const adapter_case *c, ptrdiff_t t, ptrdiff_t m, ptrdiff_t n) {
    double sum = 0;
    for (ptrdiff_t r = 0; slots[t] >= 0 && slots[t] < SLOTS && r < rank_of(c, slots[t], m); r++)
        sum += (double)down[(t * c->modules + m) * ranks_of(c) + r] * (double)b_of[slots[t]][m][n][r];
    return sum;
}

static double g_at(ptrdiff_t t, ptrdiff_t m, ptrdiff_t n) {
    return slots[t] >= 0 && slots[t] < SLOTS ? (double)g_of[slots[t]][m][n] : 1.0;
}

static void check_out(const adapter_case *c, bool sum, ptrdiff_t t) {
    const infk_adapter_dims d = dims_of(c, INFK_adapter_out);
    for (ptrdiff_t m = 0, n = 0; m < c->modules; m++)
        for (ptrdiff_t i = 0; i < c->outputs[m]; i++, n++) {
            const double rest = sum ? (double)before[t * d.n + n] : 0.0;
            const double own = (double)y[t * d.n + n] - rest + up_of(c, t, m, i);
            near(sum ? "adapter_sum" : "adapter_out", t, out[t * d.n + n], rest + g_at(t, m, i) * own, 80);
        }
}

static void check_gate(const adapter_case *c, ptrdiff_t t) {
    for (ptrdiff_t n = 0; n < c->outputs[0]; n++) {
        const float *z = y + t * 2 * c->outputs[0] + n / 16 * 32 + n % 16;
        const double gate = g_at(t, 0, n) * ((double)z[0] + up_of(c, t, 0, n)),
                     up = g_at(t, 1, n) * ((double)z[16] + up_of(c, t, 1, n));
        near("adapter_gate", t, out[t * c->outputs[0] + n], gate / (1 + exp(-gate)) * up, 1600);
    }
}

static bool takes(const adapter_case *c, infk_kind kind) {
    if (kind == INFK_adapter_sum) return c->modules == 1;
    return kind != INFK_adapter_gate || (c->modules == 2 && c->outputs[0] == c->outputs[1]);
}

static void fill(const adapter_case *c) {
    fill_pool(c);
    for (int i = 0; i < MOST * MOST_K; i++) x[i] = value();
    for (int i = 0; i < MOST_K; i++) weight[i] = value();
    for (int i = 0; i < MOST * 2 * MOST_N; i++) y[i] = value() * 4;
    for (int i = 0; i < MOST * MOST_N; i++) before[i] = value() * 4;
    for (int i = 0; i < MOST * 3 * RANKS; i++) down[i] = value();
    for (int i = 0; i < MOST; i++)
        slots[i] = (int32_t)(kernel_random(&state) % (SLOTS + 2)) - 1; /* -1, 3: none */
    for (int i = 1; i < MOST; i++)
        if (kernel_random(&state) % 2) slots[i] = slots[i - 1];
}

static void test_case(const adapter_case *c) {
    fill(c);
    for (size_t i = 0; i < infk_kernel_count(); i++) {
        const infk_kernel *k = infk_kernel_at(i), *reference = k;
        if (k->kind < INFK_adapter_in || k->kind > INFK_adapter_gate || !takes(c, k->kind))
            continue;
        if (strcmp(k->tile, "ref") != 0) {
            for (size_t r = 0; reference == k; r++)
                if (infk_kernel_at(r)->kind == k->kind) reference = infk_kernel_at(r);
            if (find(k->name)) test_line(c, k, reference);
            continue;
        }
        const infk_adapter_dims d = dims_of(c, k->kind);
        call(k, NULL, &d, 0, out, 1);
        for (ptrdiff_t t = 0; t < c->t; t++) {
            if (k->kind == INFK_adapter_out || k->kind == INFK_adapter_sum)
                check_out(c, k->kind == INFK_adapter_sum, t);
            else if (k->kind == INFK_adapter_gate) check_gate(c, t);
            else check_down(c, k->kind == INFK_adapter_rms, t);
        }
    }
}

int main(void) {
    if (!level_runs_here()) {
        printf("SKIPPED: this CPU lacks %s\n", QUOTE(LEVEL));
        return 77;
    }
    pool = aligned_alloc(64, SLOTS << 18);
    if (!pool) return 1;
    for (turn = 0; turn < 4; turn++)
        for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) test_case(&cases[i]);
    printf("%s: %ld checks, %ld failures\n", QUOTE(LEVEL), checks, failures);
    return failures || checks == 0 ? 1 : 0;
}
