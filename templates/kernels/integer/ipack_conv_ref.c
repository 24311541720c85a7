/* ipack_conv: plain [o][ic][kh*kw] and the start of each output's sum to panels of 16 outputs: 16 starts, then
 * [steps / 2][16][2], steps in the order in which iconv visits them: input block of 16, tap, channel of the block;
 * a step of zeros follows an odd number of channels. */
static INFK_INLINE void INFK(ipack_conv)(const infk_relayout_dims *d, const T *x, const W *w,
                                         const EPI_TYPE *e, ptrdiff_t begin, ptrdiff_t end) {
    const ptrdiff_t steps = d->hw * ISTEPS(d->k), wide = 4 / (ptrdiff_t)sizeof(T);
    for (ptrdiff_t panel = begin; panel < end; panel++)
        for (ptrdiff_t lane = 0; lane < 16; lane++) {
            const ptrdiff_t o = panel * 16 + lane, at = IPANEL(steps, panel);
            const uint32_t start = o < d->c ? (uint32_t)ld(w, o) : 0;
            for (ptrdiff_t i = 0; i < wide; i++)
                EPI((T)(start >> (i * 32 / wide)), at + lane * wide + i, i, o);
            for (ptrdiff_t k = 0; k < steps; k++) {
                const ptrdiff_t ib = k / (16 * d->hw) * 16, depth = d->k - ib < 16 ? d->k - ib : 16;
                const ptrdiff_t rest = k - ib * d->hw, tap = rest / ISTEPS(depth), i = rest % ISTEPS(depth);
                const int inside = i < depth && o < d->c;
                EPI(inside ? ld(x, (o * d->k + ib + i) * d->hw + tap) : (T)0, at + IAT(k, lane), k, o);
            }
        }
}
