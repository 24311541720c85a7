/* llm_weights.c - tensors of the checkpoint as constants of the IR, and what packs them: ops, so that they are made one
 * at a time when the payload is written. */
#include <math.h>
#include <string.h>
#include "../../ir/op_rules.h"
#include "llm_build.h"

const infc_stored_tensor *infc_llm_tensor(const infc_llm_build *b, const char *role) {
    const uint64_t layer = b->layer < 0 ? 0 : (uint64_t)b->layer;
    return infc_checkpoint_find(&b->model->checkpoint,
                                infc_llm_tensor_name(b->cx->arena, role, layer, b->gguf));
}

static bool quantised(const infc_stored_tensor *tensor) {
    return infc_stored_types[tensor->type].per_block > 1;
}

static bool is_float(const infc_stored_tensor *tensor) {
    return tensor->type == INFC_STORED_F32 || tensor->type == INFC_STORED_F16 || tensor->type == INFC_STORED_BF16;
}

/* ---- formats ------------------------------------------------------------------------------------------------- */

bool infc_llm_format_equal(infc_llm_format a, infc_llm_format b) {
    return a.kind == b.kind && a.gguf == b.gguf;
}

bool infc_llm_format_floats(infc_llm_format format) {
    return format.kind == INFC_FORMAT_f32 || format.kind == INFC_FORMAT_f16 || format.kind == INFC_FORMAT_bf16;
}

/* The embedding is looked up row by row, for which there is no int4, and the head decides about tokens. */
static bool outermost(const infc_llm_build *b, const infc_stored_tensor *tensor) {
    infc_llm_build whole = *b;
    whole.layer = -1;
    return tensor == infc_llm_tensor(&whole, "embedding") ||
           tensor == infc_llm_tensor(&whole, "head");
}

infc_status infc_llm_format_of(infc_llm_build *b, const infc_stored_tensor *tensor, infc_llm_format *out) {
    const infc_loc loc = {.file = tensor->file};
    const int number = infc_stored_types[tensor->type].gguf;
    infc_spec_format kind;
    INFC_TRY(infc_spec_weight_format(b->cx, b->spec, tensor->name, b->matched, &kind));
    if (kind == INFC_FORMAT_NONE)
        kind = quantised(tensor) || b->facts.keeps ? INFC_FORMAT_keep : INFC_FORMAT_int8;
    if (!is_float(tensor) && infc_keep_row_bytes(number, (int64_t)tensor->dims[tensor->rank - 1]) == 0)
        return infc_fail(b->cx, INFC_ERR_UNSUPPORTED, loc,
                         "tensor \"%s\" is stored as %s, which is not supported; take a file with "
                         "F32, F16, BF16, Q4_0, "
                         "Q4_1, Q5_0, Q8_0, Q4_K and Q6_K alone",
                         tensor->name, infc_stored_types[tensor->type].name);
    if (kind == INFC_FORMAT_keep && !quantised(tensor)) kind = INFC_FORMAT_f32;
    if (kind == INFC_FORMAT_int4 && outermost(b, tensor)) kind = INFC_FORMAT_int8;
    *out = (infc_llm_format){kind, kind == INFC_FORMAT_keep ? number : 0};
    return INFC_OK;
}

int64_t infc_llm_format_rotate(const infc_llm_build *b, infc_llm_format format) {
    return infc_llm_rotate(&b->facts, format.kind == INFC_FORMAT_int4);
}

/* ---- constants ----------------------------------------------------------------------------------------------- */

/* The bytes of the file: floats as they are, else rows of bytes. The same tensor is the same constant. */
static MlirValue stored(infc_llm_build *b, const infc_stored_tensor *tensor) {
    infc_type type = {.dtype = INFC_DTYPE_u8, .rank = tensor->rank};
    for (int i = 0; i < tensor->rank; i++) type.dims[i] = (int64_t)tensor->dims[i];
    if (tensor->type == INFC_STORED_F32) type.dtype = INFC_DTYPE_f32;
    else if (tensor->type == INFC_STORED_F16) type.dtype = INFC_DTYPE_f16;
    else if (tensor->type == INFC_STORED_BF16) type.dtype = INFC_DTYPE_bf16;
    else type.dims[tensor->rank - 1] = (int64_t)(tensor->bytes.len / tensor->dims[0]);
    size_t at = (size_t)(tensor - b->model->checkpoint.tensors);
    if (b->weight_ids[at] < 0)
        b->weight_ids[at] =
            infc_weights_add(&b->ir->weights, (infc_weight){tensor->name, type, tensor->bytes.ptr,
                                                            infc_origin_checkpoint, tensor->file});
    const infc_ir_at end = {.block = b->block};
    return infc_ir_weight(b->ir, end, b->weight_ids[at], infc_ir_location(b->ir, tensor->name, 0));
}

static infc_status reshape(infc_llm_build *b, const char *node, const int64_t *shape, int rank, MlirValue *x) {
    const infc_attr attr = infc_attr_ints("shape", shape, rank);
    return infc_llm_op(b, INFC_OP_reshape, node, x, 1, &attr, 1, x);
}

/* GGUF holds the rows of q and k in the order of neighbouring pairs: element 2 i + j of a head is half j, i. */
static infc_status unturn(infc_llm_build *b, const infc_stored_tensor *tensor, MlirValue *x) {
    static const int64_t perm[] = {0, 2, 1, 3};
    if (!b->gguf ||
        (tensor != infc_llm_tensor(b, "attn_q") && tensor != infc_llm_tensor(b, "attn_k")))
        return INFC_OK;
    const infc_type type = infc_ir_type(b->ir, *x);
    const int64_t dim = (int64_t)b->model->config.head_dim;
    const int64_t pairs[] = {type.dims[0] / dim, dim / 2, 2, type.dims[1]};
    const infc_attr attr = infc_attr_ints("perm", perm, 4);
    INFC_TRY(reshape(b, tensor->name, pairs, 4, x));
    INFC_TRY(infc_llm_op(b, INFC_OP_transpose, tensor->name, x, 1, &attr, 1, x));
    return reshape(b, tensor->name, type.dims, 2, x);
}

static const char row_origin[] = "row numbers";

static infc_attr format_attr(int gguf) { return infc_attr_int("format", gguf); }

/* 0, 1, .. n - 1: the same constant for all who ask, so that a tensor used twice stays one. */
static int64_t row_numbers(infc_llm_build *b, int64_t n) {
    for (size_t i = b->ir->weights.n; i-- > 0;) {
        const infc_weight *w = &b->ir->weights.items[i];
        if (strcmp(w->origin, row_origin) == 0 && w->type.dims[0] == n) return (int64_t)i;
    }
    int32_t *rows = INFC_NEW(b->cx->arena, int32_t, (size_t)n);
    for (int32_t i = 0; i < n; i++) rows[i] = i;
    const infc_type type = {.dtype = INFC_DTYPE_i32, .rank = 1, .dims = {n}};
    return infc_weights_add(&b->ir->weights, (infc_weight){"rows", type, rows, row_origin, NULL});
}

/* Rows of a quantised tensor as floats: packed, and looked up one after another. */
static infc_status dequantise(infc_llm_build *b, const infc_stored_tensor *tensor, MlirValue *x) {
    const int number = infc_stored_types[tensor->type].gguf;
    const int64_t n = (int64_t)tensor->dims[0], k = (int64_t)tensor->dims[1];
    const infc_attr pack[] = {infc_attr_int("inputs", k), infc_attr_int("parts", 1), format_attr(number)},
                    look[] = {infc_attr_int("outputs", n), infc_attr_int("inputs", k), format_attr(number)};
    const infc_ir_at end = {.block = b->block};
    MlirValue in[2] = {infc_ir_weight(b->ir, end, row_numbers(b, n), infc_ir_location(b->ir, tensor->name, 0))};
    INFC_TRY(infc_llm_op(b, INFC_OP_pack_keep, tensor->name, x, 1, pack, 3, &in[1]));
    return infc_llm_op(b, INFC_OP_embed_keep, tensor->name, in, 2, look, 3, x);
}

static infc_status as_floats(infc_llm_build *b, const infc_stored_tensor *tensor, MlirValue *x) {
    if (tensor->type == INFC_STORED_F32) return INFC_OK;
    if (is_float(tensor)) return infc_llm_op(b, INFC_OP_widen, tensor->name, x, 1, NULL, 0, x);
    return dequantise(b, tensor, x);
}

/* As f32, f16 or bf16: what the file has already is left as it is. */
static infc_status as_format(infc_llm_build *b, const infc_stored_tensor *tensor,
                             infc_spec_format kind, MlirValue *x) {
    const infc_attr to = infc_attr_string("to", infc_spec_formats[kind]);
    if ((kind == INFC_FORMAT_f16 && tensor->type == INFC_STORED_F16) ||
        (kind == INFC_FORMAT_bf16 && tensor->type == INFC_STORED_BF16))
        return INFC_OK;
    INFC_TRY(as_floats(b, tensor, x));
    if (kind == INFC_FORMAT_f32) return INFC_OK;
    return infc_llm_op(b, INFC_OP_narrow, tensor->name, x, 1, &to, 1, x);
}

enum { MAX_JOINED = 3 };

/* The matrices one after another; kind keep: as stored, else f32, f16 or bf16. */
static infc_status joined(infc_llm_build *b, const infc_stored_tensor *const *tensors, int n,
                          infc_spec_format kind, MlirValue *out) {
    MlirValue parts[MAX_JOINED];
    const infc_attr axis = infc_attr_int("axis", 0);
    for (int i = 0; i < n; i++) {
        parts[i] = stored(b, tensors[i]);
        if (kind != INFC_FORMAT_keep) INFC_TRY(as_format(b, tensors[i], kind, &parts[i]));
        INFC_TRY(unturn(b, tensors[i], &parts[i]));
    }
    *out = parts[0];
    if (n == 1) return INFC_OK;
    return infc_llm_op(b, n == 2 ? INFC_OP_concat2 : INFC_OP_concat3, tensors[0]->name, parts, n, &axis, 1, out);
}

infc_status infc_llm_vector(infc_llm_build *b, const infc_stored_tensor *tensor, MlirValue *out) {
    if (!is_float(tensor))
        return infc_fail(b->cx, INFC_ERR_UNSUPPORTED, (infc_loc){.file = tensor->file},
                         "tensor \"%s\" is stored as %s, not as F32, F16 or BF16", tensor->name,
                         infc_stored_types[tensor->type].name);
    *out = stored(b, tensor);
    return as_floats(b, tensor, out);
}

infc_status infc_llm_floats(infc_llm_build *b, const infc_stored_tensor *const *tensors, int n,
                            infc_llm_format format, bool turned, MlirValue *out) {
    static const int64_t perm[] = {1, 0};
    const infc_attr attr = infc_attr_ints("perm", perm, 2);
    INFC_TRY(joined(b, tensors, n, format.kind, out));
    if (!turned) return INFC_OK;
    return infc_llm_op(b, INFC_OP_transpose, tensors[0]->name, out, 1, &attr, 1, out);
}

infc_status infc_llm_packed(infc_llm_build *b, const infc_stored_tensor *const *tensors, int n,
                            infc_llm_format format, int parts, MlirValue *out) {
    const infc_attr attrs[] = {infc_attr_int("inputs", (int64_t)tensors[0]->dims[1]),
                               infc_attr_int("parts", parts), format_attr(format.gguf)},
                    rotate = infc_attr_int("rotate", infc_llm_format_rotate(b, format)),
                    bytes[] = {attrs[0], attrs[1], rotate}, choice[] = {attrs[0], rotate};
    INFC_TRY(joined(b, tensors, n, format.kind == INFC_FORMAT_keep ? format.kind : INFC_FORMAT_f32, out));
    const char *node = tensors[0]->name;
    if (format.kind == INFC_FORMAT_keep)
        return infc_llm_op(b, INFC_OP_pack_keep, node, out, 1, attrs, 3, out);
    if (format.kind == INFC_FORMAT_int8)
        return infc_llm_op(b, INFC_OP_pack_i8, node, out, 1, bytes, 3, out);
    INFC_TRY(infc_llm_op(b, INFC_OP_choose_i4, node, out, 1, choice, 2, out));
    return infc_llm_op(b, INFC_OP_pack_i4, node, out, 1, attrs, 2, out);
}

/* ---- rotary embedding ---------------------------------------------------------------------------------------- */

/* Radians by which pair i turns from one position to the next. */
static double frequency(const infc_llm_config *c, int64_t i) {
    const double pi = 3.14159265358979323846;
    double f = pow(c->rope_theta, -2.0 * (double)i / (double)c->head_dim);
    if (c->rope_factors) {
        float factor;
        memcpy(&factor, c->rope_factors->bytes.ptr + (size_t)i * sizeof factor, sizeof factor);
        f /= (double)factor;
    }
    if (c->rope_scaling == INFC_ROPE_LINEAR) return f / c->rope_factor;
    if (c->rope_scaling != INFC_ROPE_LLAMA3) return f;
    const double turns = (double)c->rope_context * f / (2 * pi); /* over the original context */
    if (turns > c->rope_high) return f;
    if (turns < c->rope_low) return f / c->rope_factor;
    const double smooth = (turns - c->rope_low) / (c->rope_high - c->rope_low);
    return (1 - smooth) * f / c->rope_factor + smooth * f;
}

MlirValue infc_llm_balance(infc_llm_build *b) {
    const int64_t n = (int64_t)(b->model->config.kv_heads * b->model->config.head_dim);
    const infc_type type = {.dtype = INFC_DTYPE_f32, .rank = 2, .dims = {3, n}};
    float *table = INFC_NEW(b->cx->arena, float, (size_t)(3 * n));
    for (int64_t i = n; i < 3 * n; i++) table[i] = 1;
    const infc_weight weight = {.name = infc_arena_printf(b->cx->arena, "balance.%lld", (long long)b->layer),
                                .type = type,
                                .bytes = table,
                                .origin = "keys as they are"};
    const infc_ir_at end = {.block = b->block};
    return infc_ir_weight(b->ir, end, infc_weights_add(&b->ir->weights, weight),
                          infc_ir_location(b->ir, "balance", 0));
}

infc_status infc_llm_rope(infc_llm_build *b, MlirValue *out) {
    const infc_llm_config *c = &b->model->config;
    const int64_t positions = b->facts.max_blocks * INFC_KV_POSITIONS, pairs = (int64_t)c->head_dim / 2;
    const infc_type type = {.dtype = INFC_DTYPE_f32, .rank = 2, .dims = {positions, 2 * pairs}};
    float *table = INFC_NEW(b->cx->arena, float, (size_t)(positions * pairs * 2));
    for (int64_t i = 0; i < pairs; i++) {
        const double f = frequency(c, i);
        for (int64_t p = 0; p < positions; p++) {
            table[2 * (p * pairs + i)] = (float)cos((double)p * f);
            table[2 * (p * pairs + i) + 1] = (float)sin((double)p * f);
        }
    }
    const infc_weight weight = {.name = "rope", .type = type, .bytes = table, .origin = "cosine and sine by position"};
    const infc_ir_at end = {.block = b->block};
    *out = infc_ir_weight(b->ir, end, infc_weights_add(&b->ir->weights, weight),
                          infc_ir_location(b->ir, "rope", 0));
    return INFC_OK;
}
