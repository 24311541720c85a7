/* sample.c - pixels of a plain image [N,C,H,W] at places [N,H',W',2]. */
#include "../op_rules.h"

const char *infc_shape_sample(infc_arena *arena, const infc_op_desc *desc, infc_type *out) {
    const char *wrong = infc_desc_check(arena, desc);
    for (int i = 0; i < 2 && !wrong; i++) {
        wrong = infc_want_f32(arena, desc, i);
        if (!wrong) wrong = infc_want_layout(arena, desc, i, INFC_LAYOUT_plain);
    }
    if (!wrong) wrong = infc_want_int(arena, desc, "mode", 0, 2);
    if (!wrong) wrong = infc_want_int(arena, desc, "border", 0, 2);
    if (!wrong) wrong = infc_want_int(arena, desc, "align", 0, 1);
    if (wrong) return wrong;
    const infc_type *x = &desc->in[0], *grid = &desc->in[1];
    bool fits = x->rank == 4 && grid->rank == 4 && grid->dims[0] == x->dims[0] && grid->dims[3] == 2;
    if (!fits || infc_type_count(x) == 0)
        return infc_arena_printf(arena, "an image %s at the places %s", infc_type_text(arena, x),
                                 infc_type_text(arena, grid));
    infc_type r = {INFC_DTYPE_f32, INFC_LAYOUT_plain, 4, {x->dims[0], x->dims[1], grid->dims[1], grid->dims[2]}};
    wrong = infc_type_check(arena, &r);
    if (!wrong) *out = r;
    return wrong;
}

void infc_call_sample(const infc_op_desc *desc, infc_kernel_call *out) {
    const infc_type *x = &desc->in[0], *grid = &desc->in[1];
    *out = (infc_kernel_call){.kind = INFK_sample, .types = {"f32", "f32", "f32"}};
    out->dims.sample = (infk_sample_dims){
        .batch = (ptrdiff_t)x->dims[0],
        .c = (ptrdiff_t)x->dims[1],
        .ih = (ptrdiff_t)x->dims[2],
        .iw = (ptrdiff_t)x->dims[3],
        .oh = (ptrdiff_t)grid->dims[1],
        .ow = (ptrdiff_t)grid->dims[2],
        .mode = (ptrdiff_t)infc_desc_int(desc, "mode"),
        .border = (ptrdiff_t)infc_desc_int(desc, "border"),
        .align = (ptrdiff_t)infc_desc_int(desc, "align"),
    };
}
