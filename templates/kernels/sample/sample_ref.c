/* sample: pixels of an image at computed places, x first. Weights of neighbours times their values, summed by fma over
 * a row and then down. */
/* A place reflected into the image: at its outermost middles with align, else at its edges. */
static INFK_INLINE float INFK_PART(reflect)(float at, ptrdiff_t n, ptrdiff_t align) {
    const float low = align ? 0.0f : -0.5f, range = align ? (float)(n - 1) : (float)n;
    if (!(range > 0.0f)) return 0.0f;
    const float off = s_abs(at - low), turns = s_floor(off / range), rest = off - turns * range;
    const int odd = s_floor(turns * 0.5f) * 2.0f < turns;
    return odd ? range - rest + low : rest + low;
}
static INFK_INLINE float INFK_PART(inside)(const infk_sample_dims *d, float at, ptrdiff_t n) {
    if (d->border == 2) at = INFK_PART(reflect)(at, n, d->align);
    return d->border ? s_max(0.0f, s_min(at, (float)(n - 1))) : at;
}
/* Where -1 .. 1 lies among n pixels; far away and NaN become a place just beyond the image. */
static INFK_INLINE float INFK_PART(place)(const infk_sample_dims *d, float at, ptrdiff_t n) {
    float p = d->align ? (at + 1.0f) * 0.5f * (float)(n - 1) : ((at + 1.0f) * (float)n - 1.0f) * 0.5f;
    if (!(s_abs(p) < 1.0e9f)) p = -9.0f;
    return d->mode == 2 ? p : INFK_PART(inside)(d, p, n);
}
/* Pixel (row, col) of one channel. */
static INFK_INLINE ACC INFK_PART(pixel)(const infk_sample_dims *d, const T *p, float row, float col) {
    if (d->mode == 2) {
        row = INFK_PART(inside)(d, row, d->ih);
        col = INFK_PART(inside)(d, col, d->iw);
    }
    if (!(row >= 0.0f && row <= (float)(d->ih - 1) && col >= 0.0f && col <= (float)(d->iw - 1)))
        return 0.0f;
    return ld(p, (ptrdiff_t)row * d->iw + (ptrdiff_t)col);
}
/* The weights of the neighbours from `first` on. */
static INFK_INLINE ptrdiff_t INFK_PART(weights)(const infk_sample_dims *d, float at, float *first, float *out) {
    const float whole = s_floor(at), f = at - whole, a = -0.75f;
    *first = whole;
    if (d->mode == 0) return *first = s_round(at), out[0] = 1.0f, 1;
    if (d->mode == 1) return out[0] = 1.0f - f, out[1] = f, 2;
    *first = whole - 1.0f;
    const float u = f + 1.0f, v = 1.0f - f, w = v + 1.0f;
    out[0] = ((a * u - 5.0f * a) * u + 8.0f * a) * u - 4.0f * a;
    out[1] = ((a + 2.0f) * f - (a + 3.0f)) * f * f + 1.0f;
    out[2] = ((a + 2.0f) * v - (a + 3.0f)) * v * v + 1.0f;
    out[3] = ((a * w - 5.0f * a) * w + 8.0f * a) * w - 4.0f * a;
    return 4;
}

static INFK_INLINE void INFK(sample)(const infk_sample_dims *d, const T *x, const W *w,
                                     const EPI_TYPE *e, ptrdiff_t begin, ptrdiff_t end) {
    const ptrdiff_t image = d->ih * d->iw, out = d->oh * d->ow;
    for (ptrdiff_t unit = begin; unit < end; unit++) {
        const ptrdiff_t b = unit / d->oh, row = unit % d->oh;
        for (ptrdiff_t col = 0; col < d->ow; col++) {
            const W *g = w + (unit * d->ow + col) * 2;
            float left, top, across[4], down[4];
            const ptrdiff_t n = INFK_PART(weights)(d, INFK_PART(place)(d, g[0], d->iw), &left, across);
            INFK_PART(weights)(d, INFK_PART(place)(d, g[1], d->ih), &top, down);
            for (ptrdiff_t c = 0; c < d->c; c++) {
                const T *p = x + (b * d->c + c) * image;
                ACC acc = 0;
                for (ptrdiff_t i = 0; i < n; i++) {
                    ACC line = 0;
                    for (ptrdiff_t j = 0; j < n; j++)
                        line = s_fma(across[j], INFK_PART(pixel)(d, p, top + (float)i, left + (float)j), line);
                    acc = s_fma(down[i], line, acc);
                }
                EPI(acc, (b * d->c + c) * out + row * d->ow + col, row * d->ow + col, c);
            }
        }
    }
}
