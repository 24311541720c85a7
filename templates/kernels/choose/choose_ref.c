/* choose: all of x or all of u, by one truth value. */
static INFK_INLINE void INFK(choose)(const infk_choose_dims *d, const T *x, const W *w, const T *u,
                                     const EPI_TYPE *e, ptrdiff_t begin, ptrdiff_t end) {
    const T *p = w[0] ? x : u;
    const ptrdiff_t last = end * 16 < d->n ? end * 16 : d->n;
    for (ptrdiff_t i = begin * 16; i < last; i++) EPI(ld(p, i), i, 0, i);
}
