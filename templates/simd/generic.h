/* generic.h - the vocabulary for 16 lanes in the vector extensions of GCC and clang, for every target without a level
 * of its own: four quarters of four lanes, which become SSE2 or NEON registers, or scalars. */
#ifndef INFK_GENERIC_H
#define INFK_GENERIC_H
#include "scalar.h"
#if defined(__SSE2__)
#include <emmintrin.h>
#elif defined(__wasm_simd128__)
#include <wasm_simd128.h>
#endif

typedef float v_f32x4 __attribute__((vector_size(16)));
typedef int32_t v_i32x4 __attribute__((vector_size(16)));
typedef float v_f32x4_at __attribute__((vector_size(16), aligned(4), may_alias));

typedef struct vf16x {
    v_f32x4 q0, q1, q2, q3;
} vf16x;

static INFK_INLINE vf16x v_join(v_f32x4 q0, v_f32x4 q1, v_f32x4 q2, v_f32x4 q3) {
    vf16x r;
    r.q0 = q0;
    r.q1 = q1;
    r.q2 = q2;
    r.q3 = q3;
    return r;
}

/* ---- four lanes ------------------------------------------------------------------------------------------- */

static INFK_INLINE v_f32x4 v_set4(float a) { return (v_f32x4){a, a, a, a}; }
static INFK_INLINE v_i32x4 v_sign4(void) { return (v_i32x4)v_set4(-0.0f); }
/* Where m, a comparison, holds: a; else b. */
static INFK_INLINE v_f32x4 v_pick4(v_i32x4 m, v_f32x4 a, v_f32x4 b) {
    return (v_f32x4)((m & (v_i32x4)a) | (~m & (v_i32x4)b));
}
static INFK_INLINE v_f32x4 v_max_nan4(v_f32x4 acc, v_f32x4 x) {
    return v_pick4((x > acc) | (x != x), x, acc);
}
static INFK_INLINE v_f32x4 v_copysign4(v_f32x4 a, v_f32x4 sign) {
    return (v_f32x4)(((v_i32x4)a & ~v_sign4()) | ((v_i32x4)sign & v_sign4()));
}
static INFK_INLINE v_f32x4 v_sqrt4(v_f32x4 a) {
    return (v_f32x4){s_sqrt(a[0]), s_sqrt(a[1]), s_sqrt(a[2]), s_sqrt(a[3])};
}
static INFK_INLINE v_f32x4 v_pow24(v_f32x4 n) {
    return (v_f32x4)((v_i32x4)(n + v_set4(12583039.0f)) << 23);
}
static INFK_INLINE v_f32x4 v_exponent4(v_f32x4 a) {
    const v_i32x4 biased = (((v_i32x4)a >> 23) & 511) | 0x4b000000;
    return (v_f32x4)biased - v_set4(8388735.0f);
}
static INFK_INLINE v_f32x4 v_mantissa4(v_f32x4 a) {
    return (v_f32x4)(((v_i32x4)a & 0x7fffff) | 0x3f800000);
}
static INFK_INLINE v_f32x4 v_i8_to_f32x4(const int8_t *block) {
    return (v_f32x4){(float)block[0], (float)block[4], (float)block[8], (float)block[12]};
}

#if defined(INFK_SOFT_FMA)
#include "fma_generic.h"
#elif defined(__aarch64__)
#include <arm_neon.h>
static INFK_INLINE v_f32x4 v_fma4(v_f32x4 a, v_f32x4 b, v_f32x4 c) {
    return (v_f32x4)vfmaq_f32((float32x4_t)c, (float32x4_t)a, (float32x4_t)b);
}
#else
static INFK_INLINE v_f32x4 v_fma4(v_f32x4 a, v_f32x4 b, v_f32x4 c) {
    return (v_f32x4){s_fma(a[0], b[0], c[0]), s_fma(a[1], b[1], c[1]), s_fma(a[2], b[2], c[2]),
                     s_fma(a[3], b[3], c[3])};
}
#endif

/* ---- sixteen ---------------------------------------------------------------------------------------------- */

static INFK_INLINE vf16x v_load(const float *p) {
    return v_join(*(const v_f32x4_at *)p, *(const v_f32x4_at *)(p + 4),
                  *(const v_f32x4_at *)(p + 8), *(const v_f32x4_at *)(p + 12));
}
static INFK_INLINE void v_store(float *p, vf16x a) {
    *(v_f32x4_at *)p = a.q0;
    *(v_f32x4_at *)(p + 4) = a.q1;
    *(v_f32x4_at *)(p + 8) = a.q2;
    *(v_f32x4_at *)(p + 12) = a.q3;
}
/* The first n lanes of a, the others of b. */
static INFK_INLINE vf16x v_first(ptrdiff_t n, vf16x a, vf16x b) {
    const v_i32x4 last = {(int32_t)n, (int32_t)n, (int32_t)n, (int32_t)n};
    return v_join(v_pick4((v_i32x4){0, 1, 2, 3} < last, a.q0, b.q0),
                  v_pick4((v_i32x4){4, 5, 6, 7} < last, a.q1, b.q1),
                  v_pick4((v_i32x4){8, 9, 10, 11} < last, a.q2, b.q2),
                  v_pick4((v_i32x4){12, 13, 14, 15} < last, a.q3, b.q3));
}
#include "tails_generic.h"
static INFK_INLINE vf16x v_set1(float a) {
    return v_join(v_set4(a), v_set4(a), v_set4(a), v_set4(a));
}
static INFK_INLINE vf16x v_zero(void) { return v_set1(0.0f); }
static INFK_INLINE vf16x v_add(vf16x a, vf16x b) {
    return v_join(a.q0 + b.q0, a.q1 + b.q1, a.q2 + b.q2, a.q3 + b.q3);
}
static INFK_INLINE vf16x v_sub(vf16x a, vf16x b) {
    return v_join(a.q0 - b.q0, a.q1 - b.q1, a.q2 - b.q2, a.q3 - b.q3);
}
static INFK_INLINE vf16x v_mul(vf16x a, vf16x b) {
    return v_join(a.q0 * b.q0, a.q1 * b.q1, a.q2 * b.q2, a.q3 * b.q3);
}
static INFK_INLINE vf16x v_div(vf16x a, vf16x b) {
    return v_join(a.q0 / b.q0, a.q1 / b.q1, a.q2 / b.q2, a.q3 / b.q3);
}
static INFK_INLINE vf16x v_fma(vf16x a, vf16x b, vf16x c) {
    return v_join(v_fma4(a.q0, b.q0, c.q0), v_fma4(a.q1, b.q1, c.q1), v_fma4(a.q2, b.q2, c.q2),
                  v_fma4(a.q3, b.q3, c.q3));
}
/* p > q ? a : b; b when unordered. */
static INFK_INLINE vf16x v_select_gt(vf16x p, vf16x q, vf16x a, vf16x b) {
    return v_join(v_pick4(p.q0 > q.q0, a.q0, b.q0), v_pick4(p.q1 > q.q1, a.q1, b.q1),
                  v_pick4(p.q2 > q.q2, a.q2, b.q2), v_pick4(p.q3 > q.q3, a.q3, b.q3));
}
static INFK_INLINE vf16x v_select_eq(vf16x p, vf16x q, vf16x a, vf16x b) {
    return v_join(v_pick4(p.q0 == q.q0, a.q0, b.q0), v_pick4(p.q1 == q.q1, a.q1, b.q1),
                  v_pick4(p.q2 == q.q2, a.q2, b.q2), v_pick4(p.q3 == q.q3, a.q3, b.q3));
}
static INFK_INLINE vf16x v_select_gt0(vf16x c, vf16x a, vf16x b) {
    return v_select_gt(c, v_zero(), a, b);
}
static INFK_INLINE vf16x v_max(vf16x a, vf16x b) { return v_select_gt(a, b, a, b); }
static INFK_INLINE vf16x v_min(vf16x a, vf16x b) { return v_select_gt(b, a, a, b); }
static INFK_INLINE vf16x v_max_nan(vf16x acc, vf16x x) {
    return v_join(v_max_nan4(acc.q0, x.q0), v_max_nan4(acc.q1, x.q1), v_max_nan4(acc.q2, x.q2),
                  v_max_nan4(acc.q3, x.q3));
}
static INFK_INLINE vf16x v_copysign(vf16x a, vf16x sign) {
    return v_join(v_copysign4(a.q0, sign.q0), v_copysign4(a.q1, sign.q1),
                  v_copysign4(a.q2, sign.q2), v_copysign4(a.q3, sign.q3));
}
static INFK_INLINE vf16x v_abs(vf16x a) { return v_copysign(a, v_zero()); }
static INFK_INLINE vf16x v_neg(vf16x a) {
    return v_join((v_f32x4)((v_i32x4)a.q0 ^ v_sign4()), (v_f32x4)((v_i32x4)a.q1 ^ v_sign4()),
                  (v_f32x4)((v_i32x4)a.q2 ^ v_sign4()), (v_f32x4)((v_i32x4)a.q3 ^ v_sign4()));
}
static INFK_INLINE vf16x v_sqrt(vf16x a) {
    return v_join(v_sqrt4(a.q0), v_sqrt4(a.q1), v_sqrt4(a.q2), v_sqrt4(a.q3));
}
static INFK_INLINE vf16x v_pow2(vf16x n) {
    return v_join(v_pow24(n.q0), v_pow24(n.q1), v_pow24(n.q2), v_pow24(n.q3));
}
static INFK_INLINE vf16x v_exponent(vf16x a) {
    return v_join(v_exponent4(a.q0), v_exponent4(a.q1), v_exponent4(a.q2), v_exponent4(a.q3));
}
static INFK_INLINE vf16x v_mantissa(vf16x a) {
    return v_join(v_mantissa4(a.q0), v_mantissa4(a.q1), v_mantissa4(a.q2), v_mantissa4(a.q3));
}
/* 16 outputs of step j (0..3) of a block [16][4] of int8. */
static INFK_INLINE vf16x v_i8_to_f32(const int8_t *block, int j) {
    return v_join(v_i8_to_f32x4(block + j), v_i8_to_f32x4(block + j + 16),
                  v_i8_to_f32x4(block + j + 32), v_i8_to_f32x4(block + j + 48));
}

/* Lane i and its partner at the stride: their sum in the first of the two, their difference in the second. */
static INFK_INLINE v_f32x4 v_butterfly1_4(v_f32x4 a) {
    return (v_f32x4){a[0] + a[1], a[0] - a[1], a[2] + a[3], a[2] - a[3]};
}
static INFK_INLINE v_f32x4 v_butterfly2_4(v_f32x4 a) {
    return (v_f32x4){a[0] + a[2], a[1] + a[3], a[0] - a[2], a[1] - a[3]};
}
static INFK_INLINE vf16x v_butterfly1(vf16x a) {
    return v_join(v_butterfly1_4(a.q0), v_butterfly1_4(a.q1), v_butterfly1_4(a.q2), v_butterfly1_4(a.q3));
}
static INFK_INLINE vf16x v_butterfly2(vf16x a) {
    return v_join(v_butterfly2_4(a.q0), v_butterfly2_4(a.q1), v_butterfly2_4(a.q2), v_butterfly2_4(a.q3));
}
static INFK_INLINE vf16x v_butterfly4(vf16x a) {
    return v_join(a.q0 + a.q1, a.q0 - a.q1, a.q2 + a.q3, a.q2 - a.q3);
}
static INFK_INLINE vf16x v_butterfly8(vf16x a) {
    return v_join(a.q0 + a.q2, a.q1 + a.q3, a.q0 - a.q2, a.q1 - a.q3);
}

/* 16 halves, see s_from_f16. */
static INFK_INLINE vf16x v_load_f16(const infk_b2 *p) {
    float lanes[16];
    for (int i = 0; i < 16; i++) lanes[i] = s_from_f16(p[i]);
    return v_load(lanes);
}

/* 16 bf16: the upper halves of f32. */
static INFK_INLINE vf16x v_load_bf16(const infk_b2 *p) {
    float lanes[16];
    for (int i = 0; i < 16; i++) lanes[i] = s_float((uint32_t)p[i] << 16);
    return v_load(lanes);
}

/* The fixed tree: lane i takes lane i + 8, then + 4, + 2, + 1. */
static INFK_INLINE float v_sum(vf16x a) {
    const v_f32x4 by4 = (a.q0 + a.q2) + (a.q1 + a.q3);
    return (by4[0] + by4[2]) + (by4[1] + by4[3]);
}
static INFK_INLINE float v_hmax(vf16x a) { /* of max_nan */
    const v_f32x4 by4 = v_max_nan4(v_max_nan4(a.q0, a.q2), v_max_nan4(a.q1, a.q3));
    return s_max_nan(s_max_nan(by4[0], by4[2]), s_max_nan(by4[1], by4[3]));
}
/* See s_most. */
static INFK_INLINE v_f32x4 v_most4(v_f32x4 a, v_f32x4 b) {
    return v_pick4((v_i32x4)a > (v_i32x4)b, a, b);
}
static INFK_INLINE vf16x v_most(vf16x a, vf16x b) {
    return v_join(v_most4(a.q0, b.q0), v_most4(a.q1, b.q1), v_most4(a.q2, b.q2), v_most4(a.q3, b.q3));
}
static INFK_INLINE float v_hmost(vf16x a) {
    const v_f32x4 by4 = v_most4(v_most4(a.q0, a.q2), v_most4(a.q1, a.q3));
    return s_most(s_most(by4[0], by4[2]), s_most(by4[1], by4[3]));
}

#include "integers_generic.h"
#if !defined(INFK_AARCH64_NEON_H) /* which has them better */
#include "sums_generic.h"
#include "bytes_generic.h"
#endif
#include "hadamard.h"

#define P(x) v_##x
#define PF vf16x
#include "poly.h"
#undef P
#undef PF

#include "steps_generic.h"
#include "strips.h"
#endif
