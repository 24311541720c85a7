/* resize.c - an image [N,C,H,W] to other extents. x and result: plain or c16 each. The attributes have one number for
 * each of the two axes: the new extent; whether sources count from pixel centres (half); num and den (the bits of an
 * f32) of the step, where den -1 and -2 say that both follow from the extents, as `by` 1 and 2; pick: 0 linear (for
 * both or neither), or which pixel is the nearest. See resize_dims.def. */
#include "../op_rules.h"

static const char *check_attrs(infc_arena *arena, const infc_op_desc *desc) {
    const char *wrong = infc_want_ints(arena, desc, "size", 2, 1, INFC_MAX_WINDOW);
    if (!wrong) wrong = infc_want_ints(arena, desc, "half", 2, 0, 1);
    if (!wrong) wrong = infc_want_ints(arena, desc, "num", 2, 0, INFC_MAX_WINDOW);
    if (!wrong)
        wrong = infc_want_ints(arena, desc, "den", 2, -2, 0x7f7fffff); /* finite, or see above */
    if (!wrong) wrong = infc_want_ints(arena, desc, "pick", 2, 0, 4);
    if (wrong) return wrong;
    const int64_t *pick = infc_desc_attr(desc, "pick")->ints, *den = infc_desc_attr(desc, "den")->ints;
    if (den[0] == 0 || den[1] == 0) return infc_arena_printf(arena, "\"den\" holds 0");
    if ((pick[0] == 0) != (pick[1] == 0))
        return infc_arena_printf(arena, "linear along one axis only is not supported");
    return NULL;
}

const char *infc_shape_resize(infc_arena *arena, const infc_op_desc *desc, infc_type *out) {
    const char *wrong = infc_desc_check(arena, desc);
    if (!wrong) wrong = infc_want_f32(arena, desc, 0);
    if (!wrong) wrong = check_attrs(arena, desc);
    if (wrong) return wrong;
    infc_type r = desc->in[0];
    if (r.rank != 4 || infc_layout_is_packed(r.layout) || infc_type_count(&r) == 0)
        return infc_arena_printf(arena, "needs an image [N,C,H,W] with pixels, not %s",
                                 infc_type_text(arena, &r));
    for (int i = 0; i < 2; i++) {
        if (infc_dim_most(r.dims[2 + i]) > INFC_MAX_WINDOW)
            return infc_arena_printf(arena, "the image %s is too large", infc_type_text(arena, &r));
        r.dims[2 + i] = infc_desc_attr(desc, "size")->ints[i];
    }
    wrong = infc_type_check(arena, &r);
    if (!wrong) *out = r;
    return wrong;
}

void infc_call_resize(const infc_op_desc *desc, infc_kernel_call *out) {
    const infc_type *x = &desc->in[0], *y = &desc->out;
    const int64_t *half = infc_desc_attr(desc, "half")->ints;
    const int64_t *num = infc_desc_attr(desc, "num")->ints;
    const int64_t *den = infc_desc_attr(desc, "den")->ints;
    const int64_t *pick = infc_desc_attr(desc, "pick")->ints;
    infc_image_strides xs = infc_image_strides_of(x), ys = infc_image_strides_of(y);
    *out = (infc_kernel_call){.kind = INFK_resize, .types = {"f32", "", "f32"}};
    out->dims.resize = (infk_resize_dims){
        .batch = (ptrdiff_t)x->dims[0],
        .c = (ptrdiff_t)x->dims[1],
        .ih = (ptrdiff_t)x->dims[2],
        .iw = (ptrdiff_t)x->dims[3],
        .oh = (ptrdiff_t)y->dims[2],
        .ow = (ptrdiff_t)y->dims[3],
        .h_half = (ptrdiff_t)half[0],
        .w_half = (ptrdiff_t)half[1],
        .h_num = (ptrdiff_t)num[0],
        .w_num = (ptrdiff_t)num[1],
        .h_den = (ptrdiff_t)den[0],
        .w_den = (ptrdiff_t)den[1],
        .h_by = den[0] > 0 ? 0 : -(ptrdiff_t)den[0],
        .w_by = den[1] > 0 ? 0 : -(ptrdiff_t)den[1],
        .h_pick = (ptrdiff_t)pick[0],
        .w_pick = (ptrdiff_t)pick[1],
        INFC_IMAGE_STRIDES(xs, ys),
    };
}
