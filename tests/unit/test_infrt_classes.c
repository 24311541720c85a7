/* Outputs as classes: order, scores, rows, ties, NaN. */
#include "app_classes.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

static const char *const labels[] = {"cat", "dog", "eel"};
static const infc_tensor_info two_rows = {
    .name = "scores", .dtype = INFC_DTYPE_f32, .rank = 2, .dims = {2, 3}, .bytes = 24};
static const infc_classes_info top2 = {.n_labels = 3, .top = 2, .labels = labels, .scores = INFC_SCORES_softmax};

static void test_logits(void **state) {
    (void)state;
    const float scores[] = {0,     2, 1,
                            -1000, 3, 1000}; /* the second row would overflow a plain exp */
    infrt_class best[INFRT_CLASSES_MAX];
    assert_int_equal(infrt_classes_rows(&two_rows, &top2), 2);
    assert_int_equal(infrt_classes_best(&two_rows, &top2, scores, 0, best), 2);
    assert_string_equal(best[0].label, "dog");
    assert_string_equal(best[1].label, "eel");
    /* softmax of 0, 2, 1 by hand: e^2 / (1 + e + e^2) */
    assert_true(fabs(best[0].score - 0.66524096) < 1e-7);
    assert_true(fabs(best[1].score - 0.24472847) < 1e-7);
    infrt_classes_best(&two_rows, &top2, scores, 1, best);
    assert_string_equal(best[0].label, "eel");
    assert_true(best[0].score == 1);
}

/* Whatever they add up to: the spec decides, not the data. */
static void test_values_stay(void **state) {
    (void)state;
    const float scores[] = {0.25f, 0.25f, 0.5f, -4, 9, 0.75f};
    infrt_class best[INFRT_CLASSES_MAX];
    infc_classes_info plain = top2;
    for (plain.scores = INFC_SCORES_values; plain.scores <= INFC_SCORES_probabilities; plain.scores++) {
        assert_int_equal(infrt_classes_confident(&plain), plain.scores == INFC_SCORES_probabilities);
        assert_int_equal(infrt_classes_best(&two_rows, &plain, scores, 0, best), 2);
        assert_true(best[0].score == 0.5);
        assert_int_equal(best[1].index, 0); /* of equals the first */
        assert_true(best[1].score == 0.25);
        infrt_classes_best(&two_rows, &plain, scores, 1, best);
        assert_true(best[0].score == 9 && best[1].score == 0.75);
    }
    infrt_classes_best(&two_rows, &top2, scores, 0, best); /* softmax also of what adds up to 1 */
    assert_true(fabs(best[0].score - 0.39099132) < 1e-7);  /* e^0.25 / (2 + e^0.25) */
}

static void test_sigmoid(void **state) {
    (void)state;
    const float scores[] = {2, 1.5f, -2, -1000, 1000, 0};
    infc_classes_info sigmoid = top2;
    infrt_class best[INFRT_CLASSES_MAX];
    sigmoid.scores = INFC_SCORES_sigmoid;
    assert_true(infrt_classes_confident(&sigmoid));
    sigmoid.top = 3;
    infrt_classes_best(&two_rows, &sigmoid, scores, 0, best);
    assert_true(fabs(best[0].score - 0.88079708) < 1e-7); /* 1 / (1 + e^-2), and so on */
    assert_true(fabs(best[1].score - 0.81757448) < 1e-7);
    assert_true(fabs(best[2].score - 0.11920292) < 1e-7);
    infrt_classes_best(&two_rows, &sigmoid, scores, 1, best);
    assert_true(best[0].score == 1 && best[1].score == 0.5 && best[2].score == 0);
}

static void test_nan_comes_last(void **state) {
    (void)state;
    const float scores[] = {NAN, 1, 0, NAN, NAN, NAN};
    infc_classes_info all = top2;
    infrt_class best[INFRT_CLASSES_MAX];
    all.top = 10;
    assert_int_equal(infrt_classes_best(&two_rows, &all, scores, 0, best), 3);
    assert_int_equal(best[0].index, 1);
    assert_int_equal(best[2].index, 0);
    assert_true(isnan(best[0].score) && isnan(best[2].score)); /* a sum with a NaN is none */
    assert_int_equal(infrt_classes_best(&two_rows, &all, scores, 1, best), 3);
    assert_true(isnan(best[0].score));
    const float masked[] = {-INFINITY, 3, -INFINITY, 1, INFINITY, 0};
    assert_int_equal(infrt_classes_best(&two_rows, &all, masked, 0, best), 3);
    assert_true(best[0].score == 1 && best[1].score == 0);
    assert_int_equal(infrt_classes_best(&two_rows, &all, masked, 1, best), 3);
    assert_true(best[0].index == 1 && isnan(best[0].score));
}

static void test_without_labels(void **state) {
    (void)state;
    const float scores[] = {0, 0, 9, 0, 0, 0};
    infc_classes_info plain = {.top = 1};
    infrt_class best[INFRT_CLASSES_MAX];
    assert_int_equal(infrt_classes_rows(&two_rows, &plain), 2);
    assert_int_equal(infrt_classes_best(&two_rows, &plain, scores, 0, best), 1);
    assert_string_equal(best[0].label, "2");
    plain.n_labels = 4; /* 6 scores are no rows of 4 */
    assert_int_equal(infrt_classes_rows(&two_rows, &plain), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_logits),         cmocka_unit_test(test_values_stay),
        cmocka_unit_test(test_sigmoid),        cmocka_unit_test(test_nan_comes_last),
        cmocka_unit_test(test_without_labels),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
