/* linear_bench.c - speed of linear layers as a model would get them: dims are constants but for the rows, text is that
 * of infk_expand (TEXT), compiled like emitted C. Two threads share the units of a call.
 *
 *   linear_bench_LEVEL [MiB of weights]
 *
 * One row: GB/s of weights that are read from memory, mapped from a file and in pages of 2 MiB, each beside what plain
 * reading of the same bytes reaches in the same round. Many rows: GMAC/s beside chains of the level's dot product.
 * Times are CPU times of the threads, since others may be at work; what is printed are medians over rounds. */
#include TEXT
#include "../kernels/level_here.h"
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum { N_THREADS = 2, ROUNDS = 15, MAX_ROWS = 512, MAX_K = 5632, MAX_N = 49152 };
static int8_t *records;
static float *y;
static const int8_t *weights;
static size_t weights_bytes;
static ptrdiff_t rows;

static double cpu_now(void) {
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* ---- threads ---------------------------------------------------------------------------------------------- */

typedef void work(int thread);
static work *current;
static double took[N_THREADS];
static pthread_barrier_t together;

static void *run_one(void *thread) {
    const int i = (int)(intptr_t)thread;
    pthread_barrier_wait(&together);
    const double start = cpu_now();
    current(i);
    took[i] = cpu_now() - start;
    return NULL;
}

/* Mean CPU seconds of the threads. */
static double seconds(work *w) {
    pthread_t threads[N_THREADS];
    double sum = 0;
    current = w;
    for (int i = 0; i < N_THREADS; i++)
        if (pthread_create(&threads[i], NULL, run_one, (void *)(intptr_t)i)) exit(1);
    for (int i = 0; i < N_THREADS; i++) pthread_join(threads[i], NULL);
    for (int i = 0; i < N_THREADS; i++) sum += took[i];
    return sum / (double)N_THREADS;
}

static int ascending(const void *a, const void *b) {
    const double x = *(const double *)a, z = *(const double *)b;
    return (x > z) - (x < z);
}
static double median(double *values) {
    qsort(values, ROUNDS, sizeof *values, ascending);
    return values[ROUNDS / 2];
}

/* ---- roofs ------------------------------------------------------------------------------------------------ */

static volatile int32_t sink[N_THREADS];
static void keep(int thread, vi16x sums) { /* all lanes, or compilers leave some out */
    int32_t lanes[16], all = 0;
    vi_store(lanes, sums);
    for (int i = 0; i < 16; i++) all ^= lanes[i];
    sink[thread] = all;
}
/* Each thread its half, in several streams at once, fetched ahead. */
static void read_all(int thread) {
    enum { STREAMS = 4 };
    const size_t part = weights_bytes / N_THREADS / STREAMS / 4096 * 4096;
    const int8_t *p = weights + (size_t)thread * part * STREAMS;
    vi16x a = vi_zero(), b = vi_zero(), c = vi_zero(), d = vi_zero();
    for (size_t i = 0; i < part; i += 64) {
        INFK_PREFETCH(p, i + 4096);
        INFK_PREFETCH(p, i + part + 4096);
        INFK_PREFETCH(p, i + 2 * part + 4096);
        INFK_PREFETCH(p, i + 3 * part + 4096);
        a = vi_add(a, vi_load_bytes(p + i));
        b = vi_add(b, vi_load_bytes(p + i + part));
        c = vi_add(c, vi_load_bytes(p + i + 2 * part));
        d = vi_add(d, vi_load_bytes(p + i + 3 * part));
    }
    keep(thread, vi_add(vi_add(a, b), vi_add(c, d)));
}
/* The same in one stream. */
static void read_along(int thread) {
    const size_t part = weights_bytes / N_THREADS / 4096 * 4096;
    const int8_t *p = weights + (size_t)thread * part;
    vi16x a = vi_zero(), b = vi_zero();
    for (size_t i = 0; i < part; i += 128) {
        INFK_PREFETCH(p, i + 4096);
        INFK_PREFETCH(p, i + 4096 + 64);
        a = vi_add(a, vi_load_bytes(p + i));
        b = vi_add(b, vi_load_bytes(p + i + 64));
    }
    keep(thread, vi_add(a, b));
}

/* Chains of their own, enough to cover the latency. */
#define CHAINS(X) X(0) X(1) X(2) X(3) X(4) X(5) X(6) X(7) X(8) X(9) X(10) X(11)
#if defined(WIDE)
enum { N_CHAINS = 12 };
#else
enum { N_CHAINS = 6 };
#endif
enum { CHAIN_STEPS = 1000000 };
/* Both factors of a product that is not part of a sum come from memory anew, so that none is taken out of the loop. */
#if defined(__AVX512VNNI__)
#define FACTOR(i) w
#else
#define FACTOR(i) vi_load_bytes(records + 64 * (i + 1))
#endif
static void dot_chains(int thread) {
#define X(i) vi16x a##i = vi_set1(i);
    CHAINS(X)
#undef X
    for (int step = 0; step < CHAIN_STEPS; step++) {
        __asm__ volatile("" : : : "memory");
        const vi16x w = vi_load_bytes(records);
#define X(i) \
    if ((i) < N_CHAINS) a##i = vi_dot_nibbles(a##i, w, FACTOR(i));
        CHAINS(X)
#undef X
    }
    vi16x sum = vi_zero();
#define X(i) sum = vi_add(sum, a##i);
    CHAINS(X)
#undef X
    keep(thread, sum);
}

/* ---- layers ----------------------------------------------------------------------------------------------- */

#define GLUE2(a, b) a##b
#define GLUE(a, b) GLUE2(a, b)
#define EPI_OF(k) GLUE(k, _epi)
#define BODY_OF(k) GLUE(k, _body)
#define PANEL_LINEAR_I8(k) (((k) + 63) / 64 * 1024 + 128)
#define PANEL_LINEAR_I4(k) ((((k) + 63) / 64 * 528 + 63) / 64 * 64 + 64)
#define PANEL_GATED_I4 PANEL_LINEAR_I4
#define TURNS_LINEAR_I8 1
#define TURNS_LINEAR_I4 1
#define TURNS_GATED_I4 2
#define RECORD(k) ((((k) + 63) / 64 * 68 + 4 + 63) / 64 * 64)

/* kind, name, results, inputs */
#define LAYERS(X)                             \
    X(LINEAR_I4, tinyllama_qkv, 2560, 2048)   \
    X(LINEAR_I4, tinyllama_out, 2048, 2048)   \
    X(GATED_I4, tinyllama_gated, 5632, 2048)  \
    X(LINEAR_I4, tinyllama_down, 2048, 5632)  \
    X(LINEAR_I8, tinyllama_head, 32000, 2048) \
    X(LINEAR_I4, smollm2_qkv, 960, 576)       \
    X(GATED_I4, smollm2_gated, 1536, 576)     \
    X(LINEAR_I4, smollm2_down, 576, 1536)     \
    X(LINEAR_I8, smollm2_head, 49152, 576)

/* A pass over all of the weights, as if they were layers of this shape one after the other. */
static double passes; /* over the weights, in one call: below 1 with many rows */
#define X(KIND, name, n, k)                                                                    \
    enum { bytes_##name = (n) / 16 * TURNS_##KIND * PANEL_##KIND(k) };                         \
    static size_t layers_##name(void) {                                                        \
        const size_t fit = weights_bytes / bytes_##name;                                       \
        const size_t wanted = (size_t)((double)fit * passes);                                  \
        return wanted ? wanted : 1;                                                            \
    }                                                                                          \
    static __attribute__((noinline)) void few_##name(int thread) {                             \
        const ptrdiff_t units = (n) / 16, begin = units * thread / N_THREADS,                  \
                        end = units * (thread + 1) / N_THREADS;                                \
        for (size_t layer = 0; layer < layers_##name(); layer++) {                             \
            const infk_linear_dims d = {rows, n, k, RECORD(k), PANEL_##KIND(k), n};            \
            const struct EPI_OF(FEW_##KIND) e = {NULL, NULL, y, NULL};                         \
            BODY_OF(FEW_##KIND)(&d, records, weights + layer * bytes_##name, &e, begin, end);  \
        }                                                                                      \
    }                                                                                          \
    static __attribute__((noinline)) void many_##name(int thread) {                            \
        const ptrdiff_t units = (n) / 16, begin = units * thread / N_THREADS,                  \
                        end = units * (thread + 1) / N_THREADS;                                \
        for (size_t layer = 0; layer < layers_##name(); layer++) {                             \
            const infk_linear_dims d = {rows, n, k, RECORD(k), PANEL_##KIND(k), n};            \
            const struct EPI_OF(MANY_##KIND) e = {NULL, NULL, y, NULL};                        \
            BODY_OF(MANY_##KIND)(&d, records, weights + layer * bytes_##name, &e, begin, end); \
        }                                                                                      \
    }
LAYERS(X)
#undef X

static void report_reading(const char *name, const char *memory, work *layer, double bytes) {
    double shares[ROUNDS], speeds[ROUNDS];
    rows = 1;
    passes = 1;
    seconds(layer);
    for (int i = 0; i < ROUNDS; i++) {
        const double four = seconds(read_all), one = seconds(read_along), roof = four < one ? four : one;
        const double all = roof / (double)weights_bytes, mine = seconds(layer) / bytes;
        speeds[i] = 1e-9 / mine;
        shares[i] = all / mine * 100;
    }
    printf("RESULT %s/%s/1_row %.1f GB/s\n", name, memory, median(speeds));
    printf("RESULT %s/%s/1_row/share_of_reading %.0f %%\n", name, memory, median(shares));
}

static void report_rows(const char *name, work *layer, ptrdiff_t n_rows, double macs_of_layer,
                        size_t (*layers)(void)) {
    double shares[ROUNDS], speeds[ROUNDS];
    rows = n_rows;
    passes = 2e9 / (macs_of_layer * (double)rows) / 10;
    if (passes > 0.2) passes = 0.2;
    const double macs = macs_of_layer * (double)rows * (double)layers();
    seconds(layer);
    for (int i = 0; i < ROUNDS; i++) {
        const double peak = (double)((int64_t)CHAIN_STEPS * N_CHAINS * 64 * N_THREADS) / seconds(dot_chains);
        const double mine = macs / seconds(layer);
        speeds[i] = mine * 1e-9;
        shares[i] = mine / peak * 100;
    }
    printf("RESULT %s/%td_rows %.0f GMAC/s\n", name, n_rows, median(speeds));
    printf("RESULT %s/%td_rows/share_of_dots %.0f %%\n", name, n_rows, median(shares));
}

static void report_roofs(const char *memory) {
    double four[ROUNDS], one[ROUNDS];
    for (int i = 0; i < ROUNDS; i++) {
        four[i] = (double)weights_bytes / seconds(read_all) * 1e-9;
        one[i] = (double)weights_bytes / seconds(read_along) * 1e-9;
    }
    printf("RESULT reading/%s/4_streams %.1f GB/s\n", memory, median(four));
    printf("RESULT reading/%s/1_stream %.1f GB/s\n", memory, median(one));
}

/* ---- memory ----------------------------------------------------------------------------------------------- */

static void *huge(size_t bytes) {
    const size_t page = 2 << 20;
    int8_t *p = mmap(NULL, bytes + 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED) exit(1);
    p += (page - (uintptr_t)p % page) % page;
    if (madvise(p, bytes + page, MADV_HUGEPAGE)) printf("no pages of 2 MiB\n");
    uint64_t state = 88172645463325252u;
    for (size_t i = 0; i < bytes; i += 8) {
        state ^= state << 13, state ^= state >> 7, state ^= state << 17;
        const uint64_t v = state & 0x7f7f7f7f7f7f7f7fu; /* no -128 */
        memcpy(p + i, &v, 8);
    }
    return p;
}

/* The same bytes through the page cache. */
static void *mapped(const void *p, size_t bytes) {
    char path[] = "linear_bench_XXXXXX";
    const int fd = mkstemp(path);
    if (fd < 0) exit(1);
    unlink(path);
    for (size_t done = 0; done < bytes;) {
        const ssize_t n = write(fd, (const char *)p + done, bytes - done < 1 << 24 ? bytes - done : 1 << 24);
        if (n <= 0) exit(1);
        done += (size_t)n;
    }
    void *map = mmap(NULL, bytes, PROT_READ, MAP_SHARED | MAP_POPULATE, fd, 0);
    if (map == MAP_FAILED) exit(1);
    return map;
}

int main(int argc, char **argv) {
    if (!level_runs_here()) {
        printf("SKIPPED: this CPU lacks the level\n");
        return 77;
    }
    weights_bytes = (size_t)(argc > 1 ? atoi(argv[1]) : 192) << 20;
    const char *only = argc > 2 ? argv[2] : "";
    records = huge((size_t)MAX_ROWS * RECORD(MAX_K) + 4096);
    y = huge((size_t)MAX_ROWS * MAX_N * sizeof *y);
    int8_t *pages = huge(weights_bytes + 4096), *file = mapped(pages, weights_bytes + 4096);
    pthread_barrier_init(&together, NULL, N_THREADS);
    for (int how = 0; how < 2; how++) {
        const char *memory = how ? "2MiB_pages" : "mapped";
        weights = how ? pages : file;
        report_roofs(memory);
#define X(KIND, name, n, k)  \
    if (strstr(#name, only)) \
        report_reading(#name, memory, few_##name, (double)(weights_bytes / bytes_##name * bytes_##name));
        LAYERS(X)
#undef X
    }
    static const ptrdiff_t counts[] = {2, 8, 64, 512};
    for (int i = 0; i < 4; i++) {
#define X(KIND, name, n, k)                                                     \
    if (strstr(#name, only))                                                    \
        report_rows(#name, counts[i] > 8 ? many_##name : few_##name, counts[i], \
                    (double)(n) * (k) * TURNS_##KIND, layers_##name);
        LAYERS(X)
#undef X
    }
    return 0;
}
