/* integers_x86_64_avx2.h - 16 lanes of int32 with AVX2: two halves of 8. See integers_generic.h. */
typedef struct vi16x {
    __m256i lo, hi;
} vi16x;

static INFK_INLINE vi16x vi_join(__m256i lo, __m256i hi) {
    vi16x r;
    r.lo = lo;
    r.hi = hi;
    return r;
}
static INFK_INLINE vi16x vi_load(const int32_t *p) {
    return vi_join(_mm256_loadu_si256((const __m256i *)(const void *)p),
                   _mm256_loadu_si256((const __m256i *)(const void *)(p + 8)));
}
static INFK_INLINE void vi_store(int32_t *p, vi16x a) {
    _mm256_storeu_si256((__m256i *)(void *)p, a.lo);
    _mm256_storeu_si256((__m256i *)(void *)(p + 8), a.hi);
}
static INFK_INLINE vi16x vi_set1(int32_t a) {
    return vi_join(_mm256_set1_epi32(a), _mm256_set1_epi32(a));
}
static INFK_INLINE vi16x vi_zero(void) { return vi_set1(0); }
static INFK_INLINE vi16x vi_add(vi16x a, vi16x b) {
    return vi_join(_mm256_add_epi32(a.lo, b.lo), _mm256_add_epi32(a.hi, b.hi));
}
static INFK_INLINE vi16x vi_mul(vi16x a, vi16x b) {
    return vi_join(_mm256_mullo_epi32(a.lo, b.lo), _mm256_mullo_epi32(a.hi, b.hi));
}
/* acc + the products of the int16 halves of x and w. */
static INFK_INLINE vi16x vi_dot2(vi16x acc, vi16x x, vi16x w) {
    return vi_join(_mm256_add_epi32(acc.lo, _mm256_madd_epi16(x.lo, w.lo)),
                   _mm256_add_epi32(acc.hi, _mm256_madd_epi16(x.hi, w.hi)));
}
/* Two neighbours, in every lane. */
static INFK_INLINE vi16x vi_pair(const int16_t *p) {
    return vi_set1(*(const infk_i4 *)(const void *)p);
}
static INFK_INLINE vi16x vi_and(vi16x a, vi16x b) {
    return vi_join(_mm256_and_si256(a.lo, b.lo), _mm256_and_si256(a.hi, b.hi));
}
static INFK_INLINE vi16x vi_or(vi16x a, vi16x b) {
    return vi_join(_mm256_or_si256(a.lo, b.lo), _mm256_or_si256(a.hi, b.hi));
}
static INFK_INLINE vi16x vi_xor(vi16x a, vi16x b) {
    return vi_join(_mm256_xor_si256(a.lo, b.lo), _mm256_xor_si256(a.hi, b.hi));
}
static INFK_INLINE vi16x vi_shl(vi16x a, int n) {
    return vi_join(_mm256_slli_epi32(a.lo, n), _mm256_slli_epi32(a.hi, n));
}
static INFK_INLINE vi16x vi_shr(vi16x a, int n) {
    return vi_join(_mm256_srli_epi32(a.lo, n), _mm256_srli_epi32(a.hi, n));
}
static INFK_INLINE __m128i vi_load128(const void *p) { return _mm_loadu_si128((const __m128i *)p); }
static INFK_INLINE vi16x vi_load_i8(const int8_t *p) {
    const __m128i x = vi_load128(p);
    return vi_join(_mm256_cvtepi8_epi32(x), _mm256_cvtepi8_epi32(_mm_srli_si128(x, 8)));
}
static INFK_INLINE vi16x vi_load_u8(const uint8_t *p) {
    const __m128i x = vi_load128(p);
    return vi_join(_mm256_cvtepu8_epi32(x), _mm256_cvtepu8_epi32(_mm_srli_si128(x, 8)));
}
static INFK_INLINE vi16x vi_load_i16(const int16_t *p) {
    return vi_join(_mm256_cvtepi16_epi32(vi_load128(p)), _mm256_cvtepi16_epi32(vi_load128(p + 8)));
}
static INFK_INLINE vi16x vi_load_i32(const int32_t *p) { return vi_load(p); }
/* [16][2] as a pair of int16 a lane. */
static INFK_INLINE vi16x vi_pairs_i16(const int16_t *p) {
    return vi_load((const int32_t *)(const void *)p);
}
static INFK_INLINE vi16x vi_pairs_i8(const int8_t *p) {
    return vi_join(_mm256_cvtepi8_epi16(vi_load128(p)), _mm256_cvtepi8_epi16(vi_load128(p + 16)));
}
/* 16 lanes of int16, in order. */
static INFK_INLINE __m256i vi_narrow(vi16x a) {
    return _mm256_permute4x64_epi64(_mm256_packs_epi32(a.lo, a.hi), 0xd8);
}
static INFK_INLINE void vi_store_i16(int16_t *p, vi16x a) {
    _mm256_storeu_si256((__m256i *)(void *)p, vi_narrow(a));
}
static INFK_INLINE void vi_store_i8(int8_t *p, vi16x a) {
    const __m256i x = vi_narrow(a);
    const __m128i bytes = _mm_packs_epi16(_mm256_castsi256_si128(x), _mm256_extracti128_si256(x, 1));
    _mm_storeu_si128((__m128i *)(void *)p, bytes);
}
static INFK_INLINE void vi_store_u8(uint8_t *p, vi16x a) {
    const __m256i x = vi_narrow(a);
    const __m128i bytes = _mm_packus_epi16(_mm256_castsi256_si128(x), _mm256_extracti128_si256(x, 1));
    _mm_storeu_si128((__m128i *)(void *)p, bytes);
}
static INFK_INLINE void vi_store_i32(int32_t *p, vi16x a) { vi_store(p, a); }

#define VI_TAILS(name, type)                                                        \
    static INFK_INLINE vi16x vi_load_##name##_tail(const type *p, ptrdiff_t n) {    \
        type lanes[16] = {0};                                                       \
        for (ptrdiff_t i = 0; i < n; i++) lanes[i] = p[i];                          \
        return vi_load_##name(lanes);                                               \
    }                                                                               \
    static INFK_INLINE void vi_store_##name##_tail(type *p, ptrdiff_t n, vi16x a) { \
        type lanes[16];                                                             \
        vi_store_##name(lanes, a);                                                  \
        for (ptrdiff_t i = 0; i < n; i++) p[i] = lanes[i];                          \
    }
VI_TAILS(i8, int8_t)
VI_TAILS(u8, uint8_t)
VI_TAILS(i16, int16_t)
VI_TAILS(i32, int32_t)
#undef VI_TAILS

static INFK_INLINE vf16x v_from_int(vi16x a) {
    return v_pair(_mm256_cvtepi32_ps(a.lo), _mm256_cvtepi32_ps(a.hi));
}
/* 16 f16. */
static INFK_INLINE vf16x v_load_half(const void *p) {
    return v_pair(_mm256_cvtph_ps(vi_load128(p)), _mm256_cvtph_ps(vi_load128((const char *)p + 16)));
}
/* Towards zero; lanes must be within the range of int32. */
static INFK_INLINE vi16x vi_whole(vf16x a) {
    return vi_join(_mm256_cvttps_epi32(a.lo), _mm256_cvttps_epi32(a.hi));
}
static INFK_INLINE __m256 v_cut_half(__m256 a) {
    return _mm256_round_ps(a, _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC);
}
/* Towards zero, limited to [low, high], whole numbers within the range of int32; 0 for NaN, never -0. */
static INFK_INLINE vf16x v_limit(vf16x a, float low, float high) {
    const vf16x number = low == 0.0f ? a : v_select_eq(a, a, a, v_zero()); /* max makes a NaN its limit */
    const vf16x within = v_min(v_max(number, v_set1(low)), v_set1(high));
    const vf16x whole = v_pair(v_cut_half(within.lo), v_cut_half(within.hi));
    return low == 0.0f ? whole : v_add(whole, v_zero());
}
static INFK_INLINE __m256i vi_near_half(__m256 a) {
    return _mm256_cvtps_epi32(_mm256_and_ps(a, _mm256_cmp_ps(a, a, _CMP_ORD_Q)));
}
/* The nearest whole numbers, half to even; lanes must be within the range of int32; 0 for NaN. */
static INFK_INLINE vi16x vi_near(vf16x a) {
    return vi_join(vi_near_half(a.lo), vi_near_half(a.hi));
}
/* Sums of 8 of 32 bytes, as if each byte was 128 more. */
static INFK_INLINE __m256i vi_sums_of_8(const int8_t *p) {
    const __m256i bytes = _mm256_loadu_si256((const __m256i *)(const void *)p);
    return _mm256_sad_epu8(_mm256_xor_si256(bytes, _mm256_set1_epi8(-128)), _mm256_setzero_si256());
}
/* Of 64 bytes: their four sums of 16, in words 0, 2, 4, 6 in the order 0, 2, 1, 3. */
static INFK_INLINE __m256i vi_sums4(const int8_t *p) {
    const __m256i a = vi_sums_of_8(p), b = vi_sums_of_8(p + 32);
    return _mm256_add_epi64(_mm256_unpacklo_epi64(a, b), _mm256_unpackhi_epi64(a, b));
}
static INFK_INLINE __m256i vi_sums8(const int8_t *p) {
    const __m256i a = vi_sums4(p), b = _mm256_slli_epi64(vi_sums4(p + 64), 32);
    const __m256i order = _mm256_set_epi32(7, 3, 5, 1, 6, 2, 4, 0);
    return _mm256_permutevar8x32_epi32(_mm256_or_si256(a, b), order);
}
/* Lane i: the sum of the bytes 16 i .. 16 i + 15. */
static INFK_INLINE vi16x vi_sums(const int8_t *p) {
    return vi_add(vi_join(vi_sums8(p), vi_sums8(p + 128)), vi_set1(-2048));
}

/* Sums of products of u8 and i8, see integers_generic.h: widened to int16. Each of the four parts of a vqsum holds the
 * sums of four lanes, in two halves. */
#define VQ_LOWERED 0
typedef struct vqsum {
    __m256i q0, q1, q2, q3;
} vqsum;
typedef vqsum vqw; /* four steps of four lanes each */
typedef __m256i vqx;
static INFK_INLINE vqsum vq_join(__m256i q0, __m256i q1, __m256i q2, __m256i q3) {
    vqsum r;
    r.q0 = q0;
    r.q1 = q1;
    r.q2 = q2;
    r.q3 = q3;
    return r;
}
static INFK_INLINE vqsum vq_none(void) {
    const __m256i none = _mm256_setzero_si256();
    return vq_join(none, none, none, none);
}
static INFK_INLINE vqx vq_x(const uint8_t *p) {
    return _mm256_cvtepu8_epi16(_mm_set1_epi32(*(const infk_i4 *)(const void *)p));
}
static INFK_INLINE vqx vq_same(uint8_t x) { return _mm256_set1_epi16(x); }
static INFK_INLINE __m256i vq_w4(const int8_t *p) { return _mm256_cvtepi8_epi16(vi_load128(p)); }
static INFK_INLINE vqw vq_w(const int8_t *p) {
    return vq_join(vq_w4(p), vq_w4(p + 16), vq_w4(p + 32), vq_w4(p + 48));
}
static INFK_INLINE vqsum vq_dot(vqsum acc, vqx x, vqw w) {
    return vq_join(_mm256_add_epi32(acc.q0, _mm256_madd_epi16(x, w.q0)),
                   _mm256_add_epi32(acc.q1, _mm256_madd_epi16(x, w.q1)),
                   _mm256_add_epi32(acc.q2, _mm256_madd_epi16(x, w.q2)),
                   _mm256_add_epi32(acc.q3, _mm256_madd_epi16(x, w.q3)));
}
static INFK_INLINE vi16x vq_sum(vqsum a) {
    return vi_join(_mm256_permute4x64_epi64(_mm256_hadd_epi32(a.q0, a.q1), 0xd8),
                   _mm256_permute4x64_epi64(_mm256_hadd_epi32(a.q2, a.q3), 0xd8));
}
/* The same for VQ_PART columns of a panel, and x widened before: eight sums, each in two halves. */
enum { VQ_PART = 8 };
typedef struct vqpart {
    __m256i q0, q1;
} vqpart;
static INFK_INLINE vqpart vqp_join(__m256i q0, __m256i q1) {
    vqpart r;
    r.q0 = q0;
    r.q1 = q1;
    return r;
}
static INFK_INLINE vqpart vqp_none(void) {
    return vqp_join(_mm256_setzero_si256(), _mm256_setzero_si256());
}
static INFK_INLINE vqpart vqp_w(const int8_t *p) { return vqp_join(vq_w4(p), vq_w4(p + 16)); }
static INFK_INLINE vqpart vqp_dot(vqpart acc, const int16_t *x, vqpart w) {
    const __m256i four = _mm256_broadcastq_epi64(_mm_loadl_epi64((const __m128i *)(const void *)x));
    return vqp_join(_mm256_add_epi32(acc.q0, _mm256_madd_epi16(four, w.q0)),
                    _mm256_add_epi32(acc.q1, _mm256_madd_epi16(four, w.q1)));
}
static INFK_INLINE void vqp_store(int32_t *p, vqpart a) {
    _mm256_storeu_si256((__m256i *)(void *)p, _mm256_permute4x64_epi64(_mm256_hadd_epi32(a.q0, a.q1), 0xd8));
}
