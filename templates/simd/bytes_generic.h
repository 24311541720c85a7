/* bytes_generic.h - sums of products of bytes: 16 outputs by four inputs at a time, weights [16][4], x the same four
 * inputs in every lane. In vector extensions; the other levels have the same functions.
 *
 * Nibbles (0..15): vi_dot_nibbles adds to sums whose form is the level's own and which hold at most 32 inputs. vi_end
 * makes them int32, added to what vi_begin began with; vi_add_group takes them into int32 times a scale of 1..16 for
 * each output, as vi_group_scales lays it out. vi_upper_nibbles may be a multiple of vi_high_nibbles, for sums that
 * vi_add_groups takes beside those of the low ones. Up to 6 bits work as well for as many inputs as keep within that
 * sum.
 * Signed bytes: vi_dot_bytes adds (w + VI_BYTES_BIAS) * x to int32, w as vi_bytes lays it out, x not -128.
 * Weighted bytes: vi_store_weights lays out 16 weights of 0..16383 in 32 bytes; vi_weigh adds four of them, 4 * i + k
 * for i = 0..3, times the four bytes of each lane of a block [16][4]. vi_weighted_sum makes such sums int32, given the
 * sum of all weights. */
#define VI_BYTES_BIAS 0
static INFK_INLINE vi16x vi_load_bytes(const void *p) { return vi_load((const int32_t *)p); }
/* Four neighbours, in every lane. */
static INFK_INLINE vi16x vi_four(const int8_t *p) {
    return vi_set1(*(const infk_i4 *)(const void *)p);
}
static INFK_INLINE v_i32x4 vi_low_nibbles4(v_i32x4 a) { return a & 0x0f0f0f0f; }
static INFK_INLINE v_i32x4 vi_high_nibbles4(v_i32x4 a) { return (a >> 4) & 0x0f0f0f0f; }
static INFK_INLINE vi16x vi_low_nibbles(vi16x a) { return VI_EACH(vi_low_nibbles4, a); }
static INFK_INLINE vi16x vi_high_nibbles(vi16x a) { return VI_EACH(vi_high_nibbles4, a); }
/* Products of the even bytes and of the odd ones, added: int16. */
static INFK_INLINE v_i16x8 vi_pairs_of_bytes(v_i32x4 w, v_i32x4 x) {
    return vi_even_bytes(w) * vi_even_bytes(x) + vi_odd_bytes(w) * vi_odd_bytes(x);
}
static INFK_INLINE v_i32x4 vi_dot_nibbles4(v_i32x4 sums, v_i32x4 nibbles, v_i32x4 x) {
    return (v_i32x4)((v_i16x8)sums + vi_pairs_of_bytes(nibbles, x));
}
static INFK_INLINE v_i32x4 vi_dot_bytes4(v_i32x4 acc, v_i32x4 w, v_i32x4 x) {
#if defined(VI_DOTS)
    const v_i32x4 even = vi_dot4((v_i32x4)vi_even_bytes(w), (v_i32x4)vi_even_bytes(x));
    return vi_add4(acc, vi_add4(even, vi_dot4((v_i32x4)vi_odd_bytes(w), (v_i32x4)vi_odd_bytes(x))));
#else
    return vi_add4(acc, vi_dot4((v_i32x4)vi_pairs_of_bytes(w, x), vi_set4(0x10001)));
#endif
}
static INFK_INLINE vi16x vi_dot_nibbles(vi16x sums, vi16x nibbles, vi16x x) {
    return VI_EACH3(vi_dot_nibbles4, sums, nibbles, x);
}
/* Sums that go on from a start. */
static INFK_INLINE vi16x vi_begin(vi16x start) {
    (void)start;
    return vi_zero();
}
static INFK_INLINE vi16x vi_end(vi16x sums, vi16x start) {
    return vi_dot2(start, sums, vi_set1(0x10001));
}
static INFK_INLINE v_i32x4 vi_twice4(v_i32x4 a) { return a | (v_i32x4)((v_u32x4)a << 16); }
static INFK_INLINE vi16x vi_group_scales(vi16x scales) { return VI_EACH(vi_twice4, scales); }
static INFK_INLINE vi16x vi_add_group(vi16x acc, vi16x sums, vi16x scales) {
    return vi_dot2(acc, sums, scales);
}
static INFK_INLINE vi16x vi_upper_nibbles(vi16x a) { return vi_high_nibbles(a); }
static INFK_INLINE vi16x vi_add_groups(vi16x acc, vi16x lower, vi16x upper, vi16x scales) {
    return vi_add_group(vi_add_group(acc, lower, scales), upper, scales);
}
static INFK_INLINE vi16x vi_bytes(vi16x w) { return w; }
static INFK_INLINE vi16x vi_dot_bytes(vi16x acc, vi16x w, vi16x x) {
    return VI_EACH3(vi_dot_bytes4, acc, w, x);
}
/* A low half and a high one, as pairs lie in memory. */
static INFK_INLINE v_i32x4 vi_two4(v_i32x4 first, v_i32x4 second) {
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    return (v_i32x4)((v_u32x4)first << 16) | second;
#else
    return first | (v_i32x4)((v_u32x4)second << 16);
#endif
}
static INFK_INLINE void vi_store_weights(int16_t *p, vi16x a) {
    *(v_i32x4_at *)(void *)p = vi_two4(a.q0, a.q2);
    *(v_i32x4_at *)(void *)(p + 8) = vi_two4(a.q1, a.q3);
}
static INFK_INLINE v_i32x4 vi_even_pair4(v_i32x4 a) { return (v_i32x4)vi_even_bytes(a); }
static INFK_INLINE v_i32x4 vi_odd_pair4(v_i32x4 a) { return (v_i32x4)vi_odd_bytes(a); }
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
static INFK_INLINE vi16x vi_even_pair(vi16x a) { return VI_EACH(vi_odd_pair4, a); }
static INFK_INLINE vi16x vi_odd_pair(vi16x a) { return VI_EACH(vi_even_pair4, a); }
#else
static INFK_INLINE vi16x vi_even_pair(vi16x a) { return VI_EACH(vi_even_pair4, a); }
static INFK_INLINE vi16x vi_odd_pair(vi16x a) { return VI_EACH(vi_odd_pair4, a); }
#endif
#include "weighted_pairs.h"
