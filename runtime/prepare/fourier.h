/* fourier.h - the discrete Fourier transform of any length, in double precision, sums in a fixed order.
 *
 * Static functions: generated code and tests include it. No memory but the caller's, no libc. The time is
 * proportional to n times the sum of n's prime factors.
 * SPDX-License-Identifier: MIT */
#ifndef INFRT_FOURIER_H
#define INFRT_FOURIER_H
#include <stddef.h>
#include <stdint.h>

/* Complex numbers are two doubles. turns: n of them, e^(-2 pi i k / n). */
typedef struct infrt_fourier {
    uint32_t n;
    const double *turns;
} infrt_fourier;

static inline uint32_t infrt_fourier_factor(uint32_t n) {
    if (n % 4 == 0) return 4;
    for (uint32_t p = 2; p * p <= n; p++)
        if (n % p == 0) return p;
    return n;
}

/* out[q] = sum over r < 4 of t[r] * (-i)^(q r) */
static inline void infrt_fourier_four(const double *t, double *out, size_t step) {
    const double ar = t[0] + t[4], ai = t[1] + t[5], br = t[0] - t[4], bi = t[1] - t[5];
    const double cr = t[2] + t[6], ci = t[3] + t[7], dr = t[2] - t[6], di = t[3] - t[7];
    out[0] = ar + cr, out[1] = ai + ci;
    out[step] = br + di, out[step + 1] = bi - dr;
    out[2 * step] = ar - cr, out[2 * step + 1] = ai - ci;
    out[3 * step] = br - di, out[3 * step + 1] = bi + dr;
}

static inline void infrt_fourier_prime(const infrt_fourier *f, uint32_t p, const double *t,
                                       double *out, size_t step) {
    for (uint32_t q = 0; q < p; q++) {
        double re = t[0], im = t[1];
        for (uint32_t r = 1, at = q; r < p; r++) {
            const double *w = f->turns + 2 * (size_t)at * (f->n / p);
            re += t[2 * r] * w[0] - t[2 * r + 1] * w[1];
            im += t[2 * r] * w[1] + t[2 * r + 1] * w[0];
            at += q;
            if (at >= p) at -= p;
        }
        out[q * step] = re, out[q * step + 1] = im;
    }
}

/* Joins p transforms of length m, one after the other in `out`, into one of length p * m. t: 2 p doubles. */
static inline void infrt_fourier_join(const infrt_fourier *f, uint32_t p, uint32_t m, double *out, double *t) {
    const size_t turn = f->n / (p * m), step = 2 * (size_t)m;
    for (uint32_t k = 0; k < m; k++) {
        for (uint32_t r = 0; r < p; r++) {
            const double *w = f->turns + 2 * turn * r * k, *x = out + r * step + 2 * (size_t)k;
            t[2 * r] = x[0] * w[0] - x[1] * w[1];
            t[2 * r + 1] = x[0] * w[1] + x[1] * w[0];
        }
        if (p == 4) infrt_fourier_four(t, out + 2 * (size_t)k, step);
        else infrt_fourier_prime(f, p, t, out + 2 * (size_t)k, step);
    }
}

/* out[0..n) = transform of in[0], in[stride], ...: `n` is f->n at the outermost call. t: 2 f->n doubles. */
static inline void infrt_fourier_run(const infrt_fourier *f, uint32_t n, const double *in,
                                     size_t stride, double *out, double *t) {
    if (n == 1) {
        out[0] = in[0], out[1] = in[1];
        return;
    }
    const uint32_t p = infrt_fourier_factor(n), m = n / p;
    for (uint32_t r = 0; r < p; r++)
        infrt_fourier_run(f, m, in + 2 * stride * r, stride * p, out + 2 * (size_t)r * m, t);
    infrt_fourier_join(f, p, m, out, t);
}

#endif
