/* kv_store: q and k are turned by the position's angles; int8: they are balanced, q, k, v are then transformed by
 * butterflies of `points` elements (numerics rule 8) and rounded to whole steps of largest / 127; f16: rounded. What is
 * kept is laid out as docs/adr/0011-kv-cache.md says. Scores are linear in q, so it takes their factors. */
static INFK_INLINE ptrdiff_t INFK_PART(points)(const infk_kv_dims *d) {
    const ptrdiff_t lowest = d->head_dim & -d->head_dim;
    return lowest < 64 ? lowest : 64;
}

/* One head of q or k at `angles`: element i turns with i + rotary / 2. */
static INFK_INLINE void INFK_PART(turn)(const infk_kv_dims *d, const T *x, const float *angles, float *out) {
    const ptrdiff_t half = d->rotary / 2;
    for (ptrdiff_t i = 0; i < half; i++) {
        const float c = angles[2 * i], s = angles[2 * i + 1], a = x[i], b = x[i + half];
        out[i] = s_fma(a, c, s_neg(s_mul(b, s)));
        out[i + half] = s_fma(b, c, s_mul(a, s));
    }
    for (ptrdiff_t i = 2 * half; i < d->head_dim; i++) out[i] = x[i];
}

/* x less `mean` (null: 0), times `factor`, element by element: what is taken off k is the same for all positions, so
 * that softmax does not see it, and the factors of q are those of k turned over. */
static INFK_INLINE void INFK_PART(balance)(const infk_kv_dims *d, float *x, const float *mean,
                                           const float *factor) {
    for (ptrdiff_t c = 0; c < d->head_dim; c++)
        x[c] = s_mul(mean ? s_sub(x[c], mean[c]) : x[c], factor[c]);
}

/* Transforms x in place and rounds it; the size of a step times `unit`. */
static INFK_INLINE float INFK_PART(steps)(const infk_kv_dims *d, float *x, float unit, int8_t *out) {
    const ptrdiff_t points = INFK_PART(points)(d);
    float largest = 0.0f;
    for (ptrdiff_t c = 0; c < d->head_dim; c += points) s_hadamard(x + c, points);
    for (ptrdiff_t c = 0; c < d->head_dim; c++) largest = s_max_nan(largest, s_abs(x[c]));
    const float per = s_quantize_by(largest);
    for (ptrdiff_t c = 0; c < d->head_dim; c++)
        out[c] = (int8_t)s_limit(s_round(s_mul(x[c], per)), -127.0f, 127.0f);
    return s_quantize_scale(largest, unit);
}

static INFK_INLINE void INFK_PART(query)(const infk_kv_dims *d, float *x, int8_t *record) {
    const float scale = s_float((uint32_t)d->scale), points = (float)INFK_PART(points)(d);
    infk_b4 *words = (infk_b4 *)(void *)(record + (d->format ? 0 : d->head_dim));
    if (d->format) {
        for (ptrdiff_t c = 0; c < d->head_dim; c++) words[c] = s_bits(s_mul(x[c], scale));
        return;
    }
    int32_t sum = 0;
    words[0] = s_bits(INFK_PART(steps)(d, x, s_div(scale, points), record));
    for (ptrdiff_t c = 0; c < d->head_dim; c++) sum += record[c];
    words[1] = (uint32_t)sum;
    for (ptrdiff_t c = d->head_dim + 8; c < d->query_bytes; c++) record[c] = 0;
}

/* Place j of a block in int8. */
static INFK_INLINE void INFK_PART(keep)(const infk_kv_dims *d, float *k, float *v, ptrdiff_t j, int8_t *part) {
    const ptrdiff_t dim = d->head_dim;
    infk_b4 *scales = (infk_b4 *)(void *)(part + 64 * dim);
    int8_t steps[256];
    scales[j] = s_bits(INFK_PART(steps)(d, k, 1.0f, steps));
    for (ptrdiff_t c = 0; c < dim; c++)
        part[((j / 16 * (dim / 4) + c / 4) * 16 + j % 16) * 4 + c % 4] = steps[c];
    scales[32 + j] = s_bits(INFK_PART(steps)(d, v, 1.0f, steps));
    for (ptrdiff_t c = 0; c < dim; c++)
        part[32 * dim + ((j / 16 * 4 + j % 4) * dim + c) * 4 + j % 16 / 4] = steps[c];
}

/* Place j of a block in f16. What is no number in v would reach rows that do not see it, by 0 * NaN: it goes to k. */
static INFK_INLINE void INFK_PART(keep_halves)(const infk_kv_dims *d, const float *k,
                                               const float *v, ptrdiff_t j, int8_t *part) {
    const ptrdiff_t dim = d->head_dim;
    infk_b2 *halves = (infk_b2 *)(void *)part;
    float lost = 0.0f;
    for (ptrdiff_t c = 0; c < dim; c++) {
        halves[(32 + j) * dim + c] = v[c] == v[c] ? s_to_f16(v[c]) : 0;
        if (!(v[c] == v[c])) lost = v[c];
    }
    for (ptrdiff_t c = 0; c < dim; c++)
        halves[(j / 16 * dim + c) * 16 + j % 16] = s_to_f16(lost == lost ? k[c] : lost);
}

static INFK_INLINE void INFK(kv_store)(const infk_kv_dims *d, const T *x, const W *positions,
                                       const int32_t *slots, const int32_t *tables,
                                       const int8_t *kv, const float *rope, const float *balance,
                                       const EPI_TYPE *e, ptrdiff_t begin, ptrdiff_t end) {
    const ptrdiff_t dim = d->head_dim, per_group = d->heads / d->groups;
    for (ptrdiff_t unit = begin; unit < end; unit++) {
        const ptrdiff_t row = unit % d->rows, g = unit / d->rows, position = positions[row];
        const T *q = x + row * (d->heads + 2 * d->groups) * dim, *k = q + (d->heads + g) * dim,
                *v = k + d->groups * dim;
        const float *angles = rope + position * d->rotary, *mean = balance + g * dim,
                    *of_k = mean + d->groups * dim, *of_q = of_k + d->groups * dim;
        const ptrdiff_t block = tables[slots[row] * d->width + position / 32];
        int8_t *part = (int8_t *)(uintptr_t)kv + block * d->block_bytes + d->part_at + g * d->part_bytes;
        float turned[256], value[256];
        for (ptrdiff_t h = g * per_group; h < (g + 1) * per_group; h++) {
            INFK_PART(turn)(d, q + h * dim, angles, turned);
            if (!d->format) INFK_PART(balance)(d, turned, 0, of_q);
            INFK_PART(query)(d, turned, RESULT + (row * d->heads + h) * d->query_bytes);
        }
        INFK_PART(turn)(d, k, angles, turned);
        if (!d->format) INFK_PART(balance)(d, turned, mean, of_k);
        for (ptrdiff_t c = 0; c < dim; c++) value[c] = v[c];
        if (d->format) INFK_PART(keep_halves)(d, turned, value, position % 32, part);
        else INFK_PART(keep)(d, turned, value, position % 32, part);
    }
}
