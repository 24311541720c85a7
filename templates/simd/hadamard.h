/* hadamard.h - the Hadamard transform of 16 and of 64 lanes, unnormalised: butterflies of strides 1, 2, 4, .. in that
 * order, each lane a + b or a - b. Over the vocabulary; s_hadamard of scalar.h is the same for any power of two. */
static INFK_INLINE vf16x v_hadamard16(vf16x a) {
    return v_butterfly8(v_butterfly4(v_butterfly2(v_butterfly1(a))));
}
static INFK_INLINE void v_hadamard64(vf16x v[4]) {
    const vf16x a = v_hadamard16(v[0]), b = v_hadamard16(v[1]), c = v_hadamard16(v[2]),
                d = v_hadamard16(v[3]);
    const vf16x ab = v_add(a, b), a_b = v_sub(a, b), cd = v_add(c, d), c_d = v_sub(c, d);
    v[0] = v_add(ab, cd);
    v[1] = v_add(a_b, c_d);
    v[2] = v_sub(ab, cd);
    v[3] = v_sub(a_b, c_d);
}
/* s_rotate of the blocks of 128 values, or of 64 and zeros if not `wide`. */
static INFK_INLINE void v_rotate(vf16x v[8], int wide, ptrdiff_t rotate) {
    if (rotate == 0) return;
    v_hadamard64(v);
    if (wide) v_hadamard64(v + 4);
    for (int i = 0; rotate == 128 && i < 4; i++) {
        const vf16x a = v[i], b = v[i + 4];
        v[i] = wide ? v_add(a, b) : v_mul(a, v_set1(S_ROOT_2));
        v[i + 4] = wide ? v_sub(a, b) : b;
    }
}
/* s_hadamard of 16, 32 or 64 values in memory. */
static INFK_INLINE void v_hadamard(float *x, ptrdiff_t n) {
    if (n == 64) {
        vf16x v[4] = {v_load(x), v_load(x + 16), v_load(x + 32), v_load(x + 48)};
        v_hadamard64(v);
        for (int i = 0; i < 4; i++) v_store(x + 16 * i, v[i]);
        return;
    }
    for (ptrdiff_t i = 0; i < n; i += 16) v_store(x + i, v_hadamard16(v_load(x + i)));
    for (ptrdiff_t stride = 16; stride < n; stride *= 2)
        for (ptrdiff_t i = 0; i < n; i += 16) {
            if (i & stride) continue;
            const vf16x a = v_load(x + i), b = v_load(x + i + stride);
            v_store(x + i, v_add(a, b));
            v_store(x + i + stride, v_sub(a, b));
        }
}
