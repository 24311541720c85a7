/* keep_bench.c - speed of linear layers over weights of GGUF files: dims are constants, text is that of infk_expand
 * (TEXT), compiled like emitted C, two threads that share the outputs. One row: GB/s of weights that lie in memory
 * (copies of the layer, more than a cache holds), as a share of what two threads read in the same run. More rows:
 * multiply-adds; of 8 rows, a batch of answers, weights come from memory too, of more they matter little.
 * `RESULT <format>/<layer>/<rows> <value> <unit>`, and for one row `.. /share`; `inputs/<kind>/row`: ns of one thread
 * for one row of what they multiply. */
#include TEXT
#include "../kernels/level_here.h"
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

enum { THREADS = 2, MAX_ROWS = 512, MAX_K = 5632, MAX_N = 49152 };
static const size_t memory = (size_t)384 << 20;
static int8_t *weights, *records;
static float *results;

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* ---- two threads --------------------------------------------------------------------------------------- */

typedef void work(int thread, ptrdiff_t rows, const int8_t *w);
static struct job {
    work *run;
    ptrdiff_t rows;
    size_t bytes, copies, rounds;
} job;
static pthread_barrier_t meet;

static void *run_thread(void *arg) {
    const int thread = *(const int *)arg;
    pthread_barrier_wait(&meet);
    for (size_t r = 0; r < job.rounds; r++)
        for (size_t c = 0; c < job.copies; c++) job.run(thread, job.rows, weights + c * job.bytes);
    pthread_barrier_wait(&meet);
    return NULL;
}

/* Seconds of one call, the median of five runs. */
static double seconds(work *run, ptrdiff_t rows, size_t bytes, size_t copies) {
    static const int ids[THREADS] = {0, 1};
    double took[5];
    size_t rounds = 1;
    for (int i = -1; i < 5;) {
        pthread_t threads[THREADS];
        job = (struct job){run, rows, bytes, copies, rounds};
        for (int t = 0; t < THREADS; t++)
            pthread_create(&threads[t], NULL, run_thread, (void *)(uintptr_t)&ids[t]);
        pthread_barrier_wait(&meet);
        const double start = now();
        pthread_barrier_wait(&meet);
        const double all = now() - start;
        for (int t = 0; t < THREADS; t++) pthread_join(threads[t], NULL);
        if (all < 0.02 && rounds < 1000000) {
            rounds *= all < 0.002 ? 8 : 2;
            continue;
        }
        if (i >= 0) took[i] = all / (double)(rounds * copies);
        i++;
    }
    for (int i = 0; i < 5; i++)
        for (int k = i + 1; k < 5; k++)
            if (took[k] < took[i]) {
                const double t = took[i];
                took[i] = took[k];
                took[k] = t;
            }
    return took[2];
}

static volatile int32_t sink;
static void read_half(int thread, ptrdiff_t rows, const int8_t *w) {
    const size_t half = memory / THREADS;
    const int8_t *p = w + (size_t)thread * half;
    vi16x a = vi_zero(), b = vi_zero(), c = vi_zero(), d = vi_zero();
    (void)rows;
    for (size_t i = 0; i < half; i += 256) {
        const int32_t *q = (const int32_t *)(const void *)(p + i);
        INFK_PREFETCH(p, i + 8192);
        INFK_PREFETCH(p, i + 8192 + 64);
        INFK_PREFETCH(p, i + 8192 + 128);
        INFK_PREFETCH(p, i + 8192 + 192);
        a = vi_add(a, vi_load(q));
        b = vi_add(b, vi_load(q + 16));
        c = vi_add(c, vi_load(q + 32));
        d = vi_add(d, vi_load(q + 48));
    }
    int32_t lanes[16];
    vi_store(lanes, vi_add(vi_add(a, b), vi_add(c, d)));
    sink = lanes[0] + lanes[7];
}

/* ---- layers -------------------------------------------------------------------------------------------- */

#define GLUE2(a, b) a##b
#define GLUE(a, b) GLUE2(a, b)
#define KERNEL2(kind, format, tile, level, part) \
    infk_i8_##kind##_keep_##format##_##tile##__##level##part
#define KERNEL(kind, format, tile, level, part) KERNEL2(kind, format, tile, level, part)
#define FORMATS(F) F(2, q4_0) F(3, q4_1) F(6, q5_0) F(8, q8_0) F(12, q4_k) F(14, q6_k)
/* clang-format off */
#define SHAPES(X, number, format)                                          \
    X(number, format, linear, LINEAR_TILE, 1, smollm2_qkv, 960, 576)       \
    X(number, format, gated, GATED_TILE, 2, smollm2_gated, 1536, 576)      \
    X(number, format, linear, LINEAR_TILE, 1, smollm2_down, 576, 1536)     \
    X(number, format, linear, LINEAR_TILE, 1, smollm2_head, 49152, 576)    \
    X(number, format, linear, LINEAR_TILE, 1, tinyllama_qkv, 2560, 2048)   \
    X(number, format, gated, GATED_TILE, 2, tinyllama_gated, 5632, 2048)   \
    X(number, format, linear, LINEAR_TILE, 1, tinyllama_down, 2048, 5632)
/* clang-format on */

#define X(number, format, kind, tile, halves, name, n, k)                                       \
    static void GLUE(format##_, name)(int thread, ptrdiff_t rows, const int8_t *w) {            \
        const infk_keep_dims d = {rows, n, k, number, (k / 32 * 44 + 63) / 64 * 64, n, halves}; \
        const struct KERNEL(kind, format, tile, LEVEL, _epi) e = {NULL, NULL, results, NULL};   \
        const ptrdiff_t units = (n + 15) / 16;                                                  \
        KERNEL(kind, format, tile, LEVEL, _body)(&d, records, w, &e, units * thread / THREADS,  \
                                                 units * (thread + 1) / THREADS);               \
    }
#define F(number, format) SHAPES(X, number, format)
FORMATS(F)
#undef F
#undef X

/* What makes their inputs: rows of K floats as int8 by groups. Weights `w` are the norm's. */
#define GROUPS(X)               \
    X(rms_groups, rms_576, 576) \
    X(quantize_groups, plain_576, 576) X(quantize_groups, plain_1536, 1536)
#define CALL_rms_groups(d, w, e, from, to) \
    infk_f32_rms_groups_x16__generic_body(d, results, (const float *)(const void *)(w), e, from, to)
#define CALL_quantize_groups(d, w, e, from, to) \
    ((void)(w), infk_f32_quantize_groups_x16__generic_body(d, results, e, from, to))
#define X(kind, name, k)                                                                      \
    static void name(int thread, ptrdiff_t rows, const int8_t *w) {                           \
        const infk_groups_dims d = {rows, k, ((k) / 32 * 44 + 63) / 64 * 64, 0x3727c5ac};     \
        const struct GLUE(infk_f32_, GLUE(kind, _x16__generic_epi)) e = {records};            \
        GLUE(CALL_, kind)(&d, w, &e, rows * thread / THREADS, rows * (thread + 1) / THREADS); \
    }
GROUPS(X)
#undef X

static double roof;

static void report(const char *format_name, const char *layer, work *run, ptrdiff_t format,
                   ptrdiff_t halves, ptrdiff_t n, ptrdiff_t k) {
    static const ptrdiff_t rows[] = {1, 8, 64, 512};
    if (format > 8 && k % 256 != 0) return;
    const size_t bytes = (size_t)(halves * ((n + 15) / 16) * s_keep_panel(format, k));
    for (int i = 0; i < 4; i++) {
        if (n > 8192 && rows[i] > 8) continue;
        const double took = seconds(run, rows[i], bytes, rows[i] <= 8 ? memory / bytes : 1);
        const double macs = (double)(rows[i] * halves * n * k) / took * 1e-9,
                     rate = (double)bytes / took * 1e-9;
        if (rows[i] > 1)
            printf("RESULT %s/%s/%td %.0f GMAC/s\n", format_name, layer, rows[i], macs);
        else
            printf("RESULT %s/%s/1 %.1f GB/s\nRESULT %s/%s/1/share %.0f %%\n", format_name, layer,
                   rate, format_name, layer, rate / roof * 100);
        fflush(stdout);
    }
}

int main(int argc, char **argv) {
    if (!level_runs_here()) {
        printf("SKIPPED: this CPU lacks the level\n");
        return 77;
    }
    weights = mmap(NULL, memory + 65536, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    records = aligned_alloc(64, (size_t)MAX_ROWS * (MAX_K / 32 * 44 + 64));
    results = aligned_alloc(64, (size_t)MAX_ROWS * MAX_N * sizeof *results);
    if (weights == MAP_FAILED || !records || !results) return 1;
    madvise(weights, memory, MADV_HUGEPAGE);
    for (size_t i = 0; i < memory; i += 4)
        memcpy(weights + i, &(uint32_t){(uint32_t)i * 2654435761u & 0x3fff3fffu}, 4);
    for (size_t i = 0; i < (size_t)MAX_ROWS * (MAX_K / 32 * 44 + 64); i += 4)
        memcpy(records + i, &(float){1e-5f}, 4); /* gates of ordinary size: exp() of large ones is slow */
    memset(results, 0, (size_t)MAX_ROWS * MAX_N * sizeof *results);
    pthread_barrier_init(&meet, NULL, THREADS + 1);
    roof = (double)memory / seconds(read_half, 1, memory, 1) * 1e-9;
    printf("RESULT read_roof %.1f GB/s\n", roof);
#define X(number, format, kind, tile, halves, name, n, k) \
    if (argc < 2 || strstr(#format "/" #name, argv[1]))   \
        report(#format, #name, GLUE(format##_, name), number, halves, n, k);
#define F(number, format) SHAPES(X, number, format)
    FORMATS(F)
#undef X
    for (int i = 0; i < 4096; i++) results[i] = (float)(i * 37 % 251 - 125) * 0.01f;
#define X(kind, name, k)                              \
    if (argc < 2 || strstr("inputs/" #name, argv[1])) \
        printf("RESULT inputs/" #name "/row %.0f ns\n", seconds(name, 64, 0, 1) / (64 / THREADS) * 1e9);
    GROUPS(X)
    return 0;
}
