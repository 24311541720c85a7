/* scalar.h - the vocabulary for one float, P(x) = s_x. Freestanding C11: no libc. Every s_x gives the bits of the
 * v_x of each level (<isa>.h). Compile with -ffp-contract=off -fno-math-errno; see docs/numerics.md. */
#ifndef INFK_SCALAR_H
#define INFK_SCALAR_H
#include <stddef.h>
#include <stdint.h>

#if defined(__FAST_MATH__)
#error "results are defined bit by bit: compile without -ffast-math"
#endif

#if defined(__GNUC__)
#define INFK_INLINE inline __attribute__((always_inline, unused))
#define INFK_UNROLL _Pragma("GCC unroll 16")
#define INFK_ROLLED _Pragma("GCC unroll 1") /* where unrolled sums would not stay in registers */
#elif defined(_MSC_VER)
#define INFK_INLINE __forceinline
#define INFK_UNROLL
#define INFK_ROLLED
#else
#define INFK_INLINE inline
#define INFK_UNROLL
#define INFK_ROLLED
#endif

/* Element i of p will be read soon; it need not exist. */
#if defined(__GNUC__)
#define INFK_PREFETCH(p, i) \
    __builtin_prefetch((const void *)((uintptr_t)(p) + (uintptr_t)(i) * sizeof *(p)))
/* Likewise, but much is read before it: into the second cache, which takes more at a time and keeps it. */
#define INFK_PREFETCH_FAR(p, i) \
    __builtin_prefetch((const void *)((uintptr_t)(p) + (uintptr_t)(i) * sizeof *(p)), 0, 2)
#else
#define INFK_PREFETCH(p, i) ((void)(p), (void)(i))
#define INFK_PREFETCH_FAR(p, i) ((void)(p), (void)(i))
#endif

/* Elements of kernels by size: whatever lies in memory may be read and written as them. */
#if defined(__GNUC__)
typedef uint16_t __attribute__((may_alias)) infk_b2;
typedef uint32_t __attribute__((may_alias)) infk_b4;
typedef uint64_t __attribute__((may_alias)) infk_b8;
typedef int32_t __attribute__((may_alias, aligned(1))) infk_i4; /* anywhere */
#else
typedef uint16_t infk_b2;
typedef uint32_t infk_b4;
typedef uint64_t infk_b8;
typedef int32_t infk_i4;
#endif

static INFK_INLINE uint32_t s_bits(float a) {
    union {
        float f;
        uint32_t u;
    } both;
    both.f = a;
    return both.u;
}
static INFK_INLINE float s_float(uint32_t u) {
    union {
        uint32_t u;
        float f;
    } both;
    both.u = u;
    return both.f;
}

/* Integers of any width as int64_t; division by zero gives 0, and nothing overflows. */
static INFK_INLINE int64_t s_div_whole(int64_t a, int64_t b) {
    return b == 0 ? 0 : b == -1 ? (int64_t)(0 - (uint64_t)a) : a / b;
}
static INFK_INLINE int64_t s_fmod_whole(int64_t a, int64_t b) {
    return b == 0 || b == -1 ? 0 : a % b;
}
static INFK_INLINE int64_t s_mod_whole(int64_t a, int64_t b) {
    const int64_t r = s_fmod_whole(a, b);
    return r != 0 && (r < 0) != (b < 0) ? r + b : r;
}
/* Towards zero, limited to [low, high], whole numbers; 0 for NaN. */
static INFK_INLINE int64_t s_whole(float a, int64_t low, int64_t high) {
    if (!(a == a)) return 0;
    return a <= (float)low ? low : a >= (float)high ? high : (int64_t)a;
}
/* The same as a float. */
static INFK_INLINE float s_limit(float a, float low, float high) {
    return (float)s_whole(a, (int64_t)low, (int64_t)high);
}

#define INFK_INFINITY s_float(0x7f800000u)

static INFK_INLINE float s_set1(float a) { return a; }
static INFK_INLINE float s_add(float a, float b) { return a + b; }
static INFK_INLINE float s_sub(float a, float b) { return a - b; }
static INFK_INLINE float s_mul(float a, float b) { return a * b; }
static INFK_INLINE float s_div(float a, float b) { return a / b; }
/* b when either is NaN or both are zero, as maxps. */
static INFK_INLINE float s_max(float a, float b) { return a > b ? a : b; }
static INFK_INLINE float s_min(float a, float b) { return a < b ? a : b; }
/* For maxima of data: NaN when either is; acc when equal (zeros of either sign are). */
static INFK_INLINE float s_max_nan(float acc, float x) { return x > acc || x != x ? x : acc; }
/* The larger of floats without a sign, NaN the largest: their bits are in that order. */
static INFK_INLINE float s_most(float a, float b) { return s_bits(a) > s_bits(b) ? a : b; }
static INFK_INLINE float s_neg(float a) { return s_float(s_bits(a) ^ 0x80000000u); }
static INFK_INLINE float s_abs(float a) { return s_float(s_bits(a) & 0x7fffffffu); }
static INFK_INLINE float s_copysign(float a, float sign) {
    return s_float((s_bits(a) & 0x7fffffffu) | (s_bits(sign) & 0x80000000u));
}
/* c > 0 ? a : b; b for NaN. */
static INFK_INLINE float s_select_gt0(float c, float a, float b) { return c > 0.0f ? a : b; }
/* p > q ? a : b; b when unordered. */
static INFK_INLINE float s_select_gt(float p, float q, float a, float b) { return p > q ? a : b; }
/* p == q ? a : b; b when unordered. */
static INFK_INLINE float s_select_eq(float p, float q, float a, float b) {
    return p >= q && p <= q ? a : b;
}
static INFK_INLINE float s_sqrt(float a) { return __builtin_sqrtf(a); }
/* 2^n for a whole n in [-126, 127]: adding 1.5 * 2^23 + 127 leaves the biased exponent in the low bits. */
static INFK_INLINE float s_pow2(float n) { return s_float(s_bits(n + 12583039.0f) << 23); }
/* Of a normal number above 0: a = 2^exponent * mantissa with the mantissa in [1, 2). */
static INFK_INLINE float s_exponent(float a) {
    return s_float(s_bits(a) >> 23 | 0x4b000000u) - 8388735.0f;
}
static INFK_INLINE float s_mantissa(float a) {
    return s_float((s_bits(a) & 0x7fffffu) | 0x3f800000u);
}

#if defined(__FMA__) || defined(__aarch64__) || defined(__ARM_FEATURE_FMA) || \
    defined(__riscv_flen) || defined(__s390x__) || defined(__powerpc64__)
static INFK_INLINE float s_fma(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
#else
#define INFK_SOFT_FMA 1
/* Exact without hardware fma: the product of two floats fits a double; the error of its sum with c (2Sum) turns
 * the sum odd when it is not exact (Boldo and Melquiond, round to odd), after which narrowing rounds right. */
static INFK_INLINE float s_fma(float a, float b, float c) {
    union {
        double f;
        uint64_t u;
    } sum;
    const double p = (double)a * (double)b, q = (double)c;
    sum.f = p + q;
    const double q_seen = sum.f - p, error = (p - (sum.f - q_seen)) + (q - q_seen);
    if ((error > 0.0 || error < 0.0) && (sum.u & 1u) == 0) {
        if ((error > 0.0) == (sum.f > 0.0)) sum.u++;
        else sum.u--;
    }
    return (float)sum.f;
}
#endif

/* The Hadamard transform of n values, a power of two, in place and unnormalised: butterflies of strides 1, 2, 4, .. */
static INFK_INLINE void s_hadamard(float *v, ptrdiff_t n) {
    for (ptrdiff_t stride = 1; stride < n; stride *= 2)
        for (ptrdiff_t i = 0; i < n; i += i % stride == stride - 1 ? stride + 1 : 1) {
            const float a = v[i], b = v[i + stride];
            v[i] = a + b;
            v[i + stride] = a - b;
        }
}

/* Linear layers transform a row, whole groups of 64, by `rotate` values, 64 or 128 (0: not at all). With 128 the last
 * 64 are transformed by themselves if they are left over, and multiplied by the root of 2, so that all values grow by
 * that of 128. */
#define S_ROOT_2 0x1.6a09e6p+0f
/* The most values of a block; those of one with `left` to go. */
static INFK_INLINE ptrdiff_t s_rotate_most(ptrdiff_t rotate) { return rotate == 64 ? 64 : 128; }
static INFK_INLINE ptrdiff_t s_rotate_size(ptrdiff_t rotate, ptrdiff_t left) {
    return rotate == 64 || left < 128 ? 64 : 128;
}
/* A block of n values. */
static INFK_INLINE void s_rotate(float *v, ptrdiff_t n, ptrdiff_t rotate) {
    if (rotate == 0) return;
    s_hadamard(v, n);
    for (ptrdiff_t i = 0; n < rotate && i < n; i++) v[i] *= S_ROOT_2;
}
/* Weights are multiplied by 1/8, what is to be multiplied with them by the other factor of 1/rotate. */
static INFK_INLINE float s_rotated_weight(ptrdiff_t rotate) { return rotate ? 0.125f : 1.0f; }
static INFK_INLINE float s_rotated_row(ptrdiff_t rotate) {
    return rotate == 0 ? 1.0f : rotate == 64 ? 0.125f : 0.0625f;
}

/* int8 in proportion to the largest magnitude of a row: what values are multiplied by, and the scale that undoes it, of
 * which `unit` is a factor. Below 2^-120 all is zero; from a largest that is infinite or no number comes a NaN. */
static INFK_INLINE float s_quantize_by(float most) {
    return most < 0x1p-120f ? 0.0f : 127.0f / most;
}
static INFK_INLINE float s_quantize_scale(float most, float unit) {
    const float scale = most < 0x1p-120f ? 0.0f : most / 127.0f * unit;
    return scale < INFK_INFINITY ? scale : s_float(0x7fc00000u);
}

/* Numbers below 2^-126 are zero, of their sign. */
static INFK_INLINE float s_flush(float a) { return s_abs(a) < 0x1p-126f ? s_copysign(0.0f, a) : a; }
/* To the nearest bf16, half to even. */
static INFK_INLINE float s_round_bf16(float a) {
    const uint32_t bits = s_bits(a);
    if ((bits & 0x7fffffffu) > 0x7f800000u) return s_float(0x7fc00000u);
    return s_float((bits + 0x7fffu + (bits >> 16 & 1u)) & 0xffff0000u);
}

/* A float from the bits of a half, exactly. */
static INFK_INLINE float s_from_f16(uint16_t bits) {
    const uint32_t size = bits & 0x7fffu, sign = (uint32_t)(bits & 0x8000u) << 16;
    const float scaled = s_mul(s_float(size << 13), s_float(0x77800000u)); /* 2^112 */
    return s_float(sign | (size < 0x7c00u ? s_bits(scaled) : 0x7f800000u | size << 13));
}
/* The nearest half, half to even; the largest of its sign for what is larger. */
static INFK_INLINE uint16_t s_to_f16(float a) {
    const uint32_t sign = s_bits(a) >> 16 & 0x8000u, x = s_bits(a) & 0x7fffffffu;
    if (x > 0x7f800000u) return (uint16_t)(sign | 0x7e00u);
    if (x > 0x477fe000u) return (uint16_t)(sign | 0x7bffu);
    if (x < 0x38800000u) /* a denormal: its unit is that of [0.5, 1) */
        return (uint16_t)(sign | (s_bits(s_float(x) + 0.5f) - 0x3f000000u));
    return (uint16_t)(sign | (x - 0x38000000u + 0xfffu + (x >> 13 & 1u)) >> 13);
}

/* A number of steps, at least 0 and at most `most`; NaN gives 0. */
static INFK_INLINE ptrdiff_t s_length(float a, ptrdiff_t most) {
    return a >= (float)most ? most : a > 0.0f ? (ptrdiff_t)a : 0;
}

#include "keep_blocks.h"

#define P(x) s_##x
#define PF float
#include "poly.h"
#undef P
#undef PF

/* x on the nearest of 256 even steps from its least to its largest number, 0 among them, as DynamicQuantizeLinear has
 * it. */
static INFK_INLINE void s_steps(const float *x, ptrdiff_t n, float *out) {
    float low = 0.0f, high = 0.0f;
    for (ptrdiff_t i = 0; i < n; i++) {
        low = s_min(x[i], low);
        high = s_max(x[i], high);
    }
    const float step = high > low ? s_div(s_sub(high, low), 255.0f) : 1.0f;
    const float zero = s_round(s_min(s_div(-low, step), 255.0f));
    for (ptrdiff_t i = 0; i < n; i++) {
        const float q = s_add(s_round(s_div(x[i], step)), zero);
        out[i] = s_mul(s_sub(s_min(s_max(q, 0.0f), 255.0f), zero), step);
    }
}

#include "scalar_adapters.h"
#include "scalar_strips.h"

#endif
