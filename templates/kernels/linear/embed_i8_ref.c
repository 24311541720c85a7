/* embed_i8: column `token` of panels as linear_i8 has them: q * scale, or with rotate the exact integers that the
 * transform makes of each 64 values q, times scale / 8. */
static INFK_INLINE void INFK(embed_i8)(const infk_embed_dims *d, const T *x, const W *w,
                                       const EPI_TYPE *e, ptrdiff_t begin, ptrdiff_t end) {
    const ptrdiff_t groups = (d->k + 63) / 64;
    for (ptrdiff_t t = begin; t < end; t++) {
        const W *panel = w + x[t] / 16 * d->w_panel;
        const ptrdiff_t lane = x[t] % 16;
        const float scale = s_float(((const infk_b4 *)(const void *)(panel + d->w_panel - 64))[lane]);
        for (ptrdiff_t g = 0; g < groups; g++) {
            float v[64];
            for (ptrdiff_t i = 0; i < 64; i++)
                v[i] = (float)panel[(g * 16 + i / 4) * 64 + lane * 4 + i % 4];
            if (d->rotate) s_hadamard(v, 64);
            for (ptrdiff_t i = 0; i < 64 && g * 64 + i < d->k; i++)
                EPI(v[i] * (d->rotate ? scale * 0.125f : scale), t * d->k + g * 64 + i, t, g * 64 + i);
        }
    }
}
