/* Outputs as classes: order, confidence, rows, ties, NaN. */
#include "app_classes.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

static const char *const labels[] = {"cat", "dog", "eel"};
static const infc_tensor_info two_rows = {
    .name = "scores", .dtype = INFC_DTYPE_f32, .rank = 2, .dims = {2, 3}, .bytes = 24};
static const infc_classes_info top2 = {.n_labels = 3, .top = 2, .labels = labels};

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
    assert_true(fabs(best[0].confidence - 0.66524096) < 1e-7);
    assert_true(fabs(best[1].confidence - 0.24472847) < 1e-7);
    infrt_classes_best(&two_rows, &top2, scores, 1, best);
    assert_string_equal(best[0].label, "eel");
    assert_true(best[0].confidence == 1);
}

static void test_probabilities_stay(void **state) {
    (void)state;
    const float scores[] = {0.25f, 0.25f, 0.5f, 0, 0, 1};
    infrt_class best[INFRT_CLASSES_MAX];
    assert_int_equal(infrt_classes_best(&two_rows, &top2, scores, 0, best), 2);
    assert_true(best[0].confidence == 0.5);
    assert_int_equal(best[1].index, 0); /* of equals the first */
    assert_true(best[1].confidence == 0.25);
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
    assert_true(isnan(best[0].confidence) && isnan(best[2].confidence)); /* a sum with a NaN is none */
    assert_int_equal(infrt_classes_best(&two_rows, &all, scores, 1, best), 3);
    assert_true(isnan(best[0].confidence));
    const float masked[] = {-INFINITY, 3, -INFINITY, 1, INFINITY, 0};
    assert_int_equal(infrt_classes_best(&two_rows, &all, masked, 0, best), 3);
    assert_true(best[0].confidence == 1 && best[1].confidence == 0);
    assert_int_equal(infrt_classes_best(&two_rows, &all, masked, 1, best), 3);
    assert_true(best[0].index == 1 && isnan(best[0].confidence));
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
        cmocka_unit_test(test_logits),
        cmocka_unit_test(test_probabilities_stay),
        cmocka_unit_test(test_nan_comes_last),
        cmocka_unit_test(test_without_labels),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
