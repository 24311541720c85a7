/* ScatterElements and ScatterND: rows of a tensor replaced at indices, or joined with what is there. */
#include "ops_index.h"

static infc_status read_how(infc_onnx_at *at, infc_dtype dtype, int64_t *out) {
    static const char *const names[] = {"none", "add", "mul", "max", "min"};
    *out = 0;
    for (int i = 0; i < 5; i++)
        if (infc_onnx_attr_is(at, "reduction", names[i])) *out = i;
    if (infc_onnx_attr(at, "reduction") && !infc_onnx_attr_is(at, "reduction", names[*out]))
        return infc_onnx_invalid(at, "attribute \"reduction\" must be none, add, mul, max or min");
    if (*out && dtype != INFC_DTYPE_f32)
        return infc_onnx_refuse(at, "reduction %s of %s; f32 is supported", names[*out], infc_dtype_name(dtype));
    return INFC_OK;
}

/* x as [rows, inner] with rows of `updates` at `index`, both flattened, and in x's shape again. */
static infc_status put(infc_onnx_at *at, const infc_onnx_operand *x, int64_t rows,
                       const infc_onnx_operand *index, const infc_onnx_operand *updates, int64_t how) {
    infc_onnx_operand in[3] = {*x, *index, *updates}, y;
    int64_t n = infc_type_count(&index->type), inner = infc_type_count(&x->type) / rows;
    infc_attr attr = infc_attr_int("how", how);
    INFC_TRY(infc_onnx_view(at, &in[0], (int64_t[]){rows, inner}, 2, &in[0]));
    INFC_TRY(infc_onnx_view(at, &in[1], &n, 1, &in[1]));
    INFC_TRY(infc_onnx_view(at, &in[2], (int64_t[]){n, inner}, 2, &in[2]));
    INFC_TRY(infc_onnx_build(at, INFC_OP_scatter, in, 3, &attr, 1, &y));
    INFC_TRY(infc_onnx_view(at, &y, x->type.dims, x->type.rank, &y));
    return infc_onnx_output(at, 0, &y);
}

static infc_status read_tensors(infc_onnx_at *at, infc_onnx_operand *x, infc_onnx_operand *updates) {
    INFC_TRY(infc_onnx_number(at, 0, x));
    INFC_TRY(infc_onnx_number(at, 2, updates));
    if (x->type.dtype == updates->type.dtype) return INFC_OK;
    return infc_onnx_invalid(at, "the input is %s, the updates are %s", infc_type_text(at->arena, &x->type),
                             infc_type_text(at->arena, &updates->type));
}

infc_status infc_onnx_import_scatter_elements(infc_onnx_at *at) {
    infc_onnx_operand x, index, updates;
    int64_t how;
    int axis;
    INFC_TRY(read_tensors(at, &x, &updates));
    INFC_TRY(read_how(at, x.type.dtype, &how));
    INFC_TRY(infc_onnx_element_indices(at, &x.type, &index, &axis));
    if (!infc_shape_equal(&index.type, &updates.type))
        return infc_onnx_invalid(at, "the indices are %s, the updates are %s",
                                 infc_type_text(at->arena, &index.type),
                                 infc_type_text(at->arena, &updates.type));
    INFC_TRY(infc_onnx_element_rows(at, &x.type, &index, axis, &index));
    return put(at, &x, infc_type_count(&x.type), &index, &updates, how);
}

infc_status infc_onnx_import_scatter_nd(infc_onnx_at *at) {
    infc_onnx_operand x, index, updates;
    int64_t how, rows;
    INFC_TRY(read_tensors(at, &x, &updates));
    INFC_TRY(read_how(at, x.type.dtype, &how));
    INFC_TRY(infc_onnx_indices(at, &index));
    int last = index.type.rank - 1;
    int64_t m = last < 0 ? 0 : index.type.dims[last];
    bool fits = m > 0 && m <= x.type.rank && updates.type.rank == last + x.type.rank - m;
    for (int i = 0; fits && i < updates.type.rank; i++)
        fits = updates.type.dims[i] == (i < last ? index.type.dims[i] : x.type.dims[i - last + m]);
    if (!fits)
        return infc_onnx_invalid(at, "the input is %s, the indices are %s, the updates are %s",
                                 infc_type_text(at->arena, &x.type),
                                 infc_type_text(at->arena, &index.type),
                                 infc_type_text(at->arena, &updates.type));
    INFC_TRY(infc_onnx_tuple_rows(at, &x.type, 0, &index, &rows, &index));
    return put(at, &x, rows, &index, &updates, how);
}
