/* float_bits.h - narrow floats as numbers. */
#ifndef INFC_FLOAT_BITS_H
#define INFC_FLOAT_BITS_H
#include <stdint.h>
#include <string.h>

static inline double infc_bf16_to_f64(uint16_t bits) {
    uint32_t wide = (uint32_t)bits << 16;
    float value;
    memcpy(&value, &wide, sizeof value);
    return (double)value;
}

static inline double infc_f16_to_f64(uint16_t bits) {
    uint64_t sign = (uint64_t)(bits >> 15) << 63, exponent = bits >> 10 & 31, fraction = bits & 1023;
    double value;
    if (exponent == 0) { /* zero and denormals: fraction * 2^-24 */
        value = (double)fraction * 0x1p-24;
        return sign ? -value : value;
    }
    uint64_t wide = sign | (exponent == 31 ? UINT64_C(2047) : exponent + 1008) << 52 | fraction << 42;
    memcpy(&value, &wide, sizeof value);
    return value;
}

#endif
