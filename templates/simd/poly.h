/* poly.h - our own exp and tanh: over all floats at most 1.02 and 1.34 ulp from the true value. Written once over the
 * vocabulary: included with P(x) and PF set for one float (scalar.h) and for 16 lanes (<isa>.h), so that both give
 * the same bits. */

/* exp(a) = 2^n * e^r with |r| <= ln(2) / 2; e^r by Cephes' polynomial. 2^n is applied in two halves, since n
 * leaves the range of a float's exponent at both ends. NaN passes through the limits (see min and max). */
static INFK_INLINE PF P(exp)(PF a) {
    const PF x = P(min)(P(set1)(89.0f), P(max)(P(set1)(-104.0f), a));
    const PF round = P(set1)(12582912.0f);
    const PF n = P(sub)(P(fma)(x, P(set1)(0x1.715476p+0f), round), round);
    PF r = P(fma)(n, P(set1)(-0x1.62e430p-1f), x);
    r = P(fma)(n, P(set1)(0x1.05c610p-29f), r);
    PF p = P(set1)(1.9875691500e-4f);
    p = P(fma)(p, r, P(set1)(1.3981999507e-3f));
    p = P(fma)(p, r, P(set1)(8.3334519073e-3f));
    p = P(fma)(p, r, P(set1)(4.1665795894e-2f));
    p = P(fma)(p, r, P(set1)(1.6666665459e-1f));
    p = P(fma)(p, r, P(set1)(5.0000001201e-1f));
    p = P(fma)(p, P(mul)(r, r), r);
    const PF half = P(sub)(P(fma)(n, P(set1)(0.5f), round), round);
    return P(mul)(P(mul)(P(add)(p, P(set1)(1.0f)), P(pow2)(half)), P(pow2)(P(sub)(n, half)));
}

/* tanh(a): an odd polynomial below 0.625, else 1 - 2 / (e^2|a| + 1) (Cephes). */
static INFK_INLINE PF P(tanh)(PF a) {
    const PF x = P(abs)(a), z = P(mul)(x, x);
    PF p = P(set1)(-5.70498872745e-3f);
    p = P(fma)(p, z, P(set1)(2.06390887954e-2f));
    p = P(fma)(p, z, P(set1)(-5.37397155531e-2f));
    p = P(fma)(p, z, P(set1)(1.33314422036e-1f));
    p = P(fma)(p, z, P(set1)(-3.33332819422e-1f));
    const PF small = P(fma)(P(mul)(p, z), x, x);
    const PF e = P(exp)(P(add)(x, x));
    const PF large = P(sub)(P(set1)(1.0f), P(div)(P(set1)(2.0f), P(add)(e, P(set1)(1.0f))));
    return P(copysign)(P(select_gt)(P(set1)(0.625f), x, small, large), a);
}
