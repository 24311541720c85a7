/* onnx_open.c - dims that are known only at run time, as numbers that a run computes with: they are cut from a table
 * of the numbers 0, 1, .. at places that are dims. */
#include "onnx_import.h"
#include "ops_part.h"
#include <string.h>

enum { MAX_NUMBER = 1 << 20, MIN_TABLE_BITS = 4 }; /* 8 MiB */

/* Numbers below a power of two that is more than `most`; one table of a size for all. */
static infc_status table_above(infc_onnx_at *at, int64_t most, infc_onnx_operand *out) {
    int bits = MIN_TABLE_BITS;
    if (most > MAX_NUMBER)
        return infc_onnx_refuse(at,
                                "computes with a dimension of up to %lld; up to %d is supported: "
                                "lower the bounds in shapes",
                                (long long)most, MAX_NUMBER);
    while (most >> bits) bits++;
    const infc_weight **known = &at->import->numbers[bits];
    if (!*known) {
        infc_weight *weight = INFC_NEW(at->import->cx->arena, infc_weight, 1);
        const infc_type type = {.dtype = INFC_DTYPE_i64, .rank = 1, .dims = {INT64_C(1) << bits}};
        int64_t *numbers = infc_arena_alloc(at->import->cx->arena,
                                            (size_t)infc_type_bytes(&type) + INFC_OVER_READ, INFC_ALIGN);
        for (int64_t i = 0; i < type.dims[0]; i++) numbers[i] = i;
        const char *name =
            infc_arena_printf(at->import->cx->arena, "numbers_below_%lld", (long long)type.dims[0]);
        *weight = (infc_weight){.name = name, .type = type, .bytes = numbers, .origin = "numbers of"};
        *known = weight;
    }
    *out = (infc_onnx_operand){.type = (*known)->type, .constant = *known};
    return INFC_OK;
}

static infc_status number_constant(infc_onnx_at *at, int64_t value, infc_onnx_operand *out) {
    const infc_type type = {.dtype = INFC_DTYPE_i64, .rank = 1, .dims = {1}};
    return infc_onnx_filled(at, &type, &value, out);
}

infc_status infc_onnx_numbers(infc_onnx_at *at, int64_t start, int64_t step, int64_t n, infc_onnx_operand *out) {
    int64_t last = infc_dim_add(start, infc_dim_mul(infc_dim_sub(n, 1), step));
    int64_t first =
        infc_dim_least(start) < infc_dim_least(last) ? infc_dim_least(start) : infc_dim_least(last);
    int64_t most = infc_dim_most(start) > infc_dim_most(last) ? infc_dim_most(start) : infc_dim_most(last);
    int64_t shift = first < 0 ? first : 0;
    if (last == INFC_DIM_BAD || infc_dim_least(n) < 1)
        return infc_onnx_refuse(at, "counts %s numbers", infc_dim_text(at->arena, n));
    infc_onnx_operand table, below;
    INFC_TRY(table_above(at, most - shift, &table));
    const infc_onnx_part part = {
        .rank = 1, .starts = {infc_dim_sub(start, shift)}, .steps = {n == 1 ? 1 : step}, .shape = {n}};
    INFC_TRY(infc_onnx_part_of(at, &table, &part, out));
    if (shift == 0) return INFC_OK;
    INFC_TRY(number_constant(at, shift, &below));
    return infc_onnx_map2(at, "add", *out, below, out);
}

infc_status infc_onnx_numbers_until(infc_onnx_at *at, int64_t start, int64_t limit, int64_t step,
                                    infc_onnx_operand *out) {
    bool back = step < 0;
    int64_t room = back ? infc_dim_sub(start, limit) : infc_dim_sub(limit, start);
    return infc_onnx_numbers(at, start, step, infc_dim_blocks(room, back ? -step : step), out);
}

infc_status infc_onnx_dim_float(infc_onnx_at *at, const char *what, int64_t dim, infc_onnx_operand *out) {
    *out = infc_onnx_scalar(at, what, (float)dim);
    if (!infc_dim_open(dim)) return INFC_OK;
    INFC_TRY(infc_onnx_numbers(at, dim, 1, 1, out));
    INFC_TRY(infc_onnx_convert(at, INFC_DTYPE_f32, out, out));
    return infc_onnx_view(at, out, NULL, 0, out);
}

static infc_status dim_number(infc_onnx_at *at, int64_t dim, infc_onnx_operand *out) {
    return infc_dim_open(dim) ? infc_onnx_numbers(at, dim, 1, 1, out) : number_constant(at, dim, out);
}

infc_status infc_onnx_dims_computed(infc_onnx_at *at, infc_onnx_operand *x) {
    infc_onnx_operand parts[INFC_ONNX_MAX_VARIADIC];
    if (!infc_weight_has_dims(x->constant)) return INFC_OK;
    const infc_type type = x->type;
    int64_t n = infc_type_count(&type);
    if (n > INFC_ONNX_MAX_VARIADIC)
        return infc_onnx_refuse(at, "computes with %lld dimensions at once; at most %d are supported",
                                (long long)n, INFC_ONNX_MAX_VARIADIC);
    for (int i = 0; i < n; i++)
        INFC_TRY(dim_number(at, infc_weight_i64(x->constant, i), &parts[i]));
    INFC_TRY(infc_onnx_join(at, parts, (int)n, 0, x));
    return infc_onnx_view(at, x, type.dims, type.rank, x);
}

infc_onnx_operand infc_onnx_widened(const infc_onnx_at *at, const infc_onnx_operand *in) {
    if (!in->constant || in->type.dtype != INFC_DTYPE_i32) return *in;
    infc_arena *arena = at->import->cx->arena;
    infc_weight *weight = INFC_NEW(arena, infc_weight, 1);
    *weight = *in->constant;
    weight->type.dtype = INFC_DTYPE_i64;
    int64_t n = infc_type_count(&weight->type);
    int64_t *wide = infc_arena_alloc(arena, (size_t)infc_type_bytes(&weight->type) + INFC_OVER_READ, INFC_ALIGN);
    for (int64_t k = 0; k < n; k++) wide[k] = infc_weight_i64(in->constant, k);
    weight->bytes = wide;
    return (infc_onnx_operand){.type = weight->type, .constant = weight};
}

infc_status infc_onnx_filled(infc_onnx_at *at, const infc_type *type, const void *value, infc_onnx_operand *out) {
    const infc_type one = {.dtype = type->dtype};
    const size_t size = infc_dtype_bytes(type->dtype);
    const bool open = infc_type_open(type);
    void *bytes;
    INFC_TRY(infc_onnx_constant(at, open ? &one : type, &bytes, out));
    for (int64_t k = 0, n = infc_type_count(&out->type); k < n; k++)
        memcpy((char *)bytes + (size_t)k * size, value, size);
    if (!open) return INFC_OK;
    infc_attr attr = infc_attr_ints("shape", type->dims, type->rank);
    return infc_onnx_build(at, INFC_OP_expand, out, 1, &attr, 1, out);
}
