#include "../op_rules.h"

/* A weight's type is the table's, so it cannot follow from the desc: desc->out is taken and must be plain.
 * That it is the table's type is for the verifier to check. */
const char *infc_shape_weight(infc_arena *arena, const infc_op_desc *desc, infc_type *out) {
    const char *wrong = infc_desc_check(arena, desc);
    if (!wrong) wrong = infc_type_check(arena, &desc->out);
    if (wrong) return wrong;
    if (desc->out.layout != INFC_LAYOUT_plain)
        return infc_arena_printf(arena, "a weight is plain; relayout it to %s",
                                 infc_layout_name(desc->out.layout));
    *out = desc->out;
    return NULL;
}
