/* pack_keep: rows as GGUF stores them to panels of 16 outputs (simd/keep_blocks.h). Outputs and groups that fill up
 * are zeros. A row's block in the file (ggml-common.h of llama.cpp): Q4_0: d, 16 bytes; Q4_1: d, m, 16 bytes; Q5_0: d,
 * fifth bits, 16 bytes: inputs i below, 16 + i above. Q8_0: d, 32 int8. Q4_K: d, dmin, 12 bytes of six-bit numbers,
 * four times 32 bytes: a group below, the next above. Q6_K: 128 bytes of lower bits, 64 of upper, 16 parts, d. */
static INFK_INLINE uint32_t INFK_PART(q)(ptrdiff_t format, const uint8_t *b, ptrdiff_t s, ptrdiff_t i) {
    const ptrdiff_t low = i % 16, high = i / 16 * 4; /* of formats with 32 inputs */
    switch (format) {
    case 2: return b[2 + low] >> high & 15u;
    case 3: return b[4 + low] >> high & 15u;
    case 6: return (b[6 + low] >> high & 15u) | (b[2 + i / 8] >> (i % 8) & 1u) << 4;
    case 8: return b[2 + i] ^ 128u;
    case 12: return b[16 + s / 2 * 32 + i] >> (s % 2 * 4) & 15u;
    default: /* four groups of 32 share 64 bytes of lower and 32 of upper bits */
        return (b[s / 4 * 64 + s % 2 * 32 + i] >> (s % 4 / 2 * 4) & 15u) |
               (b[128 + s / 4 * 32 + i] >> (s % 4 * 2) & 3u) << 4;
    }
}

/* Scale (min = 0) or minimum (4) s of Q4_K, six bits each. */
static INFK_INLINE uint32_t INFK_PART(six)(const uint8_t *b, ptrdiff_t s, ptrdiff_t min) {
    const uint8_t *at = b + 4;
    if (s < 4) return at[s + min] & 63u;
    return (at[s + 4] >> min & 15u) | (uint32_t)(at[s - 4 + min] >> 6) << 4;
}

/* One row's part of a panel's block: groups from s0 on of its block in the file, as far as there are any. */
static INFK_INLINE void INFK_PART(row)(ptrdiff_t format, const uint8_t *b, ptrdiff_t groups,
                                       ptrdiff_t n, uint8_t *y) {
    const ptrdiff_t span = s_keep_span(format), raw = span == 8 ? 0 : s_keep_raw(format, 32);
    uint8_t *scales = y + span * s_keep_group(format);
    for (ptrdiff_t s = 0; s < groups; s++) {
        const uint8_t *from = b + s * raw;
        for (ptrdiff_t i = 0; i < 32; i++) {
            const uint32_t q = INFK_PART(q)(format, from, s, i);
            const ptrdiff_t j = i / 4;
            uint8_t *to = y + s * s_keep_group(format) + n * 4 + i % 4;
            if (format == 8) to[j * 64] = (uint8_t)q;
            else to[j % 4 * 64] |= (uint8_t)((q & 15u) << (j / 4 * 4));
            if (format == 6) to[256] |= (uint8_t)((q >> 4) << j);
            if (format == 14) to[256 + j / 4 * 64] |= (uint8_t)((q >> 4) << (j % 4 * 2));
        }
        for (ptrdiff_t i = 0; i < 2; i++) {
            if (span < 8) scales[s * 32 + n * 2 + i] = from[i];
            if (format == 3) scales[32 + n * 2 + i] = from[2 + i];
            if (format == 14) scales[s * 32 + n * 2 + i] = from[192 + s * 2 + i];
            if (format == 14) scales[256 + n * 2 + i] = from[208 + i];
            if (format == 12) scales[n * 2 + i] = from[i];
            if (format == 12) scales[32 + n * 2 + i] = from[2 + i];
        }
        if (format != 12) continue;
        const uint32_t scale = INFK_PART(six)(from, s, 0), min = INFK_PART(six)(from, s, 4);
        uint8_t *six = scales + 64 + s % 4 * 16 + n;
        six[0] |= (uint8_t)((scale & 15u) << (s / 4 * 4));
        six[64] |= (uint8_t)((min & 15u) << (s / 4 * 4));
        six[128] |= (uint8_t)((scale >> 4) << (s / 4 * 2) | (min >> 4) << (s / 4 * 2 + 4));
    }
}

static INFK_INLINE void INFK(pack_keep)(const infk_keep_dims *d, const T *x, const EPI_TYPE *e,
                                        ptrdiff_t begin, ptrdiff_t end) {
    const ptrdiff_t span = s_keep_span(d->format), block = s_keep_block(d->format), groups = d->k / 32;
    const ptrdiff_t raw = s_keep_raw(d->format, d->k), size = s_keep_panel(d->format, d->k);
    for (ptrdiff_t unit = begin; unit < end; unit++) {
        const ptrdiff_t half = unit % d->halves, first = unit / d->halves * 16;
        uint8_t *y = (uint8_t *)RESULT + unit * size;
        for (ptrdiff_t i = 0; i < size; i++) y[i] = 0;
        for (ptrdiff_t n = 0; n < 16 && first + n < d->n; n++) {
            const uint8_t *row = (const uint8_t *)x + (half * d->n + first + n) * raw;
            for (ptrdiff_t g = 0; g < groups; g += span)
                INFK_PART(row)(d->format, row + s_keep_raw(d->format, span * 32) * (g / span),
                               groups - g < span ? groups - g : span, n, y + g / span * block);
        }
    }
}
