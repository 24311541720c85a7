/* 4 bit with error feedback: products in the order that is promised, the factor of the inputs' squares, and that what
 * is chosen lies on choose_i4's grid, is what the panels hold, and costs less than rounding each weight by itself. */
#include <math.h>
#include <string.h>
#include "compiler/ir/eval.h"
#include "compiler/ir/op_rules.h"
#include "passes/calibrate.h"
#include "cx_fixture.h"

enum { N = 21, K = 192, T = 300 };

/* -1 to 1, the same each time. */
static float noise(uint32_t i) {
    i = (i ^ (i >> 16)) * 0x45d9f3bu;
    i = (i ^ (i >> 16)) * 0x45d9f3bu;
    return (float)((i ^ (i >> 16)) & 0xffff) / 32768.0f - 1.0f;
}

static float *noises(size_t n, uint32_t seed) {
    float *x = INFC_NEW(cx.arena, float, n + 16);
    for (uint32_t i = 0; i < n; i++) x[i] = noise(i + seed);
    return x;
}

/* Rows whose columns depend on each other, as activations do. */
static float *rows(void) {
    float *x = noises(T * K, 1);
    for (ptrdiff_t t = 0; t < T; t++)
        for (ptrdiff_t k = 1; k < K; k++)
            x[t * K + k] = 0.3f * x[t * K + k] + 0.8f * x[t * K + k - 1];
    return x;
}

static void products_have_one_order(void **state) {
    (void)state;
    const float *x = rows(), *w = noises(N * K, 7);
    float *panels = INFC_NEW(cx.arena, float, 32 * K), *y = INFC_NEW(cx.arena, float, T *N),
          *square = INFC_NEW(cx.arena, float, K *K);
    for (ptrdiff_t n = 0; n < N; n++) infc_panel_put(w + n * K, n, K, panels);
    infc_rows_times_panels(x, T, K, panels, N, y);
    for (ptrdiff_t t = 0; t < T; t++)
        for (ptrdiff_t n = 0; n < N; n++) {
            float sum = 0;
            for (ptrdiff_t k = 0; k < K; k++) sum += x[t * K + k] * w[n * K + k];
            assert_true(y[t * N + n] == sum);
        }
    infc_square_of_rows(x, T, K, square);
    for (ptrdiff_t i = 0; i < K; i++)
        for (ptrdiff_t j = i; j < K; j++) {
            double sum = 0;
            for (ptrdiff_t t = 0; t < T; t++) sum += (double)x[t * K + i] * (double)x[t * K + j];
            assert_true(fabs((double)square[i * K + j] - sum) < 1e-3);
        }
}

/* u^T u times (h + d) is the identity. */
static void factor_inverts(void **state) {
    (void)state;
    float *h = INFC_NEW(cx.arena, float, K *K), *u = INFC_NEW(cx.arena, float, K *K);
    double mean = 0;
    infc_square_of_rows(rows(), T, K, h);
    for (ptrdiff_t i = 0; i < K; i++) mean += (double)h[i * K + i] / (double)K;
    for (ptrdiff_t i = 0; i < K; i++)
        for (ptrdiff_t j = 0; j < i; j++) h[i * K + j] = h[j * K + i];
    assert_true(infc_gptq_factor(cx.arena, h, K, 0.01f, u));
    for (ptrdiff_t i = 0; i < K; i++) {
        double row[K] = {0}, through[K] = {0};
        for (ptrdiff_t c = 0; c <= i; c++)
            for (ptrdiff_t j = c; j < K; j++) row[j] += (double)u[c * K + i] * (double)u[c * K + j];
        for (ptrdiff_t c = 0; c < K; c++)
            for (ptrdiff_t j = 0; j < K; j++)
                through[j] += row[c] * ((double)h[c * K + j] + (c == j ? mean * (double)0.01f : 0));
        for (ptrdiff_t j = 0; j < K; j++) assert_true(fabs(through[j] - (i == j)) < 1e-3);
    }
    h[5 * K + 5] = NAN;
    assert_false(infc_gptq_factor(cx.arena, h, K, 0.01f, u));
}

/* What output n becomes, from the form of choose_i4; its grid is checked. */
static void decode(const int8_t *row, float *out) {
    float row_scale;
    memcpy(&row_scale, row + K / 64 * 65, sizeof row_scale);
    for (ptrdiff_t k = 0; k < K; k++) {
        const int code = (uint8_t)row[K + k / 64], scale = code % 16 + 1, zero = code / 16;
        assert_true(row[k] >= 0 && row[k] <= 15 && zero * scale <= 128 && (15 - zero) * scale <= 127);
        out[k] = row_scale * (float)(scale * (row[k] - zero));
    }
}

/* Of outputs: the square of the difference that the change of a row of weights makes over all inputs. */
static double cost(const float *x, const float *w, const float *q) {
    double sum = 0;
    for (ptrdiff_t t = 0; t < T; t++) {
        double off = 0;
        for (ptrdiff_t k = 0; k < K; k++)
            off += (double)x[t * K + k] * ((double)w[k] - (double)q[k]);
        sum += off * off;
    }
    return sum;
}

/* The cost of what choose_i4 makes of w, which it transforms first: so it gets the inverse, the same transform. */
static double one_by_one(const float *x, const float *w, ptrdiff_t rotate) {
    infc_op_desc desc = {.kind = INFC_OP_choose_i4, .n_in = 1, .n_attrs = 2};
    infc_tensor in, made;
    float q[K];
    double sum = 0;
    desc.in[0] = (infc_type){.dtype = INFC_DTYPE_f32, .rank = 2, .dims = {N, K}};
    desc.attrs[0] = infc_attr_int("inputs", K);
    desc.attrs[1] = infc_attr_int("rotate", rotate);
    assert_int_equal(infc_tensor_create(&cx, cx.arena, &desc.in[0], &in), INFC_OK);
    memcpy(in.data, w, N * K * sizeof *w);
    for (ptrdiff_t n = 0; n < N; n++)
        infc_rotate((float *)in.data + n * K, K, rotate, 8.0f / (float)rotate);
    assert_int_equal(infc_eval_op(&cx, cx.arena, &desc, &in, &made), INFC_OK);
    for (ptrdiff_t n = 0; n < N; n++) {
        decode((const int8_t *)made.data + n * infk_chosen_i4_bytes(K), q);
        sum += cost(x, w + n * K, q);
    }
    return sum;
}

static void feedback_pays(void **state) {
    (void)state;
    const float *x = rows();
    float *w = noises(N * K, 99), *h = INFC_NEW(cx.arena, float, K *K),
          *u = INFC_NEW(cx.arena, float, K *K), *panels = INFC_NEW(cx.arena, float, 32 * K),
          importance[K], q[K];
    const ptrdiff_t bytes = infk_chosen_i4_bytes(K);
    int8_t *chosen = INFC_NEW(cx.arena, int8_t, (size_t)(N * bytes));
    memset(w + 3 * K, 0, K * sizeof *w);
    for (ptrdiff_t n = 0; n < N; n++) infc_panel_put(w + n * K, n, K, panels);
    infc_square_of_rows(x, T, K, h);
    for (ptrdiff_t k = 0; k < K; k++) importance[k] = h[k * K + k];
    assert_true(infc_gptq_factor(cx.arena, h, K, 0.01f, u));
    const infc_gptq g = {N, K, u, importance, panels, chosen, bytes};
    infc_gptq_round(&g);

    double with = 0;
    for (ptrdiff_t n = 0; n < N; n++) {
        decode(chosen + n * bytes, q);
        for (ptrdiff_t k = 0; k < K; k++)
            assert_true(fabsf(q[k] - panels[n / 16 * 16 * K + k * 16 + n % 16]) <= 1e-6f * fabsf(q[k]));
        for (ptrdiff_t k = 0; k < K && n == 3; k++) assert_true(q[k] == 0.0f);
        with += cost(x, w + n * K, q);
    }
    assert_true(with < 0.5 * one_by_one(x, w, 64));
    assert_true(with < 0.5 * one_by_one(x, w, 128));
}

static void exp_is_near(void **state) {
    (void)state;
    for (int i = 0; i < 8600; i++) {
        const double x = -0.01 * i;
        assert_true(fabs((double)infc_exp_below((float)x) / exp((double)(float)x) - 1) < 3e-7);
    }
    assert_true(infc_exp_below(-88.0f) == 0.0f && infc_exp_below(0.0f) == 1.0f);
}

/* Three rows, two heads of q, one of k; an element of k that is constant, one that varies, one that is no number, one
 * that hardly varies. The expected values are arithmetic. */
static void keys_are_balanced(void **state) {
    (void)state;
    enum { DIM = 16, ROWS = 3, COLUMNS = 4 * DIM };
    static float qkv[ROWS * COLUMNS], rope[ROWS * DIM], made[3 * DIM];
    for (int t = 0; t < ROWS; t++) {
        float *q = qkv + t * COLUMNS, *k = q + 2 * DIM;
        for (int i = 0; i < DIM; i += 2) rope[t * DIM + i] = 1; /* cosine of no angle */
        q[1] = 1, q[DIM + 1] = -3;                              /* mean square 5 */
        q[3] = q[DIM + 3] = 100;
        k[0] = 5;
        k[1] = (float)t; /* mean 1, variance 2 / 3 */
        k[2] = t ? 1 : NAN;
        k[3] = (float)t / 1024;
    }
    const infc_attention a = {
        .qkv = qkv, .rope = rope, .t = ROWS, .length = ROWS, .heads = 2, .groups = 1, .dim = DIM};
    infc_balance_of(cx.arena, &a, made);
    const double mean[] = {5, 1, 0, 1.0 / 1024, 0}, factor[] = {1, pow(7.5, 0.125), 1, pow(1e4, 0.125), 1};
    for (int i = 0; i < 5; i++) {
        assert_true(made[i] == (float)mean[i]);
        assert_true(fabs((double)made[DIM + i] - factor[i]) < 1e-6);
        assert_true(fabs((double)made[2 * DIM + i] - 1 / factor[i]) < 1e-6);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {CX_TEST(products_have_one_order), CX_TEST(factor_inverts),
                                       CX_TEST(feedback_pays), CX_TEST(exp_is_near),
                                       CX_TEST(keys_are_balanced)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
