/* integers_riscv64_v.h - 16 lanes of int32, and sums of products of bytes, with the vectors of RISC-V. See
 * integers_generic.h, sums_generic.h and bytes_generic.h. Products are of int16 into int32 (vwmacc), of a vector and
 * of one x for all lanes. */
typedef int8_t v_i8x16_at __attribute__((vector_size(16), aligned(1), may_alias));
typedef uint8_t v_u8x16_at __attribute__((vector_size(16), aligned(1), may_alias));
typedef int16_t v_i16x16_at __attribute__((vector_size(32), aligned(1), may_alias));
typedef int16_t v_i16x32_at __attribute__((vector_size(64), aligned(1), may_alias));
typedef int16_t v_i16x16 __attribute__((vector_size(32)));
typedef uint16_t v_u16x16 __attribute__((vector_size(32)));
typedef int16_t v_i16x32 __attribute__((vector_size(64)));
typedef int8_t v_i8x32_at __attribute__((vector_size(32), aligned(1), may_alias));

static INFK_INLINE vi16x vi_load(const int32_t *p) { return *(const v_i32x16_at *)p; }
static INFK_INLINE void vi_store(int32_t *p, vi16x a) { *(v_i32x16_at *)p = a; }
static INFK_INLINE vi16x vi_add(vi16x a, vi16x b) { return (vi16x)((v_u32x16)a + (v_u32x16)b); }
static INFK_INLINE vi16x vi_mul(vi16x a, vi16x b) { return (vi16x)((v_u32x16)a * (v_u32x16)b); }
static INFK_INLINE vi16x vi_wide(v_i16x16 a) { return __builtin_convertvector(a, vi16x); }
static INFK_INLINE v_i16x16 vi_lower(vi16x a) { return __builtin_convertvector(a, v_i16x16); }
static INFK_INLINE v_i16x16 vi_upper(vi16x a) { return __builtin_convertvector(a >> 16, v_i16x16); }
static INFK_INLINE vi16x vi_dot1(vi16x acc, v_i16x16 x, v_i16x16 w) {
    return vi_add(acc, vi_wide(x) * vi_wide(w));
}
/* acc + the products of the int16 halves of x and w. */
static INFK_INLINE vi16x vi_dot2(vi16x acc, vi16x x, vi16x w) {
    return vi_dot1(vi_dot1(acc, vi_lower(x), vi_lower(w)), vi_upper(x), vi_upper(w));
}
/* Two neighbours, in every lane. */
static INFK_INLINE vi16x vi_pair(const int16_t *p) {
    return vi_set1(*(const infk_i4 *)(const void *)p);
}
static INFK_INLINE vi16x vi_and(vi16x a, vi16x b) { return a & b; }
static INFK_INLINE vi16x vi_or(vi16x a, vi16x b) { return a | b; }
static INFK_INLINE vi16x vi_xor(vi16x a, vi16x b) { return a ^ b; }
/* Bits move within a lane of 32, zeros come in. */
static INFK_INLINE vi16x vi_shl(vi16x a, int n) { return (vi16x)((v_u32x16)a << (uint32_t)n); }
static INFK_INLINE vi16x vi_shr(vi16x a, int n) { return (vi16x)((v_u32x16)a >> (uint32_t)n); }

#define VI_NARROW(name, type, vector)                                               \
    static INFK_INLINE vi16x vi_load_##name(const type *p) {                        \
        return __builtin_convertvector(*(const vector *)(const void *)p, vi16x);    \
    }                                                                               \
    static INFK_INLINE void vi_store_##name(type *p, vi16x a) {                     \
        *(vector *)(void *)p = __builtin_convertvector(a, vector);                  \
    }                                                                               \
    static INFK_INLINE vi16x vi_load_##name##_tail(const type *p, ptrdiff_t n) {    \
        int32_t lanes[16] = {0};                                                    \
        for (ptrdiff_t i = 0; i < n; i++) lanes[i] = (int32_t)p[i];                 \
        return vi_load(lanes);                                                      \
    }                                                                               \
    static INFK_INLINE void vi_store_##name##_tail(type *p, ptrdiff_t n, vi16x a) { \
        int32_t lanes[16];                                                          \
        vi_store(lanes, a);                                                         \
        for (ptrdiff_t i = 0; i < n; i++) p[i] = (type)lanes[i];                    \
    }
VI_NARROW(i8, int8_t, v_i8x16_at)
VI_NARROW(u8, uint8_t, v_u8x16_at)
VI_NARROW(i16, int16_t, v_i16x16_at)
VI_NARROW(i32, int32_t, v_i32x16_at)
#undef VI_NARROW

/* [16][2] as a pair of int16 a lane. */
static INFK_INLINE vi16x vi_pairs_i16(const int16_t *p) {
    return vi_load((const int32_t *)(const void *)p);
}
static INFK_INLINE vi16x vi_pairs_i8(const int8_t *p) {
    return (vi16x) __builtin_convertvector(*(const v_i8x32_at *)p, v_i16x32);
}

static INFK_INLINE vf16x v_from_int(vi16x a) { return __builtin_convertvector(a, vf16x); }
/* qemu 7.2 stops on the conversion that cuts off (vfcvt.rtz), so whole numbers are the nearest ones, or those one
 * nearer to zero where that is beyond; v_limit does it in floats, or compilers would see that its result is whole. */
#if defined(V_FMA_OF_VECTORS)
static INFK_INLINE vi16x vi_whole(vf16x a) {
    const vi16x near = __builtin_convertvector(__builtin_elementwise_rint(a), vi16x);
    const vi16x beyond = v_abs(v_from_int(near)) > v_abs(a), below = a < v_zero();
    return near + ((beyond ^ below) - below);
}
static INFK_INLINE vf16x v_whole(vf16x a) {
    const vf16x near = __builtin_elementwise_rint(a);
    return v_pick(v_abs(near) > v_abs(a), near - v_copysign(v_set1(1.0f), a), near);
}
#else
static INFK_INLINE vi16x vi_whole(vf16x a) { return __builtin_convertvector(a, vi16x); }
static INFK_INLINE vf16x v_whole(vf16x a) { return v_from_int(vi_whole(a)); }
#endif
/* Towards zero, limited to [low, high], whole numbers within the range of int32; 0 for NaN, never -0. */
static INFK_INLINE vf16x v_limit(vf16x a, float low, float high) {
    const vf16x number = v_select_eq(a, a, a, v_zero());
    return v_whole(v_min(v_max(number, v_set1(low)), v_set1(high))) + v_zero();
}
/* 16 halves, see s_from_f16; 16 bf16: the upper halves of f32. */
static INFK_INLINE vf16x v_load_half(const void *p) {
    const vi16x h = vi_load_i16((const int16_t *)p);
    const vi16x special = ((h & 0x7c00) == 0x7c00) & 0x7f800000;
    const vf16x magnitude = (vf16x)vi_shl(h & 0x7fff, 13) * v_set1(0x1p112f);
    return (vf16x)((vi16x)magnitude | special | vi_shl(h & 0x8000, 16));
}
static INFK_INLINE vf16x v_load_f16(const infk_b2 *p) { return v_load_half(p); }
static INFK_INLINE vf16x v_load_bf16(const infk_b2 *p) {
    return (vf16x)vi_shl(vi_load_i16((const int16_t *)(const void *)p), 16);
}
/* 16 outputs of step j (0..3) of a block [16][4] of int8: byte j of each 32-bit word, with its sign. */
static INFK_INLINE vf16x v_i8_to_f32(const int8_t *block, int j) {
    const vi16x words = vi_load((const int32_t *)(const void *)block);
    return v_from_int(vi_shl(words, 24 - 8 * j) >> 24);
}

/* ---- bytes ---- */

/* Byte j of each lane, with its sign. */
static INFK_INLINE v_i16x16 vi_byte(vi16x a, int j) {
    const v_i16x16 half = j < 2 ? vi_lower(a) : vi_upper(a);
    return j % 2 == 0 ? (v_i16x16)((v_u16x16)half << 8) >> 8 : half >> 8;
}
/* u8 by i8: weights as four vectors, x as four numbers. */
#define VQ_LOWERED 0
typedef vi16x vqsum;
typedef struct vqw {
    v_i16x16 w0, w1, w2, w3;
} vqw;
typedef struct vqx {
    int16_t x0, x1, x2, x3;
} vqx;
static INFK_INLINE vqsum vq_none(void) { return vi_zero(); }
static INFK_INLINE vi16x vq_sum(vqsum a) { return a; }
static INFK_INLINE vqx vq_x(const uint8_t *p) {
    const vqx r = {p[0], p[1], p[2], p[3]};
    return r;
}
static INFK_INLINE vqx vq_same(uint8_t x) {
    const vqx r = {x, x, x, x};
    return r;
}
static INFK_INLINE vqw vq_w(const int8_t *p) {
    const vi16x w = vi_load((const int32_t *)(const void *)p);
    const vqw r = {vi_byte(w, 0), vi_byte(w, 1), vi_byte(w, 2), vi_byte(w, 3)};
    return r;
}
static INFK_INLINE vi16x vq_dot1(vi16x acc, int16_t x, v_i16x16 w) {
    return vi_add(acc, vi_set1(x) * vi_wide(w));
}
static INFK_INLINE vqsum vq_dot(vqsum acc, vqx x, vqw w) {
    const vqsum half = vq_dot1(vq_dot1(acc, x.x0, w.w0), x.x1, w.w1);
    return vq_dot1(vq_dot1(half, x.x2, w.w2), x.x3, w.w3);
}

/* Nibbles (0..15) and signed bytes times signed bytes, into int32 at once. */
#define VI_BYTES_BIAS 0
static INFK_INLINE vi16x vi_load_bytes(const void *p) { return vi_load((const int32_t *)p); }
/* Four neighbours, in every lane. */
static INFK_INLINE vi16x vi_four(const int8_t *p) {
    return vi_set1(*(const infk_i4 *)(const void *)p);
}
static INFK_INLINE vi16x vi_low_nibbles(vi16x a) { return a & 0x0f0f0f0f; }
static INFK_INLINE vi16x vi_high_nibbles(vi16x a) { return (a >> 4) & 0x0f0f0f0f; }
static INFK_INLINE vi16x vi_bytes(vi16x w) { return w; }
static INFK_INLINE vi16x vi_dot_bytes(vi16x acc, vi16x w, vi16x x) {
    for (int j = 0; j < 4; j++) acc = vi_dot1(acc, vi_byte(x, j), vi_byte(w, j));
    return acc;
}
static INFK_INLINE vi16x vi_dot_nibbles(vi16x sums, vi16x nibbles, vi16x x) {
    return vi_dot_bytes(sums, nibbles, x);
}
#include "sums_int32.h"
static INFK_INLINE vi16x vi_upper_nibbles(vi16x a) { return vi_high_nibbles(a); }
static INFK_INLINE vi16x vi_add_groups(vi16x acc, vi16x lower, vi16x upper, vi16x scales) {
    return vi_add_group(acc, vi_add(lower, upper), scales);
}

/* Weighted bytes: weights as they come, in int16. */
typedef vqw vi_quad;
typedef vi16x vi_weighted;
static INFK_INLINE vi_weighted vi_weighted_none(void) { return vi_zero(); }
static INFK_INLINE void vi_store_weights(int16_t *p, vi16x a) { vi_store_i16(p, a); }
static INFK_INLINE vi_quad vi_load_quad(const int8_t *p) { return vq_w(p); }
static INFK_INLINE vi_weighted vi_weigh(vi_weighted acc, vi_quad a, const int16_t *weights, ptrdiff_t k) {
    const int16_t *w = weights + k;
    return vq_dot1(vq_dot1(vq_dot1(vq_dot1(acc, w[0], a.w0), w[4], a.w1), w[8], a.w2), w[12], a.w3);
}
static INFK_INLINE vi16x vi_weighted_sum(vi_weighted acc, int32_t all_weights) {
    (void)all_weights;
    return acc;
}
