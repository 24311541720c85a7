/* broadcast.c - expand: axes of extent 1 repeated, and new ones before, of a plain tensor of any element type. */
#include "../op_rules.h"

static int walk(const infc_type *x, const infc_attr *shape, int64_t *extents, int64_t *strides) {
    int64_t s[INFC_MAX_RANK];
    int shift = shape->n_ints - x->rank;
    for (int i = 0; i < shape->n_ints; i++) {
        bool repeats = i < shift || x->dims[i - shift] == 1;
        s[i] = repeats ? 0 : infc_dims_product(x, i - shift + 1, x->rank);
    }
    return infc_walk_merge(shape->n_ints, shape->ints, s, extents, strides);
}

const char *infc_shape_expand(infc_arena *arena, const infc_op_desc *desc, infc_type *out) {
    const char *wrong = infc_desc_check(arena, desc);
    if (!wrong) wrong = infc_want_layout(arena, desc, 0, INFC_LAYOUT_plain);
    if (wrong) return wrong;
    const infc_type *x = &desc->in[0];
    const infc_attr *shape = infc_desc_attr(desc, "shape");
    infc_type r = {.dtype = x->dtype, .rank = shape->n_ints}, both;
    for (int i = 0; i < r.rank; i++) r.dims[i] = shape->ints[i];
    wrong = infc_type_check(arena, &r);
    if (wrong) return wrong;
    if (!infc_type_broadcast(x, &r, &both) || !infc_shape_equal(&both, &r))
        return infc_arena_printf(arena, "%s cannot be repeated to %s", infc_type_text(arena, x),
                                 infc_type_text(arena, &r));
    int64_t extents[INFC_MAX_RANK], strides[INFC_MAX_RANK];
    if (walk(x, shape, extents, strides) > INFC_MAX_WALK)
        return infc_arena_printf(arena, "%s: more than %d axes are repeated",
                                 infc_type_text(arena, x), INFC_MAX_WALK);
    *out = r;
    return NULL;
}

void infc_call_expand(const infc_op_desc *desc, infc_kernel_call *out) {
    int64_t extents[INFC_MAX_RANK], strides[INFC_MAX_RANK];
    int n = walk(&desc->in[0], infc_desc_attr(desc, "shape"), extents, strides);
    infc_call_strided(desc->in[0].dtype, 0, n, extents, strides, out);
}
