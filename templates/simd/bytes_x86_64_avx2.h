/* bytes_x86_64_avx2.h - sums of products of bytes with AVX2. See bytes_generic.h. */
#define VI_BYTES_BIAS 0
static INFK_INLINE vi16x vi_load_bytes(const void *p) { return vi_load((const int32_t *)p); }
static INFK_INLINE vi16x vi_four(const int8_t *p) {
    return vi_set1(*(const infk_i4 *)(const void *)p);
}
static INFK_INLINE vi16x vi_low_nibbles(vi16x a) {
    const __m256i mask = _mm256_set1_epi8(15);
    return vi_join(_mm256_and_si256(a.lo, mask), _mm256_and_si256(a.hi, mask));
}
static INFK_INLINE vi16x vi_high_nibbles(vi16x a) {
    return vi_low_nibbles(vi_join(_mm256_srli_epi16(a.lo, 4), _mm256_srli_epi16(a.hi, 4)));
}
static INFK_INLINE vi16x vi_dot_nibbles(vi16x sums, vi16x nibbles, vi16x x) {
    return vi_join(_mm256_add_epi16(sums.lo, _mm256_maddubs_epi16(nibbles.lo, x.lo)),
                   _mm256_add_epi16(sums.hi, _mm256_maddubs_epi16(nibbles.hi, x.hi)));
}
static INFK_INLINE vi16x vi_begin(vi16x start) {
    (void)start;
    return vi_zero();
}
static INFK_INLINE vi16x vi_end(vi16x sums, vi16x start) {
    return vi_dot2(start, sums, vi_set1(0x10001));
}
static INFK_INLINE vi16x vi_group_scales(vi16x scales) {
    return vi_join(_mm256_or_si256(scales.lo, _mm256_slli_epi32(scales.lo, 16)),
                   _mm256_or_si256(scales.hi, _mm256_slli_epi32(scales.hi, 16)));
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
static INFK_INLINE __m256i vi_dot_bytes_half(__m256i acc, __m256i w, __m256i x) {
    const __m256i pairs = _mm256_maddubs_epi16(_mm256_abs_epi8(w), _mm256_sign_epi8(x, w));
    return _mm256_add_epi32(acc, _mm256_madd_epi16(pairs, _mm256_set1_epi16(1)));
}
static INFK_INLINE vi16x vi_dot_bytes(vi16x acc, vi16x w, vi16x x) {
    return vi_join(vi_dot_bytes_half(acc.lo, w.lo, x.lo), vi_dot_bytes_half(acc.hi, w.hi, x.hi));
}
static INFK_INLINE void vi_store_weights(int16_t *p, vi16x a) {
    _mm256_storeu_si256((__m256i *)(void *)p, _mm256_or_si256(a.lo, _mm256_slli_epi32(a.hi, 16)));
}
static INFK_INLINE vi16x vi_odd_pair(vi16x a) {
    return vi_join(_mm256_srai_epi16(a.lo, 8), _mm256_srai_epi16(a.hi, 8));
}
static INFK_INLINE vi16x vi_even_pair(vi16x a) {
    return vi_odd_pair(vi_join(_mm256_slli_epi16(a.lo, 8), _mm256_slli_epi16(a.hi, 8)));
}
#include "weighted_pairs.h"
