/* fma_generic.h - fused multiply-add of four lanes in doubles, where no instruction does it. See s_fma of scalar.h. */
typedef double v_f64x2 __attribute__((vector_size(16)));
typedef int64_t v_i64x2 __attribute__((vector_size(16)));
/* s_fma of two lanes, before narrowing: `away` is all ones where the error has the sign of the sum, so that odd is
 * one up; the last bit of the sum decides whether it moves at all. */
static INFK_INLINE v_f64x2 v_fma2(v_f64x2 a, v_f64x2 b, v_f64x2 c) {
    const v_f64x2 p = a * b, sum = p + c, seen = sum - p, error = (p - (sum - seen)) + (c - seen);
    const v_f64x2 zero = {0.0, 0.0};
    const v_i64x2 bits = (v_i64x2)sum, inexact = (error > zero) | (error < zero);
    const v_i64x2 away = ~((error > zero) ^ (sum > zero));
    return (v_f64x2)(bits + (inexact & ((bits & 1) - 1) & ((away & 2) - 1)));
}
static __attribute__((noinline, unused)) v_f32x4 v_fma4_odd(v_f32x4 a, v_f32x4 b, v_f32x4 c) {
    const v_f64x2 a01 = {(double)a[0], (double)a[1]}, b01 = {(double)b[0], (double)b[1]};
    const v_f64x2 a23 = {(double)a[2], (double)a[3]}, b23 = {(double)b[2], (double)b[3]};
    const v_f64x2 r01 = v_fma2(a01, b01, (v_f64x2){(double)c[0], (double)c[1]});
    const v_f64x2 r23 = v_fma2(a23, b23, (v_f64x2){(double)c[2], (double)c[3]});
    return (v_f32x4){(float)r01[0], (float)r01[1], (float)r23[0], (float)r23[1]};
}
static INFK_INLINE int v_any4(v_i32x4 m) {
#if defined(__SSE2__)
    return _mm_movemask_epi8((__m128i)m) != 0;
#elif defined(__wasm_simd128__)
    return wasm_v128_any_true((v128_t)m);
#else
    return (m[0] | m[1] | m[2] | m[3]) != 0;
#endif
}
/* Rounding the sum to double first changes nothing unless that lies midway between two floats, which its last 29 bits
 * tell, or, of a denormal float, might: then the long way. Words are in little-endian order, as where this is compiled.
 * Not inlined: it is long, and calls are not what it costs. */
static __attribute__((noinline, unused)) v_f32x4 v_fma4(v_f32x4 a, v_f32x4 b, v_f32x4 c) {
    const v_f64x2 a01 = {(double)a[0], (double)a[1]}, b01 = {(double)b[0], (double)b[1]};
    const v_f64x2 a23 = {(double)a[2], (double)a[3]}, b23 = {(double)b[2], (double)b[3]};
    const v_f64x2 r01 = a01 * b01 + (v_f64x2){(double)c[0], (double)c[1]};
    const v_f64x2 r23 = a23 * b23 + (v_f64x2){(double)c[2], (double)c[3]};
    const v_i32x4 low = __builtin_shufflevector((v_i32x4)r01, (v_i32x4)r23, 0, 2, 4, 6);
    const v_i32x4 high = __builtin_shufflevector((v_i32x4)r01, (v_i32x4)r23, 1, 3, 5, 7) & 0x7fffffff;
    const v_i32x4 midway = (low & 0x1fffffff) == 0x10000000, denormal = (high > 0) & (high < 0x38100000);
    if (v_any4(midway | denormal)) return v_fma4_odd(a, b, c);
    return (v_f32x4){(float)r01[0], (float)r01[1], (float)r23[0], (float)r23[1]};
}
