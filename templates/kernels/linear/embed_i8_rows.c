/* embed_i8 in 16 lanes; see embed_i8_ref.c. */
static INFK_INLINE void INFK(embed_i8)(const infk_embed_dims *d, const T *x, const W *w,
                                       const EPI_TYPE *e, ptrdiff_t begin, ptrdiff_t end) {
    const ptrdiff_t groups = (d->k + 63) / 64;
    for (ptrdiff_t t = begin; t < end; t++) {
        const W *panel = w + x[t] / 16 * d->w_panel;
        const ptrdiff_t lane = x[t] % 16;
        const float scale = s_float(((const infk_b4 *)(const void *)(panel + d->w_panel - 64))[lane]);
        const vf16x by = v_set1(scale * s_rotated_row(d->rotate));
        for (ptrdiff_t g = 0; g < groups; g += 2) {
            const infk_i4 *fours = (const infk_i4 *)(const void *)(panel + g * 1024) + lane;
            const int wide = groups - g > 1;
            infk_i4 column[32] = {0}; /* the 64 or 128 bytes of the column, which lie four by four */
            vf16x v[8];
            INFK_PREFETCH(fours, 2048);
            for (int i = 0; i < (wide ? 32 : 16); i++) column[i] = fours[i * 16];
            for (int i = 0; i < 8; i++)
                v[i] = v_from_int(vi_load_i8((const int8_t *)(const void *)(column + i * 4)));
            v_rotate(v, wide, d->rotate);
            for (int i = 0; i < 8; i++) {
                const ptrdiff_t k = g * 64 + i * 16, left = d->k - k;
                if (left >= 16) EPI(v_mul(v[i], by), t * d->k + k, t, k);
                else if (left > 0) EPI_TAIL(v_mul(v[i], by), t * d->k + k, t, k, left);
            }
        }
    }
}
