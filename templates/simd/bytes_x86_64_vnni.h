/* bytes_x86_64_vnni.h - sums of products of bytes with AVX-512 VNNI: unsigned by signed into int32. See
 * bytes_generic.h. */
#define VI_BYTES_BIAS 128
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
    return _mm512_dpbusd_epi32(sums, nibbles, x);
}
#include "sums_int32.h"
/* Where they lie, so times 16. */
static INFK_INLINE vi16x vi_upper_nibbles(vi16x a) {
    return _mm512_and_si512(a, _mm512_set1_epi8(-16));
}
static INFK_INLINE vi16x vi_add_groups(vi16x acc, vi16x lower, vi16x upper, vi16x scales) {
    return vi_add_group(acc, _mm512_add_epi32(lower, _mm512_srai_epi32(upper, 4)), scales);
}
static INFK_INLINE vi16x vi_bytes(vi16x w) { return _mm512_xor_si512(w, _mm512_set1_epi8(-128)); }
static INFK_INLINE vi16x vi_dot_bytes(vi16x acc, vi16x w, vi16x x) {
    return _mm512_dpbusd_epi32(acc, w, x);
}

/* Nibbles times a scale of 1..16 for each output, as unsigned bytes; `scales` holds it twice a lane, as int16: no
 * product reaches the next byte. */
static INFK_INLINE vi16x vi_scale_bytes(vi16x nibbles, vi16x scales) {
    return _mm512_mullo_epi16(nibbles, scales);
}
static INFK_INLINE void vi_store_bytes(void *p, vi16x a) { _mm512_storeu_si512(p, a); }
/* The lower half of each lane in the upper one. */
static INFK_INLINE vi16x vi_upper(vi16x a) { return _mm512_slli_epi32(a, 16); }
/* [4][4] bytes become [4][4] with rows as columns. */
static INFK_INLINE __m128i vi_turned(__m128i a) {
    return _mm_shuffle_epi8(a, _mm_setr_epi8(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15));
}
static INFK_INLINE void vi_store_weights(int16_t *p, vi16x a) {
    const __m512i lower = _mm512_and_si512(a, _mm512_set1_epi32(127));
    _mm_storeu_si128((__m128i *)(void *)p, vi_turned(_mm512_cvtepi32_epi8(_mm512_srli_epi32(a, 7))));
    _mm_storeu_si128((__m128i *)(void *)(p + 8), vi_turned(_mm512_cvtepi32_epi8(lower)));
}
#include "weighted_bytes.h"
