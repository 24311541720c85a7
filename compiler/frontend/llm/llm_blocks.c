/* llm_blocks.c - what layers are made of. */
#include <math.h>
#include "llm_build.h"

infc_status infc_llm_op(infc_llm_build *b, infc_op_kind kind, const char *node, const MlirValue *in,
                        int n_in, const infc_attr *attrs, int n_attrs, MlirValue *out) {
    const char *place =
        b->layer < 0 ? "model" : infc_arena_printf(b->cx->arena, "layer %lld", (long long)b->layer);
    const char *text = infc_arena_printf(b->cx->arena, "node \"%s\" (%s)", node, place);
    const infc_ir_at at = {.block = b->block};
    return infc_ir_build(b->ir, at, kind, infc_ir_location(b->ir, text, 0), in, n_in, attrs, n_attrs, out);
}

static infc_status map(infc_llm_build *b, const char *fn, const char *node, MlirValue x,
                       MlirValue y, MlirValue *out) {
    const MlirValue in[] = {x, y};
    const infc_attr attr = infc_attr_string("fn", fn);
    const bool two = !mlirValueIsNull(y);
    return infc_llm_op(b, two ? INFC_OP_map2 : INFC_OP_map1, node, in, two ? 2 : 1, &attr, 1, out);
}

infc_status infc_llm_add(infc_llm_build *b, const char *node, MlirValue x, MlirValue y, MlirValue *out) {
    return map(b, "add", node, x, y, out);
}

infc_llm_rows infc_llm_rows_of(MlirValue x, int64_t columns) {
    return (infc_llm_rows){.x = x, .columns = columns};
}

/* ---- what layers read ---------------------------------------------------------------------------------------- */

static infc_attr epsilon(const infc_llm_build *b) {
    return infc_attr_int("epsilon", infc_f32_bits((float)b->model->config.norm_epsilon));
}

static infc_status floats(infc_llm_build *b, infc_llm_rows *rows, const char *node) {
    MlirValue y;
    if (!mlirValueIsNull(rows->floats)) return INFC_OK;
    rows->floats = rows->x;
    if (mlirValueIsNull(rows->norm)) return INFC_OK;
    const infc_attr attrs[] = {infc_attr_int("center", 0), epsilon(b)};
    node = infc_arena_printf(b->cx->arena, "%s_norm", node);
    INFC_TRY(infc_llm_op(b, INFC_OP_norm, node, &rows->x, 1, attrs, 2, &y));
    return map(b, "mul", node, y, rows->norm, &rows->floats);
}

/* `made`: one of rows->records, transformed by so many values, or (rotate 0) rows->groups. */
static infc_status records(infc_llm_build *b, infc_llm_rows *rows, int64_t rotate, const char *node,
                           MlirValue *made) {
    const MlirValue in[] = {rows->x, rows->norm};
    const bool norm = !mlirValueIsNull(rows->norm);
    infc_op_kind kind = norm ? INFC_OP_rms_groups : INFC_OP_quantize_groups;
    infc_attr attrs[2];
    int n = 0;
    if (!mlirValueIsNull(*made)) return INFC_OK;
    if (norm) attrs[n++] = epsilon(b);
    if (rotate) {
        kind = norm ? INFC_OP_rms_quantize : INFC_OP_quantize;
        attrs[n++] = infc_attr_int("rotate", rotate);
    }
    node = infc_arena_printf(b->cx->arena, "%s_input", node);
    return infc_llm_op(b, kind, node, in, norm ? 2 : 1, attrs, n, made);
}

static infc_status input_of(infc_llm_build *b, infc_llm_rows *rows, infc_llm_format format,
                            const char *node, MlirValue *out) {
    if (infc_llm_format_floats(format)) {
        INFC_TRY(floats(b, rows, node));
        *out = rows->floats;
    } else if (format.kind == INFC_FORMAT_keep) {
        INFC_TRY(records(b, rows, 0, node, &rows->groups));
        *out = rows->groups;
    } else {
        const int64_t rotate = infc_llm_format_rotate(b, format);
        MlirValue *record = &rows->records[rotate == 128];
        INFC_TRY(records(b, rows, rotate, node, record));
        *out = *record;
    }
    return INFC_OK;
}

/* ---- products ------------------------------------------------------------------------------------------------ */

static int64_t outputs_of(const infc_stored_tensor *const *tensors, int n) {
    int64_t outputs = 0;
    for (int i = 0; i < n; i++) outputs += (int64_t)tensors[i]->dims[0];
    return outputs;
}

static int product_attrs(infc_llm_format format, int64_t outputs, int64_t inputs, infc_attr attrs[3]) {
    attrs[0] = infc_attr_int("outputs", outputs);
    attrs[1] = infc_attr_int("inputs", inputs);
    attrs[2] = infc_attr_int("format", format.gguf);
    return format.kind == INFC_FORMAT_keep ? 3 : 2;
}

static infc_op_kind linear_of(infc_llm_format format, bool gated) {
    switch (format.kind) {
    case INFC_FORMAT_keep: return gated ? INFC_OP_gated_keep : INFC_OP_linear_keep;
    case INFC_FORMAT_int4: return gated ? INFC_OP_gated_i4 : INFC_OP_linear_i4;
    default: return gated ? INFC_OP_gated_i8 : INFC_OP_linear_i8;
    }
}

/* Matrices of one format. */
static infc_status product(infc_llm_build *b, infc_llm_rows *rows, const char *node, infc_llm_format format,
                           const infc_stored_tensor *const *tensors, int n, MlirValue *out) {
    MlirValue in[2];
    infc_attr attrs[3];
    const int n_attrs = product_attrs(format, outputs_of(tensors, n), rows->columns, attrs);
    INFC_TRY(input_of(b, rows, format, node, &in[0]));
    if (infc_llm_format_floats(format)) {
        INFC_TRY(infc_llm_floats(b, tensors, n, format, true, &in[1]));
        return infc_llm_op(b, INFC_OP_matmul, node, in, 2, NULL, 0, out);
    }
    INFC_TRY(infc_llm_packed(b, tensors, n, format, 1, &in[1]));
    return infc_llm_op(b, linear_of(format, false), node, in, 2, attrs, n_attrs, out);
}

enum { MAX_JOINED = 3 };

infc_status infc_llm_linear(infc_llm_build *b, infc_llm_rows *rows, const char *node,
                            const infc_stored_tensor *const *tensors, int n, MlirValue *out) {
    MlirValue parts[MAX_JOINED] = {{0}};
    int n_parts = 0;
    for (int from = 0, to; from < n; from = to) { /* as many as possible at a time */
        infc_llm_format format, next;
        INFC_TRY(infc_llm_format_of(b, tensors[from], &format));
        for (to = from + 1; to < n; to++) {
            INFC_TRY(infc_llm_format_of(b, tensors[to], &next));
            if (!infc_llm_format_equal(format, next) || tensors[to - 1]->dims[0] % 16) break;
        }
        INFC_TRY(product(b, rows, node, format, tensors + from, to - from, &parts[n_parts++]));
    }
    *out = parts[0];
    const infc_attr axis = infc_attr_int("axis", 1);
    if (n_parts == 1) return INFC_OK;
    return infc_llm_op(b, n_parts == 2 ? INFC_OP_concat2 : INFC_OP_concat3, node, parts, n_parts, &axis, 1, out);
}

/* Gate and up as matrices of their own. */
static infc_status gated_apart(infc_llm_build *b, infc_llm_rows *rows, const infc_stored_tensor *gate,
                               const infc_stored_tensor *up, MlirValue *out) {
    infc_llm_format format, other;
    MlirValue g, u;
    INFC_TRY(infc_llm_format_of(b, gate, &format));
    INFC_TRY(infc_llm_format_of(b, up, &other));
    INFC_TRY(infc_llm_adapter_rows(b, rows, "ffn_gate", 1));
    INFC_TRY(product(b, rows, "gate", format, &gate, 1, &g));
    INFC_TRY(infc_llm_adapt(b, rows, "ffn_gate", 1, &g));
    INFC_TRY(map(b, "silu", "gate", g, (MlirValue){0}, &g));
    INFC_TRY(infc_llm_adapter_rows(b, rows, "ffn_up", 1));
    INFC_TRY(product(b, rows, "up", other, &up, 1, &u));
    INFC_TRY(infc_llm_adapt(b, rows, "ffn_up", 1, &u));
    return map(b, "mul", "up", g, u, out);
}

infc_status infc_llm_gated(infc_llm_build *b, infc_llm_rows *rows, const infc_stored_tensor *gate,
                           const infc_stored_tensor *up, MlirValue *out) {
    const infc_stored_tensor *const both[] = {gate, up};
    const int64_t outputs = (int64_t)up->dims[0];
    infc_llm_format format, other;
    MlirValue in[2], pair;
    infc_attr attrs[3];
    INFC_TRY(infc_llm_format_of(b, gate, &format));
    INFC_TRY(infc_llm_format_of(b, up, &other));
    const bool adapts = infc_llm_adapts(b), odd = adapts && outputs % 16;
    if (infc_llm_format_floats(format) || !infc_llm_format_equal(format, other) || odd)
        return gated_apart(b, rows, gate, up, out);
    int n_attrs = product_attrs(format, outputs, rows->columns, attrs);
    INFC_TRY(infc_llm_adapter_rows(b, rows, "ffn_gate", 2));
    INFC_TRY(input_of(b, rows, format, "gate_up", &in[0]));
    INFC_TRY(infc_llm_packed(b, both, 2, format, 2, &in[1]));
    INFC_TRY(infc_llm_op(b, linear_of(format, true), "gate_up", in, 2, attrs, n_attrs, out));
    if (!adapts) return INFC_OK;
    n_attrs = product_attrs(format, 2 * outputs, rows->columns, attrs);
    INFC_TRY(infc_llm_op(b, linear_of(format, false), "gate_and_up", in, 2, attrs, n_attrs, &pair));
    return infc_llm_adapt_gated(b, rows, pair, out);
}

/* ---- attention, embedding ------------------------------------------------------------------------------------ */

infc_status infc_llm_attend(infc_llm_build *b, MlirValue qkv, MlirValue *out) {
    const infc_llm_config *c = &b->model->config;
    const int64_t dim = (int64_t)c->head_dim, heads[] = {(int64_t)c->heads, (int64_t)c->kv_heads, dim, dim};
    const MlirValue *i = b->inputs;
    const infc_attr attrs[] = {infc_attr_ints("heads", heads, 4),
                               infc_attr_int("scale", infc_f32_bits((float)(1.0 / sqrt((double)dim)))),
                               infc_attr_int("window", (int64_t)c->window),
                               infc_attr_int("format", b->kv), infc_attr_int("layer", b->layer)};
    MlirValue in[] = {
        qkv,     i[INFC_LLM_POSITIONS], i[INFC_LLM_SLOTS], i[INFC_LLM_TABLES], i[INFC_LLM_KV],
        b->rope, infc_llm_balance(b)};
    INFC_TRY(infc_llm_op(b, INFC_OP_kv_store, "kv_store", in, 7, attrs, 5, &in[0]));
    return infc_llm_op(b, INFC_OP_attend, "attend", in, 5, attrs, 5, out);
}

infc_status infc_llm_embed(infc_llm_build *b, const infc_stored_tensor *table, MlirValue *out) {
    infc_llm_format format;
    infc_attr attrs[3], axis = infc_attr_int("axis", 0);
    MlirValue in[] = {b->inputs[INFC_LLM_TOKENS], {0}};
    INFC_TRY(infc_llm_format_of(b, table, &format));
    const int n_attrs = product_attrs(format, (int64_t)table->dims[0], (int64_t)table->dims[1], attrs);
    if (infc_llm_format_floats(format)) {
        const bool half = format.kind != INFC_FORMAT_f32;
        INFC_TRY(infc_llm_floats(b, &table, 1, format, half, &in[1]));
        if (half) return infc_llm_op(b, INFC_OP_embed_half, "embed", in, 2, NULL, 0, out);
        const MlirValue turned[] = {in[1], in[0]};
        return infc_llm_op(b, INFC_OP_gather, "embed", turned, 2, &axis, 1, out);
    }
    INFC_TRY(infc_llm_packed(b, &table, 1, format, 1, &in[1]));
    if (format.kind == INFC_FORMAT_keep)
        return infc_llm_op(b, INFC_OP_embed_keep, "embed", in, 2, attrs, n_attrs, out);
    attrs[2] = infc_attr_int("rotate", infc_llm_format_rotate(b, format));
    return infc_llm_op(b, INFC_OP_embed_i8, "embed", in, 2, attrs, 3, out);
}
