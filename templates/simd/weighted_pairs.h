/* weighted_pairs.h - signed bytes times weights of 14 bits as products of int16 in pairs. See bytes_generic.h; the
 * level has vi_even_pair and vi_odd_pair. */
typedef struct vi_quad {
    vi16x even, odd; /* bytes 0 and 2, and 1 and 3, of each lane as int16 */
} vi_quad;
typedef vi16x vi_weighted;
static INFK_INLINE vi_weighted vi_weighted_none(void) { return vi_zero(); }
static INFK_INLINE vi_quad vi_load_quad(const int8_t *p) {
    const vi16x words = vi_load_bytes(p);
    vi_quad r;
    r.even = vi_even_pair(words);
    r.odd = vi_odd_pair(words);
    return r;
}
static INFK_INLINE vi_weighted vi_weigh(vi_weighted acc, vi_quad a, const int16_t *weights, ptrdiff_t k) {
    return vi_dot2(vi_dot2(acc, a.even, vi_pair(weights + 2 * k)), a.odd, vi_pair(weights + 2 * k + 8));
}
static INFK_INLINE vi16x vi_weighted_sum(vi_weighted acc, int32_t all_weights) {
    (void)all_weights;
    return acc;
}
