/* sums_generic.h - sums of products of unsigned by signed bytes, in vector extensions; the other levels have
 * the same functions. */
/* Sums of products of u8 and i8 in int32, four steps at a time: of one x for all lanes and of weights [16][4]. A vqsum
 * holds 16 sums in a form of the level's own, as if each x were VQ_LOWERED less. */
#define VQ_LOWERED 0
typedef vi16x vqsum, vqx, vqw;
static INFK_INLINE vqsum vq_none(void) { return vi_zero(); }
static INFK_INLINE vqx vq_x(const uint8_t *p) { return vi_set1(*(const infk_i4 *)(const void *)p); }
static INFK_INLINE vqx vq_same(uint8_t x) { return vi_set1((int32_t)(x * 0x1010101u)); }
static INFK_INLINE vqw vq_w(const int8_t *p) { return vi_load((const int32_t *)(const void *)p); }
static INFK_INLINE v_i32x4 vq_dot4(v_i32x4 x, v_i32x4 w) {
#if defined(VI_DOTS)
    const v_i32x4 even = vi_dot4(x & 0xff00ff, (v_i32x4)vi_even_bytes(w));
    return vi_add4(even, vi_dot4((v_i32x4)((v_u16x8)x >> 8), (v_i32x4)vi_odd_bytes(w)));
#else
    v_i32x4 sum = vi_mul4(x & 255, (v_i32x4)((v_u32x4)w << 24) >> 24);
    sum = vi_add4(sum, vi_mul4((x >> 8) & 255, (v_i32x4)((v_u32x4)w << 16) >> 24));
    sum = vi_add4(sum, vi_mul4((x >> 16) & 255, (v_i32x4)((v_u32x4)w << 8) >> 24));
    return vi_add4(sum, vi_mul4((x >> 24) & 255, w >> 24));
#endif
}
static INFK_INLINE vqsum vq_dot(vqsum acc, vqx x, vqw w) {
    const vi16x products = VI_EACH2(vq_dot4, x, w);
    return vi_add(acc, products);
}
static INFK_INLINE vi16x vq_sum(vqsum a) { return a; }
