/* concat.c - two to four tensors of any element type one after the other along an axis. Each operand is a copy of
 * its own into the result, so that a plan has a step per operand.
 *
 * Layouts: all plain, or all c16; along the channels of c16, every operand but the last has whole blocks. */
#include "../op_rules.h"

bool infc_op_is_concat(infc_op_kind kind) {
    return kind >= INFC_OP_concat2 && kind <= INFC_OP_concat4;
}

static const char *check_operand(infc_arena *arena, const infc_op_desc *desc, int i, int axis) {
    const infc_type *a = &desc->in[0], *b = &desc->in[i];
    bool same = a->dtype == b->dtype && a->rank == b->rank;
    for (int k = 0; same && k < a->rank; k++) same = k == axis || a->dims[k] == b->dims[k];
    if (!same)
        return infc_arena_printf(arena, "%s and %s do not join along axis %d",
                                 infc_type_text(arena, a), infc_type_text(arena, b), axis);
    if (infc_layout_is_packed(b->layout) || b->layout != a->layout)
        return infc_arena_printf(arena, "operand %d, %s, cannot stand beside %s", i,
                                 infc_type_text(arena, b), infc_type_text(arena, a));
    if (b->layout == INFC_LAYOUT_c16 && axis == 1 && i + 1 < desc->n_in && !infc_dim_multiple(b->dims[1], 16))
        return infc_arena_printf(arena, "operand %d, %s, ends within a block of channels", i,
                                 infc_type_text(arena, b));
    return NULL;
}

const char *infc_shape_concat(infc_arena *arena, const infc_op_desc *desc, infc_type *out) {
    const char *wrong = infc_desc_check(arena, desc);
    if (!wrong) wrong = infc_want_int(arena, desc, "axis", 0, desc->in[0].rank - 1);
    if (wrong) return wrong;
    int axis = (int)infc_desc_int(desc, "axis");
    infc_type r = desc->in[0];
    for (int i = 0; i < desc->n_in; i++) {
        wrong = check_operand(arena, desc, i, axis);
        if (wrong) return wrong;
        if (i > 0) r.dims[axis] = infc_dim_add(r.dims[axis], desc->in[i].dims[axis]);
    }
    wrong = infc_type_check(arena, &r);
    if (!wrong) *out = r;
    return wrong;
}

/* Neighbours in memory per index of the axes before `axis`; and how many such indices there are. */
static int64_t run_of(const infc_type *type, int axis, int64_t *outer) {
    *outer = infc_dims_product(type, 0, axis);
    if (type->layout != INFC_LAYOUT_c16) return infc_dims_product(type, axis, type->rank);
    int64_t blocks = infc_dim_blocks(type->dims[1], 16),
            pixels = infc_dim_mul(16, infc_dims_product(type, axis > 2 ? axis : 2, type->rank));
    if (axis >= 2) {
        *outer = infc_dim_mul(infc_dim_mul(type->dims[0], blocks), infc_dims_product(type, 2, axis));
        return pixels;
    }
    return infc_dim_mul(axis == 0 ? type->dims[0] : 1, infc_dim_mul(blocks, pixels));
}

void infc_call_concat_part(const infc_op_desc *desc, int part, infc_kernel_call *out) {
    int axis = (int)infc_desc_int(desc, "axis");
    int64_t outer, run = run_of(&desc->in[part], axis, &outer), before = 0, ignored;
    for (int i = 0; i < part; i++)
        before = infc_dim_add(before, run_of(&desc->in[i], axis, &ignored));
    int64_t extents[2] = {outer, run}, strides[2] = {run, 1};
    if (outer != 1) {
        infc_call_strided(desc->in[0].dtype, 0, 2, extents, strides, out);
        out->dims.strided.y_unit = (ptrdiff_t)run_of(&desc->out, axis, &ignored);
    } else {
        infc_call_strided(desc->in[0].dtype, 0, 1, extents + 1, strides + 1, out);
    }
    out->dims.strided.y_base = (ptrdiff_t)before;
}
