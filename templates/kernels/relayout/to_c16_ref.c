/* to_c16: plain [batch][c][hw] to [batch][ceil(c/16)][hw][16]; pad lanes are not written. */
static INFK_INLINE void INFK(to_c16)(const infk_relayout_dims *d, const T *x, const EPI_TYPE *e,
                                     ptrdiff_t begin, ptrdiff_t end) {
    const ptrdiff_t blocks = (d->c + 15) / 16;
    for (ptrdiff_t unit = begin; unit < end; unit++) {
        const ptrdiff_t block = unit % blocks, image = unit / blocks;
        const ptrdiff_t lanes = d->c - block * 16 < 16 ? d->c - block * 16 : 16;
        for (ptrdiff_t i = 0; i < d->hw; i++)
            for (ptrdiff_t lane = 0; lane < lanes; lane++)
                EPI(ld(x, (image * d->c + block * 16 + lane) * d->hw + i),
                    (unit * d->hw + i) * 16 + lane, i, block * 16 + lane);
    }
}
