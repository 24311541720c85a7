/* slice.c - every steps-th element from starts on, along each axis of a plain tensor of any element type. */
#include "../op_rules.h"

/* Extents and input strides, merged; *base is the first element. */
static int walk(const infc_op_desc *desc, int64_t *extents, int64_t *strides, int64_t *base) {
    const infc_type *x = &desc->in[0];
    const int64_t *starts = infc_desc_attr(desc, "starts")->ints,
                  *steps = infc_desc_attr(desc, "steps")->ints;
    const int64_t *shape = infc_desc_attr(desc, "shape")->ints;
    int64_t s[INFC_MAX_RANK];
    *base = 0;
    for (int i = 0; i < x->rank; i++) {
        int64_t stride = infc_dims_product(x, i + 1, x->rank);
        s[i] = shape[i] > 1 ? stride * steps[i] : 0;
        *base += stride * starts[i];
    }
    return infc_walk_merge(x->rank, shape, s, extents, strides);
}

static const char *check_axis(infc_arena *arena, int axis, int64_t extent, int64_t start,
                              int64_t step, int64_t count) {
    int64_t last;
    if (count == 0 && start >= 0 && start <= extent) return NULL;
    bool fits = count > 0 && step != 0 && start >= 0 && start < extent && infc_mul(count - 1, step, &last) &&
                !__builtin_add_overflow(last, start, &last) && last >= 0 && last < extent;
    if (fits) return NULL;
    return infc_arena_printf(arena, "%lld elements from %lld in steps of %lld do not lie in axis %d, %lld long",
                             (long long)count, (long long)start, (long long)step, axis, (long long)extent);
}

const char *infc_shape_slice(infc_arena *arena, const infc_op_desc *desc, infc_type *out) {
    const char *wrong = infc_desc_check(arena, desc);
    if (!wrong) wrong = infc_want_layout(arena, desc, 0, INFC_LAYOUT_plain);
    if (wrong) return wrong;
    const infc_type *x = &desc->in[0];
    infc_type r = *x;
    static const char *const names[] = {"starts", "steps", "shape"};
    for (int i = 0; i < 3 && !wrong; i++)
        wrong = infc_want_ints(arena, desc, names[i], x->rank, -INFC_MAX_ELEMENTS, INFC_MAX_ELEMENTS);
    for (int i = 0; i < x->rank && !wrong; i++) {
        r.dims[i] = infc_desc_attr(desc, "shape")->ints[i];
        wrong = check_axis(arena, i, x->dims[i], infc_desc_attr(desc, "starts")->ints[i],
                           infc_desc_attr(desc, "steps")->ints[i], r.dims[i]);
    }
    if (wrong) return wrong;
    int64_t extents[INFC_MAX_RANK], strides[INFC_MAX_RANK], base;
    if (walk(desc, extents, strides, &base) > INFC_MAX_WALK)
        return infc_arena_printf(arena, "%s: more than %d axes are cut", infc_type_text(arena, x), INFC_MAX_WALK);
    *out = r;
    return NULL;
}

void infc_call_slice(const infc_op_desc *desc, infc_kernel_call *out) {
    int64_t extents[INFC_MAX_RANK], strides[INFC_MAX_RANK], base;
    int n = walk(desc, extents, strides, &base);
    infc_call_strided(desc->in[0].dtype, base, n, extents, strides, out);
}
