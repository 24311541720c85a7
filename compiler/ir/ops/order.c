/* order.c - top and running_sum: along one axis, plain. top gives places as f32, so that an axis has at most 2^24. */
#include "../op_rules.h"

/* What both ask of their operand and "axis". */
static const char *check(infc_arena *arena, const infc_op_desc *desc) {
    const char *wrong = infc_desc_check(arena, desc);
    if (!wrong) wrong = infc_want_layout(arena, desc, 0, INFC_LAYOUT_plain);
    if (!wrong) wrong = infc_want_int(arena, desc, "axis", 0, desc->in[0].rank - 1);
    return wrong;
}

const char *infc_shape_top(infc_arena *arena, const infc_op_desc *desc, infc_type *out) {
    const char *wrong = check(arena, desc);
    if (!wrong) wrong = infc_want_f32(arena, desc, 0);
    if (wrong) return wrong;
    int axis = (int)infc_desc_int(desc, "axis");
    int64_t extent = desc->in[0].dims[axis];
    if (extent > 1 << 24)
        return infc_arena_printf(arena, "axis %d of %s is longer than %d", axis,
                                 infc_type_text(arena, &desc->in[0]), 1 << 24);
    wrong = infc_want_int(arena, desc, "k", 1, extent);
    if (!wrong) wrong = infc_want_int(arena, desc, "least", 0, 1);
    if (!wrong) wrong = infc_want_int(arena, desc, "last", 0, 1);
    if (wrong) return wrong;
    *out = desc->in[0];
    out->dims[axis] = infc_desc_int(desc, "k");
    return NULL;
}

void infc_call_top(const infc_op_desc *desc, infc_kernel_call *out) {
    const infc_type *x = &desc->in[0];
    int axis = (int)infc_desc_int(desc, "axis");
    *out = (infc_kernel_call){.kind = INFK_top, .types = {"f32", "", "f32"}};
    out->dims.top = (infk_top_dims){
        .outer = (ptrdiff_t)infc_dims_product(x, 0, axis),
        .r = (ptrdiff_t)x->dims[axis],
        .inner = (ptrdiff_t)infc_dims_product(x, axis + 1, x->rank),
        .k = (ptrdiff_t)infc_desc_int(desc, "k"),
        .least = (ptrdiff_t)infc_desc_int(desc, "least"),
        .last = (ptrdiff_t)infc_desc_int(desc, "last"),
    };
}

const char *infc_shape_running_sum(infc_arena *arena, const infc_op_desc *desc, infc_type *out) {
    const char *wrong = check(arena, desc);
    if (!wrong) wrong = infc_want_int(arena, desc, "reverse", 0, 1);
    if (!wrong) wrong = infc_want_int(arena, desc, "exclusive", 0, 1);
    if (wrong) return wrong;
    infc_dtype dtype = desc->in[0].dtype;
    if (dtype != INFC_DTYPE_f32 && dtype != INFC_DTYPE_i32 && dtype != INFC_DTYPE_i64)
        return infc_arena_printf(arena, "operand 0 is %s; f32, i32 and i64 are supported",
                                 infc_dtype_name(dtype));
    *out = desc->in[0];
    return NULL;
}

void infc_call_running_sum(const infc_op_desc *desc, infc_kernel_call *out) {
    const infc_type *x = &desc->in[0];
    const char *name = infc_dtype_name(x->dtype);
    int axis = (int)infc_desc_int(desc, "axis");
    *out = (infc_kernel_call){.kind = INFK_running_sum, .types = {name, "", name}};
    out->dims.running = (infk_running_dims){
        .outer = (ptrdiff_t)infc_dims_product(x, 0, axis),
        .r = (ptrdiff_t)x->dims[axis],
        .inner = (ptrdiff_t)infc_dims_product(x, axis + 1, x->rank),
        .reverse = (ptrdiff_t)infc_desc_int(desc, "reverse"),
        .exclusive = (ptrdiff_t)infc_desc_int(desc, "exclusive"),
    };
}
