/* top: which elements along r are the largest k, in order, as whole numbers. Each is the best of those that come after
 * the one before. A NaN is above nothing and nothing is above it. */
static INFK_INLINE void INFK(top)(const infk_top_dims *d, const T *x, const EPI_TYPE *e,
                                  ptrdiff_t begin, ptrdiff_t end) {
    for (ptrdiff_t outer = begin; outer < end; outer++)
        for (ptrdiff_t i = 0; i < d->inner; i++) {
            const T *p = x + outer * d->r * d->inner + i;
            ptrdiff_t before = 0;
            ACC above = 0;
            for (ptrdiff_t k = 0; k < d->k; k++) {
                ptrdiff_t best = -1;
                ACC value = 0;
                for (ptrdiff_t r = 0; r < d->r; r++) {
                    const ACC v = d->least ? s_neg(ld(p, r * d->inner)) : ld(p, r * d->inner);
                    const int behind = d->last ? r < before : r > before;
                    if (k > 0 && !(v < above || (v == above && behind))) continue;
                    if (best >= 0 && !(d->last ? !(value > v) : v > value)) continue;
                    best = r;
                    value = v;
                }
                before = best < 0 ? 0 : best;
                above = value;
                EPI((ACC)before, (outer * d->k + k) * d->inner + i, outer, k * d->inner + i);
            }
        }
}
