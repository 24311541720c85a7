/* ReduceSum, ReduceMean, ReduceMax. */
#include "onnx_node.h"
#include <string.h>

/* Which axes, from the attribute or input 1; *out_none: none are named and none are to be reduced. */
static infc_status read_axes(infc_onnx_at *at, int rank, bool reduced[INFC_MAX_RANK], bool *out_none) {
    int64_t axes[INFC_MAX_RANK];
    int n = 0;
    const infc_onnx_attribute *attribute = infc_onnx_attr(at, "axes");
    INFC_TRY(infc_onnx_attr_flag(at, "noop_with_empty_axes", 0, out_none));
    if (infc_onnx_has(at, 1)) INFC_TRY(infc_onnx_input_ints(at, 1, axes, INFC_MAX_RANK, &n));
    if (attribute && attribute->n_ints > INFC_MAX_RANK)
        return infc_onnx_invalid(at, "attribute \"axes\" has %zu axes", attribute->n_ints);
    for (size_t i = 0; attribute && i < attribute->n_ints; i++) axes[n++] = attribute->ints[i];
    *out_none = *out_none && n == 0;
    for (int i = 0; i < rank; i++) reduced[i] = n == 0 && !*out_none;
    for (int i = 0; i < n; i++) {
        int axis;
        INFC_TRY(infc_onnx_axis(at, axes[i], rank, &axis));
        if (reduced[axis]) return infc_onnx_invalid(at, "axis %d is given twice", axis);
        reduced[axis] = true;
    }
    return INFC_OK;
}

/* The kernel reduces neighbouring axes. An axis of extent 1 between two reduced ones counts as reduced; else the
 * reduced axes are brought to the end, in order. */
static infc_status reduce_axes(infc_onnx_at *at, infc_op_kind kind, infc_onnx_operand x,
                               const bool reduced[INFC_MAX_RANK], infc_onnx_operand *out) {
    int rank = x.type.rank, first = rank, last = -1, n = 0;
    int64_t perm[INFC_MAX_RANK], axes[INFC_MAX_RANK];
    for (int i = 0; i < rank; i++) {
        if (!reduced[i]) perm[n++] = i;
        if (reduced[i] && first == rank) first = i;
        if (reduced[i]) last = i;
    }
    bool adjacent = true;
    for (int i = first; i < last; i++) adjacent = adjacent && (reduced[i] || x.type.dims[i] == 1);
    if (!adjacent) {
        first = n;
        last = rank - 1;
        for (int i = 0; i < rank; i++)
            if (reduced[i]) perm[n++] = i;
        INFC_TRY(infc_onnx_permute(at, &x, perm, &x));
    }
    for (int i = first; i <= last; i++) axes[i - first] = i;
    infc_attr attr = infc_attr_ints("axes", axes, last - first + 1);
    return infc_onnx_build(at, kind, &x, 1, &attr, 1, out);
}

infc_status infc_onnx_import_reduce(infc_onnx_at *at) {
    infc_onnx_operand x, pair[2];
    bool reduced[INFC_MAX_RANK], none, keep;
    int64_t count = 1, dims[INFC_MAX_RANK];
    int rank = 0;
    INFC_TRY(infc_onnx_input(at, 0, &x));
    INFC_TRY(read_axes(at, x.type.rank, reduced, &none));
    INFC_TRY(infc_onnx_attr_flag(at, "keepdims", 1, &keep));
    for (int i = 0; i < x.type.rank; i++) {
        if (reduced[i]) count *= x.type.dims[i];
        if (!reduced[i] || keep) dims[rank++] = reduced[i] ? 1 : x.type.dims[i];
    }
    if (none || x.type.rank == 0) return infc_onnx_output(at, 0, &x);
    bool max = strcmp(at->node->op, "ReduceMax") == 0;
    INFC_TRY(reduce_axes(at, max ? INFC_OP_reduce_max : INFC_OP_reduce_sum, x, reduced, &pair[0]));
    if (strcmp(at->node->op, "ReduceMean") == 0) {
        pair[1] = infc_onnx_scalar(at, "count", (float)count);
        INFC_TRY(infc_onnx_map(at, "div", pair, 2, &pair[0]));
    }
    INFC_TRY(infc_onnx_view(at, &pair[0], dims, rank, &pair[0]));
    return infc_onnx_output(at, 0, &pair[0]);
}
