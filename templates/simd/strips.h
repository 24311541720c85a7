/* strips.h - rows as int16 times panels of int8, [pairs][16][2], in strips of which an int32 holds the sum. Over the
 * vocabulary; s_strip and s_dot_strips are the same. */

/* q has room for whole 16; what fills it up is zeros. */
static INFK_INLINE float v_strip(const float *x, ptrdiff_t n, int16_t *q) {
    vf16x lanes = v_zero();
    for (ptrdiff_t i = 0; i < n; i += 16) {
        const vf16x xi = n - i < 16 ? v_load_tail(x + i, n - i) : v_load(x + i);
        lanes = v_max_nan(lanes, v_abs(xi));
    }
    const float most = v_hmax(lanes), step = s_strip_step(most);
    const int number = step >= 0.0f; /* else the values are zeros */
    const vf16x by = v_set1(s_strip_by(most));
    for (ptrdiff_t i = 0; i < n; i += 16) {
        const vf16x xi = n - i < 16 ? v_load_tail(x + i, n - i) : v_load(x + i);
        const vf16x whole = v_round(v_mul(xi, by));
        vi_store_i16(q + i, vi_whole(number ? whole : v_zero()));
    }
    return step;
}
/* Sums of n values of each of up to eight rows, each in a line of q_row, times one panel. What lies
 * `ahead` bytes from it is read soon. */
static INFK_INLINE void v_dots(const int16_t *q, ptrdiff_t q_row, int rows, const int8_t *w,
                               ptrdiff_t n, ptrdiff_t ahead, vi16x *out) {
    vi16x first[8], second[8]; /* one sum alone would wait for itself */
    INFK_UNROLL
    for (int p = 0; p < rows; p++) first[p] = second[p] = vi_zero();
    ptrdiff_t i = 0;
    INFK_PREFETCH_FAR(w, ahead + n * 16); /* scales of the next panel */
    for (; i + 4 <= n; i += 4) {
        const vi16x a = vi_pairs_i8(w + i * 16), b = vi_pairs_i8(w + i * 16 + 32);
        INFK_PREFETCH_FAR(w, ahead + i * 16);
        INFK_UNROLL
        for (int p = 0; p < rows; p++) {
            first[p] = vi_dot2(first[p], a, vi_pair(q + p * q_row + i));
            second[p] = vi_dot2(second[p], b, vi_pair(q + p * q_row + i + 2));
        }
    }
    for (; i < n; i += 2) {
        const vi16x a = vi_pairs_i8(w + i * 16);
        INFK_UNROLL
        for (int p = 0; p < rows; p++) first[p] = vi_dot2(first[p], a, vi_pair(q + p * q_row + i));
    }
    INFK_UNROLL
    for (int p = 0; p < rows; p++) out[p] = vi_add(first[p], second[p]);
}
/* Of one row times four panels, w_panel bytes apart. */
static INFK_INLINE void v_dots_across(const int16_t *q, const int8_t *w, ptrdiff_t w_panel,
                                      ptrdiff_t n, ptrdiff_t ahead, vi16x out[4]) {
    INFK_UNROLL
    for (int p = 0; p < 4; p++) {
        out[p] = vi_zero();
        INFK_PREFETCH_FAR(w, ahead + n * 64 + p * 64); /* scales */
    }
    for (ptrdiff_t i = 0; i < n; i += 2) {
        const vi16x x = vi_pair(q + i);
        INFK_PREFETCH_FAR(w, ahead + i * 64);
        INFK_PREFETCH_FAR(w, ahead + i * 64 + 64);
        INFK_UNROLL
        for (int p = 0; p < 4; p++)
            out[p] = vi_dot2(out[p], vi_pairs_i8(w + p * w_panel + i * 16), x);
    }
}
