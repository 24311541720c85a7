/* pool.c - 2-D maximum and average. x and result: plain or c16 each. Every window holds at least one pixel. */
#include "../op_rules.h"

static const char *check(infc_arena *arena, const infc_op_desc *desc) {
    const infc_type *x = &desc->in[0];
    const char *wrong = infc_want_f32(arena, desc, 0);
    if (!wrong) wrong = infc_want_ints(arena, desc, "kernel", 2, 1, INFC_MAX_WINDOW);
    if (!wrong) wrong = infc_want_ints(arena, desc, "strides", 2, 1, INFC_MAX_WINDOW);
    if (!wrong) wrong = infc_want_ints(arena, desc, "dilations", 2, 1, INFC_MAX_WINDOW);
    if (!wrong) wrong = infc_want_ints(arena, desc, "pads", 4, 0, INFC_MAX_WINDOW);
    if (!wrong && desc->kind == INFC_OP_pool_avg)
        wrong = infc_want_int(arena, desc, "count_include_pad", 0, 1);
    if (wrong) return wrong;
    if (x->rank != 4 || infc_type_count(x) == 0 || infc_layout_is_packed(x->layout))
        return infc_arena_printf(arena, "needs an image [N,C,H,W] with elements, not %s",
                                 infc_type_text(arena, x));
    return NULL;
}

/* A window may overlap the padding but not lie in it: its pads are smaller than it, and its taps lie no
 * further apart than the image is wide. */
static const char *check_pixels(infc_arena *arena, int64_t extent, int64_t kernel, int64_t before,
                                int64_t after, int64_t dilation) {
    int64_t reach = infc_window_reach(kernel, dilation);
    if (infc_dim_least(infc_dim_sub(reach, before)) < 1 || infc_dim_least(infc_dim_sub(reach, after)) < 1)
        return infc_arena_printf(arena, "pads %s and %s must be smaller than the window, %s",
                                 infc_dim_text(arena, before), infc_dim_text(arena, after),
                                 infc_dim_text(arena, reach));
    if (infc_dim_most(kernel) > 1 && dilation > infc_dim_least(extent))
        return infc_arena_printf(arena, "dilation %lld is larger than the image, %s",
                                 (long long)dilation, infc_dim_text(arena, extent));
    return NULL;
}

const char *infc_shape_pool(infc_arena *arena, const infc_op_desc *desc, infc_type *out) {
    const char *wrong = infc_desc_check(arena, desc);
    if (!wrong) wrong = check(arena, desc);
    if (wrong) return wrong;
    const infc_type *x = &desc->in[0];
    const int64_t *kernel = infc_desc_attr(desc, "kernel")->ints;
    const int64_t *strides = infc_desc_attr(desc, "strides")->ints;
    const int64_t *pads = infc_desc_attr(desc, "pads")->ints;
    const int64_t *dilations = infc_desc_attr(desc, "dilations")->ints;
    infc_type r = *x;
    for (int i = 0; i < 2; i++) {
        int64_t extent = x->dims[2 + i];
        r.dims[2 + i] =
            infc_window_extent(extent, pads[i], pads[2 + i], kernel[i], strides[i], dilations[i]);
        if (infc_dim_least(r.dims[2 + i]) < 1)
            return infc_arena_printf(arena, "the window is larger than the padded image %s%s",
                                     infc_type_text(arena, x), infc_window_advice(x));
        wrong = check_pixels(arena, extent, kernel[i], pads[i], pads[2 + i], dilations[i]);
        if (wrong) return wrong;
    }
    wrong = infc_type_check(arena, &r);
    if (!wrong) *out = r;
    return wrong;
}

void infc_call_pool(const infc_op_desc *desc, infc_kernel_call *out) {
    const infc_type *x = &desc->in[0], *y = &desc->out;
    const int64_t *kernel = infc_desc_attr(desc, "kernel")->ints;
    const int64_t *strides = infc_desc_attr(desc, "strides")->ints;
    const int64_t *pads = infc_desc_attr(desc, "pads")->ints;
    const int64_t *dilations = infc_desc_attr(desc, "dilations")->ints;
    bool average = desc->kind == INFC_OP_pool_avg;
    infc_image_strides xs = infc_image_strides_of(x), ys = infc_image_strides_of(y);
    *out = (infc_kernel_call){.kind = average ? INFK_pool_avg : INFK_pool_max, .types = {"f32", "", "f32"}};
    out->dims.pool = (infk_pool_dims){
        .batch = (ptrdiff_t)x->dims[0],
        .c = (ptrdiff_t)x->dims[1],
        .ih = (ptrdiff_t)x->dims[2],
        .iw = (ptrdiff_t)x->dims[3],
        .oh = (ptrdiff_t)y->dims[2],
        .ow = (ptrdiff_t)y->dims[3],
        .kh = (ptrdiff_t)kernel[0],
        .kw = (ptrdiff_t)kernel[1],
        .sh = (ptrdiff_t)strides[0],
        .sw = (ptrdiff_t)strides[1],
        .ph = (ptrdiff_t)pads[0],
        .pw = (ptrdiff_t)pads[1],
        .eh = (ptrdiff_t)pads[2],
        .ew = (ptrdiff_t)pads[3],
        .dh = (ptrdiff_t)dilations[0],
        .dw = (ptrdiff_t)dilations[1],
        INFC_IMAGE_STRIDES(xs, ys),
        .count_pad = average ? (ptrdiff_t)infc_desc_int(desc, "count_include_pad") : 0,
    };
}
