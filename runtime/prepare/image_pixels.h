/* image_pixels.h - an image as an input of a model: alpha dropped, gray or rgb, resized, scaled, laid out.
 *
 * Resizing is Pillow's Image.resize(size, BILINEAR), which most image models were trained with: two passes, columns
 * then rows, each a weighted sum of source pixels per output pixel. The weights are a triangle of half-width
 * max(1, scale) around the output pixel's centre in the source, normalised, in fixed point with 22 bits; each pass
 * rounds to 8 bits. Integer sums, and doubles in a fixed order (compile with -ffp-contract=off): the same everywhere.
 *
 * Static functions: generated code, the application and tests include it. No memory but the caller's, no libc.
 * SPDX-License-Identifier: MIT */
#ifndef INFRT_IMAGE_PIXELS_H
#define INFRT_IMAGE_PIXELS_H
#include <stddef.h>
#include <stdint.h>

enum {
    INFRT_IMAGE_BITS = 22,
    INFRT_IMAGE_SIDE = 65535 /* at most, of what is resized and what it becomes */
};

typedef struct infrt_image_form {
    int32_t width, height, channels; /* of the input; channels 1 gray, 3 rgb */
    uint8_t nhwc, bgr, u8;           /* u8: the input's type; 0: f32 */
    uint8_t unit;                    /* value = pixel / 255 instead */
    float scale[4], mean[4];         /* value = pixel * scale - mean, per channel */
} infrt_image_form;

typedef struct infrt_image { /* u8 [height][width][channels]; 1 gray, 2 gray + alpha, 3 rgb, 4 rgb + alpha */
    const uint8_t *pixels;
    int32_t width, height, channels;
    size_t row_bytes; /* from one row to the next */
} infrt_image;

/* The most source pixels that one output pixel is made of, and a few. */
#define INFRT_IMAGE_TAPS(from, to) (2 * (((size_t)(from) + (size_t)(to) - 1) / (size_t)(to)) + 1)
/* Bytes that one direction needs: weights and places, and the weights of one pixel before they are normalised. */
#define INFRT_IMAGE_SIDE_BYTES(from, to) \
    ((8 + 4 * (size_t)(to)) * INFRT_IMAGE_TAPS(from, to) + 8 * (size_t)(to))
/* Bytes of scratch for an image of width x height that becomes to_width x to_height. */
#define INFRT_IMAGE_SCRATCH(width, height, to_width, to_height, channels)                      \
    (8 + INFRT_IMAGE_SIDE_BYTES(width, to_width) + INFRT_IMAGE_SIDE_BYTES(height, to_height) + \
     (size_t)(channels) * ((size_t)(width) + (size_t)(height) * (size_t)(to_width) + (size_t)(to_width)))

/* For each output pixel of one direction: its first source pixel, how many, and their weights (`stride` apart). */
typedef struct infrt_image_side {
    int32_t *first, *n, *weights;
    size_t stride;
} infrt_image_side;

/* `room`: INFRT_IMAGE_SIDE_BYTES, 8 aligned. */
static inline infrt_image_side infrt_image_side_make(int32_t from, int32_t to, void *room) {
    const double scale = (double)from / (double)to, support = scale < 1 ? 1 : scale, inverse = 1 / support;
    infrt_image_side side;
    double *exact = (double *)room;
    side.stride = INFRT_IMAGE_TAPS(from, to);
    side.first = (int32_t *)(void *)(exact + side.stride);
    side.n = side.first + to;
    side.weights = side.n + to;
    for (int32_t i = 0; i < to; i++) {
        const double center = ((double)i + 0.5) * scale;
        double sum = 0;
        int32_t begin = (int32_t)(center - support + 0.5), end = (int32_t)(center + support + 0.5);
        if (begin < 0) begin = 0;
        if (end > from) end = from;
        for (int32_t k = 0; k < end - begin; k++) {
            const double signed_distance = ((double)(k + begin) - center + 0.5) * inverse;
            const double distance = signed_distance < 0 ? -signed_distance : signed_distance;
            exact[k] = distance < 1 ? 1 - distance : 0;
            sum += exact[k];
        }
        side.first[i] = begin;
        side.n[i] = end - begin;
        for (int32_t k = 0; k < end - begin; k++)
            side.weights[(size_t)i * side.stride + (size_t)k] =
                (int32_t)(0.5 + (sum != 0 ? exact[k] / sum : exact[k]) * (1 << INFRT_IMAGE_BITS));
    }
    return side;
}

/* Output pixel i of values that lie `step` apart. */
static inline uint8_t infrt_image_blend(const infrt_image_side *side, size_t i, const uint8_t *from, size_t step) {
    const int32_t *weights = side->weights + i * side->stride;
    int32_t sum = 1 << (INFRT_IMAGE_BITS - 1);
    from += (size_t)side->first[i] * step;
    for (int32_t k = 0; k < side->n[i]; k++) sum += from[(size_t)k * step] * weights[k];
    sum >>= INFRT_IMAGE_BITS;
    return (uint8_t)(sum < 0 ? 0 : sum > 255 ? 255 : sum);
}

/* A row in the input's channels; gray of colours is ITU-R 601 luma in 16-bit fixed point. */
static inline void infrt_image_row(const infrt_image *image, int32_t y, int32_t channels, uint8_t *to) {
    const size_t from = (size_t)image->channels;
    const uint8_t *p = image->pixels + (size_t)y * image->row_bytes;
    for (size_t x = 0; x < (size_t)image->width; x++, p += from) {
        const int rgb = from >= 3;
        if (channels == 1)
            to[x] = rgb ? (uint8_t)((p[0] * 19595u + p[1] * 38470u + p[2] * 7471u + 0x8000u) >> 16) : p[0];
        else
            for (size_t c = 0; c < 3; c++) to[x * 3 + c] = rgb ? p[c] : p[0];
    }
}

/* pixel * scale - mean, each step rounded to float on its own: a double holds the product exactly. */
static inline float infrt_image_value(const infrt_image_form *form, uint8_t pixel, size_t channel) {
    if (form->unit) return (float)pixel / 255.0f;
    const float scaled = (float)((double)pixel * (double)form->scale[channel]);
    return scaled - form->mean[channel];
}

/* Row y of the input, of pixels in its size and channels. */
static inline void infrt_image_store(const infrt_image_form *form, int32_t y, const uint8_t *pixels, void *to) {
    const size_t width = (size_t)form->width, channels = (size_t)form->channels;
    for (size_t x = 0; x < width; x++)
        for (size_t c = 0; c < channels; c++) {
            const uint8_t pixel = pixels[x * channels + (form->bgr ? channels - 1 - c : c)];
            const size_t i = (size_t)y * width + x, plane = width * (size_t)form->height;
            const size_t at = form->nhwc ? i * channels + c : c * plane + i;
            const float value = infrt_image_value(form, pixel, c);
            if (form->u8)
                ((uint8_t *)to)[at] = (uint8_t)(value > 0 ? value < 255 ? value + 0.5f : 255 : 0);
            else ((float *)to)[at] = value;
        }
}

/* Whether it is an image that infrt_image_prepare takes, with a scratch that can be. */
static inline int infrt_image_fits(const infrt_image_form *form, const infrt_image *image) {
    const int32_t w = image->width, h = image->height, c = image->channels;
    if (c < 1 || c > 4 || w < 1 || h < 1 || w > INFRT_IMAGE_SIDE || h > INFRT_IMAGE_SIDE) return 0;
    const uint64_t narrowed = (uint64_t)h * (uint64_t)form->width * (uint64_t)form->channels;
    return image->row_bytes >= (size_t)w * (size_t)c &&
           image->row_bytes <= SIZE_MAX / 2 / (size_t)h && narrowed <= SIZE_MAX / 2;
}

/* The input `to` from an image with sides of 1 to INFRT_IMAGE_SIDE; `scratch`: INFRT_IMAGE_SCRATCH, 8 aligned. */
static inline void infrt_image_prepare(const infrt_image_form *form, const infrt_image *image,
                                       void *to, void *scratch) {
    const size_t channels = (size_t)form->channels, row = (size_t)form->width * channels;
    uint8_t *at = (uint8_t *)scratch;
    const infrt_image_side columns = infrt_image_side_make(image->width, form->width, at);
    at += (INFRT_IMAGE_SIDE_BYTES(image->width, form->width) + 7) / 8 * 8;
    const infrt_image_side rows = infrt_image_side_make(image->height, form->height, at);
    at += INFRT_IMAGE_SIDE_BYTES(image->height, form->height);
    uint8_t *source = at, *narrowed = source + (size_t)image->width * channels; /* [height][row] */
    uint8_t *fitted = narrowed + (size_t)image->height * row;
    const int same = image->width == form->width && image->height == form->height;
    for (int32_t y = 0; y < image->height; y++) {
        infrt_image_row(image, y, form->channels, source);
        if (same) infrt_image_store(form, y, source, to);
        for (size_t x = 0; !same && x < (size_t)form->width; x++)
            for (size_t c = 0; c < channels; c++)
                narrowed[(size_t)y * row + x * channels + c] =
                    infrt_image_blend(&columns, x, source + c, channels);
    }
    for (int32_t y = 0; !same && y < form->height; y++) {
        for (size_t i = 0; i < row; i++)
            fitted[i] = infrt_image_blend(&rows, (size_t)y, narrowed + i, row);
        infrt_image_store(form, y, fitted, to);
    }
}

#endif
