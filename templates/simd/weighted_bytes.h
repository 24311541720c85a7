/* weighted_bytes.h - signed bytes times weights of 14 bits as dot products of bytes, the upper and the lower 7 bits of
 * weights apart. See bytes_generic.h. */
typedef vi16x vi_quad;
typedef struct vi_weighted {
    vi16x upper, lower;
} vi_weighted;
static INFK_INLINE vi_weighted vi_weighted_none(void) {
    const vi_weighted r = {vi_zero(), vi_zero()};
    return r;
}
static INFK_INLINE vi_quad vi_load_quad(const int8_t *p) { return vi_bytes(vi_load_bytes(p)); }
static INFK_INLINE vi_weighted vi_weigh(vi_weighted acc, vi_quad a, const int16_t *weights, ptrdiff_t k) {
    const int8_t *bytes = (const int8_t *)(const void *)(weights + 2 * k);
    acc.upper = vi_dot_bytes(acc.upper, a, vi_four(bytes));
    acc.lower = vi_dot_bytes(acc.lower, a, vi_four(bytes + 16));
    return acc;
}
static INFK_INLINE vi16x vi_weighted_sum(vi_weighted acc, int32_t all_weights) {
    return vi_add(vi_add(vi_shl(acc.upper, 7), acc.lower), vi_set1(-VI_BYTES_BIAS * all_weights));
}
