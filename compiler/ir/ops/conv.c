/* conv.c - 2-D convolution. x: plain or c16; weight: plain or panel; result: plain or c16, whichever its type
 * says (see op_rules.h). f32 x with f32 or i8 weights; the result is f32. */
#include "../op_rules.h"

static const char *check_attrs(infc_arena *arena, const infc_op_desc *desc) {
    const char *wrong = infc_want_ints(arena, desc, "strides", 2, 1, INFC_MAX_WINDOW);
    if (!wrong) wrong = infc_want_ints(arena, desc, "dilations", 2, 1, INFC_MAX_WINDOW);
    if (!wrong) wrong = infc_want_ints(arena, desc, "pads", 4, 0, INFC_MAX_WINDOW);
    return wrong;
}

static const char *check_operands(infc_arena *arena, const infc_op_desc *desc) {
    const infc_type *x = &desc->in[0], *w = &desc->in[1];
    bool integer = infc_op_sums_integers(desc->kind);
    const char *wrong = integer ? infc_want_integers(arena, desc) : infc_want_f32(arena, desc, 0);
    if (wrong) return wrong;
    if (!integer && w->dtype != INFC_DTYPE_f32 && w->dtype != INFC_DTYPE_i8)
        return infc_arena_printf(arena, "the weight is %s; f32 and i8 are supported",
                                 infc_dtype_name(w->dtype));
    if (x->rank != 4 || w->rank != 4)
        return infc_arena_printf(arena, "needs an image [N,C,H,W] and a weight [O,C,KH,KW], not %s and %s",
                                 infc_type_text(arena, x), infc_type_text(arena, w));
    if (infc_type_count(x) == 0 || infc_type_count(w) == 0)
        return infc_arena_printf(arena, "%s and %s: one has no elements", infc_type_text(arena, x),
                                 infc_type_text(arena, w));
    if (infc_layout_is_packed(x->layout) || w->layout == INFC_LAYOUT_c16 || (!integer && w->layout > INFC_LAYOUT_panel))
        return infc_arena_printf(arena,
                                 "the image must be plain or c16, the weight plain or panel");
    for (int i = 2; i < 4; i++)
        if (w->dims[i] > INFC_MAX_WINDOW)
            return infc_arena_printf(arena, "kernel extent %lld is too large", (long long)w->dims[i]);
    if (infc_dim_open(x->dims[1]) || infc_type_open(w))
        return infc_arena_printf(arena, "%s and %s: channels and the weight need fixed dimensions",
                                 infc_type_text(arena, x), infc_type_text(arena, w));
    int64_t groups = infc_desc_int(desc, "groups");
    if (groups < 1 || x->dims[1] % groups != 0 || w->dims[0] % groups != 0)
        return infc_arena_printf(arena, "%lld groups do not divide %lld input and %lld output channels",
                                 (long long)groups, (long long)x->dims[1], (long long)w->dims[0]);
    if (w->dims[1] != x->dims[1] / groups)
        return infc_arena_printf(arena, "the weight has %lld input channels per group, the image %lld",
                                 (long long)w->dims[1], (long long)(x->dims[1] / groups));
    return NULL;
}

const char *infc_shape_conv(infc_arena *arena, const infc_op_desc *desc, infc_type *out) {
    const char *wrong = infc_desc_check(arena, desc);
    if (!wrong) wrong = check_operands(arena, desc);
    if (!wrong) wrong = check_attrs(arena, desc);
    if (wrong) return wrong;
    const infc_type *x = &desc->in[0], *w = &desc->in[1];
    const int64_t *strides = infc_desc_attr(desc, "strides")->ints;
    const int64_t *pads = infc_desc_attr(desc, "pads")->ints;
    const int64_t *dilations = infc_desc_attr(desc, "dilations")->ints;
    infc_type r = {infc_op_sums_integers(desc->kind) ? INFC_DTYPE_i32 : INFC_DTYPE_f32,
                   x->layout,
                   4,
                   {x->dims[0], w->dims[0]}};
    for (int i = 0; i < 2; i++) {
        r.dims[2 + i] = infc_window_extent(x->dims[2 + i], pads[i], pads[2 + i], w->dims[2 + i],
                                           strides[i], dilations[i]);
        if (infc_dim_least(r.dims[2 + i]) < 1)
            return infc_arena_printf(arena, "the kernel is larger than the padded image %s%s",
                                     infc_type_text(arena, x), infc_window_advice(x));
    }
    wrong = infc_type_check(arena, &r);
    if (!wrong) *out = r;
    return wrong;
}

/* A convolution of single pixels does not see rows: some of them are taken as one, up to 64 pixels, so that tiles
 * of pixels are full on small images too. */
static void merge_rows(infk_conv_dims *d) {
    const bool single =
        d->kh == 1 && d->kw == 1 && d->sh == 1 && d->sw == 1 && d->oh == d->ih && d->ow == d->iw;
    if (!single || infc_dim_open(d->oh) || infc_dim_open(d->ow)) return;
    if (d->x_row != d->iw * d->x_col || d->y_row != d->ow * d->y_col) return;
    ptrdiff_t rows = d->ow < 64 ? 64 / d->ow : 1;
    if (rows > d->oh) rows = d->oh;
    while (d->oh % rows != 0) rows--;
    d->oh = d->ih = d->oh / rows;
    d->ow = d->iw = d->ow * rows;
    d->x_row *= rows;
    d->y_row *= rows;
}

void infc_call_conv(const infc_op_desc *desc, infc_kernel_call *out) {
    const infc_type *x = &desc->in[0], *w = &desc->in[1], *y = &desc->out;
    const int64_t *strides = infc_desc_attr(desc, "strides")->ints;
    const int64_t *pads = infc_desc_attr(desc, "pads")->ints;
    const int64_t *dilations = infc_desc_attr(desc, "dilations")->ints;
    infc_image_strides xs = infc_image_strides_of(x), ys = infc_image_strides_of(y);
    *out = (infc_kernel_call){.kind = INFK_conv, .types = {"f32", infc_dtype_name(w->dtype), "f32"}};
    if (desc->kind == INFC_OP_iconv)
        *out = (infc_kernel_call){.kind = INFK_iconv, .types = {"i16", infc_dtype_name(w->dtype), "i32"}};
    if (desc->kind == INFC_OP_qconv)
        *out = (infc_kernel_call){.kind = INFK_qconv, .types = {"u8", "i8", "i32"}};
    out->dims.conv = (infk_conv_dims){
        .batch = (ptrdiff_t)x->dims[0],
        .groups = (ptrdiff_t)infc_desc_int(desc, "groups"),
        .ic = (ptrdiff_t)w->dims[1],
        .oc = (ptrdiff_t)w->dims[0],
        .ih = (ptrdiff_t)x->dims[2],
        .iw = (ptrdiff_t)x->dims[3],
        .oh = (ptrdiff_t)y->dims[2],
        .ow = (ptrdiff_t)y->dims[3],
        .kh = (ptrdiff_t)w->dims[2],
        .kw = (ptrdiff_t)w->dims[3],
        .sh = (ptrdiff_t)strides[0],
        .sw = (ptrdiff_t)strides[1],
        .ph = (ptrdiff_t)pads[0],
        .pw = (ptrdiff_t)pads[1],
        .dh = (ptrdiff_t)dilations[0],
        .dw = (ptrdiff_t)dilations[1],
        INFC_IMAGE_STRIDES(xs, ys),
    };
    merge_rows(&out->dims.conv);
}
