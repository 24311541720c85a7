/* x86_64_avx2.h - the vocabulary for 16 lanes with AVX2 and FMA: two halves of 8. */
#ifndef INFK_X86_64_AVX2_H
#define INFK_X86_64_AVX2_H
#include <immintrin.h>
#include "scalar.h"

typedef struct vf16x {
    __m256 lo, hi;
} vf16x;

static INFK_INLINE vf16x v_pair(__m256 lo, __m256 hi) {
    vf16x r;
    r.lo = lo;
    r.hi = hi;
    return r;
}
/* Lanes first .. first + 7 that are below n: all ones. */
static INFK_INLINE __m256i v_below(ptrdiff_t n, int first) {
    const __m256i lanes = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
    return _mm256_cmpgt_epi32(_mm256_set1_epi32((int)n - first), lanes);
}
static INFK_INLINE __m256 v_sign_bit(void) { return _mm256_set1_ps(-0.0f); }

static INFK_INLINE vf16x v_load(const float *p) {
    return v_pair(_mm256_loadu_ps(p), _mm256_loadu_ps(p + 8));
}
static INFK_INLINE void v_store(float *p, vf16x a) {
    _mm256_storeu_ps(p, a.lo);
    _mm256_storeu_ps(p + 8, a.hi);
}
/* The first n lanes; the others are zero, their memory is not touched. */
static INFK_INLINE vf16x v_load_tail(const float *p, ptrdiff_t n) {
    const __m256 hi = n > 8 ? _mm256_maskload_ps(p + 8, v_below(n, 8)) : _mm256_setzero_ps();
    return v_pair(_mm256_maskload_ps(p, v_below(n, 0)), hi);
}
static INFK_INLINE void v_store_tail(float *p, ptrdiff_t n, vf16x a) {
    _mm256_maskstore_ps(p, v_below(n, 0), a.lo);
    if (n > 8) _mm256_maskstore_ps(p + 8, v_below(n, 8), a.hi);
}
/* The first n lanes of a, the others of b. */
static INFK_INLINE vf16x v_first(ptrdiff_t n, vf16x a, vf16x b) {
    return v_pair(_mm256_blendv_ps(b.lo, a.lo, _mm256_castsi256_ps(v_below(n, 0))),
                  _mm256_blendv_ps(b.hi, a.hi, _mm256_castsi256_ps(v_below(n, 8))));
}
static INFK_INLINE vf16x v_set1(float a) { return v_pair(_mm256_set1_ps(a), _mm256_set1_ps(a)); }
static INFK_INLINE vf16x v_zero(void) { return v_pair(_mm256_setzero_ps(), _mm256_setzero_ps()); }

#define V_2(f) v_pair(f(a.lo, b.lo), f(a.hi, b.hi))
static INFK_INLINE vf16x v_add(vf16x a, vf16x b) { return V_2(_mm256_add_ps); }
static INFK_INLINE vf16x v_sub(vf16x a, vf16x b) { return V_2(_mm256_sub_ps); }
static INFK_INLINE vf16x v_mul(vf16x a, vf16x b) { return V_2(_mm256_mul_ps); }
static INFK_INLINE vf16x v_div(vf16x a, vf16x b) { return V_2(_mm256_div_ps); }
static INFK_INLINE vf16x v_max(vf16x a, vf16x b) { return V_2(_mm256_max_ps); }
static INFK_INLINE vf16x v_min(vf16x a, vf16x b) { return V_2(_mm256_min_ps); }
#undef V_2
static INFK_INLINE vf16x v_fma(vf16x a, vf16x b, vf16x c) {
    return v_pair(_mm256_fmadd_ps(a.lo, b.lo, c.lo), _mm256_fmadd_ps(a.hi, b.hi, c.hi));
}
/* maxps takes acc unless x is greater; then x where x is NaN. */
static INFK_INLINE __m256 v_max_nan_half(__m256 acc, __m256 x) {
    return _mm256_blendv_ps(_mm256_max_ps(x, acc), x, _mm256_cmp_ps(x, x, _CMP_UNORD_Q));
}
static INFK_INLINE vf16x v_max_nan(vf16x acc, vf16x x) {
    return v_pair(v_max_nan_half(acc.lo, x.lo), v_max_nan_half(acc.hi, x.hi));
}
static INFK_INLINE vf16x v_neg(vf16x a) {
    return v_pair(_mm256_xor_ps(a.lo, v_sign_bit()), _mm256_xor_ps(a.hi, v_sign_bit()));
}
static INFK_INLINE vf16x v_abs(vf16x a) {
    return v_pair(_mm256_andnot_ps(v_sign_bit(), a.lo), _mm256_andnot_ps(v_sign_bit(), a.hi));
}
static INFK_INLINE vf16x v_sqrt(vf16x a) {
    return v_pair(_mm256_sqrt_ps(a.lo), _mm256_sqrt_ps(a.hi));
}
static INFK_INLINE vf16x v_copysign(vf16x a, vf16x sign) {
    const vf16x m = v_abs(a);
    return v_pair(_mm256_or_ps(m.lo, _mm256_and_ps(v_sign_bit(), sign.lo)),
                  _mm256_or_ps(m.hi, _mm256_and_ps(v_sign_bit(), sign.hi)));
}
/* p > q ? a : b; b when unordered. */
static INFK_INLINE vf16x v_select_gt(vf16x p, vf16x q, vf16x a, vf16x b) {
    return v_pair(_mm256_blendv_ps(b.lo, a.lo, _mm256_cmp_ps(p.lo, q.lo, _CMP_GT_OQ)),
                  _mm256_blendv_ps(b.hi, a.hi, _mm256_cmp_ps(p.hi, q.hi, _CMP_GT_OQ)));
}
/* p == q ? a : b; b when unordered. */
static INFK_INLINE vf16x v_select_eq(vf16x p, vf16x q, vf16x a, vf16x b) {
    return v_pair(_mm256_blendv_ps(b.lo, a.lo, _mm256_cmp_ps(p.lo, q.lo, _CMP_EQ_OQ)),
                  _mm256_blendv_ps(b.hi, a.hi, _mm256_cmp_ps(p.hi, q.hi, _CMP_EQ_OQ)));
}
static INFK_INLINE vf16x v_select_gt0(vf16x c, vf16x a, vf16x b) {
    return v_select_gt(c, v_zero(), a, b);
}
static INFK_INLINE __m256 v_pow2_half(__m256 n) {
    const __m256i biased = _mm256_castps_si256(_mm256_add_ps(n, _mm256_set1_ps(12583039.0f)));
    return _mm256_castsi256_ps(_mm256_slli_epi32(biased, 23));
}
static INFK_INLINE vf16x v_pow2(vf16x n) { return v_pair(v_pow2_half(n.lo), v_pow2_half(n.hi)); }
/* See poly.h. */
#define INFK_HAS_ROUND
static INFK_INLINE __m256 v_round_half(__m256 a) {
    return _mm256_round_ps(a, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
}
static INFK_INLINE vf16x v_round(vf16x a) { return v_pair(v_round_half(a.lo), v_round_half(a.hi)); }
static INFK_INLINE __m256 v_exponent_half(__m256 a) {
    const __m256i biased = _mm256_srli_epi32(_mm256_castps_si256(a), 23);
    const __m256 whole = _mm256_castsi256_ps(_mm256_or_si256(biased, _mm256_set1_epi32(0x4b000000)));
    return _mm256_sub_ps(whole, _mm256_set1_ps(8388735.0f));
}
static INFK_INLINE vf16x v_exponent(vf16x a) {
    return v_pair(v_exponent_half(a.lo), v_exponent_half(a.hi));
}
static INFK_INLINE __m256 v_mantissa_half(__m256 a) {
    const __m256i bits = _mm256_and_si256(_mm256_castps_si256(a), _mm256_set1_epi32(0x7fffff));
    return _mm256_castsi256_ps(_mm256_or_si256(bits, _mm256_set1_epi32(0x3f800000)));
}
static INFK_INLINE vf16x v_mantissa(vf16x a) {
    return v_pair(v_mantissa_half(a.lo), v_mantissa_half(a.hi));
}
/* 16 outputs of step j (0..3) of a block [16][4] of int8: byte j of each 32-bit word, with its sign. */
static INFK_INLINE vf16x v_i8_to_f32(const int8_t *block, int j) {
    const __m256i up = _mm256_set1_epi32(24 - 8 * j);
    const __m256i lo = _mm256_sllv_epi32(_mm256_loadu_si256((const __m256i *)(const void *)block), up);
    const __m256i hi =
        _mm256_sllv_epi32(_mm256_loadu_si256((const __m256i *)(const void *)(block + 32)), up);
    return v_pair(_mm256_cvtepi32_ps(_mm256_srai_epi32(lo, 24)),
                  _mm256_cvtepi32_ps(_mm256_srai_epi32(hi, 24)));
}

/* Lane i and its partner at the stride: their sum in the first of the two, their difference in the second. */
#define V_BUTTERFLY(stride, swap, second)                                                  \
    static INFK_INLINE __m256 v_butterfly##stride##_half(__m256 a) {                       \
        const __m256 other = swap;                                                         \
        return _mm256_blend_ps(_mm256_add_ps(a, other), _mm256_sub_ps(other, a), second);  \
    }                                                                                      \
    static INFK_INLINE vf16x v_butterfly##stride(vf16x a) {                                \
        return v_pair(v_butterfly##stride##_half(a.lo), v_butterfly##stride##_half(a.hi)); \
    }
V_BUTTERFLY(1, _mm256_permute_ps(a, 0xb1), 0xaa)
V_BUTTERFLY(2, _mm256_permute_ps(a, 0x4e), 0xcc)
V_BUTTERFLY(4, _mm256_permute2f128_ps(a, a, 1), 0xf0)
#undef V_BUTTERFLY
static INFK_INLINE vf16x v_butterfly8(vf16x a) {
    return v_pair(_mm256_add_ps(a.lo, a.hi), _mm256_sub_ps(a.lo, a.hi));
}

/* 16 halves, see s_from_f16. */
static INFK_INLINE vf16x v_load_f16(const infk_b2 *p) {
    return v_pair(_mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)(const void *)p)),
                  _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)(const void *)(p + 8))));
}

/* 16 bf16: the upper halves of f32. */
static INFK_INLINE __m256 v_load_bf16_half(const infk_b2 *p) {
    const __m256i words = _mm256_cvtepu16_epi32(_mm_loadu_si128((const __m128i *)(const void *)p));
    return _mm256_castsi256_ps(_mm256_slli_epi32(words, 16));
}
static INFK_INLINE vf16x v_load_bf16(const infk_b2 *p) {
    return v_pair(v_load_bf16_half(p), v_load_bf16_half(p + 8));
}

/* The fixed tree: lane i takes lane i + 8, then + 4, + 2, + 1. */
static INFK_INLINE float v_sum(vf16x a) {
    const __m256 by8 = _mm256_add_ps(a.lo, a.hi);
    const __m128 by4 = _mm_add_ps(_mm256_castps256_ps128(by8), _mm256_extractf128_ps(by8, 1));
    const __m128 by2 = _mm_add_ps(by4, _mm_movehl_ps(by4, by4));
    return _mm_cvtss_f32(_mm_add_ss(by2, _mm_movehdup_ps(by2)));
}
static INFK_INLINE float v_hmax(vf16x a) { /* of max_nan */
    __m256 m = v_max_nan_half(a.lo, a.hi);
    m = v_max_nan_half(m, _mm256_permute2f128_ps(m, m, 1));
    m = v_max_nan_half(m, _mm256_permute_ps(m, 0x4e));
    return _mm256_cvtss_f32(v_max_nan_half(m, _mm256_permute_ps(m, 0xb1)));
}
/* See s_most. */
static INFK_INLINE __m256 v_most_half(__m256 a, __m256 b) {
    return _mm256_castsi256_ps(_mm256_max_epi32(_mm256_castps_si256(a), _mm256_castps_si256(b)));
}
static INFK_INLINE vf16x v_most(vf16x a, vf16x b) {
    return v_pair(v_most_half(a.lo, b.lo), v_most_half(a.hi, b.hi));
}
static INFK_INLINE float v_hmost(vf16x a) {
    __m256 m = v_most_half(a.lo, a.hi);
    m = v_most_half(m, _mm256_permute2f128_ps(m, m, 1));
    m = v_most_half(m, _mm256_permute_ps(m, 0x4e));
    return _mm256_cvtss_f32(v_most_half(m, _mm256_permute_ps(m, 0xb1)));
}
/* Of rows i and i + 4: their two halves side by side, of eight lanes four. */
static INFK_INLINE __m256 v_most_pair(const float *rows) {
    const vf16x a = v_load(rows), b = v_load(rows + 64);
    const __m256 m = v_most_half(a.lo, a.hi), n = v_most_half(b.lo, b.hi);
    return v_most_half(_mm256_permute2f128_ps(m, n, 0x20), _mm256_permute2f128_ps(m, n, 0x31));
}
static INFK_INLINE __m256 v_most_two(__m256 a, __m256 b) { /* of four lanes two, a's first */
    const __m256d c = _mm256_castps_pd(a), d = _mm256_castps_pd(b);
    return v_most_half(_mm256_castpd_ps(_mm256_unpacklo_pd(c, d)),
                       _mm256_castpd_ps(_mm256_unpackhi_pd(c, d)));
}
static INFK_INLINE __m256 v_most_eight(const float *rows) {
    const __m256 a = v_most_two(v_most_pair(rows), v_most_pair(rows + 16)),
                 b = v_most_two(v_most_pair(rows + 32), v_most_pair(rows + 48));
    return v_most_half(_mm256_shuffle_ps(a, b, 0x88), _mm256_shuffle_ps(a, b, 0xdd));
}
/* Lane i: v_hmost of row i of [16][16]. */
static INFK_INLINE vf16x v_most_each(const float *rows) {
    return v_pair(v_most_eight(rows), v_most_eight(rows + 128));
}

#include "integers_x86_64_avx2.h"
#include "bytes_x86_64_avx2.h"
#include "hadamard.h"

#define P(x) v_##x
#define PF vf16x
#include "poly.h"
#undef P
#undef PF
#undef INFK_HAS_ROUND

#include "strips.h"
#endif
