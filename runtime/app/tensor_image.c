/* tensor_image.c - an image file as an input: decode, drop alpha, gray or rgb, resize, scale, lay out. */
#include "image_resize.h"
#include "stb_decode.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What the input wants. */
typedef struct target {
    int channels, height, width;
    bool nhwc, bgr, guessed;
    const infc_image_info *image; /* null when guessed */
} target;

static infrt_status target_find(const infc_tensor_info *info, const infc_image_info *image,
                                const char *where, target *out, infrt_error *error) {
    char shown[INFRT_SHAPE_TEXT];
    *out = (target){
        .image = image, .guessed = !image, .nhwc = image && image->nhwc, .bgr = image && image->bgr};
    const int64_t *d = info->dims;
    int64_t c = out->nhwc ? d[3] : d[1], h = out->nhwc ? d[1] : d[2], w = out->nhwc ? d[2] : d[3];
    bool dtype = info->dtype == INFC_DTYPE_f32 || (image && info->dtype == INFC_DTYPE_u8);
    if (!dtype || info->rank != 4 || d[0] != 1 || (c != 1 && c != 3) ||
        (image && c != image->channels) || h < 1 || w < 1 || h > 65535 || w > 65535)
        return infrt_fail(error, INFRT_ERR_DATA,
                          "%s: \"%s\" is %s, which is not one image (f32 [1,C,H,W], C 1 or 3); "
                          "give a .npy, or say"
                          " how it is an image under `inputs` in the spec",
                          where, info->name, infrt_shape_text(info->dtype, info->rank, info->dims, shown));
    out->channels = (int)c;
    out->height = (int)h;
    out->width = (int)w;
    return INFRT_OK;
}

/* [pixels][1 or 3], without alpha; gray is ITU-R 601 luma in 16-bit fixed point. */
static uint8_t *channels_convert(const infrt_pixels *pixels, int channels, bool *had_alpha) {
    size_t n = (size_t)pixels->width * (size_t)pixels->height, from = (size_t)pixels->channels;
    bool rgb = from >= 3, alpha = from == 2 || from == 4;
    uint8_t *out = malloc(n * (size_t)channels);
    *had_alpha = false;
    for (size_t i = 0; out && i < n; i++) {
        const uint8_t *p = pixels->data + i * from;
        if (alpha && p[from - 1] != 255) *had_alpha = true;
        if (channels == 1)
            out[i] = rgb ? (uint8_t)((p[0] * 19595u + p[1] * 38470u + p[2] * 7471u + 0x8000u) >> 16) : p[0];
        else
            for (size_t c = 0; c < 3; c++) out[i * 3 + c] = rgb ? p[c] : p[0];
    }
    return out;
}

/* value = pixel * scale - mean, each step rounded to float on its own: a double holds the product exactly. */
static float pixel_value(const target *t, uint8_t pixel, size_t channel) {
    if (t->guessed) return (float)pixel / 255.0f;
    float scaled = (float)((double)pixel * (double)t->image->scale[channel]);
    return scaled - t->image->mean[channel];
}

static void values_store(const target *t, const uint8_t *pixels, uint32_t dtype, void *out) {
    size_t n = (size_t)t->width * (size_t)t->height, channels = (size_t)t->channels;
    for (size_t i = 0; i < n; i++)
        for (size_t c = 0; c < channels; c++) {
            uint8_t pixel = pixels[i * channels + (t->bgr ? channels - 1 - c : c)];
            size_t at = t->nhwc ? i * channels + c : c * n + i;
            float value = pixel_value(t, pixel, c);
            if (dtype == INFC_DTYPE_f32) ((float *)out)[at] = value;
            else ((uint8_t *)out)[at] = (uint8_t)(value > 0 ? value < 255 ? value + 0.5f : 255 : 0);
        }
}

/* "resized from 28x28 to 8x8; alpha ignored; pixel / 255 (no image settings in this model)" */
static void note_write(const target *t, const infrt_pixels *from, bool resized, bool had_alpha, char note[256]) {
    size_t n = 0;
    if (resized)
        n += (size_t)snprintf(note, 256, "resized from %dx%d to %dx%d (bilinear)", from->width,
                              from->height, t->width, t->height);
    if (had_alpha)
        n += (size_t)snprintf(note + n, 256 - n, "%stransparency ignored", n ? "; " : "");
    if (t->guessed)
        snprintf(note + n, 256 - n, "%sguessed value = pixel / 255, %s (the model says nothing about images)",
                 n ? "; " : "", t->channels == 1 ? "gray" : "rgb");
}

infrt_status infrt_image_read(infrt_bytes file, const char *where, const infc_tensor_info *info,
                              const infc_image_info *image, infrt_tensor *out, char note[256],
                              infrt_error *error) {
    target t;
    infrt_pixels pixels;
    const char *why = "unknown";
    uint64_t bytes;
    bool had_alpha = false, done = false;
    note[0] = 0;
    infrt_status status = target_find(info, image, where, &t, error);
    if (status != INFRT_OK) return status;
    if (!infrt_shape_bytes(info->dtype, info->rank, info->dims, &bytes))
        return infrt_fail(error, INFRT_ERR_INTERNAL, "\"%s\" has no size", info->name);
    if (!infrt_pixels_decode(file, &pixels, &why))
        return infrt_fail(error, INFRT_ERR_DATA, "%s: not a PNG, JPEG or BMP that can be read: %s", where, why);

    bool resized = pixels.width != t.width || pixels.height != t.height;
    uint8_t *native = channels_convert(&pixels, t.channels, &had_alpha), *fitted = native;
    void *values = malloc((size_t)bytes);
    if (resized) fitted = malloc((size_t)t.width * (size_t)t.height * (size_t)t.channels);
    if (native && fitted && values) {
        done = !resized || infrt_image_resize(native, pixels.width, pixels.height, t.channels,
                                              fitted, t.width, t.height);
        if (done) values_store(&t, fitted, info->dtype, values);
    }
    note_write(&t, &pixels, resized, had_alpha, note);
    infrt_pixels_free(&pixels);
    if (fitted != native) free(fitted);
    free(native);
    if (!done) {
        free(values);
        return infrt_fail(error, INFRT_ERR_NO_MEMORY, "%s: no memory for the image", where);
    }
    *out = (infrt_tensor){.dtype = info->dtype, .rank = info->rank, .bytes = bytes, .data = values, .owned = values};
    memcpy(out->dims, info->dims, sizeof out->dims);
    return INFRT_OK;
}
