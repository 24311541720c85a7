/* linear.c - layers of packed weights: records [T, bytes] times panels [P, bytes] -> f32 [T, outputs]. linear_keep and
 * gated_keep: weights as GGUF stores them, `format` its number; linear_i8 and the like: int8 or int4. Panels are of 16
 * outputs; those of gated ops are of gate and up in turn, and the result is silu(gate) * up. embed_*: tokens [T] and
 * the panels of the embedding -> its rows, `inputs` elements each. The pack_* ops make panels: of rows of the file, of
 * f32, or of what choose_i4 made of f32; `parts` 2: of the first and the second half of the rows in turn. `rotate` of
 * weights must be that of the records which meet them. */
#include "../eval.h"
#include "../op_rules.h"
#include <string.h>

enum { MAX_INPUTS = 1 << 20, MAX_OUTPUTS = 1 << 24 };

static bool keeps(infc_op_kind kind) {
    return kind == INFC_OP_linear_keep || kind == INFC_OP_gated_keep ||
           kind == INFC_OP_embed_keep || kind == INFC_OP_pack_keep;
}

static bool gated(infc_op_kind kind) {
    return kind == INFC_OP_gated_keep || kind == INFC_OP_gated_i8 || kind == INFC_OP_gated_i4;
}

static bool of_i4(infc_op_kind kind) {
    return kind == INFC_OP_linear_i4 || kind == INFC_OP_gated_i4 || kind == INFC_OP_pack_i4;
}

/* Blocks as ggml-common.h of llama.cpp has them; scales, and minima where there are two, are f16. */
typedef struct keep_format {
    int number, elements, bytes, n_scales, scales[2]; /* offsets */
} keep_format;

static const keep_format *keep_format_of(int64_t number) {
    static const keep_format formats[] = {{2, 32, 18, 1, {0}},       {3, 32, 20, 2, {0, 2}},
                                          {6, 32, 22, 1, {0}},       {8, 32, 34, 1, {0}},
                                          {12, 256, 144, 2, {0, 2}}, {14, 256, 210, 1, {208}}};
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
        if (number == formats[i].number) return &formats[i];
    return NULL;
}

int64_t infc_keep_row_bytes(int64_t format, int64_t k) {
    const keep_format *f = keep_format_of(format);
    return f && k % f->elements == 0 ? k / f->elements * f->bytes : 0;
}

bool infc_keep_is_finite(int64_t format, const void *blocks, int64_t bytes) {
    const keep_format *f = keep_format_of(format);
    uint32_t bad = 0;
    for (int64_t at = 0; f && at + f->bytes <= bytes; at += f->bytes)
        for (int i = 0; i < f->n_scales; i++) {
            uint16_t half;
            memcpy(&half, (const char *)blocks + at + f->scales[i], sizeof half);
            bad |= (half & 0x7c00u) == 0x7c00u;
        }
    return !bad;
}

/* Of a panel with k inputs. */
static int64_t panel_bytes(const infc_op_desc *desc, int64_t k) {
    if (keeps(desc->kind))
        return infk_keep_bytes((ptrdiff_t)infc_desc_int(desc, "format"), 16, (ptrdiff_t)k, 1);
    return of_i4(desc->kind) ? infk_panel_i4_bytes((ptrdiff_t)k) : infk_panel_i8_bytes((ptrdiff_t)k);
}

static const char *check_sizes(infc_arena *arena, const infc_op_desc *desc) {
    const char *wrong = infc_want_int(arena, desc, "inputs", 1, MAX_INPUTS);
    if (!wrong && infc_desc_attr(desc, "outputs"))
        wrong = infc_want_int(arena, desc, "outputs", 1, MAX_OUTPUTS);
    if (!wrong && infc_desc_attr(desc, "rotate")) wrong = infc_want_rotate(arena, desc);
    if (wrong || !keeps(desc->kind)) return wrong;
    const int64_t format = infc_desc_int(desc, "format"), inputs = infc_desc_int(desc, "inputs");
    if (panel_bytes(desc, inputs) > 0) return NULL;
    return infc_arena_printf(arena, "format %lld is not supported for %lld inputs",
                             (long long)format, (long long)inputs);
}

static const char *check_matrix(infc_arena *arena, const infc_op_desc *desc, int i,
                                infc_dtype dtype, int64_t columns) {
    const infc_type *x = &desc->in[i];
    const char *wrong = infc_want_layout(arena, desc, i, INFC_LAYOUT_plain);
    if (wrong) return wrong;
    if (x->dtype == dtype && x->rank == 2 && x->dims[1] == columns) return NULL;
    return infc_arena_printf(arena, "operand %d must be %s[..,%lld], not %s", i,
                             infc_dtype_name(dtype), (long long)columns, infc_type_text(arena, x));
}

/* Panels enough for the outputs. */
static const char *check_panels(infc_arena *arena, const infc_op_desc *desc, int64_t outputs) {
    const int64_t panels = (outputs + 15) / 16 * (gated(desc->kind) ? 2 : 1);
    const char *wrong =
        check_matrix(arena, desc, 1, INFC_DTYPE_i8, panel_bytes(desc, infc_desc_int(desc, "inputs")));
    if (wrong || desc->in[1].dims[0] == panels) return wrong;
    return infc_arena_printf(arena, "%s are not %lld panels", infc_type_text(arena, &desc->in[1]),
                             (long long)panels);
}

const char *infc_shape_linear(infc_arena *arena, const infc_op_desc *desc, infc_type *out) {
    const char *wrong = infc_desc_check(arena, desc);
    if (!wrong) wrong = check_sizes(arena, desc);
    if (wrong) return wrong;
    const int64_t k = infc_desc_int(desc, "inputs"), n = infc_desc_int(desc, "outputs");
    wrong = check_matrix(arena, desc, 0, INFC_DTYPE_i8, infc_record_bytes(k, keeps(desc->kind)));
    if (!wrong) wrong = check_panels(arena, desc, n);
    if (wrong) return wrong;
    infc_type r = {.dtype = INFC_DTYPE_f32, .rank = 2, .dims = {desc->in[0].dims[0], n}};
    wrong = infc_type_check(arena, &r);
    if (!wrong) *out = r;
    return wrong;
}

const char *infc_shape_embed(infc_arena *arena, const infc_op_desc *desc, infc_type *out) {
    const char *wrong = infc_desc_check(arena, desc);
    if (!wrong) wrong = infc_want_layout(arena, desc, 0, INFC_LAYOUT_plain);
    if (!wrong) wrong = check_sizes(arena, desc);
    if (!wrong) wrong = check_panels(arena, desc, infc_desc_int(desc, "outputs"));
    if (!wrong && (desc->in[0].dtype != INFC_DTYPE_i32 || desc->in[0].rank != 1))
        wrong = infc_arena_printf(arena, "tokens are i32 of one dimension, not %s",
                                  infc_type_text(arena, &desc->in[0]));
    if (wrong) return wrong;
    infc_type r = {.dtype = INFC_DTYPE_f32, .rank = 2, .dims = {desc->in[0].dims[0], infc_desc_int(desc, "inputs")}};
    wrong = infc_type_check(arena, &r);
    if (!wrong) *out = r;
    return wrong;
}

const char *infc_shape_choose_i4(infc_arena *arena, const infc_op_desc *desc, infc_type *out) {
    const char *wrong = infc_desc_check(arena, desc);
    if (!wrong) wrong = check_sizes(arena, desc);
    if (!wrong) wrong = check_matrix(arena, desc, 0, INFC_DTYPE_f32, infc_desc_int(desc, "inputs"));
    if (wrong) return wrong;
    infc_type r = {.dtype = INFC_DTYPE_i8,
                   .rank = 2,
                   .dims = {desc->in[0].dims[0], infk_chosen_i4_bytes((ptrdiff_t)desc->in[0].dims[1])}};
    wrong = infc_type_check(arena, &r);
    if (!wrong) *out = r;
    return wrong;
}

const char *infc_shape_pack(infc_arena *arena, const infc_op_desc *desc, infc_type *out) {
    const char *wrong = infc_desc_check(arena, desc);
    if (!wrong) wrong = check_sizes(arena, desc);
    if (!wrong) wrong = infc_want_int(arena, desc, "parts", 1, 2);
    if (wrong) return wrong;
    const int64_t k = infc_desc_int(desc, "inputs"), parts = infc_desc_int(desc, "parts");
    if (desc->kind == INFC_OP_pack_keep)
        wrong = check_matrix(arena, desc, 0, INFC_DTYPE_u8,
                             infc_keep_row_bytes(infc_desc_int(desc, "format"), k));
    else if (desc->kind == INFC_OP_pack_i4)
        wrong = check_matrix(arena, desc, 0, INFC_DTYPE_i8, infk_chosen_i4_bytes((ptrdiff_t)k));
    else wrong = check_matrix(arena, desc, 0, INFC_DTYPE_f32, k);
    if (wrong) return wrong;
    const int64_t n = desc->in[0].dims[0];
    if (infc_dim_open(n) || n < 1 || n > MAX_OUTPUTS || n % parts)
        return infc_arena_printf(arena, "%s cannot be packed", infc_type_text(arena, &desc->in[0]));
    infc_type r = {
        .dtype = INFC_DTYPE_i8, .rank = 2, .dims = {(n / parts + 15) / 16 * parts, panel_bytes(desc, k)}};
    wrong = infc_type_check(arena, &r);
    if (!wrong) *out = r;
    return wrong;
}

static infk_keep_dims keep_dims(const infc_op_desc *desc, int64_t m, int64_t n, int64_t halves) {
    const int64_t k = infc_desc_int(desc, "inputs");
    return (infk_keep_dims){.m = (ptrdiff_t)m,
                            .n = (ptrdiff_t)n,
                            .k = (ptrdiff_t)k,
                            .format = (ptrdiff_t)infc_desc_int(desc, "format"),
                            .x_row = (ptrdiff_t)infc_record_bytes(k, true),
                            .y_row = (ptrdiff_t)n,
                            .halves = (ptrdiff_t)halves};
}

void infc_call_linear(const infc_op_desc *desc, infc_kernel_call *out) {
    const int64_t m = desc->in[0].dims[0], k = infc_desc_int(desc, "inputs"),
                  n = infc_desc_int(desc, "outputs");
    const bool gate = gated(desc->kind), i4 = of_i4(desc->kind);
    *out = (infc_kernel_call){.types = {"i8", "i8", "f32"}};
    if (keeps(desc->kind)) {
        out->kind = gate ? INFK_gated_keep : INFK_linear_keep;
        out->dims.keep = keep_dims(desc, m, n, gate ? 2 : 1);
        return;
    }
    out->kind = gate ? (i4 ? INFK_gated_i4 : INFK_gated_i8) : (i4 ? INFK_linear_i4 : INFK_linear_i8);
    out->dims.linear = (infk_linear_dims){.t = (ptrdiff_t)m,
                                          .n = (ptrdiff_t)n,
                                          .k = (ptrdiff_t)k,
                                          .x_row = (ptrdiff_t)infc_record_bytes(k, false),
                                          .w_panel = (ptrdiff_t)panel_bytes(desc, k),
                                          .y_row = (ptrdiff_t)n};
}

void infc_call_embed(const infc_op_desc *desc, infc_kernel_call *out) {
    const int64_t t = desc->in[0].dims[0], k = infc_desc_int(desc, "inputs");
    *out = (infc_kernel_call){.types = {"i32", "i8", "f32"}};
    if (keeps(desc->kind)) {
        out->kind = INFK_embed_keep;
        out->dims.keep = keep_dims(desc, t, k, 1);
        return;
    }
    out->kind = INFK_embed_i8;
    out->dims.embed = (infk_embed_dims){.t = (ptrdiff_t)t,
                                        .k = (ptrdiff_t)k,
                                        .rotate = (ptrdiff_t)infc_desc_int(desc, "rotate"),
                                        .w_panel = (ptrdiff_t)panel_bytes(desc, k)};
}

void infc_call_pack(const infc_op_desc *desc, infc_kernel_call *out) {
    const infc_type *x = &desc->in[0];
    const int64_t k = infc_desc_int(desc, "inputs");
    if (desc->kind == INFC_OP_pack_keep) {
        *out = (infc_kernel_call){.kind = INFK_pack_keep, .types = {"b1", "", "b1"}};
        const int64_t parts = infc_desc_int(desc, "parts");
        out->dims.keep = keep_dims(desc, 0, x->dims[0] / parts, parts);
        return;
    }
    const bool f32 = desc->kind != INFC_OP_pack_i4, chooses = desc->kind == INFC_OP_choose_i4;
    *out = (infc_kernel_call){.kind = chooses ? INFK_choose_i4
                                      : f32   ? INFK_pack_i8
                                              : INFK_pack_i4,
                              .types = {f32 ? "f32" : "i8", "", "i8"}};
    out->dims.pack = (infk_pack_dims){
        .n = (ptrdiff_t)x->dims[0],
        .k = (ptrdiff_t)k,
        .rotate = f32 ? (ptrdiff_t)infc_desc_int(desc, "rotate") : 0,
        .parts = chooses ? 1 : (ptrdiff_t)infc_desc_int(desc, "parts"),
        .x_row = (ptrdiff_t)x->dims[1],
        .y_row = (ptrdiff_t)(chooses ? infk_chosen_i4_bytes((ptrdiff_t)k) : panel_bytes(desc, k))};
}
