/* sim512.c - bodies for the AVX-512 intrinsics that clang does not express as generic IR; see irsim.sh. Compiled with
 * the same flags as the code that calls them. */
#include <math.h>
#include <string.h>
typedef float v16f __attribute__((vector_size(64)));
typedef int v16i __attribute__((vector_size(64)));
typedef short v32s __attribute__((vector_size(64)));
typedef short v16s __attribute__((vector_size(32)));
typedef signed char v64c __attribute__((vector_size(64)));

v16f sim_max_ps_512(v16f a, v16f b, int rounding);
v16f sim_min_ps_512(v16f a, v16f b, int rounding);
v16f sim_rndscale_ps_512(v16f a, int how, v16f from, short mask, int rounding);
v16f sim_scalef_ps_512(v16f a, v16f b, v16f from, short mask, int rounding);
v16i sim_pmaddw_d_512(v32s a, v32s b);
v32s sim_pmaddubs_w_512(v64c a, v64c b);
v16i sim_psllv_d_512(v16i a, v16i b);
v16i sim_vpdpbusd_512(v16i sum, v64c a, v64c b);
v16i sim_vpdpwssd_512(v16i sum, v32s a, v32s b);
v16i sim_cvttps2dq_512(v16f a, v16i from, short mask, int rounding);
v16s sim_vcvtps2ph_512(v16f a, int rounding, v16s from, short mask);
#if defined(__AVX512FP16__)
typedef _Float16 v32h __attribute__((vector_size(64)));
v32h sim_fma_ph_512(v32h a, v32h b, v32h c);
#endif
#if defined(__AVX512BF16__)
typedef __bf16 v32b __attribute__((vector_size(64)));
v32b sim_cvtne2ps2bf16_512(v16f high, v16f low);
v16f sim_dpbf16ps_512(v16f sum, v32b a, v32b b);
__bf16 __truncsfbf2(float a);
#endif

v16f sim_max_ps_512(v16f a, v16f b, int rounding) { /* b when unordered or equal, as the manual says */
    (void)rounding;
    for (int i = 0; i < 16; i++) b[i] = a[i] > b[i] ? a[i] : b[i];
    return b;
}
v16f sim_min_ps_512(v16f a, v16f b, int rounding) {
    (void)rounding;
    for (int i = 0; i < 16; i++) b[i] = a[i] < b[i] ? a[i] : b[i];
    return b;
}

/* To whole numbers: nearest, half to even, or towards zero. */
v16f sim_rndscale_ps_512(v16f a, int how, v16f from, short mask, int rounding) {
    (void)from, (void)mask, (void)rounding;
    for (int i = 0; i < 16; i++) a[i] = how & 3 ? truncf(a[i]) : nearbyintf(a[i]);
    return a;
}
v16f sim_scalef_ps_512(v16f a, v16f b, v16f from, short mask, int rounding) {
    (void)from, (void)mask, (void)rounding;
    for (int i = 0; i < 16; i++) a[i] = b[i] == b[i] ? ldexpf(a[i], (int)b[i]) : b[i];
    return a;
}
v16i sim_pmaddw_d_512(v32s a, v32s b) {
    v16i r;
    for (int i = 0; i < 16; i++)
        r[i] = (int)((unsigned)(a[2 * i] * b[2 * i]) + (unsigned)(a[2 * i + 1] * b[2 * i + 1]));
    return r;
}
v32s sim_pmaddubs_w_512(v64c a, v64c b) { /* a unsigned; saturates */
    v32s r;
    for (int i = 0; i < 32; i++) {
        const int sum = (unsigned char)a[2 * i] * b[2 * i] + (unsigned char)a[2 * i + 1] * b[2 * i + 1];
        r[i] = (short)(sum > 32767 ? 32767 : sum < -32768 ? -32768 : sum);
    }
    return r;
}
v16i sim_psllv_d_512(v16i a, v16i b) { /* nothing is left where it goes further than 31 */
    for (int i = 0; i < 16; i++) a[i] = (unsigned)b[i] > 31 ? 0 : (int)((unsigned)a[i] << b[i]);
    return a;
}
v16i sim_vpdpbusd_512(v16i sum, v64c a, v64c b) { /* a unsigned; wraps */
    for (int i = 0; i < 64; i++)
        sum[i / 4] = (int)((unsigned)sum[i / 4] + (unsigned)((unsigned char)a[i] * b[i]));
    return sum;
}
v16i sim_vpdpwssd_512(v16i sum, v32s a, v32s b) { /* wraps */
    for (int i = 0; i < 32; i++) sum[i / 2] = (int)((unsigned)sum[i / 2] + (unsigned)(a[i] * b[i]));
    return sum;
}
v16i sim_cvttps2dq_512(v16f a, v16i from, short mask, int rounding) { /* the least integer when it does not fit */
    (void)mask, (void)rounding;
    for (int i = 0; i < 16; i++)
        from[i] = a[i] >= -0x1p31f && a[i] < 0x1p31f ? (int)a[i] : -0x7fffffff - 1;
    return from;
}
v16s sim_vcvtps2ph_512(v16f a, int rounding, v16s from, short mask) { /* to nearest, half to even */
    (void)rounding, (void)mask;
    for (int i = 0; i < 16; i++) {
        const _Float16 half = (_Float16)a[i];
        short bits;
        memcpy(&bits, &half, sizeof bits);
        from[i] = bits;
    }
    return from;
}

#if defined(__AVX512BF16__)
/* Denormals are zeros here, of their sign, before and after. */
static float flush(float a) { return fabsf(a) < 0x1p-126f ? copysignf(0, a) : a; }
static float as_float(unsigned bits) {
    float f;
    memcpy(&f, &bits, sizeof f);
    return f;
}
/* To nearest, half to even, by dividing: the unit of a number in [2^e, 2^(e + 1)) is 2^(e - 7). */
static unsigned short to_bf16(float a) {
    int e;
    unsigned bits;
    a = flush(a);
    if (a - a == 0 && a != 0) {
        (void)frexpf(a, &e);
        a = (float)ldexp(nearbyint(ldexp((double)a, 8 - e)), e - 8);
    }
    memcpy(&bits, &a, sizeof bits);
    return (unsigned short)(bits >> 16 | (a == a ? 0 : 0x40));
}
/* Of libgcc from version 13: LLVM moves vectors of bf16 as floats, whose upper halves they are. */
__bf16 __truncsfbf2(float a) {
    unsigned bits;
    __bf16 out;
    memcpy(&bits, &a, sizeof bits);
    const unsigned short half = (unsigned short)(bits >> 16);
    memcpy(&out, &half, sizeof out);
    return out;
}
v32b sim_cvtne2ps2bf16_512(v16f high, v16f low) {
    unsigned short r[32];
    for (int i = 0; i < 16; i++) r[i] = to_bf16(low[i]), r[i + 16] = to_bf16(high[i]);
    v32b out;
    memcpy(&out, r, sizeof out);
    return out;
}
/* Each product and sum rounded once, the odd one of a pair first. */
static float add_product(float sum, float a, float b) {
    return flush(fmaf(flush(a), flush(b), flush(sum)));
}
v16f sim_dpbf16ps_512(v16f sum, v32b a, v32b b) {
    unsigned short p[32], q[32];
    memcpy(p, &a, sizeof p);
    memcpy(q, &b, sizeof q);
    for (int i = 0; i < 16; i++)
        for (int odd = 1; odd >= 0; odd--)
            sum[i] = add_product(sum[i], as_float((unsigned)p[2 * i + odd] << 16),
                                 as_float((unsigned)q[2 * i + odd] << 16));
    return sum;
}
#endif

#if defined(__AVX512FP16__)
/* 80 bits hold a product and what it is added to, or so many more than 11 that a second rounding changes nothing. */
v32h sim_fma_ph_512(v32h a, v32h b, v32h c) {
    for (int i = 0; i < 32; i++)
        c[i] = (_Float16)((long double)a[i] * (long double)b[i] + (long double)c[i]);
    return c;
}
#endif
