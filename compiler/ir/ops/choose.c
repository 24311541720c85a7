/* choose.c - one of two tensors, whole, by a truth value: what If and Loop become where the condition is known only
 * when the model runs. With `must` the value has to be true: what is chosen otherwise would be wrong, so the run
 * ends. */
#include "../op_rules.h"

const char *infc_shape_choose(infc_arena *arena, const infc_op_desc *desc, infc_type *out) {
    const char *wrong = infc_desc_check(arena, desc);
    for (int i = 0; i < 3 && !wrong; i++)
        wrong = infc_want_layout(arena, desc, i, INFC_LAYOUT_plain);
    if (!wrong) wrong = infc_want_int(arena, desc, "must", 0, 1);
    if (wrong) return wrong;
    const infc_type *condition = &desc->in[1];
    if (condition->dtype != INFC_DTYPE_bool || infc_type_count(condition) != 1)
        return infc_arena_printf(arena, "operand 1 is %s, not one bool", infc_type_text(arena, condition));
    if (!infc_type_equal(&desc->in[0], &desc->in[2]))
        return infc_arena_printf(arena, "operands of %s and %s", infc_type_text(arena, &desc->in[0]),
                                 infc_type_text(arena, &desc->in[2]));
    *out = desc->in[0];
    return NULL;
}

void infc_call_choose(const infc_op_desc *desc, infc_kernel_call *out) {
    *out = (infc_kernel_call){.kind = INFK_choose};
    infc_call_by_size(out, desc->in[0].dtype);
    out->types[1] = "b1";
    out->dims.choose = (infk_choose_dims){
        .n = (ptrdiff_t)infc_dims_product(&desc->in[0], 0, desc->in[0].rank),
        .must = (ptrdiff_t)infc_desc_int(desc, "must"),
    };
}
