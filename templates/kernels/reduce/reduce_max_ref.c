/* reduce_max: 16 partial maxima by index mod 16, then the fixed tree; or in order (dims lanes = 0). NaN wins. */
static INFK_INLINE void INFK(reduce_max)(const infk_reduce_dims *d, const T *x, const EPI_TYPE *e,
                                         ptrdiff_t begin, ptrdiff_t end) {
    const ptrdiff_t lanes = d->lanes ? 16 : 1;
    for (ptrdiff_t outer = begin; outer < end; outer++)
        for (ptrdiff_t i = 0; i < d->inner; i++) {
            ACC acc[16];
            for (ptrdiff_t l = 0; l < 16; l++) acc[l] = ACC_LOWEST;
            for (ptrdiff_t r = 0; r < d->r; r++)
                acc[r % lanes] = ACC_MAX(acc[r % lanes], ld(x, (outer * d->r + r) * d->inner + i));
            for (ptrdiff_t half = lanes / 2; half > 0; half /= 2)
                for (ptrdiff_t l = 0; l < half; l++) acc[l] = ACC_MAX(acc[l], acc[l + half]);
            EPI(acc[0], outer * d->inner + i, outer, i);
        }
}
