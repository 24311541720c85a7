/* elementwise.c - element-wise functions, broadcast as in numpy.
 *
 * Layouts: all operands plain gives plain. Beside a c16 operand the result is c16, and every other operand is
 * c16 of the same rank too, or plain and either one value or varying along the channels only ([C,1,1],
 * [1,C,1,1]). */
#include "../op_rules.h"

static bool varies_with_channel_only(const infc_type *type, const infc_type *out) {
    int shift = out->rank - type->rank;
    for (int i = 0; i < type->rank; i++)
        if (type->dims[i] != 1 && i + shift != 1) return false;
    return true;
}

static const char *check_layouts(infc_arena *arena, const infc_op_desc *desc, infc_type *out) {
    for (int i = 0; i < desc->n_in; i++) {
        if (desc->in[i].layout == INFC_LAYOUT_c16) out->layout = INFC_LAYOUT_c16;
        if (desc->in[i].layout == INFC_LAYOUT_panel)
            return infc_arena_printf(arena, "operand %d is a packed weight", i);
    }
    if (out->layout == INFC_LAYOUT_plain) return NULL;
    for (int i = 0; i < desc->n_in; i++) {
        const infc_type *in = &desc->in[i];
        bool fits = in->layout == INFC_LAYOUT_c16 ? in->rank == out->rank : varies_with_channel_only(in, out);
        if (!fits)
            return infc_arena_printf(arena, "operand %d, %s, cannot stand beside c16 operands", i,
                                     infc_type_text(arena, in));
    }
    return NULL;
}

const char *infc_shape_map(infc_arena *arena, const infc_op_desc *desc, infc_type *out) {
    const char *wrong = infc_desc_check(arena, desc);
    if (wrong) return wrong;
    int fn = infc_scalar_find(infc_desc_str(desc, "fn"));
    if (fn < 0)
        return infc_arena_printf(arena, "unknown function \"%s\"", infc_desc_str(desc, "fn"));
    if (infc_scalar_arity(fn) != desc->n_in)
        return infc_arena_printf(arena, "function \"%s\" takes %d operands, not %d",
                                 infc_scalar_name(fn), infc_scalar_arity(fn), desc->n_in);
    infc_type r = desc->in[0];
    for (int i = 0; i < desc->n_in; i++) {
        wrong = infc_want_f32(arena, desc, i);
        if (wrong) return wrong;
        infc_type so_far = r;
        if (!infc_type_broadcast(&so_far, &desc->in[i], &r))
            return infc_arena_printf(arena, "%s and %s do not broadcast", infc_type_text(arena, &so_far),
                                     infc_type_text(arena, &desc->in[i]));
    }
    r.layout = INFC_LAYOUT_plain;
    wrong = infc_type_check(arena, &r);
    if (!wrong) wrong = check_layouts(arena, desc, &r);
    if (!wrong) *out = r;
    return wrong;
}
