/* lstm: with a = x + (the sum of h * w with fma from +0, k in order), gates i, o, f, c:
 *   i = f(a_i + P_i * c)   f = f(a_f + P_f * c), or 1 - i   c' = f * c + i * g(a_c)
 *   o = f(a_o + P_o * c')  h' = o * q(c')
 * where each "+ P * c" and "f * c + .." is one fma. With `rounded`, the sums take h on 256 even steps between its
 * extremes. A row past its length gives zeros and keeps its state. */
static INFK_INLINE ACC INFK_PART(sum)(const infk_recurrent_dims *d, const T *x, const W *w,
                                      const ACC *h, ptrdiff_t g, ptrdiff_t n) {
    ACC acc = 0;
    for (ptrdiff_t k = 0; k < d->h; k++)
        acc = s_fma(h[k], ldw(w, PANEL(d->h, (g * d->hp + n) / 16, k, n % 16)), acc);
    return s_add(ld(x, g * d->hp + n), acc);
}

/* One hidden unit of one step: the new h; c is replaced. */
static INFK_INLINE ACC INFK_PART(unit)(const infk_recurrent_dims *d, const T *x, const W *w,
                                       const T *aux, const ACC *h, ACC *c, ptrdiff_t n) {
    ACC i = INFK_PART(sum)(d, x, w, h, 0, n), o = INFK_PART(sum)(d, x, w, h, 1, n);
    ACC f = INFK_PART(sum)(d, x, w, h, 2, n), g = INFK_PART(sum)(d, x, w, h, 3, n);
    if (d->extra) i = s_fma(ld(aux, n), c[n], i);
    i = s_activate(d->f, d->f_alpha, d->f_beta, d->clip, i);
    if (d->extra) f = s_fma(ld(aux, 2 * d->hp + n), c[n], f);
    f = d->coupled ? s_sub(1.0f, i) : s_activate(d->f, d->f_alpha, d->f_beta, d->clip, f);
    g = s_activate(d->g, d->g_alpha, d->g_beta, d->clip, g);
    c[n] = s_fma(f, c[n], s_mul(i, g));
    if (d->extra) o = s_fma(ld(aux, d->hp + n), c[n], o);
    o = s_activate(d->f, d->f_alpha, d->f_beta, d->clip, o);
    return s_mul(o, s_activate(d->q, d->q_alpha, d->q_beta, 0, c[n]));
}

static INFK_INLINE void INFK(lstm)(const infk_recurrent_dims *d, const T *x, const W *w, const T *h0,
                                   const T *c0, const T *aux, const T *lens, float *scratch,
                                   const EPI_TYPE *e, ptrdiff_t begin, ptrdiff_t end) {
    for (ptrdiff_t unit = begin; unit < end; unit++) {
        const ptrdiff_t dir = unit / d->batch, b = unit % d->batch, y_step = d->dirs * d->batch * d->h;
        const ptrdiff_t len = s_length(ld(lens, b), d->t);
        ACC *h = scratch + unit * 4 * d->hp, *next = h + d->hp, *c = h + 2 * d->hp;
        ACC *seen = d->rounded ? h + 3 * d->hp : h;
        for (ptrdiff_t n = 0; n < d->h; n++) {
            h[n] = ld(h0, unit * d->h + n);
            c[n] = ld(c0, unit * d->h + n);
        }
        for (ptrdiff_t s = 0; s < d->t; s++) {
            const ptrdiff_t t = s < len && d->reverse != dir ? len - 1 - s : s;
            const ptrdiff_t row = (t * d->batch + b) * d->dirs + dir;
            if (d->rounded) s_steps(h, d->h, seen);
            for (ptrdiff_t n = 0; n < d->h; n++) {
                next[n] = 0;
                if (s < len)
                    next[n] = INFK_PART(unit)(d, x + row * 4 * d->hp,
                                              w + PANEL(d->h, dir * 4 * d->hp / 16, 0, 0),
                                              aux + (d->extra ? dir * 3 * d->hp : 0), seen, c, n);
                EPI(next[n], t * y_step + unit * d->h + n, t * d->dirs * d->batch + unit, n);
            }
            for (ptrdiff_t n = 0; n < d->h && s < len; n++) h[n] = next[n];
        }
        for (ptrdiff_t n = 0; n < d->h; n++) {
            EPI(h[n], d->t * y_step + unit * d->h + n, d->t * d->dirs * d->batch + unit, n);
            EPI(c[n], (d->t + 1) * y_step + unit * d->h + n, (d->t + 1) * d->dirs * d->batch + unit, n);
        }
    }
}
