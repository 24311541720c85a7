/* matmul_fmaph: sums of 32 steps in f16, and these in f32. A row is multiplied by the power of two that makes its
 * largest magnitude 8 to 16, and rounded to f16; each 32 steps are added in order with fma, from +0, each rounded to
 * f16 (half to even, denormals kept); that, as f32, is added to the sums before, from +0; the whole is divided by the
 * power. Where one of the sums was beyond 65504, or is no number, the output is matmul's instead. */
static INFK_INLINE uint32_t INFK_PART(exponent)(const T *row, ptrdiff_t k) {
    uint32_t most = 0;
    for (ptrdiff_t i = 0; i < k; i++)
        if (s_bits(s_abs(ld(row, i))) > most) most = s_bits(s_abs(ld(row, i)));
    return 257u - (most >> 23) > 253u ? 253u : 257u - (most >> 23);
}
/* The nearest f16, half to even; a sum that is one, or infinite, from 65520 on. */
static INFK_INLINE double INFK_PART(half)(double a) {
    union {
        double f;
        uint64_t u;
    } both;
    const double most = a < 0.0 ? -a : a, unit = 0x1.8p+28; /* its last bit is 2^-24 */
    if (!(most < 65520.0)) return a * 0x1p1000;
    both.f = a;
    if (most >= 0x1p-14) {
        both.u += (UINT64_C(1) << 41) - 1 + (both.u >> 42 & 1);
        both.u &= ~((UINT64_C(1) << 42) - 1);
        return both.f;
    }
    const uint64_t sign = both.u & UINT64_C(0x8000000000000000);
    both.f = (most + unit) - unit;
    both.u |= sign;
    return both.f;
}

static INFK_INLINE void INFK(matmul_fmaph)(const infk_matmul_dims *d, const T *x, const W *w,
                                           const EPI_TYPE *e, ptrdiff_t begin, ptrdiff_t end) {
    const ptrdiff_t panels = (d->n + 15) / 16;
    for (ptrdiff_t unit = begin; unit < end; unit++) {
        const ptrdiff_t panel = unit % panels, b = unit / panels;
        const ptrdiff_t last = d->n < panel * 16 + 16 ? d->n : panel * 16 + 16;
        for (ptrdiff_t m = 0; m < d->m; m++) {
            const T *row = x + b * d->a_batch + m * d->a_row;
            const uint32_t by = INFK_PART(exponent)(row, d->k);
            for (ptrdiff_t n = panel * 16; n < last; n++) {
                ACC acc = 0, plain = 0;
                for (ptrdiff_t from = 0; from < d->k; from += 32) {
                    double sum = 0.0; /* holds a product and what it is added to exactly, or far beyond 11 bits */
                    for (ptrdiff_t k = from; k < from + 32 && k < d->k; k++) {
                        const float v = ldw(w, b * d->w_batch + PANEL(d->k, panel, k, n % 16));
                        const float a = s_mul(ld(row, k), s_float(by << 23));
                        sum = INFK_PART(half)(INFK_PART(half)((double)a) * (double)v + sum);
                        plain = s_fma(ld(row, k), v, plain);
                    }
                    acc = s_add(acc, (float)sum);
                }
                if (s_abs(acc) < INFK_INFINITY) plain = s_mul(acc, s_float((254u - by) << 23));
                EPI(plain, b * d->y_batch + m * d->y_row + n, b * d->m + m, n);
            }
        }
    }
}
