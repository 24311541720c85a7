#include "../op_rules.h"

const char *infc_shape_reshape(infc_arena *arena, const infc_op_desc *desc, infc_type *out) {
    const char *wrong = infc_desc_check(arena, desc);
    if (!wrong) wrong = infc_want_layout(arena, desc, 0, INFC_LAYOUT_plain);
    if (wrong) return wrong;
    const infc_attr *shape = infc_desc_attr(desc, "shape");
    infc_type r = {.dtype = desc->in[0].dtype, .rank = shape->n_ints};
    for (int i = 0; i < r.rank; i++) r.dims[i] = shape->ints[i];
    wrong = infc_type_check(arena, &r);
    if (wrong) return wrong;
    int64_t before = infc_dims_product(&desc->in[0], 0, desc->in[0].rank),
            after = infc_dims_product(&r, 0, r.rank);
    if (before != after)
        return infc_arena_printf(arena, "%s cannot become %s: %s and %s elements",
                                 infc_type_text(arena, &desc->in[0]), infc_type_text(arena, &r),
                                 infc_dim_text(arena, before), infc_dim_text(arena, after));
    *out = r;
    return NULL;
}
