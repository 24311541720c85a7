/* pad: index i of y along an axis, as one of x; outside of 0..extent-1 only in mode 0. */
static INFK_INLINE ptrdiff_t INFK_PART(source)(ptrdiff_t i, ptrdiff_t before, ptrdiff_t extent, ptrdiff_t mode) {
    const ptrdiff_t j = i - before, last = extent - 1;
    if (mode == 1) return j < 0 ? 0 : j > last ? last : j;
    if (mode == 2) return j < 0 ? -j : j > last ? 2 * last - j : j;
    return j;
}

static INFK_INLINE void INFK(pad)(const infk_pad_dims *d, const T *x, const EPI_TYPE *e,
                                  ptrdiff_t begin, ptrdiff_t end) {
    for (ptrdiff_t unit = begin; unit < end; unit++) {
        const ptrdiff_t j0 = INFK_PART(source)(unit / d->n1, d->b0, d->x0, d->mode);
        const ptrdiff_t j1 = INFK_PART(source)(unit % d->n1, d->b1, d->x1, d->mode);
        const int inside = j0 >= 0 && j0 < d->x0 && j1 >= 0 && j1 < d->x1;
        for (ptrdiff_t i2 = 0; i2 < d->n2; i2++) {
            const ptrdiff_t j2 = INFK_PART(source)(i2, d->b2, d->x2, d->mode);
            const int row = inside && j2 >= 0 && j2 < d->x2;
            for (ptrdiff_t i3 = 0; i3 < d->n3; i3++) {
                const ptrdiff_t j3 = INFK_PART(source)(i3, d->b3, d->x3, d->mode);
                const ptrdiff_t at = ((j0 * d->x1 + j1) * d->x2 + j2) * d->x3 + j3;
                const ptrdiff_t n = i2 * d->n3 + i3;
                EPI(row && j3 >= 0 && j3 < d->x3 ? ld(x, at) : (T)d->fill, unit * d->n2 * d->n3 + n, unit, n);
            }
        }
    }
}
