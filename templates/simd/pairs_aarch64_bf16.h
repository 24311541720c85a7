/* pairs_aarch64_bf16.h - products of pairs of bf16 with BFDOT, added to f32. See pairs_x86_64_bf16.h; how the
 * instruction rounds, matmul_bfdot_ref.c says. */
static INFK_INLINE void vb_round8(infk_b2 *to, const float *x) {
    const bfloat16x8_t low = vcvtq_low_bf16_f32(vld1q_f32(x));
    vst1q_u16((uint16_t *)to, vreinterpretq_u16_bf16(vcvtq_high_bf16_f32(low, vld1q_f32(x + 4))));
}
static INFK_INLINE void vb_round(infk_b2 *to, const float *x, ptrdiff_t n) {
    ptrdiff_t i = 0;
    for (; n - i >= 8; i += 8) vb_round8(to + i, x + i);
    if (i == n) return;
    float last[8] = {0.0f};
    for (ptrdiff_t j = 0; i + j < n; j++) last[j] = x[i + j];
    vb_round8(to + i, last);
}
static INFK_INLINE vi16x vb_steps(const infk_b2 *p) {
    const uint16_t *even = (const uint16_t *)p, *odd = even + 16;
    const uint16x8_t a = vld1q_u16(even), b = vld1q_u16(even + 8), c = vld1q_u16(odd),
                     d = vld1q_u16(odd + 8);
    return vi_join((v_i32x4)vzip1q_u16(a, c), (v_i32x4)vzip2q_u16(a, c), (v_i32x4)vzip1q_u16(b, d),
                   (v_i32x4)vzip2q_u16(b, d));
}
static INFK_INLINE vi16x vb_last_step(const infk_b2 *p) {
    const uint16x8_t a = vld1q_u16((const uint16_t *)p), b = vld1q_u16((const uint16_t *)p + 8),
                     zero = vdupq_n_u16(0);
    return vi_join((v_i32x4)vzip1q_u16(a, zero), (v_i32x4)vzip2q_u16(a, zero),
                   (v_i32x4)vzip1q_u16(b, zero), (v_i32x4)vzip2q_u16(b, zero));
}
static INFK_INLINE vi16x vb_set1(const infk_b2 *p) {
    return vi_set1(*(const infk_i4 *)(const void *)p);
}
static INFK_INLINE v_f32x4 vb_dot4(v_f32x4 acc, v_i32x4 w, v_i32x4 x) {
    return (v_f32x4)vbfdotq_f32((float32x4_t)acc, (bfloat16x8_t)w, (bfloat16x8_t)x);
}
static INFK_INLINE vf16x vb_dot(vf16x acc, vi16x w, vi16x x) {
    return v_join(vb_dot4(acc.q0, w.q0, x.q0), vb_dot4(acc.q1, w.q1, x.q1),
                  vb_dot4(acc.q2, w.q2, x.q2), vb_dot4(acc.q3, w.q3, x.q3));
}
