/* quantize_grid.c - scales and zero points, and passing between quantised numbers and f32. */
#include "ops_quantize.h"
#include <math.h>

bool infc_onnx_all_zero(const infc_onnx_operand *x) {
    if (!x->constant) return false;
    for (int64_t i = 0; i < infc_type_count(&x->type); i++)
        if (infc_weight_f64(x->constant, i) != 0) return false;
    return true;
}

/* One value, or one per index of the axis, as something that broadcasts against x. */
static infc_status shape_parameter(infc_onnx_at *at, const char *what, const infc_type *x, int axis,
                                   infc_onnx_operand *value) {
    int64_t dims[INFC_MAX_RANK] = {infc_type_count(&value->type)};
    if (value->type.rank <= 1 && dims[0] == 1) return infc_onnx_view(at, value, dims, 0, value);
    if (axis < 0 || axis >= x->rank || value->type.rank != 1 || dims[0] != x->dims[axis])
        return infc_onnx_invalid(at, "%s is %s, but %s is quantised %s", what,
                                 infc_type_text(at->arena, &value->type), infc_type_text(at->arena, x),
                                 axis < 0 || axis >= x->rank
                                     ? "as a whole: one value is needed"
                                     : infc_arena_printf(at->arena, "along axis %d: %lld values, or one, are needed",
                                                         axis, (long long)x->dims[axis]));
    for (int i = 1; i < x->rank - axis; i++) dims[i] = 1;
    return infc_onnx_view(at, value, dims, x->rank - axis, value);
}

static infc_status check_scales(infc_onnx_at *at, size_t i, const infc_onnx_operand *scale) {
    for (int64_t k = 0; scale->constant && k < infc_type_count(&scale->type); k++) {
        double value = infc_weight_f64(scale->constant, k);
        if (!isfinite(value) || value < 0)
            return infc_onnx_invalid(at, "scale %lld, of input %zu, \"%s\", is %g; it must be a positive number",
                                     (long long)k, i, at->node->inputs[i], value);
    }
    return INFC_OK;
}

infc_status infc_onnx_zero_read(infc_onnx_at *at, size_t zero, const infc_type *x, int axis, infc_onnx_grid *out) {
    out->has_zero = false;
    out->dtype = INFC_DTYPE_NONE;
    if (zero >= at->node->n_inputs || !infc_onnx_has(at, zero)) return INFC_OK;
    infc_onnx_operand z = infc_onnx_any(at, zero);
    out->dtype = z.type.dtype;
    bool known = z.type.dtype == INFC_DTYPE_i8 || z.type.dtype == INFC_DTYPE_u8 ||
                 z.type.dtype == INFC_DTYPE_i16 || z.type.dtype == INFC_DTYPE_i32;
    if (!known)
        return infc_onnx_refuse(at, "zero point \"%s\" is %s; i8, u8, i16 and i32 are supported",
                                at->node->inputs[zero], infc_dtype_name(z.type.dtype));
    INFC_TRY(shape_parameter(at, "the zero point", x, axis, &z));
    if (infc_onnx_all_zero(&z)) return INFC_OK;
    if (z.type.dtype == INFC_DTYPE_i32)
        return infc_onnx_refuse(at, "zero point \"%s\" is i32 and not 0", at->node->inputs[zero]);
    out->has_zero = true;
    return infc_onnx_convert(at, INFC_DTYPE_f32, &z, &out->zero);
}

infc_status infc_onnx_grid_read(infc_onnx_at *at, size_t scale, size_t zero, const infc_type *x,
                                int axis, infc_onnx_grid *out) {
    INFC_TRY(infc_onnx_input(at, scale, &out->scale));
    INFC_TRY(check_scales(at, scale, &out->scale));
    INFC_TRY(shape_parameter(at, "the scale", x, axis, &out->scale));
    return infc_onnx_zero_read(at, zero, x, axis, out);
}

infc_status infc_onnx_quantized(infc_onnx_at *at, size_t i, infc_onnx_operand *out) {
    *out = infc_onnx_any(at, i);
    if (out->type.dtype != INFC_DTYPE_i8 && out->type.dtype != INFC_DTYPE_u8)
        return infc_onnx_refuse(at, "input %zu, \"%s\", is %s; i8 and u8 are supported", i,
                                at->node->inputs[i], infc_dtype_name(out->type.dtype));
    if (infc_type_count(&out->type) == 0)
        return infc_onnx_refuse(at, "input %zu, \"%s\", has no elements", i, at->node->inputs[i]);
    return INFC_OK;
}

infc_status infc_onnx_centre(infc_onnx_at *at, const infc_onnx_operand *q,
                             const infc_onnx_grid *grid, infc_onnx_operand *out) {
    INFC_TRY(infc_onnx_convert(at, INFC_DTYPE_f32, q, out));
    return grid->has_zero ? infc_onnx_map2(at, "sub", *out, grid->zero, out) : INFC_OK;
}

infc_status infc_onnx_dequantize(infc_onnx_at *at, const infc_onnx_operand *q,
                                 const infc_onnx_grid *grid, infc_onnx_operand *out) {
    INFC_TRY(infc_onnx_centre(at, q, grid, out));
    return infc_onnx_map2(at, "mul", *out, grid->scale, out);
}

infc_status infc_onnx_requantize(infc_onnx_at *at, const infc_onnx_operand *x,
                                 const infc_onnx_grid *grid, infc_dtype dtype, infc_onnx_operand *out) {
    infc_onnx_operand whole;
    INFC_TRY(infc_onnx_map(at, "round", x, 1, &whole));
    if (grid->has_zero) INFC_TRY(infc_onnx_map2(at, "add", whole, grid->zero, &whole));
    return infc_onnx_convert(at, dtype, &whole, out);
}

infc_status infc_onnx_quantize(infc_onnx_at *at, const infc_onnx_operand *x,
                               const infc_onnx_grid *grid, infc_dtype dtype, infc_onnx_operand *out) {
    infc_onnx_operand ratio;
    for (int64_t k = 0; grid->scale.constant && k < infc_type_count(&grid->scale.type); k++)
        if (!(infc_weight_f64(grid->scale.constant, k) > 0))
            return infc_onnx_invalid(at, "scale %lld is 0; it must be a positive number", (long long)k);
    INFC_TRY(infc_onnx_map2(at, "div", *x, grid->scale, &ratio));
    return infc_onnx_requantize(at, &ratio, grid, dtype, out);
}

/* max(0, largest element of x), or of -x. */
static infc_status extreme(infc_onnx_at *at, const infc_onnx_operand *x, bool negated, infc_onnx_operand *out) {
    static const int64_t axes[INFC_MAX_RANK] = {0, 1, 2, 3, 4, 5, 6, 7};
    infc_onnx_operand value = *x;
    if (negated) INFC_TRY(infc_onnx_map(at, "neg", x, 1, &value));
    if (x->type.rank > 0) {
        infc_attr attr = infc_attr_ints("axes", axes, x->type.rank);
        INFC_TRY(infc_onnx_build(at, INFC_OP_reduce_max, &value, 1, &attr, 1, &value));
        INFC_TRY(infc_onnx_view(at, &value, NULL, 0, &value));
    }
    return infc_onnx_map(at, "relu", &value, 1, out);
}

infc_status infc_onnx_quantize_dynamic(infc_onnx_at *at, const infc_onnx_operand *x,
                                       infc_onnx_operand *out, infc_onnx_grid *grid) {
    infc_onnx_operand high, low, choice[3], zero;
    INFC_TRY(extreme(at, x, false, &high));
    INFC_TRY(extreme(at, x, true, &low)); /* less than 0 by so much */
    INFC_TRY(infc_onnx_map2(at, "add", high, low, &choice[0]));
    INFC_TRY(infc_onnx_map2(at, "div", choice[0], infc_onnx_scalar(at, "steps", 255.0f), &choice[1]));
    choice[2] = infc_onnx_scalar(at, "one", 1.0f); /* of zeros alone */
    INFC_TRY(infc_onnx_map(at, "pick", choice, 3, &grid->scale));
    INFC_TRY(infc_onnx_map2(at, "div", low, grid->scale, &zero));
    INFC_TRY(infc_onnx_map(at, "round", &zero, 1, &zero));
    INFC_TRY(infc_onnx_convert(at, INFC_DTYPE_u8, &zero, &zero));
    INFC_TRY(infc_onnx_convert(at, INFC_DTYPE_f32, &zero, &grid->zero));
    grid->has_zero = true;
    grid->dtype = INFC_DTYPE_u8;
    return infc_onnx_quantize(at, x, grid, INFC_DTYPE_u8, out);
}
