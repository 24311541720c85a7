/* qpack_matmul: plain [batch][k][n], u8 less 128, and the start of each column's sum to panels of 16 columns: 16
 * starts, 16 sums over k, then [QSTEPS(k) / 4][16][4]; columns beyond n and steps beyond k are 0. */
static INFK_INLINE void INFK(qpack_matmul)(const infk_relayout_dims *d, const T *x, const W *w,
                                           const EPI_TYPE *e, ptrdiff_t begin, ptrdiff_t end) {
    const ptrdiff_t panels = (d->c + 15) / 16, steps = QSTEPS(d->k);
    for (ptrdiff_t unit = begin; unit < end; unit++) {
        const ptrdiff_t panel = unit % panels, matrix = unit / panels, at = QPANEL(steps, unit);
        for (ptrdiff_t lane = 0; lane < 16; lane++) {
            const ptrdiff_t n = panel * 16 + lane;
            const uint32_t start = n < d->c ? (uint32_t)ld(w, n) : 0;
            uint32_t sum = 0;
            for (ptrdiff_t k = 0; k < steps; k++) {
                const int q = k < d->k && n < d->c ? ld(x, (matrix * d->k + k) * d->c + n) - QMIDDLE : 0;
                sum += (uint32_t)q;
                EPI((int8_t)q, at + QAT(k, lane), k, n);
            }
            for (int i = 0; i < 4; i++) {
                EPI((int8_t)(start >> 8 * i), at + lane * 4 + i, i, n);
                EPI((int8_t)(sum >> 8 * i), at + 64 + lane * 4 + i, i, n);
            }
        }
    }
}
