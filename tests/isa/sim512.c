/* sim512.c - bodies for the AVX-512 intrinsics that clang does not express as generic IR; see irsim.sh. Compiled with
 * the same flags as the code that calls them. */
#include <math.h>
typedef float v16f __attribute__((vector_size(64)));
typedef int v16i __attribute__((vector_size(64)));
typedef short v32s __attribute__((vector_size(64)));
typedef signed char v64c __attribute__((vector_size(64)));

v16f sim_max_ps_512(v16f a, v16f b, int rounding);
v16f sim_min_ps_512(v16f a, v16f b, int rounding);
v16f sim_rndscale_ps_512(v16f a, int how, v16f from, short mask, int rounding);
v16f sim_scalef_ps_512(v16f a, v16f b, v16f from, short mask, int rounding);
v16i sim_pmaddw_d_512(v32s a, v32s b);
v32s sim_pmaddubs_w_512(v64c a, v64c b);
v16i sim_vpdpbusd_512(v16i sum, v64c a, v64c b);
v16i sim_vpdpwssd_512(v16i sum, v32s a, v32s b);
v16i sim_cvttps2dq_512(v16f a, v16i from, short mask, int rounding);

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
