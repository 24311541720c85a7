/* norm in 16 lanes; see norm_ref.c. */
static INFK_INLINE void INFK(norm)(const infk_norm_dims *d, const T *x, const EPI_TYPE *e,
                                   ptrdiff_t begin, ptrdiff_t end) {
    const ptrdiff_t whole = d->r / 16 * 16, rest = d->r - whole;
    const float count = (float)d->r, epsilon = s_float((uint32_t)d->epsilon);
    for (ptrdiff_t outer = begin; outer < end; outer++) {
        const T *p = x + outer * d->r;
        vf16x sum = v_zero(), square = v_zero(), mean = v_zero(), last = v_zero();
        if (d->center) {
            for (ptrdiff_t r = 0; r < whole; r += 16) sum = v_add(sum, v_load(p + r));
            if (rest) sum = v_add(sum, v_load_tail(p + whole, rest));
            mean = v_set1(v_sum(sum) / count);
        }
        for (ptrdiff_t r = 0; r < whole; r += 16) {
            const vf16x v = v_sub(v_load(p + r), mean);
            square = v_fma(v, v, square);
        }
        if (rest) {
            last = v_first(rest, v_sub(v_load_tail(p + whole, rest), mean), v_zero());
            square = v_fma(last, last, square);
        }
        const vf16x scale = v_set1(1.0f / s_sqrt(v_sum(square) / count + epsilon));
        for (ptrdiff_t r = 0; r < whole; r += 16)
            EPI(v_mul(v_sub(v_load(p + r), mean), scale), outer * d->r + r, outer, r);
        if (rest) EPI_TAIL(v_mul(last, scale), outer * d->r + whole, outer, whole, rest);
    }
}
