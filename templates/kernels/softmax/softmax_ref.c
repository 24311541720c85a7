/* softmax: e^(x - max) over its sum along r; the sum in 16 lanes by index mod 16, then the fixed tree. */
static INFK_INLINE void INFK(softmax)(const infk_softmax_dims *d, const T *x, const EPI_TYPE *e,
                                      ptrdiff_t begin, ptrdiff_t end) {
    for (ptrdiff_t outer = begin; outer < end; outer++)
        for (ptrdiff_t i = 0; i < d->inner; i++) {
            const T *p = x + outer * d->r * d->inner + i;
            ACC max = ACC_LOWEST, sum[16] = {0};
            for (ptrdiff_t r = 0; r < d->r; r++) max = ACC_MAX(max, ld(p, r * d->inner));
            for (ptrdiff_t r = 0; r < d->r; r++) sum[r % 16] += s_exp(ld(p, r * d->inner) - max);
            for (ptrdiff_t half = 8; half > 0; half /= 2)
                for (ptrdiff_t l = 0; l < half; l++) sum[l] += sum[l + half];
            for (ptrdiff_t r = 0; r < d->r; r++)
                EPI(s_exp(ld(p, r * d->inner) - max) / sum[0], (outer * d->r + r) * d->inner + i,
                    outer, r * d->inner + i);
        }
}
