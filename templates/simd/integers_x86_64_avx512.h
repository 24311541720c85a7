/* integers_x86_64_avx512.h - 16 lanes of int32 with AVX-512: one register. See integers_generic.h. */
typedef __m512i vi16x;

static INFK_INLINE vi16x vi_load(const int32_t *p) { return _mm512_loadu_si512(p); }
static INFK_INLINE void vi_store(int32_t *p, vi16x a) { _mm512_storeu_si512(p, a); }
static INFK_INLINE vi16x vi_set1(int32_t a) { return _mm512_set1_epi32(a); }
static INFK_INLINE vi16x vi_zero(void) { return _mm512_setzero_si512(); }
static INFK_INLINE vi16x vi_add(vi16x a, vi16x b) { return _mm512_add_epi32(a, b); }
static INFK_INLINE vi16x vi_mul(vi16x a, vi16x b) { return _mm512_mullo_epi32(a, b); }
/* acc + the products of the int16 halves of x and w. */
static INFK_INLINE vi16x vi_dot2(vi16x acc, vi16x x, vi16x w) {
#if defined(__AVX512VNNI__)
    return _mm512_dpwssd_epi32(acc, x, w);
#else
    return _mm512_add_epi32(acc, _mm512_madd_epi16(x, w));
#endif
}
/* Two neighbours, in every lane. */
static INFK_INLINE vi16x vi_pair(const int16_t *p) {
    return vi_set1(*(const infk_i4 *)(const void *)p);
}
static INFK_INLINE vi16x vi_and(vi16x a, vi16x b) { return _mm512_and_si512(a, b); }
static INFK_INLINE vi16x vi_or(vi16x a, vi16x b) { return _mm512_or_si512(a, b); }
static INFK_INLINE vi16x vi_xor(vi16x a, vi16x b) { return _mm512_xor_si512(a, b); }
static INFK_INLINE vi16x vi_shl(vi16x a, int n) { return _mm512_slli_epi32(a, (unsigned)n); }
static INFK_INLINE vi16x vi_shr(vi16x a, int n) { return _mm512_srli_epi32(a, (unsigned)n); }
static INFK_INLINE __m128i vi_load128(const void *p) { return _mm_loadu_si128((const __m128i *)p); }
static INFK_INLINE __m256i vi_load256(const void *p) {
    return _mm256_loadu_si256((const __m256i *)p);
}
static INFK_INLINE vi16x vi_load_i8(const int8_t *p) { return _mm512_cvtepi8_epi32(vi_load128(p)); }
static INFK_INLINE vi16x vi_load_u8(const uint8_t *p) {
    return _mm512_cvtepu8_epi32(vi_load128(p));
}
static INFK_INLINE vi16x vi_load_i16(const int16_t *p) {
    return _mm512_cvtepi16_epi32(vi_load256(p));
}
static INFK_INLINE vi16x vi_load_i32(const int32_t *p) { return vi_load(p); }
/* [16][2] as a pair of int16 a lane. */
static INFK_INLINE vi16x vi_pairs_i16(const int16_t *p) { return _mm512_loadu_si512(p); }
static INFK_INLINE vi16x vi_pairs_i8(const int8_t *p) {
    return _mm512_cvtepi8_epi16(vi_load256(p));
}
static INFK_INLINE void vi_store_i16(int16_t *p, vi16x a) {
    _mm256_storeu_si256((__m256i *)(void *)p, _mm512_cvtepi32_epi16(a));
}
static INFK_INLINE void vi_store_i8(int8_t *p, vi16x a) {
    _mm_storeu_si128((__m128i *)(void *)p, _mm512_cvtepi32_epi8(a));
}
static INFK_INLINE void vi_store_u8(uint8_t *p, vi16x a) {
    _mm_storeu_si128((__m128i *)(void *)p, _mm512_cvtepi32_epi8(a));
}
static INFK_INLINE void vi_store_i32(int32_t *p, vi16x a) { vi_store(p, a); }

#define VI_TAILS(name, type, load, widen, store, narrow)                            \
    static INFK_INLINE vi16x vi_load_##name##_tail(const type *p, ptrdiff_t n) {    \
        return widen(load(v_below(n), p));                                          \
    }                                                                               \
    static INFK_INLINE void vi_store_##name##_tail(type *p, ptrdiff_t n, vi16x a) { \
        store(p, v_below(n), narrow(a));                                            \
    }
VI_TAILS(i8, int8_t, _mm_maskz_loadu_epi8, _mm512_cvtepi8_epi32, _mm_mask_storeu_epi8, _mm512_cvtepi32_epi8)
VI_TAILS(u8, uint8_t, _mm_maskz_loadu_epi8, _mm512_cvtepu8_epi32, _mm_mask_storeu_epi8, _mm512_cvtepi32_epi8)
VI_TAILS(i16, int16_t, _mm256_maskz_loadu_epi16, _mm512_cvtepi16_epi32, _mm256_mask_storeu_epi16, _mm512_cvtepi32_epi16)
VI_TAILS(i32, int32_t, _mm512_maskz_loadu_epi32, (vi16x), _mm512_mask_storeu_epi32, (vi16x))
#undef VI_TAILS

static INFK_INLINE vf16x v_from_int(vi16x a) { return _mm512_cvtepi32_ps(a); }
/* 16 f16. */
static INFK_INLINE vf16x v_load_half(const void *p) { return _mm512_cvtph_ps(vi_load256(p)); }
/* Towards zero; lanes must be within the range of int32. */
static INFK_INLINE vi16x vi_whole(vf16x a) { return _mm512_cvttps_epi32(a); }
/* Towards zero, limited to [low, high], whole numbers within the range of int32; 0 for NaN, never -0. */
static INFK_INLINE vf16x v_limit(vf16x a, float low, float high) {
    const vf16x number = low == 0.0f ? a : v_select_eq(a, a, a, v_zero()); /* max makes a NaN its limit */
    const vf16x within = v_min(v_max(number, v_set1(low)), v_set1(high));
    const vf16x whole = _mm512_roundscale_ps(within, _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC);
    return low == 0.0f ? whole : v_add(whole, v_zero());
}
/* The nearest whole numbers, half to even; lanes must be within the range of int32; 0 for NaN. */
static INFK_INLINE vi16x vi_near(vf16x a) {
    return _mm512_maskz_cvtps_epi32(_mm512_cmp_ps_mask(a, a, _CMP_ORD_Q), a);
}
/* Of 128 bytes: their eight sums of 16, in words 0, 2, 4 .. in the order 0, 4, 1, 5, 2, 6, 3, 7. */
static INFK_INLINE vi16x vi_sums8(const int8_t *p) {
    const vi16x sign = _mm512_set1_epi8(-128), none = vi_zero(); /* as if each was 128 more */
    const vi16x a = _mm512_sad_epu8(_mm512_xor_si512(_mm512_loadu_si512(p), sign), none),
                b = _mm512_sad_epu8(_mm512_xor_si512(_mm512_loadu_si512(p + 64), sign), none);
    return _mm512_add_epi64(_mm512_unpacklo_epi64(a, b), _mm512_unpackhi_epi64(a, b));
}
/* Lane i: the sum of the bytes 16 i .. 16 i + 15. */
static INFK_INLINE vi16x vi_sums(const int8_t *p) {
    const vi16x order = _mm512_set_epi32(15, 11, 7, 3, 13, 9, 5, 1, 14, 10, 6, 2, 12, 8, 4, 0);
    const vi16x both = _mm512_or_si512(vi_sums8(p), _mm512_slli_epi64(vi_sums8(p + 128), 32));
    return vi_add(_mm512_permutexvar_epi32(order, both), vi_set1(-2048));
}

/* Sums of products of u8 and i8 widened to int16: each of the two parts holds the sums of eight lanes, in two halves.
 * vqp_dot: for VQ_PART columns of a panel, and x widened before. */
enum { VQ_PART = 16 };
typedef struct vqpart {
    __m512i lo, hi;
} vqpart;
static INFK_INLINE vqpart vqp_join(__m512i lo, __m512i hi) {
    vqpart r;
    r.lo = lo;
    r.hi = hi;
    return r;
}
static INFK_INLINE vqpart vqp_none(void) { return vqp_join(vi_zero(), vi_zero()); }
static INFK_INLINE vqpart vqp_w(const int8_t *p) {
    return vqp_join(vi_pairs_i8(p), vi_pairs_i8(p + 32));
}
static INFK_INLINE vqpart vqp_add(vqpart acc, __m512i x, vqpart w) {
    return vqp_join(_mm512_add_epi32(acc.lo, _mm512_madd_epi16(x, w.lo)),
                    _mm512_add_epi32(acc.hi, _mm512_madd_epi16(x, w.hi)));
}
static INFK_INLINE vqpart vqp_dot(vqpart acc, const int16_t *x, vqpart w) {
    return vqp_add(acc, _mm512_broadcastq_epi64(_mm_loadl_epi64((const __m128i *)(const void *)x)), w);
}
static INFK_INLINE vi16x vqp_sum(vqpart a) {
    const __m512i even = _mm512_set_epi32(30, 28, 26, 24, 22, 20, 18, 16, 14, 12, 10, 8, 6, 4, 2, 0);
    const __m512i odd = _mm512_or_si512(even, _mm512_set1_epi32(1));
    return _mm512_add_epi32(_mm512_permutex2var_epi32(a.lo, even, a.hi),
                            _mm512_permutex2var_epi32(a.lo, odd, a.hi));
}
static INFK_INLINE void vqp_store(int32_t *p, vqpart a) { vi_store(p, vqp_sum(a)); }

/* The same of bytes as they are, see sums_generic.h. */
#define VQ_LOWERED 0
#if defined(__AVX512VNNI__)
typedef vi16x vqsum, vqx, vqw;
static INFK_INLINE vqsum vq_none(void) { return vi_zero(); }
static INFK_INLINE vqx vq_x(const uint8_t *p) { return vi_set1(*(const infk_i4 *)(const void *)p); }
static INFK_INLINE vqx vq_same(uint8_t x) { return vi_set1((int32_t)(x * 0x1010101u)); }
static INFK_INLINE vqw vq_w(const int8_t *p) { return _mm512_loadu_si512(p); }
static INFK_INLINE vqsum vq_dot(vqsum acc, vqx x, vqw w) { return _mm512_dpbusd_epi32(acc, x, w); }
static INFK_INLINE vi16x vq_sum(vqsum a) { return a; }
#else
typedef vqpart vqsum, vqw;
typedef __m512i vqx;
static INFK_INLINE vqsum vq_none(void) { return vqp_none(); }
static INFK_INLINE vqx vq_x(const uint8_t *p) {
    return _mm512_cvtepu8_epi16(_mm256_set1_epi32(*(const infk_i4 *)(const void *)p));
}
static INFK_INLINE vqx vq_same(uint8_t x) { return _mm512_set1_epi16(x); }
static INFK_INLINE vqw vq_w(const int8_t *p) { return vqp_w(p); }
static INFK_INLINE vqsum vq_dot(vqsum acc, vqx x, vqw w) { return vqp_add(acc, x, w); }
static INFK_INLINE vi16x vq_sum(vqsum a) { return vqp_sum(a); }
#endif
