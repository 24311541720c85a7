/* conv: accumulates from +0 with fma in the order input block of 16, kernel row, kernel column, channel in the
 * block; taps in the padding are skipped. Channels of x are counted over all groups, weights within a group. */
static INFK_INLINE void INFK(conv)(const infk_conv_dims *d, const T *x, const W *w,
                                   const EPI_TYPE *e, ptrdiff_t begin, ptrdiff_t end) {
    const ptrdiff_t blocks = (d->oc + 15) / 16, taps = d->kh * d->kw, inner = d->ic * taps;
    for (ptrdiff_t unit = begin; unit < end; unit++) {
        const ptrdiff_t row = unit % d->oh, block = unit / d->oh % blocks, image = unit / d->oh / blocks;
        const ptrdiff_t last = d->oc < block * 16 + 16 ? d->oc : block * 16 + 16;
        for (ptrdiff_t col = 0; col < d->ow; col++)
            for (ptrdiff_t c = block * 16; c < last; c++) {
                const ptrdiff_t first = c / (d->oc / d->groups) * d->ic;
                ACC acc = 0;
                for (ptrdiff_t ib = 0; ib < d->ic; ib += 16) {
                    const ptrdiff_t depth = d->ic - ib < 16 ? d->ic - ib : 16;
                    for (ptrdiff_t r = 0; r < d->kh; r++) {
                        const ptrdiff_t h = row * d->sh - d->ph + r * d->dh;
                        if (h < 0 || h >= d->ih) continue;
                        for (ptrdiff_t s = 0; s < d->kw; s++) {
                            const ptrdiff_t v = col * d->sw - d->pw + s * d->dw;
                            if (v < 0 || v >= d->iw) continue;
                            for (ptrdiff_t i = 0; i < depth; i++) {
                                const ptrdiff_t k = ib * taps + (r * d->kw + s) * depth + i,
                                                ch = first + ib + i;
                                const T *p = x + image * d->x_batch + ch / 16 * d->x_block +
                                             ch % 16 * d->x_lane + h * d->x_row + v * d->x_col;
                                acc = s_fma(ld(p, 0), ldw(w, PANEL(inner, block, k, c % 16)), acc);
                            }
                        }
                    }
                }
                EPI(acc, image * d->y_batch + block * d->y_block + c % 16 * d->y_lane + row * d->y_row + col * d->y_col,
                    row * d->ow + col, c);
            }
    }
}
