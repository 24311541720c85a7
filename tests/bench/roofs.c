/* roofs.c - what the machine can do at most: bytes read from memory and int8 multiply-adds, as one JSON line.
 *
 *   cc -O2 -march=native -pthread roofs.c -o roofs && ./roofs THREADS
 *
 * int8 counts two operations per multiply-add of the widest way the compiler was allowed: vpdpbusd of AVX-512 or AVX2,
 * else vpmaddubsw + vpmaddwd + vpaddd, else nothing. Medians of seven runs, all threads pinned and started together. */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#ifdef __AVX2__
#include <immintrin.h>
#endif

enum { RUNS = 7, MAX_THREADS = 64, ACCUMULATORS = 12 };
static const size_t read_bytes = (size_t)1 << 30;
static const long int8_rounds = 20000000;

typedef struct worker {
    pthread_t thread;
    int cpu;
    const char *part; /* null: int8 */
    size_t bytes;
    double done, start, end;
    pthread_barrier_t *barrier;
} worker;

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static volatile long sink;

/* Four streams, so that the hardware fetches ahead in each. */
static double read_all(const char *p, size_t bytes) {
    typedef long vector __attribute__((vector_size(64)));
    vector a = {0}, b = {0}, c = {0}, d = {0};
    size_t quarter = bytes / 4;
    for (size_t i = 0; i < quarter; i += 64) {
        a |= *(const vector *)(p + i);
        b |= *(const vector *)(p + quarter + i);
        c |= *(const vector *)(p + 2 * quarter + i);
        d |= *(const vector *)(p + 3 * quarter + i);
        __builtin_prefetch(p + i + 2048);
        __builtin_prefetch(p + quarter + i + 2048);
        __builtin_prefetch(p + 2 * quarter + i + 2048);
        __builtin_prefetch(p + 3 * quarter + i + 2048);
    }
    a |= b | c | d;
    sink = a[0];
    return (double)bytes;
}

#if defined __AVX512VNNI__
#define STEP(i) __asm__ volatile("vpdpbusd %1, %2, %0" : "+v"(sum[i]) : "v"(x), "v"(y))
typedef __m512i int8_vector;
#define SET _mm512_set1_epi8
#elif defined __AVXVNNI__
#define STEP(i) __asm__ volatile("%{vex%} vpdpbusd %1, %2, %0" : "+x"(sum[i]) : "x"(x), "x"(y))
typedef __m256i int8_vector;
#define SET _mm256_set1_epi8
#elif defined __AVX2__
#define STEP(i)                                                                               \
    __asm__ volatile(                                                                         \
        "vpmaddubsw %1, %2, %%ymm15\n vpmaddwd %3, %%ymm15, %%ymm15\n vpaddd %%ymm15, %0, %0" \
        : "+x"(sum[i])                                                                        \
        : "x"(x), "x"(y), "x"(one)                                                            \
        : "xmm15")
typedef __m256i int8_vector;
#define SET _mm256_set1_epi8
#endif

static double int8_dots(long rounds) {
#ifdef STEP
    int8_vector sum[ACCUMULATORS], x = SET(3), y = SET(5);
#if !defined __AVX512VNNI__ && !defined __AVXVNNI__
    int8_vector one = _mm256_set1_epi16(1);
#endif
#pragma GCC unroll 16
    for (int i = 0; i < ACCUMULATORS; i++) sum[i] = SET(0);
    for (long r = 0; r < rounds; r++) {
#pragma GCC unroll 16
        for (int i = 0; i < ACCUMULATORS; i++) STEP(i);
    }
    /* Added up in registers: an accumulator whose bytes were copied would live in memory, in the loop too. */
    int8_vector all = sum[0];
#pragma GCC unroll 16
    for (int i = 1; i < ACCUMULATORS; i++) all += sum[i];
    sink = all[0];
    return 2.0 * (double)rounds * ACCUMULATORS * (double)sizeof(int8_vector);
#else
    (void)rounds;
    return 0;
#endif
}

static double run(const worker *w, int part_of) {
    return w->part ? read_all(w->part, w->bytes / (size_t)part_of & ~(size_t)255)
                   : int8_dots(int8_rounds / part_of);
}

static void *work(void *argument) {
    worker *w = argument;
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(w->cpu, &set);
    pthread_setaffinity_np(pthread_self(), sizeof set, &set);
    run(w, 8);
    pthread_barrier_wait(w->barrier);
    w->start = now();
    w->done = run(w, 1);
    w->end = now();
    return NULL;
}

static int ascending(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Per second, all threads together. */
static double measure(int threads, const char *memory) {
    double rates[RUNS];
    for (int r = 0; r < RUNS; r++) {
        worker workers[MAX_THREADS];
        pthread_barrier_t barrier;
        pthread_barrier_init(&barrier, NULL, (unsigned)threads);
        size_t bytes = read_bytes / (size_t)threads & ~(size_t)255;
        for (int i = 0; i < threads; i++) {
            const char *part = memory ? memory + bytes * (size_t)i : NULL;
            workers[i] = (worker){.cpu = i, .part = part, .bytes = bytes, .barrier = &barrier};
            pthread_create(&workers[i].thread, NULL, work, &workers[i]);
        }
        double start = 1e300, end = 0, done = 0;
        for (int i = 0; i < threads; i++) {
            pthread_join(workers[i].thread, NULL);
            if (workers[i].start < start) start = workers[i].start;
            if (workers[i].end > end) end = workers[i].end;
            done += workers[i].done;
        }
        pthread_barrier_destroy(&barrier);
        rates[r] = done / (end - start);
    }
    qsort(rates, RUNS, sizeof *rates, ascending);
    return rates[RUNS / 2];
}

int main(int argc, char **argv) {
    int threads = argc > 1 ? atoi(argv[1]) : 1;
    if (threads < 1 || threads > MAX_THREADS) return 2;
    char *memory = mmap(NULL, read_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) return 1;
    madvise(memory, read_bytes, MADV_HUGEPAGE);
    memset(memory, 1, read_bytes);
    printf("{\"threads\": %d, \"read_bytes_per_second\": %.4g, ", threads, measure(threads, memory));
    printf("\"int8_operations_per_second\": %.4g}\n", measure(threads, NULL));
    return 0;
}
