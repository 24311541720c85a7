/* norm.c - rows along the last axis, each brought to mean square 1, after its mean is taken off when `center` is 1;
 * plain only. `epsilon` is the bit pattern of an f32. Sums are 16 partial sums by index mod 16. */
#include "../op_rules.h"

const char *infc_shape_norm(infc_arena *arena, const infc_op_desc *desc, infc_type *out) {
    const char *wrong = infc_desc_check(arena, desc);
    if (!wrong) wrong = infc_want_f32(arena, desc, 0);
    if (!wrong) wrong = infc_want_layout(arena, desc, 0, INFC_LAYOUT_plain);
    if (!wrong) wrong = infc_want_int(arena, desc, "center", 0, 1);
    if (!wrong)
        wrong = infc_want_int(arena, desc, "epsilon", 0, 0x7f7fffff); /* finite, not below 0 */
    if (wrong) return wrong;
    const infc_type *x = &desc->in[0];
    if (x->rank == 0 || x->dims[x->rank - 1] == 0)
        return infc_arena_printf(arena, "a row of %s has no elements", infc_type_text(arena, x));
    *out = *x;
    return NULL;
}

void infc_call_norm(const infc_op_desc *desc, infc_kernel_call *out) {
    const infc_type *x = &desc->in[0];
    *out = (infc_kernel_call){.kind = INFK_norm, .types = {"f32", "", "f32"}};
    out->dims.norm = (infk_norm_dims){
        .outer = (ptrdiff_t)infc_dims_product(x, 0, x->rank - 1),
        .r = (ptrdiff_t)x->dims[x->rank - 1],
        .center = (ptrdiff_t)infc_desc_int(desc, "center"),
        .epsilon = (ptrdiff_t)infc_desc_int(desc, "epsilon"),
    };
}
