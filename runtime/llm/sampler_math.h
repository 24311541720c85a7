/* sampler_math.h - exp, log and random numbers of the sampler: the same bits everywhere, so no libm.
 *
 * To be compiled with -ffp-contract=off: a product and a sum are rounded one after the other. */
#ifndef INFRT_SAMPLER_MATH_H
#define INFRT_SAMPLER_MATH_H
#include <stdint.h>
#include <string.h>

static inline float infrt_float_of_bits(uint32_t bits) {
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}
static inline uint32_t infrt_bits_of_float(float value) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static inline float infrt_mul_add(float a, float b, float c) { return a * b + c; }

/* e^x for x <= 0, within 2 ulp; 0 below -87 and for NaN. By Cephes' polynomial. */
static inline float infrt_exp_neg(float x) {
    if (!(x >= -87.0f)) return 0.0f;
    float n = infrt_mul_add(x, 1.44269504f, 12582912.0f); /* 1.5 * 2^23: rounds to a whole number */
    n -= 12582912.0f;
    float r = infrt_mul_add(n, -0.693359375f, x);
    r = infrt_mul_add(n, 2.12194440e-4f, r);
    float p = 1.9875691500e-4f;
    p = infrt_mul_add(p, r, 1.3981999507e-3f);
    p = infrt_mul_add(p, r, 8.3334519073e-3f);
    p = infrt_mul_add(p, r, 4.1665795894e-2f);
    p = infrt_mul_add(p, r, 1.6666665459e-1f);
    p = infrt_mul_add(p, r, 5.0000001201e-1f);
    float square = r * r;
    p = infrt_mul_add(p, square, r);
    p += 1.0f;
    return p * infrt_float_of_bits((uint32_t)((int32_t)n + 127) << 23);
}

/* ln x for a positive normal x, within 2 ulp of its size or 1e-7. By Cephes' polynomial. */
static inline float infrt_log(float x) {
    uint32_t bits = infrt_bits_of_float(x);
    int32_t exponent = (int32_t)(bits >> 23) - 126;
    float m = infrt_float_of_bits((bits & 0x7fffffu) | 0x3f000000u); /* [1/2, 1) */
    if (m < 0.707106781f) {
        exponent--;
        m += m;
    }
    float f = m - 1.0f, z = f * f, e = (float)exponent;
    float p = 7.0376836292e-2f;
    p = infrt_mul_add(p, f, -1.1514610310e-1f);
    p = infrt_mul_add(p, f, 1.1676998740e-1f);
    p = infrt_mul_add(p, f, -1.2420140846e-1f);
    p = infrt_mul_add(p, f, 1.4249322787e-1f);
    p = infrt_mul_add(p, f, -1.6668057665e-1f);
    p = infrt_mul_add(p, f, 2.0000714765e-1f);
    p = infrt_mul_add(p, f, -2.4999993993e-1f);
    p = infrt_mul_add(p, f, 3.3333331174e-1f);
    float cube = f * z;
    p = p * cube;
    p = infrt_mul_add(e, -2.12194440e-4f, p);
    p = infrt_mul_add(z, -0.5f, p);
    p += f;
    return infrt_mul_add(e, 0.693359375f, p);
}

/* The finaliser of splitmix64. */
static inline uint64_t infrt_mix64(uint64_t z) {
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}
/* Counter-based: a function of (seed, position) alone, in [0, 1). */
static inline double infrt_random_unit(uint64_t seed, uint64_t position) {
    uint64_t key = infrt_mix64(seed + 0x9E3779B97F4A7C15u);
    uint64_t bits = infrt_mix64(key ^ infrt_mix64((position + 1) * 0xD1B54A32D192ED03u));
    return (double)(bits >> 11) * 0x1p-53;
}

#endif
