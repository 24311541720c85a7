/* recurrent.c - lstm, gru, rnn: the steps of a layer over x * W + bias, computed before.
 *
 * Operands: x [T, B, D * G * Hp] with G gates of Hp = H rounded up to 16 columns; R [D, H, G * Hp], plain or panel; the
 * first h [D, B, H]; for lstm the first c; for lstm and gru `aux`, what recurrent_dims.def says of the flag `extra`, or
 * any one number without it; lengths [B]. The result is [T + states, D, B, H].
 * Attributes: acts, alphas, betas: of f, g and h; clip: bits of an f32, 0 for none; flags: reverse, extra, coupled,
 * rounded. */
#include "../op_rules.h"

typedef struct cell {
    int gates, states, aux, aux_gates; /* aux: operand, 0 for none */
} cell;

static cell cell_of(infc_op_kind kind) {
    switch (kind) {
    case INFC_OP_lstm: return (cell){4, 2, 4, 3};
    case INFC_OP_gru: return (cell){3, 1, 3, 1};
    default: return (cell){1, 1, 0, 0};
    }
}

static const char *want_shape(infc_arena *arena, const infc_op_desc *desc, int i, infc_type want) {
    if (infc_shape_equal(&desc->in[i], &want)) return NULL;
    want.dtype = INFC_DTYPE_f32;
    return infc_arena_printf(arena, "operand %d is %s, not %s", i,
                             infc_type_text(arena, &desc->in[i]), infc_type_text(arena, &want));
}

static const char *check_attributes(infc_arena *arena, const infc_op_desc *desc) {
    const char *wrong = infc_want_ints(arena, desc, "acts", 3, 0, 10);
    if (!wrong) wrong = infc_want_ints(arena, desc, "alphas", 3, 0, UINT32_MAX);
    if (!wrong) wrong = infc_want_ints(arena, desc, "betas", 3, 0, UINT32_MAX);
    if (!wrong) wrong = infc_want_int(arena, desc, "clip", 0, 0x7f7fffff);
    if (!wrong) wrong = infc_want_ints(arena, desc, "flags", 4, 0, 1);
    return wrong;
}

static const char *check_operands(infc_arena *arena, const infc_op_desc *desc, cell c) {
    const char *wrong = NULL;
    for (int i = 0; i < desc->n_in && !wrong; i++) {
        wrong = infc_want_f32(arena, desc, i);
        bool free = i == 1 && desc->in[i].layout == INFC_LAYOUT_panel;
        if (!wrong && !free) wrong = infc_want_layout(arena, desc, i, INFC_LAYOUT_plain);
    }
    if (wrong) return wrong;
    const infc_type *x = &desc->in[0], *r = &desc->in[1];
    if (x->rank != 3 || r->rank != 3)
        return infc_arena_printf(arena, "%s and %s: both need 3 dimensions",
                                 infc_type_text(arena, x), infc_type_text(arena, r));
    int64_t d = r->dims[0], h = r->dims[1], hp = infc_round_up(h, 16);
    if (d < 1 || d > 2 || h < 1 || r->dims[2] != c.gates * hp || x->dims[2] != d * c.gates * hp)
        return infc_arena_printf(arena, "%s and %s are no %d gates of 1 or 2 directions",
                                 infc_type_text(arena, x), infc_type_text(arena, r), c.gates);
    for (int i = 2; i < 2 + c.states && !wrong; i++)
        wrong = want_shape(arena, desc, i, (infc_type){.rank = 3, .dims = {d, x->dims[1], h}});
    if (!wrong)
        wrong = want_shape(arena, desc, desc->n_in - 1, (infc_type){.rank = 1, .dims = {x->dims[1]}});
    if (!wrong && c.aux && infc_desc_attr(desc, "flags")->ints[1])
        wrong = want_shape(arena, desc, c.aux, (infc_type){.rank = 2, .dims = {d, c.aux_gates * hp}});
    else if (!wrong && c.aux && infc_type_count(&desc->in[c.aux]) != 1)
        wrong = infc_arena_printf(arena, "operand %d must be one number", c.aux);
    return wrong;
}

static const char *shape(infc_arena *arena, const infc_op_desc *desc, infc_type *out) {
    cell c = cell_of(desc->kind);
    const char *wrong = infc_desc_check(arena, desc);
    if (!wrong) wrong = check_attributes(arena, desc);
    if (!wrong) wrong = check_operands(arena, desc, c);
    if (wrong) return wrong;
    const infc_type *x = &desc->in[0], *r = &desc->in[1];
    infc_type y = {.rank = 4,
                   .dims = {infc_dim_add(x->dims[0], c.states), r->dims[0], x->dims[1], r->dims[1]}};
    y.dtype = INFC_DTYPE_f32;
    wrong = infc_type_check(arena, &y);
    if (!wrong) *out = y;
    return wrong;
}

const char *infc_shape_lstm(infc_arena *arena, const infc_op_desc *desc, infc_type *out) {
    return shape(arena, desc, out);
}
const char *infc_shape_gru(infc_arena *arena, const infc_op_desc *desc, infc_type *out) {
    return shape(arena, desc, out);
}
const char *infc_shape_rnn(infc_arena *arena, const infc_op_desc *desc, infc_type *out) {
    return shape(arena, desc, out);
}

static infk_kind kind_of(infc_op_kind kind) {
    return kind == INFC_OP_lstm ? INFK_lstm : kind == INFC_OP_gru ? INFK_gru : INFK_rnn;
}

void infc_call_recurrent(const infc_op_desc *desc, infc_kernel_call *out) {
    const infc_type *x = &desc->in[0], *r = &desc->in[1];
    const int64_t *acts = infc_desc_attr(desc, "acts")->ints,
                  *alphas = infc_desc_attr(desc, "alphas")->ints;
    const int64_t *betas = infc_desc_attr(desc, "betas")->ints,
                  *flags = infc_desc_attr(desc, "flags")->ints;
    *out = (infc_kernel_call){.kind = kind_of(desc->kind), .types = {"f32", "f32", "f32"}};
    out->dims.recurrent = (infk_recurrent_dims){
        .t = (ptrdiff_t)x->dims[0],
        .batch = (ptrdiff_t)x->dims[1],
        .dirs = (ptrdiff_t)r->dims[0],
        .reverse = (ptrdiff_t)flags[0],
        .h = (ptrdiff_t)r->dims[1],
        .hp = (ptrdiff_t)infc_round_up(r->dims[1], 16),
        .extra = (ptrdiff_t)flags[1],
        .coupled = (ptrdiff_t)flags[2],
        .rounded = (ptrdiff_t)flags[3],
        .f = (ptrdiff_t)acts[0],
        .f_alpha = (ptrdiff_t)alphas[0],
        .f_beta = (ptrdiff_t)betas[0],
        .g = (ptrdiff_t)acts[1],
        .g_alpha = (ptrdiff_t)alphas[1],
        .g_beta = (ptrdiff_t)betas[1],
        .q = (ptrdiff_t)acts[2],
        .q_alpha = (ptrdiff_t)alphas[2],
        .q_beta = (ptrdiff_t)betas[2],
        .clip = (ptrdiff_t)infc_desc_int(desc, "clip"),
    };
}
