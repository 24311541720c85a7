/* gather: rows by index. Negative indices count from the end. Whoever calls has checked that all lie in
 * [-extent, extent). */
static INFK_INLINE void INFK(gather)(const infk_gather_dims *d, const T *x, const W *w,
                                     const EPI_TYPE *e, ptrdiff_t begin, ptrdiff_t end) {
    for (ptrdiff_t unit = begin; unit < end; unit++) {
        const ptrdiff_t outer = unit / d->n;
        ptrdiff_t row = (ptrdiff_t)w[unit % d->n];
        if (row < 0) row += d->extent;
        const T *p = x + (outer * d->extent + row) * d->inner;
        for (ptrdiff_t i = 0; i < d->inner; i++) EPI(ld(p, i), unit * d->inner + i, unit, i);
    }
}
