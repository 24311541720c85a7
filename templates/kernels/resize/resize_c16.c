/* resize of blocks of 16 channels; see resize_ref.c. Pad lanes of the last block are read and not stored. */
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
        const float h = INFK_PART(source)(row, d->h_half, h_num, h_den);
        const ptrdiff_t top = INFK_PART(near)(h, d->h_pick, d->ih - 1), low = top + (top < d->ih - 1);
        const vf16x down = v_set1(s_max(0.0f, s_min(h, (float)(d->ih - 1))) - (float)top);
        const T *p = x + image * d->x_batch + block * d->x_block;
        for (ptrdiff_t col = 0; col < d->ow; col++) {
            const float v = INFK_PART(source)(col, d->w_half, w_num, w_den);
            const ptrdiff_t left = INFK_PART(near)(v, d->w_pick, d->iw - 1),
                            right = left + (left < d->iw - 1);
            const vf16x across = v_set1(s_max(0.0f, s_min(v, (float)(d->iw - 1))) - (float)left);
            vf16x a = v_load(p + top * d->x_row + left * d->x_col);
            if (d->h_pick == 0) {
                const vf16x b = v_load(p + top * d->x_row + right * d->x_col);
                const vf16x a2 = v_load(p + low * d->x_row + left * d->x_col);
                const vf16x b2 = v_load(p + low * d->x_row + right * d->x_col);
                a = v_fma(across, v_sub(b, a), a);
                a = v_fma(down, v_sub(v_fma(across, v_sub(b2, a2), a2), a), a);
            }
            const ptrdiff_t o = image * d->y_batch + block * d->y_block + row * d->y_row + col * d->y_col;
            if (d->c - block * 16 >= 16) EPI(a, o, row * d->ow + col, block * 16);
            else EPI_TAIL(a, o, row * d->ow + col, block * 16, d->c - block * 16);
        }
    }
}
