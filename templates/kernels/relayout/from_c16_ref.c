/* from_c16: [batch][ceil(c/16)][hw][16] to plain [batch][c][hw]; pad lanes are not read. */
static INFK_INLINE void INFK(from_c16)(const infk_relayout_dims *d, const T *x, const EPI_TYPE *e,
                                       ptrdiff_t begin, ptrdiff_t end) {
    const ptrdiff_t blocks = (d->c + 15) / 16;
    for (ptrdiff_t unit = begin; unit < end; unit++) {
        const ptrdiff_t block = unit % blocks, image = unit / blocks;
        const ptrdiff_t lanes = d->c - block * 16 < 16 ? d->c - block * 16 : 16;
        for (ptrdiff_t lane = 0; lane < lanes; lane++)
            for (ptrdiff_t i = 0; i < d->hw; i++)
                EPI(ld(x, (unit * d->hw + i) * 16 + lane),
                    (image * d->c + block * 16 + lane) * d->hw + i, i, block * 16 + lane);
    }
}
