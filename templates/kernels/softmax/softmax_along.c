/* softmax of rows that lie element after element (inner = 1), in 16 lanes; see softmax_ref.c. The exponentials are
 * computed twice, for the sum and for the result, since there is nowhere to keep them. */
static INFK_INLINE void INFK(softmax)(const infk_softmax_dims *d, const T *x, const EPI_TYPE *e,
                                      ptrdiff_t begin, ptrdiff_t end) {
    const ptrdiff_t whole = d->r / 16 * 16, rest = d->r - whole;
    const vf16x none = v_set1(ACC_LOWEST);
    for (ptrdiff_t outer = begin; outer < end; outer++) {
        const T *p = x + outer * d->r;
        vf16x max = none, sum = v_zero();
        for (ptrdiff_t r = 0; r < whole; r += 16) max = v_max_nan(max, v_load(p + r));
        if (rest) max = v_max_nan(max, v_first(rest, v_load_tail(p + whole, rest), none));
        max = v_set1(v_hmax(max));
        for (ptrdiff_t r = 0; r < whole; r += 16)
            sum = v_add(sum, v_exp(v_sub(v_load(p + r), max)));
        vf16x last = v_zero();
        if (rest) last = v_exp(v_sub(v_load_tail(p + whole, rest), max));
        sum = v_set1(v_sum(v_add(sum, v_first(rest, last, v_zero()))));
        for (ptrdiff_t r = 0; r < whole; r += 16)
            EPI(v_div(v_exp(v_sub(v_load(p + r), max)), sum), outer * d->r + r, outer, r);
        if (rest) EPI_TAIL(v_div(last, sum), outer * d->r + whole, outer, whole, rest);
    }
}
