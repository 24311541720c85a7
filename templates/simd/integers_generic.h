/* integers_generic.h - 16 lanes of int32 in vector extensions: four quarters. What generic.h is for floats. Arithmetic
 * wraps. Narrow integers are widened where they are loaded; what is stored lies within the narrow type's range. */
#if defined(__SSE2__) || defined(__wasm_simd128__)
#define VI_DOTS /* products of int16, added in pairs, are one instruction */
#endif

typedef int32_t v_i32x4_at __attribute__((vector_size(16), aligned(1), may_alias));
typedef uint32_t v_u32x4 __attribute__((vector_size(16)));
typedef int16_t v_i16x8 __attribute__((vector_size(16)));
typedef uint16_t v_u16x8 __attribute__((vector_size(16)));

typedef struct vi16x {
    v_i32x4 q0, q1, q2, q3;
} vi16x;

static INFK_INLINE vi16x vi_join(v_i32x4 q0, v_i32x4 q1, v_i32x4 q2, v_i32x4 q3) {
    vi16x r;
    r.q0 = q0;
    r.q1 = q1;
    r.q2 = q2;
    r.q3 = q3;
    return r;
}
static INFK_INLINE v_i32x4 vi_set4(int32_t a) { return (v_i32x4){a, a, a, a}; }
static INFK_INLINE v_i32x4 vi_add4(v_i32x4 a, v_i32x4 b) {
    return (v_i32x4)((v_u32x4)a + (v_u32x4)b);
}
static INFK_INLINE v_i32x4 vi_mul4(v_i32x4 a, v_i32x4 b) {
    return (v_i32x4)((v_u32x4)a * (v_u32x4)b);
}
/* Halves of int16: product of the lower and of the upper ones, added. */
static INFK_INLINE v_i32x4 vi_dot4(v_i32x4 a, v_i32x4 b) {
#if defined(__SSE2__)
    return (v_i32x4)_mm_madd_epi16((__m128i)a, (__m128i)b);
#elif defined(__wasm_simd128__)
    return (v_i32x4)wasm_i32x4_dot_i16x8((v128_t)a, (v128_t)b);
#else
    const v_i32x4 low = vi_mul4((v_i32x4)((v_u32x4)a << 16) >> 16, (v_i32x4)((v_u32x4)b << 16) >> 16);
    return vi_add4(low, vi_mul4(a >> 16, b >> 16));
#endif
}
/* Of each two signed bytes the first or the second, as int16. */
static INFK_INLINE v_i16x8 vi_even_bytes(v_i32x4 a) { return (v_i16x8)((v_u16x8)a << 8) >> 8; }
static INFK_INLINE v_i16x8 vi_odd_bytes(v_i32x4 a) { return (v_i16x8)a >> 8; }
#define VI_EACH(f, a) vi_join(f((a).q0), f((a).q1), f((a).q2), f((a).q3))
#define VI_EACH2(f, a, b) \
    vi_join(f((a).q0, (b).q0), f((a).q1, (b).q1), f((a).q2, (b).q2), f((a).q3, (b).q3))
#define VI_EACH3(f, a, b, c)                                                                 \
    vi_join(f((a).q0, (b).q0, (c).q0), f((a).q1, (b).q1, (c).q1), f((a).q2, (b).q2, (c).q2), \
            f((a).q3, (b).q3, (c).q3))

static INFK_INLINE vi16x vi_load(const int32_t *p) {
    return vi_join(*(const v_i32x4_at *)p, *(const v_i32x4_at *)(p + 4),
                   *(const v_i32x4_at *)(p + 8), *(const v_i32x4_at *)(p + 12));
}
static INFK_INLINE void vi_store(int32_t *p, vi16x a) {
    *(v_i32x4_at *)p = a.q0;
    *(v_i32x4_at *)(p + 4) = a.q1;
    *(v_i32x4_at *)(p + 8) = a.q2;
    *(v_i32x4_at *)(p + 12) = a.q3;
}
static INFK_INLINE vi16x vi_set1(int32_t a) {
    return vi_join(vi_set4(a), vi_set4(a), vi_set4(a), vi_set4(a));
}
static INFK_INLINE vi16x vi_zero(void) { return vi_set1(0); }
static INFK_INLINE vi16x vi_add(vi16x a, vi16x b) { return VI_EACH2(vi_add4, a, b); }
static INFK_INLINE vi16x vi_mul(vi16x a, vi16x b) { return VI_EACH2(vi_mul4, a, b); }
/* acc + the products of the int16 halves of x and w. */
static INFK_INLINE vi16x vi_dot2(vi16x acc, vi16x x, vi16x w) {
    const vi16x products = VI_EACH2(vi_dot4, x, w);
    return vi_add(acc, products);
}
/* Two neighbours, in every lane. */
static INFK_INLINE vi16x vi_pair(const int16_t *p) {
    return vi_set1(*(const infk_i4 *)(const void *)p);
}

static INFK_INLINE vi16x vi_and(vi16x a, vi16x b) {
    return vi_join(a.q0 & b.q0, a.q1 & b.q1, a.q2 & b.q2, a.q3 & b.q3);
}
static INFK_INLINE vi16x vi_or(vi16x a, vi16x b) {
    return vi_join(a.q0 | b.q0, a.q1 | b.q1, a.q2 | b.q2, a.q3 | b.q3);
}
static INFK_INLINE vi16x vi_xor(vi16x a, vi16x b) {
    return vi_join(a.q0 ^ b.q0, a.q1 ^ b.q1, a.q2 ^ b.q2, a.q3 ^ b.q3);
}
/* Bits move within a lane of 32, zeros come in. */
static INFK_INLINE v_i32x4 vi_shl4(v_i32x4 a, int n) { return (v_i32x4)((v_u32x4)a << n); }
static INFK_INLINE v_i32x4 vi_shr4(v_i32x4 a, int n) { return (v_i32x4)((v_u32x4)a >> n); }
static INFK_INLINE vi16x vi_shl(vi16x a, int n) {
    return vi_join(vi_shl4(a.q0, n), vi_shl4(a.q1, n), vi_shl4(a.q2, n), vi_shl4(a.q3, n));
}
static INFK_INLINE vi16x vi_shr(vi16x a, int n) {
    return vi_join(vi_shr4(a.q0, n), vi_shr4(a.q1, n), vi_shr4(a.q2, n), vi_shr4(a.q3, n));
}

/* The vocabulary's loads and stores of narrow integers and their tails, from one element at a time. */
#define VI_NARROW(name, type)                                                       \
    static INFK_INLINE vi16x vi_load_##name##_tail(const type *p, ptrdiff_t n) {    \
        int32_t lanes[16] = {0};                                                    \
        for (ptrdiff_t i = 0; i < n; i++) lanes[i] = (int32_t)p[i];                 \
        return vi_load(lanes);                                                      \
    }                                                                               \
    static INFK_INLINE vi16x vi_load_##name(const type *p) {                        \
        return vi_load_##name##_tail(p, 16);                                        \
    }                                                                               \
    static INFK_INLINE void vi_store_##name##_tail(type *p, ptrdiff_t n, vi16x a) { \
        int32_t lanes[16];                                                          \
        vi_store(lanes, a);                                                         \
        for (ptrdiff_t i = 0; i < n; i++) p[i] = (type)lanes[i];                    \
    }                                                                               \
    static INFK_INLINE void vi_store_##name(type *p, vi16x a) { vi_store_##name##_tail(p, 16, a); }
VI_NARROW(i8, int8_t)
VI_NARROW(u8, uint8_t)
VI_NARROW(i16, int16_t)
VI_NARROW(i32, int32_t)
#undef VI_NARROW

/* [16][2] as a pair of int16 a lane. */
static INFK_INLINE vi16x vi_pairs_i16(const int16_t *p) {
    return vi_load((const int32_t *)(const void *)p);
}
static INFK_INLINE vi16x vi_pairs_i8(const int8_t *p) {
    int16_t wide[32];
    for (int i = 0; i < 32; i++) wide[i] = p[i];
    return vi_pairs_i16(wide);
}

static INFK_INLINE vf16x v_from_int(vi16x a) {
    return v_join(__builtin_convertvector(a.q0, v_f32x4), __builtin_convertvector(a.q1, v_f32x4),
                  __builtin_convertvector(a.q2, v_f32x4), __builtin_convertvector(a.q3, v_f32x4));
}
/* 16 f16. */
static INFK_INLINE v_f32x4 v_half4(v_i32x4 h) {
    const v_i32x4 special = ((h & 0x7c00) == 0x7c00) & 0x7f800000;
    const v_f32x4 magnitude = (v_f32x4)vi_shl4(h & 0x7fff, 13) * v_set4(0x1p112f);
    return (v_f32x4)((v_i32x4)magnitude | special | vi_shl4(h & 0x8000, 16));
}
static INFK_INLINE vf16x v_load_half(const void *p) {
    const vi16x h = vi_load_i16((const int16_t *)p);
    return v_join(v_half4(h.q0), v_half4(h.q1), v_half4(h.q2), v_half4(h.q3));
}
/* Towards zero; lanes must be within the range of int32. */
static INFK_INLINE vi16x vi_whole(vf16x a) {
    return vi_join(__builtin_convertvector(a.q0, v_i32x4), __builtin_convertvector(a.q1, v_i32x4),
                   __builtin_convertvector(a.q2, v_i32x4), __builtin_convertvector(a.q3, v_i32x4));
}
/* Towards zero, limited to [low, high], whole numbers within the range of int32; 0 for NaN. */
static INFK_INLINE vf16x v_limit(vf16x a, float low, float high) {
    const vf16x number = v_select_eq(a, a, a, v_zero());
    return v_from_int(vi_whole(v_min(v_max(number, v_set1(low)), v_set1(high))));
}
