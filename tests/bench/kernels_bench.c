/* kernels_bench.c - speed of kernels as a model would get them: dims are constants, text is that of infk_expand (TEXT),
 * compiled like emitted C. One thread. Shares are of the fma peak measured in the same run.
 *
 * Prints `RESULT <kernel>/<shape> <value> GFLOP/s` and the share; for kernels that move bytes, GB/s. Taps in the
 * padding are skipped but counted: a 3x3 window on 8x8 pixels shows 119 % of what it does. */
#include TEXT
#include "../kernels/level_here.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MAX_FLOATS = 1 << 24 };
static float *x, *w, *y;
static double peak; /* GFLOP/s */

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* Seconds of one call: the least of several rounds. */
static double seconds(void (*call)(void)) {
    double best = 1e9, total = 0;
    long repeat = 1;
    for (int round = 0; round < 200 && total < 0.3; round++) {
        const double start = now();
        for (long i = 0; i < repeat; i++) call();
        const double took = now() - start;
        if (took < 1e-3 && repeat < 1000000) {
            repeat *= 4;
            continue;
        }
        total += took;
        if (took / (double)repeat < best) best = took / (double)repeat;
    }
    return best;
}

static void report(const char *name, const char *shape, double flops, double bytes, double took) {
    if (flops > 0) {
        printf("RESULT %s/%s %.1f GFLOP/s\n", name, shape, flops / took * 1e-9);
        printf("RESULT %s/%s/share %.0f %%\n", name, shape, flops / took * 1e-9 / peak * 100);
    } else {
        printf("RESULT %s/%s %.1f GB/s\n", name, shape, bytes / took * 1e-9);
    }
}

/* ---- the roof --------------------------------------------------------------------------------------------- */

/* Chains of their own, enough to cover the latency on every port. */
#define CHAINS(X) X(0) X(1) X(2) X(3) X(4) X(5) X(6) X(7) X(8) X(9) X(10) X(11)
#if defined(WIDE) /* a vf16x is one register */
enum { N_CHAINS = 12 };
#else
enum { N_CHAINS = 6 };
#endif
static void fma_chains(void) {
    const vf16x b = v_load(w), c = v_load(w + 16);
#define X(i) vf16x a##i = v_load(w + 32 + 16 * (i));
    CHAINS(X)
#undef X
    for (int i = 0; i < 1000; i++) {
#define X(i) \
    if ((i) < N_CHAINS) a##i = v_fma(a##i, b, c);
        CHAINS(X)
#undef X
    }
#define X(i) v_store(y + 16 * (i), a##i);
    CHAINS(X)
#undef X
}

/* ---- cases ------------------------------------------------------------------------------------------------ */

#define GLUE2(a, b) a##b
#define GLUE(a, b) GLUE2(a, b)
#define EPI_OF(k) GLUE(k, _epi)
#define BODY_OF(k) GLUE(k, _body)
#define QUOTE2(a) #a
#define QUOTE(a) QUOTE2(a)
#define BLOCKS(c) (((c) + 15) / 16)

/* clang-format off */
/* Input in blocks, or plain (NCHW); padding keeps the size for stride 1. */
#define CONV_DIMS(plain, groups, ic, oc, size, k, s)                                                          \
    {1, groups, (ic) / (groups), oc, size, size, (size) / (s), (size) / (s), k, k, s, s, (k) / 2, (k) / 2, 1, 1, \
     BLOCKS(ic) * 16 * (size) * (size), 16 * (size) * (size), (plain) ? (size) * (size) : 1,                  \
     (plain) ? (size) : 16 * (size), (plain) ? 1 : 16,                                                        \
     0, 16 * ((size) / (s)) * ((size) / (s)), 1, 16 * ((size) / (s)), 16}
#define CONVS(X)                                                                   \
    X(DENSE,    F32, conv3x3_1_16_8_plain,      1,   1,   1,  16,   8, 3, 1)        \
    X(DENSE,    F32, conv3x3_16_32_8,           0,   1,  16,  32,   8, 3, 1)        \
    X(DENSE,    F32, conv7x7s2_3_64_224_plain,  1,   1,   3,  64, 224, 7, 2)        \
    X(DENSE,    F32, conv3x3_64_64_56,          0,   1,  64,  64,  56, 3, 1)        \
    X(DENSE,    F32, conv3x3_128_128_28,        0,   1, 128, 128,  28, 3, 1)        \
    X(DENSE,    F32, conv3x3_256_256_14,        0,   1, 256, 256,  14, 3, 1)        \
    X(DENSE,    F32, conv3x3_512_512_7,         0,   1, 512, 512,   7, 3, 1)        \
    X(DENSE,    F32, conv1x1_256_64_56,         0,   1, 256,  64,  56, 1, 1)        \
    X(DENSE,    F32, conv1x1_512_256_14,        0,   1, 512, 256,  14, 1, 1)        \
    X(DENSE_I8, I8,  conv3x3_64_64_56_i8,       0,   1,  64,  64,  56, 3, 1)        \
    X(DEPTH,    F32, depthwise3x3_128_56,       0, 128, 128, 128,  56, 3, 1)        \
    X(DEPTH,    F32, depthwise3x3s2_128_56,     0, 128, 128, 128,  56, 3, 2)
#define MATMULS(X)                                              \
    X(MATVEC,    F32, matmul_1_1000_512,        1, 1000,  512)  \
    X(MATVEC,    F32, matmul_1_4096_1024,       1, 4096, 1024)  \
    X(MATMUL,    F32, matmul_64_64_64,         64,   64,   64)  \
    X(MATMUL,    F32, matmul_128_512_512,     128,  512,  512)  \
    X(MATMUL,    F32, matmul_512_1024_1024,   512, 1024, 1024)  \
    X(MATVEC_I8, I8,  matmul_1_4096_1024_i8,    1, 4096, 1024)  \
    X(MATMUL_I8, I8,  matmul_128_512_512_i8,  128,  512,  512)
/* clang-format on */
#define F32 w
#define I8 (const int8_t *)w

#define X(KERNEL, weights, name, plain, groups, ic, oc, size, k, s)                   \
    static void name(void) {                                                          \
        static const infk_conv_dims d = CONV_DIMS(plain, groups, ic, oc, size, k, s); \
        const struct EPI_OF(KERNEL) e = {NULL, NULL, y, NULL};                        \
        BODY_OF(KERNEL)(&d, x, weights, &e, 0, BLOCKS(oc) * ((size) / (s)));          \
    }
CONVS(X)
#undef X

#define X(KERNEL, weights, name, m, n, k)                              \
    static void name(void) {                                           \
        static const infk_matmul_dims d = {1, m, n, k, 0, k, 0, 0, n}; \
        const struct EPI_OF(KERNEL) e = {NULL, NULL, y, NULL};         \
        BODY_OF(KERNEL)(&d, x, weights, &e, 0, BLOCKS(n));             \
    }
MATMULS(X)
#undef X

static void pool_max_64_56(void) {
    static const infk_pool_dims d = {
        1, 64,      56, 56, 28,           28, 2,       2,  2, 2, 0, 0, 1, 1, 0, 16 * 56 * 56,
        1, 16 * 56, 16, 0,  16 * 28 * 28, 1,  16 * 28, 16, 0, 0, 0};
    const struct infk_f32_pool_max_c16__generic_epi e = {NULL, NULL, y, NULL};
    infk_f32_pool_max_c16__generic_body(&d, x, &e, 0, 4 * 28);
}
static void mean_512_49(void) {
    static const infk_reduce_dims d = {32, 49, 16, 0};
    const struct infk_f32_reduce_sum_across__generic_epi e = {NULL, NULL, y, NULL};
    infk_f32_reduce_sum_across__generic_body(&d, x, &e, 0, 32);
}
static void softmax_64_1000(void) {
    static const infk_softmax_dims d = {64, 1000, 1};
    const struct infk_f32_softmax_along__generic_epi e = {NULL, NULL, y, NULL};
    infk_f32_softmax_along__generic_body(&d, x, &e, 0, 64);
}

int main(void) {
    if (!level_runs_here()) {
        printf("SKIPPED: this CPU lacks the level\n");
        return 77;
    }
    x = aligned_alloc(64, MAX_FLOATS * sizeof *x);
    w = aligned_alloc(64, MAX_FLOATS * sizeof *w);
    y = aligned_alloc(64, MAX_FLOATS * sizeof *y);
    if (!x || !w || !y) return 1;
    for (long i = 0; i < MAX_FLOATS; i++) x[i] = w[i] = (float)(i % 251) * 0.001f, y[i] = 0;
    peak = 2.0 * 16 * 1000 * N_CHAINS / seconds(fma_chains) * 1e-9;
    printf("RESULT fma_peak %.1f GFLOP/s\n", peak);
#define X(KERNEL, weights, name, plain, groups, ic, oc, size, k, s) \
    report(QUOTE(KERNEL), #name,                                    \
           2.0 * (oc) * ((ic) / (groups)) * (k) * (k) * ((size) / (s)) * ((size) / (s)), 0, seconds(name));
    CONVS(X)
#undef X
#define X(KERNEL, weights, name, m, n, k) \
    report(QUOTE(KERNEL), #name, 2.0 * (m) * (n) * (k), 0, seconds(name));
    MATMULS(X)
#undef X
    report("pool_max", "64_56", 0, 4.0 * 64 * (56 * 56 + 28 * 28), seconds(pool_max_64_56));
    report("reduce_sum", "512_49", 0, 4.0 * 512 * 49, seconds(mean_512_49));
    report("softmax", "64_1000", 0, 8.0 * 64 * 1000, seconds(softmax_64_1000));
    return 0;
}
