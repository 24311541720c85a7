/* ONNX's Attention and RotaryEmbedding, and what all attention operators share. */
#include "ops_attention.h"
#include "../../ir/op_rules.h"
#include "ops_part.h"
#include <math.h>

infc_status infc_onnx_attend(infc_onnx_at *at, const infc_onnx_attention *a, infc_onnx_operand *out) {
    infc_onnx_operand in[] = {a->q, a->k, a->v, a->mask};
    float scale = a->scale != 0.0f ? a->scale : (float)(1.0 / sqrt((double)a->d));
    const int64_t heads[] = {a->heads, a->groups}, dims[] = {a->d, a->dv}, past[] = {a->causal, a->past};
    infc_attr attrs[] = {infc_attr_ints("heads", heads, 2), infc_attr_ints("dims", dims, 2),
                         infc_attr_ints("at", a->at, 3), infc_attr_int("scale", infc_f32_bits(scale)),
                         infc_attr_ints("past", past, 2)};
    return infc_onnx_build(at, a->masked ? INFC_OP_attention_masked : INFC_OP_attention, in,
                           a->masked ? 4 : 3, attrs, 5, out);
}

infc_status infc_onnx_attention_mask(infc_onnx_at *at, infc_onnx_attention *a, const infc_onnx_operand *mask) {
    if (a->masked) return infc_onnx_map2(at, "add", a->mask, *mask, &a->mask);
    a->masked = true;
    a->mask = *mask;
    return INFC_OK;
}

/* ---- Attention -------------------------------------------------------------------------------------------- */

/* Input i as [B,S,heads * d]: given so, or as [B,heads,S,d]. */
static infc_status side_by_side(infc_onnx_at *at, size_t i, const char *attr,
                                infc_onnx_operand *out, int64_t *heads, int64_t *d) {
    static const int64_t perm[] = {0, 2, 1, 3};
    INFC_TRY(infc_onnx_input(at, i, out));
    const int64_t *x = out->type.dims;
    if (out->type.rank == 4) {
        int64_t dims[] = {x[0], x[2], x[1] * x[3]};
        *heads = x[1];
        *d = x[3];
        INFC_TRY(infc_onnx_permute(at, out, perm, out));
        return infc_onnx_view(at, out, dims, 3, out);
    }
    *heads = infc_onnx_attr_int(at, attr, 0);
    if (out->type.rank != 3 || *heads < 1 || x[2] % *heads != 0)
        return infc_onnx_invalid(at, "input %zu is %s; it needs 4 dimensions, or 3 and \"%s\" that divides the last",
                                 i, infc_type_text(at->arena, &out->type), attr);
    *d = x[2] / *heads;
    return INFC_OK;
}

/* Input 3: added, or where it is false, -inf. */
static infc_status read_mask(infc_onnx_at *at, infc_onnx_attention *a) {
    infc_onnx_operand mask, pick[3];
    INFC_TRY(infc_onnx_number(at, 3, &mask));
    if (mask.type.dtype == INFC_DTYPE_bool) {
        INFC_TRY(infc_onnx_convert(at, INFC_DTYPE_f32, &mask, &pick[0]));
        pick[1] = infc_onnx_scalar(at, "seen", 0.0f);
        pick[2] = infc_onnx_scalar(at, "hidden", -INFINITY);
        INFC_TRY(infc_onnx_map(at, "pick", pick, 3, &mask));
    }
    return infc_onnx_attention_mask(at, a, &mask);
}

static infc_status refuse_rest(infc_onnx_at *at) {
    for (size_t i = 4; i < 7; i++)
        if (infc_onnx_has(at, i))
            return infc_onnx_refuse(at, "input %zu, of a cache, is not supported", i);
    for (size_t i = 1; i < 4; i++)
        if (infc_onnx_output_used(at, i))
            return infc_onnx_refuse(at, "output %zu is not supported", i);
    if (infc_onnx_attr_float(at, "softcap", 0.0f) != 0.0f)
        return infc_onnx_refuse(at, "\"softcap\" is not supported");
    if (infc_onnx_attr_int(at, "left_window_size", -1) != -1 ||
        infc_onnx_attr_int(at, "right_window_size", -1) != -1)
        return infc_onnx_refuse(at, "windows are not supported");
    return INFC_OK;
}

infc_status infc_onnx_import_attention(infc_onnx_at *at) {
    infc_onnx_attention a = {.scale = infc_onnx_attr_float(at, "scale", 0.0f)};
    infc_onnx_operand y;
    int64_t v_heads;
    INFC_TRY(refuse_rest(at));
    INFC_TRY(infc_onnx_attr_flag(at, "is_causal", 0, &a.causal));
    INFC_TRY(side_by_side(at, 0, "q_num_heads", &a.q, &a.heads, &a.d));
    INFC_TRY(side_by_side(at, 1, "kv_num_heads", &a.k, &a.groups, &a.d));
    INFC_TRY(side_by_side(at, 2, "kv_num_heads", &a.v, &v_heads, &a.dv));
    if (v_heads != a.groups)
        return infc_onnx_invalid(at, "K has %lld heads, V %lld", (long long)a.groups, (long long)v_heads);
    if (infc_onnx_has(at, 3)) INFC_TRY(read_mask(at, &a));
    INFC_TRY(infc_onnx_attend(at, &a, &y));
    if (infc_onnx_any(at, 0).type.rank == 4) {
        const int64_t perm[] = {0, 2, 1, 3}, dims[] = {y.type.dims[0], y.type.dims[1], a.heads, a.dv};
        INFC_TRY(infc_onnx_view(at, &y, dims, 4, &y));
        INFC_TRY(infc_onnx_permute(at, &y, perm, &y));
    }
    return infc_onnx_output(at, 0, &y);
}

/* ---- RotaryEmbedding: x as [B,S,N,D] ------------------------------------------------------------------------ */

/* Every step-th of n columns from `from` on. */
static infc_status columns(infc_onnx_at *at, const infc_onnx_operand *x, int64_t from, int64_t step,
                           int64_t n, infc_onnx_operand *out) {
    infc_onnx_part part;
    infc_onnx_part_all(&x->type, &part);
    part.starts[3] = from;
    part.steps[3] = n > 1 ? step : 1;
    part.shape[3] = n;
    return infc_onnx_part_of(at, x, &part, out);
}

/* a * p + b * q, or less it. */
static infc_status combine(infc_onnx_at *at, const infc_onnx_operand *a, const infc_onnx_operand *p,
                           const char *fn, const infc_onnx_operand *b, const infc_onnx_operand *q,
                           infc_onnx_operand *out) {
    infc_onnx_operand first, second;
    INFC_TRY(infc_onnx_map2(at, "mul", *a, *p, &first));
    INFC_TRY(infc_onnx_map2(at, "mul", *b, *q, &second));
    return infc_onnx_map2(at, fn, first, second, out);
}

/* Input i, a table of cosines or sines: rows by position, or one for each element of [B,S]; as [B,S,1,half]. */
static infc_status angles(infc_onnx_at *at, size_t i, const infc_type *x, int64_t half, infc_onnx_operand *out) {
    infc_onnx_operand in[2];
    INFC_TRY(infc_onnx_input(at, i, &in[0]));
    *out = in[0];
    if (infc_onnx_has(at, 3)) {
        infc_attr axis = infc_attr_int("axis", 0);
        INFC_TRY(infc_onnx_number(at, 3, &in[1]));
        INFC_TRY(infc_onnx_build(at, INFC_OP_gather, in, 2, &axis, 1, out));
    }
    const int64_t dims[] = {x->dims[0], x->dims[1], 1, half};
    if (infc_dims_product(&out->type, 0, out->type.rank) != infc_dim_mul(infc_dim_mul(dims[0], dims[1]), half))
        return infc_onnx_invalid(at, "input %zu gives %s angles for %s x %s positions of %lld", i,
                                 infc_type_text(at->arena, &out->type), infc_dim_text(at->arena, dims[0]),
                                 infc_dim_text(at->arena, dims[1]), (long long)half);
    return infc_onnx_view(at, out, dims, 4, out);
}

static infc_status rotate(infc_onnx_at *at, const infc_onnx_operand *x, int64_t turned,
                          bool interleaved, infc_onnx_operand *out) {
    infc_onnx_operand a, b, cosine, sine, parts[3];
    int64_t half = turned / 2, step = interleaved ? 2 : 1, d = x->type.dims[3];
    INFC_TRY(angles(at, 1, &x->type, half, &cosine));
    INFC_TRY(angles(at, 2, &x->type, half, &sine));
    INFC_TRY(columns(at, x, 0, step, half, &a));
    INFC_TRY(columns(at, x, interleaved ? 1 : half, step, half, &b));
    INFC_TRY(combine(at, &a, &cosine, "sub", &b, &sine, &parts[0]));
    INFC_TRY(combine(at, &b, &cosine, "add", &a, &sine, &parts[1]));
    if (interleaved) {
        int64_t apart[] = {x->type.dims[0], x->type.dims[1], x->type.dims[2], half, 1};
        for (int i = 0; i < 2; i++) INFC_TRY(infc_onnx_view(at, &parts[i], apart, 5, &parts[i]));
        INFC_TRY(infc_onnx_join(at, parts, 2, 4, &parts[0]));
        apart[3] = turned;
        INFC_TRY(infc_onnx_view(at, &parts[0], apart, 4, &parts[0]));
        if (turned == d) return *out = parts[0], INFC_OK;
        INFC_TRY(columns(at, x, turned, 1, d - turned, &parts[1]));
        return infc_onnx_join(at, parts, 2, 3, out);
    }
    if (turned < d) INFC_TRY(columns(at, x, turned, 1, d - turned, &parts[2]));
    return infc_onnx_join(at, parts, turned < d ? 3 : 2, 3, out);
}

infc_status infc_onnx_import_rotary_embedding(infc_onnx_at *at) {
    static const int64_t perm[] = {0, 2, 1, 3};
    infc_onnx_operand x, y;
    bool interleaved;
    INFC_TRY(infc_onnx_input(at, 0, &x));
    INFC_TRY(infc_onnx_attr_flag(at, "interleaved", 0, &interleaved));
    const infc_type given = x.type;
    int64_t heads = infc_onnx_attr_int(at, "num_heads", 0),
            turned = infc_onnx_attr_int(at, "rotary_embedding_dim", 0);
    if (given.rank == 4) {
        INFC_TRY(infc_onnx_permute(at, &x, perm, &x));
    } else if (given.rank == 3 && heads > 0 && given.dims[2] % heads == 0) {
        const int64_t dims[] = {given.dims[0], given.dims[1], heads, given.dims[2] / heads};
        INFC_TRY(infc_onnx_view(at, &x, dims, 4, &x));
    } else {
        return infc_onnx_invalid(
            at,
            "the input is %s; it needs 4 dimensions, or 3 and \"num_heads\" that "
            "divides the last",
            infc_type_text(at->arena, &given));
    }
    if (turned == 0) turned = x.type.dims[3];
    if (turned < 2 || turned % 2 != 0 || turned > x.type.dims[3])
        return infc_onnx_invalid(at, "%lld of %lld columns cannot be rotated", (long long)turned,
                                 (long long)x.type.dims[3]);
    INFC_TRY(rotate(at, &x, turned, interleaved, &y));
    if (given.rank == 4) INFC_TRY(infc_onnx_permute(at, &y, perm, &y));
    INFC_TRY(infc_onnx_view(at, &y, given.dims, given.rank, &y));
    return infc_onnx_output(at, 0, &y);
}
