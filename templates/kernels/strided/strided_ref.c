/* strided: copies elements from anywhere in x: transpose, slice, expand, and each operand of a concat. */
static INFK_INLINE void INFK(strided)(const infk_strided_dims *d, const T *x, const EPI_TYPE *e,
                                      ptrdiff_t begin, ptrdiff_t end) {
    for (ptrdiff_t unit = begin; unit < end; unit++) {
        const ptrdiff_t p = d->base + unit / d->d1 * d->s0 + unit % d->d1 * d->s1;
        ptrdiff_t n = 0;
        for (ptrdiff_t i2 = 0; i2 < d->d2; i2++)
            for (ptrdiff_t i3 = 0; i3 < d->d3; i3++)
                for (ptrdiff_t i4 = 0; i4 < d->d4; i4++)
                    for (ptrdiff_t i5 = 0; i5 < d->d5; i5++, n++)
                        EPI(ld(x, p + i2 * d->s2 + i3 * d->s3 + i4 * d->s4 + i5 * d->s5),
                            d->y_base + unit * d->y_unit + n, unit, n);
    }
}
