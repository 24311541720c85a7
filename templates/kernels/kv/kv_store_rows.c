/* kv_store in int8 by vectors, see kv_store_ref.c. */
static INFK_INLINE void INFK_PART(turn)(const infk_kv_dims *d, const T *x, const float *angles, float *out) {
    const ptrdiff_t half = d->rotary / 2;
    for (ptrdiff_t i = 0; i < half; i++) {
        const float c = angles[2 * i], s = angles[2 * i + 1], a = x[i], b = x[i + half];
        out[i] = s_fma(a, c, s_neg(s_mul(b, s)));
        out[i + half] = s_fma(b, c, s_mul(a, s));
    }
    for (ptrdiff_t i = 2 * half; i < d->head_dim; i++) out[i] = x[i];
}

/* x less `mean` (null: 0), times `factor`. */
static INFK_INLINE void INFK_PART(balance)(const infk_kv_dims *d, float *x, const float *mean,
                                           const float *factor) {
    for (ptrdiff_t c = 0; c < d->head_dim; c += 16) {
        const vf16x part = v_load(x + c);
        v_store(x + c, v_mul(mean ? v_sub(part, v_load(mean + c)) : part, v_load(factor + c)));
    }
}

/* Transforms x in place and rounds it; the size of a step times `unit`, and the sum of the steps. */
static INFK_INLINE float INFK_PART(steps)(const infk_kv_dims *d, float *x, float unit, int8_t *out,
                                          int32_t *out_sum) {
    const ptrdiff_t dim = d->head_dim, lowest = dim & -dim, points = lowest < 64 ? lowest : 64;
    vf16x most = v_zero();
    vi16x sum = vi_zero();
    for (ptrdiff_t c = 0; c < dim; c += points) v_hadamard(x + c, points);
    for (ptrdiff_t c = 0; c < dim; c += 16) most = v_most(most, v_abs(v_load(x + c)));
    const float largest = v_hmost(most);
    const vf16x per = v_set1(s_quantize_by(largest));
    for (ptrdiff_t c = 0; c < dim; c += 16) {
        const vi16x step = vi_near(v_mul(v_load(x + c), per)); /* within 127, which `per` rounds to */
        sum = vi_add(sum, step);
        vi_store_i8(out + c, step);
    }
    *out_sum = (int32_t)v_sum(v_from_int(sum));
    return s_quantize_scale(largest, unit);
}

static INFK_INLINE void INFK_PART(query)(const infk_kv_dims *d, float *x, int8_t *record) {
    const ptrdiff_t dim = d->head_dim, lowest = dim & -dim, points = lowest < 64 ? lowest : 64;
    infk_b4 *words = (infk_b4 *)(void *)(record + dim);
    int32_t sum;
    words[0] =
        s_bits(INFK_PART(steps)(d, x, s_div(s_float((uint32_t)d->scale), (float)points), record, &sum));
    words[1] = (uint32_t)sum;
    for (ptrdiff_t i = 2; i < (d->query_bytes - dim) / 4; i++) words[i] = 0;
}

/* Place j of a block. */
static INFK_INLINE void INFK_PART(keep)(const infk_kv_dims *d, float *k, float *v, ptrdiff_t j, int8_t *part) {
    const ptrdiff_t dim = d->head_dim;
    infk_b4 *scales = (infk_b4 *)(void *)(part + 64 * dim), *fours = (infk_b4 *)(void *)part;
    int8_t steps[256];
    int32_t sum;
    scales[j] = s_bits(INFK_PART(steps)(d, k, 1.0f, steps, &sum));
    for (ptrdiff_t c = 0; c < dim / 4; c++)
        fours[(j / 16 * (dim / 4) + c) * 16 + j % 16] =
            (uint32_t)*(const infk_i4 *)(const void *)(steps + c * 4);
    scales[32 + j] = s_bits(INFK_PART(steps)(d, v, 1.0f, steps, &sum));
    /* Rows beside it are written at the same time: bytes alone. */
    int8_t *to = part + 32 * dim + (j / 16 * 4 + j % 4) * 4 * dim + j % 16 / 4;
    for (ptrdiff_t c = 0; c < dim; c++) to[4 * c] = steps[c];
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
            INFK_PART(balance)(d, turned, 0, of_q);
            INFK_PART(query)(d, turned, RESULT + (row * d->heads + h) * d->query_bytes);
        }
        INFK_PART(turn)(d, k, angles, turned);
        INFK_PART(balance)(d, turned, mean, of_k);
        for (ptrdiff_t c = 0; c < dim; c += 16) v_store(value + c, v_load(v + c));
        INFK_PART(keep)(d, turned, value, position % 32, part);
    }
}
