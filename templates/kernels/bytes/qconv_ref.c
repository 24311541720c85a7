/* qconv: each output starts at its panel's value and adds (x - *u2) * w; wraps as int32. Taps in the padding are
 * skipped: it stands for the zero point. Channels of x are counted over all groups, weights within a group; fewer than
 * four channels at the end of a block are followed by steps of zeros. */
static INFK_INLINE void INFK(qconv)(const infk_conv_dims *d, const T *x, const W *w, const T *u2,
                                    const EPI_TYPE *e, ptrdiff_t begin, ptrdiff_t end) {
    const ptrdiff_t blocks = (d->oc + 15) / 16, taps = d->kh * d->kw, inner = taps * QSTEPS(d->ic);
    for (ptrdiff_t unit = begin; unit < end; unit++) {
        const ptrdiff_t row = unit % d->oh, block = unit / d->oh % blocks, image = unit / d->oh / blocks;
        const ptrdiff_t last = d->oc < block * 16 + 16 ? d->oc : block * 16 + 16;
        const W *panel = w + QPANEL(inner, block);
        for (ptrdiff_t col = 0; col < d->ow; col++)
            for (ptrdiff_t c = block * 16; c < last; c++) {
                const ptrdiff_t first = c / (d->oc / d->groups) * d->ic;
                uint32_t acc = (uint32_t)QSTART(panel, c % 16);
                for (ptrdiff_t tap = 0; tap < taps; tap++) {
                    const ptrdiff_t h = row * d->sh - d->ph + tap / d->kw * d->dh;
                    const ptrdiff_t v = col * d->sw - d->pw + tap % d->kw * d->dw;
                    if (h < 0 || h >= d->ih || v < 0 || v >= d->iw) continue;
                    for (ptrdiff_t i = 0; i < d->ic; i++) {
                        const ptrdiff_t ib = i / 16 * 16, depth = d->ic - ib < 16 ? d->ic - ib : 16;
                        const ptrdiff_t k = ib * taps + tap * QSTEPS(depth) + i % 16, ch = first + i;
                        const T *p = x + image * d->x_batch + ch / 16 * d->x_block +
                                     ch % 16 * d->x_lane + h * d->x_row + v * d->x_col;
                        acc += (uint32_t)((ld(p, 0) - u2[0]) * ld(panel, QAT(k, c % 16)));
                    }
                }
                EPI((ACC)acc,
                    image * d->y_batch + block * d->y_block + c % 16 * d->y_lane + row * d->y_row + col * d->y_col,
                    row * d->ow + col, c);
            }
    }
}
