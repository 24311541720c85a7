/* Operators of com.microsoft that exporters and optimisers write around transformer encoders. */
#include "ops_attention.h"
#include "ops_part.h"
#include <math.h>
#include <string.h>

/* Input i, one value for each column of x. */
static infc_status column_input(infc_onnx_at *at, size_t i, const infc_onnx_operand *x, infc_onnx_operand *out) {
    INFC_TRY(infc_onnx_input(at, i, out));
    if (x->type.rank > 0 && out->type.rank == 1 && out->type.dims[0] == x->type.dims[x->type.rank - 1])
        return INFC_OK;
    return infc_onnx_invalid(at, "input %zu, \"%s\", is %s; one value for each column of %s is needed",
                             i, at->node->inputs[i], infc_type_text(at->arena, &out->type),
                             infc_type_text(at->arena, &x->type));
}

/* Adds input i, one value for each column, when it is there. */
static infc_status add_input(infc_onnx_at *at, size_t i, infc_onnx_operand *y) {
    infc_onnx_operand bias;
    if (!infc_onnx_has(at, i)) return INFC_OK;
    INFC_TRY(column_input(at, i, y, &bias));
    return infc_onnx_map2(at, "add", *y, bias, y);
}

/* Adds input 1, as large as x; it may repeat over batches. */
static infc_status add_skip(infc_onnx_at *at, infc_onnx_operand *x) {
    infc_onnx_operand skip;
    infc_type both;
    INFC_TRY(infc_onnx_input(at, 1, &skip));
    if ((x->type.rank != 2 && x->type.rank != 3) || (skip.type.rank != 2 && skip.type.rank != 3) ||
        !infc_type_broadcast(&x->type, &skip.type, &both) || !infc_shape_equal(&both, &x->type))
        return infc_onnx_invalid(at, "the input is %s, the skip %s", infc_type_text(at->arena, &x->type),
                                 infc_type_text(at->arena, &skip.type));
    return infc_onnx_map2(at, "add", *x, skip, x);
}

/* BiasGelu, Gelu; FastGelu, which is the approximation by tanh. */
infc_status infc_onnx_import_contrib_gelu(infc_onnx_at *at) {
    infc_onnx_operand x, y;
    bool fast = strcmp(at->node->op, "FastGelu") == 0;
    INFC_TRY(infc_onnx_input(at, 0, &x));
    INFC_TRY(add_input(at, 1, &x));
    INFC_TRY(infc_onnx_map(at, fast ? "gelu_tanh" : "gelu", &x, 1, &y));
    return infc_onnx_output(at, 0, &y);
}

/* ---- normalisation of sums --------------------------------------------------------------------------------- */

static infc_status normalise(infc_onnx_at *at, const infc_onnx_operand *x, bool center,
                             size_t scale, size_t bias, infc_onnx_operand *out) {
    infc_onnx_operand factor;
    INFC_TRY(infc_onnx_norm_rows(at, x, x->type.rank - 1, center, 1e-12f, out));
    INFC_TRY(column_input(at, scale, x, &factor));
    INFC_TRY(infc_onnx_map2(at, "mul", *out, factor, out));
    return bias ? add_input(at, bias, out) : INFC_OK;
}

/* input + skip + bias; its normalisation. */
infc_status infc_onnx_import_skip_layer_norm(infc_onnx_at *at) {
    infc_onnx_operand x, y;
    bool center = strcmp(at->node->op, "SkipLayerNormalization") == 0;
    INFC_TRY(infc_onnx_no_statistics(at, 2));
    INFC_TRY(infc_onnx_input(at, 0, &x));
    INFC_TRY(add_skip(at, &x));
    INFC_TRY(add_input(at, center ? 4 : 3, &x));
    INFC_TRY(normalise(at, &x, center, 2, center ? 3 : 0, &y));
    INFC_TRY(infc_onnx_output(at, 3, &x));
    return infc_onnx_output(at, 0, &y);
}

/* Rows of input `table` by the indices `ids`. */
static infc_status look_up(infc_onnx_at *at, size_t table, const infc_onnx_operand *ids, infc_onnx_operand *out) {
    infc_onnx_operand in[2] = {[1] = *ids};
    infc_attr axis = infc_attr_int("axis", 0);
    INFC_TRY(infc_onnx_input(at, table, &in[0]));
    if (in[0].type.rank != 2)
        return infc_onnx_invalid(at, "input %zu is %s; a table has 2 dimensions", table,
                                 infc_type_text(at->arena, &in[0].type));
    return infc_onnx_build(at, INFC_OP_gather, in, 2, &axis, 1, out);
}

/* Positions 0, 1, .. of a row: input 8, or one after the other. */
static infc_status positions(infc_onnx_at *at, int64_t n, infc_onnx_operand *out) {
    const infc_type type = {.dtype = INFC_DTYPE_i64, .rank = 2, .dims = {1, n}};
    if (infc_onnx_has(at, 8)) return infc_onnx_number(at, 8, out);
    INFC_TRY(infc_onnx_numbers(at, 0, 1, n, out));
    return infc_onnx_view(at, out, type.dims, 2, out);
}

infc_status infc_onnx_import_embed_layer_norm(infc_onnx_at *at) {
    infc_onnx_operand ids, x, other, y;
    if (infc_onnx_output_used(at, 1))
        return infc_onnx_refuse(at, "output 1, mask_index, is not supported");
    INFC_TRY(infc_onnx_number(at, 0, &ids));
    if (ids.type.rank != 2)
        return infc_onnx_invalid(at, "input 0 is %s, not [batch, length]",
                                 infc_type_text(at->arena, &ids.type));
    INFC_TRY(look_up(at, 2, &ids, &x));
    INFC_TRY(positions(at, ids.type.dims[1], &other));
    INFC_TRY(look_up(at, 3, &other, &other));
    INFC_TRY(infc_onnx_map2(at, "add", x, other, &x));
    if (infc_onnx_has(at, 1) && infc_onnx_has(at, 4)) {
        INFC_TRY(infc_onnx_number(at, 1, &other));
        if (!infc_shape_equal(&other.type, &ids.type))
            return infc_onnx_invalid(at, "inputs 0 and 1 are %s and %s", infc_type_text(at->arena, &ids.type),
                                     infc_type_text(at->arena, &other.type));
        INFC_TRY(look_up(at, 4, &other, &other));
        INFC_TRY(infc_onnx_map2(at, "add", x, other, &x));
    }
    INFC_TRY(normalise(at, &x, true, 5, 6, &y));
    INFC_TRY(infc_onnx_output(at, 2, &x));
    return infc_onnx_output(at, 0, &y);
}

/* ---- attention ----------------------------------------------------------------------------------------------- */

/* 1 where a key is seen: given so as [B,N] or [B,M,N], or as the number of keys of each sequence, [B]. */
static infc_status seen_keys(infc_onnx_at *at, const infc_onnx_operand *given, int64_t keys,
                             infc_onnx_operand *out) {
    infc_onnx_operand pick[3];
    const int64_t batch = given->type.dims[0], one[] = {batch, 1, 1, 1};
    INFC_TRY(infc_onnx_convert(at, INFC_DTYPE_f32, given, out));
    if (given->type.rank == 1) {
        INFC_TRY(infc_onnx_view(at, out, one, 4, &pick[0]));
        INFC_TRY(infc_onnx_numbers(at, 0, 1, keys, &pick[1]));
        INFC_TRY(infc_onnx_convert(at, INFC_DTYPE_f32, &pick[1], &pick[1]));
        INFC_TRY(infc_onnx_map(at, "sub", pick, 2, &pick[0]));
        pick[1] = infc_onnx_scalar(at, "seen", 1.0f);
        pick[2] = infc_onnx_scalar(at, "hidden", 0.0f);
        return infc_onnx_map(at, "pick", pick, 3, out);
    }
    const int64_t *x = given->type.dims,
                  dims[] = {x[0], 1, given->type.rank == 3 ? x[1] : 1, x[given->type.rank - 1]};
    return infc_onnx_view(at, out, dims, 4, out);
}

/* The mask that input i gives, in the scores of keys that are not seen: mask_filter_value. */
static infc_status key_mask(infc_onnx_at *at, infc_onnx_attention *a, size_t i) {
    infc_onnx_operand given, pick[3];
    if (!infc_onnx_has(at, i)) return INFC_OK;
    INFC_TRY(infc_onnx_number(at, i, &given));
    int64_t keys = a->k.type.dims[1], last = given.type.rank > 0 ? given.type.dims[given.type.rank - 1] : 0;
    bool lengths = given.type.rank == 1 && last == a->q.type.dims[0];
    if (given.type.dtype == INFC_DTYPE_f32 || given.type.rank > 3 ||
        (!lengths && (given.type.rank < 2 || last != keys)))
        return infc_onnx_refuse(at,
                                "a mask that is %s is not supported; [batch], [batch, keys] and "
                                "[batch, queries, keys] are",
                                infc_type_text(at->arena, &given.type));
    INFC_TRY(seen_keys(at, &given, keys, &pick[0]));
    pick[1] = infc_onnx_scalar(at, "seen", 0.0f);
    pick[2] = infc_onnx_scalar(at, "hidden", infc_onnx_attr_float(at, "mask_filter_value", -10000.0f));
    INFC_TRY(infc_onnx_map(at, "pick", pick, 3, &pick[0]));
    return infc_onnx_attention_mask(at, a, &pick[0]);
}

static infc_status score_bias(infc_onnx_at *at, infc_onnx_attention *a, size_t i) {
    infc_onnx_operand bias;
    if (!infc_onnx_has(at, i)) return INFC_OK;
    INFC_TRY(infc_onnx_input(at, i, &bias));
    return infc_onnx_attention_mask(at, a, &bias);
}

static infc_status refuse_cache(infc_onnx_at *at, size_t first, size_t last) {
    for (size_t i = first; i <= last; i++)
        if (infc_onnx_has(at, i))
            return infc_onnx_refuse(at, "input %zu, of a cache, is not supported", i);
    for (size_t i = 1; i < at->node->n_outputs; i++)
        if (infc_onnx_output_used(at, i))
            return infc_onnx_refuse(at, "output %zu is not supported", i);
    return INFC_OK;
}

/* x times the weights of q, k and v side by side. */
infc_status infc_onnx_import_contrib_attention(infc_onnx_at *at) {
    infc_onnx_attention a = {.scale = infc_onnx_attr_float(at, "scale", 0.0f)};
    infc_onnx_operand pair[2], t, y;
    const infc_onnx_attribute *sizes = infc_onnx_attr(at, "qkv_hidden_sizes");
    int64_t heads = infc_onnx_attr_int(at, "num_heads", 0), widths[3];
    INFC_TRY(refuse_cache(at, 4, 4));
    if (infc_onnx_has(at, 6) || infc_onnx_attr_int(at, "do_rotary", 0))
        return infc_onnx_refuse(at, "a cache and \"do_rotary\" are not supported");
    INFC_TRY(infc_onnx_attr_flag(at, "unidirectional", 0, &a.causal));
    for (size_t i = 0; i < 2; i++) INFC_TRY(infc_onnx_input(at, i, &pair[i]));
    if (pair[0].type.rank != 3 || pair[1].type.rank != 2)
        return infc_onnx_invalid(at, "inputs of %s and %s; [batch, length, columns] and a matrix are needed",
                                 infc_type_text(at->arena, &pair[0].type),
                                 infc_type_text(at->arena, &pair[1].type));
    int64_t columns = pair[1].type.dims[1];
    for (int i = 0; i < 3; i++)
        widths[i] = sizes && sizes->n_ints == 3 ? sizes->ints[i] : columns / 3;
    if (heads < 1 || widths[0] != widths[1] || widths[0] < heads || widths[2] < heads ||
        widths[0] % heads != 0 || widths[2] % heads != 0 || widths[0] > columns ||
        widths[2] > columns || 2 * widths[0] + widths[2] != columns)
        return infc_onnx_invalid(at, "%lld heads do not fit %lld columns of weights",
                                 (long long)heads, (long long)columns);
    INFC_TRY(infc_onnx_build(at, INFC_OP_matmul, pair, 2, NULL, 0, &t));
    INFC_TRY(add_input(at, 2, &t));
    a.q = a.k = a.v = t;
    a.heads = a.groups = heads;
    a.d = widths[0] / heads;
    a.dv = widths[2] / heads;
    a.at[1] = widths[0];
    a.at[2] = 2 * widths[0];
    INFC_TRY(key_mask(at, &a, 3));
    INFC_TRY(score_bias(at, &a, 5));
    INFC_TRY(infc_onnx_attend(at, &a, &y));
    return infc_onnx_output(at, 0, &y);
}

/* Input i of MultiHeadAttention, plus its part of the bias. */
static infc_status projected(infc_onnx_at *at, size_t i, int64_t bias_at, infc_onnx_operand *out) {
    infc_onnx_operand bias, own;
    infc_onnx_part part;
    INFC_TRY(infc_onnx_input(at, i, out));
    if (out->type.rank != 3)
        return infc_onnx_refuse(at, "input %zu is %s; only [batch, length, columns] is supported",
                                i, infc_type_text(at->arena, &out->type));
    if (!infc_onnx_has(at, 3)) return INFC_OK;
    INFC_TRY(infc_onnx_input(at, 3, &bias));
    if (bias.type.rank != 1 || bias_at + out->type.dims[2] > bias.type.dims[0])
        return infc_onnx_invalid(at, "the bias, %s, is too short", infc_type_text(at->arena, &bias.type));
    infc_onnx_part_all(&bias.type, &part);
    part.starts[0] = bias_at;
    part.shape[0] = out->type.dims[2];
    INFC_TRY(infc_onnx_part_of(at, &bias, &part, &own));
    return infc_onnx_map2(at, "add", *out, own, out);
}

static infc_status check_bias(infc_onnx_at *at, const infc_onnx_attention *a) {
    int64_t columns = a->q.type.dims[2] + a->k.type.dims[2] + a->v.type.dims[2];
    if (!infc_onnx_has(at, 3)) return INFC_OK;
    const infc_onnx_operand bias = infc_onnx_any(at, 3);
    if (bias.type.dims[0] == columns) return INFC_OK;
    return infc_onnx_invalid(at, "the bias, %s, is not %lld long",
                             infc_type_text(at->arena, &bias.type), (long long)columns);
}

infc_status infc_onnx_import_multi_head_attention(infc_onnx_at *at) {
    infc_onnx_attention a = {.scale = infc_onnx_attr_float(at, "scale", 0.0f)};
    infc_onnx_operand y;
    INFC_TRY(refuse_cache(at, 6, 9));
    INFC_TRY(infc_onnx_attr_flag(at, "unidirectional", 0, &a.causal));
    if (!infc_onnx_has(at, 1) || !infc_onnx_has(at, 2))
        return infc_onnx_refuse(at, "q, k and v in one input are not supported");
    INFC_TRY(projected(at, 0, 0, &a.q));
    INFC_TRY(projected(at, 1, a.q.type.dims[2], &a.k));
    INFC_TRY(projected(at, 2, 2 * a.q.type.dims[2], &a.v));
    a.heads = a.groups = infc_onnx_attr_int(at, "num_heads", 0);
    if (a.heads < 1 || a.q.type.dims[2] % a.heads != 0 || a.v.type.dims[2] % a.heads != 0)
        return infc_onnx_invalid(at, "%lld heads do not fit %lld columns", (long long)a.heads,
                                 (long long)a.q.type.dims[2]);
    a.d = a.q.type.dims[2] / a.heads;
    a.dv = a.v.type.dims[2] / a.heads;
    INFC_TRY(check_bias(at, &a));
    a.past = infc_dim_sub(a.k.type.dims[1], a.q.type.dims[1]);
    INFC_TRY(key_mask(at, &a, 4));
    INFC_TRY(score_bias(at, &a, 5));
    INFC_TRY(infc_onnx_attend(at, &a, &y));
    return infc_onnx_output(at, 0, &y);
}
