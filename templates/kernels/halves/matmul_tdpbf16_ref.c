/* matmul_tdpbf16: rows are rounded to bf16, and products added as TDPBF16PS does it: of each 32 steps the even and the
 * odd ones apart, in order, from +0, each with fma; the two sums added, and that to what the steps before gave, from
 * +0. What is below 2^-126 is zero, of its sign, before and after each of these (Intel's manual); k is filled up with
 * zeros. */
static INFK_INLINE float INFK_PART(fma)(float a, float b, float c) {
    return s_flush(s_fma(a, b, c));
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
                        const float a = k < d->k ? s_round_bf16(s_flush(ld(row, k))) : 0.0f;
                        const float v =
                            k < d->k ? ldw(w, b * d->w_batch + PANEL(d->k, panel, k, n % 16)) : 0.0f;
                        sums[k % 2] = INFK_PART(fma)(a, s_flush(v), sums[k % 2]);
                    }
                    acc = s_flush(s_add(acc, s_flush(s_add(sums[0], sums[1]))));
                }
                EPI(acc, b * d->y_batch + m * d->y_row + n, b * d->m + m, n);
            }
    }
}
