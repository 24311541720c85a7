/* embed_i8: column `token` of panels as linear_i8 has them: q * scale, or with rotate what the transform
 * makes of the values q (integers, and in a last block of 64 these times the root of 2), times scale / 16 (scale / 8 of
 * blocks of 64). */
static INFK_INLINE void INFK(embed_i8)(const infk_embed_dims *d, const T *x, const W *w,
                                       const EPI_TYPE *e, ptrdiff_t begin, ptrdiff_t end) {
    const ptrdiff_t groups = (d->k + 63) / 64;
    for (ptrdiff_t t = begin; t < end; t++) {
        const W *panel = w + x[t] / 16 * d->w_panel;
        const ptrdiff_t lane = x[t] % 16;
        const float scale = s_float(((const infk_b4 *)(const void *)(panel + d->w_panel - 64))[lane]);
        for (ptrdiff_t k = 0, n; k < groups * 64; k += n) {
            float v[128];
            n = s_rotate_size(d->rotate, groups * 64 - k);
            for (ptrdiff_t i = 0; i < n; i++)
                v[i] = (float)panel[(k + i) / 4 * 64 + lane * 4 + i % 4];
            s_rotate(v, n, d->rotate);
            for (ptrdiff_t i = 0; i < n && k + i < d->k; i++)
                EPI(v[i] * (scale * s_rotated_row(d->rotate)), t * d->k + k + i, t, k + i);
        }
    }
}
