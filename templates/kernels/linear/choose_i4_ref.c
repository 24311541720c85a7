/* choose_i4: f32 rows x[n][x_row] to 4 bits, row by row: K64 nibbles, a byte each; K64 / 64 bytes
 * (scale - 1) | zero << 4; the f32 scale of the row; zeros. A weight is row scale * scale * (nibble - zero), scale
 * 1..16 for 64 inputs, zero * scale <= 128 and (15 - zero) * scale <= 127. Weights must be numbers.
 *
 * By search: the row scale is max|w| / 127 or less, so that the largest weights are cut off for the sake of the others;
 * for each, every 64 inputs take the scale and zero of the least squared error among those around their range; the row
 * scale whose errors are least wins, and is then the one that fits its integers best. */
static INFK_INLINE float INFK_PART(block)(const infk_pack_dims *d, const T *x, ptrdiff_t k, float *v) {
    const ptrdiff_t block = s_rotate_most(d->rotate), at = k / block * block,
                    n = s_rotate_size(d->rotate, (d->k + 63) / 64 * 64 - at);
    float all[128], most = 0.0f;
    for (ptrdiff_t i = 0; i < n; i++) all[i] = at + i < d->k ? x[at + i] : 0.0f;
    s_rotate(all, n, d->rotate);
    for (ptrdiff_t i = 0; i < 64; i++) {
        v[i] = all[k - at + i] * s_rotated_weight(d->rotate);
        most = s_max(s_abs(v[i]), most);
    }
    return most;
}
static INFK_INLINE float INFK_PART(nibble)(float v, float by, float zero) {
    return s_min(s_max(s_add(s_round(v * by), zero), 0.0f), 15.0f);
}
/* The squared error of values at one step and zero; in 16 partial sums, which compilers make vectors of. */
static INFK_INLINE float INFK_PART(error)(const float *v, float step, float zero) {
    const float by = 1.0f / step;
    float sum[16] = {0};
    for (ptrdiff_t i = 0; i < 64; i += 16)
        for (ptrdiff_t l = 0; l < 16; l++) {
            const float off = s_fma(zero - INFK_PART(nibble)(v[i + l], by, zero), step, v[i + l]);
            sum[l] = s_fma(off, off, sum[l]);
        }
    for (ptrdiff_t half = 8; half > 0; half /= 2)
        for (ptrdiff_t l = 0; l < half; l++) sum[l] += sum[l + half];
    return sum[0];
}
/* The least and the largest of 64 values, and 0. */
static INFK_INLINE void INFK_PART(range)(const float *v, float *out_low, float *out_high) {
    float low[16] = {0}, high[16] = {0};
    for (ptrdiff_t i = 0; i < 64; i += 16)
        for (ptrdiff_t l = 0; l < 16; l++) {
            low[l] = s_min(v[i + l], low[l]);
            high[l] = s_max(v[i + l], high[l]);
        }
    *out_low = *out_high = 0.0f;
    for (ptrdiff_t l = 0; l < 16; l++) {
        *out_low = s_min(low[l], *out_low);
        *out_high = s_max(high[l], *out_high);
    }
}
/* The best code of 64 values from low to high for a row scale; `wide`: among more. */
static INFK_INLINE int INFK_PART(code)(const float *v, float low, float high, float row_scale,
                                       int wide, float *out_error) {
    float least = INFK_INFINITY;
    int best = 0x70;
    const int covers = (int)s_whole(s_ceil((high - low) / (row_scale * 15.0f)), 1, 16);
    for (int scale = covers; scale > 0 && scale >= covers - 1 - wide; scale--) {
        const float step = row_scale * (float)scale;
        const int middle = (int)s_whole(s_round(7.5f - (low + high) / (step * 2.0f)), -1, 16);
        const int first = 15 - 127 / scale > 0 ? 15 - 127 / scale : 0;
        const int last = 128 / scale < 15 ? 128 / scale : 15;
        const int inside = middle < first ? first : middle > last ? last : middle;
        for (int zero = inside - wide; zero <= inside + wide; zero++) {
            if (zero < first || zero > last) continue;
            const float error = INFK_PART(error)(v, step, (float)zero);
            if (!(error < least)) continue;
            least = error;
            best = (scale - 1) | zero << 4;
        }
    }
    *out_error = least;
    return best;
}
static INFK_INLINE float INFK_PART(row_scale)(const infk_pack_dims *d, const T *x) {
    const ptrdiff_t groups = (d->k + 63) / 64;
    float v[64], low, high, error, most = 0.0f, best = 0.0f, least = INFK_INFINITY, scales[4],
                                   totals[4] = {0};
    for (ptrdiff_t g = 0; g < groups; g++) most = s_max(INFK_PART(block)(d, x, g * 64, v), most);
    if (most < 0x1p-100f) return 0.0f;
    for (int cut = 0; cut < 4; cut++) scales[cut] = most / 127.0f * (1.0f - 0.125f * (float)cut);
    for (ptrdiff_t g = 0; g < groups; g++) {
        INFK_PART(block)(d, x, g * 64, v);
        INFK_PART(range)(v, &low, &high);
        for (int cut = 0; cut < 4; cut++) {
            INFK_PART(code)(v, low, high, scales[cut], 0, &error);
            totals[cut] += error;
        }
    }
    for (int cut = 0; cut < 4; cut++) {
        if (!(totals[cut] < least)) continue;
        least = totals[cut];
        best = scales[cut];
    }
    return best;
}

static INFK_INLINE void INFK(choose_i4)(const infk_pack_dims *d, const T *x, const EPI_TYPE *e,
                                        ptrdiff_t begin, ptrdiff_t end) {
    const ptrdiff_t groups = (d->k + 63) / 64;
    for (ptrdiff_t n = begin; n < end; n++) {
        const float row_scale = INFK_PART(row_scale)(d, x + n * d->x_row);
        int8_t *y = RESULT + n * d->y_row, *codes = y + groups * 64;
        float v[64], low, high, error, along = 0.0f, square = 0.0f;
        for (ptrdiff_t g = 0; g < groups; g++) {
            int8_t *q = y + g * 64;
            INFK_PART(block)(d, x + n * d->x_row, g * 64, v);
            INFK_PART(range)(v, &low, &high);
            const int code = row_scale > 0.0f ? INFK_PART(code)(v, low, high, row_scale, 1, &error) : 0;
            const int scale = code % 16 + 1, zero = code / 16;
            const float by = 1.0f / (row_scale * (float)scale);
            for (ptrdiff_t i = 0; i < 64; i++) {
                q[i] = row_scale > 0.0f ? (int8_t)INFK_PART(nibble)(v[i], by, (float)zero) : 0;
                const float whole = (float)(scale * (q[i] - zero));
                along = s_fma(v[i], whole, along);
                square = s_fma(whole, whole, square);
            }
            codes[g] = (int8_t)code;
        }
        *(infk_i4 *)(void *)(codes + groups) = (int32_t)s_bits(square > 0.0f ? along / square : 0.0f);
        for (ptrdiff_t i = groups * 65 + 4; i < d->y_row; i++) y[i] = 0;
    }
}
