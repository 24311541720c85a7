/* transpose.c - permutes axes of a plain tensor of any element type. The kernel walks at most 6 axes, counted
 * after dropping those of extent 1 and merging those that stay neighbours. */
#include "../op_rules.h"

enum { MAX_AXES = 6 };

/* Extents and input strides in output order, merged; the number of axes. */
static int walk(const infc_type *x, const int64_t *perm, int64_t *extents, int64_t *strides) {
    int n = 0;
    for (int i = 0; i < x->rank; i++) {
        int axis = (int)perm[i];
        int64_t extent = x->dims[axis], stride = infc_dims_product(x, axis + 1, x->rank);
        if (extent == 1) continue;
        if (n > 0 && strides[n - 1] == stride * extent) {
            extents[n - 1] *= extent;
            strides[n - 1] = stride;
            continue;
        }
        extents[n] = extent;
        strides[n++] = stride;
    }
    return n;
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
    if (walk(x, perm->ints, extents, strides) > MAX_AXES)
        return infc_arena_printf(arena, "%s: more than %d axes move", infc_type_text(arena, x), MAX_AXES);
    infc_type r = *x;
    for (int i = 0; i < x->rank; i++) r.dims[i] = x->dims[perm->ints[i]];
    *out = r;
    return NULL;
}

void infc_call_transpose(const infc_op_desc *desc, infc_kernel_call *out) {
    const infc_type *x = &desc->in[0];
    int64_t extents[INFC_MAX_RANK] = {0}, strides[INFC_MAX_RANK] = {0};
    int n = walk(x, infc_desc_attr(desc, "perm")->ints, extents, strides);
    *out = (infc_kernel_call){.kind = INFK_transpose};
    infc_call_by_size(out, x->dtype);
    ptrdiff_t d[MAX_AXES], s[MAX_AXES];
    for (int i = 0; i < MAX_AXES; i++) {
        int from = i - (MAX_AXES - n);
        d[i] = from < 0 ? 1 : (ptrdiff_t)extents[from];
        s[i] = from < 0 ? 0 : (ptrdiff_t)strides[from];
    }
    out->dims.transpose = (infk_transpose_dims){d[0], d[1], d[2], d[3], d[4], d[5],
                                                s[0], s[1], s[2], s[3], s[4], s[5]};
}
