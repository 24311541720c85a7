#include "onnx_tensor.h"
#include "wire.h"
#include <string.h>

typedef struct type_facts {
    const char *name;
    infc_dtype dtype;
    uint32_t field; /* of TensorProto, for values that are not raw_data */
} type_facts;

enum { UINT4 = 21, INT4 = 22 };
enum { LARGE = 64 << 10 }; /* bytes of halves that are not widened here */

static const type_facts types[] = {
    [0] = {"undefined", INFC_DTYPE_NONE, 0},
    [1] = {"float", INFC_DTYPE_f32, 4},
    [2] = {"uint8", INFC_DTYPE_u8, 5},
    [3] = {"int8", INFC_DTYPE_i8, 5},
    [4] = {"uint16", INFC_DTYPE_u16, 5},
    [5] = {"int16", INFC_DTYPE_i16, 5},
    [6] = {"int32", INFC_DTYPE_i32, 5},
    [7] = {"int64", INFC_DTYPE_i64, 7},
    [8] = {"string", INFC_DTYPE_NONE, 0},
    [9] = {"bool", INFC_DTYPE_bool, 5},
    [10] = {"float16", INFC_DTYPE_f16, 5},
    [11] = {"double", INFC_DTYPE_f64, 10},
    [12] = {"uint32", INFC_DTYPE_u32, 11},
    [13] = {"uint64", INFC_DTYPE_u64, 11},
    [14] = {"complex64", INFC_DTYPE_NONE, 0},
    [15] = {"complex128", INFC_DTYPE_NONE, 0},
    [16] = {"bfloat16", INFC_DTYPE_bf16, 5},
    [17] = {"float8e4m3fn", INFC_DTYPE_NONE, 0},
    [18] = {"float8e4m3fnuz", INFC_DTYPE_NONE, 0},
    [19] = {"float8e5m2", INFC_DTYPE_NONE, 0},
    [20] = {"float8e5m2fnuz", INFC_DTYPE_NONE, 0},
    [UINT4] = {"uint4", INFC_DTYPE_NONE, 5},
    [INT4] = {"int4", INFC_DTYPE_NONE, 5},
    [23] = {"float4e2m1", INFC_DTYPE_NONE, 0},
    [24] = {"float8e8m0", INFC_DTYPE_NONE, 0},
    [25] = {"uint2", INFC_DTYPE_NONE, 0},
    [26] = {"int2", INFC_DTYPE_NONE, 0},
    [27] = {"float6e2m3", INFC_DTYPE_NONE, 0},
    [28] = {"float6e3m2", INFC_DTYPE_NONE, 0},
};

static const type_facts *facts_of(int64_t data_type) {
    static const type_facts unknown = {NULL, INFC_DTYPE_NONE, 0};
    if (data_type < 0 || (uint64_t)data_type >= sizeof types / sizeof *types) return &unknown;
    return &types[data_type];
}

infc_dtype infc_onnx_stored_dtype(int64_t data_type) { return facts_of(data_type)->dtype; }
infc_dtype infc_onnx_dtype(int64_t data_type) {
    const infc_dtype stored = facts_of(data_type)->dtype;
    return infc_dtype_is_half(stored) ? INFC_DTYPE_f32 : stored;
}
const char *infc_onnx_type_name(infc_arena *arena, int32_t data_type) {
    const char *name = facts_of(data_type)->name;
    return name ? name : infc_arena_printf(arena, "type %d (unknown)", (int)data_type);
}

/* ---- four bits ----------------------------------------------------------------------------------------- */

static bool four_bits(int64_t data_type) { return data_type == UINT4 || data_type == INT4; }

/* Two in a byte, the first in its low half; int4 is two's complement. */
static infc_bytes widen(infc_arena *arena, infc_bytes packed, size_t n, bool is_signed) {
    uint8_t *wide = infc_arena_alloc(arena, n + 1, 1);
    for (size_t i = 0; i < n; i++) {
        const uint8_t bits = (uint8_t)(packed.ptr[i / 2] >> (i % 2 * 4) & 15);
        wide[i] = (uint8_t)(is_signed && bits > 7 ? bits | 0xf0 : bits);
    }
    return (infc_bytes){wide, n};
}

/* ---- half floats --------------------------------------------------------------------------------------- */

/* Every half is a float: no bit of a value is lost. */
static void widen_halves(infc_arena *arena, infc_weight *weight) {
    const size_t n = (size_t)infc_type_count(&weight->type);
    float *wide = INFC_NEW(arena, float, n + 1);
    for (size_t i = 0; i < n; i++) wide[i] = (float)infc_weight_f64(weight, (int64_t)i);
    weight->type.dtype = INFC_DTYPE_f32;
    weight->bytes = (const uint8_t *)wide;
}

/* ---- reading -------------------------------------------------------------------------------------------- */

static infc_status read_type(infc_cx *cx, infc_loc loc, const infc_onnx_tensor *tensor,
                             bool dequantized, infc_type *out, uint64_t *out_bytes) {
    const bool four = four_bits(tensor->data_type);
    *out = (infc_type){.dtype = infc_onnx_stored_dtype(tensor->data_type), .rank = (int)tensor->rank};
    if (four) out->dtype = tensor->data_type == INT4 ? INFC_DTYPE_i8 : INFC_DTYPE_u8;
    if (tensor->segmented)
        return infc_fail(cx, INFC_ERR_UNSUPPORTED, loc, "a tensor in segments is not supported");
    if (four && !dequantized)
        return infc_fail(cx, INFC_ERR_UNSUPPORTED, loc,
                         "tensors of type %s are not supported, except initializers that only "
                         "DequantizeLinear reads",
                         infc_onnx_type_name(cx->arena, tensor->data_type));
    if (!out->dtype)
        return infc_fail(cx, INFC_ERR_UNSUPPORTED, loc, "tensors of %s%s are not supported",
                         facts_of(tensor->data_type)->name ? "type " : "",
                         infc_onnx_type_name(cx->arena, tensor->data_type));
    if (tensor->rank > INFC_MAX_RANK)
        return infc_fail(cx, INFC_ERR_UNSUPPORTED, loc, "a tensor of %zu dimensions; at most %d are supported",
                         tensor->rank, INFC_MAX_RANK);
    memcpy(out->dims, tensor->dims, sizeof out->dims);
    const char *wrong = infc_type_check(cx->arena, out);
    if (wrong) return infc_fail(cx, INFC_ERR_MODEL, loc, "%s", wrong);
    *out_bytes = four ? (infc_type_bytes(out) + 1) / 2 : infc_type_bytes(out);
    return INFC_OK;
}

static infc_wire_type wire_type_of(infc_dtype dtype) {
    if (dtype == INFC_DTYPE_f32) return INFC_WIRE_FIXED32;
    return dtype == INFC_DTYPE_f64 ? INFC_WIRE_FIXED64 : INFC_WIRE_VARINT;
}

/* How many values the message has in field `number`, and the field when there is just one. */
static bool count_values(infc_bytes body, uint32_t number, infc_wire_type type, size_t *out_count,
                         infc_wire_field *out_only) {
    infc_wire wire = infc_wire_open(body);
    infc_wire_field field;
    size_t n_fields = 0;
    *out_count = 0;
    while (infc_wire_next(&wire, &field)) {
        if (field.number != number) continue;
        if (!infc_wire_count(&field, type, out_count)) return false;
        *out_only = field;
        n_fields++;
    }
    if (n_fields != 1) *out_only = (infc_wire_field){0};
    return true;
}

/* Keeps the low bytes of each value, in place: the hosts are little-endian. */
static const void *narrow(int64_t *values, size_t n, size_t bytes) {
    unsigned char *to = (unsigned char *)values;
    for (size_t i = 0; i < n && bytes < sizeof *values; i++) {
        int64_t value = values[i];
        memcpy(to + i * bytes, &value, bytes);
    }
    return values;
}

static infc_status read_typed(infc_cx *cx, infc_loc loc, const infc_onnx_tensor *tensor,
                              const infc_type *type, uint64_t bytes, infc_bytes *out) {
    uint32_t number = facts_of(tensor->data_type)->field;
    infc_wire_type wire_type = wire_type_of(type->dtype);
    size_t size = infc_dtype_bytes(type->dtype), count, n = 0;
    infc_wire_field field, only = {0};
    if (!count_values(tensor->body, number, wire_type, &count, &only))
        return infc_fail(cx, INFC_ERR_MODEL, loc, "the values are not of the wire type that %s has",
                         infc_onnx_type_name(cx->arena, tensor->data_type));
    if (count != bytes / size)
        return infc_fail(cx, INFC_ERR_MODEL, loc, "%zu values, but the shape needs %llu", count,
                         (unsigned long long)(bytes / size));
    if (wire_type != INFC_WIRE_VARINT && only.type == INFC_WIRE_BYTES) {
        *out = only.bytes;
        return INFC_OK;
    }
    int64_t *values = INFC_NEW(cx->arena, int64_t, count + 1);
    infc_wire wire = infc_wire_open(tensor->body);
    while (infc_wire_next(&wire, &field))
        if (field.number == number) infc_wire_append(&field, wire_type, values, &n);
    *out = (infc_bytes){narrow(values, count, size), (size_t)bytes};
    return INFC_OK;
}

infc_status infc_onnx_tensor_read(infc_onnx_files *files, infc_loc loc,
                                  const infc_onnx_tensor *tensor, bool dequantized, infc_weight *out) {
    infc_cx *cx = files->cx;
    uint64_t bytes = 0; /* in the model */
    infc_bytes data = {0};
    INFC_TRY(read_type(cx, loc, tensor, dequantized, &out->type, &bytes));
    if (tensor->external) {
        INFC_TRY(infc_onnx_external(files, loc, tensor, bytes, &data));
    } else if (tensor->has_raw) {
        data = tensor->raw;
        if (data.len != bytes)
            return infc_fail(cx, INFC_ERR_MODEL, loc, "raw_data has %zu bytes, but the shape needs %llu",
                             data.len, (unsigned long long)bytes);
    } else {
        INFC_TRY(read_typed(cx, loc, tensor, &out->type, bytes, &data));
    }
    if (four_bits(tensor->data_type))
        data = widen(cx->arena, data, (size_t)infc_type_bytes(&out->type), tensor->data_type == INT4);
    out->name = tensor->name;
    out->bytes = data.ptr;
    if (infc_dtype_is_half(out->type.dtype) && bytes < LARGE) widen_halves(cx->arena, out);
    return INFC_OK;
}
