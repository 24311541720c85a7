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
        s[i] = shape[i] == 0 || shape[i] == 1 ? 0 : infc_dim_mul(stride, steps[i]);
        *base = infc_dim_add(*base, infc_dim_mul(stride, starts[i]));
    }
    return infc_walk_merge(x->rank, shape, s, extents, strides);
}

/* For all sizes. */
static bool lies_in(int64_t index, int64_t extent) {
    int64_t room = infc_dim_sub(extent, index);
    return index != INFC_DIM_BAD && infc_dim_least(index) >= 0 && infc_dim_least(room) > 0 && room != INFC_DIM_BAD;
}

static const char *check_axis(infc_arena *arena, int axis, int64_t extent, int64_t start,
                              int64_t step, int64_t count) {
    if (infc_dim_least(start) >= 0 && count == 0 && infc_dim_least(infc_dim_sub(extent, start)) >= 0)
        return NULL;
    int64_t last = infc_dim_add(start, infc_dim_mul(infc_dim_sub(count, 1), step));
    bool fits = step != 0 && infc_dim_least(count) > 0 && lies_in(start, extent) && lies_in(last, extent);
    if (fits) return NULL;
    return infc_arena_printf(arena, "%s elements from %s in steps of %lld do not lie in axis %d, %s long",
                             infc_dim_text(arena, count), infc_dim_text(arena, start),
                             (long long)step, axis, infc_dim_text(arena, extent));
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
