/* Operators of com.microsoft on quantised tensors that are computed in f32 between two grids. */
#include "../../ir/op_rules.h"
#include "ops_part.h"
#include "ops_quantize.h"
#include "ops_window.h"

/* Input i with its grid at i + 1 and i + 2, as f32. */
static infc_status read(infc_onnx_at *at, size_t i, infc_onnx_operand *out) {
    infc_onnx_operand q;
    infc_onnx_grid grid;
    INFC_TRY(infc_onnx_quantized(at, i, &q));
    INFC_TRY(infc_onnx_grid_read(at, i + 1, i + 2, &q.type, -1, &grid));
    if (grid.dtype && grid.dtype != q.type.dtype)
        return infc_onnx_invalid(at, "the zero point of input %zu is %s, but it is %s", i,
                                 infc_dtype_name(grid.dtype), infc_dtype_name(q.type.dtype));
    return infc_onnx_dequantize(at, &q, &grid, out);
}

/* On the grid at inputs i and i + 1; of the type of input `like` when there is no zero point. */
static infc_status write(infc_onnx_at *at, const infc_onnx_operand *x, size_t i, size_t like,
                         infc_onnx_operand *out) {
    infc_onnx_grid grid;
    INFC_TRY(infc_onnx_grid_read(at, i, i + 1, &x->type, -1, &grid));
    infc_dtype dtype = grid.dtype ? grid.dtype : infc_onnx_any(at, like).type.dtype;
    if (dtype != INFC_DTYPE_i8 && dtype != INFC_DTYPE_u8)
        return infc_onnx_invalid(at, "the result's zero point is %s; it must be i8 or u8",
                                 infc_dtype_name(dtype));
    if (dtype != infc_onnx_any(at, like).type.dtype)
        return infc_onnx_invalid(at, "the result's zero point is %s, but input %zu is %s",
                                 infc_dtype_name(dtype), like,
                                 infc_dtype_name(infc_onnx_any(at, like).type.dtype));
    return infc_onnx_quantize(at, x, &grid, dtype, out);
}

infc_status infc_onnx_import_qlinear_binary(infc_onnx_at *at) {
    infc_onnx_operand in[2], y;
    INFC_TRY(read(at, 0, &in[0]));
    INFC_TRY(read(at, 3, &in[1]));
    INFC_TRY(infc_onnx_map(at, at->node->op[7] == 'A' ? "add" : "mul", in, 2, &y));
    INFC_TRY(write(at, &y, 6, 0, &y));
    return infc_onnx_output(at, 0, &y);
}

infc_status infc_onnx_import_qlinear_sigmoid(infc_onnx_at *at) {
    infc_onnx_operand x, y;
    INFC_TRY(read(at, 0, &x));
    INFC_TRY(infc_onnx_map(at, "sigmoid", &x, 1, &y));
    INFC_TRY(write(at, &y, 3, 0, &y));
    return infc_onnx_output(at, 0, &y);
}

infc_status infc_onnx_import_qlinear_leaky_relu(infc_onnx_at *at) {
    infc_onnx_operand x, y;
    infc_onnx_operand alpha = infc_onnx_scalar(at, "alpha", infc_onnx_attr_float(at, "alpha", 0.01f));
    INFC_TRY(read(at, 0, &x));
    INFC_TRY(infc_onnx_map2(at, "leaky", x, alpha, &y));
    INFC_TRY(write(at, &y, 3, 0, &y));
    return infc_onnx_output(at, 0, &y);
}

infc_status infc_onnx_import_qlinear_softmax(infc_onnx_at *at) {
    infc_onnx_operand x, y;
    int axis;
    INFC_TRY(read(at, 0, &x));
    INFC_TRY(infc_onnx_axis(at, infc_onnx_attr_int(at, "axis", -1), x.type.rank, &axis));
    if (infc_onnx_attr_int(at, "opset", 13) < 13 && axis != x.type.rank - 1)
        return infc_onnx_refuse(at, "a softmax over several axes (opset below 13)");
    infc_attr attr = infc_attr_int("axis", axis);
    INFC_TRY(infc_onnx_build(at, INFC_OP_softmax, &x, 1, &attr, 1, &y));
    INFC_TRY(write(at, &y, 3, 0, &y));
    return infc_onnx_output(at, 0, &y);
}

infc_status infc_onnx_import_qlinear_global_average_pool(infc_onnx_at *at) {
    static const int64_t axes[INFC_MAX_RANK] = {2, 3, 4, 5, 6, 7};
    infc_onnx_operand x, y;
    INFC_TRY(read(at, 0, &x));
    infc_type type = x.type;
    if (infc_onnx_attr_int(at, "channels_last", 0) || type.rank < 3)
        return infc_onnx_refuse(at, "channels_last, or less than 3 dimensions");
    infc_attr attr = infc_attr_ints("axes", axes, type.rank - 2);
    infc_onnx_operand pixels;
    INFC_TRY(infc_onnx_dim_float(at, "pixels", infc_dims_product(&type, 2, type.rank), &pixels));
    INFC_TRY(infc_onnx_build(at, INFC_OP_reduce_sum, &x, 1, &attr, 1, &y));
    INFC_TRY(infc_onnx_map2(at, "div", y, pixels, &y));
    INFC_TRY(write(at, &y, 3, 0, &y));
    return infc_onnx_output(at, 0, &y);
}

infc_status infc_onnx_import_qlinear_average_pool(infc_onnx_at *at) {
    infc_onnx_operand x, y;
    infc_onnx_window window;
    if (infc_onnx_attr_int(at, "channels_last", 0))
        return infc_onnx_refuse(at, "channels_last is not supported");
    INFC_TRY(read(at, 0, &x));
    INFC_TRY(infc_onnx_average(at, x, &y, &window));
    INFC_TRY(write(at, &y, 3, 0, &y));
    return infc_onnx_image_output(at, &y, window.spatial);
}

/* Inputs: the result's scale and zero point, then three for each operand. */
infc_status infc_onnx_import_qlinear_concat(infc_onnx_at *at) {
    infc_onnx_operand *parts = INFC_NEW(at->arena, infc_onnx_operand, at->node->n_inputs + 1), y;
    int n = 0, axis;
    if (at->node->n_inputs < 5 || (at->node->n_inputs - 2) % 3 != 0)
        return infc_onnx_invalid(at, "has %zu inputs; 2, and 3 for each operand are needed",
                                 at->node->n_inputs);
    for (size_t i = 2; i + 2 < at->node->n_inputs; i += 3) {
        INFC_TRY(read(at, i, &parts[n]));
        INFC_TRY(write(at, &parts[n], 0, 2, &parts[n]));
        n++;
    }
    INFC_TRY(infc_onnx_axis(at, infc_onnx_attr_int(at, "axis", 0), parts[0].type.rank, &axis));
    INFC_TRY(infc_onnx_join(at, parts, n, axis, &y));
    return infc_onnx_output(at, 0, &y);
}
