/* elementwise.c - element-wise functions, broadcast as in numpy, of f32 (scalar.def) or of integers (integer.def).
 *
 * Layouts: all operands plain gives plain. Beside a c16 operand the result is c16, and every other operand is
 * c16 of the same rank too, or plain and either one value or varying along the channels only ([C,1,1],
 * [1,C,1,1]). Integers are plain. */
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
        if (infc_layout_is_packed(desc->in[i].layout))
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

/* "operand 0 is bool; "add" takes integers". */
static const char *check_integer_operand(infc_arena *arena, const infc_op_desc *desc,
                                         const infc_integer_info *info, int i) {
    static const char *const words[] = {"integers", "bool", "f32", "integers, bool or f32"};
    infc_dtype dtype = desc->in[i].dtype;
    bool integer = infc_dtype_is_integer(dtype), truth = dtype == INFC_DTYPE_bool, real = dtype == INFC_DTYPE_f32;
    bool fits[] = {integer, truth, real, integer || truth || real};
    /* `pick` chooses between any two by a truth. */
    bool chooses = info == infc_integer_get(infc_integer_find("pick"));
    bool good = chooses ? (i == 0 ? truth : integer || truth) : fits[info->operands];
    if (!good)
        return infc_arena_printf(arena, "operand %d is %s; \"%s\" takes %s", i,
                                 infc_dtype_name(dtype), info->name,
                                 chooses ? "a bool and two integers or bools" : words[info->operands]);
    if (i > (chooses ? 1 : 0) && dtype != desc->in[i - 1].dtype)
        return infc_arena_printf(arena, "operands of %s and %s",
                                 infc_dtype_name(desc->in[i - 1].dtype), infc_dtype_name(dtype));
    return infc_want_layout(arena, desc, i, INFC_LAYOUT_plain);
}

static const char *check_operand(infc_arena *arena, const infc_op_desc *desc, const infc_fn *fn, int i) {
    if (!fn->integer) return infc_want_f32(arena, desc, i);
    return check_integer_operand(arena, desc, infc_integer_get(fn->index), i);
}

const char *infc_shape_map(infc_arena *arena, const infc_op_desc *desc, infc_type *out) {
    const char *wrong = infc_desc_check(arena, desc);
    if (wrong) return wrong;
    infc_fn fn;
    if (!infc_desc_fn(desc, &fn))
        return infc_arena_printf(arena, "unknown function \"%s\"", infc_desc_str(desc, "fn"));
    int arity = fn.integer ? infc_integer_get(fn.index)->arity : infc_scalar_arity(fn.index);
    if (arity != desc->n_in)
        return infc_arena_printf(arena, "function \"%s\" takes %d operands, not %d",
                                 infc_desc_str(desc, "fn"), arity, desc->n_in);
    infc_type r = desc->in[0];
    for (int i = 0; i < desc->n_in; i++) {
        wrong = check_operand(arena, desc, &fn, i);
        if (wrong) return wrong;
        infc_type so_far = r;
        if (!infc_type_broadcast(&so_far, &desc->in[i], &r))
            return infc_type_no_broadcast(arena, &so_far, &desc->in[i]);
    }
    r.layout = INFC_LAYOUT_plain;
    r.dtype = desc->in[desc->n_in - 1].dtype;
    if (fn.integer && infc_integer_get(fn.index)->result == INFC_INTEGER_GIVES_TRUTH)
        r.dtype = INFC_DTYPE_bool;
    wrong = infc_type_check(arena, &r);
    if (!wrong) wrong = check_layouts(arena, desc, &r);
    if (!wrong) *out = r;
    return wrong;
}

const char *infc_shape_convert(infc_arena *arena, const infc_op_desc *desc, infc_type *out) {
    const char *wrong = infc_desc_check(arena, desc);
    if (wrong) return wrong;
    if (infc_layout_is_packed(desc->in[0].layout))
        return infc_arena_printf(arena, "operand 0 is a packed weight");
    infc_dtype dtypes[2] = {desc->in[0].dtype};
    if (!infc_dtype_parse(infc_desc_str(desc, "to"), &dtypes[1]))
        return infc_arena_printf(arena, "unknown element type \"%s\"", infc_desc_str(desc, "to"));
    for (int i = 0; i < 2; i++)
        if (!infc_dtype_is_integer(dtypes[i]) && dtypes[i] != INFC_DTYPE_bool && dtypes[i] != INFC_DTYPE_f32)
            return infc_arena_printf(arena, "from %s to %s is not supported",
                                     infc_dtype_name(dtypes[0]), infc_dtype_name(dtypes[1]));
    *out = desc->in[0];
    out->dtype = dtypes[1];
    return NULL;
}

const char *infc_shape_widen(infc_arena *arena, const infc_op_desc *desc, infc_type *out) {
    const char *wrong = infc_desc_check(arena, desc);
    if (!wrong) wrong = infc_want_layout(arena, desc, 0, INFC_LAYOUT_plain);
    if (wrong) return wrong;
    if (!infc_dtype_is_half(desc->in[0].dtype))
        return infc_arena_printf(arena, "%s is not f16 or bf16", infc_dtype_name(desc->in[0].dtype));
    *out = desc->in[0];
    out->dtype = INFC_DTYPE_f32;
    return NULL;
}

const char *infc_shape_narrow(infc_arena *arena, const infc_op_desc *desc, infc_type *out) {
    const char *wrong = infc_desc_check(arena, desc);
    if (!wrong) wrong = infc_want_f32(arena, desc, 0);
    if (!wrong) wrong = infc_want_layout(arena, desc, 0, INFC_LAYOUT_plain);
    if (wrong) return wrong;
    infc_dtype to;
    if (!infc_dtype_parse(infc_desc_str(desc, "to"), &to) || !infc_dtype_is_half(to))
        return infc_arena_printf(arena, "%s is not f16 or bf16", infc_desc_str(desc, "to"));
    *out = desc->in[0];
    out->dtype = to;
    return NULL;
}
