/* matmul_bfdot: rows are rounded to bf16, and products added as Arm's BFDOT and BFMMLA do it (FPCR.EBF 0): by pairs of
 * steps, from +0, the two products, their sum, and that added, each rounded to odd: cut to 24 bits, the last of them
 * set where something was cut off. What is below 2^-126 before that is zero, of its sign; k is filled up with zeros. */
/* `more`: something of the sign of a that is less than its last bit was left out. */
static INFK_INLINE float INFK_PART(odd)(double a, int more) {
    union {
        double f;
        uint64_t u;
    } both;
    both.f = a;
    const uint32_t sign = (uint32_t)(both.u >> 32) & 0x80000000u;
    const uint64_t size = both.u & 0x7fffffffffffffffu;
    if (size >= 0x7ff0000000000000u) return (float)a;
    if (size < 0x3810000000000000u) return s_float(sign);                /* 2^-126 */
    if (size >= 0x47f0000000000000u) return s_float(sign | 0x7f800000u); /* 2^128 */
    const uint32_t cut = (uint32_t)((size - 0x3800000000000000u) >> 29);
    return s_float(sign | cut | ((size & 0x1fffffffu) != 0 || more));
}
static INFK_INLINE float INFK_PART(add)(float a, float b) {
    const double x = a, y = b, sum = x + y, seen = sum - x, error = (x - (sum - seen)) + (y - seen);
    union {
        double f;
        uint64_t u;
    } toward;
    toward.f = sum;
    if (error != error) return (float)sum; /* infinite, or no number */
    /* It was rounded away from zero: cut instead. */
    if ((error > 0.0 && sum < 0.0) || (error < 0.0 && sum > 0.0)) toward.u--;
    return INFK_PART(odd)(toward.f, error > 0.0 || error < 0.0);
}
static INFK_INLINE float INFK_PART(mul)(float a, float b) {
    return INFK_PART(odd)((double)a * (double)b, 0);
}

static INFK_INLINE void INFK(matmul_bfdot)(const infk_matmul_dims *d, const T *x, const W *w,
                                           const EPI_TYPE *e, ptrdiff_t begin, ptrdiff_t end) {
    const ptrdiff_t panels = (d->n + 15) / 16;
    for (ptrdiff_t unit = begin; unit < end; unit++) {
        const ptrdiff_t panel = unit % panels, b = unit / panels;
        const ptrdiff_t last = d->n < panel * 16 + 16 ? d->n : panel * 16 + 16;
        for (ptrdiff_t m = 0; m < d->m; m++)
            for (ptrdiff_t n = panel * 16; n < last; n++) {
                const T *row = x + b * d->a_batch + m * d->a_row;
                ACC acc = 0;
                for (ptrdiff_t pair = 0; pair < d->k; pair += 2) {
                    float products[2] = {0.0f, 0.0f};
                    for (ptrdiff_t i = 0; i < 2 && pair + i < d->k; i++) {
                        const float a = s_round_bf16(ld(row, pair + i));
                        const float v = ldw(w, b * d->w_batch + PANEL(d->k, panel, pair + i, n % 16));
                        products[i] = INFK_PART(mul)(s_flush(a), s_flush(v));
                    }
                    acc = INFK_PART(add)(acc, INFK_PART(add)(products[0], products[1]));
                }
                EPI(acc, b * d->y_batch + m * d->y_row + n, b * d->m + m, n);
            }
    }
}
