/* matmul_tdpbf16: rows are rounded to bf16, and products added as TDPBF16PS does it: of each 32 steps the even and the
 * odd ones apart, in order, from +0, each with fma; the two sums added, and that to what the steps before gave, from
 * +0. What is below 2^-126 is zero, of its sign, before and after each of these (Intel's manual); k is filled up with
 * zeros. */
static INFK_INLINE float INFK_PART(flush)(float a) {
    return s_abs(a) < 0x1p-126f ? s_copysign(0.0f, a) : a;
}
/* To nearest, half to even. */
static INFK_INLINE float INFK_PART(round)(float a) {
    const uint32_t bits = s_bits(INFK_PART(flush)(a));
    if ((bits & 0x7fffffffu) > 0x7f800000u) return s_float(0x7fc00000u);
    return s_float((bits + 0x7fffu + (bits >> 16 & 1u)) & 0xffff0000u);
}
static INFK_INLINE float INFK_PART(fma)(float a, float b, float c) {
    return INFK_PART(flush)(s_fma(a, b, c));
}

static INFK_INLINE void INFK(matmul_tdpbf16)(const infk_matmul_dims *d, const T *x, const W *w,
                                             const EPI_TYPE *e, ptrdiff_t begin, ptrdiff_t end) {
    const ptrdiff_t panels = (d->n + 15) / 16;
    for (ptrdiff_t unit = begin; unit < end; unit++) {
        const ptrdiff_t panel = unit % panels, b = unit / panels;
        const ptrdiff_t last = d->n < panel * 16 + 16 ? d->n : panel * 16 + 16;
        for (ptrdiff_t m = 0; m < d->m; m++)
            for (ptrdiff_t n = panel * 16; n < last; n++) {
                const T *row = x + b * d->a_batch + m * d->a_row;
                ACC acc = 0;
                for (ptrdiff_t from = 0; from < d->k; from += 32) {
                    float sums[2] = {0.0f, 0.0f};
                    for (ptrdiff_t k = from; k < from + 32; k++) {
                        const float a = k < d->k ? INFK_PART(round)(ld(row, k)) : 0.0f;
                        const float v =
                            k < d->k ? ldw(w, b * d->w_batch + PANEL(d->k, panel, k, n % 16)) : 0.0f;
                        sums[k % 2] = INFK_PART(fma)(a, INFK_PART(flush)(v), sums[k % 2]);
                    }
                    acc = INFK_PART(flush)(s_add(acc, INFK_PART(flush)(s_add(sums[0], sums[1]))));
                }
                EPI(acc, b * d->y_batch + m * d->y_row + n, b * d->m + m, n);
            }
    }
}
