/* resize: the nearest pixel, or linear between the two or four around the source: a + f * (b - a) with one fma, along
 * rows first, then down. Sources beyond the image take its edge. */
static INFK_INLINE float INFK_PART(source)(ptrdiff_t o, ptrdiff_t half, float num, float den) {
    const float b = half ? 0.5f : 0.0f;
    return ((float)o + b) * num / den - b;
}
static INFK_INLINE float INFK_PART(num)(ptrdiff_t by, ptrdiff_t num, ptrdiff_t in, ptrdiff_t out) {
    if (by == 2) return (float)(out > 1 ? in - 1 : 0);
    return by == 1 ? 1.0f : (float)num;
}
static INFK_INLINE float INFK_PART(den)(ptrdiff_t by, ptrdiff_t den, ptrdiff_t in, ptrdiff_t out) {
    if (by == 2) return (float)(out > 1 ? out - 1 : 1);
    return by == 1 ? (float)out / (float)in : s_float((uint32_t)den);
}
/* The source rounded as `pick` says, within 0 .. last. */
static INFK_INLINE ptrdiff_t INFK_PART(near)(float source, ptrdiff_t pick, ptrdiff_t last) {
    const float at = pick == 2   ? s_ceil(source)
                     : pick == 3 ? s_ceil(source - 0.5f)
                     : pick == 4 ? s_floor(source + 0.5f)
                                 : s_floor(source);
    return (ptrdiff_t)s_max(0.0f, s_min(at, (float)last));
}

static INFK_INLINE void INFK(resize)(const infk_resize_dims *d, const T *x, const EPI_TYPE *e,
                                     ptrdiff_t begin, ptrdiff_t end) {
    const ptrdiff_t blocks = (d->c + 15) / 16;
    const float h_num = INFK_PART(num)(d->h_by, d->h_num, d->ih, d->oh);
    const float h_den = INFK_PART(den)(d->h_by, d->h_den, d->ih, d->oh);
    const float w_num = INFK_PART(num)(d->w_by, d->w_num, d->iw, d->ow);
    const float w_den = INFK_PART(den)(d->w_by, d->w_den, d->iw, d->ow);
    for (ptrdiff_t unit = begin; unit < end; unit++) {
        const ptrdiff_t row = unit % d->oh, block = unit / d->oh % blocks, image = unit / d->oh / blocks;
        const ptrdiff_t lanes = d->c - block * 16 < 16 ? d->c - block * 16 : 16;
        const float h = INFK_PART(source)(row, d->h_half, h_num, h_den);
        const ptrdiff_t top = INFK_PART(near)(h, d->h_pick, d->ih - 1), low = top + (top < d->ih - 1);
        const float down = s_max(0.0f, s_min(h, (float)(d->ih - 1))) - (float)top;
        for (ptrdiff_t col = 0; col < d->ow; col++) {
            const float v = INFK_PART(source)(col, d->w_half, w_num, w_den);
            const ptrdiff_t left = INFK_PART(near)(v, d->w_pick, d->iw - 1),
                            right = left + (left < d->iw - 1);
            const float across = s_max(0.0f, s_min(v, (float)(d->iw - 1))) - (float)left;
            for (ptrdiff_t lane = 0; lane < lanes; lane++) {
                const T *p = x + image * d->x_batch + block * d->x_block + lane * d->x_lane;
                ACC acc = ld(p, top * d->x_row + left * d->x_col);
                if (d->h_pick == 0) {
                    const ACC b = ld(p, top * d->x_row + right * d->x_col);
                    const ACC a2 = ld(p, low * d->x_row + left * d->x_col);
                    const ACC b2 = ld(p, low * d->x_row + right * d->x_col);
                    acc = s_fma(across, b - acc, acc);
                    acc = s_fma(down, s_fma(across, b2 - a2, a2) - acc, acc);
                }
                EPI(acc, image * d->y_batch + block * d->y_block + lane * d->y_lane + row * d->y_row + col * d->y_col,
                    row * d->ow + col, block * 16 + lane);
            }
        }
    }
}
