/* softmax of 16 neighbours at a time (inner > 1); see softmax_ref.c. */
static INFK_INLINE vf16x INFK_PART(get)(const T *p, ptrdiff_t lanes) {
    return lanes == 16 ? v_load(p) : v_load_tail(p, lanes);
}

static INFK_INLINE void INFK_PART(column)(const infk_softmax_dims *d, const T *p, const EPI_TYPE *e,
                                          ptrdiff_t outer, ptrdiff_t i, ptrdiff_t lanes) {
    vf16x max = v_set1(ACC_LOWEST), sum[16];
    for (ptrdiff_t l = 0; l < 16; l++) sum[l] = v_zero();
    for (ptrdiff_t r = 0; r < d->r; r++)
        max = v_max_nan(max, INFK_PART(get)(p + r * d->inner, lanes));
    for (ptrdiff_t r = 0; r < d->r; r++)
        sum[r % 16] = v_add(sum[r % 16], v_exp(v_sub(INFK_PART(get)(p + r * d->inner, lanes), max)));
    for (ptrdiff_t half = 8; half > 0; half /= 2)
        for (ptrdiff_t l = 0; l < half; l++) sum[l] = v_add(sum[l], sum[l + half]);
    for (ptrdiff_t r = 0; r < d->r; r++) {
        const vf16x y = v_div(v_exp(v_sub(INFK_PART(get)(p + r * d->inner, lanes), max)), sum[0]);
        const ptrdiff_t o = (outer * d->r + r) * d->inner + i, n = r * d->inner + i;
        if (lanes == 16) EPI(y, o, outer, n);
        else EPI_TAIL(y, o, outer, n, lanes);
    }
}

static INFK_INLINE void INFK(softmax)(const infk_softmax_dims *d, const T *x, const EPI_TYPE *e,
                                      ptrdiff_t begin, ptrdiff_t end) {
    for (ptrdiff_t outer = begin; outer < end; outer++) {
        const T *p = x + outer * d->r * d->inner;
        ptrdiff_t i = 0;
        for (; i + 16 <= d->inner; i += 16) INFK_PART(column)(d, p + i, e, outer, i, 16);
        if (i < d->inner) INFK_PART(column)(d, p + i, e, outer, i, d->inner - i);
    }
}
