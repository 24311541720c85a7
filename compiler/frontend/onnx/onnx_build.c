/* The building half of onnx_node.h: from operands to ops. */
#include "../../ir/eval.h"
#include "../../ir/op_rules.h"
#include "onnx_import.h"
#include <string.h>

#define MAX_FOLDED_BYTES (UINT64_C(256) << 20)
#define MAX_FOLDED_WORK UINT64_C(1000000000)

static infc_ir_at block_end(const infc_onnx_import *import) {
    return (infc_ir_at){.block = import->block};
}

/* The infc.weight op of a constant, made where it is first computed with; the block is straight-line, so that
 * place stands before all later uses. Two names for the same bytes and type share one. */
static MlirValue place_constant(infc_onnx_import *import, const infc_weight *weight) {
    infc_arena *arena = import->cx->arena;
    const char *key = infc_arena_printf(arena, "%p %s", weight->bytes, infc_type_text(arena, &weight->type));
    size_t known;
    if (infc_map_find(&import->placed, key, &known)) return import->weights[known];
    MlirLocation location =
        infc_ir_location(import->ir, infc_arena_printf(arena, "%s \"%s\"", weight->origin, weight->name), 0);
    int64_t id = infc_weights_add(&import->ir->weights, *weight);
    INFC_GROW(arena, import->weights, import->n_weights, import->cap_weights);
    import->weights[import->n_weights] = infc_ir_weight(import->ir, block_end(import), id, location);
    infc_map_put(&import->placed, key, import->n_weights);
    return import->weights[import->n_weights++];
}

static infc_onnx_operand computed(const infc_onnx_import *import, MlirValue value) {
    return (infc_onnx_operand){.type = infc_ir_type(import->ir, value), .value = value};
}

infc_status infc_onnx_stored(infc_onnx_import *import, const infc_weight *weight, infc_onnx_operand *out) {
    MlirValue wide;
    *out = (infc_onnx_operand){.type = weight->type, .constant = weight};
    if (!infc_dtype_is_half(weight->type.dtype)) return INFC_OK;
    const MlirValue halves = place_constant(import, weight);
    const MlirLocation location = mlirOperationGetLocation(infc_ir_def(halves));
    INFC_TRY(infc_ir_build(import->ir, block_end(import), INFC_OP_widen, location, &halves, 1, NULL, 0, &wide));
    *out = computed(import, wide);
    return INFC_OK;
}

MlirValue infc_onnx_value_of(infc_onnx_import *import, const infc_onnx_operand *operand) {
    return operand->constant ? place_constant(import, operand->constant) : operand->value;
}

/* Whether the op is done now: shapes are made of integers, and of floats that become integers. What is left of
 * f32, and weights that a convert makes f32, is for fold-constants. */
static bool is_shape_work(infc_op_kind kind, const infc_onnx_operand *in, int n) {
    for (int i = 0; i < n; i++) {
        infc_dtype dtype = in[i].type.dtype;
        bool quantized = kind == INFC_OP_convert && dtype != INFC_DTYPE_i64 && dtype != INFC_DTYPE_bool;
        if (!in[i].constant) return false;
        if ((dtype == INFC_DTYPE_f32 || quantized) && infc_type_count(&in[i].type) > INFC_MAX_RANK)
            return false;
    }
    return n > 0 && kind != INFC_OP_ipack; /* a constant is plain */
}

/* Ops that move elements and look at none: over dims too. */
static bool moves_only(infc_op_kind kind) {
    return kind == INFC_OP_reshape || kind == INFC_OP_transpose || kind == INFC_OP_slice ||
           kind == INFC_OP_expand || infc_op_is_concat(kind);
}

infc_status infc_onnx_constant(infc_onnx_at *at, const infc_type *type, void **bytes, infc_onnx_operand *out) {
    return infc_onnx_constant_dims(at, type, false, bytes, out);
}

infc_status infc_onnx_constant_dims(infc_onnx_at *at, const infc_type *type, bool dims,
                                    void **bytes, infc_onnx_operand *out) {
    infc_onnx_import *import = at->import;
    infc_weight *weight = INFC_NEW(import->cx->arena, infc_weight, 1);
    import->folded_bytes += infc_type_bytes(type);
    if (import->folded_bytes > MAX_FOLDED_BYTES)
        return infc_onnx_refuse(at, "constants that the model computes exceed %d MiB in all",
                                (int)(MAX_FOLDED_BYTES >> 20));
    *bytes = infc_arena_alloc(import->cx->arena, (size_t)infc_type_bytes(type) + INFC_OVER_READ, INFC_ALIGN);
    *weight = (infc_weight){at->node->outputs[0], *type, *bytes,
                            dims ? infc_origin_dims : "computed constant", NULL};
    *out = (infc_onnx_operand){.type = *type, .constant = weight};
    return INFC_OK;
}

/* The op by its reference kernel. */
static infc_status build_constant(infc_onnx_at *at, const infc_op_desc *desc,
                                  const infc_onnx_operand *in, infc_onnx_operand *out) {
    infc_cx *cx = at->import->cx;
    infc_tensor tensors[INFC_MAX_OPERANDS], made;
    infc_type type;
    void *bytes;
    bool dims;
    const infc_op_info *info = infc_op_get(desc->kind);
    INFC_TRY(infc_onnx_dims_among(at, in, desc->n_in, &dims));
    const char *wrong = info->shape(cx->arena, desc, &type);
    if (wrong) return infc_onnx_invalid(at, "%s: %s", info->name, wrong);
    infc_op_desc full = *desc;
    full.out = type;
    at->import->folded_work += infc_eval_work(&full);
    if (at->import->folded_work > MAX_FOLDED_WORK)
        return infc_onnx_refuse(at, "the model computes constants from constants with over %d million operations",
                                (int)(MAX_FOLDED_WORK / 1000000));
    for (int i = 0; i < desc->n_in; i++)
        tensors[i] = (infc_tensor){desc->in[i], (void *)(uintptr_t)in[i].constant->bytes}; /* only read */
    INFC_TRY(infc_onnx_constant_dims(at, &type, dims, &bytes, out)); /* `out` may be one of `in` */
    infc_arena *scratch = infc_arena_create_scratch(cx->arena);
    infc_status status = infc_eval_op(cx, scratch, desc, tensors, &made);
    if (status == INFC_OK && infc_type_count(&type))
        memcpy(bytes, made.data, (size_t)infc_type_bytes(&type));
    infc_arena_destroy(&scratch);
    return status;
}

infc_status infc_onnx_build(infc_onnx_at *at, infc_op_kind kind, const infc_onnx_operand *in, int n,
                            const infc_attr *attrs, int n_attrs, infc_onnx_operand *out) {
    infc_onnx_import *import = at->import;
    MlirValue values[INFC_MAX_OPERANDS], result;
    infc_op_desc desc = {.kind = kind, .n_in = n, .n_attrs = n_attrs};
    bool dims = false;
    for (int i = 0; i < n; i++) {
        desc.in[i] = in[i].type;
        dims = dims || infc_weight_has_dims(in[i].constant);
    }
    for (int i = 0; i < n_attrs; i++) desc.attrs[i] = attrs[i];
    if (is_shape_work(kind, in, n) && !infc_desc_open(&desc) && (!dims || moves_only(kind)))
        return build_constant(at, &desc, in, out);
    for (int i = 0; i < n; i++) {
        infc_onnx_operand own = in[i];
        INFC_TRY(infc_onnx_dims_computed(at, &own));
        values[i] = infc_onnx_value_of(import, &own);
    }
    INFC_TRY(infc_ir_build(import->ir, block_end(import), kind, at->location, values, n, attrs, n_attrs, &result));
    *out = computed(import, result);
    if (infc_type_count(&out->type) > 0) return INFC_OK;
    void *nothing; /* a value without elements is known: what joins it drops it */
    infc_ir_erase(infc_ir_def(result));
    return infc_onnx_constant(at, &out->type, &nothing, out);
}

infc_status infc_onnx_map(infc_onnx_at *at, const char *fn, const infc_onnx_operand *in, int n,
                          infc_onnx_operand *out) {
    static const infc_op_kind kinds[] = {INFC_OP_map1, INFC_OP_map2, INFC_OP_map3};
    infc_attr attr = infc_attr_string("fn", fn);
    return infc_onnx_build(at, kinds[n - 1], in, n, &attr, 1, out);
}

infc_status infc_onnx_map2(infc_onnx_at *at, const char *fn, infc_onnx_operand a,
                           infc_onnx_operand b, infc_onnx_operand *out) {
    const infc_onnx_operand pair[] = {a, b};
    return infc_onnx_map(at, fn, pair, 2, out);
}

static bool same_dims(const infc_type *type, const int64_t *dims, int rank) {
    if (type->rank != rank) return false;
    for (int i = 0; i < rank; i++)
        if (type->dims[i] != dims[i]) return false;
    return true;
}

infc_status infc_onnx_view(infc_onnx_at *at, const infc_onnx_operand *in, const int64_t *dims,
                           int rank, infc_onnx_operand *out) {
    infc_onnx_operand from = *in;
    *out = from;
    if (same_dims(&from.type, dims, rank)) return INFC_OK;
    if (!from.constant) {
        infc_attr attr = infc_attr_ints("shape", dims, rank);
        INFC_TRY(infc_onnx_build(at, INFC_OP_reshape, &from, 1, &attr, 1, out));
        out->dim = from.dim;
        return INFC_OK;
    }
    infc_weight *view = INFC_NEW(at->import->cx->arena, infc_weight, 1);
    *view = *from.constant;
    view->type = (infc_type){.dtype = from.type.dtype, .rank = rank};
    for (int i = 0; i < rank; i++) view->type.dims[i] = dims[i];
    *out = (infc_onnx_operand){.type = view->type, .constant = view};
    return INFC_OK;
}

infc_status infc_onnx_permute(infc_onnx_at *at, const infc_onnx_operand *in, const int64_t *perm,
                              infc_onnx_operand *out) {
    infc_onnx_operand from = *in;
    bool moves = false;
    for (int i = 0; i < from.type.rank; i++) moves |= perm[i] != i;
    *out = from;
    if (!moves) return INFC_OK;
    infc_attr attr = infc_attr_ints("perm", perm, from.type.rank);
    return infc_onnx_build(at, INFC_OP_transpose, &from, 1, &attr, 1, out);
}

infc_onnx_operand infc_onnx_scalar(infc_onnx_at *at, const char *what, float value) {
    infc_arena *arena = at->import->cx->arena;
    float *bytes = INFC_NEW(arena, float, 1);
    infc_weight *weight = INFC_NEW(arena, infc_weight, 1);
    *bytes = value;
    *weight = (infc_weight){.name = infc_arena_printf(arena, "%s.%s", at->node->name, what),
                            .type = {.dtype = INFC_DTYPE_f32},
                            .bytes = bytes,
                            .origin = "attribute"};
    return (infc_onnx_operand){.type = weight->type, .constant = weight};
}

infc_status infc_onnx_per_channel(infc_onnx_at *at, const infc_onnx_operand *in, int rank,
                                  infc_onnx_operand *out) {
    int64_t dims[INFC_MAX_RANK] = {infc_type_count(&in->type)};
    for (int i = 1; i < rank - 1; i++) dims[i] = 1;
    return infc_onnx_view(at, in, dims, rank - 1, out);
}

infc_status infc_onnx_channel_input(infc_onnx_at *at, size_t i, const infc_type *x, infc_onnx_operand *out) {
    INFC_TRY(infc_onnx_input(at, i, out));
    if (out->type.rank != 1 || out->type.dims[0] != x->dims[1])
        return infc_onnx_invalid(at, "input %zu, \"%s\", is %s, but there are %lld channels", i,
                                 at->node->inputs[i], infc_type_text(at->arena, &out->type),
                                 (long long)x->dims[1]);
    return infc_onnx_per_channel(at, out, x->rank, out);
}
