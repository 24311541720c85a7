/* pool_avg over blocks of 16 channels, see pool_avg_ref.c. Pad lanes of the last block are read and not stored. */
static INFK_INLINE void INFK(pool_avg)(const infk_pool_dims *d, const T *x, const EPI_TYPE *e,
                                       ptrdiff_t begin, ptrdiff_t end) {
    const ptrdiff_t blocks = (d->c + 15) / 16;
    for (ptrdiff_t unit = begin; unit < end; unit++) {
        const ptrdiff_t row = unit % d->oh, block = unit / d->oh % blocks, image = unit / d->oh / blocks;
        const T *p = x + image * d->x_batch + block * d->x_block;
        for (ptrdiff_t col = 0; col < d->ow; col++) {
            vf16x a = v_zero();
            ptrdiff_t count = 0;
            for (ptrdiff_t r = 0; r < d->kh; r++) {
                const ptrdiff_t h = row * d->sh - d->ph + r * d->dh;
                for (ptrdiff_t s = 0; s < d->kw; s++) {
                    const ptrdiff_t v = col * d->sw - d->pw + s * d->dw;
                    const int inside = h >= 0 && h < d->ih && v >= 0 && v < d->iw;
                    if (inside) a = v_add(a, v_load(p + h * d->x_row + v * d->x_col));
                    count += inside || (d->count_pad && h < d->ih + d->eh && v < d->iw + d->ew);
                }
            }
            const ptrdiff_t o = image * d->y_batch + block * d->y_block + row * d->y_row + col * d->y_col;
            a = v_div(a, v_set1((float)count));
            if (d->c - block * 16 >= 16) EPI(a, o, row * d->ow + col, block * 16);
            else EPI_TAIL(a, o, row * d->ow + col, block * 16, d->c - block * 16);
        }
    }
}
