/* attend: each head of a row over the positions that it sees: its own and those before it, at most `window`. Positions
 * are taken in parts [256 s, 256 s + 256). A score is the dot product of the records times the steps of k and of q
 * (f16: the sum with fma from +0, elements in order); part by part the maximum, e^(score - maximum), which is 0 below
 * e^-80, summed in 16 lanes by position mod 16, then the fixed tree. f16: they are multiplied by v with fma from +0,
 * positions in order; int8: times the step of v they become whole 16383rds of the largest, whose sums of products with
 * v are exact.
 * Parts are joined in order by their maxima. What comes out is divided by the sum and transformed back.
 * The bits of a result depend on the row's q and position and on the k and v it sees, on nothing else.
 *
 * Units from `heads` on are of one row alone, whose parts are shared out: groups * width of them stand for all parts of
 * all groups, in order, and put into `parts` what each gives; heads more, once all of these are done, join them. */
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

/* Element c of v at a position. */
static INFK_INLINE float INFK_PART(value)(const infk_kv_dims *d, const INFK_PART(head) * h,
                                          ptrdiff_t position, ptrdiff_t c) {
    const ptrdiff_t dim = d->head_dim, j = position % 32;
    const int8_t *part = INFK_PART(part)(d, h, position);
    if (d->format) return s_from_f16(((const infk_b2 *)(const void *)part)[(32 + j) * dim + c]);
    return (float)part[32 * dim + ((j / 16 * 4 + j % 4) * dim + c) * 4 + j % 16 / 4];
}

/* int8: weights s of places [first, last] of the part at `from`, times the steps of v there, become whole steps of the
 * largest / 16383; the size of such a step. */
static INFK_INLINE float INFK_PART(round)(const infk_kv_dims *d, const INFK_PART(head) * h,
                                          ptrdiff_t from, ptrdiff_t first, ptrdiff_t last, float *s) {
    float most = 0.0f;
    for (ptrdiff_t j = first; j <= last; j++) {
        const infk_b4 *scales =
            (const infk_b4 *)(const void *)(INFK_PART(part)(d, h, from + j) + 64 * d->head_dim);
        s[j] = s_mul(s[j], s_float(scales[32 + j % 32]));
        most = s_max_nan(most, s[j]);
    }
    const float by = s_mul(s_quantize_by(most), 129.0f); /* 127 * 129 is 16383 */
    for (ptrdiff_t j = first; j <= last; j++)
        s[j] = s_limit(s_round(s_mul(s[j], by)), 0.0f, 16383.0f);
    return s_quantize_scale(most, s_div(1.0f, 129.0f));
}

/* What part s of head h gives: dim sums of v, then the maximum of its scores and the sum of its weights. */
static INFK_INLINE float *INFK_PART(room)(const infk_kv_dims *d, float *parts, ptrdiff_t h, ptrdiff_t s) {
    return parts + (h * ((d->width + 7) / 8) + s) * (d->head_dim + 16);
}

/* What the part at `from` gives, of positions [start, position] that the head sees. */
static INFK_INLINE void INFK_PART(give_part)(const infk_kv_dims *d, const INFK_PART(head) * h, ptrdiff_t from,
                                             ptrdiff_t start, ptrdiff_t position, float *to) {
    const ptrdiff_t first = from < start ? start - from : 0, dim = d->head_dim;
    const ptrdiff_t last = position - from < 256 ? position - from : 255;
    float sum[16] = {0}, s[256], max = s_neg(INFK_INFINITY);
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
    const float unit = d->format ? 1.0f : INFK_PART(round)(d, h, from, first, last, s);
    for (ptrdiff_t c = 0; c < dim; c++) {
        float halves = 0.0f;
        int32_t whole = 0;
        for (ptrdiff_t j = first; j <= last; j++) {
            const float v = INFK_PART(value)(d, h, from + j, c);
            if (d->format) halves = s_fma(s[j], v, halves);
            else whole += (int32_t)s[j] * (int32_t)v;
        }
        to[c] = d->format ? halves : s_mul((float)whole, unit);
    }
    to[dim] = max;
    to[dim + 1] = sum[0];
}

/* y, which is like a part, takes what the next part gives. */
static INFK_INLINE void INFK_PART(join)(ptrdiff_t dim, int is_first, const float *part, float *y) {
    const float joined = is_first ? part[dim] : s_max_nan(y[dim], part[dim]);
    const float was = s_exp(s_sub(y[dim], joined)), now = s_exp(s_sub(part[dim], joined));
    for (ptrdiff_t c = 0; c < dim; c++)
        y[c] = is_first ? part[c] : s_fma(y[c], was, s_mul(part[c], now));
    y[dim + 1] = is_first ? part[dim + 1] : s_fma(y[dim + 1], was, s_mul(part[dim + 1], now));
    y[dim] = joined;
}

static INFK_INLINE ptrdiff_t INFK_PART(start)(const infk_kv_dims *d, ptrdiff_t position) {
    return d->window > 0 && position >= d->window ? position - d->window + 1 : 0;
}

/* Whether the middle of the part at `from` of group g lies in [begin, end), where groups * width are all positions that
 * the groups see, one after another. */
static INFK_INLINE int INFK_PART(is_mine)(const infk_kv_dims *d, ptrdiff_t g, ptrdiff_t from, ptrdiff_t start,
                                          ptrdiff_t position, ptrdiff_t begin, ptrdiff_t end) {
    const int64_t seen = position - start + 1, first = from < start ? start : from,
                  last = position - from < 256 ? position : from + 255;
    const int64_t at = (2 * (g * seen - start) + first + last) * d->width / (2 * seen);
    return at >= begin && at < end;
}

static INFK_INLINE void INFK_PART(split)(const infk_kv_dims *d, const T *q, ptrdiff_t position,
                                         const int32_t *blocks, const int8_t *kv, float *parts,
                                         ptrdiff_t begin, ptrdiff_t end) {
    const ptrdiff_t per_group = d->heads / d->groups, start = INFK_PART(start)(d, position);
    for (ptrdiff_t h = 0; h < d->heads; h++) {
        const ptrdiff_t g = h / per_group;
        const INFK_PART(head) head = {q + h * d->query_bytes, blocks, kv + d->part_at + g * d->part_bytes};
        for (ptrdiff_t from = start / 256 * 256; from <= position; from += 256)
            if (INFK_PART(is_mine)(d, g, from, start, position, begin, end))
                INFK_PART(give_part)(d, &head, from, start, position, INFK_PART(room)(d, parts, h, from / 256));
    }
}

static INFK_INLINE void INFK(attend)(const infk_kv_dims *d, const T *q, const W *positions,
                                     const int32_t *slots, const int32_t *tables, const int8_t *kv,
                                     float *parts, const EPI_TYPE *e, ptrdiff_t begin, ptrdiff_t end) {
    const ptrdiff_t per_group = d->heads / d->groups, dim = d->head_dim, lowest = dim & -dim;
    const ptrdiff_t points = d->format ? 1 : lowest < 64 ? lowest : 64;
    const ptrdiff_t n_units = d->rows * d->heads, n_parts = d->groups * d->width;
    if (begin >= n_units && begin < n_units + n_parts) {
        INFK_PART(split)(d, q, positions[0], tables + slots[0] * d->width, kv, parts,
                         begin - n_units, end - n_units);
        return;
    }
    const int joins = begin >= n_units;
    const ptrdiff_t skipped = joins ? n_units + n_parts : 0;
    for (ptrdiff_t unit = begin - skipped; unit < end - skipped; unit++) {
        const ptrdiff_t row = unit / per_group % d->rows, g = unit / per_group / d->rows;
        const ptrdiff_t h = g * per_group + unit % per_group;
        const ptrdiff_t position = positions[row], start = INFK_PART(start)(d, position);
        const INFK_PART(head) head = {q + (row * d->heads + h) * d->query_bytes,
                                      tables + slots[row] * d->width, kv + d->part_at + g * d->part_bytes};
        float y[256 + 2] = {0}, part[256 + 2];
        for (ptrdiff_t from = start / 256 * 256; from <= position; from += 256) {
            if (!joins) INFK_PART(give_part)(d, &head, from, start, position, part);
            const float *given = joins ? INFK_PART(room)(d, parts, h, from / 256) : part;
            INFK_PART(join)(dim, from <= start, given, y);
        }
        const float share = s_div(s_div(1.0f, (float)points), y[dim + 1]);
        for (ptrdiff_t c = 0; c < dim; c++) y[c] = s_mul(y[c], share);
        for (ptrdiff_t c = 0; c < dim; c += points) s_hadamard(y + c, points);
        for (ptrdiff_t c = 0; c < dim; c++)
            EPI(y[c], (row * d->heads + h) * dim + c, row, h * dim + c);
    }
}
