/* reduce.c - sum and maximum over adjacent axes, which stay as 1.
 *
 * The order of a sum is part of the value, so it is decided here from axes and logical shape, never from the
 * layout, the batch or a sequence length (docs/numerics.md):
 *   - the last axis is not reduced: in order. Neighbours in memory are other outputs.
 *   - the last axis is reduced, an image's pixels are (rank 4 or more, axes 2..last), and it has at least 16
 *     channels: in order. Channel blocks make 16 channels neighbours, so this is how c16 runs it.
 *   - else: 16 partial sums by index mod 16, then a tree (lanes = 1).
 * Axes count, not extents: [7,1] and [7,5] reduced over axis 0 are summed alike.
 *
 * Layouts: plain, or c16 where only pixels (axes 2..) are reduced; the result's is the same. In memory c16 is
 * [N, C/16, pixels.., 16], so an axis range within the pixels is outer x r x inner there too; the kernel sums
 * each of the `inner` neighbours in the order above. */
#include "../op_rules.h"

static bool in_order(const infc_type *x, const infc_attr *axes) {
    int first = (int)axes->ints[0], last = (int)axes->ints[axes->n_ints - 1];
    if (last < x->rank - 1) return true;
    return x->rank >= 4 && first == 2 && x->dims[1] >= 16;
}

static const char *check_axes(infc_arena *arena, const infc_type *x, const infc_attr *axes) {
    if (axes->n_ints == 0) return infc_arena_printf(arena, "no axes to reduce");
    for (int i = 0; i < axes->n_ints; i++) {
        int64_t axis = axes->ints[i];
        if (axis < 0 || axis >= x->rank)
            return infc_arena_printf(arena, "axis %lld of %s is out of range", (long long)axis,
                                     infc_type_text(arena, x));
        if (i > 0 && axis != axes->ints[i - 1] + 1)
            return infc_arena_printf(arena,
                                     "axes must be adjacent and ascending, %lld follows %lld; "
                                     "reduce them one group at a time",
                                     (long long)axis, (long long)axes->ints[i - 1]);
        if (x->dims[axis] == 0)
            return infc_arena_printf(arena, "axis %lld of %s has no elements", (long long)axis,
                                     infc_type_text(arena, x));
    }
    return NULL;
}

const char *infc_shape_reduce(infc_arena *arena, const infc_op_desc *desc, infc_type *out) {
    const char *wrong = infc_desc_check(arena, desc);
    const infc_type *x = &desc->in[0];
    if (!wrong && x->dtype != INFC_DTYPE_i32 && x->dtype != INFC_DTYPE_i64)
        wrong = infc_want_f32(arena, desc, 0);
    if (wrong) return wrong;
    const infc_attr *axes = infc_desc_attr(desc, "axes");
    wrong = check_axes(arena, x, axes);
    if (wrong) return wrong;
    if (x->rank >= 4 && axes->ints[0] == 2 && infc_dim_open(x->dims[1])) /* the order of the sum hangs on it */
        return infc_arena_printf(arena, "%s over its pixels needs a fixed number of channels",
                                 infc_type_text(arena, x));
    if (infc_layout_is_packed(x->layout))
        return infc_want_layout(arena, desc, 0, INFC_LAYOUT_plain);
    if (x->layout == INFC_LAYOUT_c16 && axes->ints[0] < 2)
        return infc_arena_printf(arena, "%s over axis %lld needs a plain operand",
                                 infc_type_text(arena, x), (long long)axes->ints[0]);
    infc_type r = *x;
    for (int i = 0; i < axes->n_ints; i++) r.dims[axes->ints[i]] = 1;
    *out = r;
    return NULL;
}

void infc_call_reduce(const infc_op_desc *desc, infc_kernel_call *out) {
    const infc_type *x = &desc->in[0];
    const infc_attr *axes = infc_desc_attr(desc, "axes");
    int first = (int)axes->ints[0], end = (int)axes->ints[axes->n_ints - 1] + 1;
    int64_t outer = infc_dims_product(x, 0, first), inner = infc_dims_product(x, end, x->rank);
    if (x->layout == INFC_LAYOUT_c16) {
        outer = infc_dim_mul(infc_dim_mul(x->dims[0], infc_dim_blocks(x->dims[1], 16)),
                             infc_dims_product(x, 2, first));
        inner = infc_dim_mul(inner, 16);
    }
    *out = (infc_kernel_call){.kind = desc->kind == INFC_OP_reduce_sum ? INFK_reduce_sum : INFK_reduce_max,
                              .types = {infc_dtype_name(x->dtype), "", infc_dtype_name(x->dtype)}};
    out->dims.reduce = (infk_reduce_dims){
        .outer = (ptrdiff_t)outer,
        .r = (ptrdiff_t)infc_dims_product(x, first, end),
        .inner = (ptrdiff_t)inner,
        .lanes = !in_order(x, axes),
    };
}
