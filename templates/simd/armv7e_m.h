/* armv7e_m.h - the vocabulary for 16 lanes on machines that have none: Cortex-M4 and M7. Each function is a loop over
 * the lanes, which lie in memory, so that code stays small: unrolled, the sixteen would fill the flash. Sums of
 * products of bytes take two at a time (SMLAD). What a lane gives is what s_x gives (scalar.h).
 * Lanes are handed on by address: as arguments they would be copied, word by word. Hence the macros: an argument
 * becomes an array of one, which is an object and has an address. */
#ifndef INFK_ARMV7E_M_H
#define INFK_ARMV7E_M_H
#include "scalar.h"
#if defined(__ARM_FEATURE_DSP)
#include <arm_acle.h>
#endif

typedef struct vf16x {
    float lane[16];
} vf16x;
typedef struct vi16x {
    int32_t lane[16];
} vi16x;
#define V_AT(a) ((const vf16x[]){a})
#define VI_AT(a) ((const vi16x[]){a})

/* A function whose lane i is an expression of lanes i. */
#define V_EACH(type, expression)                                       \
    type r;                                                            \
    INFK_ROLLED for (int i = 0; i < 16; i++) r.lane[i] = (expression); \
    return r
/* The same unrolled: what products of floats are made of, so that their sums stay in registers. */
#define V_FAST(type, expression)                                       \
    type r;                                                            \
    INFK_UNROLL for (int i = 0; i < 16; i++) r.lane[i] = (expression); \
    return r
#define V_1(name) \
    static INFK_INLINE vf16x v_##name##_at(const vf16x *a) { V_EACH(vf16x, s_##name(a->lane[i])); }
#define V_2(name)                                                            \
    static INFK_INLINE vf16x v_##name##_at(const vf16x *a, const vf16x *b) { \
        V_EACH(vf16x, s_##name(a->lane[i], b->lane[i]));                     \
    }

/* ---- floats ------------------------------------------------------------------------------------------------ */

static INFK_INLINE vf16x v_load(const float *p) { V_FAST(vf16x, p[i]); }
static INFK_INLINE void v_store_tail_at(float *p, ptrdiff_t n, const vf16x *a) {
    INFK_ROLLED for (ptrdiff_t i = 0; i < n; i++) p[i] = a->lane[i];
}
#define v_store_tail(p, n, a) v_store_tail_at(p, n, V_AT(a))
static INFK_INLINE void v_store_at(float *p, const vf16x *a) { v_store_tail_at(p, 16, a); }
#define v_store(p, a) v_store_at(p, V_AT(a))
/* The first n lanes; the others are zero, their memory is not touched. */
static INFK_INLINE vf16x v_load_tail(const float *p, ptrdiff_t n) {
    V_EACH(vf16x, i < n ? p[i] : 0.0f);
}
/* The first n lanes of a, the others of b. */
static INFK_INLINE vf16x v_first_at(ptrdiff_t n, const vf16x *a, const vf16x *b) {
    V_EACH(vf16x, i < n ? a->lane[i] : b->lane[i]);
}
#define v_first(n, a, b) v_first_at(n, V_AT(a), V_AT(b))
static INFK_INLINE vf16x v_set1(float a) { V_FAST(vf16x, a); }
static INFK_INLINE vf16x v_zero(void) { return v_set1(0.0f); }
V_2(add)
#define v_add(a, b) v_add_at(V_AT(a), V_AT(b))
V_2(sub)
#define v_sub(a, b) v_sub_at(V_AT(a), V_AT(b))
V_2(mul)
#define v_mul(a, b) v_mul_at(V_AT(a), V_AT(b))
V_2(div)
#define v_div(a, b) v_div_at(V_AT(a), V_AT(b))
V_2(max)
#define v_max(a, b) v_max_at(V_AT(a), V_AT(b))
V_2(min)
#define v_min(a, b) v_min_at(V_AT(a), V_AT(b))
V_2(max_nan)
#define v_max_nan(a, b) v_max_nan_at(V_AT(a), V_AT(b))
V_2(copysign)
#define v_copysign(a, b) v_copysign_at(V_AT(a), V_AT(b))
V_1(abs)
#define v_abs(a) v_abs_at(V_AT(a))
V_1(neg)
#define v_neg(a) v_neg_at(V_AT(a))
V_1(sqrt)
#define v_sqrt(a) v_sqrt_at(V_AT(a))
V_1(pow2)
#define v_pow2(a) v_pow2_at(V_AT(a))
V_1(exponent)
#define v_exponent(a) v_exponent_at(V_AT(a))
V_1(mantissa)
#define v_mantissa(a) v_mantissa_at(V_AT(a))
static INFK_INLINE vf16x v_fma_at(const vf16x *a, const vf16x *b, const vf16x *c) {
    V_FAST(vf16x, s_fma(a->lane[i], b->lane[i], c->lane[i]));
}
#define v_fma(a, b, c) v_fma_at(V_AT(a), V_AT(b), V_AT(c))
static INFK_INLINE vf16x v_select_gt_at(const vf16x *p, const vf16x *q, const vf16x *a, const vf16x *b) {
    V_EACH(vf16x, s_select_gt(p->lane[i], q->lane[i], a->lane[i], b->lane[i]));
}
#define v_select_gt(p, q, a, b) v_select_gt_at(V_AT(p), V_AT(q), V_AT(a), V_AT(b))
static INFK_INLINE vf16x v_select_eq_at(const vf16x *p, const vf16x *q, const vf16x *a, const vf16x *b) {
    V_EACH(vf16x, s_select_eq(p->lane[i], q->lane[i], a->lane[i], b->lane[i]));
}
#define v_select_eq(p, q, a, b) v_select_eq_at(V_AT(p), V_AT(q), V_AT(a), V_AT(b))
static INFK_INLINE vf16x v_select_gt0_at(const vf16x *c, const vf16x *a, const vf16x *b) {
    V_EACH(vf16x, s_select_gt0(c->lane[i], a->lane[i], b->lane[i]));
}
#define v_select_gt0(c, a, b) v_select_gt0_at(V_AT(c), V_AT(a), V_AT(b))
/* 16 outputs of step j (0..3) of a block [16][4] of int8. */
static INFK_INLINE vf16x v_i8_to_f32(const int8_t *block, int j) {
    V_EACH(vf16x, (float)block[4 * i + j]);
}
static INFK_INLINE vf16x v_load_f16(const infk_b2 *p) { V_EACH(vf16x, s_from_f16(p[i])); }
static INFK_INLINE vf16x v_load_bf16(const infk_b2 *p) {
    V_EACH(vf16x, s_float((uint32_t)p[i] << 16));
}

/* Lane i and its partner at the stride: their sum in the first of the two, their difference in the second. */
static INFK_INLINE vf16x v_butterfly(const vf16x *a, int stride) {
    V_EACH(vf16x, i & stride ? a->lane[i - stride] - a->lane[i] : a->lane[i] + a->lane[i + stride]);
}
#define v_butterfly1(a) v_butterfly(V_AT(a), 1)
#define v_butterfly2(a) v_butterfly(V_AT(a), 2)
#define v_butterfly4(a) v_butterfly(V_AT(a), 4)
#define v_butterfly8(a) v_butterfly(V_AT(a), 8)

/* The fixed tree: lane i takes lane i + 8, then + 4, + 2, + 1. */
static INFK_INLINE float v_sum(vf16x a) {
    for (int n = 8; n; n /= 2) INFK_ROLLED for (int i = 0; i < n; i++) a.lane[i] += a.lane[i + n];
    return a.lane[0];
}
static INFK_INLINE float v_hmax(vf16x a) { /* of max_nan */
    for (int n = 8; n; n /= 2)
        INFK_ROLLED for (int i = 0; i < n; i++) a.lane[i] = s_max_nan(a.lane[i], a.lane[i + n]);
    return a.lane[0];
}
/* See s_most. */
static INFK_INLINE vf16x v_most_at(const vf16x *a, const vf16x *b) {
    V_EACH(vf16x, s_most(a->lane[i], b->lane[i]));
}
#define v_most(a, b) v_most_at(V_AT(a), V_AT(b))
static INFK_INLINE float v_hmost(vf16x a) {
    for (int i = 1; i < 16; i++) a.lane[0] = s_most(a.lane[0], a.lane[i]);
    return a.lane[0];
}

#include "integers_armv7e_m.h"
#include "hadamard.h"

/* ---- functions of poly.h, and the activations of gated kernels ------------------------------------------------ */

V_1(round)
#define v_round(a) v_round_at(V_AT(a))
V_1(floor)
#define v_floor(a) v_floor_at(V_AT(a))
V_1(ceil)
#define v_ceil(a) v_ceil_at(V_AT(a))
V_1(expm1_neg)
#define v_expm1_neg(a) v_expm1_neg_at(V_AT(a))
V_1(exp)
#define v_exp(a) v_exp_at(V_AT(a))
V_1(silu)
#define v_silu(a) v_silu_at(V_AT(a))
V_1(exp_share)
#define v_exp_share(a) v_exp_share_at(V_AT(a))
V_1(tanh)
#define v_tanh(a) v_tanh_at(V_AT(a))
V_1(log)
#define v_log(a) v_log_at(V_AT(a))
V_1(softplus)
#define v_softplus(a) v_softplus_at(V_AT(a))
V_1(erf)
#define v_erf(a) v_erf_at(V_AT(a))
V_1(sin)
#define v_sin(a) v_sin_at(V_AT(a))
V_1(cos)
#define v_cos(a) v_cos_at(V_AT(a))
V_1(mish)
#define v_mish(a) v_mish_at(V_AT(a))
V_1(gelu_tanh)
#define v_gelu_tanh(a) v_gelu_tanh_at(V_AT(a))
V_2(pow)
#define v_pow(a, b) v_pow_at(V_AT(a), V_AT(b))
static INFK_INLINE vf16x v_activate_at(ptrdiff_t code, ptrdiff_t alpha_bits, ptrdiff_t beta_bits,
                                       ptrdiff_t clip, const vf16x *a) {
    V_EACH(vf16x, s_activate(code, alpha_bits, beta_bits, clip, a->lane[i]));
}
#define v_activate(code, alpha_bits, beta_bits, clip, a) \
    v_activate_at(code, alpha_bits, beta_bits, clip, V_AT(a))
#undef V_1
#undef V_2

#include "steps_generic.h"
#include "strips.h"
#endif
