/* Choices by a mask that is known or made from indices: Trilu, OneHot; and a constant of the kind: EyeLike. */
#include "ops_index.h"
#include "onnx_tensor.h"
#include "ops_part.h"

/* An integer operand or attribute of one element that must be known. */
static infc_status one_integer(infc_onnx_at *at, size_t i, int64_t *out) {
    int64_t *values, n;
    INFC_TRY(infc_onnx_input_integers(at, i, &values, &n));
    if (n != 1)
        return infc_onnx_invalid(at, "input %zu, \"%s\", has %lld elements, not 1", i,
                                 at->node->inputs[i], (long long)n);
    *out = values[0];
    return INFC_OK;
}

/* Of an open matrix, by numbers of rows and columns: column fn row + k, or with `swapped` the other way round. */
static infc_status diagonal(infc_onnx_at *at, const int64_t dims[2], int64_t k, const char *fn,
                            bool swapped, infc_onnx_operand *out) {
    infc_onnx_operand row, column;
    INFC_TRY(infc_onnx_numbers(at, k, 1, dims[0], &row));
    INFC_TRY(infc_onnx_numbers(at, 0, 1, dims[1], &column));
    INFC_TRY(infc_onnx_view(at, &row, (int64_t[]){dims[0], 1}, 2, &row));
    return infc_onnx_map2(at, fn, swapped ? row : column, swapped ? column : row, out);
}

/* Upper: what lies on diagonal k and right of it stays; else what lies on it and left of it. */
infc_status infc_onnx_import_trilu(infc_onnx_at *at) {
    infc_onnx_operand x, y, pick[3];
    int64_t k = 0;
    bool upper;
    void *bytes;
    INFC_TRY(infc_onnx_number(at, 0, &x));
    INFC_TRY(infc_onnx_attr_flag(at, "upper", 1, &upper));
    if (infc_onnx_has(at, 1)) INFC_TRY(one_integer(at, 1, &k));
    if (x.type.rank < 2)
        return infc_onnx_invalid(at, "the input has %d dimensions; it needs two at least", x.type.rank);
    infc_type mask = {.dtype = INFC_DTYPE_bool,
                      .rank = 2,
                      .dims = {x.type.dims[x.type.rank - 2], x.type.dims[x.type.rank - 1]}};
    if (infc_type_open(&mask)) {
        INFC_TRY(diagonal(at, mask.dims, k, "less_equal", upper, &pick[0]));
    } else {
        INFC_TRY(infc_onnx_constant(at, &mask, &bytes, &pick[0]));
        bool *stays = bytes;
        for (int64_t i = 0; i < mask.dims[0]; i++)
            for (int64_t j = 0; j < mask.dims[1]; j++)
                stays[i * mask.dims[1] + j] = upper ? j - i >= k : j - i <= k;
    }
    const infc_type one = {.dtype = x.type.dtype};
    static const int64_t zero = 0; /* of any type */
    INFC_TRY(infc_onnx_filled(at, &one, &zero, &pick[2]));
    pick[1] = x;
    INFC_TRY(infc_onnx_pick(at, pick, &y));
    return infc_onnx_output(at, 0, &y);
}

/* 0, 1 .. as one row of `rank` dims along `axis`. */
static infc_status count_along(infc_onnx_at *at, int64_t n, int axis, int rank, infc_onnx_operand *out) {
    infc_type type = {.dtype = INFC_DTYPE_i64, .rank = rank};
    void *bytes;
    for (int i = 0; i < rank; i++) type.dims[i] = i == axis ? n : 1;
    const char *wrong = infc_type_check(at->arena, &type);
    if (wrong) return infc_onnx_invalid(at, "%s", wrong);
    INFC_TRY(infc_onnx_constant(at, &type, &bytes, out));
    for (int64_t i = 0; i < n; i++) ((int64_t *)bytes)[i] = i;
    return INFC_OK;
}

infc_status infc_onnx_one_hot(infc_onnx_at *at, infc_onnx_operand index, int64_t depth, int axis,
                              infc_onnx_operand *out) {
    infc_onnx_operand places;
    int64_t dims[INFC_MAX_RANK] = {0};
    int rank = index.type.rank + 1;
    if (rank > INFC_MAX_RANK)
        return infc_onnx_refuse(at, "the result has %d dimensions; at most %d are supported", rank, INFC_MAX_RANK);
    for (int i = 0; i < rank; i++)
        dims[i] = i < axis ? index.type.dims[i] : i == axis ? 1 : index.type.dims[i - 1];
    INFC_TRY(infc_onnx_view(at, &index, dims, rank, &index));
    INFC_TRY(count_along(at, depth, axis, rank, &places));
    return infc_onnx_map2(at, "equal", index, places, out);
}

/* An index out of range marks nothing; a negative one counts from the end. */
infc_status infc_onnx_import_one_hot(infc_onnx_at *at) {
    infc_onnx_operand index, values, pick[3], y;
    int64_t depth = 0;
    int axis;
    INFC_TRY(infc_onnx_number(at, 0, &index));
    INFC_TRY(one_integer(at, 1, &depth));
    INFC_TRY(infc_onnx_number(at, 2, &values));
    if (depth < 1 || depth > INFC_MAX_ELEMENTS)
        return infc_onnx_invalid(at, "a depth of %lld", (long long)depth);
    if (values.type.rank != 1 || values.type.dims[0] != 2)
        return infc_onnx_invalid(at, "input 2, \"%s\", is %s; it must be the values for off and on",
                                 at->node->inputs[2], infc_type_text(at->arena, &values.type));
    INFC_TRY(infc_onnx_axis(at, infc_onnx_attr_int(at, "axis", -1), index.type.rank + 1, &axis));
    INFC_TRY(infc_onnx_convert(at, INFC_DTYPE_i64, &index, &index));
    INFC_TRY(infc_onnx_wrap(at, index, depth, &index));
    INFC_TRY(infc_onnx_one_hot(at, index, depth, axis, &pick[0]));
    for (int i = 0; i < 2; i++) {
        infc_onnx_part part = {.rank = 1, .starts = {1 - i}, .steps = {1}, .shape = {1}};
        INFC_TRY(infc_onnx_part_of(at, &values, &part, &pick[1 + i]));
        INFC_TRY(infc_onnx_view(at, &pick[1 + i], NULL, 0, &pick[1 + i]));
    }
    INFC_TRY(infc_onnx_pick(at, pick, &y));
    return infc_onnx_output(at, 0, &y);
}

/* Ones on diagonal k of a matrix as large as the input, of its type unless dtype says another. */
infc_status infc_onnx_import_eye_like(infc_onnx_at *at) {
    infc_onnx_operand x = infc_onnx_any(at, 0), y;
    int64_t k = infc_onnx_attr_int(at, "k", 0);
    infc_type type = x.type;
    void *bytes;
    if (type.rank != 2)
        return infc_onnx_invalid(at, "the input has %d dimensions, not 2", type.rank);
    type.dtype = INFC_DTYPE_f32;
    if (infc_type_open(&type)) {
        INFC_TRY(diagonal(at, type.dims, k, "equal", false, &y));
    } else {
        INFC_TRY(infc_onnx_constant(at, &type, &bytes, &y));
        for (int64_t i = 0; i < infc_type_count(&type); i++)
            ((float *)bytes)[i] = i % type.dims[1] - i / type.dims[1] == k ? 1.0f : 0.0f;
    }
    infc_dtype dtype = x.type.dtype;
    if (infc_onnx_attr(at, "dtype")) dtype = infc_onnx_dtype(infc_onnx_attr_int(at, "dtype", 0));
    if (dtype != INFC_DTYPE_f32 && dtype != INFC_DTYPE_bool && !infc_dtype_is_integer(dtype))
        return infc_onnx_refuse(at, "a result of %s; f32, bool and integers are supported",
                                infc_dtype_name(dtype));
    INFC_TRY(infc_onnx_convert(at, dtype, &y, &y));
    return infc_onnx_output(at, 0, &y);
}
