/* fold_batchnorm.c - puts the element-wise constants that follow a conv or matmul into its weight and one bias:
 *
 *   conv(x, w) + c1, * s, + c2, ..   becomes   conv(x, w * s) + (c1 * s + c2)
 *
 * where each constant is one value or one per output channel, and each value on the way has a single use. A
 * BatchNormalization arrives as such a chain, its constants folded before. The scaled weight and the bias are
 * computed in double and rounded once. Fires when that removes an op, and only with finite results. */
#include "../compiler/base/file.h"
#include "constants.h"
#include <math.h>
#include <string.h>

typedef struct chain {
    infc_op_kind kind; /* conv or matmul */
    MlirOperation root, last;
    const infc_weight *weight;
    infc_type type;       /* of the weight as the root reads it */
    int64_t n;            /* outputs */
    double *scale, *bias; /* per output: result = root * scale + bias */
    int n_scales, n_biases;
    const char *bias_name; /* of the last constant that was added */
    MlirOperation ops[32];
    MlirLocation locations[32];
    size_t n_ops;
} chain;

/* Reads a constant that is one value, or one per output along `axis` of the result; null when it is neither. */
static const infc_weight *per_output(const infc_ir *ir, MlirValue value, const infc_type *out, int axis) {
    const infc_weight *weight = infc_ir_weight_of(ir, value);
    if (!weight || weight->type.dtype != INFC_DTYPE_f32 || weight->type.rank > out->rank)
        return NULL;
    int shift = out->rank - weight->type.rank;
    for (int i = 0; i < weight->type.rank; i++)
        if (weight->type.dims[i] != 1 && i + shift != axis) return NULL;
    return weight;
}

/* Takes the map2 `op` over `value` into the chain; false when it is not one of ours. */
static bool take(chain *c, const infc_ir *ir, MlirOperation op, MlirValue value) {
    infc_op_desc desc;
    infc_ir_describe(ir, op, &desc);
    if (desc.kind != INFC_OP_map2) return false;
    const char *fn = infc_desc_str(&desc, "fn");
    bool mul = strcmp(fn, "mul") == 0, add = strcmp(fn, "add") == 0, sub = strcmp(fn, "sub") == 0;
    int side = mlirValueEqual(mlirOperationGetOperand(op, 0), value) ? 1 : 0;
    if (!(mul || add || (sub && side == 1))) return false;
    infc_type before = infc_ir_type(ir, value);
    if (!infc_type_equal(&before, &desc.out)) return false;
    int axis = c->kind == INFC_OP_conv ? 1 : desc.out.rank - 1;
    const infc_weight *constant = per_output(ir, mlirOperationGetOperand(op, side), &desc.out, axis);
    if (!constant) return false;
    bool splat = infc_type_count(&constant->type) == 1;
    for (int64_t i = 0; i < c->n; i++) {
        double v = infc_weight_f64(constant, splat ? 0 : i);
        if (mul) c->scale[i] *= v;
        c->bias[i] = mul ? c->bias[i] * v : add ? c->bias[i] + v : c->bias[i] - v;
    }
    c->n_scales += mul;
    c->n_biases += !mul;
    if (!mul) c->bias_name = constant->name;
    return true;
}

static void add_op(chain *c, MlirOperation op) {
    c->locations[c->n_ops] = mlirOperationGetLocation(op);
    c->ops[c->n_ops++] = op;
    c->last = op;
}

static void follow(chain *c, const infc_ir *ir) {
    enum { MAX = sizeof c->ops / sizeof *c->ops };
    add_op(c, c->root);
    while (c->n_ops < MAX) {
        MlirValue value = mlirOperationGetResult(c->last, 0);
        MlirOperation user = infc_ir_only_user(value);
        if (mlirOperationIsNull(user) || !take(c, ir, user, value)) return;
        add_op(c, user);
    }
}

/* Null when a result is not finite. */
static float *scaled(const chain *c, const infc_tensor *matrix, infc_arena *arena) {
    int64_t count = infc_type_count(&c->type);
    float *out = infc_arena_alloc(arena, (size_t)count * sizeof *out + INFC_OVER_READ, INFC_ALIGN);
    for (int64_t i = 0; i < count; i++) {
        float w;
        memcpy(&w, (const char *)matrix->data + i * (int64_t)sizeof w, sizeof w);
        out[i] = (float)((double)w * c->scale[infc_outputs_of(c->kind, &c->type, i)]);
        if (!isfinite(out[i])) return NULL;
    }
    return out;
}

static infc_status scaled_weight(const chain *c, const infc_ir *ir, float **out) {
    infc_tensor matrix;
    infc_arena *scratch = infc_arena_create_scratch(ir->cx->arena);
    infc_status status = infc_constant_read(ir, scratch, mlirOperationGetOperand(c->root, 1), &matrix);
    if (status == INFC_OK) *out = scaled(c, &matrix, ir->cx->arena);
    infc_arena_destroy(&scratch);
    infc_file_forget(ir->cx, c->weight->bytes, (size_t)infc_type_bytes(&c->weight->type));
    return status;
}

static float *rounded_bias(const chain *c, infc_arena *arena) {
    float *out = infc_arena_alloc(arena, (size_t)c->n * sizeof *out + INFC_OVER_READ, INFC_ALIGN);
    for (int64_t i = 0; i < c->n; i++) {
        out[i] = (float)c->bias[i];
        if (!isfinite(out[i])) return NULL;
    }
    return out;
}

static infc_status rewrite(infc_pass_cx *pass, const chain *c) {
    infc_ir *ir = pass->ir;
    infc_arena *arena = ir->cx->arena;
    float *weight = NULL, *bias = rounded_bias(c, arena);
    if (bias && c->n_scales) INFC_TRY(scaled_weight(c, ir, &weight));
    if (!bias || (c->n_scales && !weight)) return INFC_OK;
    MlirLocation location = infc_ir_location_fuse(ir, c->locations, c->n_ops);
    infc_ir_at at = {mlirOperationGetBlock(c->root), c->root};
    MlirValue in[2] = {mlirOperationGetOperand(c->root, 0), mlirOperationGetOperand(c->root, 1)}, result;
    if (weight)
        in[1] = infc_constant_add(ir, at, location, c->weight->name, &c->type, weight,
                                  "scaled by the constants that followed");
    INFC_TRY(infc_rebuild(ir, c->root, in, 2, &result));
    if (c->n_biases) {
        infc_type type = infc_outputs_vector_type(c->kind, c->n);
        MlirValue sum[2] = {result};
        sum[1] = infc_constant_add(ir, at, location, c->bias_name, &type, bias,
                                   "collected from the constants that followed");
        INFC_TRY(infc_ir_map(ir, at, "add", location, sum, 2, &result));
    }
    infc_ir_replace(ir, mlirOperationGetResult(c->last, 0), result);
    for (size_t i = c->n_ops; i-- > 0;) infc_ir_erase(c->ops[i]);
    pass->n_changes++;
    return INFC_OK;
}

static infc_status fold(infc_pass_cx *pass, MlirOperation op, infc_op_kind kind) {
    MlirValue matrix = mlirOperationGetOperand(op, 1);
    chain c = {.kind = kind, .root = op, .weight = infc_constant_matrix(pass->ir, matrix)};
    if (!c.weight) return INFC_OK;
    c.type = infc_ir_type(pass->ir, matrix);
    c.n = infc_outputs_count(kind, &c.type);
    c.scale = INFC_NEW(pass->scratch, double, (size_t)c.n);
    c.bias = INFC_NEW(pass->scratch, double, (size_t)c.n);
    for (int64_t i = 0; i < c.n; i++) c.scale[i] = 1.0;
    follow(&c, pass->ir);
    if (c.n_scales == 0 && c.n_biases < 2) return INFC_OK;
    return rewrite(pass, &c);
}

infc_status infc_pass_fold_batchnorm(infc_pass_cx *pass) {
    MlirOperation *ops;
    size_t n = infc_ir_ops(pass->scratch, infc_ir_body(pass->ir->main), &ops);
    for (size_t i = 0; i < n; i++) {
        infc_op_kind kind = infc_ir_kind(pass->ir, ops[i]);
        if (kind == INFC_OP_conv || kind == INFC_OP_matmul) INFC_TRY(fold(pass, ops[i], kind));
    }
    return INFC_OK;
}
