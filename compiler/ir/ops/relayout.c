/* relayout.c - plain to c16, c16 to plain, plain to panel. */
#include "../op_rules.h"

const char *infc_shape_relayout(infc_arena *arena, const infc_op_desc *desc, infc_type *out) {
    const char *wrong = infc_desc_check(arena, desc);
    if (wrong) return wrong;
    infc_layout from = desc->in[0].layout, to = infc_desc_attr(desc, "layout")->layout;
    bool of_sums = to == INFC_LAYOUT_ipanel || to == INFC_LAYOUT_qpanel;
    bool known = (from == INFC_LAYOUT_plain && to != INFC_LAYOUT_plain && !of_sums) ||
                 (from == INFC_LAYOUT_c16 && to == INFC_LAYOUT_plain);
    infc_type r = desc->in[0];
    r.layout = to;
    if (!known)
        return infc_arena_printf(arena, "%s cannot become %s", infc_type_text(arena, &desc->in[0]),
                                 infc_layout_name(to));
    wrong = infc_type_check(arena, &r);
    if (!wrong) *out = r;
    return wrong;
}

void infc_call_by_size(infc_kernel_call *call, infc_dtype dtype) {
    static const char *const names[] = {[1] = "b1", [2] = "b2", [4] = "b4", [8] = "b8"};
    call->types[0] = call->types[2] = names[infc_dtype_bytes(dtype)];
    call->types[1] = "";
}

static infk_kind kind_of(const infc_type *x, const infc_type *y) {
    if (x->layout == INFC_LAYOUT_c16) return INFK_from_c16;
    if (y->layout == INFC_LAYOUT_c16) return INFK_to_c16;
    return x->rank == 4 ? INFK_pack_conv : INFK_pack_matmul;
}

void infc_call_relayout(const infc_op_desc *desc, infc_kernel_call *out) {
    const infc_type *x = &desc->in[0];
    infc_type y = *x;
    y.layout = infc_desc_attr(desc, "layout")->layout;
    *out = (infc_kernel_call){.kind = kind_of(x, &y)};
    infc_call_by_size(out, x->dtype);
    infk_relayout_dims d = {.batch = 1, .k = 1, .hw = 1};
    switch (out->kind) {
    case INFK_pack_conv:
        d.c = (ptrdiff_t)x->dims[0];
        d.k = (ptrdiff_t)x->dims[1];
        d.hw = (ptrdiff_t)infc_dims_product(x, 2, 4);
        break;
    case INFK_pack_matmul:
        d.batch = (ptrdiff_t)infc_dims_product(x, 0, x->rank - 2);
        d.k = (ptrdiff_t)x->dims[x->rank - 2];
        d.c = (ptrdiff_t)x->dims[x->rank - 1];
        break;
    default:
        d.batch = (ptrdiff_t)x->dims[0];
        d.c = (ptrdiff_t)x->dims[1];
        d.hw = (ptrdiff_t)infc_dims_product(x, 2, x->rank);
    }
    out->dims.relayout = d;
}
