/* pairs_x86_64_bf16.h - products of pairs of bf16 with AVX512-BF16, added to f32. A pair is a lane of 32 bits; how the
 * instruction rounds, matmul_vdpbf16_ref.c says. */

/* n floats as bf16, to nearest, half to even; to[n ..], up to a multiple of 32, are zero. */
static INFK_INLINE void vb_round(infk_b2 *to, const float *x, ptrdiff_t n) {
    ptrdiff_t i = 0;
    for (; n - i >= 32; i += 32)
        _mm512_storeu_si512(to + i, (__m512i)_mm512_cvtne2ps_pbh(v_load(x + i + 16), v_load(x + i)));
    if (i == n) return;
    const vf16x low = n - i < 16 ? v_load_tail(x + i, n - i) : v_load(x + i);
    const vf16x high = n - i > 16 ? v_load_tail(x + i + 16, n - i - 16) : v_zero();
    _mm512_storeu_si512(to + i, (__m512i)_mm512_cvtne2ps_pbh(high, low));
}
/* Steps k and k + 1 of a panel, 16 outputs each, as pairs; and the last of an odd number, with zeros. */
static INFK_INLINE vi16x vb_steps(const infk_b2 *p) {
    const __m512i order = _mm512_set_epi32(0x1f000f, 0x1e000e, 0x1d000d, 0x1c000c, 0x1b000b,
                                           0x1a000a, 0x190009, 0x180008, 0x170007, 0x160006, 0x150005,
                                           0x140004, 0x130003, 0x120002, 0x110001, 0x100000);
    return _mm512_permutexvar_epi16(order, _mm512_loadu_si512(p));
}
static INFK_INLINE vi16x vb_last_step(const infk_b2 *p) {
    return _mm512_cvtepu16_epi32(_mm256_loadu_si256((const __m256i *)(const void *)p));
}
/* A pair in every lane. */
static INFK_INLINE vi16x vb_set1(const infk_b2 *p) {
    return vi_set1(*(const infk_i4 *)(const void *)p);
}
static INFK_INLINE vf16x vb_dot(vf16x acc, vi16x w, vi16x x) {
    return _mm512_dpbf16_ps(acc, (__m512bh)w, (__m512bh)x);
}
