/* Operators that change the shape or the order of axes but no element; they take any element type. */
#include "../../ir/op_rules.h"
#include "onnx_node.h"

/* dims[i] = -1 becomes what is left of the elements. */
static infc_status fill_open_dim(infc_onnx_at *at, int64_t count, int64_t *dims, int rank) {
    int64_t known = 1;
    int open = -1;
    for (int i = 0; i < rank; i++) {
        if (dims[i] == -1 && open >= 0)
            return infc_onnx_invalid(at, "the new shape has -1 more than once");
        if (infc_dim_least(dims[i]) < -1)
            return infc_onnx_invalid(at, "the new shape has %s", infc_dim_text(at->arena, dims[i]));
        if (dims[i] == -1) open = i;
        else known = infc_dim_mul(known, dims[i]);
    }
    if (known == INFC_DIM_BAD) return infc_onnx_invalid(at, "the new shape has too many elements");
    if (open >= 0 && !infc_dim_share(count, known, &dims[open]))
        return infc_onnx_invalid(at, "%s elements cannot be shared out over rows of %s",
                                 infc_dim_text(at->arena, count), infc_dim_text(at->arena, known));
    if (open < 0 && known != count)
        return infc_onnx_invalid(at, "the new shape has %s elements, the input %s",
                                 infc_dim_text(at->arena, known), infc_dim_text(at->arena, count));
    return INFC_OK;
}

infc_status infc_onnx_import_reshape(infc_onnx_at *at) {
    infc_onnx_operand x = infc_onnx_any(at, 0);
    int64_t dims[INFC_MAX_RANK];
    int rank;
    bool allow_zero;
    INFC_TRY(infc_onnx_input_ints(at, 1, dims, INFC_MAX_RANK, &rank));
    INFC_TRY(infc_onnx_attr_flag(at, "allowzero", 0, &allow_zero));
    for (int i = 0; i < rank && !allow_zero; i++) {
        if (dims[i] != 0) continue;
        if (i >= x.type.rank)
            return infc_onnx_invalid(at, "the new shape keeps dimension %d, which the input does not have", i);
        dims[i] = x.type.dims[i];
    }
    INFC_TRY(fill_open_dim(at, infc_dims_product(&x.type, 0, x.type.rank), dims, rank));
    INFC_TRY(infc_onnx_view(at, &x, dims, rank, &x));
    return infc_onnx_output(at, 0, &x);
}

infc_status infc_onnx_import_flatten(infc_onnx_at *at) {
    infc_onnx_operand x = infc_onnx_any(at, 0);
    int64_t dims[] = {1, 1}, axis = infc_onnx_attr_int(at, "axis", 1);
    int rank = x.type.rank;
    if (axis < -rank || axis > rank)
        return infc_onnx_invalid(at, "axis %lld is out of range for %d dimensions", (long long)axis, rank);
    if (axis < 0) axis += rank;
    for (int i = 0; i < rank; i++) dims[i >= axis] = infc_dim_mul(dims[i >= axis], x.type.dims[i]);
    INFC_TRY(infc_onnx_view(at, &x, dims, 2, &x));
    return infc_onnx_output(at, 0, &x);
}

/* Marks the axes of the attribute, or of input 1 when there is one, out of `rank`. */
static infc_status read_axes(infc_onnx_at *at, int rank_of_input, bool grows,
                             bool marked[2 * INFC_MAX_RANK], int *out_n) {
    int64_t axes[INFC_MAX_RANK];
    int n = 0;
    const infc_onnx_attribute *attribute = infc_onnx_attr(at, "axes");
    if (infc_onnx_has(at, 1)) INFC_TRY(infc_onnx_input_ints(at, 1, axes, INFC_MAX_RANK, &n));
    if (attribute && attribute->n_ints > INFC_MAX_RANK)
        return infc_onnx_invalid(at, "attribute \"axes\" has %zu axes", attribute->n_ints);
    for (size_t i = 0; attribute && i < attribute->n_ints; i++) axes[n++] = attribute->ints[i];
    for (int i = 0; i < n; i++) {
        int axis;
        INFC_TRY(infc_onnx_axis(at, axes[i], rank_of_input + (grows ? n : 0), &axis));
        if (marked[axis]) return infc_onnx_invalid(at, "axis %d is given twice", axis);
        marked[axis] = true;
    }
    *out_n = n;
    return INFC_OK;
}

infc_status infc_onnx_import_squeeze(infc_onnx_at *at) {
    infc_onnx_operand x = infc_onnx_any(at, 0);
    bool marked[2 * INFC_MAX_RANK] = {0};
    int64_t dims[INFC_MAX_RANK];
    int n, rank = 0;
    INFC_TRY(read_axes(at, x.type.rank, false, marked, &n));
    for (int i = 0; i < x.type.rank; i++) {
        if (marked[i] && x.type.dims[i] != 1)
            return infc_onnx_invalid(at, "axis %d is %s long, not 1", i,
                                     infc_dim_text(at->arena, x.type.dims[i]));
        if (!(n ? marked[i] : x.type.dims[i] == 1)) dims[rank++] = x.type.dims[i];
    }
    INFC_TRY(infc_onnx_view(at, &x, dims, rank, &x));
    return infc_onnx_output(at, 0, &x);
}

infc_status infc_onnx_import_unsqueeze(infc_onnx_at *at) {
    infc_onnx_operand x = infc_onnx_any(at, 0);
    bool marked[2 * INFC_MAX_RANK] = {0};
    int64_t dims[INFC_MAX_RANK];
    int n, from = 0;
    if (at->opset < 13 && !infc_onnx_attr(at, "axes"))
        return infc_onnx_invalid(at, "attribute \"axes\" is missing");
    INFC_TRY(read_axes(at, x.type.rank, true, marked, &n));
    if (x.type.rank + n > INFC_MAX_RANK)
        return infc_onnx_refuse(at, "the result has %d dimensions; at most %d are supported",
                                x.type.rank + n, INFC_MAX_RANK);
    for (int i = 0; i < x.type.rank + n; i++) dims[i] = marked[i] ? 1 : x.type.dims[from++];
    INFC_TRY(infc_onnx_view(at, &x, dims, x.type.rank + n, &x));
    return infc_onnx_output(at, 0, &x);
}

/* Without perm, the axes in reverse. */
infc_status infc_onnx_import_transpose(infc_onnx_at *at) {
    infc_onnx_operand x = infc_onnx_any(at, 0);
    int64_t perm[INFC_MAX_RANK];
    bool seen[INFC_MAX_RANK] = {0};
    const infc_onnx_attribute *attribute = infc_onnx_attr(at, "perm");
    int rank = x.type.rank;
    if (attribute && attribute->n_ints != (size_t)rank)
        return infc_onnx_invalid(at, "attribute \"perm\" has %zu axes for %d dimensions",
                                 attribute->n_ints, rank);
    for (int i = 0; i < rank; i++) {
        perm[i] = attribute ? attribute->ints[i] : rank - 1 - i;
        if (perm[i] < 0 || perm[i] >= rank || seen[perm[i]])
            return infc_onnx_invalid(at, "attribute \"perm\" is not an order of the %d axes", rank);
        seen[perm[i]] = true;
    }
    INFC_TRY(infc_onnx_permute(at, &x, perm, &x));
    return infc_onnx_output(at, 0, &x);
}
