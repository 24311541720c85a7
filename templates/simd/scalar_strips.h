/* scalar_strips.h - a strip of a row, up to 512 values, as int16 in proportion to the largest magnitude. Times int8 the
 * sum of a strip is within int32, so that it has the same bits in any order. Infinities and what is no number make the
 * step a NaN, as s_quantize_scale. */
enum { S_STRIP = 512 };
/* How many bytes before their turn panels are fetched, in the order in which they are read: what memory delivers while
 * a row is made ready. */
enum { S_AHEAD = 8192 };
/* Panels that nothing read before announces. */
static INFK_INLINE void s_announce(const int8_t *panels) {
    for (ptrdiff_t i = 0; i < S_AHEAD; i += 64) INFK_PREFETCH_FAR(panels, i);
}

/* What values are multiplied by, and the step that undoes it. */
static INFK_INLINE float s_strip_by(float most) {
    return most < 0x1p-110f ? 0.0f : 32767.0f / most;
}
static INFK_INLINE float s_strip_step(float most) {
    const float step = most < 0x1p-110f ? 0.0f : most / 32767.0f;
    return step < INFK_INFINITY ? step : s_float(0x7fc00000u);
}
static INFK_INLINE float s_strip(const float *x, ptrdiff_t n, int16_t *q) {
    float most = 0.0f;
    for (ptrdiff_t i = 0; i < n; i++) most = s_max_nan(most, s_abs(x[i]));
    const float step = s_strip_step(most), by = s_strip_by(most);
    for (ptrdiff_t i = 0; i < n; i++) q[i] = step >= 0.0f ? (int16_t)s_round(x[i] * by) : 0;
    return step;
}
/* sum, plus the strips of x times one lane of a panel [pairs][16][2], each an exact sum times its step. */
static INFK_INLINE float s_dot_strips(const float *x, ptrdiff_t n, const int8_t *w, float sum) {
    for (ptrdiff_t k = 0; k < n; k += S_STRIP) {
        const ptrdiff_t part = n - k < S_STRIP ? n - k : S_STRIP;
        int16_t q[S_STRIP];
        const float step = s_strip(x + k, part, q);
        int32_t whole = 0;
        for (ptrdiff_t i = 0; i < part; i++) whole += q[i] * w[(k + i) / 2 * 32 + i % 2];
        sum = s_fma((float)whole, step, sum);
    }
    return sum;
}
