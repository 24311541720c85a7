/* tensor_image.c - an image file as an input: decoded here, the rest is image_pixels.h. */
#include "image_pixels.h"
#include "stb_decode.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* How the image becomes the input; guessed where `image` is null. */
static infrt_status form_find(const infc_tensor_info *info, const infc_image_info *image,
                              const char *where, infrt_image_form *out, infrt_error *error) {
    char shown[INFRT_SHAPE_TEXT];
    *out = (infrt_image_form){.unit = !image, .nhwc = image && image->nhwc, .bgr = image && image->bgr};
    const int64_t *d = info->dims;
    int64_t c = out->nhwc ? d[3] : d[1], h = out->nhwc ? d[1] : d[2], w = out->nhwc ? d[2] : d[3];
    bool dtype = info->dtype == INFC_DTYPE_f32 || (image && info->dtype == INFC_DTYPE_u8);
    if (!dtype || info->rank != 4 || d[0] != 1 || (c != 1 && c != 3) ||
        (image && c != image->channels) || h < 1 || w < 1 || h > INFRT_IMAGE_SIDE || w > INFRT_IMAGE_SIDE)
        return infrt_fail(error, INFRT_ERR_DATA,
                          "%s: \"%s\" is %s, which is not one image (f32 [1,C,H,W], C 1 or 3); "
                          "give a .npy, or say"
                          " how it is an image under `inputs` in the spec",
                          where, info->name, infrt_shape_text(info->dtype, info->rank, info->dims, shown));
    out->channels = (int32_t)c;
    out->height = (int32_t)h;
    out->width = (int32_t)w;
    out->u8 = info->dtype == INFC_DTYPE_u8;
    if (!image) return INFRT_OK;
    memcpy(out->scale, image->scale, sizeof out->scale);
    memcpy(out->mean, image->mean, sizeof out->mean);
    return INFRT_OK;
}

static bool has_alpha(const infrt_pixels *pixels) {
    const size_t channels = (size_t)pixels->channels, n = (size_t)pixels->width * (size_t)pixels->height;
    if (channels % 2) return false;
    for (size_t i = 0; i < n; i++)
        if (pixels->data[i * channels + channels - 1] != 255) return true;
    return false;
}

/* "resized from 28x28 to 8x8; alpha ignored; pixel / 255 (no image settings in this model)" */
static void note_write(const infrt_image_form *form, const infrt_pixels *from, char note[256]) {
    size_t n = 0;
    note[0] = 0;
    if (from->width != form->width || from->height != form->height)
        n += (size_t)snprintf(note, 256, "resized from %dx%d to %dx%d (bilinear)", from->width,
                              from->height, form->width, form->height);
    if (has_alpha(from))
        n += (size_t)snprintf(note + n, 256 - n, "%stransparency ignored", n ? "; " : "");
    if (form->unit)
        snprintf(note + n, 256 - n, "%sguessed value = pixel / 255, %s (the model says nothing about images)",
                 n ? "; " : "", form->channels == 1 ? "gray" : "rgb");
}

infrt_status infrt_image_read(infrt_bytes file, const char *where, const infc_tensor_info *info,
                              const infc_image_info *image, infrt_tensor *out, char note[256],
                              infrt_error *error) {
    infrt_image_form form;
    infrt_pixels pixels;
    const char *why = "unknown";
    uint64_t bytes;
    note[0] = 0;
    infrt_status status = form_find(info, image, where, &form, error);
    if (status != INFRT_OK) return status;
    if (!infrt_shape_bytes(info->dtype, info->rank, info->dims, &bytes))
        return infrt_fail(error, INFRT_ERR_INTERNAL, "\"%s\" has no size", info->name);
    if (!infrt_pixels_decode(file, &pixels, &why))
        return infrt_fail(error, INFRT_ERR_DATA, "%s: not a PNG, JPEG or BMP that can be read: %s", where, why);

    void *values = malloc((size_t)bytes);
    void *scratch =
        malloc(INFRT_IMAGE_SCRATCH(pixels.width, pixels.height, form.width, form.height, form.channels));
    const infrt_image seen = {pixels.data, pixels.width, pixels.height, pixels.channels,
                              (size_t)pixels.width * (size_t)pixels.channels};
    const bool done = values && scratch;
    if (done) infrt_image_prepare(&form, &seen, values, scratch);
    note_write(&form, &pixels, note);
    infrt_pixels_free(&pixels);
    free(scratch);
    if (!done) {
        free(values);
        return infrt_fail(error, INFRT_ERR_NO_MEMORY, "%s: no memory for the image", where);
    }
    *out = (infrt_tensor){.dtype = info->dtype, .rank = info->rank, .bytes = bytes, .data = values, .owned = values};
    memcpy(out->dims, info->dims, sizeof out->dims);
    return INFRT_OK;
}
