/* embed_half.c - rows of an embedding that is stored as f16 or bf16: tokens i32 [T] and the table [inputs, outputs],
 * plain or a panel as the matmul of a tied head reads it -> f32 [T, inputs]. */
#include "../op_rules.h"

const char *infc_shape_embed_half(infc_arena *arena, const infc_op_desc *desc, infc_type *out) {
    const infc_type *tokens = &desc->in[0], *w = &desc->in[1];
    const char *wrong = infc_desc_check(arena, desc);
    if (!wrong) wrong = infc_want_layout(arena, desc, 0, INFC_LAYOUT_plain);
    if (wrong) return wrong;
    if (tokens->dtype != INFC_DTYPE_i32 || tokens->rank != 1)
        return infc_arena_printf(arena, "tokens are i32 of one dimension, not %s",
                                 infc_type_text(arena, tokens));
    if (!infc_dtype_is_half(w->dtype) || w->rank != 2 ||
        (w->layout != INFC_LAYOUT_plain && w->layout != INFC_LAYOUT_panel) ||
        infc_dim_open(w->dims[0]) || infc_dim_open(w->dims[1]))
        return infc_arena_printf(arena, "operand 1 must be a matrix of f16 or bf16, not %s",
                                 infc_type_text(arena, w));
    infc_type r = {.dtype = INFC_DTYPE_f32, .rank = 2, .dims = {tokens->dims[0], w->dims[0]}};
    wrong = infc_type_check(arena, &r);
    if (!wrong) *out = r;
    return wrong;
}

void infc_call_embed_half(const infc_op_desc *desc, infc_kernel_call *out) {
    const infc_type *w = &desc->in[1];
    *out = (infc_kernel_call){.kind = INFK_embed_half, .types = {"i32", infc_dtype_name(w->dtype), "f32"}};
    out->dims.embed = (infk_embed_dims){.t = (ptrdiff_t)desc->in[0].dims[0], .k = (ptrdiff_t)w->dims[0]};
}
