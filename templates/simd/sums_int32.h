/* sums_int32.h - sums of products with nibbles where a product adds four inputs to int32 at once: sums are what they
 * are, scales too. See bytes_generic.h. */
static INFK_INLINE vi16x vi_begin(vi16x start) { return start; }
static INFK_INLINE vi16x vi_end(vi16x sums, vi16x start) {
    (void)start;
    return sums;
}
static INFK_INLINE vi16x vi_group_scales(vi16x scales) { return scales; }
static INFK_INLINE vi16x vi_add_group(vi16x acc, vi16x sums, vi16x scales) {
    return vi_add(acc, vi_mul(sums, scales));
}
