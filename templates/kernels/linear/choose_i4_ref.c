/* choose_i4: f32 rows x[n][x_row] to 4 bits, row by row: K64 nibbles, a byte each; K64 / 64 bytes
 * (scale - 1) | zero << 4; the f32 scale of the row; zeros. A weight is row scale * scale * (nibble - zero), scale
 * 1..16 for 64 inputs, zero * scale <= 128 and (15 - zero) * scale <= 127. Weights must be numbers.
 *
 * By search: the row scale is max|w| / 127 or less, so that the largest weights are cut off for the sake of the others;
 * for each, every 64 inputs take the scale and zero of the least squared error among those around their range; the row
 * scale whose errors are least wins, and is then the one that fits its integers best. */
static INFK_INLINE float INFK_PART(block)(const infk_pack_dims *d, const T *x, ptrdiff_t k, float *v) {
    float most = 0.0f;
    for (ptrdiff_t i = 0; i < 64; i++) v[i] = k + i < d->k ? x[k + i] : 0.0f;
    if (d->rotate) s_hadamard(v, 64);
    for (ptrdiff_t i = 0; i < 64; i++) {
        v[i] = d->rotate ? v[i] * 0.125f : v[i];
        most = s_max(s_abs(v[i]), most);
    }
    return most;
}
/* The squared error of values at one step and zero, or with q the nibbles. */
static INFK_INLINE float INFK_PART(error)(const float *v, float step, float zero, int8_t *q) {
    const float by = 1.0f / step;
    float sum = 0.0f;
    for (ptrdiff_t i = 0; i < 64; i++) {
        const float n = s_min(s_max(s_add(s_round(v[i] * by), zero), 0.0f), 15.0f);
        const float off = s_fma(zero - n, step, v[i]);
        sum = s_fma(off, off, sum);
        if (q) q[i] = (int8_t)n;
    }
    return sum;
}
/* The best code of 64 values for a row scale; `wide`: among more. */
static INFK_INLINE int INFK_PART(code)(const float *v, float row_scale, int wide, float *out_error) {
    float low = 0.0f, high = 0.0f, least = INFK_INFINITY;
    int best = 0x70;
    for (ptrdiff_t i = 0; i < 64; i++) {
        low = s_min(v[i], low);
        high = s_max(v[i], high);
    }
    const int covers = (int)s_whole(s_ceil((high - low) / (row_scale * 15.0f)), 1, 16);
    for (int scale = covers; scale > 0 && scale >= covers - 1 - wide; scale--) {
        const float step = row_scale * (float)scale;
        const int middle = (int)s_whole(s_round(7.5f - (low + high) / (step * 2.0f)), -1, 16);
        const int first = 15 - 127 / scale > 0 ? 15 - 127 / scale : 0;
        const int last = 128 / scale < 15 ? 128 / scale : 15;
        const int inside = middle < first ? first : middle > last ? last : middle;
        for (int zero = inside - wide; zero <= inside + wide; zero++) {
            if (zero < first || zero > last) continue;
            const float error = INFK_PART(error)(v, step, (float)zero, (int8_t *)0);
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
    float v[64], most = 0.0f, best = 0.0f, least = INFK_INFINITY;
    for (ptrdiff_t g = 0; g < groups; g++) most = s_max(INFK_PART(block)(d, x, g * 64, v), most);
    if (most < 0x1p-100f) return 0.0f;
    for (int cut = 0; cut < 4; cut++) {
        const float row_scale = most / 127.0f * (1.0f - 0.125f * (float)cut);
        float total = 0.0f, error;
        for (ptrdiff_t g = 0; g < groups && total < least; g++) {
            INFK_PART(block)(d, x, g * 64, v);
            INFK_PART(code)(v, row_scale, 0, &error);
            total += error;
        }
        if (!(total < least)) continue;
        least = total;
        best = row_scale;
    }
    return best;
}

static INFK_INLINE void INFK(choose_i4)(const infk_pack_dims *d, const T *x, const EPI_TYPE *e,
                                        ptrdiff_t begin, ptrdiff_t end) {
    const ptrdiff_t groups = (d->k + 63) / 64;
    for (ptrdiff_t n = begin; n < end; n++) {
        const float row_scale = INFK_PART(row_scale)(d, x + n * d->x_row);
        int8_t *y = RESULT + n * d->y_row, *codes = y + groups * 64;
        float v[64], error, along = 0.0f, square = 0.0f;
        for (ptrdiff_t g = 0; g < groups; g++) {
            int8_t *q = y + g * 64;
            INFK_PART(block)(d, x + n * d->x_row, g * 64, v);
            const int code = row_scale > 0.0f ? INFK_PART(code)(v, row_scale, 1, &error) : 0;
            const int scale = code % 16 + 1, zero = code / 16;
            if (row_scale > 0.0f) INFK_PART(error)(v, row_scale * (float)scale, (float)zero, q);
            for (ptrdiff_t i = 0; i < 64; i++) {
                if (!(row_scale > 0.0f)) q[i] = 0;
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
