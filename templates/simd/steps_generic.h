/* steps_generic.h - floats as int8, and what is found of sixteen groups at a time, for levels that do it one by one. */
/* Lane i: v_hmost of row i of [16][16]. */
static INFK_INLINE vf16x v_most_each(const float *rows) {
    float lanes[16];
    INFK_ROLLED for (int i = 0; i < 16; i++) lanes[i] = v_hmost(v_load(rows + 16 * i));
    return v_load(lanes);
}
/* The nearest whole numbers, half to even; lanes must be within the range of int32; 0 for NaN. */
static INFK_INLINE vi16x vi_near(vf16x a) {
#if defined(__aarch64__)
    return vi_join(
        (v_i32x4)vcvtnq_s32_f32((float32x4_t)a.q0), (v_i32x4)vcvtnq_s32_f32((float32x4_t)a.q1),
        (v_i32x4)vcvtnq_s32_f32((float32x4_t)a.q2), (v_i32x4)vcvtnq_s32_f32((float32x4_t)a.q3));
#else
    const vf16x near = v_round(v_select_eq(a, a, a, v_zero()));
    return vi_whole(near);
#endif
}
/* Lane i: the sum of the bytes 16 i .. 16 i + 15. */
static INFK_INLINE vi16x vi_sums(const int8_t *p) {
    int32_t lanes[16];
    INFK_ROLLED for (int i = 0; i < 16; i++) {
        lanes[i] = 0;
        for (int b = 0; b < 16; b++) lanes[i] += p[16 * i + b];
    }
    return vi_load(lanes);
}
