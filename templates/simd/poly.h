/* poly.h - our own exp, tanh, log, pow, erf, sin and cos, within the errors that docs/numerics.md states. Written
 * once over the vocabulary: included with P(x) and PF set for one float (scalar.h) and for 16 lanes (<isa>.h), so that
 * both give the same bits. */

/* A level that has an instruction for one of the next two says so by its macro and defines it itself. */
#ifndef INFK_HAS_ROUND
/* To a whole number, half to even: from 2^23 on all are whole. The sign of a zero is kept. */
static INFK_INLINE PF P(round)(PF a) {
    const PF x = P(abs)(a), whole = P(set1)(8388608.0f);
    const PF near = P(sub)(P(add)(x, whole), whole);
    return P(copysign)(P(select_gt)(whole, x, near, x), a);
}
#endif
static INFK_INLINE PF P(floor)(PF a) {
    const PF r = P(round)(a);
    return P(select_gt)(r, a, P(sub)(r, P(set1)(1.0f)), r);
}
static INFK_INLINE PF P(ceil)(PF a) { return P(neg)(P(floor)(P(neg)(a))); }

/* e^r - 1 for |r| <= ln(2) / 2, by Cephes' polynomial. */
static INFK_INLINE PF P(expm1_part)(PF r) {
    PF p = P(set1)(1.9875691500e-4f);
    p = P(fma)(p, r, P(set1)(1.3981999507e-3f));
    p = P(fma)(p, r, P(set1)(8.3334519073e-3f));
    p = P(fma)(p, r, P(set1)(4.1665795894e-2f));
    p = P(fma)(p, r, P(set1)(1.6666665459e-1f));
    p = P(fma)(p, r, P(set1)(5.0000001201e-1f));
    return P(fma)(p, P(mul)(r, r), r);
}
/* n of x = n * ln(2) + r, and r. */
static INFK_INLINE PF P(exp_whole)(PF x) {
    const PF round = P(set1)(12582912.0f);
    return P(sub)(P(fma)(x, P(set1)(0x1.715476p+0f), round), round);
}
static INFK_INLINE PF P(exp_rest)(PF x, PF n) {
    return P(fma)(n, P(set1)(0x1.05c610p-29f), P(fma)(n, P(set1)(-0x1.62e430p-1f), x));
}
#ifndef INFK_HAS_SCALE2
/* a * 2^n in two halves, since n leaves the range of a float's exponent at both ends. */
static INFK_INLINE PF P(scale2)(PF a, PF n) {
    const PF round = P(set1)(12582912.0f);
    const PF half = P(sub)(P(fma)(n, P(set1)(0.5f), round), round);
    return P(mul)(P(mul)(a, P(pow2)(half)), P(pow2)(P(sub)(n, half)));
}
#endif
/* exp(a) = 2^n * e^r with |r| <= ln(2) / 2. NaN passes through the limits (see min and max). */
static INFK_INLINE PF P(exp)(PF a) {
    const PF x = P(min)(P(set1)(89.0f), P(max)(P(set1)(-104.0f), a));
    const PF n = P(exp_whole)(x), p = P(expm1_part)(P(exp_rest)(x, n));
    return P(scale2)(P(add)(p, P(set1)(1.0f)), n);
}
/* e^a - 1 for a <= 0. */
static INFK_INLINE PF P(expm1_neg)(PF a) {
    const PF x = P(max)(P(set1)(-87.0f), a), n = P(exp_whole)(x), two_n = P(pow2)(n);
    return P(fma)(P(expm1_part)(P(exp_rest)(x, n)), two_n, P(sub)(two_n, P(set1)(1.0f)));
}

static INFK_INLINE PF P(silu)(PF a) { return P(div)(a, P(add)(P(set1)(1.0f), P(exp)(P(neg)(a)))); }

/* e^a for a <= 0, but 0 below -80: no denormals, and one step from 2^n. NaN stays NaN. */
static INFK_INLINE PF P(exp_share)(PF a) {
    const PF least = P(set1)(-80.0f), x = P(max)(least, a), n = P(exp_whole)(x), two_n = P(pow2)(n);
    return P(select_gt)(least, a, P(set1)(0.0f), P(fma)(P(expm1_part)(P(exp_rest)(x, n)), two_n, two_n));
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

/* a = 2^exponent * m with m in [sqrt(1/2), sqrt(2)); a is positive, finite and not zero. */
static INFK_INLINE PF P(log_parts)(PF a, PF *out_exponent) {
    const PF tiny = P(set1)(0x1p-126f), big = P(mul)(a, P(set1)(8388608.0f));
    const PF x = P(select_gt)(tiny, a, big, a), m = P(mantissa)(x);
    const PF e = P(add)(P(exponent)(x), P(select_gt)(tiny, a, P(set1)(-23.0f), P(set1)(0.0f)));
    const PF high = P(set1)(0x1.6a09e6p+0f);
    *out_exponent = P(select_gt)(m, high, P(add)(e, P(set1)(1.0f)), e);
    return P(select_gt)(m, high, P(mul)(m, P(set1)(0.5f)), m);
}
/* log at the edges: -inf at 0, +inf at itself, NaN below 0 and at NaN; `inside` elsewhere. */
static INFK_INLINE PF P(log_edges)(PF a, PF inside) {
    const PF inf = P(set1)(INFK_INFINITY), zero = P(set1)(0.0f);
    const PF above = P(select_gt)(inf, a, inside, a);
    const PF nan = P(sub)(inf, inf), below = P(select_gt)(zero, a, nan, P(add)(a, P(neg)(inf)));
    return P(select_gt0)(a, above, below);
}
/* Natural logarithm: Cephes' polynomial in m - 1. */
static INFK_INLINE PF P(log)(PF a) {
    PF e;
    const PF f = P(sub)(P(log_parts)(a, &e), P(set1)(1.0f)), z = P(mul)(f, f);
    PF p = P(set1)(7.0376836292e-2f);
    p = P(fma)(p, f, P(set1)(-1.1514610310e-1f));
    p = P(fma)(p, f, P(set1)(1.1676998740e-1f));
    p = P(fma)(p, f, P(set1)(-1.2420140846e-1f));
    p = P(fma)(p, f, P(set1)(1.4249322787e-1f));
    p = P(fma)(p, f, P(set1)(-1.6668057665e-1f));
    p = P(fma)(p, f, P(set1)(2.0000714765e-1f));
    p = P(fma)(p, f, P(set1)(-2.4999993993e-1f));
    p = P(fma)(p, f, P(set1)(3.3333331174e-1f));
    p = P(fma)(P(set1)(-0.5f), z, P(mul)(P(mul)(f, z), p));
    p = P(fma)(e, P(set1)(-2.12194440e-4f), p);
    return P(log_edges)(a, P(fma)(e, P(set1)(0.693359375f), P(add)(f, p)));
}
/* log(1 + u) for u in [0, 1]: what 1 + u lost is put back. */
static INFK_INLINE PF P(log1p_unit)(PF u) {
    const PF one = P(set1)(1.0f), w = P(add)(one, u);
    return P(add)(P(log)(w), P(div)(P(sub)(u, P(sub)(w, one)), w));
}
static INFK_INLINE PF P(softplus)(PF a) {
    return P(add)(P(max)(P(set1)(0.0f), a), P(log1p_unit)(P(exp)(P(neg)(P(abs)(a)))));
}

/* e^(b * log x) for x >= 0 with the logarithm as a sum of two floats: log m = 2 artanh(s), s = (m - 1) / (m + 1). */
static INFK_INLINE PF P(pow_positive)(PF x, PF b) {
    PF e;
    const PF one = P(set1)(1.0f), m = P(log_parts)(x, &e), top = P(sub)(m, one), bottom = P(add)(m, one);
    const PF s = P(div)(top, bottom), lost = P(sub)(m, P(sub)(bottom, one));
    const PF s_low = P(div)(P(fma)(P(neg)(s), lost, P(fma)(P(neg)(s), bottom, top)), bottom);
    const PF z = P(mul)(s, s);
    PF p = P(set1)(0x1.745d18p-4f);
    p = P(fma)(p, z, P(set1)(0x1.c71c72p-4f));
    p = P(fma)(p, z, P(set1)(0x1.24924ap-3f));
    p = P(fma)(p, z, P(set1)(0x1.99999ap-3f));
    /* s^3 / 3 as a product of two floats each, the series from s^5 on in one. */
    const PF third = P(set1)(0x1.555556p-2f), z_low = P(fma)(s, s, P(neg)(z)), cube = P(mul)(z, s);
    const PF cube_low = P(fma)(z_low, s, P(fma)(z, s, P(neg)(cube))), t = P(mul)(cube, third);
    PF t_low = P(fma)(cube, third, P(neg)(t));
    t_low = P(fma)(cube, P(set1)(-0x1.555556p-27f), P(fma)(cube_low, third, t_low));
    t_low = P(add)(t_low, P(fma)(P(mul)(cube, z), p, P(fma)(z, s_low, s_low)));
    /* high + low = e * ln(2) + 2 * (s + t + ..) */
    const PF ln2 = P(mul)(e, P(set1)(0x1.62e400p-1f)), s2 = P(add)(s, s);
    const PF sum = P(add)(ln2, s2), seen = P(sub)(sum, ln2);
    const PF sum_low = P(add)(P(sub)(ln2, P(sub)(sum, seen)), P(sub)(s2, seen));
    const PF t2 = P(add)(t, t), sum2 = P(add)(sum, t2), seen2 = P(sub)(sum2, sum);
    const PF sum2_low = P(add)(P(sub)(sum, P(sub)(sum2, seen2)), P(sub)(t2, seen2));
    PF low = P(fma)(P(set1)(2.0f), t_low, P(add)(sum_low, sum2_low));
    low = P(fma)(e, P(set1)(0x1.7f7d1cp-20f), low);
    const PF high = P(log_edges)(x, sum2);
    /* b * (high + low), limited as exp does; at the limits the low part has no say. */
    const PF y = P(mul)(b, high), y_low = P(fma)(b, low, P(fma)(b, high, P(neg)(y)));
    const PF v = P(min)(P(set1)(89.0f), P(max)(P(set1)(-104.0f), y));
    const PF v_low = P(select_eq)(v, y, y_low, P(set1)(0.0f));
    const PF n = P(exp_whole)(v), part = P(expm1_part)(P(add)(P(exp_rest)(v, n), v_low));
    return P(scale2)(P(add)(part, one), n);
}
/* C's pow: of a negative number for whole exponents only. */
static INFK_INLINE PF P(pow)(PF a, PF b) {
    const PF x = P(abs)(a), zero = P(set1)(0.0f), one = P(set1)(1.0f), inf = P(set1)(INFK_INFINITY);
    const PF half = P(mul)(b, P(set1)(0.5f)), r = P(pow_positive)(x, b);
    const PF size = P(select_eq)(x, one, one, P(select_eq)(b, zero, one, r));
    /* A zero takes the sign of an odd exponent, hence the sign bit and not a comparison. */
    const PF odd = P(select_eq)(P(round)(b), b, P(select_eq)(P(round)(half), half, one, a), one);
    const PF whole = P(select_eq)(P(round)(b), b, P(copysign)(size, odd), P(sub)(inf, inf));
    const PF kept = P(select_gt)(inf, x, whole, P(copysign)(size, odd));
    const PF signed_size = P(select_gt)(zero, a, kept, P(copysign)(size, odd));
    return P(select_eq)(b, zero, one, P(select_eq)(a, one, one, signed_size));
}

/* erf(a): an odd polynomial below 0.93, else 1 - e^q. */
static INFK_INLINE PF P(erf)(PF a) {
    const PF x = P(min)(P(set1)(4.0f), P(abs)(a)), z = P(mul)(x, x);
    PF p = P(set1)(-0x1.38e000p-11f);
    p = P(fma)(p, z, P(set1)(0x1.471a58p-8f));
    p = P(fma)(p, z, P(set1)(-0x1.b691b2p-6f));
    p = P(fma)(p, z, P(set1)(0x1.ce1c44p-4f));
    p = P(fma)(p, z, P(set1)(-0x1.812700p-2f));
    p = P(fma)(p, z, P(set1)(0x1.06eba8p-3f));
    const PF small = P(fma)(p, x, x);
    PF q = P(fma)(P(set1)(-0x1.220000p-16f), x, P(set1)(0x1.91cfb2p-12f));
    q = P(fma)(q, z, P(fma)(P(set1)(-0x1.fd1438p-9f), x, P(set1)(0x1.8d6342p-6f)));
    q = P(fma)(q, x, P(set1)(-0x1.b55cb8p-4f));
    q = P(fma)(q, x, P(set1)(-0x1.450aa0p-1f));
    q = P(fma)(q, x, P(set1)(-0x1.079d0cp-3f));
    q = P(fma)(q, x, P(neg)(x));
    const PF large = P(sub)(P(set1)(1.0f), P(exp)(q));
    return P(copysign)(P(select_gt)(P(set1)(0.927734375f), x, small, large), a);
}

/* sin(a + turns * pi / 2). a = n * pi / 2 + r with pi / 2 in three parts; past 2^22 quarter turns NaN, since r has no
 * digits left. */
static INFK_INLINE PF P(sin_turned)(PF a, PF turns) {
    const PF round = P(set1)(12582912.0f), limit = P(set1)(4194304.0f);
    const PF n = P(sub)(P(fma)(a, P(set1)(0x1.45f306p-1f), round), round);
    PF r = P(fma)(n, P(set1)(-0x1.921fb0p+0f), a);
    r = P(fma)(n, P(set1)(-0x1.5110b4p-22f), r);
    r = P(fma)(n, P(set1)(-0x1.846988p-48f), r);
    const PF z = P(mul)(r, r), one = P(set1)(1.0f), half = P(set1)(0.5f);
    PF p = P(set1)(0x1.80a000p-19f);
    p = P(fma)(p, z, P(set1)(-0x1.a0690cp-13f));
    p = P(fma)(p, z, P(set1)(0x1.111182p-7f));
    p = P(fma)(p, z, P(set1)(-0x1.555556p-3f));
    const PF sine = P(fma)(p, P(mul)(r, z), r);
    PF q = P(set1)(0x1.9a8000p-16f);
    q = P(fma)(q, z, P(set1)(-0x1.6c0efap-10f));
    q = P(fma)(q, z, P(set1)(0x1.555550p-5f));
    q = P(fma)(q, z, P(set1)(-0.5f));
    const PF cosine = P(fma)(q, z, one), k = P(add)(n, turns);
    const PF quarter = P(fma)(P(floor)(P(mul)(k, P(set1)(0.25f))), P(set1)(-4.0f), k);
    const PF odd = P(fma)(P(floor)(P(mul)(quarter, half)), P(set1)(-2.0f), quarter);
    const PF size = P(select_gt)(odd, half, cosine, sine);
    const PF inf = P(set1)(INFK_INFINITY), y = P(select_gt)(quarter, P(set1)(1.5f), P(neg)(size), size);
    return P(select_gt)(limit, P(abs)(n), y, P(sub)(inf, inf));
}
static INFK_INLINE PF P(sin)(PF a) {
    return P(select_eq)(a, P(set1)(0.0f), a, P(sin_turned)(a, P(set1)(0.0f)));
}
static INFK_INLINE PF P(cos)(PF a) { return P(sin_turned)(a, P(set1)(1.0f)); }

/* a * tanh(log(1 + e^a)) = a * n / (n + 2) with n = e * (e + 2), e = e^a; from 20 on that is a. */
static INFK_INLINE PF P(mish)(PF a) {
    const PF e = P(exp)(P(min)(P(set1)(20.0f), a)), two = P(set1)(2.0f), n = P(mul)(e, P(add)(e, two));
    return P(mul)(a, P(div)(n, P(add)(n, two)));
}
static INFK_INLINE PF P(gelu_tanh)(PF a) {
    const PF cubic = P(fma)(P(mul)(P(mul)(a, a), a), P(set1)(0.044715f), a);
    const PF t = P(tanh)(P(mul)(cubic, P(set1)(0x1.988454p-1f)));
    return P(mul)(P(mul)(P(set1)(0.5f), a), P(add)(P(set1)(1.0f), t));
}

/* Activations of recurrent layers by code, with parameters as bits of an f32; what goes in is limited to +-clip unless
 * that is 0. */
static INFK_INLINE PF P(activate)(ptrdiff_t code, ptrdiff_t alpha_bits, ptrdiff_t beta_bits,
                                  ptrdiff_t clip, PF a) {
    const PF alpha = P(set1)(s_float((uint32_t)alpha_bits)), beta = P(set1)(s_float((uint32_t)beta_bits));
    const PF one = P(set1)(1.0f), zero = P(set1)(0.0f), limit = P(set1)(s_float((uint32_t)clip));
    if (clip) a = P(min)(limit, P(max)(P(neg)(limit), a));
    switch (code) {
    case 0: return P(div)(one, P(add)(one, P(exp)(P(neg)(a)))); /* Sigmoid */
    case 1: return P(tanh)(a);
    case 2: return P(max)(zero, a);                                     /* Relu */
    case 3: return P(fma)(alpha, a, beta);                              /* Affine */
    case 4: return P(select_gt0)(a, a, P(mul)(a, alpha));               /* LeakyRelu */
    case 5: return P(select_gt)(alpha, a, zero, a);                     /* ThresholdedRelu */
    case 6: return P(mul)(alpha, P(tanh)(P(mul)(beta, a)));             /* ScaledTanh */
    case 7: return P(max)(zero, P(min)(one, P(fma)(alpha, a, beta)));   /* HardSigmoid */
    case 8: return P(select_gt0)(a, a, P(mul)(alpha, P(expm1_neg)(a))); /* Elu */
    case 9: return P(div)(a, P(add)(one, P(abs)(a)));                   /* Softsign */
    default: return P(softplus)(a);
    }
}
