/* tensor_shape.c - dtypes, shapes and elements. */
#include "tensor_io.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *infrt_dtype_name(uint32_t dtype) {
    switch (dtype) {
#define INFC_X(name, id, bytes, ctype) \
    case id: return #name;
        INFC_DTYPES(INFC_X)
#undef INFC_X
    default: return "?";
    }
}

size_t infrt_dtype_bytes(uint32_t dtype) {
    switch (dtype) {
#define INFC_X(name, id, bytes, ctype) \
    case id: return bytes;
        INFC_DTYPES(INFC_X)
#undef INFC_X
    default: return 0;
    }
}

bool infrt_shape_bytes(uint32_t dtype, uint32_t rank, const int64_t *dims, uint64_t *out) {
    uint64_t bytes = infrt_dtype_bytes(dtype);
    if (bytes == 0 || rank > INFC_MAX_RANK) return false;
    bool empty = false;
    for (uint32_t i = 0; i < rank; i++) {
        if (dims[i] < 0) return false;
        if (dims[i] == 0) empty = true;
        else if (__builtin_mul_overflow(bytes, (uint64_t)dims[i], &bytes) || bytes > INT64_MAX)
            return false;
    }
    *out = empty ? 0 : bytes;
    return true;
}

const char *infrt_shape_text(uint32_t dtype, uint32_t rank, const int64_t *dims, char out[INFRT_SHAPE_TEXT]) {
    size_t n = (size_t)snprintf(out, INFRT_SHAPE_TEXT, "%s[", infrt_dtype_name(dtype));
    for (uint32_t i = 0; i < rank && i < INFC_MAX_RANK; i++)
        n += (size_t)snprintf(out + n, INFRT_SHAPE_TEXT - n, "%s%lld", i ? "," : "", (long long)dims[i]);
    snprintf(out + n, INFRT_SHAPE_TEXT - n, "]");
    return out;
}

static float f16_value(uint16_t half) {
    uint32_t sign = (uint32_t)(half & 0x8000u) << 16, exponent = half >> 10 & 31, mantissa = half & 0x3ffu;
    float value;
    uint32_t bits;
    if (exponent == 0) {
        value = (float)mantissa * 0x1p-24f;
        return sign ? -value : value;
    }
    bits = sign | (exponent == 31 ? 0x7f800000u : (exponent + 112) << 23) | mantissa << 13;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static float bf16_value(uint16_t top) {
    uint32_t bits = (uint32_t)top << 16;
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

double infrt_element(uint32_t dtype, const void *data, size_t i) {
    switch (dtype) {
#define INFC_X(name, id, size, ctype)                                          \
    case id: {                                                                 \
        ctype value;                                                           \
        memcpy(&value, (const char *)data + i * sizeof value, sizeof value);   \
        if (id == INFC_DTYPE_f16) return (double)f16_value((uint16_t)value);   \
        if (id == INFC_DTYPE_bf16) return (double)bf16_value((uint16_t)value); \
        return (double)value;                                                  \
    }
        INFC_DTYPES(INFC_X)
#undef INFC_X
    default: return 0;
    }
}

void infrt_unblock_c16(const void *blocked, void *out, uint32_t rank, const int64_t *dims, size_t element_bytes) {
    size_t batch = (size_t)dims[0], channels = (size_t)dims[1], blocks = (channels + 15) / 16, spatial = 1;
    for (uint32_t i = 2; i < rank; i++) spatial *= (size_t)dims[i];
    const char *from = blocked;
    char *to = out;
    for (size_t n = 0; n < batch; n++)
        for (size_t c = 0; c < channels; c++)
            for (size_t s = 0; s < spatial; s++, to += element_bytes)
                memcpy(to, from + (((n * blocks + c / 16) * spatial + s) * 16 + c % 16) * element_bytes,
                       element_bytes);
}

void infrt_tensor_free(infrt_tensor *tensor) {
    free(tensor->owned);
    *tensor = (infrt_tensor){0};
}

infrt_status infrt_tensor_match(const infrt_tensor *tensor, const infc_tensor_info *info,
                                const char *where, infrt_error *error) {
    bool same = tensor->dtype == info->dtype && tensor->rank == info->rank;
    for (uint32_t i = 0; same && i < info->rank; i++) same = tensor->dims[i] == info->dims[i];
    if (same) return INFRT_OK;
    char got[INFRT_SHAPE_TEXT], want[INFRT_SHAPE_TEXT];
    return infrt_fail(error, INFRT_ERR_DATA, "%s: is %s, but \"%s\" is %s; %s", where,
                      infrt_shape_text(tensor->dtype, tensor->rank, tensor->dims, got), info->name,
                      infrt_shape_text(info->dtype, info->rank, info->dims, want),
                      tensor->dtype != info->dtype ? "convert it with .astype" : "reshape it");
}
