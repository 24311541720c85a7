/* adapter_norms.c: the factors of DoRA against norms in double of matrices with an indexing of their own. */
#include "adapter_norms.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

enum { K = 131, N = 37, RANK = 5 }; /* no multiples of anything */
static float w[2][N][K], a[RANK * K], b[N * RANK], magnitudes[N];
static char payload; /* where the model's weights would begin */
static _Atomic bool unwanted;
static int panels, last_panel; /* asked for; after which it is no longer wanted */

static void panel_of(const void *weights, uint32_t module, uint32_t panel, float *out) {
    assert_ptr_equal(weights, &payload);
    unwanted = ++panels == last_panel;
    for (uint32_t k = 0; k < K; k++)
        for (uint32_t l = 0; l < 16; l++)
            out[k * 16 + l] = panel * 16 + l < N ? w[module][panel * 16 + l][k] : 1e30f;
}

static float value(uint32_t i) { return (float)(i * 2654435761u % 1999u) / 1000.0f - 1.0f; }

static const infc_adapter_module module = {.name = "q", .inputs = K, .outputs = N};
static const infc_adapter_info info = {
    .max_rank = 16, .layers = 2, .n_modules = 1, .modules = &module, .panel = panel_of};
static const infc_llm_info llm = {.adapters = &info};
static const infc_model model = {.llm = &llm};
static const infrt_adapter_tensor of_a = {.rows = RANK, .columns = K, .data = (const char *)a},
                                  of_b = {.rows = N, .columns = RANK, .data = (const char *)b},
                                  of_m = {.name = "m", .rows = N, .columns = 1, .data = (const char *)magnitudes};

static void fill(void) {
    for (uint32_t i = 0; i < 2 * N * K; i++) (&w[0][0][0])[i] = value(i + 1);
    for (uint32_t i = 0; i < RANK * K; i++) a[i] = value(i * 3 + 7);
    for (uint32_t i = 0; i < N * RANK; i++) b[i] = value(i * 5 + 11);
    for (uint32_t i = 0; i < N; i++) magnitudes[i] = value(i * 7 + 2);
}

static infrt_status factors(uint64_t number, float *out, infrt_error *error) {
    const infrt_adapter_pair pair = {&of_a, &of_b, &of_m, RANK, 0.375f};
    *error = (infrt_error){0};
    const infrt_adapter_base base = {&model, &payload, "path", &unwanted};
    return infrt_adapter_factors(&base, number, &pair, out, error);
}

static void are_magnitudes_by_norms(void **state) {
    infrt_error error;
    float got[N];
    (void)state;
    fill();
    for (uint32_t number = 0; number < 2; number++) {
        assert_int_equal(factors(number, got, &error), INFRT_OK);
        for (uint32_t n = 0; n < N; n++) {
            double square = 0;
            for (uint32_t k = 0; k < K; k++) {
                double v = (double)w[number][n][k];
                for (uint32_t r = 0; r < RANK; r++)
                    v += 0.375 * (double)b[n * RANK + r] * (double)a[r * K + k];
                square += v * v;
            }
            const double want = (double)magnitudes[n] / sqrt(square);
            assert_true(fabs((double)got[n] - want) <= 2e-6 * fabs(want));
        }
    }
}

/* A row of zeros has no direction, and a magnitude by a norm may be too large for f32. */
static void are_numbers(void **state) {
    infrt_error error;
    float got[N];
    (void)state;
    fill();
    memset(w[1][N - 1], 0, sizeof w[1][N - 1]);
    memset(b + (N - 1) * RANK, 0, RANK * sizeof *b);
    assert_int_equal(factors(0, got, &error), INFRT_OK);
    assert_int_equal(factors(1, got, &error), INFRT_ERR_DATA);
    assert_string_equal(
        error.text,
        "path: tensor \"m\": element 36 by the norm of its row of weights, 0, is no number");
    w[1][N - 1][0] = 0.125f;
    magnitudes[N - 1] = 3e38f;
    assert_int_equal(factors(1, got, &error), INFRT_ERR_DATA);
    magnitudes[N - 1] = 1;
    w[1][N - 1][0] = 1e19f;
    assert_int_equal(factors(1, got, &error), INFRT_OK);
    assert_true(fabs((double)got[N - 1] - 1e-19) < 1e-25);
    w[1][N - 1][0] = 2e19f; /* its square is more than f32 holds: a factor of 0 would say that this is endless */
    assert_int_equal(factors(1, got, &error), INFRT_ERR_DATA);
}

/* D1: whoever waits for it may leave. */
static void ends_when_unwanted(void **state) {
    infrt_error error;
    float got[N];
    (void)state;
    fill();
    panels = 0;
    last_panel = 2;
    assert_int_equal(factors(0, got, &error), INFRT_ERR_USAGE);
    assert_int_equal(panels, 2); /* of 3 */
    last_panel = 0;
    unwanted = false;
    assert_int_equal(factors(0, got, &error), INFRT_OK);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(are_magnitudes_by_norms),
        cmocka_unit_test(are_numbers),
        cmocka_unit_test(ends_when_unwanted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
