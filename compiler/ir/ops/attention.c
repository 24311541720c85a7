/* attention.c - by head: softmax(q . k * scale + mask) times v. q [B,M,*], k and v [B,N,*], plain f32: rows hold the
 * heads side by side, from column `at` on, so that q, k and v may be parts of one tensor. The result is [B,M,heads*dv].
 * `past` is {causal, offset}: with causal 1, query i sees keys up to i + offset. See attention_dims.def. */
#include "../op_rules.h"

enum { MAX_HEAD = 256, MAX_HEADS = 1 << 16 };

static const char *check_attrs(infc_arena *arena, const infc_op_desc *desc) {
    const char *wrong = infc_want_ints(arena, desc, "heads", 2, 1, MAX_HEADS);
    if (!wrong) wrong = infc_want_ints(arena, desc, "dims", 2, 1, MAX_HEAD);
    if (!wrong) wrong = infc_want_ints(arena, desc, "at", 3, 0, INT32_MAX);
    if (!wrong) wrong = infc_want_ints(arena, desc, "past", 2, -INT32_MAX, INT32_MAX);
    if (!wrong) wrong = infc_want_int(arena, desc, "scale", 0, UINT32_MAX);
    if (wrong) return wrong;
    const int64_t *heads = infc_desc_attr(desc, "heads")->ints;
    if (heads[0] % heads[1] != 0)
        return infc_arena_printf(arena, "%lld heads of q are not shared by %lld of k evenly",
                                 (long long)heads[0], (long long)heads[1]);
    return NULL;
}

static const char *check_operand(infc_arena *arena, const infc_op_desc *desc, int i) {
    const infc_type *x = &desc->in[i], *k = &desc->in[1];
    const int64_t *heads = infc_desc_attr(desc, "heads")->ints, *dims = infc_desc_attr(desc, "dims")->ints;
    int64_t columns = heads[i == 0 ? 0 : 1] * dims[i == 2 ? 1 : 0];
    const char *wrong = infc_want_f32(arena, desc, i);
    if (!wrong) wrong = infc_want_layout(arena, desc, i, INFC_LAYOUT_plain);
    if (wrong) return wrong;
    if (x->rank != 3 || x->dims[0] != desc->in[0].dims[0] || (i == 2 && x->dims[1] != k->dims[1]))
        return infc_arena_printf(arena, "operand %d, %s, does not fit the others", i, infc_type_text(arena, x));
    if (infc_desc_attr(desc, "at")->ints[i] + columns > x->dims[2])
        return infc_arena_printf(arena, "operand %d, %s, has not %lld columns from %lld on", i,
                                 infc_type_text(arena, x), (long long)columns,
                                 (long long)infc_desc_attr(desc, "at")->ints[i]);
    if (infc_type_count(x) == 0) return infc_arena_printf(arena, "operand %d has no elements", i);
    return NULL;
}

static infc_type scores_of(const infc_op_desc *desc) {
    return (infc_type){.dtype = INFC_DTYPE_f32,
                       .rank = 4,
                       .dims = {desc->in[0].dims[0], infc_desc_attr(desc, "heads")->ints[0],
                                desc->in[0].dims[1], desc->in[1].dims[1]}};
}

const char *infc_shape_attention(infc_arena *arena, const infc_op_desc *desc, infc_type *out) {
    const char *wrong = infc_desc_check(arena, desc);
    if (!wrong) wrong = check_attrs(arena, desc);
    for (int i = 0; i < 3 && !wrong; i++) wrong = check_operand(arena, desc, i);
    if (!wrong && desc->n_in > 3) wrong = infc_want_f32(arena, desc, 3);
    if (!wrong && desc->n_in > 3) wrong = infc_want_layout(arena, desc, 3, INFC_LAYOUT_plain);
    if (wrong) return wrong;
    infc_type scores = scores_of(desc), both;
    if (desc->n_in > 3 &&
        (!infc_type_broadcast(&scores, &desc->in[3], &both) || !infc_shape_equal(&scores, &both)))
        return infc_arena_printf(arena, "the mask, %s, does not broadcast to the scores, %s",
                                 infc_type_text(arena, &desc->in[3]), infc_type_text(arena, &scores));
    infc_type r = desc->in[0];
    r.dims[2] = infc_desc_attr(desc, "heads")->ints[0] * infc_desc_attr(desc, "dims")->ints[1];
    wrong = infc_type_check(arena, &r);
    if (!wrong) *out = r;
    return wrong;
}

void infc_call_attention(const infc_op_desc *desc, infc_kernel_call *out) {
    const infc_type *q = &desc->in[0], *k = &desc->in[1], *v = &desc->in[2];
    const int64_t *heads = infc_desc_attr(desc, "heads")->ints, *dims = infc_desc_attr(desc, "dims")->ints;
    const int64_t *at = infc_desc_attr(desc, "at")->ints, *past = infc_desc_attr(desc, "past")->ints;
    *out = (infc_kernel_call){.kind = desc->n_in > 3 ? INFK_attention_masked : INFK_attention,
                              .types = {"f32", "f32", "f32"}};
    ptrdiff_t strides[4] = {0};
    for (int axis = 3, i = desc->n_in > 3 ? desc->in[3].rank - 1 : -1; i >= 0; axis--, i--)
        if (desc->in[3].dims[i] != 1)
            strides[axis] = (ptrdiff_t)infc_dims_product(&desc->in[3], i + 1, desc->in[3].rank);
    out->dims.attention = (infk_attention_dims){
        .batch = (ptrdiff_t)q->dims[0],
        .heads = (ptrdiff_t)heads[0],
        .groups = (ptrdiff_t)heads[1],
        .m = (ptrdiff_t)q->dims[1],
        .n = (ptrdiff_t)k->dims[1],
        .d = (ptrdiff_t)dims[0],
        .dv = (ptrdiff_t)dims[1],
        .q_at = (ptrdiff_t)at[0],
        .k_at = (ptrdiff_t)at[1],
        .v_at = (ptrdiff_t)at[2],
        .q_row = (ptrdiff_t)q->dims[2],
        .k_row = (ptrdiff_t)k->dims[2],
        .v_row = (ptrdiff_t)v->dims[2],
        .scale = (ptrdiff_t)infc_desc_int(desc, "scale"),
        .causal = past[0] != 0,
        .past = (ptrdiff_t)past[1],
        .mask_batch = strides[0],
        .mask_head = strides[1],
        .mask_row = strides[2],
        .mask_key = strides[3],
    };
}
