/* generic.h - the vocabulary for 16 lanes in portable C: the level of every target without one of its own. */
#ifndef INFK_GENERIC_H
#define INFK_GENERIC_H
#include "scalar.h"

typedef struct vf16x {
    float l[16];
} vf16x;

#define V_EACH(expr)                              \
    vf16x r;                                      \
    INFK_UNROLL                                   \
    for (int i = 0; i < 16; i++) r.l[i] = (expr); \
    return r

static INFK_INLINE vf16x v_load(const float *p) { V_EACH(p[i]); }
static INFK_INLINE void v_store(float *p, vf16x a) {
    INFK_UNROLL
    for (int i = 0; i < 16; i++) p[i] = a.l[i];
}
/* The first n lanes; the others are zero, their memory is not touched. */
static INFK_INLINE vf16x v_load_tail(const float *p, ptrdiff_t n) { V_EACH(i < n ? p[i] : 0.0f); }
static INFK_INLINE void v_store_tail(float *p, ptrdiff_t n, vf16x a) {
    for (int i = 0; i < n; i++) p[i] = a.l[i];
}
/* The first n lanes of a, the others of b. */
static INFK_INLINE vf16x v_first(ptrdiff_t n, vf16x a, vf16x b) { V_EACH(i < n ? a.l[i] : b.l[i]); }
static INFK_INLINE vf16x v_set1(float a) { V_EACH(a); }
static INFK_INLINE vf16x v_zero(void) { return v_set1(0.0f); }
static INFK_INLINE vf16x v_add(vf16x a, vf16x b) { V_EACH(a.l[i] + b.l[i]); }
static INFK_INLINE vf16x v_sub(vf16x a, vf16x b) { V_EACH(a.l[i] - b.l[i]); }
static INFK_INLINE vf16x v_mul(vf16x a, vf16x b) { V_EACH(a.l[i] * b.l[i]); }
static INFK_INLINE vf16x v_div(vf16x a, vf16x b) { V_EACH(a.l[i] / b.l[i]); }
static INFK_INLINE vf16x v_fma(vf16x a, vf16x b, vf16x c) { V_EACH(s_fma(a.l[i], b.l[i], c.l[i])); }
static INFK_INLINE vf16x v_max(vf16x a, vf16x b) { V_EACH(s_max(a.l[i], b.l[i])); }
static INFK_INLINE vf16x v_min(vf16x a, vf16x b) { V_EACH(s_min(a.l[i], b.l[i])); }
static INFK_INLINE vf16x v_max_nan(vf16x acc, vf16x x) { V_EACH(s_max_nan(acc.l[i], x.l[i])); }
static INFK_INLINE vf16x v_neg(vf16x a) { V_EACH(s_neg(a.l[i])); }
static INFK_INLINE vf16x v_abs(vf16x a) { V_EACH(s_abs(a.l[i])); }
static INFK_INLINE vf16x v_sqrt(vf16x a) { V_EACH(s_sqrt(a.l[i])); }
static INFK_INLINE vf16x v_copysign(vf16x a, vf16x sign) { V_EACH(s_copysign(a.l[i], sign.l[i])); }
static INFK_INLINE vf16x v_select_gt0(vf16x c, vf16x a, vf16x b) {
    V_EACH(s_select_gt0(c.l[i], a.l[i], b.l[i]));
}
static INFK_INLINE vf16x v_select_gt(vf16x p, vf16x q, vf16x a, vf16x b) {
    V_EACH(s_select_gt(p.l[i], q.l[i], a.l[i], b.l[i]));
}
static INFK_INLINE vf16x v_pow2(vf16x n) { V_EACH(s_pow2(n.l[i])); }
/* 16 outputs of step j (0..3) of a block [16][4] of int8. */
static INFK_INLINE vf16x v_i8_to_f32(const int8_t *block, int j) {
    V_EACH((float)block[4 * i + j]);
}

#undef V_EACH

/* The fixed tree: lane i takes lane i + 8, then + 4, + 2, + 1. */
static INFK_INLINE float v_sum(vf16x a) {
    for (int half = 8; half > 0; half /= 2)
        for (int i = 0; i < half; i++) a.l[i] += a.l[i + half];
    return a.l[0];
}
static INFK_INLINE float v_hmax(vf16x a) { /* of max_nan */
    for (int half = 8; half > 0; half /= 2)
        for (int i = 0; i < half; i++) a.l[i] = s_max_nan(a.l[i], a.l[i + half]);
    return a.l[0];
}

#define P(x) v_##x
#define PF vf16x
#include "poly.h"
#undef P
#undef PF

#endif
