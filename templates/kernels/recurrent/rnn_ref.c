/* rnn: h' = f(x + the sum of h * w), the sum with fma from +0, k in order. A row past its length gives zeros and keeps
 * its state. */
static INFK_INLINE void INFK(rnn)(const infk_recurrent_dims *d, const T *x, const W *w, const T *h0,
                                  const T *lens, float *scratch, const EPI_TYPE *e, ptrdiff_t begin,
                                  ptrdiff_t end) {
    for (ptrdiff_t unit = begin; unit < end; unit++) {
        const ptrdiff_t dir = unit / d->batch, b = unit % d->batch, y_step = d->dirs * d->batch * d->h;
        const ptrdiff_t len = s_length(ld(lens, b), d->t);
        ACC *h = scratch + unit * 2 * d->hp, *next = h + d->hp;
        for (ptrdiff_t n = 0; n < d->h; n++) h[n] = ld(h0, unit * d->h + n);
        for (ptrdiff_t s = 0; s < d->t; s++) {
            const ptrdiff_t t = s < len && d->reverse != dir ? len - 1 - s : s;
            const T *xt = x + ((t * d->batch + b) * d->dirs + dir) * d->hp;
            for (ptrdiff_t n = 0; n < d->h; n++) {
                ACC acc = 0;
                for (ptrdiff_t k = 0; k < d->h; k++)
                    acc = s_fma(h[k], ldw(w, PANEL(d->h, (dir * d->hp + n) / 16, k, n % 16)), acc);
                next[n] = s_activate(d->f, d->f_alpha, d->f_beta, d->clip, s_add(ld(xt, n), acc));
                if (s >= len) next[n] = 0;
                EPI(next[n], t * y_step + unit * d->h + n, t * d->dirs * d->batch + unit, n);
            }
            for (ptrdiff_t n = 0; n < d->h && s < len; n++) h[n] = next[n];
        }
        for (ptrdiff_t n = 0; n < d->h; n++)
            EPI(h[n], d->t * y_step + unit * d->h + n, d->t * d->dirs * d->batch + unit, n);
    }
}
