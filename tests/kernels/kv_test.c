/* kv_test.c - kv_store and attend of one level (LEVEL: its token): every line against the references bit by bit; the
 * references against attention computed here in double from its definition, with an indexing of its own.
 *
 * A case is a number of sequences, each with a prompt that is stored and attended in steps. The same sequences in other
 * steps (rows of 1, 7, 64, all), other blocks, other slots, alone and beside each other, in parts of the units, and a
 * row whose parts are shared out, must give the same bits. */
#include "kernel_case.h"
#include "level_here.h"
#include "level_rows.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    SEQUENCES = 3,
    WIDTH = 33,
    BLOCKS = SEQUENCES * WIDTH,
    MOST = 1030
}; /* positions of one sequence */
static long checks, failures;
static bool rough;         /* data with infinities, NaNs, denormals */
#if defined(LEVEL_generic) /* whose fma may be slow */
static const bool few = true;
#else
static const bool few = false;
#endif
static const infk_kernel *store, *attend;
static infk_entry *store_entry, *attend_entry; /* of the level; null: the references of the host */

/* A model's attention, and what is asked of each sequence. */
typedef struct model {
    const char *what;
    ptrdiff_t heads, groups, head_dim, rotary, window, format;
    ptrdiff_t lengths[SEQUENCES];
} model;

static const model models[] = {
    {"one head", 1, 1, 32, 32, 0, INFK_KV_INT8, {34, 1, 5}},
    {"three heads of a group", 9, 3, 64, 64, 0, INFK_KV_INT8, {260, 33, 0}},
    {"long", 2, 1, 32, 32, 0, INFK_KV_INT8, {1001, 257, 0}},
    {"window", 2, 2, 64, 64, 100, INFK_KV_INT8, {520, 256, 0}},
    {"window of one", 2, 1, 32, 32, 1, INFK_KV_INT8, {70, 0, 0}},
    {"window of 300", 2, 1, 48, 48, 300, INFK_KV_INT8, {620, 0, 0}},
    {"heads of 48", 4, 2, 48, 32, 0, INFK_KV_INT8, {65, 31, 32}},
    {"heads of 80", 8, 1, 80, 20, 0, INFK_KV_INT8, {40, 255, 0}},
    {"heads of 128", 8, 1, 128, 128, 0, INFK_KV_INT8, {290, 2, 0}},
    {"many heads", 40, 1, 16, 0, 0, INFK_KV_INT8, {50, 3, 0}},
    {"halves", 6, 2, 64, 64, 0, INFK_KV_F16, {260, 33, 0}},
    {"halves, window", 2, 2, 80, 80, 40, INFK_KV_F16, {270, 0, 0}},
    {"halves, long", 1, 1, 32, 32, 0, INFK_KV_F16, {520, 257, 0}},
};
enum { N_MODELS = sizeof models / sizeof *models, MOST_HEADS = 12, MOST_VECTORS = 4 };

/* The models above, then small ones with every number of heads and vectors of a head that a tile may end with. */
static bool model_at(size_t i, model *out) {
    if (i < N_MODELS) {
        *out = models[i];
        return true;
    }
    i -= N_MODELS;
    const ptrdiff_t heads = (ptrdiff_t)(i % MOST_HEADS) + 1,
                    dim = (ptrdiff_t)(i / MOST_HEADS % MOST_VECTORS + 1) * 16;
    const size_t format = i / MOST_HEADS / MOST_VECTORS;
    *out = (model){"small", heads, 1, dim, dim, 0, format ? INFK_KV_F16 : INFK_KV_INT8, {40, 3, 0}};
    return format < 2;
}

/* Data of a model: q, k, v of every position. */
static float *x, *rope, *balance, *y, *y_other, *kept;
static int8_t *kv, *kv_other, *q;
static int32_t positions[SEQUENCES * MOST], slots[SEQUENCES * MOST], tables[SEQUENCES * WIDTH];
static ptrdiff_t from_row[SEQUENCES * MOST]; /* which row of x and y a row of a step is */

static ptrdiff_t x_floats(const model *m) { return (m->heads + 2 * m->groups) * m->head_dim; }

static infk_kv_dims dims_of(const model *m, ptrdiff_t rows) {
    const float scale = 1.0f / sqrtf((float)m->head_dim);
    uint32_t bits;
    memcpy(&bits, &scale, sizeof bits);
    const ptrdiff_t part = infk_kv_part_bytes(m->head_dim, m->format);
    return (infk_kv_dims){rows,
                          m->heads,
                          m->groups,
                          m->head_dim,
                          m->rotary,
                          (ptrdiff_t)bits,
                          m->window,
                          m->format,
                          WIDTH,
                          3 * m->groups * part,
                          m->groups * part,
                          part,
                          infk_kv_query_bytes(m->head_dim, m->format)};
}

static void fail(const model *m, const char *what, ptrdiff_t at, double got, double want) {
    if (failures++ < 20)
        printf("FAILED %s, %s: element %td is %.9g, expected %.9g\n", m->what, what, at, got, want);
}

/* ---- the definition ------------------------------------------------------------------------------------- */

static double turned(const model *m, const float *head, ptrdiff_t c, ptrdiff_t position) {
    const ptrdiff_t half = m->rotary / 2;
    if (c >= m->rotary) return (double)head[c];
    const double angle = (double)position * pow(10000.0, -(double)(c % half) / (double)half);
    const double other = (double)head[c < half ? c + half : c - half];
    return (double)head[c] * cos(angle) + (c < half ? -other : other) * sin(angle);
}

/* The row of x and y of a sequence's position; sequences follow each other. */
static ptrdiff_t row_of(const model *m, int sequence, ptrdiff_t position) {
    for (int s = 0; s < sequence; s++) position += m->lengths[s];
    return position;
}

static void check_head(const model *m, int sequence, ptrdiff_t position, ptrdiff_t h) {
    const ptrdiff_t dim = m->head_dim,
                    first = m->window && position >= m->window ? position - m->window + 1 : 0;
    const ptrdiff_t g = h * m->groups / m->heads, row = row_of(m, sequence, position);
    static double scores[MOST];
    double total = 0, norm = 0, error = 0, max = -INFINITY, query[256];
    for (ptrdiff_t c = 0; c < dim; c++)
        query[c] = turned(m, x + row * x_floats(m) + h * dim, c, position);
    for (ptrdiff_t p = first; p <= position; p++) {
        const float *k = x + row_of(m, sequence, p) * x_floats(m) + (m->heads + g) * dim;
        scores[p] = 0;
        for (ptrdiff_t c = 0; c < dim; c++) scores[p] += query[c] * turned(m, k, c, p);
        scores[p] /= sqrt((double)dim);
        max = fmax(max, scores[p]);
    }
    for (ptrdiff_t p = first; p <= position; p++) total += scores[p] = exp(scores[p] - max);
    for (ptrdiff_t c = 0; c < dim; c++) {
        double want = 0;
        for (ptrdiff_t p = first; p <= position; p++) {
            const float *v = x + row_of(m, sequence, p) * x_floats(m) + (m->heads + m->groups + g) * dim;
            want += scores[p] / total * (double)v[c];
        }
        const double got = (double)y[(row * m->heads + h) * dim + c];
        norm += want * want;
        error += (got - want) * (got - want);
    }
    checks++;
    const double bound = m->format == INFK_KV_F16 ? 1e-3 : 2e-2;
    if (!(sqrt(error) <= bound * sqrt(norm)))
        fail(m, "error of a head", row * m->heads + h, sqrt(error / norm), bound);
}

static void check_definition(const model *m) {
    for (int s = 0; s < SEQUENCES; s++)
        for (ptrdiff_t p = 0; p < m->lengths[s]; p++) {
            const bool edge = p % 32 < 2 || p % 32 == 31 || p % 256 < 2 || p + 1 == m->lengths[s];
            if (!edge && p % 7) continue;
            for (ptrdiff_t h = 0; h < m->heads; h += p % 64 ? m->heads / 2 + 1 : 1)
                check_head(m, s, p, h);
        }
}

/* ---- steps ---------------------------------------------------------------------------------------------- */

typedef struct plan {
    const char *what;
    ptrdiff_t chunk; /* rows of one sequence in a step */
    bool together;   /* sequences share steps */
    bool shuffled;   /* blocks and slots in another order */
    ptrdiff_t parts; /* units are done in so many parts */
    ptrdiff_t split; /* a step of one row after so many, whose parts of positions are shared out; 0: none */
} plan;

static void call_units(infk_entry *entry, const infk_kernel *k, const infk_kv_dims *d,
                       const void *const *in, void *out, ptrdiff_t from, ptrdiff_t units, ptrdiff_t parts) {
    void *outs[2] = {out, NULL};
    for (ptrdiff_t p = parts; p-- > 0;) {
        const ptrdiff_t begin = from + units * p / parts, end = from + units * (p + 1) / parts;
        if (entry) entry(d, in, outs, begin, end);
        else infk_reference_find(k)(d, in, out, begin, end);
    }
}

static void call(infk_entry *entry, const infk_kernel *k, const infk_kv_dims *d,
                 const void *const *in, void *out, ptrdiff_t parts) {
    call_units(entry, k, d, in, out, 0, infk_units(k->kind, d), parts);
}

/* attend of one row, see attend_ref.c: its parts, then heads. */
static void call_split(const infk_kv_dims *d, const void **in, void *out, ptrdiff_t parts) {
    const ptrdiff_t n_parts = d->groups * d->width;
    for (ptrdiff_t i = 0; i < infk_scratch(INFK_attend, d); i++) kept[i] = NAN;
    in[INFK_SCRATCH] = kept;
    call_units(attend_entry, attend, d, in, out, d->heads, n_parts, parts);
    call_units(attend_entry, attend, d, in, out, d->heads + n_parts, d->heads, parts);
}

static void step(const model *m, const plan *p, int8_t *cache, float *out, ptrdiff_t rows) {
    static float step_x[1 << 20], step_y[1 << 20];
    const infk_kv_dims d = dims_of(m, rows);
    const ptrdiff_t n = x_floats(m), y_floats = m->heads * m->head_dim;
    for (ptrdiff_t r = 0; r < rows; r++)
        memcpy(step_x + r * n, x + from_row[r] * n, (size_t)n * sizeof *x);
    const void *in[INFK_SCRATCH + 3] = {step_x, positions, slots, tables, cache, rope, balance};
    call(store_entry, store, &d, in, q, p->parts);
    in[0] = q;
    if (p->split && rows == 1) call_split(&d, in, step_y, p->parts);
    else call(attend_entry, attend, &d, in, step_y, p->parts);
    for (ptrdiff_t r = 0; r < rows; r++)
        memcpy(out + from_row[r] * y_floats, step_y + r * y_floats, (size_t)y_floats * sizeof *out);
}

static void fill_tables(bool shuffled) {
    for (int i = 0; i < BLOCKS; i++) tables[i] = shuffled ? (i * 50 + 7) % BLOCKS : i;
}

/* All positions of all sequences; what is not written in the cache is 0xff: NaN. */
static void run(const model *m, const plan *p, int8_t *cache, float *out) {
    memset(cache, 0xff, (size_t)(BLOCKS * dims_of(m, 1).block_bytes));
    fill_tables(p->shuffled);
    ptrdiff_t done[SEQUENCES] = {0};
    for (bool more = true; more;) {
        ptrdiff_t rows = 0;
        more = false;
        for (int s = 0; s < SEQUENCES; s++) {
            const ptrdiff_t left = m->lengths[s] - done[s],
                            before = p->split ? p->split - done[s] % (p->split + 1) : 0;
            const ptrdiff_t wanted = p->split ? before + !before : p->chunk,
                            chunk = left < wanted ? left : wanted;
            for (ptrdiff_t r = 0; r < chunk; r++, rows++) {
                positions[rows] = (int32_t)(done[s] + r);
                slots[rows] = p->shuffled ? (s + 1) % SEQUENCES : s;
                from_row[rows] = row_of(m, s, done[s] + r);
            }
            done[s] += chunk;
            more |= done[s] < m->lengths[s];
            if (p->together && s + 1 < SEQUENCES) continue;
            if (rows) step(m, p, cache, out, rows);
            rows = 0;
        }
    }
}

static void compare(const model *m, const plan *p) {
    const ptrdiff_t n = row_of(m, SEQUENCES, 0) * m->heads * m->head_dim;
    for (ptrdiff_t i = 0; i < n; i++) y_other[i] = NAN;
    run(m, p, kv_other, y_other);
    checks++;
    for (ptrdiff_t i = 0; i < n; i++)
        if (!kernel_equal(y + i, y_other + i, "f32", 1)) {
            fail(m, p->what, i, (double)y_other[i], (double)y[i]);
            break;
        }
    if (p->shuffled || rough) return; /* NaNs in the cache may differ */
    checks++;
    if (memcmp(kv, kv_other, (size_t)(BLOCKS * dims_of(m, 1).block_bytes)) != 0)
        fail(m, p->what, -1, 0, 0);
}

static const plan whole = {"all at once", MOST, true, false, 1, 0};
static const plan plans[] = {
    {"all at once", MOST, true, false, 1, 0},
    {"alone", MOST, false, false, 1, 0},
    {"rows of 1", 1, true, false, 1, 0},
    {"rows of 64, in parts", 64, true, false, 2, 0},
    {"rows of 7, alone, in parts", 7, false, false, 3, 0},
    {"other blocks", 100, true, true, 1, 0},
};
/* After 50 rows the 51st, ...: one of them is the last of a part. */
static const plan split = {"parts of a row shared out", 1, false, false, 3, 50};
enum { N_PLANS = sizeof plans / sizeof *plans };

/* ---- lines ---------------------------------------------------------------------------------------------- */

static infk_entry *find(const char *name) { /* null: of another level */
    for (size_t i = 0; i < N_ROWS; i++)
        if (strcmp(ROWS[i].name, name) == 0) return ROWS[i].entry;
    return NULL;
}

static const infk_kernel *reference(infk_kind kind) {
    size_t i = 0;
    while (infk_kernel_at(i)->kind != kind) i++; /* the first of a kind */
    return infk_kernel_at(i);
}

/* The last line of the level that does this model. */
static const infk_kernel *newest(infk_kind kind, const infk_kv_dims *d) {
    size_t i = infk_kernel_count();
    while (infk_kernel_at(i - 1)->kind != kind || !find(infk_kernel_at(i - 1)->name) ||
           !infk_kernel_at(i - 1)->fits(d))
        i--;
    return infk_kernel_at(i - 1);
}

/* Every line of the level that does this model: attend after the reference of kv_store, which is quick, then kv_store
 * before the newest attend. The slow ones, all of the generic level, go through the two plans that mix most, one on
 * plain and the other on rough data; references above that level, the same text, through one of them on plain data. */
static void test_lines(const model *m, size_t index) {
    const infk_kv_dims d = dims_of(m, 1);
    for (size_t i = 0; i < infk_kernel_count(); i++) {
        const infk_kernel *k = infk_kernel_at(i);
        infk_entry *entry = k->kind == INFK_kv_store || k->kind == INFK_attend ? find(k->name) : NULL;
        if (!entry || !k->fits(&d)) continue;
        const long before = failures;
        store = k->kind == INFK_kv_store ? k : reference(INFK_kv_store);
        attend = k->kind == INFK_attend ? k : newest(INFK_attend, &d);
        store_entry = k->kind == INFK_kv_store ? entry : NULL;
        attend_entry = find(attend->name);
        const bool ref = strcmp(k->tile, "ref") == 0;
        const size_t mixed = N_PLANS - 2 + (index + rough) % 2;
        if (few || (ref && !rough)) compare(m, &plans[mixed]);
        else if (!ref)
            for (size_t p = 0; p < N_PLANS; p++) compare(m, &plans[p]);
        if (k->kind == INFK_attend && (!ref || !rough)) compare(m, &split);
        if (failures > before) printf("FAILED above: %s\n", k->name);
    }
}

/* Keys have a constant part, and elements whose factors differ: the definition knows nothing of either. */
static void fill_balance(const model *m, uint64_t *state) {
    const ptrdiff_t n = m->groups * m->head_dim;
    kernel_fill(balance, "f32", 2 * n, DATA_PLAIN, state);
    for (ptrdiff_t i = 0; i < n; i++) {
        balance[n + i] = 1.0f + fabsf(balance[n + i]) / 2;
        balance[2 * n + i] = 1.0f / balance[n + i];
    }
}

static void fill(const model *m) {
    uint64_t state = 3;
    const ptrdiff_t n = row_of(m, SEQUENCES, 0) * x_floats(m), half = m->rotary / 2;
    kernel_fill(x, "f32", n, rough ? DATA_ROUNDING : DATA_PLAIN, &state);
    for (ptrdiff_t i = 0; rough && i < n; i += 997)
        kernel_fill(x + i, "f32", 1, DATA_EXTREMES, &state);
    fill_balance(m, &state);
    for (ptrdiff_t p = 0; p < WIDTH * 32; p++)
        for (ptrdiff_t i = 0; i < half; i++) {
            const double angle = (double)p * pow(10000.0, -(double)i / (double)half);
            rope[(p * half + i) * 2] = (float)cos(angle);
            rope[(p * half + i) * 2 + 1] = (float)sin(angle);
        }
}

int main(void) {
    if (!level_runs_here()) {
        printf("SKIPPED: this CPU lacks %s\n", QUOTE(LEVEL));
        return 77;
    }
    x = malloc(sizeof *x << 20), y = malloc(sizeof *y << 20), y_other = malloc(sizeof *y << 20);
    kept = malloc(sizeof *kept << 18), rope = malloc(sizeof *rope << 18),
    balance = malloc(sizeof *balance << 12), q = malloc(1 << 22);
    kv = aligned_alloc(64, 1 << 25), kv_other = aligned_alloc(64, 1 << 25);
    if (!x || !y || !y_other || !kept || !rope || !balance || !q || !kv || !kv_other) return 1;
    model m;
    for (size_t i = 0; model_at(i, &m); i++) {
        for (int r = 0; r < 2; r++) {
            rough = r == 1;
            fill(&m);
            store = reference(INFK_kv_store), attend = reference(INFK_attend);
            store_entry = attend_entry = NULL;
            run(&m, &whole, kv, y);
            if (!rough) check_definition(&m);
            test_lines(&m, i);
        }
    }
    printf("%s: %ld checks, %ld failures\n", QUOTE(LEVEL), checks, failures);
    return failures ? 1 : 0;
}
