/* softmax.c - along one axis; plain only. Sums are 16 partial sums by index mod 16, whatever the shape. */
#include "../op_rules.h"

const char *infc_shape_softmax(infc_arena *arena, const infc_op_desc *desc, infc_type *out) {
    const char *wrong = infc_desc_check(arena, desc);
    if (!wrong) wrong = infc_want_f32(arena, desc, 0);
    if (!wrong) wrong = infc_want_layout(arena, desc, 0, INFC_LAYOUT_plain);
    if (!wrong) wrong = infc_want_int(arena, desc, "axis", 0, desc->in[0].rank - 1);
    if (wrong) return wrong;
    if (desc->in[0].dims[infc_desc_int(desc, "axis")] == 0)
        return infc_arena_printf(arena, "axis %lld of %s has no elements",
                                 (long long)infc_desc_int(desc, "axis"),
                                 infc_type_text(arena, &desc->in[0]));
    *out = desc->in[0];
    return NULL;
}

void infc_call_softmax(const infc_op_desc *desc, infc_kernel_call *out) {
    const infc_type *x = &desc->in[0];
    int axis = (int)infc_desc_int(desc, "axis");
    *out = (infc_kernel_call){.kind = INFK_softmax, .types = {"f32", "", "f32"}};
    out->dims.softmax = (infk_softmax_dims){
        .outer = (ptrdiff_t)infc_dims_product(x, 0, axis),
        .r = (ptrdiff_t)x->dims[axis],
        .inner = (ptrdiff_t)infc_dims_product(x, axis + 1, x->rank),
    };
}
