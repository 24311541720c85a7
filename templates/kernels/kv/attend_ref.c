/* attend: each head of a row over the positions that it sees: its own and those before it, at most `window`. Positions
 * are taken in parts [256 s, 256 s + 256). A score is the dot product of the records times the steps of k and of q
 * (f16: the sum with fma from +0, elements in order); part by part the maximum, e^(score - maximum), which is 0 below
 * e^-80, summed in 16 lanes by position mod 16, then the fixed tree, and times v with fma from +0, positions in order.
 * Parts are joined in order by their maxima. What comes out is divided by the sum and transformed back.
 * The bits of a result depend on the row's q and position and on the k and v it sees, on nothing else. */
typedef struct INFK_PART(head) {
    const int8_t *q; /* a record */
    const int32_t *blocks;
    const int8_t *parts; /* of block 0 */
} INFK_PART(head);

static INFK_INLINE const int8_t *INFK_PART(part)(const infk_kv_dims *d, const INFK_PART(head) * h,
                                                 ptrdiff_t position) {
    return h->parts + h->blocks[position / 32] * d->block_bytes;
}

static INFK_INLINE float INFK_PART(score)(const infk_kv_dims *d, const INFK_PART(head) * h, ptrdiff_t position) {
    const ptrdiff_t dim = d->head_dim, j = position % 32;
    const int8_t *part = INFK_PART(part)(d, h, position);
    const infk_b2 *halves = (const infk_b2 *)(const void *)part;
    const infk_b4 *scales = (const infk_b4 *)(const void *)(part + 64 * dim);
    const infk_b4 *words = (const infk_b4 *)(const void *)(h->q + (d->format ? 0 : dim));
    float score = 0.0f;
    int32_t dot = 0;
    if (d->format) {
        for (ptrdiff_t c = 0; c < dim; c++)
            score = s_fma(s_float(words[c]), s_from_f16(halves[(j / 16 * dim + c) * 16 + j % 16]), score);
        return score;
    }
    for (ptrdiff_t c = 0; c < dim; c++)
        dot += h->q[c] * part[((j / 16 * (dim / 4) + c / 4) * 16 + j % 16) * 4 + c % 4];
    return s_mul(s_mul((float)dot, s_float(scales[j])), s_float(words[0]));
}

/* Element c of v, times a weight p: p * step and the number of steps, or p and v. */
static INFK_INLINE float INFK_PART(add)(const infk_kv_dims *d, const INFK_PART(head) * h,
                                        ptrdiff_t position, float p, ptrdiff_t c, float acc) {
    const ptrdiff_t dim = d->head_dim, at = (32 + position % 32) * dim + c;
    const int8_t *part = INFK_PART(part)(d, h, position);
    if (d->format) return s_fma(p, s_from_f16(((const infk_b2 *)(const void *)part)[at]), acc);
    const infk_b4 *scales = (const infk_b4 *)(const void *)(part + 64 * dim);
    return s_fma(s_mul(p, s_float(scales[32 + position % 32])), (float)part[at], acc);
}

/* Weights of positions [first, last] of the part at `from`; their sum and the maximum of the scores. */
static INFK_INLINE float INFK_PART(weights)(const infk_kv_dims *d, const INFK_PART(head) * h, ptrdiff_t from,
                                            ptrdiff_t first, ptrdiff_t last, float *s, float *out_max) {
    float sum[16] = {0}, max = s_neg(INFK_INFINITY);
    for (ptrdiff_t j = first; j <= last; j++) {
        s[j] = INFK_PART(score)(d, h, from + j);
        max = s_max_nan(max, s[j]);
    }
    for (ptrdiff_t j = first; j <= last; j++) {
        s[j] = s_exp_share(s_sub(s[j], max));
        sum[j % 16] += s[j];
    }
    for (ptrdiff_t half = 8; half > 0; half /= 2)
        for (ptrdiff_t l = 0; l < half; l++) sum[l] += sum[l + half];
    *out_max = max;
    return sum[0];
}

static INFK_INLINE void INFK_PART(all)(const infk_kv_dims *d, const INFK_PART(head) * h,
                                       ptrdiff_t position, float *y) {
    const ptrdiff_t start = d->window > 0 && position >= d->window ? position - d->window + 1 : 0,
                    dim = d->head_dim;
    const ptrdiff_t lowest = dim & -dim, points = d->format ? 1 : lowest < 64 ? lowest : 64;
    float best = 0.0f, total = 0.0f, s[256];
    for (ptrdiff_t from = start / 256 * 256; from <= position; from += 256) {
        const ptrdiff_t first = from < start ? start - from : 0,
                        last = position - from < 256 ? position - from : 255;
        float max;
        const float sum = INFK_PART(weights)(d, h, from, first, last, s, &max);
        const int joins = from + first > start;
        const float joined = joins ? s_max_nan(best, max) : max;
        const float was = s_exp(s_sub(best, joined)), now = s_exp(s_sub(max, joined));
        for (ptrdiff_t c = 0; c < dim; c++) {
            float acc = 0.0f;
            for (ptrdiff_t j = first; j <= last; j++)
                acc = INFK_PART(add)(d, h, from + j, s[j], c, acc);
            y[c] = joins ? s_fma(y[c], was, s_mul(acc, now)) : acc;
        }
        total = joins ? s_fma(total, was, s_mul(sum, now)) : sum;
        best = joined;
    }
    const float share = s_div(s_div(1.0f, (float)points), total);
    for (ptrdiff_t c = 0; c < dim; c++) y[c] = s_mul(y[c], share);
    for (ptrdiff_t c = 0; c < dim; c += points) s_hadamard(y + c, points);
}

static INFK_INLINE void INFK(attend)(const infk_kv_dims *d, const T *q, const W *positions,
                                     const int32_t *slots, const int32_t *tables, const int8_t *kv,
                                     const EPI_TYPE *e, ptrdiff_t begin, ptrdiff_t end) {
    const ptrdiff_t per_group = d->heads / d->groups;
    for (ptrdiff_t unit = begin; unit < end; unit++) {
        const ptrdiff_t row = unit / per_group % d->rows, g = unit / per_group / d->rows;
        const ptrdiff_t h = g * per_group + unit % per_group;
        const INFK_PART(head) head = {q + (row * d->heads + h) * d->query_bytes,
                                      tables + slots[row] * d->width, kv + d->part_at + g * d->part_bytes};
        float y[256];
        INFK_PART(all)(d, &head, positions[row], y);
        for (ptrdiff_t c = 0; c < d->head_dim; c++)
            EPI(y[c], (row * d->heads + h) * d->head_dim + c, row, h * d->head_dim + c);
    }
}
