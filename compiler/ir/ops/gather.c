/* gather.c - rows of x by computed indices, any element type; indices i32 or i64, both plain. Each must lie in
 * [-extent, extent): generated code checks it before the step, the evaluator before it runs the op. */
#include "../op_rules.h"

const char *infc_shape_gather(infc_arena *arena, const infc_op_desc *desc, infc_type *out) {
    const char *wrong = infc_desc_check(arena, desc);
    for (int i = 0; i < 2 && !wrong; i++)
        wrong = infc_want_layout(arena, desc, i, INFC_LAYOUT_plain);
    if (!wrong) wrong = infc_want_int(arena, desc, "axis", 0, desc->in[0].rank - 1);
    if (wrong) return wrong;
    const infc_type *x = &desc->in[0], *index = &desc->in[1];
    int axis = (int)infc_desc_int(desc, "axis"), rank = x->rank - 1 + index->rank;
    if (index->dtype != INFC_DTYPE_i32 && index->dtype != INFC_DTYPE_i64)
        return infc_arena_printf(arena, "indices are %s; i32 and i64 are supported",
                                 infc_dtype_name(index->dtype));
    if (x->dims[axis] == 0)
        return infc_arena_printf(arena, "axis %d of %s has no elements", axis, infc_type_text(arena, x));
    if (rank > INFC_MAX_RANK)
        return infc_arena_printf(arena, "the result has %d dimensions; at most %d are supported",
                                 rank, INFC_MAX_RANK);
    infc_type r = {.dtype = x->dtype, .rank = rank};
    for (int i = 0; i < rank; i++)
        r.dims[i] = i < axis                 ? x->dims[i]
                    : i < axis + index->rank ? index->dims[i - axis]
                                             : x->dims[i - index->rank + 1];
    wrong = infc_type_check(arena, &r);
    if (!wrong) *out = r;
    return wrong;
}

void infc_call_gather(const infc_op_desc *desc, infc_kernel_call *out) {
    const infc_type *x = &desc->in[0];
    int axis = (int)infc_desc_int(desc, "axis");
    *out = (infc_kernel_call){.kind = INFK_gather};
    infc_call_by_size(out, x->dtype);
    out->types[1] = infc_dtype_name(desc->in[1].dtype);
    out->dims.gather = (infk_gather_dims){
        .outer = (ptrdiff_t)infc_dims_product(x, 0, axis),
        .extent = (ptrdiff_t)x->dims[axis],
        .inner = (ptrdiff_t)infc_dims_product(x, axis + 1, x->rank),
        .n = (ptrdiff_t)infc_dims_product(&desc->in[1], 0, desc->in[1].rank),
    };
}
