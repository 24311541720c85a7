/* LayerNormalization, RMSNormalization, InstanceNormalization, GroupNormalization: a norm of rows, a scale, a bias.
 * LpNormalization: division by a sum. */
#include "../../ir/op_rules.h"
#include "onnx_node.h"
#include <string.h>

infc_status infc_onnx_norm_rows(infc_onnx_at *at, const infc_onnx_operand *in, int axis,
                                bool center, float otherwise, infc_onnx_operand *out) {
    float epsilon = infc_onnx_attr_float(at, "epsilon", otherwise);
    infc_onnx_operand x = *in, rows = x;
    int64_t dims[INFC_MAX_RANK], row = 1;
    if (!(epsilon >= 0) || epsilon > 0x1.fffffep+127f)
        return infc_onnx_invalid(at, "attribute \"epsilon\" is %g", (double)epsilon);
    for (int i = 0; i < axis; i++) dims[i] = x.type.dims[i];
    for (int i = axis; i < x.type.rank; i++) row = infc_dim_mul(row, x.type.dims[i]);
    dims[axis] = row;
    INFC_TRY(infc_onnx_view(at, &x, dims, axis + 1, &rows));
    infc_attr attrs[] = {
        infc_attr_int("center", center),
        infc_attr_int("epsilon", infc_f32_bits(epsilon) & INT32_MAX),
    };
    INFC_TRY(infc_onnx_build(at, INFC_OP_norm, &rows, 1, attrs, 2, &rows));
    return infc_onnx_view(at, &rows, x.type.dims, x.type.rank, out);
}

/* Input i, which must broadcast to x, applied to y. */
static infc_status apply(infc_onnx_at *at, const char *fn, size_t i, infc_onnx_operand *y) {
    infc_onnx_operand p;
    infc_type both;
    INFC_TRY(infc_onnx_input(at, i, &p));
    if (!infc_type_broadcast(&y->type, &p.type, &both) || !infc_shape_equal(&both, &y->type))
        return infc_onnx_invalid(at, "input %zu, \"%s\", is %s, which does not broadcast to the input %s",
                                 i, at->node->inputs[i], infc_type_text(at->arena, &p.type),
                                 infc_type_text(at->arena, &y->type));
    return infc_onnx_map2(at, fn, *y, p, y);
}

infc_status infc_onnx_import_layer_norm(infc_onnx_at *at) {
    infc_onnx_operand x, y;
    int axis;
    bool center = strcmp(at->node->op, "LayerNormalization") == 0;
    INFC_TRY(infc_onnx_no_statistics(at, at->node->n_outputs));
    INFC_TRY(infc_onnx_input(at, 0, &x));
    INFC_TRY(infc_onnx_axis(at, infc_onnx_attr_int(at, "axis", -1), x.type.rank, &axis));
    INFC_TRY(infc_onnx_norm_rows(at, &x, axis, center, 1e-5f, &y));
    INFC_TRY(apply(at, "mul", 1, &y));
    if (infc_onnx_has(at, 2)) INFC_TRY(apply(at, "add", 2, &y));
    return infc_onnx_output(at, 0, &y);
}

enum {
    SCALE_PER_CHANNEL = 21
}; /* the opset from which GroupNormalization has it; before, it is one per group */

/* InstanceNormalization is GroupNormalization with a group for each channel. */
infc_status infc_onnx_import_group_norm(infc_onnx_at *at) {
    infc_onnx_operand x, y, scale, bias;
    INFC_TRY(infc_onnx_input(at, 0, &x));
    if (x.type.rank < 3)
        return infc_onnx_invalid(at, "the input has %d dimensions; it needs a batch, channels and at least one more",
                                 x.type.rank);
    int64_t channels = x.type.dims[1], groups = channels;
    if (strcmp(at->node->op, "GroupNormalization") == 0)
        groups = infc_onnx_attr_int(at, "num_groups", 0);
    if (infc_dim_open(channels))
        return infc_onnx_refuse(at, "%s: the channels must be fixed", infc_type_text(at->arena, &x.type));
    if (groups < 1 || channels % groups != 0)
        return infc_onnx_invalid(at, "%lld groups do not divide %lld channels", (long long)groups,
                                 (long long)channels);
    const bool per_group = strcmp(at->node->op, "GroupNormalization") == 0 && at->opset < SCALE_PER_CHANNEL;
    infc_type scaled = x.type;
    for (size_t i = 1; per_group && i < 3; i++) {
        const infc_type type = infc_onnx_any(at, i).type;
        if (type.rank != 1 || type.dims[0] != groups)
            return infc_onnx_invalid(
                at, "input %zu, \"%s\", is %s; before opset 21 it has one value for each of %lld groups",
                i, at->node->inputs[i], infc_type_text(at->arena, &type), (long long)groups);
    }
    if (per_group) {
        const int64_t inner = infc_dim_mul(channels / groups, infc_dims_product(&x.type, 2, x.type.rank));
        scaled = (infc_type){.dtype = x.type.dtype, .rank = 3, .dims = {x.type.dims[0], groups, inner}};
    }
    INFC_TRY(infc_onnx_channel_input(at, 1, &scaled, &scale));
    INFC_TRY(infc_onnx_channel_input(at, 2, &scaled, &bias));
    int64_t rows[] = {infc_dim_mul(x.type.dims[0], groups),
                      infc_dim_mul(channels / groups, infc_dims_product(&x.type, 2, x.type.rank))};
    INFC_TRY(infc_onnx_view(at, &x, rows, 2, &y));
    INFC_TRY(infc_onnx_norm_rows(at, &y, 1, true, 1e-5f, &y));
    INFC_TRY(infc_onnx_view(at, &y, scaled.dims, scaled.rank, &y));
    INFC_TRY(infc_onnx_map2(at, "mul", y, scale, &y));
    INFC_TRY(infc_onnx_map2(at, "add", y, bias, &y));
    INFC_TRY(infc_onnx_view(at, &y, x.type.dims, x.type.rank, &y));
    return infc_onnx_output(at, 0, &y);
}

/* x / norm, and 0 where the norm is 0: (x * s) / (norm + (1 - s)) with the norm's sign s, which is 1 elsewhere. */
static infc_status divide_by_norm(infc_onnx_at *at, infc_onnx_operand x, infc_onnx_operand norm,
                                  infc_onnx_operand *out) {
    infc_onnx_operand sign, zero;
    INFC_TRY(infc_onnx_map(at, "sign", &norm, 1, &sign));
    INFC_TRY(infc_onnx_map2(at, "sub", infc_onnx_scalar(at, "one", 1), sign, &zero));
    INFC_TRY(infc_onnx_map2(at, "add", norm, zero, &norm));
    INFC_TRY(infc_onnx_map2(at, "mul", x, sign, &x));
    return infc_onnx_map2(at, "div", x, norm, out);
}

/* x over its 1-norm or 2-norm along an axis. */
infc_status infc_onnx_import_lp_norm(infc_onnx_at *at) {
    infc_onnx_operand x, y;
    int axis;
    int64_t p = infc_onnx_attr_int(at, "p", 2);
    INFC_TRY(infc_onnx_input(at, 0, &x));
    INFC_TRY(infc_onnx_axis(at, infc_onnx_attr_int(at, "axis", -1), x.type.rank, &axis));
    if (p != 1 && p != 2)
        return infc_onnx_invalid(at, "attribute \"p\" is %lld, not 1 or 2", (long long)p);
    if (p == 1) INFC_TRY(infc_onnx_map(at, "abs", &x, 1, &y));
    else INFC_TRY(infc_onnx_map2(at, "mul", x, x, &y));
    int64_t axes = axis;
    infc_attr attr = infc_attr_ints("axes", &axes, 1);
    INFC_TRY(infc_onnx_build(at, INFC_OP_reduce_sum, &y, 1, &attr, 1, &y));
    if (p == 2) INFC_TRY(infc_onnx_map(at, "sqrt", &y, 1, &y));
    INFC_TRY(divide_by_norm(at, x, y, &y));
    return infc_onnx_output(at, 0, &y);
}
