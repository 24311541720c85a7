/* quantize.c - int8 weights where the spec says so: the constant weight of a conv or matmul becomes int8 with one
 * scale per output, and the result is multiplied by the scales, ahead of any bias:
 *
 *   conv(x, w)   becomes   conv(x, q) * scale,   scale = max|w| / 127 over an output, q = w / scale to the
 *                                                nearest (ties to even), within -127..127
 *
 * Symmetric, so zero stays zero. An output of zeros (or so small that its scale would not be a normal float)
 * has scale 1. What it costs is reported per weight: root mean square error over root mean square.
 *
 * Where the spec says precision.float: fast, other constant weights of a matmul are rounded to bf16 (whose products the
 * target may have an instruction for), unless the spec says f32. */
#include "../compiler/base/file.h"
#include "constants.h"
#include <float.h>
#include <math.h>
#include <string.h>

typedef struct made { /* one quantised weight may serve several ops */
    const infc_weight *weight;
    infc_op_kind kind;
    MlirValue operand; /* of the ops it served: the constant, or its transpose */
    int64_t q, scale;  /* ids; scale -1: q is of bf16 */
} made;

typedef struct quantize {
    infc_pass_cx *pass;
    bool *matched; /* per rule: some weight, also one that an earlier rule decides about */
    made *made;
    size_t n_made, cap_made;
} quantize;

static void warn_of_idle_rules(const quantize *q) {
    for (size_t i = 0; i < q->pass->spec->n_rules; i++) {
        const infc_spec_rule *idle = &q->pass->spec->rules[i];
        if (!q->matched[i])
            infc_warn(q->pass->ir->cx, idle->loc,
                      "precision.rules: \"%.200s\" matches no weight of a convolution or "
                      "matrix product",
                      idle->match);
    }
}

static float element(const infc_tensor *tensor, int64_t i) {
    float w;
    memcpy(&w, (const char *)tensor->data + i * (int64_t)sizeof w, sizeof w);
    return w;
}

/* False when an element is not finite. */
static bool find_scales(infc_op_kind kind, const infc_tensor *w, float *scales, int64_t n) {
    for (int64_t i = 0, count = infc_type_count(&w->type); i < count; i++) {
        float a = fabsf(element(w, i)), *max = &scales[infc_outputs_of(kind, &w->type, i)];
        if (!isfinite(a)) return false;
        if (a > *max) *max = a;
    }
    for (int64_t i = 0; i < n; i++) {
        scales[i] /= 127.0f;
        if (scales[i] < FLT_MIN) scales[i] = 1.0f;
    }
    return true;
}

/* Returns the relative error. */
static double round_weight(infc_op_kind kind, const infc_tensor *w, const float *scales, int8_t *q) {
    double error = 0, power = 0;
    for (int64_t i = 0, count = infc_type_count(&w->type); i < count; i++) {
        double v = element(w, i), scale = scales[infc_outputs_of(kind, &w->type, i)];
        double r = nearbyint(v / scale);
        r = r > 127 ? 127 : r < -127 ? -127 : r;
        q[i] = (int8_t)r;
        error += (v - r * scale) * (v - r * scale);
        power += v * v;
    }
    return power > 0 ? sqrt(error / power) : 0;
}

static infc_status make(quantize *q, infc_op_kind kind, MlirValue operand,
                        const infc_weight *weight, const infc_tensor *w, made *out) {
    infc_ir *ir = q->pass->ir;
    infc_arena *arena = ir->cx->arena;
    int64_t n = infc_outputs_count(kind, &w->type);
    size_t count = (size_t)infc_type_count(&w->type);
    float *scales = infc_arena_alloc(arena, (size_t)n * sizeof *scales + INFC_OVER_READ, INFC_ALIGN);
    int8_t *values = infc_arena_alloc(arena, count + INFC_OVER_READ, INFC_ALIGN);
    const char *name = weight->name;
    if (!find_scales(kind, w, scales, n))
        return infc_fail(
            ir->cx, INFC_ERR_MODEL, (infc_loc){.file = ir->source},
            "weight \"%s\" holds NaN or infinity and cannot be int8; keep it f32 with a rule in "
            "precision.rules",
            name);
    double error = round_weight(kind, w, scales, values);
    infc_progress(ir->cx, "quantize %s to int8: relative error %.4f", name, error);
    infc_weight narrow = {name, w->type, values, "quantised", NULL};
    narrow.type.dtype = INFC_DTYPE_i8;
    infc_weight scale = {infc_arena_printf(arena, "%s.scale", name), infc_outputs_vector_type(kind, n),
                         scales, "scales of a quantised weight", NULL};
    *out = (made){weight, kind, operand, infc_weights_add(&ir->weights, narrow),
                  infc_weights_add(&ir->weights, scale)};
    INFC_GROW(q->pass->scratch, q->made, q->n_made, q->cap_made);
    q->made[q->n_made++] = *out;
    return INFC_OK;
}

static infc_status quantized(quantize *q, infc_op_kind kind, MlirValue operand,
                             const infc_weight *weight, made *out) {
    infc_tensor w;
    for (size_t i = 0; i < q->n_made; i++)
        if (q->made[i].kind == kind && q->made[i].scale >= 0 && mlirValueEqual(q->made[i].operand, operand)) {
            *out = q->made[i];
            return INFC_OK;
        }
    infc_arena *scratch = infc_arena_create_scratch(q->pass->scratch);
    infc_status status = infc_constant_read(q->pass->ir, scratch, operand, &w);
    if (status == INFC_OK) status = make(q, kind, operand, weight, &w, out);
    infc_arena_destroy(&scratch);
    infc_file_forget(q->pass->ir->cx, weight->bytes, (size_t)infc_type_bytes(&weight->type));
    return status;
}

/* The same matrix of bf16. */
static infc_status rounded(quantize *q, MlirValue operand, const infc_weight *weight, int64_t *id) {
    infc_ir *ir = q->pass->ir;
    infc_op_desc desc = {.kind = INFC_OP_narrow, .n_in = 1, .n_attrs = 1};
    infc_tensor w, made_of;
    for (size_t i = 0; i < q->n_made; i++)
        if (mlirValueEqual(q->made[i].operand, operand) && q->made[i].scale < 0) {
            *id = q->made[i].q;
            return INFC_OK;
        }
    infc_progress(ir->cx, "round %s to bf16", weight->name);
    infc_arena *scratch = infc_arena_create_scratch(q->pass->scratch);
    desc.attrs[0] = infc_attr_string("to", "bf16");
    infc_status status = infc_constant_read(ir, scratch, operand, &w);
    desc.in[0] = w.type;
    if (status == INFC_OK) status = infc_eval_op(ir->cx, ir->cx->arena, &desc, &w, &made_of);
    infc_arena_destroy(&scratch);
    infc_file_forget(ir->cx, weight->bytes, (size_t)infc_type_bytes(&weight->type));
    INFC_TRY(status);
    *id = infc_weights_add(&ir->weights, (infc_weight){weight->name, made_of.type, made_of.data,
                                                       infc_origin_rounded, weight->file});
    INFC_GROW(q->pass->scratch, q->made, q->n_made, q->cap_made);
    q->made[q->n_made++] = (made){weight, INFC_OP_matmul, operand, *id, -1};
    return INFC_OK;
}

/* precision.float: fast multiplies weights of bf16. */
static infc_status round_op(quantize *q, MlirOperation op, const infc_weight *weight) {
    infc_ir *ir = q->pass->ir;
    MlirValue in[2] = {mlirOperationGetOperand(op, 0)}, product;
    int64_t id;
    INFC_TRY(rounded(q, mlirOperationGetOperand(op, 1), weight, &id));
    const infc_ir_at at = {mlirOperationGetBlock(op), op};
    in[1] = infc_ir_weight(ir, at, id, mlirOperationGetLocation(op));
    INFC_TRY(infc_rebuild(ir, op, in, 2, &product));
    infc_ir_replace(ir, mlirOperationGetResult(op, 0), product);
    infc_ir_erase(op);
    q->pass->n_changes++;
    return INFC_OK;
}

static infc_status narrow_op(quantize *q, MlirOperation op, infc_op_kind kind) {
    infc_ir *ir = q->pass->ir;
    MlirValue operand = mlirOperationGetOperand(op, 1), in[2] = {mlirOperationGetOperand(op, 0)},
              product[2], result;
    const infc_weight *weight = infc_constant_matrix(ir, operand);
    made m;
    infc_spec_format wanted;
    if (!weight) return INFC_OK;
    INFC_TRY(infc_spec_weight_format(ir->cx, q->pass->spec, weight->name, q->matched, &wanted));
    if (wanted == INFC_FORMAT_NONE && q->pass->spec->fast && kind == INFC_OP_matmul)
        return round_op(q, op, weight);
    if (wanted != INFC_FORMAT_int8) return INFC_OK;
    INFC_TRY(quantized(q, kind, operand, weight, &m));
    infc_ir_at at = {mlirOperationGetBlock(op), op};
    MlirLocation location = mlirOperationGetLocation(op);
    in[1] = infc_ir_weight(ir, at, m.q, location);
    INFC_TRY(infc_rebuild(ir, op, in, 2, &product[0]));
    product[1] = infc_ir_weight(ir, at, m.scale, location);
    INFC_TRY(infc_ir_map(ir, at, "mul", location, product, 2, &result));
    infc_ir_replace(ir, mlirOperationGetResult(op, 0), result);
    infc_ir_erase(op);
    q->pass->n_changes++;
    return INFC_OK;
}

infc_status infc_pass_quantize(infc_pass_cx *pass) {
    if (pass->ir->llm) return INFC_OK; /* its front end stored weights as the spec says */
    quantize q = {.pass = pass};
    if (!pass->spec) return INFC_OK;
    q.matched = INFC_NEW(pass->scratch, bool, pass->spec->n_rules);
    MlirOperation *ops;
    size_t n = infc_ir_ops(pass->scratch, infc_ir_body(pass->ir->main), &ops);
    for (size_t i = 0; i < n; i++) {
        infc_op_kind kind = infc_ir_kind(pass->ir, ops[i]);
        if (kind == INFC_OP_conv || kind == INFC_OP_matmul) INFC_TRY(narrow_op(&q, ops[i], kind));
    }
    warn_of_idle_rules(&q);
    return INFC_OK;
}
