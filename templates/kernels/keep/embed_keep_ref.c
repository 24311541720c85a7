/* embed_keep: rows of a packed table, one for each index; scale * (part * q) + min with one fma. */
static INFK_INLINE void INFK(embed_keep)(const infk_keep_dims *d, const T *x, const W *w,
                                         const EPI_TYPE *e, ptrdiff_t begin, ptrdiff_t end) {
    const ptrdiff_t span = s_keep_span(d->format), size = s_keep_panel(d->format, d->k);
    for (ptrdiff_t m = begin; m < end; m++) {
        const ptrdiff_t row = (ptrdiff_t)ld(x, m), n = row % 16;
        for (ptrdiff_t g = 0; g < d->k / 32; g++) {
            const W *b = w + row / 16 * size + g / span * s_keep_block(d->format);
            const float scale = s_keep_scale(d->format, b, g % span, n);
            const float min = s_keep_min(d->format, b, g % span, n);
            for (ptrdiff_t i = 0; i < 32; i++) {
                const int32_t part = s_keep_part(d->format, b, g % span, n, i / 16);
                const float q = (float)(part * s_keep_q(d->format, b, g % span, n, i));
                EPI(s_fma(scale, q, min), m * d->y_row + g * 32 + i, m, g * 32 + i);
            }
        }
    }
}
