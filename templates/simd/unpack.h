/* unpack.h - a panel of 16 outputs of packed weights as floats to[k][16]: what is stored, dequantised, each value as
 * the kernels that look up a row (embed_i8, embed_keep, embed_half) give it. */
#include "scalar.h"

/* Undoes the transform of n inputs of 16 outputs, v[n][16], as s_rotate does for one. */
static INFK_INLINE void s_unpack_rotate(float *v, ptrdiff_t n, ptrdiff_t rotate) {
    for (ptrdiff_t stride = 16; stride < n * 16; stride *= 2)
        for (ptrdiff_t block = 0; block < n * 16; block += 2 * stride)
            for (ptrdiff_t i = block; i < block + stride; i++) {
                const float a = v[i], b = v[i + stride];
                v[i] = a + b;
                v[i + stride] = a - b;
            }
    for (ptrdiff_t i = 0; n < rotate && i < n * 16; i++) v[i] *= S_ROOT_2;
}

/* n inputs, transformed by `rotate` values, 64 or 128, of which k are there, times the scales of their outputs. */
static INFK_INLINE void s_unpack_rows(float *v, ptrdiff_t n, ptrdiff_t rotate, ptrdiff_t k,
                                      const float *scales, float *to) {
    s_unpack_rotate(v, n, rotate);
    for (ptrdiff_t i = 0; i < n && i < k; i++)
        for (ptrdiff_t l = 0; l < 16; l++)
            to[i * 16 + l] = v[i * 16 + l] * (scales[l] * s_rotated_row(rotate));
}

/* As pack_i8 makes it. */
static INFK_INLINE void s_unpack_i8(const int8_t *panel, ptrdiff_t rotate, ptrdiff_t k, float *to) {
    const ptrdiff_t groups = (k + 63) / 64;
    const float *scales = (const float *)(const void *)(panel + groups * 1024 + 64);
    for (ptrdiff_t at = 0, n; at < groups * 64; at += n) {
        float v[128 * 16];
        n = s_rotate_size(rotate, groups * 64 - at);
        for (ptrdiff_t i = 0; i < n; i++)
            for (ptrdiff_t l = 0; l < 16; l++)
                v[i * 16 + l] = (float)panel[(at + i) / 4 * 64 + l * 4 + i % 4];
        s_unpack_rows(v, n, rotate, k - at, scales, to + at * 16);
    }
}

/* As pack_i4 makes it: `bytes` of a panel. */
static INFK_INLINE void s_unpack_i4(const int8_t *panel, ptrdiff_t bytes, ptrdiff_t rotate,
                                    ptrdiff_t k, float *to) {
    const ptrdiff_t groups = (k + 63) / 64;
    const float *scales = (const float *)(const void *)(panel + bytes - 64);
    for (ptrdiff_t at = 0, n; at < groups * 64; at += n) {
        float v[128 * 16];
        n = s_rotate_size(rotate, groups * 64 - at);
        for (ptrdiff_t i = 0; i < n; i++) {
            const ptrdiff_t g = (at + i) / 64, j = i % 64;
            const uint8_t *codes = (const uint8_t *)panel + (g / 4 * 2112 + g % 4 * 16);
            const uint8_t *q = (const uint8_t *)panel + (g / 4 + 1) * 64 + g * 512 + j % 32 / 4 * 64 + j % 4;
            for (ptrdiff_t l = 0; l < 16; l++) {
                const int nibble = j < 32 ? q[l * 4] & 15 : q[l * 4] >> 4;
                v[i * 16 + l] = (float)((codes[l] % 16 + 1) * (nibble - codes[l] / 16));
            }
        }
        s_unpack_rows(v, n, rotate, k - at, scales, to + at * 16);
    }
}

/* As pack_keep makes it; format: its number in GGUF. Products are exact wherever there is a minimum to add. */
static INFK_INLINE void s_unpack_keep(ptrdiff_t format, const int8_t *panel, ptrdiff_t k, float *to) {
    const ptrdiff_t span = s_keep_span(format);
    for (ptrdiff_t g = 0; g < k / 32; g++) {
        const int8_t *block = panel + g / span * s_keep_block(format);
        for (ptrdiff_t l = 0; l < 16; l++) {
            const float scale = s_keep_scale(format, block, g % span, l),
                        min = s_keep_min(format, block, g % span, l);
            for (ptrdiff_t i = 0; i < 32; i++) {
                const int32_t part = s_keep_part(format, block, g % span, l, i / 16);
                const float q = (float)(part * s_keep_q(format, block, g % span, l, i));
                to[(g * 32 + i) * 16 + l] = s_add(s_mul(scale, q), min);
            }
        }
    }
}

/* As matmul has them. */
static INFK_INLINE void s_unpack_f32(const float *panel, ptrdiff_t k, float *to) {
    for (ptrdiff_t i = 0; i < k * 16; i++) to[i] = panel[i];
}
static INFK_INLINE void s_unpack_f16(const infk_b2 *panel, ptrdiff_t k, float *to) {
    for (ptrdiff_t i = 0; i < k * 16; i++) to[i] = s_from_f16(panel[i]);
}
static INFK_INLINE void s_unpack_bf16(const infk_b2 *panel, ptrdiff_t k, float *to) {
    for (ptrdiff_t i = 0; i < k * 16; i++) to[i] = s_float((uint32_t)panel[i] << 16);
}
