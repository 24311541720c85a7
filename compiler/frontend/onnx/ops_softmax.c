#include "onnx_node.h"
#include <string.h>

/* x - max - log(sum(e^(x - max))). */
static infc_status log_softmax(infc_onnx_at *at, infc_onnx_operand x, int64_t axis, infc_onnx_operand *out) {
    infc_onnx_operand pair[2] = {x};
    infc_attr axes = infc_attr_ints("axes", &axis, 1);
    INFC_TRY(infc_onnx_build(at, INFC_OP_reduce_max, &x, 1, &axes, 1, &pair[1]));
    INFC_TRY(infc_onnx_map(at, "sub", pair, 2, &pair[0]));
    INFC_TRY(infc_onnx_map(at, "exp", &pair[0], 1, &pair[1]));
    INFC_TRY(infc_onnx_build(at, INFC_OP_reduce_sum, &pair[1], 1, &axes, 1, &pair[1]));
    INFC_TRY(infc_onnx_map(at, "log", &pair[1], 1, &pair[1]));
    return infc_onnx_map(at, "sub", pair, 2, out);
}

/* Softmax and LogSoftmax. From opset 13 along one axis; before, over all axes from `axis` on taken as one. */
infc_status infc_onnx_import_softmax(infc_onnx_at *at) {
    infc_onnx_operand x, y;
    int axis;
    INFC_TRY(infc_onnx_input(at, 0, &x));
    int rank = x.type.rank;
    INFC_TRY(infc_onnx_axis(at, infc_onnx_attr_int(at, "axis", at->opset < 13 ? 1 : -1), rank, &axis));
    int64_t matrix[] = {1, 1};
    for (int i = 0; i < rank; i++)
        matrix[i >= axis] = infc_dim_mul(matrix[i >= axis], x.type.dims[i]);
    bool as_matrix = at->opset < 13 && axis != rank - 1;
    if (as_matrix) INFC_TRY(infc_onnx_view(at, &x, matrix, 2, &y));
    else y = x;
    infc_attr attr = infc_attr_int("axis", as_matrix ? 1 : axis);
    if (strcmp(at->node->op, "LogSoftmax") == 0) INFC_TRY(log_softmax(at, y, attr.i, &y));
    else INFC_TRY(infc_onnx_build(at, INFC_OP_softmax, &y, 1, &attr, 1, &y));
    INFC_TRY(infc_onnx_view(at, &y, x.type.dims, rank, &y));
    return infc_onnx_output(at, 0, &y);
}
