/* matmul.c - [..,M,K] x [..,K,N]. a: plain; w: plain or panel, f32, f16, bf16 or i8; the result is plain f32.
 *
 * Batch dims are equal, or all 1 on one side: that is what one batch stride can say. A w shared by all
 * products makes them one product of more rows; the order of each sum stays the same. A panel has rank 2 or
 * 3, since rank 4 means a convolution's weight: batch dims are merged before packing. */
#include "../op_rules.h"

static const char *check(infc_arena *arena, const infc_op_desc *desc) {
    const infc_type *a = &desc->in[0], *w = &desc->in[1];
    bool integer = infc_op_sums_integers(desc->kind);
    const char *wrong = integer ? infc_want_integers(arena, desc) : infc_want_f32(arena, desc, 0);
    if (!wrong) wrong = infc_want_layout(arena, desc, 0, INFC_LAYOUT_plain);
    if (wrong) return wrong;
    const bool half = infc_dtype_is_half(w->dtype);
    if (!integer && !half && w->dtype != INFC_DTYPE_f32 && w->dtype != INFC_DTYPE_i8)
        return infc_arena_printf(arena, "operand 1 is %s; f32, f16, bf16 and i8 are supported",
                                 infc_dtype_name(w->dtype));
    if (w->layout == INFC_LAYOUT_c16 || (!integer && w->layout > INFC_LAYOUT_panel) ||
        (infc_layout_is_packed(w->layout) && w->rank == 4))
        return infc_arena_printf(arena, "operand 1 must be plain, or a panel of rank 2 or 3, not %s",
                                 infc_type_text(arena, w));
    if (a->rank < 2 || w->rank < 2)
        return infc_arena_printf(arena, "%s and %s: both need at least 2 dimensions",
                                 infc_type_text(arena, a), infc_type_text(arena, w));
    if (a->dims[a->rank - 1] != w->dims[w->rank - 2])
        return infc_arena_printf(arena, "%s and %s: inner dimensions %s and %s differ",
                                 infc_type_text(arena, a), infc_type_text(arena, w),
                                 infc_dim_text(arena, a->dims[a->rank - 1]),
                                 infc_dim_text(arena, w->dims[w->rank - 2]));
    if (a->dims[a->rank - 1] == 0) return infc_arena_printf(arena, "the inner dimension is 0");
    return NULL;
}

static int64_t batch_count(const infc_type *batch) {
    return infc_dims_product(batch, 0, batch->rank);
}

static infc_type batch_dims(const infc_type *type) {
    infc_type batch = *type;
    batch.rank -= 2;
    batch.layout = INFC_LAYOUT_plain;
    return batch;
}

const char *infc_shape_matmul(infc_arena *arena, const infc_op_desc *desc, infc_type *out) {
    const char *wrong = infc_desc_check(arena, desc);
    if (!wrong) wrong = check(arena, desc);
    if (wrong) return wrong;
    const infc_type *a = &desc->in[0], *w = &desc->in[1];
    infc_type ab = batch_dims(a), wb = batch_dims(w), r;
    if (!infc_type_broadcast(&ab, &wb, &r))
        return infc_arena_printf(arena, "%s and %s: batch dimensions do not broadcast",
                                 infc_type_text(arena, a), infc_type_text(arena, w));
    int64_t na = batch_count(&ab), nw = batch_count(&wb), n = batch_count(&r);
    wrong = infc_type_check(arena, &r);
    if (wrong) return wrong;
    if (na != 1 && nw != 1 && (na != n || nw != n))
        return infc_arena_printf(arena, "%s and %s: only one side may repeat over batch dimensions",
                                 infc_type_text(arena, a), infc_type_text(arena, w));
    r.dtype = infc_op_sums_integers(desc->kind) ? INFC_DTYPE_i32 : INFC_DTYPE_f32;
    r.rank += 2;
    if (r.rank > INFC_MAX_RANK)
        return infc_arena_printf(arena, "more than %d dimensions", INFC_MAX_RANK);
    r.dims[r.rank - 2] = a->dims[a->rank - 2];
    r.dims[r.rank - 1] = w->dims[w->rank - 1];
    wrong = infc_type_check(arena, &r);
    if (!wrong) *out = r;
    return wrong;
}

void infc_call_matmul(const infc_op_desc *desc, infc_kernel_call *out) {
    const infc_type *a = &desc->in[0], *w = &desc->in[1];
    infc_type ab = batch_dims(a), wb = batch_dims(w), packed = *w;
    int64_t na = batch_count(&ab), nw = batch_count(&wb);
    int64_t m = a->dims[a->rank - 2], k = a->dims[a->rank - 1], n = w->dims[w->rank - 1];
    int64_t batch = nw; /* 1 or all of them, as the shape rule demands */
    if (nw == 1) m = infc_dim_mul(m, na);
    packed.layout = INFC_LAYOUT_panel;
    packed.rank = 2;
    packed.dims[0] = k;
    packed.dims[1] = n;
    int64_t w_batch = infc_dim_mul(infc_panel_inner(&packed), infc_round_up(n, 16));
    *out = (infc_kernel_call){.kind = infk_fast(desc->fast, infc_dtype_name(w->dtype)),
                              .types = {"f32", infc_dtype_name(w->dtype), "f32"}};
    if (infc_op_sums_integers(desc->kind)) {
        const bool bytes = desc->kind != INFC_OP_imatmul;
        const infk_kind kind = desc->kind == INFC_OP_qmatmul_both ? INFK_qmatmul_both
                               : bytes                            ? INFK_qmatmul
                                                                  : INFK_imatmul;
        *out = (infc_kernel_call){.kind = kind,
                                  .types = {bytes ? "u8" : "i16", infc_dtype_name(w->dtype), "i32"}};
        packed.layout = w->layout;
        w_batch = infc_dim_mul(infc_ipanel_elements(&packed), infc_dim_blocks(n, 16));
    }
    out->dims.matmul = (infk_matmul_dims){
        .batch = (ptrdiff_t)batch,
        .m = (ptrdiff_t)m,
        .n = (ptrdiff_t)n,
        .k = (ptrdiff_t)k,
        .a_batch = batch == 1 || na == 1 ? 0 : (ptrdiff_t)infc_dim_mul(m, k),
        .a_row = (ptrdiff_t)k,
        .w_batch = batch == 1 ? 0 : (ptrdiff_t)w_batch,
        .y_batch = (ptrdiff_t)infc_dim_mul(m, n),
        .y_row = (ptrdiff_t)n,
    };
}
