/* integers_armv7e_m.h - integers and sums of products of bytes in 16 lanes of memory: as integers_generic.h,
 * sums_generic.h and bytes_generic.h describe them. */
static INFK_INLINE vi16x vi_load(const int32_t *p) {
    const infk_i4 *at = (const infk_i4 *)(const void *)p;
    V_EACH(vi16x, at[i]);
}
static INFK_INLINE void vi_store_at(int32_t *p, const vi16x *a) {
    infk_i4 *at = (infk_i4 *)(void *)p;
    INFK_ROLLED for (int i = 0; i < 16; i++) at[i] = a->lane[i];
}
#define vi_store(p, a) vi_store_at(p, VI_AT(a))
static INFK_INLINE vi16x vi_set1(int32_t a) { V_EACH(vi16x, a); }
static INFK_INLINE vi16x vi_zero(void) { return vi_set1(0); }
static INFK_INLINE int32_t vi_add1(int32_t a, int32_t b) {
    return (int32_t)((uint32_t)a + (uint32_t)b);
}
static INFK_INLINE int32_t vi_mul1(int32_t a, int32_t b) {
    return (int32_t)((uint32_t)a * (uint32_t)b);
}
/* Halves of int16: product of the lower and of the upper ones, added. */
static INFK_INLINE int32_t vi_dot1(int32_t acc, int32_t a, int32_t b) {
#if defined(__ARM_FEATURE_DSP)
    return __smlad(a, b, acc);
#else
    return vi_add1(acc, vi_add1((int16_t)a * (int16_t)b, vi_mul1(a >> 16, b >> 16)));
#endif
}
static INFK_INLINE vi16x vi_add_at(const vi16x *a, const vi16x *b) {
    V_EACH(vi16x, vi_add1(a->lane[i], b->lane[i]));
}
#define vi_add(a, b) vi_add_at(VI_AT(a), VI_AT(b))
static INFK_INLINE vi16x vi_mul_at(const vi16x *a, const vi16x *b) {
    V_EACH(vi16x, vi_mul1(a->lane[i], b->lane[i]));
}
#define vi_mul(a, b) vi_mul_at(VI_AT(a), VI_AT(b))
/* acc + the products of the int16 halves of x and w. */
static INFK_INLINE vi16x vi_dot2_at(const vi16x *acc, const vi16x *x, const vi16x *w) {
    V_EACH(vi16x, vi_dot1(acc->lane[i], x->lane[i], w->lane[i]));
}
#define vi_dot2(acc, x, w) vi_dot2_at(VI_AT(acc), VI_AT(x), VI_AT(w))
/* Two neighbours, in every lane. */
static INFK_INLINE vi16x vi_pair(const int16_t *p) {
    return vi_set1(*(const infk_i4 *)(const void *)p);
}
static INFK_INLINE vi16x vi_and_at(const vi16x *a, const vi16x *b) {
    V_EACH(vi16x, a->lane[i] & b->lane[i]);
}
#define vi_and(a, b) vi_and_at(VI_AT(a), VI_AT(b))
static INFK_INLINE vi16x vi_or_at(const vi16x *a, const vi16x *b) {
    V_EACH(vi16x, a->lane[i] | b->lane[i]);
}
#define vi_or(a, b) vi_or_at(VI_AT(a), VI_AT(b))
static INFK_INLINE vi16x vi_xor_at(const vi16x *a, const vi16x *b) {
    V_EACH(vi16x, a->lane[i] ^ b->lane[i]);
}
#define vi_xor(a, b) vi_xor_at(VI_AT(a), VI_AT(b))
/* Bits move within a lane of 32, zeros come in. */
static INFK_INLINE vi16x vi_shl_at(const vi16x *a, int n) {
    V_EACH(vi16x, (int32_t)((uint32_t)a->lane[i] << n));
}
#define vi_shl(a, n) vi_shl_at(VI_AT(a), n)
static INFK_INLINE vi16x vi_shr_at(const vi16x *a, int n) {
    V_EACH(vi16x, (int32_t)((uint32_t)a->lane[i] >> n));
}
#define vi_shr(a, n) vi_shr_at(VI_AT(a), n)

#define VI_NARROW(name, type)                                                                \
    static INFK_INLINE vi16x vi_load_##name##_tail(const type *p, ptrdiff_t n) {             \
        V_EACH(vi16x, i < n ? (int32_t)p[i] : 0);                                            \
    }                                                                                        \
    static INFK_INLINE vi16x vi_load_##name(const type *p) { V_EACH(vi16x, (int32_t)p[i]); } \
    static INFK_INLINE void vi_store_##name##_at(type *p, ptrdiff_t n, const vi16x *a) {     \
        INFK_ROLLED for (ptrdiff_t i = 0; i < n; i++) p[i] = (type)a->lane[i];               \
    }
VI_NARROW(i8, int8_t)
VI_NARROW(u8, uint8_t)
VI_NARROW(i16, int16_t)
VI_NARROW(i32, int32_t)
#undef VI_NARROW
#define vi_store_i8_tail(p, n, a) vi_store_i8_at(p, n, VI_AT(a))
#define vi_store_u8_tail(p, n, a) vi_store_u8_at(p, n, VI_AT(a))
#define vi_store_i16_tail(p, n, a) vi_store_i16_at(p, n, VI_AT(a))
#define vi_store_i32_tail(p, n, a) vi_store_i32_at(p, n, VI_AT(a))
#define vi_store_i8(p, a) vi_store_i8_at(p, 16, VI_AT(a))
#define vi_store_u8(p, a) vi_store_u8_at(p, 16, VI_AT(a))
#define vi_store_i16(p, a) vi_store_i16_at(p, 16, VI_AT(a))
#define vi_store_i32(p, a) vi_store_i32_at(p, 16, VI_AT(a))

/* [16][2] as a pair of int16 a lane. */
static INFK_INLINE vi16x vi_pairs_i16(const int16_t *p) {
    return vi_load((const int32_t *)(const void *)p);
}
static INFK_INLINE int32_t vi_two(int32_t low, int32_t high) {
    return (int32_t)(((uint32_t)low & 0xffffu) | (uint32_t)high << 16);
}
static INFK_INLINE vi16x vi_pairs_i8(const int8_t *p) {
    V_EACH(vi16x, vi_two(p[2 * i], p[2 * i + 1]));
}
static INFK_INLINE vf16x v_from_int_at(const vi16x *a) { V_EACH(vf16x, (float)a->lane[i]); }
#define v_from_int(a) v_from_int_at(VI_AT(a))
static INFK_INLINE vf16x v_load_half(const void *p) { return v_load_f16((const infk_b2 *)p); }
/* Towards zero; lanes must be within the range of int32. */
static INFK_INLINE vi16x vi_whole_at(const vf16x *a) { V_EACH(vi16x, (int32_t)a->lane[i]); }
#define vi_whole(a) vi_whole_at(V_AT(a))
static INFK_INLINE float v_limit1(float a, float low, float high) {
    return (float)(int32_t)s_min(s_max(a == a ? a : 0.0f, low), high);
}
/* Towards zero, limited to [low, high], whole numbers within the range of int32; 0 for NaN. */
static INFK_INLINE vf16x v_limit_at(const vf16x *a, float low, float high) {
    V_EACH(vf16x, v_limit1(a->lane[i], low, high));
}
#define v_limit(a, low, high) v_limit_at(V_AT(a), low, high)

/* ---- bytes: as sums_generic.h and bytes_generic.h ------------------------------------------------------------- */

/* The even and the odd bytes of a word as int16. */
#if defined(__ARM_FEATURE_DSP)
static INFK_INLINE int32_t vi_even(int32_t a) { return __sxtb16(a); }
static INFK_INLINE int32_t vi_odd(int32_t a) { return __sxtb16(a >> 8); }
#else
static INFK_INLINE int32_t vi_even(int32_t a) { return vi_two((int8_t)a, (int8_t)(a >> 16)); }
static INFK_INLINE int32_t vi_odd(int32_t a) { return vi_two((int8_t)(a >> 8), (int8_t)(a >> 24)); }
#endif

/* Sums of products of u8 and i8 in int32, four steps at a time: of one x for all lanes and of weights [16][4]. */
#define VQ_LOWERED 0
typedef vi16x vqsum;
typedef struct vqx {
    int32_t even, odd;
} vqx;
typedef const infk_i4 *vqw;
static INFK_INLINE vqsum vq_none(void) { return vi_zero(); }
static INFK_INLINE vqx vq_pairs(uint32_t x) {
    const vqx r = {(int32_t)(x & 0xff00ffu), (int32_t)(x >> 8 & 0xff00ffu)};
    return r;
}
static INFK_INLINE vqx vq_x(const uint8_t *p) {
    return vq_pairs((uint32_t)*(const infk_i4 *)(const void *)p);
}
static INFK_INLINE vqx vq_same(uint8_t x) { return vq_pairs(x * 0x1010101u); }
static INFK_INLINE vqw vq_w(const int8_t *p) { return (vqw)(const void *)p; }
static INFK_INLINE void vq_add_to(vqsum *acc, vqx x, vqw w) {
    _Pragma("GCC unroll 2") for (int i = 0; i < 16; i++) acc->lane[i] =
        vi_dot1(vi_dot1(acc->lane[i], x.even, vi_even(w[i])), x.odd, vi_odd(w[i]));
}
#define vq_dot(acc, x, w) \
    (vq_add_to(&(acc), x, w), (acc)) /* acc is the variable that the result is for */
static INFK_INLINE vi16x vq_sum(vqsum a) { return a; }

/* Nibbles (0..15) and signed bytes times signed bytes, into int32 at once. */
#define VI_BYTES_BIAS 0
static INFK_INLINE vi16x vi_load_bytes(const void *p) { return vi_load((const int32_t *)p); }
/* Four neighbours, in every lane. */
static INFK_INLINE vi16x vi_four(const int8_t *p) {
    return vi_set1(*(const infk_i4 *)(const void *)p);
}
static INFK_INLINE vi16x vi_low_nibbles_at(const vi16x *a) {
    V_EACH(vi16x, a->lane[i] & 0x0f0f0f0f);
}
#define vi_low_nibbles(a) vi_low_nibbles_at(VI_AT(a))
static INFK_INLINE vi16x vi_high_nibbles_at(const vi16x *a) {
    V_EACH(vi16x, (a->lane[i] >> 4) & 0x0f0f0f0f);
}
#define vi_high_nibbles(a) vi_high_nibbles_at(VI_AT(a))
static INFK_INLINE vi16x vi_dot_bytes_at(const vi16x *acc, const vi16x *w, const vi16x *x) {
    V_EACH(vi16x, vi_dot1(vi_dot1(acc->lane[i], vi_even(w->lane[i]), vi_even(x->lane[i])),
                          vi_odd(w->lane[i]), vi_odd(x->lane[i])));
}
#define vi_dot_bytes(acc, w, x) vi_dot_bytes_at(VI_AT(acc), VI_AT(w), VI_AT(x))
#define vi_dot_nibbles vi_dot_bytes
#define vi_begin(start) (start)
#define vi_end(sums, start) ((void)(start), (sums))
#define vi_group_scales(scales) (scales)
static INFK_INLINE vi16x vi_add_group_at(const vi16x *acc, const vi16x *sums, const vi16x *scales) {
    V_EACH(vi16x, vi_add1(acc->lane[i], vi_mul1(sums->lane[i], scales->lane[i])));
}
#define vi_add_group(acc, sums, scales) vi_add_group_at(VI_AT(acc), VI_AT(sums), VI_AT(scales))
#define vi_upper_nibbles vi_high_nibbles
#define vi_add_groups(acc, lower, upper, scales) \
    vi_add_group(vi_add_group(acc, lower, scales), upper, scales)
static INFK_INLINE vi16x vi_bytes(vi16x w) { return w; }

static INFK_INLINE void vi_store_weights_at(int16_t *p, const vi16x *a) {
    infk_i4 *pairs = (infk_i4 *)(void *)p;
    INFK_ROLLED for (int k = 0; k < 4; k++) {
        pairs[k] = vi_two(a->lane[k], a->lane[8 + k]);
        pairs[4 + k] = vi_two(a->lane[4 + k], a->lane[12 + k]);
    }
}
#define vi_store_weights(p, a) vi_store_weights_at(p, VI_AT(a))
static INFK_INLINE vi16x vi_even_pair_at(const vi16x *a) { V_EACH(vi16x, vi_even(a->lane[i])); }
#define vi_even_pair(a) vi_even_pair_at(VI_AT(a))
static INFK_INLINE vi16x vi_odd_pair_at(const vi16x *a) { V_EACH(vi16x, vi_odd(a->lane[i])); }
#define vi_odd_pair(a) vi_odd_pair_at(VI_AT(a))
#include "weighted_pairs.h"
