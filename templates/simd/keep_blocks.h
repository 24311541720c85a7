/* keep_blocks.h - weights with the values that a GGUF file stores, packed for 16 outputs at a time. A weight is
 * scale * (part * (q - offset)) + min: scale and min are f32, q, part and offset are integers. Formats have numbers
 * in GGUF: 2 Q4_0, 3 Q4_1, 6 Q5_0, 8 Q8_0, 12 Q4_K, 14 Q6_K. K, the inputs of an output, is a multiple of 32, with
 * Q4_K and Q6_K of 256. A panel holds 16 outputs in blocks of `span` groups of 32 inputs.
 * A block: for each group q, then what scales the block. It takes as many bytes as in the file, but for what fills up
 * a panel or a last block, and 1 % with Q6_K; and begins at multiples of 64 bytes.
 *   q: byte (v, n, i) at v * 64 + n * 4 + i is of output n. With 4 bits and more, v < 4: input 4v + i below, input 16
 *   + 4v + i above. Q5_0 adds a vector whose bit j is the fifth of input 4j + i; Q6_K two, of inputs 0..15 and 16..31,
 *   with two bits each. Q8_0: v < 8, q + 128 of input 4v + i.
 *   Scales are f16 [16]. Q4_0, Q5_0, Q8_0: of each of two groups. Q4_1: scale and min. Q4_K: scale and min of the
 *   block, then the numbers of six bits by which they are multiplied, in vectors [4][16]: four bits of the scales of
 *   groups s below and 4 + s above, the same of the mins, then the upper two bits of scales s, 4 + s, mins s, 4 + s.
 *   Q6_K: int8 [8][16][2], a part for each half of a group, then the block's scale, then nothing up to 64 bytes. */
static INFK_INLINE ptrdiff_t s_keep_span(ptrdiff_t format) {
    return format == 3 ? 1 : format < 9 ? 2 : 8;
}
/* Bytes of q of one group. */
static INFK_INLINE ptrdiff_t s_keep_group(ptrdiff_t format) {
    return format == 6 ? 320 : format == 8 ? 512 : format == 14 ? 384 : 256;
}
static INFK_INLINE ptrdiff_t s_keep_block(ptrdiff_t format) {
    const ptrdiff_t scales = format == 12 ? 256 : format == 14 ? 320 : 64;
    return s_keep_span(format) * s_keep_group(format) + scales;
}
static INFK_INLINE ptrdiff_t s_keep_panel(ptrdiff_t format, ptrdiff_t k) {
    const ptrdiff_t inputs = s_keep_span(format) * 32;
    return (k + inputs - 1) / inputs * s_keep_block(format);
}
/* Bytes of a row in the file. */
static INFK_INLINE ptrdiff_t s_keep_raw(ptrdiff_t format, ptrdiff_t k) {
    switch (format) {
    case 2: return k / 32 * 18;
    case 3: return k / 32 * 20;
    case 6: return k / 32 * 22;
    case 8: return k / 32 * 34;
    case 12: return k / 256 * 144;
    default: return k / 256 * 210;
    }
}
static INFK_INLINE int32_t s_keep_offset(ptrdiff_t format) {
    return format == 2 ? 8 : format == 6 ? 16 : format == 8 ? 128 : format == 14 ? 32 : 0;
}
/* Whether weights have a minimum. */
static INFK_INLINE int s_keep_has_min(ptrdiff_t format) { return format == 3 || format == 12; }

/* An f16 as it lies in memory. Multiplying by 2^112 moves the exponent, exactly and for denormals too. */
static INFK_INLINE float s_half(const void *p) {
    const uint8_t *at = (const uint8_t *)p;
    const uint32_t h = (uint32_t)(at[0] | at[1] << 8), magnitude = (h & 0x7fffu) << 13;
    const uint32_t special = (h & 0x7c00u) == 0x7c00u ? 0x7f800000u : 0u;
    return s_float(s_bits(s_float(magnitude) * 0x1p112f) | special | (h & 0x8000u) << 16);
}

/* The below are of output n (0..15) of group s of the block at p. q - offset of input i (0..31): */
static INFK_INLINE int32_t s_keep_q(ptrdiff_t format, const void *p, ptrdiff_t s, ptrdiff_t n, ptrdiff_t i) {
    const uint8_t *at = (const uint8_t *)p + s * s_keep_group(format) + n * 4 + i % 4;
    const ptrdiff_t j = i / 4;
    if (format == 8) return at[j * 64] - 128;
    int32_t q = at[j % 4 * 64] >> (j / 4 * 4) & 15;
    if (format == 6) q |= (at[256] >> j & 1) << 4;
    if (format == 14) q |= (at[256 + j / 4 * 64] >> (j % 4 * 2) & 3) << 4;
    return q - s_keep_offset(format);
}
static INFK_INLINE const uint8_t *s_keep_scales(ptrdiff_t format, const void *p) {
    return (const uint8_t *)p + s_keep_span(format) * s_keep_group(format);
}
static INFK_INLINE float s_keep_scale(ptrdiff_t format, const void *p, ptrdiff_t s, ptrdiff_t n) {
    const uint8_t *at = s_keep_scales(format, p);
    if (format == 14) return s_half(at + 256 + n * 2);
    if (format != 12) return s_half(at + s * 32 + n * 2);
    const uint8_t *six = at + 64 + s % 4 * 16 + n;
    const int32_t times = (six[0] >> (s / 4 * 4) & 15) | (six[128] >> (s / 4 * 2) & 3) << 4;
    return s_half(at + n * 2) * (float)times; /* exact */
}
static INFK_INLINE float s_keep_min(ptrdiff_t format, const void *p, ptrdiff_t s, ptrdiff_t n) {
    const uint8_t *at = s_keep_scales(format, p) + 32 + n * 2;
    if (format == 3) return s_half(at);
    if (format != 12) return 0.0f;
    const uint8_t *six = s_keep_scales(format, p) + 128 + s % 4 * 16 + n;
    const int32_t times = (six[0] >> (s / 4 * 4) & 15) | (six[64] >> (s / 4 * 2 + 4) & 3) << 4;
    return -s_half(at) * (float)times; /* exact */
}
/* By which q of a half of the group is multiplied. */
static INFK_INLINE int32_t s_keep_part(ptrdiff_t format, const void *p, ptrdiff_t s, ptrdiff_t n, ptrdiff_t half) {
    return format == 14 ? (int8_t)s_keep_scales(format, p)[s * 32 + n * 2 + half] : 1;
}
