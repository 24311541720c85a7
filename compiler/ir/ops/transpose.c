/* transpose.c - permutes axes of a plain tensor of any element type. The kernel walks at most 6 axes, counted
 * after dropping those of extent 1 and merging those that stay neighbours. */
#include "../op_rules.h"

/* Extents and input strides in output order, merged; the number of axes. */
static int walk(const infc_type *x, const int64_t *perm, int64_t *extents, int64_t *strides) {
    int64_t e[INFC_MAX_RANK], s[INFC_MAX_RANK];
    for (int i = 0; i < x->rank; i++) {
        e[i] = x->dims[perm[i]];
        s[i] = infc_dims_product(x, (int)perm[i] + 1, x->rank);
    }
    return infc_walk_merge(x->rank, e, s, extents, strides);
}

static const char *check_perm(infc_arena *arena, const infc_type *x, const infc_attr *perm) {
    if (perm->n_ints != x->rank)
        return infc_arena_printf(arena, "%d axes in \"perm\" for %s", perm->n_ints, infc_type_text(arena, x));
    unsigned seen = 0;
    for (int i = 0; i < x->rank; i++) {
        int64_t axis = perm->ints[i];
        if (axis < 0 || axis >= x->rank)
            return infc_arena_printf(arena, "axis %lld of %s is out of range", (long long)axis,
                                     infc_type_text(arena, x));
        if (seen >> axis & 1)
            return infc_arena_printf(arena, "axis %lld stands twice in \"perm\"", (long long)axis);
        seen |= 1u << axis;
    }
    return NULL;
}

const char *infc_shape_transpose(infc_arena *arena, const infc_op_desc *desc, infc_type *out) {
    const char *wrong = infc_desc_check(arena, desc);
    if (!wrong) wrong = infc_want_layout(arena, desc, 0, INFC_LAYOUT_plain);
    if (wrong) return wrong;
    const infc_type *x = &desc->in[0];
    const infc_attr *perm = infc_desc_attr(desc, "perm");
    wrong = check_perm(arena, x, perm);
    if (wrong) return wrong;
    int64_t extents[INFC_MAX_RANK], strides[INFC_MAX_RANK];
    if (walk(x, perm->ints, extents, strides) > INFC_MAX_WALK)
        return infc_arena_printf(arena, "%s: more than %d axes move", infc_type_text(arena, x), INFC_MAX_WALK);
    infc_type r = *x;
    for (int i = 0; i < x->rank; i++) r.dims[i] = x->dims[perm->ints[i]];
    *out = r;
    return NULL;
}

void infc_call_transpose(const infc_op_desc *desc, infc_kernel_call *out) {
    const infc_type *x = &desc->in[0];
    int64_t extents[INFC_MAX_RANK] = {0}, strides[INFC_MAX_RANK] = {0};
    int n = walk(x, infc_desc_attr(desc, "perm")->ints, extents, strides);
    infc_call_strided(x->dtype, 0, n, extents, strides, out);
}
