/* QuantizeLinear, DequantizeLinear, DynamicQuantizeLinear. */
#include "onnx_tensor.h"
#include "ops_quantize.h"

/* The axis of scales, or -1 when there is one for all. Without the attribute it is 1. */
static infc_status read_axis(infc_onnx_at *at, const infc_type *x, int *axis) {
    infc_onnx_operand scale = infc_onnx_any(at, 1);
    *axis = -1;
    if (infc_type_count(&scale.type) == 1 && scale.type.rank <= 1) return INFC_OK;
    return infc_onnx_axis(at, infc_onnx_attr_int(at, "axis", 1), x->rank, axis);
}

/* With block_size b, [.., n, ..] becomes [.., n / b, b, ..], and parameters [.., n / b, ..] get an axis of 1. */
typedef struct blocks {
    int axis;
    int64_t size; /* 0: none */
} blocks;

static infc_status split_axis(infc_onnx_at *at, const blocks *b, int64_t inner, infc_onnx_operand *x) {
    int64_t dims[INFC_MAX_RANK];
    int rank = 0;
    for (int i = 0; i < x->type.rank; i++) {
        dims[rank++] = i == b->axis ? x->type.dims[i] / inner : x->type.dims[i];
        if (i == b->axis) dims[rank++] = inner;
    }
    return infc_onnx_view(at, x, dims, rank, x);
}

static infc_status read_blocks(infc_onnx_at *at, const infc_type *x, blocks *out) {
    int axis;
    const infc_type scale = infc_onnx_any(at, 1).type;
    *out = (blocks){.size = infc_onnx_attr_int(at, "block_size", 0)};
    if (out->size == 0) return INFC_OK;
    INFC_TRY(infc_onnx_axis(at, infc_onnx_attr_int(at, "axis", 1), x->rank, &axis));
    out->axis = axis;
    if (out->size < 0) return infc_onnx_invalid(at, "block_size is %lld", (long long)out->size);
    bool fits = x->rank < INFC_MAX_RANK && scale.rank == x->rank && x->dims[axis] % out->size == 0;
    for (int i = 0; fits && i < x->rank; i++)
        fits = scale.dims[i] == (i == axis ? x->dims[i] / out->size : x->dims[i]);
    if (fits) return INFC_OK;
    return infc_onnx_refuse(at, "scales %s for %s in blocks of %lld along axis %d: only whole blocks are supported",
                            infc_type_text(at->arena, &scale), infc_type_text(at->arena, x),
                            (long long)out->size, axis);
}

static infc_status blocked_grid(infc_onnx_at *at, const blocks *b, infc_onnx_grid *grid) {
    grid->has_zero = false;
    INFC_TRY(infc_onnx_input(at, 1, &grid->scale));
    INFC_TRY(split_axis(at, b, 1, &grid->scale));
    if (!infc_onnx_has(at, 2)) return INFC_OK;
    INFC_TRY(infc_onnx_quantized(at, 2, &grid->zero));
    const infc_type scale = infc_onnx_any(at, 1).type;
    if (!infc_shape_equal(&grid->zero.type, &scale))
        return infc_onnx_invalid(at, "the zero point is %s, but the scale is not of that shape",
                                 infc_type_text(at->arena, &grid->zero.type));
    grid->dtype = grid->zero.type.dtype;
    grid->has_zero = true;
    INFC_TRY(split_axis(at, b, 1, &grid->zero));
    return infc_onnx_convert(at, INFC_DTYPE_f32, &grid->zero, &grid->zero);
}

/* Scales and zero points are of one shape; zero points of the quantised type. */
static infc_status read_grid(infc_onnx_at *at, infc_onnx_operand *x, blocks *b, infc_onnx_grid *grid) {
    int axis;
    *grid = (infc_onnx_grid){0};
    INFC_TRY(read_blocks(at, &x->type, b));
    if (b->size > 0) {
        INFC_TRY(blocked_grid(at, b, grid));
        return split_axis(at, b, b->size, x);
    }
    INFC_TRY(read_axis(at, &x->type, &axis));
    INFC_TRY(infc_onnx_grid_read(at, 1, 2, &x->type, axis, grid));
    if (!infc_onnx_has(at, 2)) return INFC_OK;
    infc_type scale = infc_onnx_any(at, 1).type, zero = infc_onnx_any(at, 2).type;
    if (infc_type_count(&scale) == infc_type_count(&zero)) return INFC_OK;
    return infc_onnx_invalid(at, "%s scales, but zero points of %s",
                             infc_type_text(at->arena, &scale), infc_type_text(at->arena, &zero));
}

static infc_status output(infc_onnx_at *at, infc_onnx_operand *y) {
    infc_type x = infc_onnx_any(at, 0).type;
    INFC_TRY(infc_onnx_view(at, y, x.dims, x.rank, y));
    return infc_onnx_output(at, 0, y);
}

/* The type to quantise to: the zero point's, else of the attribute, else u8. */
static infc_status quantized_type(infc_onnx_at *at, const infc_onnx_grid *grid, infc_dtype *out) {
    int64_t type = infc_onnx_attr_int(at, "output_dtype", 0);
    *out = grid->dtype ? grid->dtype : type ? infc_onnx_dtype(type) : INFC_DTYPE_u8;
    if (type && infc_onnx_dtype(type) != *out)
        return infc_onnx_invalid(at, "output_dtype is not the type of the zero point, %s",
                                 infc_dtype_name(*out));
    if (*out == INFC_DTYPE_i8 || *out == INFC_DTYPE_u8 || *out == INFC_DTYPE_i16) return INFC_OK;
    return infc_onnx_refuse(at, "quantises to %s; i8, u8 and i16 are supported",
                            *out ? infc_dtype_name(*out) : "a type that infc does not know");
}

infc_status infc_onnx_import_quantize(infc_onnx_at *at) {
    infc_onnx_operand x, y;
    infc_onnx_grid grid;
    infc_dtype dtype;
    blocks b;
    INFC_TRY(infc_onnx_number(at, 0, &x));
    INFC_TRY(read_grid(at, &x, &b, &grid));
    INFC_TRY(quantized_type(at, &grid, &dtype));
    INFC_TRY(infc_onnx_convert(at, INFC_DTYPE_f32, &x, &x));
    INFC_TRY(infc_onnx_quantize(at, &x, &grid, dtype, &y));
    return output(at, &y);
}

infc_status infc_onnx_import_dequantize(infc_onnx_at *at) {
    infc_onnx_operand x, y;
    infc_onnx_grid grid;
    blocks b;
    INFC_TRY(infc_onnx_number(at, 0, &x));
    infc_dtype dtype = x.type.dtype;
    if (dtype != INFC_DTYPE_i8 && dtype != INFC_DTYPE_u8 && dtype != INFC_DTYPE_i16 && dtype != INFC_DTYPE_i32)
        return infc_onnx_refuse(at, "input 0, \"%s\", is %s; i8, u8, i16 and i32 are supported",
                                at->node->inputs[0], infc_dtype_name(dtype));
    INFC_TRY(read_grid(at, &x, &b, &grid));
    if (grid.dtype && grid.dtype != dtype)
        return infc_onnx_invalid(at, "the zero point is %s, but input 0 is %s",
                                 infc_dtype_name(grid.dtype), infc_dtype_name(dtype));
    INFC_TRY(infc_onnx_dequantize(at, &x, &grid, &y));
    return output(at, &y);
}

infc_status infc_onnx_import_dynamic_quantize(infc_onnx_at *at) {
    infc_onnx_operand x, y, zero;
    infc_onnx_grid grid;
    INFC_TRY(infc_onnx_input(at, 0, &x));
    INFC_TRY(infc_onnx_quantize_dynamic(at, &x, &y, &grid));
    INFC_TRY(infc_onnx_output(at, 0, &y));
    if (at->node->n_outputs > 1) INFC_TRY(infc_onnx_output(at, 1, &grid.scale));
    INFC_TRY(infc_onnx_convert(at, INFC_DTYPE_u8, &grid.zero, &zero));
    return at->node->n_outputs > 2 ? infc_onnx_output(at, 2, &zero) : INFC_OK;
}
