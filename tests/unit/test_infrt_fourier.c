/* The Fourier transform against the sum that defines it, and the logarithm against the C library's. */
#include "runtime/prepare/audio_features.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <cmocka.h>

enum { MOST = 400 };
static double turns[2 * MOST], in[2 * MOST], out[2 * MOST], room[2 * MOST];

static void lengths(void **state) {
    (void)state;
    static const uint32_t all[] = {1, 2, 3, 4, 5, 7, 8, 12, 16, 25, 49, 97, 128, 240, 321, 400};
    const double pi = acos(-1.0);
    for (size_t t = 0; t < sizeof all / sizeof *all; t++) {
        const uint32_t n = all[t];
        for (uint32_t k = 0; k < n; k++) {
            turns[2 * k] = cos(2 * pi * k / n), turns[2 * k + 1] = -sin(2 * pi * k / n);
            in[2 * k] = sin(k * 1.7 + 0.3), in[2 * k + 1] = cos(k * k * 0.9);
        }
        infrt_fourier_run(&(infrt_fourier){n, turns}, n, in, 1, out, room);
        for (uint32_t k = 0; k < n; k++) {
            double re = 0, im = 0;
            for (uint32_t j = 0; j < n; j++) {
                const double c = cos(2 * pi * (double)(j * k % n) / n),
                             s = -sin(2 * pi * (double)(j * k % n) / n);
                re += in[2 * j] * c - in[2 * j + 1] * s;
                im += in[2 * j] * s + in[2 * j + 1] * c;
            }
            assert_true(fabs(re - out[2 * k]) < 1e-12 * n && fabs(im - out[2 * k + 1]) < 1e-12 * n);
        }
    }
}

static void logarithm(void **state) {
    (void)state;
    for (double x = 1e-300; x < 1e300; x *= 1.37) {
        const double want = log(x);
        assert_true(fabs(infrt_audio_ln(x) - want) <= 4e-16 * fabs(want) + 4e-17);
    }
    assert_true(infrt_audio_ln(1) == 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(lengths), cmocka_unit_test(logarithm)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
