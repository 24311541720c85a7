/* iconv with one input and one output channel a group, over blocks of 16 channels: a lane of x, widened, meets the pair
 * (weight, 0). Pad lanes of the last block are read, computed and not stored. */
static INFK_INLINE void INFK(iconv)(const infk_conv_dims *d, const T *x, const W *w,
                                    const EPI_TYPE *e, ptrdiff_t begin, ptrdiff_t end) {
    const ptrdiff_t blocks = (d->oc + 15) / 16, inner = d->kh * d->kw * 2;
    for (ptrdiff_t unit = begin; unit < end; unit++) {
        const ptrdiff_t row = unit % d->oh, block = unit / d->oh % blocks, image = unit / d->oh / blocks;
        const T *xb = x + image * d->x_batch + block * d->x_block;
        const W *panel = w + IPANEL(inner, block);
        for (ptrdiff_t col = 0; col < d->ow; col++) {
            vi16x a = VI_START(panel);
            for (ptrdiff_t r = 0; r < d->kh; r++) {
                const ptrdiff_t h = row * d->sh - d->ph + r * d->dh;
                if (h < 0 || h >= d->ih) continue;
                for (ptrdiff_t s = 0; s < d->kw; s++) {
                    const ptrdiff_t v = col * d->sw - d->pw + s * d->dw;
                    if (v < 0 || v >= d->iw) continue;
                    a = vi_dot2(a, vi_load_i16(xb + h * d->x_row + v * d->x_col),
                                VI_LDW(panel, (r * d->kw + s) * 2));
                }
            }
            const ptrdiff_t o = image * d->y_batch + block * d->y_block + row * d->y_row + col * d->y_col;
            if (d->oc - block * 16 >= 16) EPI(a, o, row * d->ow + col, block * 16);
            else EPI_TAIL(a, o, row * d->ow + col, block * 16, d->oc - block * 16);
        }
    }
}
