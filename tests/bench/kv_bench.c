/* kv_bench.c - attend and kv_store as a model would get them: dims are constants but for the rows, text is that of
 * infk_expand (TEXT) for one level, in ATTEND and STORE. Threads: 1 and 2. Decoding is measured as a share of the read
 * roof: what the same threads read from memory that no cache holds, in the same run. Batches: eight rows of as many
 * sequences, of which no cache holds anything either, as after a step that reads all weights.
 *
 * Prints `RESULT attend/<model>/<case> ...`. The model is SmolLM2-135M's attention (30 layers, 9 heads of 64 in 3
 * groups), TinyLlama-1.1B's (22 layers, 32 heads of 64 in 4 groups) and one of 32 heads of 128 in 8 groups. */
#include TEXT
#include "../kernels/level_here.h"
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

enum { CONTEXT = 8192, WIDTH = CONTEXT / 32, CHUNK = 512, BATCH = 8 };

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* A call in parts: worker w of n. */
typedef void work(int layer, ptrdiff_t rows, int w, int n);
typedef struct worker {
    work *run;
    ptrdiff_t rows;
    int layers, w, n;
    atomic_int *met; /* how often any has come to a meeting */
} worker;

/* All n come to their meeting number `meeting`; none sleeps, as the runtime's workers do not between layers. */
static void meet(const worker *me, int meeting) {
    atomic_fetch_add(me->met, 1);
    while (atomic_load(me->met) < meeting * me->n) {}
}

static void *worker_main(void *argument) {
    const worker *me = argument;
    meet(me, 1);
    for (int layer = 0; layer < me->layers; layer++) {
        me->run(layer, me->rows, me->w, me->n);
        meet(me, layer + 2);
    }
    return NULL;
}

static void caches_clear(void); /* of keys and values */

/* Seconds of one pass over all layers: the least of several. */
static double seconds(work *run, int layers, ptrdiff_t rows, int n) {
    double best = 1e9;
    for (int round = 0; round < 7; round++) {
        if (rows < CHUNK) caches_clear();
        atomic_int met = 0;
        pthread_t other;
        worker first = {run, rows, layers, 0, n, &met}, second = {run, rows, layers, 1, n, &met};
        if (n > 1 && pthread_create(&other, NULL, worker_main, &second) != 0) exit(1);
        while (n > 1 && atomic_load(&met) == 0) {}
        const double began = now();
        worker_main(&first);
        const double took = now() - began;
        if (n > 1) pthread_join(other, NULL);
        if (took < best) best = took;
    }
    return best;
}

/* ---- models --------------------------------------------------------------------------------------------- */

#define GLUE2(a, b) a##b
#define GLUE(a, b) GLUE2(a, b)
#define PART(dim) (64 * (dim) + 256)
#define QUERY(dim) (((dim) + 23) / 16 * 16)
#define DIMS(rows, heads, groups, dim, layers, layer) \
    {rows,                                            \
     heads,                                           \
     groups,                                          \
     dim,                                             \
     dim,                                             \
     0x3e000000,                                      \
     0,                                               \
     0,                                               \
     WIDTH,                                           \
     (layers) * (groups) * PART(dim),                 \
     (layer) * (groups) * PART(dim),                  \
     PART(dim),                                       \
     QUERY(dim)}

static int8_t *kv, *q;
static float *x, *y, *rope, *balance, *kept;
static int32_t positions[CHUNK], slots[CHUNK], tables[BATCH * WIDTH];

static volatile int8_t seen;
static void caches_clear(void) {
    const int8_t *last = kv + (size_t)WIDTH * 16 * 8 * PART(128);
    for (const int8_t *p = last - (64 << 20); p < last; p += 64) seen = *p;
}

#define MODEL(name, heads, groups, dim, layers)                                                    \
    static void name##_attend(int layer, ptrdiff_t rows, int w, int n) {                           \
        const infk_kv_dims d = DIMS(rows, heads, groups, dim, layers, layer);                      \
        const struct GLUE(ATTEND, _epi) e = {NULL, NULL, y, NULL};                                 \
        GLUE(ATTEND, _body)(&d, q, positions, slots, tables, kv, kept, &e, rows * (heads) * w / n, \
                            rows * (heads) * (w + 1) / n);                                         \
    }                                                                                              \
    /* One row, parts shared out: even layers are those, odd ones what joins them. */              \
    static void name##_split(int step, ptrdiff_t rows, int w, int n) {                             \
        const infk_kv_dims d = DIMS(rows, heads, groups, dim, layers, step / 2);                   \
        const struct GLUE(ATTEND, _epi) e = {NULL, NULL, y, NULL};                                 \
        const ptrdiff_t n_parts = (groups) * WIDTH, n_units = step % 2 ? (heads) : n_parts,        \
                        from = (heads) + (step % 2 ? n_parts : 0);                                 \
        GLUE(ATTEND, _body)(&d, q, positions, slots, tables, kv, kept, &e, from + n_units * w / n, \
                            from + n_units * (w + 1) / n);                                         \
    }                                                                                              \
    static void name##_store(int layer, ptrdiff_t rows, int w, int n) {                            \
        const infk_kv_dims d = DIMS(rows, heads, groups, dim, layers, layer);                      \
        void *out = q;                                                                             \
        const struct GLUE(STORE, _epi) e = {out};                                                  \
        GLUE(STORE, _body)(&d, x, positions, slots, tables, kv, rope, balance, &e,                 \
                           rows * (groups) * w / n, rows * (groups) * (w + 1) / n);                \
    }                                                                                              \
    static void name##_read(int layer, ptrdiff_t rows, int w, int n) {                             \
        const size_t bytes = (size_t)(rows / 32) * (groups) * PART(dim) / (size_t)n / 256 * 256;   \
        const int8_t *p = kv + (size_t)layer * (size_t)n * bytes + (size_t)w * bytes;              \
        vf16x a = v_zero(), b = a, c = a, f = a;                                                   \
        for (size_t i = 0; i < bytes; i += 256) {                                                  \
            INFK_PREFETCH(p, i + 4096);                                                            \
            INFK_PREFETCH(p, i + 4160);                                                            \
            INFK_PREFETCH(p, i + 4224);                                                            \
            INFK_PREFETCH(p, i + 4288);                                                            \
            a = v_max(a, v_load((const float *)(const void *)(p + i)));                            \
            b = v_max(b, v_load((const float *)(const void *)(p + i + 64)));                       \
            c = v_max(c, v_load((const float *)(const void *)(p + i + 128)));                      \
            f = v_max(f, v_load((const float *)(const void *)(p + i + 192)));                      \
        }                                                                                          \
        v_store(y + w * 64, v_max(v_max(a, b), v_max(c, f)));                                      \
    }
MODEL(smollm2, 9, 3, 64, 30)
MODEL(tinyllama, 32, 4, 64, 22)
MODEL(eight, 32, 8, 128, 16)

typedef struct model {
    const char *name;
    work *attend, *split, *store, *read;
    int layers;
    double part; /* bytes of a block in one layer */
} model;
static const model models[] = {
    {"smollm2", smollm2_attend, smollm2_split, smollm2_store, smollm2_read, 30, 3.0 * PART(64)},
    {"tinyllama", tinyllama_attend, tinyllama_split, tinyllama_store, tinyllama_read, 22, 4.0 * PART(64)},
    {"eight_groups", eight_attend, eight_split, eight_store, eight_read, 16, 8.0 * PART(128)},
};

static void set_rows(ptrdiff_t rows, ptrdiff_t first) {
    for (ptrdiff_t r = 0; r < rows; r++) positions[r] = (int32_t)(first + r), slots[r] = 0;
}

static void bench(const model *m) {
    for (int n = 1; n <= 2; n++) {
        for (ptrdiff_t context = 1024; context <= CONTEXT; context *= 8) {
            const double bytes = m->part * (double)(context / 32) * m->layers;
            set_rows(1, context - 1);
            const double read = seconds(m->read, m->layers, context, n),
                         took = seconds(m->attend, m->layers, 1, n);
            printf("RESULT attend/%s/decode_%td/threads_%d %.3f ms\n", m->name, context, n, took * 1e3);
            printf("RESULT attend/%s/decode_%td/threads_%d/split %.3f ms\n", m->name, context, n,
                   seconds(m->split, 2 * m->layers, 1, n) * 1e3);
            printf("RESULT attend/%s/decode_%td/threads_%d/read %.1f GB/s\n", m->name, context, n,
                   bytes / took * 1e-9);
            printf("RESULT attend/%s/decode_%td/threads_%d/share %.0f %%\n", m->name, context, n,
                   read / took * 100);
        }
        for (ptrdiff_t place = 59; place < 1024; place *= 4) {
            for (int r = 0; r < BATCH; r++) positions[r] = (int32_t)place, slots[r] = r;
            printf("RESULT attend/%s/batch_8_of_%td/threads_%d %.3f ms\n", m->name, place + 1, n,
                   seconds(m->attend, m->layers, BATCH, n) * 1e3);
            printf("RESULT kv_store/%s/batch_8_of_%td/threads_%d %.3f ms\n", m->name, place + 1, n,
                   seconds(m->store, m->layers, BATCH, n) * 1e3);
        }
        set_rows(CHUNK, 0);
        printf("RESULT attend/%s/prefill_512/threads_%d %.2f ms\n", m->name, n,
               seconds(m->attend, m->layers, CHUNK, n) * 1e3);
        printf("RESULT kv_store/%s/prefill_512/threads_%d %.2f ms\n", m->name, n,
               seconds(m->store, m->layers, CHUNK, n) * 1e3);
    }
}

int main(int argc, char **argv) {
    if (!level_runs_here()) {
        printf("SKIPPED: this CPU lacks the level\n");
        return 77;
    }
    const size_t bytes = (size_t)WIDTH * 16 * 8 * PART(128), huge = 2 << 20;
    kv = aligned_alloc(huge, (bytes / huge + 1) * huge);
    q = aligned_alloc(64, CHUNK * 32 * QUERY(128));
    x = aligned_alloc(64, sizeof *x * CHUNK * 48 * 128);
    y = aligned_alloc(64, sizeof *y * CHUNK * 32 * 128);
    rope = aligned_alloc(64, sizeof *rope * CONTEXT * 128);
    balance = aligned_alloc(64, sizeof *balance * 3 * 8 * 128);
    kept = aligned_alloc(64, sizeof *kept * 32 * (WIDTH / 8) * (128 + 16));
    if (kv) madvise(kv, (bytes / huge + 1) * huge, MADV_HUGEPAGE); /* as a pool would be */
    if (!kv || !q || !x || !y || !rope || !balance || !kept) return 1;
    for (int i = 0; i < CHUNK * 48 * 128; i++)
        x[i] = (float)((i * 37 + i / 100) % 251 - 125) * 0.01f;
    for (int i = 0; i < CONTEXT * 128; i++) rope[i] = i % 2 ? 0.6f : 0.8f;
    for (int i = 0; i < 3 * 8 * 128; i++) balance[i] = 0.5f;
    for (size_t i = 0; i < bytes; i++) kv[i] = (int8_t)(i % 97);
    for (int i = 0; i < BATCH * WIDTH; i++)
        tables[i] = (i % WIDTH * 37 + 11 + i / WIDTH * 29) % WIDTH;
    for (size_t m = 0; m < sizeof models / sizeof *models; m++) {
        if (argc > 1 && strcmp(argv[1], models[m].name) != 0) continue;
        for (ptrdiff_t first = 0; first < CONTEXT; first += CHUNK) {
            set_rows(CHUNK, first);
            for (int layer = 0; layer < models[m].layers; layer++)
                models[m].store(layer, CHUNK, 0, 1);
        }
        bench(&models[m]);
    }
    return 0;
}
