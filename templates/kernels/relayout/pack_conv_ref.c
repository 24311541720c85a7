/* pack_conv: plain [o][ic][kh*kw] to panels, each in the order in which conv visits its weights: input block of 16,
 * tap, channel in the block. Outputs are padded to 16 and inner steps to PANEL_K, with zeros. */
static INFK_INLINE void INFK(pack_conv)(const infk_relayout_dims *d, const T *x, const EPI_TYPE *e,
                                        ptrdiff_t begin, ptrdiff_t end) {
    const ptrdiff_t inner = d->k * d->hw;
    for (ptrdiff_t panel = begin; panel < end; panel++)
        for (ptrdiff_t k = 0; k < PANEL_K(inner); k++) {
            const ptrdiff_t ib = k < inner ? k / (16 * d->hw) * 16 : 0,
                            depth = d->k - ib < 16 ? d->k - ib : 16;
            const ptrdiff_t tap = (k - ib * d->hw) / depth, i = ib + (k - ib * d->hw) % depth;
            for (ptrdiff_t lane = 0; lane < 16; lane++) {
                const ptrdiff_t o = panel * 16 + lane;
                const int inside = k < inner && o < d->c;
                EPI(inside ? ld(x, (o * d->k + i) * d->hw + tap) : (T)0, PANEL(inner, panel, k, lane), k, o);
            }
        }
}
