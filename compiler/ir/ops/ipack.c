/* ipack.c - weights of integer sums in panels of 16 outputs, for x of int16 (ipack) or of u8 (qpack). Each output's sum
 * starts at an i32, which takes in a bias, so that nothing has to be added after the sum in integers: [K,N], [B,K,N] or
 * [O,C,KH,KW], and [N] or [O]. */
#include "../op_rules.h"

static int64_t outputs_of(const infc_type *w) { return w->dims[w->rank == 4 ? 0 : w->rank - 1]; }

const char *infc_shape_ipack(infc_arena *arena, const infc_op_desc *desc, infc_type *out) {
    const char *wrong = infc_desc_check(arena, desc);
    for (int i = 0; !wrong && i < 2; i++)
        wrong = infc_want_layout(arena, desc, i, INFC_LAYOUT_plain);
    if (wrong) return wrong;
    const infc_type *w = &desc->in[0], *starts = &desc->in[1];
    const bool bytes = desc->kind == INFC_OP_qpack;
    const infc_dtype other = bytes ? INFC_DTYPE_u8 : INFC_DTYPE_i16;
    if ((w->dtype != INFC_DTYPE_i8 && w->dtype != other) || w->rank < 2 || w->rank > 4 ||
        infc_type_count(w) == 0)
        return infc_arena_printf(arena, "packs i8 or %s of 2 to 4 dimensions, not %s",
                                 infc_dtype_name(other), infc_type_text(arena, w));
    if (starts->dtype != INFC_DTYPE_i32 || starts->rank != 1 || starts->dims[0] != outputs_of(w))
        return infc_arena_printf(arena, "operand 1 must be i32[%s], not %s",
                                 infc_dim_text(arena, outputs_of(w)), infc_type_text(arena, starts));
    if (w->rank == 4 && infc_type_open(w))
        return infc_arena_printf(arena, "a convolution's weight needs fixed dimensions, not %s",
                                 infc_type_text(arena, w));
    infc_type r = *w;
    r.layout = bytes ? INFC_LAYOUT_qpanel : INFC_LAYOUT_ipanel;
    if (bytes) r.dtype = INFC_DTYPE_i8;
    wrong = infc_type_check(arena, &r);
    if (!wrong) *out = r;
    return wrong;
}

void infc_call_ipack(const infc_op_desc *desc, infc_kernel_call *out) {
    const infc_type *w = &desc->in[0];
    const char *type = infc_dtype_name(w->dtype);
    const bool bytes = desc->kind == INFC_OP_qpack;
    const infk_kind matrix = bytes ? INFK_qpack_matmul : INFK_ipack_matmul;
    const infk_kind conv = bytes ? INFK_qpack_conv : INFK_ipack_conv;
    *out = (infc_kernel_call){.kind = w->rank == 4 ? conv : matrix, .types = {type, "i32", bytes ? "i8" : type}};
    infk_relayout_dims d = {.batch = 1, .c = (ptrdiff_t)outputs_of(w), .hw = 1};
    d.k = (ptrdiff_t)w->dims[w->rank == 4 ? 1 : w->rank - 2];
    if (w->rank == 3) d.batch = (ptrdiff_t)w->dims[0];
    if (w->rank == 4) d.hw = (ptrdiff_t)infc_dims_product(w, 2, 4);
    out->dims.relayout = d;
}

const char *infc_want_integers(infc_arena *arena, const infc_op_desc *desc) {
    const bool bytes = desc->n_in > 2;
    const infc_dtype want = bytes ? INFC_DTYPE_u8 : INFC_DTYPE_i16;
    for (int i = 0; i < desc->n_in; i++) {
        if (i == 1) continue;
        if (desc->in[i].dtype != want)
            return infc_arena_printf(arena, "operand %d must be %s, not %s", i,
                                     infc_dtype_name(want), infc_dtype_name(desc->in[i].dtype));
        if (i > 1 && infc_type_count(&desc->in[i]) != 1)
            return infc_arena_printf(arena, "operand %d must be one zero point, not %s", i,
                                     infc_type_text(arena, &desc->in[i]));
    }
    return infc_want_layout(arena, desc, 1, bytes ? INFC_LAYOUT_qpanel : INFC_LAYOUT_ipanel);
}
