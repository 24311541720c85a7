/* gru: with a = x + (the sum of h * w with fma from +0, k in order), gates z, r, and the candidate n:
 *   z = f(a_z)  r = f(a_r)
 *   n = g(x_n + the sum of (r * h) * w), or, with the second bias inside, g(r * (sum + bias) + x_n)
 *   h' = z * (h - n) + n
 * where "r * (..) + x_n" and "z * (..) + n" are one fma each. A row past its length gives zeros and keeps its state. */
static INFK_INLINE ACC INFK_PART(sum)(const infk_recurrent_dims *d, const W *w, const ACC *h,
                                      ptrdiff_t g, ptrdiff_t n) {
    ACC acc = 0;
    for (ptrdiff_t k = 0; k < d->h; k++)
        acc = s_fma(h[k], ldw(w, PANEL(d->h, (g * d->hp + n) / 16, k, n % 16)), acc);
    return acc;
}

static INFK_INLINE void INFK_PART(step)(const infk_recurrent_dims *d, const T *x, const W *w,
                                        const T *aux, const ACC *h, ACC *z, ACC *rh, ACC *next) {
    for (ptrdiff_t n = 0; n < d->h; n++) {
        const ACC az = s_add(ld(x, n), INFK_PART(sum)(d, w, h, 0, n));
        const ACC ar = s_add(ld(x, d->hp + n), INFK_PART(sum)(d, w, h, 1, n));
        const ACC r = s_activate(d->f, d->f_alpha, d->f_beta, d->clip, ar);
        z[n] = s_activate(d->f, d->f_alpha, d->f_beta, d->clip, az);
        rh[n] = d->extra ? r : s_mul(r, h[n]);
    }
    for (ptrdiff_t n = 0; n < d->h; n++) {
        const ACC xn = ld(x, 2 * d->hp + n), sum = INFK_PART(sum)(d, w, d->extra ? h : rh, 2, n);
        const ACC a = d->extra ? s_fma(rh[n], s_add(sum, ld(aux, n)), xn) : s_add(xn, sum);
        const ACC candidate = s_activate(d->g, d->g_alpha, d->g_beta, d->clip, a);
        next[n] = s_fma(z[n], s_sub(h[n], candidate), candidate);
    }
}

static INFK_INLINE void INFK(gru)(const infk_recurrent_dims *d, const T *x, const W *w, const T *h0,
                                  const T *aux, const T *lens, float *scratch, const EPI_TYPE *e,
                                  ptrdiff_t begin, ptrdiff_t end) {
    for (ptrdiff_t unit = begin; unit < end; unit++) {
        const ptrdiff_t dir = unit / d->batch, b = unit % d->batch, y_step = d->dirs * d->batch * d->h;
        const ptrdiff_t len = s_length(ld(lens, b), d->t);
        ACC *h = scratch + unit * 4 * d->hp, *next = h + d->hp, *z = h + 2 * d->hp, *rh = h + 3 * d->hp;
        for (ptrdiff_t n = 0; n < d->h; n++) h[n] = ld(h0, unit * d->h + n);
        for (ptrdiff_t s = 0; s < d->t; s++) {
            const ptrdiff_t t = s < len && d->reverse != dir ? len - 1 - s : s;
            const ptrdiff_t row = (t * d->batch + b) * d->dirs + dir;
            for (ptrdiff_t n = 0; n < d->h; n++) next[n] = 0;
            if (s < len)
                INFK_PART(step)(d, x + row * 3 * d->hp, w + PANEL(d->h, dir * 3 * d->hp / 16, 0, 0),
                                aux + (d->extra ? dir * d->hp : 0), h, z, rh, next);
            for (ptrdiff_t n = 0; n < d->h; n++)
                EPI(next[n], t * y_step + unit * d->h + n, t * d->dirs * d->batch + unit, n);
            for (ptrdiff_t n = 0; n < d->h && s < len; n++) h[n] = next[n];
        }
        for (ptrdiff_t n = 0; n < d->h; n++)
            EPI(h[n], d->t * y_step + unit * d->h + n, d->t * d->dirs * d->batch + unit, n);
    }
}
