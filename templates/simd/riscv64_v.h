/* riscv64_v.h - the vocabulary for 16 lanes with the vectors of RISC-V (RVV 1.0): one value of 64 bytes, which the
 * compiler lays over as many registers as the shortest vectors of the target need: four of 128 bits, two of 256, one
 * of 512. Longer ones at run time are used in part, so results and code do not depend on them. In the vector
 * extensions of GCC and clang, which all compilers take for any target; intrinsics have no arrays or structs. */
#ifndef INFK_RISCV64_V_H
#define INFK_RISCV64_V_H
#include "scalar.h"

typedef float vf16x __attribute__((vector_size(64)));
typedef int32_t vi16x __attribute__((vector_size(64)));
typedef uint32_t v_u32x16 __attribute__((vector_size(64)));
typedef float v_f32x16_at __attribute__((vector_size(64), aligned(4), may_alias));
typedef int32_t v_i32x16_at __attribute__((vector_size(64), aligned(1), may_alias));
typedef float v_f32x8 __attribute__((vector_size(32)));

#if defined(__has_builtin)
#if __has_builtin(__builtin_elementwise_fma) && __has_builtin(__builtin_elementwise_sqrt)
#define V_FMA_OF_VECTORS
#endif
#endif

static INFK_INLINE vf16x v_load(const float *p) { return *(const v_f32x16_at *)p; }
static INFK_INLINE void v_store(float *p, vf16x a) { *(v_f32x16_at *)p = a; }
#include "tails_generic.h"
static INFK_INLINE vi16x vi_set1(int32_t a) {
    return (vi16x){a, a, a, a, a, a, a, a, a, a, a, a, a, a, a, a};
}
static INFK_INLINE vi16x vi_zero(void) { return vi_set1(0); }
static INFK_INLINE vf16x v_set1(float a) {
    return (vf16x){a, a, a, a, a, a, a, a, a, a, a, a, a, a, a, a};
}
static INFK_INLINE vf16x v_zero(void) { return v_set1(0.0f); }
static INFK_INLINE vi16x v_sign(void) { return (vi16x)v_set1(-0.0f); }
/* Where m, a comparison, holds: a; else b. */
static INFK_INLINE vf16x v_pick(vi16x m, vf16x a, vf16x b) {
    return (vf16x)((m & (vi16x)a) | (~m & (vi16x)b));
}
/* The first n lanes of a, the others of b. */
static INFK_INLINE vf16x v_first(ptrdiff_t n, vf16x a, vf16x b) {
    const vi16x lanes = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
    return v_pick(lanes < vi_set1((int32_t)n), a, b);
}
static INFK_INLINE vf16x v_add(vf16x a, vf16x b) { return a + b; }
static INFK_INLINE vf16x v_sub(vf16x a, vf16x b) { return a - b; }
static INFK_INLINE vf16x v_mul(vf16x a, vf16x b) { return a * b; }
static INFK_INLINE vf16x v_div(vf16x a, vf16x b) { return a / b; }
#if defined(V_FMA_OF_VECTORS)
static INFK_INLINE vf16x v_fma(vf16x a, vf16x b, vf16x c) {
    return __builtin_elementwise_fma(a, b, c);
}
static INFK_INLINE vf16x v_sqrt(vf16x a) { return __builtin_elementwise_sqrt(a); }
#else
static INFK_INLINE vf16x v_fma(vf16x a, vf16x b, vf16x c) {
    INFK_UNROLL for (int i = 0; i < 16; i++) a[i] = s_fma(a[i], b[i], c[i]);
    return a;
}
static INFK_INLINE vf16x v_sqrt(vf16x a) {
    INFK_UNROLL for (int i = 0; i < 16; i++) a[i] = s_sqrt(a[i]);
    return a;
}
#endif
/* p > q ? a : b; b when unordered. */
static INFK_INLINE vf16x v_select_gt(vf16x p, vf16x q, vf16x a, vf16x b) {
    return v_pick(p > q, a, b);
}
static INFK_INLINE vf16x v_select_eq(vf16x p, vf16x q, vf16x a, vf16x b) {
    return v_pick(p == q, a, b);
}
static INFK_INLINE vf16x v_select_gt0(vf16x c, vf16x a, vf16x b) {
    return v_pick(c > v_zero(), a, b);
}
static INFK_INLINE vf16x v_max(vf16x a, vf16x b) { return v_pick(a > b, a, b); }
static INFK_INLINE vf16x v_min(vf16x a, vf16x b) { return v_pick(a < b, a, b); }
static INFK_INLINE vf16x v_max_nan(vf16x acc, vf16x x) {
    return v_pick((x > acc) | (x != x), x, acc);
}
static INFK_INLINE vf16x v_copysign(vf16x a, vf16x sign) {
    return (vf16x)(((vi16x)a & ~v_sign()) | ((vi16x)sign & v_sign()));
}
static INFK_INLINE vf16x v_abs(vf16x a) { return (vf16x)((vi16x)a & ~v_sign()); }
static INFK_INLINE vf16x v_neg(vf16x a) { return (vf16x)((vi16x)a ^ v_sign()); }
static INFK_INLINE vf16x v_pow2(vf16x n) {
    return (vf16x)((v_u32x16)(n + v_set1(12583039.0f)) << 23);
}
static INFK_INLINE vf16x v_exponent(vf16x a) {
    return (vf16x)((((vi16x)a >> 23) & 511) | 0x4b000000) - v_set1(8388735.0f);
}
static INFK_INLINE vf16x v_mantissa(vf16x a) { return (vf16x)(((vi16x)a & 0x7fffff) | 0x3f800000); }

/* Lane i and its partner at the stride: their sum in the first of the two, their difference in the second, which is
 * the partner and the lane with its sign turned. */
#define V_BUTTERFLY(stride, ...)                                                       \
    static INFK_INLINE vf16x v_butterfly##stride(vf16x a) {                            \
        const vi16x lanes = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};    \
        const vf16x turned = (vf16x)((vi16x)a ^ (((lanes & stride) != 0) & v_sign())); \
        return __builtin_shufflevector(a, a, __VA_ARGS__) + turned;                    \
    }
V_BUTTERFLY(1, 1, 0, 3, 2, 5, 4, 7, 6, 9, 8, 11, 10, 13, 12, 15, 14)
V_BUTTERFLY(2, 2, 3, 0, 1, 6, 7, 4, 5, 10, 11, 8, 9, 14, 15, 12, 13)
V_BUTTERFLY(4, 4, 5, 6, 7, 0, 1, 2, 3, 12, 13, 14, 15, 8, 9, 10, 11)
V_BUTTERFLY(8, 8, 9, 10, 11, 12, 13, 14, 15, 0, 1, 2, 3, 4, 5, 6, 7)
#undef V_BUTTERFLY

/* The fixed tree: lane i takes lane i + 8, then + 4, + 2, + 1. */
static INFK_INLINE float v_sum(vf16x a) {
    const v_f32x8 lower = __builtin_shufflevector(a, a, 0, 1, 2, 3, 4, 5, 6, 7),
                  upper = __builtin_shufflevector(a, a, 8, 9, 10, 11, 12, 13, 14, 15);
    const v_f32x8 by8 = lower + upper;
    return ((by8[0] + by8[4]) + (by8[2] + by8[6])) + ((by8[1] + by8[5]) + (by8[3] + by8[7]));
}
static INFK_INLINE float v_hmax(vf16x a) { /* of max_nan */
    float lanes[16];
    v_store(lanes, a);
    for (int half = 8; half > 0; half /= 2)
        for (int i = 0; i < half; i++) lanes[i] = s_max_nan(lanes[i], lanes[i + half]);
    return lanes[0];
}
/* See s_most. */
static INFK_INLINE vf16x v_most(vf16x a, vf16x b) { return v_pick((vi16x)a > (vi16x)b, a, b); }
static INFK_INLINE float v_hmost(vf16x a) {
    float lanes[16];
    v_store(lanes, a);
    for (int half = 8; half > 0; half /= 2)
        for (int i = 0; i < half; i++) lanes[i] = s_most(lanes[i], lanes[i + half]);
    return lanes[0];
}

#include "integers_riscv64_v.h"
#include "hadamard.h"

#define P(x) v_##x
#define PF vf16x
#include "poly.h"
#undef P
#undef PF

#include "steps_generic.h"
#include "strips.h"
#endif
