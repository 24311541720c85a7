/* ConvTranspose whose windows lie side by side; what moves channels to pixels and back: DepthToSpace, SpaceToDepth. */
#include "ops_window.h"

/* [N, O*h*w, H, W] as [N, O, H*h, W*w]; `channels_last`: the channels are numbered [h, w, O] instead. */
static infc_status spread(infc_onnx_at *at, const infc_onnx_operand *x, int64_t h, int64_t w,
                          bool channels_last, infc_onnx_operand *out) {
    const int64_t *d = x->type.dims, channels = d[1] / (h * w);
    const int64_t first[] = {d[0], channels, h, w, d[2], d[3]},
                  last[] = {d[0], h, w, channels, d[2], d[3]};
    const int64_t shape[] = {d[0], channels, d[2] * h, d[3] * w};
    INFC_TRY(infc_onnx_view(at, x, channels_last ? last : first, 6, out));
    INFC_TRY(infc_onnx_permute(
        at, out, channels_last ? (const int64_t[]){0, 3, 4, 1, 5, 2} : (const int64_t[]){0, 1, 4, 2, 5, 3}, out));
    return infc_onnx_view(at, out, shape, 4, out);
}

static infc_status read_block(infc_onnx_at *at, infc_onnx_operand *out_x, int64_t *out_block, bool *out_crd) {
    INFC_TRY(infc_onnx_input(at, 0, out_x));
    *out_block = infc_onnx_attr_int(at, "blocksize", 0);
    *out_crd = infc_onnx_attr_is(at, "mode", "CRD");
    if (out_x->type.rank != 4)
        return infc_onnx_invalid(at, "the input has %d dimensions, not 4", out_x->type.rank);
    if (!infc_onnx_attr(at, "blocksize"))
        return infc_onnx_invalid(at, "attribute \"blocksize\" is missing");
    if (*out_block < 1 || *out_block > 1 << 20)
        return infc_onnx_invalid(at, "attribute \"blocksize\" is %lld, not from 1 to %d",
                                 (long long)*out_block, 1 << 20);
    if (infc_onnx_attr(at, "mode") && !*out_crd && !infc_onnx_attr_is(at, "mode", "DCR"))
        return infc_onnx_invalid(at, "attribute \"mode\" must be DCR or CRD");
    return INFC_OK;
}

infc_status infc_onnx_import_depth_to_space(infc_onnx_at *at) {
    infc_onnx_operand x, y;
    int64_t block = 0;
    bool crd = false;
    INFC_TRY(read_block(at, &x, &block, &crd));
    if (x.type.dims[1] % (block * block) != 0)
        return infc_onnx_invalid(at, "%lld channels do not make blocks of %lld x %lld",
                                 (long long)x.type.dims[1], (long long)block, (long long)block);
    INFC_TRY(spread(at, &x, block, block, !crd, &y));
    return infc_onnx_output(at, 0, &y);
}

infc_status infc_onnx_import_space_to_depth(infc_onnx_at *at) {
    infc_onnx_operand x, y;
    int64_t b = 0;
    bool crd = false;
    INFC_TRY(read_block(at, &x, &b, &crd));
    const int64_t *d = x.type.dims;
    if (d[2] % b != 0 || d[3] % b != 0)
        return infc_onnx_invalid(at, "%lld x %lld pixels do not make blocks of %lld x %lld",
                                 (long long)d[2], (long long)d[3], (long long)b, (long long)b);
    const int64_t parts[] = {d[0], d[1], d[2] / b, b, d[3] / b, b};
    const int64_t shape[] = {d[0], d[1] * b * b, d[2] / b, d[3] / b};
    INFC_TRY(infc_onnx_view(at, &x, parts, 6, &y));
    INFC_TRY(infc_onnx_permute(
        at, &y, crd ? (const int64_t[]){0, 1, 3, 5, 2, 4} : (const int64_t[]){0, 3, 5, 1, 2, 4}, &y));
    INFC_TRY(infc_onnx_view(at, &y, shape, 4, &y));
    return infc_onnx_output(at, 0, &y);
}

/* ---- ConvTranspose ------------------------------------------------------------------------------------- */

/* Every output comes from one pixel: the windows touch and nothing is cut off. */
static infc_status check_side_by_side(infc_onnx_at *at, const infc_onnx_window *w) {
    const infc_onnx_attribute *extra = infc_onnx_attr(at, "output_padding");
    bool fits = true;
    for (int i = 0; i < 4; i++) fits = fits && w->pads[i] == 0;
    for (int i = 0; i < 2; i++)
        fits = fits && w->kernel[i] == w->strides[i] && (w->kernel[i] == 1 || w->dilations[i] == 1);
    for (size_t i = 0; extra && i < extra->n_ints; i++) fits = fits && extra->ints[i] == 0;
    if (!fits || infc_onnx_attr(at, "output_shape"))
        return infc_onnx_refuse(
            at, "only kernels as large as the strides, without pads, dilations, output_padding "
                "and output_shape, are supported");
    return INFC_OK;
}

/* [C, O/groups, h, w] as the weight [O*h*w, C/groups, 1, 1] of a convolution of single pixels. */
static infc_status pixel_weight(infc_onnx_at *at, const infc_onnx_operand *w, int64_t groups,
                                infc_onnx_operand *out) {
    const int64_t *d = w->type.dims;
    const int64_t parts[] = {groups, d[0] / groups, d[1], d[2], d[3]};
    const int64_t shape[] = {groups * d[1] * d[2] * d[3], d[0] / groups, 1, 1};
    INFC_TRY(infc_onnx_view(at, w, parts, 5, out));
    INFC_TRY(infc_onnx_permute(at, out, (const int64_t[]){0, 2, 3, 4, 1}, out));
    return infc_onnx_view(at, out, shape, 4, out);
}

infc_status infc_onnx_import_conv_transpose(infc_onnx_at *at) {
    infc_onnx_operand in[2], y;
    infc_onnx_window window;
    int64_t groups = infc_onnx_attr_int(at, "group", 1);
    INFC_TRY(infc_onnx_input(at, 0, &in[0]));
    INFC_TRY(infc_onnx_input(at, 1, &in[1]));
    int spatial = in[0].type.rank - 2;
    if (in[0].type.rank != in[1].type.rank || spatial < 1 || in[0].type.dims[1] != in[1].type.dims[0])
        return infc_onnx_invalid(at, "the input is %s, the weight %s",
                                 infc_type_text(at->arena, &in[0].type),
                                 infc_type_text(at->arena, &in[1].type));
    if (groups < 1 || in[0].type.dims[1] % groups != 0)
        return infc_onnx_invalid(at, "%lld groups do not divide %lld input channels",
                                 (long long)groups, (long long)in[0].type.dims[1]);
    INFC_TRY(infc_onnx_image(at, &in[0], &in[0]));
    INFC_TRY(infc_onnx_image(at, &in[1], &in[1]));
    INFC_TRY(infc_onnx_window_read(at, &in[0].type, spatial, &in[1].type.dims[2], &window));
    INFC_TRY(check_side_by_side(at, &window));
    INFC_TRY(pixel_weight(at, &in[1], groups, &in[1]));
    infc_attr attrs[] = {
        infc_attr_ints("strides", (int64_t[]){1, 1}, 2),
        infc_attr_ints("pads", (int64_t[]){0, 0, 0, 0}, 4),
        infc_attr_ints("dilations", (int64_t[]){1, 1}, 2),
        infc_attr_int("groups", groups),
    };
    INFC_TRY(infc_onnx_build(at, INFC_OP_conv, in, 2, attrs, 4, &y));
    INFC_TRY(spread(at, &y, window.kernel[0], window.kernel[1], false, &y));
    INFC_TRY(infc_onnx_conv_bias(at, &y));
    return infc_onnx_image_output(at, &y, spatial);
}
