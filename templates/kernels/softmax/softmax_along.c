/* softmax of rows that lie element after element (inner = 1), in 16 lanes; see softmax_ref.c. The exponentials of rows
 * of up to KEPT elements are kept; of longer ones they are computed twice, for the sum and for the result. The maximum
 * is that of four, since it does not matter which of equal ones it is. */
enum { INFK_PART(kept) = 1024 };
static INFK_INLINE vf16x INFK_PART(row_max)(const T *p, ptrdiff_t whole, ptrdiff_t rest) {
    const vf16x none = v_set1(ACC_LOWEST);
    vf16x m0 = none, m1 = none, m2 = none, m3 = none;
    ptrdiff_t r = 0;
    for (; r + 64 <= whole; r += 64) {
        m0 = v_max_nan(m0, v_load(p + r));
        m1 = v_max_nan(m1, v_load(p + r + 16));
        m2 = v_max_nan(m2, v_load(p + r + 32));
        m3 = v_max_nan(m3, v_load(p + r + 48));
    }
    for (; r < whole; r += 16) m0 = v_max_nan(m0, v_load(p + r));
    if (rest) m1 = v_max_nan(m1, v_first(rest, v_load_tail(p + whole, rest), none));
    return v_set1(v_hmax(v_max_nan(v_max_nan(m0, m1), v_max_nan(m2, m3))));
}

static INFK_INLINE void INFK(softmax)(const infk_softmax_dims *d, const T *x, const EPI_TYPE *e,
                                      ptrdiff_t begin, ptrdiff_t end) {
    const ptrdiff_t whole = d->r / 16 * 16, rest = d->r - whole;
    const int keeps = d->r <= INFK_PART(kept);
    T kept[INFK_PART(kept)];
    for (ptrdiff_t outer = begin; outer < end; outer++) {
        const T *p = x + outer * d->r;
        const vf16x max = INFK_PART(row_max)(p, whole, rest);
        vf16x sum = v_zero();
        for (ptrdiff_t r = 0; r < whole; r += 16) {
            const vf16x power = v_exp(v_sub(v_load(p + r), max));
            if (keeps) v_store(kept + r, power);
            sum = v_add(sum, power);
        }
        vf16x last = v_zero();
        if (rest) last = v_exp(v_sub(v_load_tail(p + whole, rest), max));
        sum = v_set1(v_sum(v_add(sum, v_first(rest, last, v_zero()))));
        for (ptrdiff_t r = 0; r < whole; r += 16) {
            const vf16x power = keeps ? v_load(kept + r) : v_exp(v_sub(v_load(p + r), max));
            EPI(v_div(power, sum), outer * d->r + r, outer, r);
        }
        if (rest) EPI_TAIL(v_div(last, sum), outer * d->r + whole, outer, whole, rest);
    }
}
