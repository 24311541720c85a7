/* tails_generic.h - less than 16 floats, through memory, for levels that have no masks. */
/* The first n lanes; the others are zero, their memory is not touched. */
static INFK_INLINE vf16x v_load_tail(const float *p, ptrdiff_t n) {
    float lanes[16] = {0};
    for (ptrdiff_t i = 0; i < n; i++) lanes[i] = p[i];
    return v_load(lanes);
}
static INFK_INLINE void v_store_tail(float *p, ptrdiff_t n, vf16x a) {
    float lanes[16];
    v_store(lanes, a);
    for (ptrdiff_t i = 0; i < n; i++) p[i] = lanes[i];
}
