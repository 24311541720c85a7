/* GatherElements and GatherND: a gather of rows by one index that is computed from theirs. */
#include "ops_index.h"
#include "ops_part.h"

/* A constant i64 tensor, its elements to be filled. */
static infc_status integers(infc_onnx_at *at, const int64_t *dims, int rank, int64_t **out_bytes,
                            infc_onnx_operand *out) {
    infc_type type = {.dtype = INFC_DTYPE_i64, .rank = rank};
    void *bytes;
    for (int i = 0; i < rank; i++) type.dims[i] = dims[i];
    INFC_TRY(infc_onnx_constant(at, &type, &bytes, out));
    *out_bytes = bytes;
    return INFC_OK;
}

/* A number or an open dim, of rank 0. */
static infc_status whole(infc_onnx_at *at, int64_t value, infc_onnx_operand *out) {
    const infc_type type = {.dtype = INFC_DTYPE_i64};
    if (!infc_dim_open(value)) return infc_onnx_filled(at, &type, &value, out);
    INFC_TRY(infc_onnx_numbers(at, value, 1, 1, out));
    return infc_onnx_view(at, out, NULL, 0, out);
}

infc_status infc_onnx_indices(infc_onnx_at *at, infc_onnx_operand *out) {
    INFC_TRY(infc_onnx_number(at, 1, out));
    if (out->type.dtype != INFC_DTYPE_i64 && out->type.dtype != INFC_DTYPE_i32)
        return infc_onnx_invalid(at, "input 1, \"%s\", is %s; indices are int64 or int32",
                                 at->node->inputs[1], infc_dtype_name(out->type.dtype));
    return infc_onnx_convert(at, INFC_DTYPE_i64, out, out);
}

infc_status infc_onnx_indices_known(infc_onnx_at *at, const infc_onnx_operand *index, int64_t dim) {
    for (int64_t k = 0; index->constant && k < infc_type_count(&index->type); k++) {
        int64_t value = infc_weight_i64(index->constant, k);
        if (value < -infc_dim_least(dim) || value >= infc_dim_least(dim))
            return infc_onnx_invalid(at, "index %lld is out of range for %s elements",
                                     (long long)value, infc_dim_text(at->arena, dim));
    }
    return INFC_OK;
}

infc_status infc_onnx_wrap(infc_onnx_at *at, infc_onnx_operand index, int64_t dim, infc_onnx_operand *out) {
    infc_onnx_operand zero, extent, pick[3] = {index, index, index};
    INFC_TRY(whole(at, 0, &zero));
    INFC_TRY(whole(at, dim, &extent));
    INFC_TRY(infc_onnx_map2(at, "less", index, zero, &pick[0]));
    INFC_TRY(infc_onnx_map2(at, "add", index, extent, &pick[1]));
    return infc_onnx_pick(at, pick, out);
}

/* The same; those out of range become `bad`, which the gather that follows refuses. */
static infc_status wrap_checked(infc_onnx_at *at, infc_onnx_operand index, int64_t dim, int64_t bad,
                                infc_onnx_operand *out) {
    infc_onnx_operand zero, extent, low, high, pick[3];
    INFC_TRY(infc_onnx_indices_known(at, &index, dim));
    INFC_TRY(infc_onnx_wrap(at, index, dim, out));
    if (index.constant) return INFC_OK;
    INFC_TRY(whole(at, 0, &zero));
    INFC_TRY(whole(at, dim, &extent));
    INFC_TRY(infc_onnx_map2(at, "less", *out, zero, &low));
    INFC_TRY(infc_onnx_map2(at, "less_equal", extent, *out, &high));
    INFC_TRY(infc_onnx_map2(at, "or", low, high, &pick[0]));
    INFC_TRY(whole(at, bad, &pick[1]));
    pick[2] = *out;
    return infc_onnx_pick(at, pick, out);
}

/* x, of `rows` times the dims from `kept` on, at these rows. */
static infc_status gather_rows(infc_onnx_at *at, const infc_onnx_operand *x, int64_t rows, int kept,
                               const infc_onnx_operand *index, infc_onnx_operand *out) {
    infc_onnx_operand in[2] = {*x, *index};
    int64_t dims[INFC_MAX_RANK + 1] = {rows};
    infc_attr attr = infc_attr_int("axis", 0);
    for (int i = kept; i < x->type.rank; i++) dims[1 + i - kept] = x->type.dims[i];
    INFC_TRY(infc_onnx_view(at, x, dims, 1 + x->type.rank - kept, &in[0]));
    return infc_onnx_build(at, INFC_OP_gather, in, 2, &attr, 1, out);
}

infc_status infc_onnx_element_indices(infc_onnx_at *at, const infc_type *x, infc_onnx_operand *out, int *axis) {
    INFC_TRY(infc_onnx_indices(at, out));
    if (x->rank != out->type.rank || x->rank == 0)
        return infc_onnx_invalid(at, "the input is %s, the indices are %s",
                                 infc_type_text(at->arena, x), infc_type_text(at->arena, &out->type));
    return infc_onnx_axis(at, infc_onnx_attr_int(at, "axis", 0), x->rank, axis);
}

static infc_status operand_with_elements(infc_onnx_at *at, size_t i, infc_onnx_operand *out) {
    *out = infc_onnx_any(at, i);
    if (infc_type_count(&out->type) > 0) return INFC_OK;
    return infc_onnx_refuse(at, "input %zu, \"%s\", has no elements", i, at->node->inputs[i]);
}

infc_status infc_onnx_element_rows(infc_onnx_at *at, const infc_type *x,
                                   const infc_onnx_operand *index, int axis, infc_onnx_operand *out) {
    infc_onnx_operand base, step;
    const int rank = x->rank;
    int64_t strides[INFC_MAX_RANK], dims[INFC_MAX_RANK] = {0}, *offsets, n = 1, stride = 1;
    for (int i = rank; i-- > 0; stride *= x->dims[i]) {
        strides[i] = stride;
        dims[i] = i == axis ? 1 : index->type.dims[i];
        n *= dims[i];
        if (i != axis && index->type.dims[i] > x->dims[i])
            return infc_onnx_invalid(at, "the indices, %s, reach beyond the input, %s, along axis %d",
                                     infc_type_text(at->arena, &index->type),
                                     infc_type_text(at->arena, x), i);
    }
    INFC_TRY(integers(at, dims, rank, &offsets, &base));
    for (int64_t k = 0; k < n; k++) {
        offsets[k] = 0;
        for (int64_t i = rank, left = k; i-- > 0; left /= dims[i])
            offsets[k] += left % dims[i] * strides[i];
    }
    INFC_TRY(whole(at, strides[axis], &step));
    INFC_TRY(wrap_checked(at, *index, x->dims[axis], stride, out));
    INFC_TRY(infc_onnx_map2(at, "mul", *out, step, out));
    return infc_onnx_map2(at, "add", *out, base, out);
}

infc_status infc_onnx_elements_at(infc_onnx_at *at, const infc_onnx_operand *x,
                                  const infc_onnx_operand *index, int axis, infc_onnx_operand *out) {
    INFC_TRY(infc_onnx_element_rows(at, &x->type, index, axis, out));
    return gather_rows(at, x, infc_type_count(&x->type), x->type.rank, out, out);
}

/* y[i][j][k] = x[i][index[i][j][k]][k] for axis 1, and alike. */
infc_status infc_onnx_import_gather_elements(infc_onnx_at *at) {
    infc_onnx_operand x, index, y;
    int axis;
    INFC_TRY(operand_with_elements(at, 0, &x));
    INFC_TRY(infc_onnx_element_indices(at, &x.type, &index, &axis));
    INFC_TRY(infc_onnx_elements_at(at, &x, &index, axis, &y));
    return infc_onnx_output(at, 0, &y);
}

/* The rows of the batches: their number times `rows`, one for each place of the index's first `n` dims. */
static infc_status batch_rows(infc_onnx_at *at, const infc_type *index, int n, int64_t rows,
                              infc_onnx_operand *out) {
    int64_t dims[INFC_MAX_RANK] = {0}, *first, count = 1;
    for (int i = 0; i < index->rank - 1; i++) {
        dims[i] = i < n ? index->dims[i] : 1;
        count = infc_dim_mul(count, dims[i]);
    }
    if (infc_dim_open(count) || infc_dim_open(rows))
        return n ? infc_onnx_refuse(at, "batch_dims with dimensions known only at run time")
                 : whole(at, 0, out);
    INFC_TRY(integers(at, dims, index->rank - 1, &first, out));
    for (int64_t k = 0; k < count; k++) first[k] = k * rows;
    return INFC_OK;
}

/* Number `k` of each tuple of the last axis. */
static infc_status component(infc_onnx_at *at, const infc_onnx_operand *index, int64_t k, infc_onnx_operand *out) {
    infc_onnx_part part;
    int last = index->type.rank - 1;
    infc_onnx_part_all(&index->type, &part);
    part.starts[last] = k;
    part.shape[last] = 1;
    INFC_TRY(infc_onnx_part_of(at, index, &part, out));
    return infc_onnx_view(at, out, index->type.dims, last, out);
}

infc_status infc_onnx_tuple_rows(infc_onnx_at *at, const infc_type *x, int batch,
                                 const infc_onnx_operand *index, int64_t *out_rows, infc_onnx_operand *out) {
    int64_t rows = 1, batches = 1, m = index->type.dims[index->type.rank - 1];
    infc_onnx_operand one, step;
    const infc_onnx_operand tuples = *index; /* `out` may be it */
    for (int i = 0; i < batch; i++) batches = infc_dim_mul(batches, x->dims[i]);
    for (int i = 0; i < m; i++) rows = infc_dim_mul(rows, x->dims[batch + i]);
    *out_rows = infc_dim_mul(rows, batches);
    INFC_TRY(batch_rows(at, &tuples.type, batch, rows, out));
    for (int i = 0; i < m; i++) {
        int64_t stride = 1;
        for (int k = i + 1; k < m; k++) stride = infc_dim_mul(stride, x->dims[batch + k]);
        INFC_TRY(component(at, &tuples, i, &one));
        INFC_TRY(whole(at, stride, &step));
        INFC_TRY(wrap_checked(at, one, x->dims[batch + i], *out_rows, &one));
        INFC_TRY(infc_onnx_map2(at, "mul", one, step, &one));
        INFC_TRY(infc_onnx_map2(at, "add", one, *out, out));
    }
    return INFC_OK;
}

infc_status infc_onnx_import_gather_nd(infc_onnx_at *at) {
    infc_onnx_operand x, index, y;
    INFC_TRY(operand_with_elements(at, 0, &x));
    INFC_TRY(infc_onnx_indices(at, &index));
    int64_t batch = infc_onnx_attr_int(at, "batch_dims", 0), rows = 0;
    int rank = index.type.rank;
    bool fits = rank > 0 && batch >= 0 && batch < rank && index.type.dims[rank - 1] > 0 &&
                index.type.dims[rank - 1] <= x.type.rank - batch;
    for (int i = 0; fits && i < batch; i++) fits = index.type.dims[i] == x.type.dims[i];
    if (!fits)
        return infc_onnx_invalid(at, "the input is %s, the indices are %s, batch_dims is %lld",
                                 infc_type_text(at->arena, &x.type),
                                 infc_type_text(at->arena, &index.type), (long long)batch);
    int kept = (int)(batch + index.type.dims[rank - 1]);
    INFC_TRY(infc_onnx_tuple_rows(at, &x.type, (int)batch, &index, &rows, &y));
    INFC_TRY(gather_rows(at, &x, rows, kept, &y, &y));
    return infc_onnx_output(at, 0, &y);
}
