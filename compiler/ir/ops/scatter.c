/* scatter.c - rows put in at computed indices, any element type; plain. Indices i64 [n], each in [-rows, rows):
 * generated code checks it before the step, the evaluator before it runs the op. */
#include "../op_rules.h"

const char *infc_shape_scatter(infc_arena *arena, const infc_op_desc *desc, infc_type *out) {
    const char *wrong = infc_desc_check(arena, desc);
    for (int i = 0; i < 3 && !wrong; i++)
        wrong = infc_want_layout(arena, desc, i, INFC_LAYOUT_plain);
    if (!wrong) wrong = infc_want_int(arena, desc, "how", 0, 4);
    if (wrong) return wrong;
    const infc_type *x = &desc->in[0], *index = &desc->in[1], *rows = &desc->in[2];
    infc_type want = *x;
    if (x->rank > 0 && index->rank == 1) want.dims[0] = index->dims[0];
    if (x->rank < 1 || index->rank != 1 || index->dtype != INFC_DTYPE_i64 || !infc_type_equal(rows, &want))
        return infc_arena_printf(arena, "%s at %s into %s", infc_type_text(arena, rows),
                                 infc_type_text(arena, index), infc_type_text(arena, x));
    if (infc_desc_int(desc, "how") && x->dtype != INFC_DTYPE_f32)
        return infc_want_f32(arena, desc, 0);
    *out = *x;
    return NULL;
}

void infc_call_scatter(const infc_op_desc *desc, infc_kernel_call *out) {
    const infc_type *x = &desc->in[0];
    int64_t how = infc_desc_int(desc, "how");
    *out = (infc_kernel_call){.kind = how ? INFK_scatter_join : INFK_scatter, .types = {"f32", "", "f32"}};
    if (!how) infc_call_by_size(out, x->dtype);
    out->types[1] = "i64";
    out->dims.scatter = (infk_scatter_dims){
        .rows = (ptrdiff_t)x->dims[0],
        .inner = (ptrdiff_t)infc_dims_product(x, 1, x->rank),
        .n = (ptrdiff_t)desc->in[1].dims[0],
        .size = (ptrdiff_t)infc_dtype_bytes(x->dtype),
        .how = (ptrdiff_t)how,
    };
}
