/* norm: d = x - mean (or x), times 1 / sqrt(mean(d^2) + epsilon). Both sums in 16 lanes by index mod 16, then the
 * fixed tree; the squares are added with fma. */
static INFK_INLINE ACC INFK_PART(tree)(ACC *sum) {
    for (ptrdiff_t half = 8; half > 0; half /= 2)
        for (ptrdiff_t l = 0; l < half; l++) sum[l] += sum[l + half];
    return sum[0];
}

static INFK_INLINE void INFK(norm)(const infk_norm_dims *d, const T *x, const EPI_TYPE *e,
                                   ptrdiff_t begin, ptrdiff_t end) {
    for (ptrdiff_t outer = begin; outer < end; outer++) {
        const T *p = x + outer * d->r;
        ACC sum[16] = {0}, square[16] = {0}, mean = 0;
        if (d->center) {
            for (ptrdiff_t r = 0; r < d->r; r++) sum[r % 16] += ld(p, r);
            mean = INFK_PART(tree)(sum) / (ACC)d->r;
        }
        for (ptrdiff_t r = 0; r < d->r; r++)
            square[r % 16] = s_fma(ld(p, r) - mean, ld(p, r) - mean, square[r % 16]);
        const ACC variance = INFK_PART(tree)(square) / (ACC)d->r;
        const ACC scale = s_div(s_set1(1.0f), s_sqrt(variance + s_float((uint32_t)d->epsilon)));
        for (ptrdiff_t r = 0; r < d->r; r++)
            EPI((ld(p, r) - mean) * scale, outer * d->r + r, outer, r);
    }
}
