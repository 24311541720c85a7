/* top with k = 1, 16 neighbours at a time. */
static INFK_INLINE vf16x INFK_PART(best)(const infk_top_dims *d, const T *p, ptrdiff_t lanes) {
    vf16x value = v_zero(), best = v_zero();
    for (ptrdiff_t r = 0; r < d->r; r++) {
        const T *at = p + r * d->inner;
        vf16x v = lanes == 16 ? v_load(at) : v_load_tail(at, lanes);
        if (d->least) v = v_neg(v);
        const vf16x here = v_set1((float)r);
        if (r == 0) value = v;
        else if (d->last) {
            best = v_select_gt(value, v, best, here);
            value = v_select_gt(value, v, value, v);
        } else {
            best = v_select_gt(v, value, here, best);
            value = v_select_gt(v, value, v, value);
        }
    }
    return best;
}

static INFK_INLINE void INFK(top)(const infk_top_dims *d, const T *x, const EPI_TYPE *e,
                                  ptrdiff_t begin, ptrdiff_t end) {
    for (ptrdiff_t outer = begin; outer < end; outer++)
        for (ptrdiff_t i = 0; i < d->inner; i += 16) {
            const T *p = x + outer * d->r * d->inner + i;
            const ptrdiff_t lanes = d->inner - i < 16 ? d->inner - i : 16;
            const vf16x best = INFK_PART(best)(d, p, lanes);
            if (lanes == 16) EPI(best, outer * d->inner + i, outer, i);
            else EPI_TAIL(best, outer * d->inner + i, outer, i, lanes);
        }
}
