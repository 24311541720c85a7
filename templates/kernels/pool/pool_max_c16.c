/* pool_max over blocks of 16 channels, see pool_max_ref.c. Pad lanes of the last block are read and not stored. */
static INFK_INLINE void INFK(pool_max)(const infk_pool_dims *d, const T *x, const EPI_TYPE *e,
                                       ptrdiff_t begin, ptrdiff_t end) {
    const ptrdiff_t blocks = (d->c + 15) / 16;
    for (ptrdiff_t unit = begin; unit < end; unit++) {
        const ptrdiff_t row = unit % d->oh, block = unit / d->oh % blocks, image = unit / d->oh / blocks;
        const T *p = x + image * d->x_batch + block * d->x_block;
        for (ptrdiff_t col = 0; col < d->ow; col++) {
            vf16x a = v_set1(ACC_LOWEST);
            for (ptrdiff_t r = 0; r < d->kh; r++) {
                const ptrdiff_t h = row * d->sh - d->ph + r * d->dh;
                if (h < 0 || h >= d->ih) continue;
                for (ptrdiff_t s = 0; s < d->kw; s++) {
                    const ptrdiff_t v = col * d->sw - d->pw + s * d->dw;
                    if (v < 0 || v >= d->iw) continue;
                    a = v_max_nan(a, v_load(p + h * d->x_row + v * d->x_col));
                }
            }
            const ptrdiff_t o = image * d->y_batch + block * d->y_block + row * d->y_row + col * d->y_col;
            if (d->c - block * 16 >= 16) EPI(a, o, row * d->ow + col, block * 16);
            else EPI_TAIL(a, o, row * d->ow + col, block * 16, d->c - block * 16);
        }
    }
}
