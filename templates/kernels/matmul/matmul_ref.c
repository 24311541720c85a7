/* matmul: accumulates from +0 with fma along k. */
static INFK_INLINE void INFK(matmul)(const infk_matmul_dims *d, const T *x, const W *w,
                                     const EPI_TYPE *e, ptrdiff_t begin, ptrdiff_t end) {
    const ptrdiff_t panels = (d->n + 15) / 16;
    for (ptrdiff_t unit = begin; unit < end; unit++) {
        const ptrdiff_t panel = unit % panels, b = unit / panels;
        const ptrdiff_t last = d->n < panel * 16 + 16 ? d->n : panel * 16 + 16;
        for (ptrdiff_t m = 0; m < d->m; m++)
            for (ptrdiff_t n = panel * 16; n < last; n++) {
                ACC acc = 0;
                for (ptrdiff_t k = 0; k < d->k; k++)
                    acc = s_fma(ld(x, b * d->a_batch + m * d->a_row + k),
                                ldw(w, b * d->w_batch + PANEL(d->k, panel, k, n % 16)), acc);
                EPI(acc, b * d->y_batch + m * d->y_row + n, b * d->m + m, n);
            }
    }
}
