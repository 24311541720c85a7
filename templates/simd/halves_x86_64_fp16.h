/* halves_x86_64_fp16.h - 32 sums of f16 with AVX512-FP16. How they are used, matmul_fmaph_ref.c says. */
typedef __m512h vh32x;

/* n floats times `by` as f16, to nearest, half to even, each twice. */
static INFK_INLINE void vh_round(infk_b4 *to, const float *x, ptrdiff_t n, float by) {
    for (ptrdiff_t i = 0; i < n; i += 16) {
        const vf16x a = n - i < 16 ? v_load_tail(x + i, n - i) : v_load(x + i);
        const __m256i half =
            _mm512_cvtps_ph(v_mul(a, v_set1(by)), _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
        const __m512i wide = _mm512_cvtepu16_epi32(half);
        _mm512_storeu_si512(to + i, _mm512_or_si512(wide, _mm512_slli_epi32(wide, 16)));
    }
}
static INFK_INLINE vh32x vh_zero(void) { return _mm512_setzero_ph(); }
/* 16 outputs of a panel, and of the next, or zeros. */
static INFK_INLINE vh32x vh_two(const infk_b2 *p, const infk_b2 *next) {
    const __m512i first = _mm512_castsi256_si512(_mm256_loadu_si256((const __m256i *)(const void *)p));
    return (vh32x)_mm512_inserti64x4(first, _mm256_loadu_si256((const __m256i *)(const void *)next), 1);
}
static INFK_INLINE vh32x vh_one(const infk_b2 *p) {
    return (vh32x)_mm512_zextsi256_si512(_mm256_loadu_si256((const __m256i *)(const void *)p));
}
static INFK_INLINE vh32x vh_set1(const infk_b4 *p) { return (vh32x)_mm512_set1_epi32((int32_t)*p); }
static INFK_INLINE vh32x vh_fma(vh32x a, vh32x b, vh32x c) { return _mm512_fmadd_ph(a, b, c); }
/* The first and the last 16 as floats. */
static INFK_INLINE vf16x vh_first(vh32x a) {
    return _mm512_cvtph_ps(_mm512_castsi512_si256((__m512i)a));
}
static INFK_INLINE vf16x vh_last(vh32x a) {
    return _mm512_cvtph_ps(_mm512_extracti64x4_epi64((__m512i)a, 1));
}
/* Lanes of a where the sum is a number, and of b where it is not. */
static INFK_INLINE vf16x vh_numbers(vf16x sum, vf16x a, vf16x b) {
    return _mm512_mask_blend_ps(_mm512_cmp_ps_mask(v_abs(sum), v_set1(INFK_INFINITY), _CMP_LT_OQ), b, a);
}
static INFK_INLINE int vh_all_numbers(vf16x a) {
    return _mm512_cmp_ps_mask(v_abs(a), v_set1(INFK_INFINITY), _CMP_LT_OQ) == 0xffff;
}
