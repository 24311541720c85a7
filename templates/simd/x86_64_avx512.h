/* x86_64_avx512.h - the vocabulary for 16 lanes with AVX-512 F, BW, DQ and VL: one register. */
#ifndef INFK_X86_64_AVX512_H
#define INFK_X86_64_AVX512_H
#include <immintrin.h>
#include "scalar.h"

typedef __m512 vf16x;

/* Lanes below n. */
static INFK_INLINE __mmask16 v_below(ptrdiff_t n) { return (__mmask16)((1u << n) - 1u); }

static INFK_INLINE vf16x v_load(const float *p) { return _mm512_loadu_ps(p); }
static INFK_INLINE void v_store(float *p, vf16x a) { _mm512_storeu_ps(p, a); }
/* The first n lanes; the others are zero, their memory is not touched. */
static INFK_INLINE vf16x v_load_tail(const float *p, ptrdiff_t n) {
    return _mm512_maskz_loadu_ps(v_below(n), p);
}
static INFK_INLINE void v_store_tail(float *p, ptrdiff_t n, vf16x a) {
    _mm512_mask_storeu_ps(p, v_below(n), a);
}
/* The first n lanes of a, the others of b. */
static INFK_INLINE vf16x v_first(ptrdiff_t n, vf16x a, vf16x b) {
    return _mm512_mask_blend_ps(v_below(n), b, a);
}
static INFK_INLINE vf16x v_set1(float a) { return _mm512_set1_ps(a); }
static INFK_INLINE vf16x v_zero(void) { return _mm512_setzero_ps(); }
static INFK_INLINE vf16x v_add(vf16x a, vf16x b) { return _mm512_add_ps(a, b); }
static INFK_INLINE vf16x v_sub(vf16x a, vf16x b) { return _mm512_sub_ps(a, b); }
static INFK_INLINE vf16x v_mul(vf16x a, vf16x b) { return _mm512_mul_ps(a, b); }
static INFK_INLINE vf16x v_div(vf16x a, vf16x b) { return _mm512_div_ps(a, b); }
static INFK_INLINE vf16x v_fma(vf16x a, vf16x b, vf16x c) { return _mm512_fmadd_ps(a, b, c); }
static INFK_INLINE vf16x v_max(vf16x a, vf16x b) { return _mm512_max_ps(a, b); }
static INFK_INLINE vf16x v_min(vf16x a, vf16x b) { return _mm512_min_ps(a, b); }
/* maxps takes acc unless x is greater; then x where x is NaN. */
static INFK_INLINE vf16x v_max_nan(vf16x acc, vf16x x) {
    return _mm512_mask_mov_ps(_mm512_max_ps(x, acc), _mm512_cmp_ps_mask(x, x, _CMP_UNORD_Q), x);
}
static INFK_INLINE vf16x v_neg(vf16x a) { return _mm512_xor_ps(a, _mm512_set1_ps(-0.0f)); }
static INFK_INLINE vf16x v_abs(vf16x a) { return _mm512_andnot_ps(_mm512_set1_ps(-0.0f), a); }
static INFK_INLINE vf16x v_sqrt(vf16x a) { return _mm512_sqrt_ps(a); }
static INFK_INLINE vf16x v_copysign(vf16x a, vf16x sign) {
    return _mm512_or_ps(v_abs(a), _mm512_and_ps(_mm512_set1_ps(-0.0f), sign));
}
/* p > q ? a : b; b when unordered. */
static INFK_INLINE vf16x v_select_gt(vf16x p, vf16x q, vf16x a, vf16x b) {
    return _mm512_mask_blend_ps(_mm512_cmp_ps_mask(p, q, _CMP_GT_OQ), b, a);
}
/* p == q ? a : b; b when unordered. */
static INFK_INLINE vf16x v_select_eq(vf16x p, vf16x q, vf16x a, vf16x b) {
    return _mm512_mask_blend_ps(_mm512_cmp_ps_mask(p, q, _CMP_EQ_OQ), b, a);
}
static INFK_INLINE vf16x v_select_gt0(vf16x c, vf16x a, vf16x b) {
    return v_select_gt(c, v_zero(), a, b);
}
static INFK_INLINE vf16x v_pow2(vf16x n) {
    const __m512i biased = _mm512_castps_si512(_mm512_add_ps(n, _mm512_set1_ps(12583039.0f)));
    return _mm512_castsi512_ps(_mm512_slli_epi32(biased, 23));
}
/* See poly.h: to nearest, half to even; a * 2^n, one rounding. */
#define INFK_HAS_ROUND
static INFK_INLINE vf16x v_round(vf16x a) {
    return _mm512_roundscale_ps(a, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
}
#define INFK_HAS_SCALE2
static INFK_INLINE vf16x v_scale2(vf16x a, vf16x n) { return _mm512_scalef_ps(a, n); }
static INFK_INLINE vf16x v_exponent(vf16x a) {
    const __m512i biased = _mm512_srli_epi32(_mm512_castps_si512(a), 23);
    const __m512i whole = _mm512_or_si512(biased, _mm512_set1_epi32(0x4b000000));
    return _mm512_sub_ps(_mm512_castsi512_ps(whole), _mm512_set1_ps(8388735.0f));
}
static INFK_INLINE vf16x v_mantissa(vf16x a) {
    const __m512i bits = _mm512_and_si512(_mm512_castps_si512(a), _mm512_set1_epi32(0x7fffff));
    return _mm512_castsi512_ps(_mm512_or_si512(bits, _mm512_set1_epi32(0x3f800000)));
}
/* 16 outputs of step j (0..3) of a block [16][4] of int8: byte j of each 32-bit word, with its sign. */
static INFK_INLINE vf16x v_i8_to_f32(const int8_t *block, int j) {
    const __m512i words = _mm512_sllv_epi32(_mm512_loadu_si512(block), _mm512_set1_epi32(24 - 8 * j));
    return _mm512_cvtepi32_ps(_mm512_srai_epi32(words, 24));
}

/* Lane i and its partner at the stride: their sum in the first of the two, their difference in the second. */
#define V_BUTTERFLY(stride, swap, second)                                       \
    static INFK_INLINE vf16x v_butterfly##stride(vf16x a) {                     \
        const vf16x other = swap;                                               \
        return _mm512_mask_sub_ps(_mm512_add_ps(a, other), (second), other, a); \
    }
V_BUTTERFLY(1, _mm512_permute_ps(a, 0xb1), 0xaaaa)
V_BUTTERFLY(2, _mm512_permute_ps(a, 0x4e), 0xcccc)
V_BUTTERFLY(4, _mm512_shuffle_f32x4(a, a, 0xb1), 0xf0f0)
V_BUTTERFLY(8, _mm512_shuffle_f32x4(a, a, 0x4e), 0xff00)
#undef V_BUTTERFLY

/* 16 halves, see s_from_f16. */
static INFK_INLINE vf16x v_load_f16(const infk_b2 *p) {
    return _mm512_cvtph_ps(_mm256_loadu_si256((const __m256i *)(const void *)p));
}

/* 16 bf16: the upper halves of f32. */
static INFK_INLINE vf16x v_load_bf16(const infk_b2 *p) {
    const __m512i words = _mm512_cvtepu16_epi32(_mm256_loadu_si256((const __m256i *)(const void *)p));
    return _mm512_castsi512_ps(_mm512_slli_epi32(words, 16));
}

/* The fixed tree: lane i takes lane i + 8, then + 4, + 2, + 1. */
static INFK_INLINE float v_sum(vf16x a) {
    const __m256 by8 = _mm256_add_ps(_mm512_castps512_ps256(a), _mm512_extractf32x8_ps(a, 1));
    const __m128 by4 = _mm_add_ps(_mm256_castps256_ps128(by8), _mm256_extractf128_ps(by8, 1));
    const __m128 by2 = _mm_add_ps(by4, _mm_movehl_ps(by4, by4));
    return _mm_cvtss_f32(_mm_add_ss(by2, _mm_movehdup_ps(by2)));
}
/* v_max_nan of 4. */
static INFK_INLINE __m128 v_max_nan4(__m128 acc, __m128 x) {
    return _mm_mask_mov_ps(_mm_max_ps(x, acc), _mm_cmp_ps_mask(x, x, _CMP_UNORD_Q), x);
}
static INFK_INLINE float v_hmax(vf16x a) { /* of max_nan */
    const vf16x by8 = v_max_nan(a, _mm512_shuffle_f32x4(a, a, 0x0e));
    const __m128 by4 = v_max_nan4(_mm512_castps512_ps128(by8), _mm512_extractf32x4_ps(by8, 1));
    const __m128 by2 = v_max_nan4(by4, _mm_movehl_ps(by4, by4));
    return _mm_cvtss_f32(v_max_nan4(by2, _mm_movehdup_ps(by2)));
}
/* See s_most. */
static INFK_INLINE vf16x v_most(vf16x a, vf16x b) {
    return _mm512_castsi512_ps(_mm512_max_epi32(_mm512_castps_si512(a), _mm512_castps_si512(b)));
}
static INFK_INLINE float v_hmost(vf16x a) {
    return _mm_cvtss_f32(_mm_castsi128_ps(_mm_cvtsi32_si128(_mm512_reduce_max_epi32(_mm512_castps_si512(a)))));
}
/* Of rows 0, 4, 8 and 12 from `rows` on: four lanes of each. */
static INFK_INLINE vf16x v_most_four(const float *rows) {
    const vf16x a = v_load(rows), b = v_load(rows + 64), c = v_load(rows + 128), d = v_load(rows + 192);
    const vf16x ab = v_most(_mm512_shuffle_f32x4(a, b, 0x44), _mm512_shuffle_f32x4(a, b, 0xee)),
                cd = v_most(_mm512_shuffle_f32x4(c, d, 0x44), _mm512_shuffle_f32x4(c, d, 0xee));
    return v_most(_mm512_shuffle_f32x4(ab, cd, 0x88), _mm512_shuffle_f32x4(ab, cd, 0xdd));
}
static INFK_INLINE vf16x v_most_two(vf16x a, vf16x b) { /* of four lanes two, a's first */
    const __m512d c = _mm512_castps_pd(a), d = _mm512_castps_pd(b);
    return v_most(_mm512_castpd_ps(_mm512_unpacklo_pd(c, d)), _mm512_castpd_ps(_mm512_unpackhi_pd(c, d)));
}
/* Lane i: v_hmost of row i of [16][16]. */
static INFK_INLINE vf16x v_most_each(const float *rows) {
    const vf16x a = v_most_two(v_most_four(rows), v_most_four(rows + 16)),
                b = v_most_two(v_most_four(rows + 32), v_most_four(rows + 48));
    return v_most(_mm512_shuffle_ps(a, b, 0x88), _mm512_shuffle_ps(a, b, 0xdd));
}

#include "integers_x86_64_avx512.h"
#if !defined(INFK_X86_64_VNNI_H) /* which has them better */
#include "bytes_x86_64_avx512.h"
#endif
#include "hadamard.h"

#define P(x) v_##x
#define PF vf16x
#include "poly.h"
#undef P
#undef PF
#undef INFK_HAS_ROUND
#undef INFK_HAS_SCALE2

#include "strips.h"
#endif
