/* pack_matmul: plain [batch][k][n] to panels of 16 columns; columns are padded to 16 and inner steps to PANEL_K,
 * with zeros. */
static INFK_INLINE void INFK(pack_matmul)(const infk_relayout_dims *d, const T *x,
                                          const EPI_TYPE *e, ptrdiff_t begin, ptrdiff_t end) {
    const ptrdiff_t panels = (d->c + 15) / 16;
    for (ptrdiff_t unit = begin; unit < end; unit++) {
        const ptrdiff_t panel = unit % panels, matrix = unit / panels;
        for (ptrdiff_t k = 0; k < PANEL_K(d->k); k++)
            for (ptrdiff_t lane = 0; lane < 16; lane++) {
                const ptrdiff_t n = panel * 16 + lane;
                EPI(k < d->k && n < d->c ? ld(x, (matrix * d->k + k) * d->c + n) : (T)0,
                    PANEL(d->k, unit, k, lane), k, n);
            }
    }
}
