/* imatmul: each output starts at its panel's value and adds int16 products along k; wraps as int32. */
static INFK_INLINE void INFK(imatmul)(const infk_matmul_dims *d, const T *x, const W *w,
                                      const EPI_TYPE *e, ptrdiff_t begin, ptrdiff_t end) {
    const ptrdiff_t panels = (d->n + 15) / 16;
    for (ptrdiff_t unit = begin; unit < end; unit++) {
        const ptrdiff_t panel = unit % panels, b = unit / panels;
        const ptrdiff_t last = d->n < panel * 16 + 16 ? d->n : panel * 16 + 16;
        const W *p = w + b * d->w_batch + IPANEL(ISTEPS(d->k), panel);
        for (ptrdiff_t m = 0; m < d->m; m++)
            for (ptrdiff_t n = panel * 16; n < last; n++) {
                uint32_t acc = (uint32_t)ISTART(p, n % 16);
                for (ptrdiff_t k = 0; k < d->k; k++)
                    acc += (uint32_t)(ld(x, b * d->a_batch + m * d->a_row + k) * ld(p, IAT(k, n % 16)));
                EPI((ACC)acc, b * d->y_batch + m * d->y_row + n, b * d->m + m, n);
            }
    }
}
