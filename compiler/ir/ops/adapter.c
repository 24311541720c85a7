/* adapter.c - adapters (LoRA) beside linear layers: adapter_dims.def. x [T,K], slots i32 [T], pool i8 [S, bytes of a
 * slot], what adapter_in makes [T, modules * ranks], use: one bool. `modules` is the outputs of each module that reads
 * x, one after another in a row of y; of adapter_gate, gate and up, 16 in turn in a row of z. */
#include "../op_rules.h"

enum {
    MAX_MODULES = 3,
    MAX_RANKS = 1 << 14,
    MAX_OUTPUTS = 1 << 24,
    MAX_FIRST = 1 << 16,
    MAX_ROW = 1 << 20
};

static int64_t outputs_of(const infc_attr *modules) {
    int64_t n = 0;
    for (int i = 0; i < modules->n_ints; i++) n += modules->ints[i];
    return n;
}

static const char *check_attrs(infc_arena *arena, const infc_op_desc *desc) {
    const infc_attr *modules = infc_desc_attr(desc, "modules");
    const char *wrong = infc_want_int(arena, desc, "ranks", 16, MAX_RANKS);
    if (!wrong) wrong = infc_want_int(arena, desc, "first", 0, MAX_FIRST);
    if (wrong) return wrong;
    if (infc_desc_int(desc, "ranks") % 16) return "ranks are not a multiple of 16";
    if (modules->n_ints < 1 || modules->n_ints > MAX_MODULES) return "not 1 to 3 modules";
    for (int i = 0; i < modules->n_ints; i++)
        if (modules->ints[i] < 1 || modules->ints[i] > MAX_OUTPUTS ||
            (modules->n_ints > 1 && modules->ints[i] % 16))
            return infc_arena_printf(arena, "a module of %lld outputs beside others",
                                     (long long)modules->ints[i]);
    return NULL;
}

/* Operand i is dtype [rows, second]; 0: any size of it, below 0: one dimension. */
static const char *want(infc_arena *arena, const infc_op_desc *desc, int i, infc_dtype dtype,
                        int64_t rows, int64_t second) {
    const infc_type *x = &desc->in[i];
    const char *wrong = infc_want_layout(arena, desc, i, INFC_LAYOUT_plain);
    if (wrong) return wrong;
    const bool right = x->dtype == dtype && x->rank == (second < 0 ? 1 : 2) && x->dims[0] == rows &&
                       (second <= 0 || x->dims[1] == second);
    return right ? NULL
                 : infc_arena_printf(arena, "operand %d, %s, does not fit the others", i,
                                     infc_type_text(arena, x));
}

/* Slots and pool from operand i on; then, where there is one more, `use`. */
static const char *check_pool(infc_arena *arena, const infc_op_desc *desc, int i) {
    const infc_type *pool = &desc->in[i + 1];
    const char *wrong = want(arena, desc, i, INFC_DTYPE_i32, desc->in[0].dims[0], -1);
    if (!wrong) wrong = want(arena, desc, i + 1, INFC_DTYPE_i8, pool->dims[0], 0);
    if (wrong) return wrong;
    if (infc_dim_open(pool->dims[0]) || infc_dim_open(pool->dims[1]) || pool->dims[1] % INFC_ALIGN)
        return "slots of adapters need a fixed size, a multiple of 64 bytes";
    const infc_attr *modules = infc_desc_attr(desc, "modules");
    if ((infc_desc_int(desc, "first") + modules->n_ints) * 16 > pool->dims[1])
        return "a slot has no such module";
    if (i + 2 == desc->n_in) return NULL;
    const infc_type *use = &desc->in[i + 2];
    return use->dtype == INFC_DTYPE_bool && infc_type_count(use) == 1
               ? NULL
               : infc_arena_printf(arena, "operand %d is %s, not one bool", i + 2, infc_type_text(arena, use));
}

static int64_t down_columns(const infc_op_desc *desc) {
    return infc_desc_attr(desc, "modules")->n_ints * infc_desc_int(desc, "ranks");
}

const char *infc_shape_adapter_in(infc_arena *arena, const infc_op_desc *desc, infc_type *out) {
    const bool rms = desc->kind == INFC_OP_adapter_rms;
    const infc_type *x = &desc->in[0];
    const char *wrong = infc_desc_check(arena, desc);
    if (!wrong) wrong = check_attrs(arena, desc);
    if (!wrong) wrong = want(arena, desc, 0, INFC_DTYPE_f32, x->dims[0], 0);
    if (!wrong && (infc_dim_open(x->dims[1]) || x->dims[1] < 1 || x->dims[1] > MAX_ROW))
        wrong = infc_arena_printf(arena, "rows of %s", infc_type_text(arena, x));
    if (!wrong && rms) wrong = want(arena, desc, 1, INFC_DTYPE_f32, x->dims[1], -1);
    if (!wrong && rms) wrong = infc_want_int(arena, desc, "epsilon", 0, 0x7f7fffff);
    if (!wrong) wrong = check_pool(arena, desc, rms ? 2 : 1);
    if (wrong) return wrong;
    infc_type r = {.dtype = INFC_DTYPE_f32, .rank = 2, .dims = {x->dims[0], down_columns(desc)}};
    wrong = infc_type_check(arena, &r);
    if (!wrong) *out = r;
    return wrong;
}

/* y and what adapter_in made are the first operands, what else is of y's size comes after them, then slots and pool. */
const char *infc_shape_adapter_out(infc_arena *arena, const infc_op_desc *desc, infc_type *out) {
    const bool sum = desc->kind == INFC_OP_adapter_sum;
    const int64_t rows = desc->in[0].dims[0];
    const char *wrong = infc_desc_check(arena, desc);
    if (!wrong) wrong = check_attrs(arena, desc);
    if (wrong) return wrong;
    const infc_attr *modules = infc_desc_attr(desc, "modules");
    const int64_t outputs = outputs_of(modules);
    if (sum && modules->n_ints != 1) return "several modules";
    wrong = want(arena, desc, 0, INFC_DTYPE_f32, rows, outputs);
    if (!wrong) wrong = want(arena, desc, 1, INFC_DTYPE_f32, rows, down_columns(desc));
    if (!wrong && sum) wrong = want(arena, desc, 2, INFC_DTYPE_f32, rows, outputs);
    if (!wrong) wrong = check_pool(arena, desc, sum ? 3 : 2);
    if (!wrong) *out = desc->in[0];
    return wrong;
}

const char *infc_shape_adapter_gate(infc_arena *arena, const infc_op_desc *desc, infc_type *out) {
    const int64_t rows = desc->in[0].dims[0];
    const char *wrong = infc_desc_check(arena, desc);
    if (!wrong) wrong = check_attrs(arena, desc);
    if (wrong) return wrong;
    const infc_attr *modules = infc_desc_attr(desc, "modules");
    if (modules->n_ints != 2 || modules->ints[0] != modules->ints[1])
        return "gate and up are not alike";
    wrong = want(arena, desc, 0, INFC_DTYPE_f32, rows, modules->ints[0]);
    if (!wrong) wrong = want(arena, desc, 1, INFC_DTYPE_f32, rows, 2 * modules->ints[0]);
    if (!wrong) wrong = want(arena, desc, 2, INFC_DTYPE_f32, rows, down_columns(desc));
    if (!wrong) wrong = check_pool(arena, desc, 3);
    if (!wrong) *out = desc->in[0];
    return wrong;
}

void infc_call_adapter(const infc_op_desc *desc, infc_kernel_call *out) {
    const infc_attr *modules = infc_desc_attr(desc, "modules");
    const bool in = desc->kind == INFC_OP_adapter_in || desc->kind == INFC_OP_adapter_rms;
    const bool rms = desc->kind == INFC_OP_adapter_rms;
    const bool gate = desc->kind == INFC_OP_adapter_gate, sum = desc->kind == INFC_OP_adapter_sum;
    const infc_type *pool = &desc->in[gate || sum ? 4 : in && !rms ? 2 : 3];
    *out = (infc_kernel_call){.kind = rms    ? INFK_adapter_rms
                                      : in   ? INFK_adapter_in
                                      : gate ? INFK_adapter_gate
                                      : sum  ? INFK_adapter_sum
                                             : INFK_adapter_out,
                              .types = {"f32", rms ? "f32" : "", "f32"}};
    out->dims.adapter = (infk_adapter_dims){
        .t = (ptrdiff_t)desc->in[0].dims[0],
        .k = in ? (ptrdiff_t)desc->in[0].dims[1] : 0,
        .n = in ? 0 : (ptrdiff_t)desc->in[0].dims[1],
        .n0 = (ptrdiff_t)modules->ints[0],
        .n1 = modules->n_ints > 1 ? (ptrdiff_t)modules->ints[1] : 0,
        .modules = (ptrdiff_t)modules->n_ints,
        .ranks = (ptrdiff_t)infc_desc_int(desc, "ranks"),
        .first = (ptrdiff_t)infc_desc_int(desc, "first"),
        .slots = (ptrdiff_t)pool->dims[0],
        .slot_bytes = (ptrdiff_t)pool->dims[1],
        .epsilon = rms ? (ptrdiff_t)infc_desc_int(desc, "epsilon") : 0,
    };
}

bool infc_op_is_adapted(infc_op_kind kind) {
    return kind == INFC_OP_adapter_out || kind == INFC_OP_adapter_sum || kind == INFC_OP_adapter_gate;
}
