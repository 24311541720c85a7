/* The sampler: sets that may be drawn from, frequencies against softmax in double precision, penalties by hand. */
#include "sampler.h"
#include "sampler_math.h"
#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <cmocka.h>

enum { N = 6, DRAWS = 20000 };
static const float logits6[N] = {1.0f, 3.0f, 2.0f, -1.0f, 3.0f, 0.5f};
static infrt_history nothing_before = {NULL, 0, 0};

static int32_t sample(const float *logits, infrt_llm_sampling how, infrt_history history) {
    infrt_sampler s;
    assert_true(infrt_sampler_init(&s, N, N));
    int32_t id = infrt_sample(&s, logits, &how, &history);
    for (uint32_t i = 0; i < N; i++) assert_int_equal(s.counts[i], 0);
    infrt_sampler_deinit(&s);
    return id;
}

/* How often each id comes, over seeds and positions. */
static void frequencies(const float *logits, infrt_llm_sampling how, double out[N]) {
    infrt_sampler s;
    assert_true(infrt_sampler_init(&s, N, N));
    for (uint32_t i = 0; i < N; i++) out[i] = 0;
    for (uint32_t i = 0; i < DRAWS; i++) {
        how.seed = i / 100;
        infrt_history history = {NULL, 0, i % 100};
        int32_t id = infrt_sample(&s, logits, &how, &history);
        assert_in_range(id, 0, N - 1);
        out[id] += 1.0 / (double)DRAWS;
    }
    infrt_sampler_deinit(&s);
}

/* Softmax of the ids whose bit is set in `kept`. */
static void expect_softmax(const float *logits, double temperature, unsigned kept, const double *got) {
    double sum = 0;
    for (int i = 0; i < N; i++) sum += kept >> i & 1 ? exp((double)logits[i] / temperature) : 0;
    for (int i = 0; i < N; i++) {
        double p = kept >> i & 1 ? exp((double)logits[i] / temperature) / sum : 0;
        double sigma = sqrt(p * (1 - p) / (double)DRAWS);
        if (fabs(got[i] - p) > 4.5 * sigma + 1e-9)
            fail_msg("id %d: drawn %g, not %g", i, got[i], p);
    }
}

static void test_draws(void **state) {
    (void)state;
    double got[N];
    frequencies(logits6, (infrt_llm_sampling){.temperature = 1}, got);
    expect_softmax(logits6, 1, 0x3f, got);
    frequencies(logits6, (infrt_llm_sampling){.temperature = 2.5f}, got);
    expect_softmax(logits6, 2.5, 0x3f, got);
    frequencies(logits6, (infrt_llm_sampling){.temperature = 1, .top_k = 3}, got);
    expect_softmax(logits6, 1, 1u << 1 | 1u << 4 | 1u << 2, got);
    frequencies(logits6, (infrt_llm_sampling){.temperature = 1, .top_k = 1}, got);
    expect_softmax(logits6, 1, 1u << 1, got); /* of equals, the lower id */
    /* exp: 20.09 (twice), 7.39, 2.72, 1.65, 0.37 of 52.3: 0.38, 0.77, 0.91, 0.96, 0.99, 1 */
    frequencies(logits6, (infrt_llm_sampling){.temperature = 1, .top_p = 0.3f}, got);
    expect_softmax(logits6, 1, 1u << 1, got);
    frequencies(logits6, (infrt_llm_sampling){.temperature = 1, .top_p = 0.8f}, got);
    expect_softmax(logits6, 1, 1u << 1 | 1u << 4 | 1u << 2, got);
    frequencies(logits6, (infrt_llm_sampling){.temperature = 1, .top_p = 0.95f}, got);
    expect_softmax(logits6, 1, 1u << 1 | 1u << 4 | 1u << 2 | 1u << 0, got);
    /* of the three best, the first two have 0.84 */
    frequencies(logits6, (infrt_llm_sampling){.temperature = 1, .top_k = 3, .top_p = 0.8f}, got);
    expect_softmax(logits6, 1, 1u << 1 | 1u << 4, got);
    /* e^-1 = 0.37, e^-2 = 0.14, e^-2.5 = 0.08, e^-4 = 0.02 of the largest */
    frequencies(logits6, (infrt_llm_sampling){.temperature = 1, .min_p = 0.1f}, got);
    expect_softmax(logits6, 1, 1u << 0 | 1u << 1 | 1u << 2 | 1u << 4, got);
    frequencies(logits6, (infrt_llm_sampling){.temperature = 1, .top_k = 5, .min_p = 0.1f}, got);
    expect_softmax(logits6, 1, 1u << 0 | 1u << 1 | 1u << 2 | 1u << 4, got);
}

static void test_greedy(void **state) {
    (void)state;
    infrt_llm_bias bias[] = {{1, -INFINITY}, {5, 2.25f}};
    assert_int_equal(sample(logits6, (infrt_llm_sampling){0}, nothing_before), 1);
    assert_int_equal(sample(logits6, (infrt_llm_sampling){.bias = bias, .n_bias = 1}, nothing_before), 4);
    bias[1].add = 2.75f;
    assert_int_equal(sample(logits6, (infrt_llm_sampling){.bias = bias, .n_bias = 2}, nothing_before), 5);
    assert_int_equal(sample(logits6, (infrt_llm_sampling){.temperature = 1e-6f}, nothing_before) % 3, 1); /* 1 or 4 */
}

static void test_penalties(void **state) {
    (void)state;
    const float logits[N] = {2.0f, 3.0f, -0.5f, -9, -9, -9},
                below[N] = {-1.0f, -1.5f, -9, -9, -9, -9};
    const int32_t prompt[] = {1, 1, 1}, answer[] = {0, 1, 1, 1};
    infrt_history of_prompt = {prompt, 3, 3}, of_answer = {answer, 1, 4};
    /* 3 / 1.4 = 2.14 > 2 > 3 / 1.6 = 1.875: once, however often it was there */
    assert_int_equal(sample(logits, (infrt_llm_sampling){.repetition_penalty = 1.4f}, of_prompt), 1);
    assert_int_equal(sample(logits, (infrt_llm_sampling){.repetition_penalty = 1.6f}, of_prompt), 0);
    /* -1 * 1.6 < -1.5: what is below zero is multiplied */
    assert_int_equal(
        sample(below, (infrt_llm_sampling){.repetition_penalty = 1.6f}, (infrt_history){answer, 1, 1}), 1);
    /* presence and frequency do not look at the prompt; 3 - 0.9 > 2 > 3 - 1.1; 3 - 3 * 0.3 > 2 > 3 - 3 * 0.35 */
    assert_int_equal(sample(logits, (infrt_llm_sampling){.presence_penalty = 1.1f}, of_prompt), 1);
    assert_int_equal(sample(logits, (infrt_llm_sampling){.presence_penalty = 0.9f}, of_answer), 1);
    assert_int_equal(sample(logits, (infrt_llm_sampling){.presence_penalty = 1.1f}, of_answer), 0);
    assert_int_equal(sample(logits, (infrt_llm_sampling){.frequency_penalty = 0.3f}, of_answer), 1);
    assert_int_equal(sample(logits, (infrt_llm_sampling){.frequency_penalty = 0.35f}, of_answer), 0);
    assert_int_equal(
        sample(logits, (infrt_llm_sampling){.presence_penalty = -2}, (infrt_history){answer, 0, 1}), 0);
}

static void test_edges(void **state) {
    (void)state;
    const float nans[N] = {NAN, NAN, -INFINITY, NAN, -2, NAN},
                none[N] = {NAN, -INFINITY, NAN, NAN, NAN, NAN};
    const float huge[N] = {1e38f, -1e38f, FLT_MAX, 3e38f, 0, NAN}, equal[N] = {0};
    const float beyond[N] = {1, INFINITY, 2, 3, 4, 5};
    const infrt_llm_sampling hows[] = {
        {0}, {.temperature = 1}, {.temperature = 1, .top_k = 2}, {.temperature = 1e-30f, .top_p = 0.5f}};
    for (size_t i = 0; i < sizeof hows / sizeof *hows; i++) {
        assert_int_equal(sample(nans, hows[i], nothing_before), 4);
        assert_int_equal(sample(none, hows[i], nothing_before), -1);
        assert_int_equal(sample(huge, hows[i], nothing_before), 2);
        assert_int_equal(sample(beyond, hows[i], nothing_before), -1);
        assert_in_range(sample(equal, hows[i], nothing_before), 0, N - 1);
    }
    /* ids that the tokenizer does not have */
    infrt_sampler s;
    infrt_llm_sampling how = {0};
    assert_true(infrt_sampler_init(&s, N, 1));
    assert_int_equal(infrt_sample(&s, logits6, &how, &nothing_before), 0);
    infrt_sampler_deinit(&s);
}

static void test_logprobs(void **state) {
    (void)state;
    infrt_sampler s;
    infrt_llm_logprob top[4];
    float logprob;
    double sum = 0;
    assert_true(infrt_sampler_init(&s, N, N));
    for (int i = 0; i < N; i++) sum += exp((double)logits6[i]);
    assert_int_equal(infrt_logprobs(&s, logits6, 3, &logprob, top, 4), 4);
    assert_true(fabs((double)logprob - (-1 - log(sum))) < 1e-6);
    static const int32_t order[] = {1, 4, 2, 0};
    for (int i = 0; i < 4; i++) {
        assert_int_equal(top[i].token, order[i]);
        assert_true(fabs((double)top[i].logprob - ((double)logits6[order[i]] - log(sum))) < 1e-6);
    }
    assert_int_equal(infrt_logprobs(&s, logits6, 3, &logprob, NULL, 0), 0);
    infrt_sampler_deinit(&s);
}

static double ulps(float got, double want) {
    float near = (float)want;
    return fabs((double)got - want) / (double)(nextafterf(near, INFINITY) - near);
}

static void test_exp_log(void **state) {
    (void)state;
    for (int i = 0; i < 200000; i++) {
        float x = -87.0f * (float)i / 200000.0f;
        if (ulps(infrt_exp_neg(x), exp((double)x)) > 2) fail_msg("exp(%a)", (double)x);
    }
    for (double v = 1e-30; v < 1e30; v *= 1.0007) {
        float x = (float)v;
        double want = log((double)x);
        if (fabs(want) > 0.1 && ulps(infrt_log(x), want) > 2) fail_msg("log(%a)", v);
        if (fabs((double)infrt_log(x) - want) > 1e-7 + 2e-7 * fabs(want)) fail_msg("log(%a)", v);
    }
    assert_true(infrt_exp_neg(0) == 1 && infrt_exp_neg(-88) == 0 && infrt_exp_neg(-INFINITY) == 0 &&
                infrt_exp_neg(NAN) == 0);
    assert_true(infrt_log(1) == 0);
}

/* Numbers of a separate implementation, in Python. */
static void test_random(void **state) {
    (void)state;
    static const struct {
        uint64_t seed, position;
        double unit;
    } cases[] = {
        {0u, 0u, 0x1.ff7622ac0ea00p-6},
        {0u, 1u, 0x1.53bfbfee7f471p-1},
        {1u, 0u, 0x1.deea1fb42aa87p-1},
        {42u, 1000u, 0x1.dc5d8442c916cp-3},
        {18446744073709551615u, 18446744073709551615u, 0x1.1140638c16042p-2},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_true(infrt_random_unit(cases[i].seed, cases[i].position) == cases[i].unit);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_draws),     cmocka_unit_test(test_greedy),
        cmocka_unit_test(test_penalties), cmocka_unit_test(test_edges),
        cmocka_unit_test(test_logprobs),  cmocka_unit_test(test_exp_log),
        cmocka_unit_test(test_random)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
