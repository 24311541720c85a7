/* emit_image.c - inputs of kind image: that they fit the model, what the application needs to know, and the function
 * of NAME_prepare.c. */
#include "emit_prepare.h"

typedef struct picture {
    const infc_spec_image *image;
    int input;
    const infc_type *type;
    int64_t height, width; /* the largest */
} picture;

static infc_status picture_find(const infc_emit_unit *u, const infc_spec_image *image, picture *out) {
    *out = (picture){.image = image};
    INFC_TRY(infc_emit_input(u, image->loc, image->input, "", &out->input));
    const infc_type *type = out->type = &u->plan->buffers[u->plan->inputs[out->input]].type;
    const int axis = image->nhwc ? 3 : 1;
    const bool takes = type->dtype == INFC_DTYPE_f32 || type->dtype == INFC_DTYPE_u8;
    if (takes && type->rank == 4 && type->dims[0] == 1 && type->dims[axis] == image->channels) {
        out->height = infc_dim_most(type->dims[image->nhwc ? 1 : 2]);
        out->width = infc_dim_most(type->dims[image->nhwc ? 2 : 3]);
        return INFC_OK;
    }
    if (takes && type->rank == 4 && type->dims[0] != 1 && type->dims[axis] == image->channels)
        return infc_fail(u->cx, INFC_ERR_SPEC, image->loc,
                         "input \"%s\" is %s: a batch of %s, and a file is one image; give its "
                         "dimension 0 the size 1 "
                         "(key shapes, or export it so), or remove kind: image and give tensors",
                         image->input, infc_type_text(u->cx->arena, type),
                         infc_dim_open(type->dims[0]) ? "a size known only at run time"
                                                      : infc_dim_text(u->cx->arena, type->dims[0]));
    const char *wanted = image->nhwc ? "f32 or u8 [1,H,W,C]" : "f32 or u8 [1,C,H,W]";
    return infc_fail(u->cx, INFC_ERR_SPEC,
                     image->loc, "input \"%s\" is %s; an image of %d channels needs %s: change channels or layout",
                     image->input, infc_type_text(u->cx->arena, type), image->channels, wanted);
}

/* One number for each channel, over its std: (pixel * scale - mean) / std is a multiplication and a subtraction. */
static const char *per_channel(const infc_emit_unit *u, const infc_spec_image *image, const double values[4]) {
    infc_buf out = {.arena = u->cx->arena};
    for (int c = 0; c < 4; c++)
        infc_buf_printf(&out, "%s%af", c ? ", " : "",
                        (double)(float)(c < image->channels ? values[c] / image->std[c] : 0.0));
    return infc_buf_str(&out);
}

static void put_function(const infc_emit_unit *u, const picture *p, const char *field, infc_buf *out) {
    const infc_spec_image *image = p->image;
    infc_buf_printf(
        out,
        "static const infrt_image_form %s_form = {\n    .width = %lld,\n    .height = %lld,\n    "
        ".channels = %d,\n    .nhwc = %d,\n    .bgr = %d,\n    .u8 = %d,\n",
        field, (long long)p->width, (long long)p->height, image->channels, image->nhwc, image->bgr,
        p->type->dtype == INFC_DTYPE_u8);
    infc_buf_printf(out, "    .scale = {%s},\n    .mean = {%s},\n};\n\n",
                    per_channel(u, image, image->scale), per_channel(u, image, image->mean));
    infc_buf_printf(
        out,
        "int %s_prepare_%s(const uint8_t *pixels, int width, int height, int channels, size_t "
        "row_bytes, %s *to,\n    void *scratch) {\n"
        "    const infrt_image image = {pixels, width, height, channels, row_bytes};\n"
        "    if (!pixels || !to || !scratch || (uintptr_t)scratch %% 8 || "
        "!infrt_image_fits(&%s_form, &image))\n"
        "        return INFC_RUN_BAD_ARGUMENT;\n"
        "    const infrt_fpenv saved = infrt_fpenv_enter();\n"
        "    infrt_image_prepare(&%s_form, &image, to, scratch);\n"
        "    infrt_fpenv_leave(saved);\n"
        "    return INFC_RUN_OK;\n}\n",
        u->name, field, infc_dtype_c_type(p->type->dtype), field, field);
}

/* NAME.h: the function and its macros; the scratch is INFRT_IMAGE_SCRATCH with the input's own size. */
static void put_header(const infc_emit_unit *u, const picture *p, const char *field, infc_buf *out) {
    const char *macro = infc_arena_printf(u->cx->arena, "%s_PREPARE_%s", u->upper, field);
    const long long w = p->width, h = p->height;
    const int c = p->image->channels;
    infc_buf_printf(out,
                    "#define %s_WIDTH %lld\n#define %s_HEIGHT %lld\n"
                    "#define %s_SCRATCH(width, height) /* bytes, for an image of this size */ \\\n"
                    "    (8 + %lldu * (2 * (((size_t)(width) + %lldu) / %lldu) + 1) + %lldu + \\\n"
                    "     %lldu * (2 * (((size_t)(height) + %lldu) / %lldu) + 1) + %lldu + \\\n"
                    "     %du * ((size_t)(width) + (size_t)(height) * %lldu + %lldu))\n",
                    macro, w, macro, h, macro, 8 + 4 * w, w - 1, w, 8 * w, 8 + 4 * h, h - 1, h,
                    8 * h, c, w, w);
    infc_buf_printf(
        out,
        "/* The input %s, %s_WIDTH x %s_HEIGHT, from 8-bit pixels [height][width][channels], "
        "`row_bytes` from row\n"
        " * to row: 1 gray, 2 gray and alpha, 3 rgb, 4 rgb and alpha, which is dropped; sides of 1 "
        "to 65535.\n"
        " * `scratch`: %s_SCRATCH(width, height) bytes, 8 aligned. */\n"
        "int %s_prepare_%s(const uint8_t *pixels, int width, int height, int channels, size_t "
        "row_bytes, %s *to,\n    void *scratch);\n",
        field, macro, macro, macro, u->name, field, infc_dtype_c_type(p->type->dtype));
}

infc_status infc_emit_image(infc_emit_unit *u, infc_emit_prepare *out) {
    for (size_t i = 0; u->spec && i < u->spec->n_images; i++) {
        const infc_spec_image *image = &u->spec->images[i];
        picture p;
        INFC_TRY(picture_find(u, image, &p));
        infc_buf_printf(&out->image_infos, "    {%d, %d, %d, %d, {%s}, {%s}},\n", p.input,
                        image->channels, image->nhwc, image->bgr,
                        per_channel(u, image, image->scale), per_channel(u, image, image->mean));
        put_function(u, &p, u->input_fields[p.input], &out->code);
        put_header(u, &p, u->input_fields[p.input], &out->header);
    }
    return INFC_OK;
}
