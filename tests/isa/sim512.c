/* sim512.c - bodies for the AVX-512 intrinsics that clang does not express as generic IR; see irsim.sh. Compiled with
 * the same flags as the code that calls them. */
typedef float v16f __attribute__((vector_size(64)));

v16f sim_max_ps_512(v16f a, v16f b, int rounding);
v16f sim_min_ps_512(v16f a, v16f b, int rounding);

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
