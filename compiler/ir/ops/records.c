/* records.c - rows of f32 [T,K] as records [T, bytes] of int8 (ADR 0010), which linear layers of packed weights read.
 * quantize, rms_quantize: one scale for a row, after a Hadamard transform of each `rotate` values; quantize_groups,
 * rms_groups: one for each 32 elements. The rms ops take the root mean square off first and multiply by operand 1;
 * `epsilon` is the bits of an f32. */
#include "../op_rules.h"

enum { MAX_ROW = 1 << 20 };

static bool by_groups(infc_op_kind kind) {
    return kind == INFC_OP_quantize_groups || kind == INFC_OP_rms_groups;
}

int64_t infc_record_bytes(int64_t k, bool groups) {
    return groups ? infk_groups_record((ptrdiff_t)k) : infk_record_bytes((ptrdiff_t)k);
}

const char *infc_want_rotate(infc_arena *arena, const infc_op_desc *desc) {
    const int64_t rotate = infc_desc_int(desc, "rotate");
    if (rotate == 64 || rotate == 128) return NULL;
    return infc_arena_printf(arena, "rotate must be 64 or 128, not %lld", (long long)rotate);
}

static const char *check(infc_arena *arena, const infc_op_desc *desc) {
    const char *wrong = infc_want_f32(arena, desc, 0);
    if (!wrong) wrong = infc_want_layout(arena, desc, 0, INFC_LAYOUT_plain);
    if (wrong) return wrong;
    const infc_type *x = &desc->in[0];
    if (x->rank != 2 || infc_dim_open(x->dims[1]) || x->dims[1] < 1 || x->dims[1] > MAX_ROW)
        return infc_arena_printf(arena, "rows of %s are not of 1 to %d elements",
                                 infc_type_text(arena, x), MAX_ROW);
    if (by_groups(desc->kind) && x->dims[1] % 32)
        return infc_arena_printf(arena, "rows of %s are no groups of 32", infc_type_text(arena, x));
    if (!by_groups(desc->kind) && (wrong = infc_want_rotate(arena, desc))) return wrong;
    if (desc->n_in < 2) return NULL;
    const infc_type *w = &desc->in[1];
    wrong = infc_want_f32(arena, desc, 1);
    if (!wrong) wrong = infc_want_int(arena, desc, "epsilon", 0, 0x7f7fffff);
    if (!wrong && (w->rank != 1 || w->dims[0] != x->dims[1]))
        wrong = infc_arena_printf(arena, "operand 1, %s, does not fit %s", infc_type_text(arena, w),
                                  infc_type_text(arena, x));
    return wrong;
}

const char *infc_shape_records(infc_arena *arena, const infc_op_desc *desc, infc_type *out) {
    const char *wrong = infc_desc_check(arena, desc);
    if (!wrong) wrong = check(arena, desc);
    if (wrong) return wrong;
    infc_type r = desc->in[0];
    r.dtype = INFC_DTYPE_i8;
    r.dims[1] = infc_record_bytes(r.dims[1], by_groups(desc->kind));
    wrong = infc_type_check(arena, &r);
    if (!wrong) *out = r;
    return wrong;
}

void infc_call_records(const infc_op_desc *desc, infc_kernel_call *out) {
    const bool groups = by_groups(desc->kind), rms = desc->n_in > 1;
    const infc_type *x = &desc->in[0];
    const ptrdiff_t epsilon = rms ? (ptrdiff_t)infc_desc_int(desc, "epsilon") : 0;
    const infk_kind kind = groups ? (rms ? INFK_rms_groups : INFK_quantize_groups)
                                  : (rms ? INFK_rms_quantize : INFK_quantize);
    *out = (infc_kernel_call){.kind = kind, .types = {"f32", rms ? "f32" : "", "i8"}};
    if (groups)
        out->dims.groups = (infk_groups_dims){.m = (ptrdiff_t)x->dims[0],
                                              .k = (ptrdiff_t)x->dims[1],
                                              .y_row = (ptrdiff_t)infc_record_bytes(x->dims[1], true),
                                              .epsilon = epsilon};
    else
        out->dims.quantize =
            (infk_quantize_dims){.t = (ptrdiff_t)x->dims[0],
                                 .k = (ptrdiff_t)x->dims[1],
                                 .rotate = (ptrdiff_t)infc_desc_int(desc, "rotate"),
                                 .epsilon = epsilon,
                                 .y_row = (ptrdiff_t)infc_record_bytes(x->dims[1], false)};
}
