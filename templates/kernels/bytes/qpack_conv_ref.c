/* qpack_conv: plain [o][ic][kh*kw] and the start of each output's sum to panels of 16 outputs: 16 starts, 16 sums over
 * all steps, then [steps / 4][16][4], steps in the order in which qconv visits them: input block of 16, tap, channel of
 * the block; steps of zeros fill up the last four channels. */
static INFK_INLINE void INFK(qpack_conv)(const infk_relayout_dims *d, const T *x, const W *w,
                                         const EPI_TYPE *e, ptrdiff_t begin, ptrdiff_t end) {
    const ptrdiff_t steps = d->hw * QSTEPS(d->k);
    for (ptrdiff_t panel = begin; panel < end; panel++)
        for (ptrdiff_t lane = 0; lane < 16; lane++) {
            const ptrdiff_t o = panel * 16 + lane, at = QPANEL(steps, panel);
            const uint32_t start = o < d->c ? (uint32_t)ld(w, o) : 0;
            uint32_t sum = 0;
            for (ptrdiff_t k = 0; k < steps; k++) {
                const ptrdiff_t ib = k / (16 * d->hw) * 16, depth = d->k - ib < 16 ? d->k - ib : 16;
                const ptrdiff_t rest = k - ib * d->hw, tap = rest / QSTEPS(depth), i = rest % QSTEPS(depth);
                const int inside = i < depth && o < d->c;
                const int q = inside ? ld(x, (o * d->k + ib + i) * d->hw + tap) - QMIDDLE : 0;
                sum += (uint32_t)q;
                EPI((int8_t)q, at + QAT(k, lane), k, o);
            }
            for (int i = 0; i < 4; i++) {
                EPI((int8_t)(start >> 8 * i), at + lane * 4 + i, i, o);
                EPI((int8_t)(sum >> 8 * i), at + 64 + lane * 4 + i, i, o);
            }
        }
}
