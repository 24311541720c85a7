#include "weights.h"
#include "float_bits.h"
#include <string.h>

const char infc_origin_dims[] = "dimensions known only at run time", infc_origin_checkpoint[] = "checkpoint",
           infc_origin_chosen[] = "chosen on a text", infc_origin_rounded[] = "rounded to bf16";

int64_t infc_weights_add(infc_weights *weights, infc_weight weight) {
    INFC_GROW(weights->arena, weights->items, weights->n, weights->cap);
    weights->items[weights->n] = weight;
    return (int64_t)weights->n++;
}

const infc_weight *infc_weights_get(const infc_weights *weights, int64_t id) {
    return id >= 0 && (uint64_t)id < weights->n ? &weights->items[id] : NULL;
}

/* Bytes may be borrowed from a file at any offset, so elements are copied out. */
#define READ(ctype)                                                                \
    do {                                                                           \
        ctype v;                                                                   \
        memcpy(&v, (const char *)weight->bytes + i * (int64_t)sizeof v, sizeof v); \
        return (number)v;                                                          \
    } while (0)

double infc_weight_f64(const infc_weight *weight, int64_t i) {
    typedef double number;
    uint16_t half;
    if (!weight->bytes) return 0; /* a matrix: no small constant */
    switch (weight->type.dtype) {
    case INFC_DTYPE_f32: READ(float);
    case INFC_DTYPE_f64: READ(double);
    case INFC_DTYPE_f16:
        memcpy(&half, (const char *)weight->bytes + i * 2, sizeof half);
        return infc_f16_to_f64(half);
    case INFC_DTYPE_bf16:
        memcpy(&half, (const char *)weight->bytes + i * 2, sizeof half);
        return infc_bf16_to_f64(half);
    case INFC_DTYPE_u64: READ(uint64_t);
    default: return (double)infc_weight_i64(weight, i);
    }
}

int64_t infc_weight_i64(const infc_weight *weight, int64_t i) {
    typedef int64_t number;
    int64_t value;
    if (!weight->bytes) return 0;
    switch (weight->type.dtype) {
    case INFC_DTYPE_i8: READ(int8_t);
    case INFC_DTYPE_u8:
    case INFC_DTYPE_bool: READ(uint8_t);
    case INFC_DTYPE_i16: READ(int16_t);
    case INFC_DTYPE_u16: READ(uint16_t);
    case INFC_DTYPE_i32: READ(int32_t);
    case INFC_DTYPE_u32: READ(uint32_t);
    case INFC_DTYPE_i64:
        memcpy(&value, (const char *)weight->bytes + i * (int64_t)sizeof value, sizeof value);
        return infc_weight_has_dims(weight) ? value : infc_dim_number(value);
    case INFC_DTYPE_u64: READ(uint64_t);
    case INFC_DTYPE_NONE: return 0;
    default: break;
    }
    double v = infc_weight_f64(weight, i); /* a float: towards zero, NaN as 0, saturating */
    if (!(v > -0x1p63)) return v <= -0x1p63 ? INT64_MIN : 0;
    return v < 0x1p63 ? (int64_t)v : INT64_MAX;
}
