/* bytes_aarch64_neon.h - sums of products of bytes: signed by signed into int32, by a dot product where there is
 * one, and with i8mm unsigned by signed. See bytes_generic.h and sums_generic.h. */
#if defined(__ARM_FEATURE_DOTPROD)
static INFK_INLINE v_i32x4 vi_sdot4(v_i32x4 acc, v_i32x4 w, v_i32x4 x) {
    return (v_i32x4)vdotq_s32((int32x4_t)acc, (int8x16_t)w, (int8x16_t)x);
}
#elif defined(__ARM_FEATURE_SVE) && defined(__has_include) && __has_include(<arm_neon_sve_bridge.h>)
/* SVE has the same; of its registers the first 128 bits are those of NEON. */
#include <arm_neon_sve_bridge.h>
#define VI_SVE_SUMS (svset_neonq_s32(svundef_s32(), (int32x4_t)acc))
#define VI_SVE_BYTES(a) (svset_neonq_s8(svundef_s8(), (int8x16_t)(a)))
static INFK_INLINE v_i32x4 vi_sdot4(v_i32x4 acc, v_i32x4 w, v_i32x4 x) {
    return (v_i32x4)svget_neonq_s32(svdot_s32(VI_SVE_SUMS, VI_SVE_BYTES(w), VI_SVE_BYTES(x)));
}
/* With the i-th four bytes of x, a constant once this is inlined. */
static INFK_INLINE v_i32x4 vi_sdot4_lane(v_i32x4 acc, v_i32x4 w, v_i32x4 x, int i) {
#define VI_SVE_LANE(i) \
    svget_neonq_s32(svdot_lane_s32(VI_SVE_SUMS, VI_SVE_BYTES(w), VI_SVE_BYTES(x), i))
    return (v_i32x4)(i == 0   ? VI_SVE_LANE(0)
                     : i == 1 ? VI_SVE_LANE(1)
                     : i == 2 ? VI_SVE_LANE(2)
                              : VI_SVE_LANE(3));
#undef VI_SVE_LANE
}
#define VI_SDOT4_LANE
#else
/* Products are of 16 bits, added in pairs twice. */
static INFK_INLINE v_i32x4 vi_sdot4(v_i32x4 acc, v_i32x4 w, v_i32x4 x) {
    const int16x8_t low = vmull_s8(vget_low_s8((int8x16_t)w), vget_low_s8((int8x16_t)x));
    const int16x8_t high = vmull_high_s8((int8x16_t)w, (int8x16_t)x);
    return vi_add4(acc, (v_i32x4)vpaddq_s32(vpaddlq_s16(low), vpaddlq_s16(high)));
}
#endif

/* ---- nibbles and signed bytes ---- */

#define VI_BYTES_BIAS 0
static INFK_INLINE vi16x vi_load_bytes(const void *p) { return vi_load((const int32_t *)p); }
/* Four neighbours, in every lane. */
static INFK_INLINE vi16x vi_four(const int8_t *p) {
    return vi_set1(*(const infk_i4 *)(const void *)p);
}
static INFK_INLINE v_i32x4 vi_low_nibbles4(v_i32x4 a) { return a & 0x0f0f0f0f; }
static INFK_INLINE v_i32x4 vi_high_nibbles4(v_i32x4 a) {
    return (v_i32x4)vshrq_n_u8((uint8x16_t)a, 4);
}
static INFK_INLINE vi16x vi_low_nibbles(vi16x a) { return VI_EACH(vi_low_nibbles4, a); }
static INFK_INLINE vi16x vi_high_nibbles(vi16x a) { return VI_EACH(vi_high_nibbles4, a); }
static INFK_INLINE vi16x vi_dot_nibbles(vi16x sums, vi16x nibbles, vi16x x) {
    return VI_EACH3(vi_sdot4, sums, nibbles, x);
}
#include "sums_int32.h"
static INFK_INLINE vi16x vi_upper_nibbles(vi16x a) { return vi_high_nibbles(a); }
static INFK_INLINE vi16x vi_add_groups(vi16x acc, vi16x lower, vi16x upper, vi16x scales) {
    return vi_add_group(acc, vi_add(lower, upper), scales);
}
static INFK_INLINE vi16x vi_bytes(vi16x w) { return w; }
static INFK_INLINE vi16x vi_dot_bytes(vi16x acc, vi16x w, vi16x x) {
    return VI_EACH3(vi_sdot4, acc, w, x);
}
/* Four numbers of up to 7 bits, side by side. */
static INFK_INLINE v_i32x4 vi_four_of4(v_i32x4 a, v_i32x4 b, v_i32x4 c, v_i32x4 d) {
    return a | vi_shl4(b, 8) | vi_shl4(c, 16) | vi_shl4(d, 24);
}
static INFK_INLINE void vi_store_weights(int16_t *p, vi16x a) {
    const vi16x upper = vi_shr(a, 7), lower = vi_and(a, vi_set1(127));
    *(v_i32x4_at *)(void *)p = vi_four_of4(upper.q0, upper.q1, upper.q2, upper.q3);
    *(v_i32x4_at *)(void *)(p + 8) = vi_four_of4(lower.q0, lower.q1, lower.q2, lower.q3);
}
#include "weighted_bytes.h"

/* ---- unsigned by signed bytes ---- */

typedef vi16x vqsum, vqx, vqw;
static INFK_INLINE vqsum vq_none(void) { return vi_zero(); }
static INFK_INLINE vi16x vq_sum(vqsum a) { return a; }
static INFK_INLINE vqw vq_w(const int8_t *p) { return vi_load((const int32_t *)(const void *)p); }
#if defined(__ARM_FEATURE_MATMUL_INT8)
#define VQ_LOWERED 0
static INFK_INLINE v_i32x4 vq_dot4(v_i32x4 acc, v_i32x4 x, v_i32x4 w) {
    return (v_i32x4)vusdotq_s32((int32x4_t)acc, (uint8x16_t)x, (int8x16_t)w);
}
#else
#define VQ_LOWERED \
    128 /* to be signed: the sums of w, which are packed beside it, make up for that */
static INFK_INLINE v_i32x4 vq_dot4(v_i32x4 acc, v_i32x4 x, v_i32x4 w) {
    return vi_sdot4(acc, w, x);
}
#endif
/* Four neighbours of a row, or 16. */
static INFK_INLINE v_i32x4 vq_lower4(v_i32x4 x) {
    return x ^ vi_set4((int32_t)(VQ_LOWERED * 0x1010101u));
}
static INFK_INLINE vqx vq_x(const uint8_t *p) {
    const v_i32x4 x = vq_lower4(vi_set4(*(const infk_i4 *)(const void *)p));
    return vi_join(x, x, x, x);
}
static INFK_INLINE vqx vq_same(uint8_t x) {
    return vi_set1((int32_t)((uint8_t)(x ^ VQ_LOWERED) * 0x1010101u));
}
typedef v_i32x4 vqx16;
static INFK_INLINE vqx16 vq_x16(const uint8_t *p) {
    return vq_lower4(*(const v_i32x4_at *)(const void *)p);
}
static INFK_INLINE vqsum vq_dot(vqsum acc, vqx x, vqw w) { return VI_EACH3(vq_dot4, acc, x, w); }
/* With the i-th four of 16: the lane is an operand of the instruction. */
static INFK_INLINE vqsum vq_dot_lane(vqsum acc, vqx16 x, int i, vqw w) {
#if defined(VI_SDOT4_LANE)
    return vi_join(vi_sdot4_lane(acc.q0, w.q0, x, i), vi_sdot4_lane(acc.q1, w.q1, x, i),
                   vi_sdot4_lane(acc.q2, w.q2, x, i), vi_sdot4_lane(acc.q3, w.q3, x, i));
#else
    return vq_dot(acc, vi_set1(x[i]), w);
#endif
}
