/* bytes_x86_64_avx512.h - sums of products of bytes with AVX-512 BW alone. See bytes_generic.h. */
#define VI_BYTES_BIAS 0
static INFK_INLINE vi16x vi_load_bytes(const void *p) { return _mm512_loadu_si512(p); }
static INFK_INLINE vi16x vi_four(const int8_t *p) {
    return vi_set1(*(const infk_i4 *)(const void *)p);
}
static INFK_INLINE vi16x vi_low_nibbles(vi16x a) {
    return _mm512_and_si512(a, _mm512_set1_epi8(15));
}
static INFK_INLINE vi16x vi_high_nibbles(vi16x a) {
    return vi_low_nibbles(_mm512_srli_epi16(a, 4));
}
static INFK_INLINE vi16x vi_dot_nibbles(vi16x sums, vi16x nibbles, vi16x x) {
    return _mm512_add_epi16(sums, _mm512_maddubs_epi16(nibbles, x));
}
static INFK_INLINE vi16x vi_begin(vi16x start) {
    (void)start;
    return vi_zero();
}
static INFK_INLINE vi16x vi_end(vi16x sums, vi16x start) {
    return vi_dot2(start, sums, vi_set1(0x10001));
}
static INFK_INLINE vi16x vi_group_scales(vi16x scales) {
    return _mm512_or_si512(scales, _mm512_slli_epi32(scales, 16));
}
static INFK_INLINE vi16x vi_add_group(vi16x acc, vi16x sums, vi16x scales) {
    return vi_dot2(acc, sums, scales);
}
static INFK_INLINE vi16x vi_upper_nibbles(vi16x a) { return vi_high_nibbles(a); }
static INFK_INLINE vi16x vi_add_groups(vi16x acc, vi16x lower, vi16x upper, vi16x scales) {
    return vi_add_group(vi_add_group(acc, lower, scales), upper, scales);
}
static INFK_INLINE vi16x vi_bytes(vi16x w) { return w; }
/* |w| times x with the sign of w: neither is -128, so that two products fit an int16. */
static INFK_INLINE vi16x vi_dot_bytes(vi16x acc, vi16x w, vi16x x) {
    const vi16x signed_x = _mm512_mask_sub_epi8(x, _mm512_movepi8_mask(w), _mm512_setzero_si512(), x);
    const vi16x pairs = _mm512_maddubs_epi16(_mm512_abs_epi8(w), signed_x);
    return _mm512_add_epi32(acc, _mm512_madd_epi16(pairs, _mm512_set1_epi16(1)));
}
static INFK_INLINE void vi_store_weights(int16_t *p, vi16x a) {
    const __m256i first = _mm512_castsi512_si256(a), second = _mm512_extracti64x4_epi64(a, 1);
    _mm256_storeu_si256((__m256i *)(void *)p, _mm256_or_si256(first, _mm256_slli_epi32(second, 16)));
}
static INFK_INLINE vi16x vi_odd_pair(vi16x a) { return _mm512_srai_epi16(a, 8); }
static INFK_INLINE vi16x vi_even_pair(vi16x a) { return vi_odd_pair(_mm512_slli_epi16(a, 8)); }
#include "weighted_pairs.h"
