/* ipack_matmul: plain [batch][k][n] and the start of each column's sum to panels of 16 columns: 16 starts, then
 * [ISTEPS(k) / 2][16][2]; columns beyond n and the step beyond an odd k are 0. */
static INFK_INLINE void INFK(ipack_matmul)(const infk_relayout_dims *d, const T *x, const W *w,
                                           const EPI_TYPE *e, ptrdiff_t begin, ptrdiff_t end) {
    const ptrdiff_t panels = (d->c + 15) / 16, steps = ISTEPS(d->k), wide = 4 / (ptrdiff_t)sizeof(T);
    for (ptrdiff_t unit = begin; unit < end; unit++) {
        const ptrdiff_t panel = unit % panels, matrix = unit / panels, at = IPANEL(steps, unit);
        for (ptrdiff_t lane = 0; lane < 16; lane++) {
            const ptrdiff_t n = panel * 16 + lane;
            const uint32_t start = n < d->c ? (uint32_t)ld(w, n) : 0;
            for (ptrdiff_t i = 0; i < wide; i++)
                EPI((T)(start >> (i * 32 / wide)), at + lane * wide + i, i, n);
            for (ptrdiff_t k = 0; k < steps; k++)
                EPI(k < d->k && n < d->c ? ld(x, (matrix * d->k + k) * d->c + n) : (T)0,
                    at + IAT(k, lane), k, n);
        }
    }
}
