/* How many rows of prompts a step takes, on machines made of numbers. */
#include "step_time.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

enum { MOST = 512 };
#define TARGET UINT64_C(20000000)
#define TARGET_NS 20000000.0

/* A step of this machine: a base for the weights, a cost for each row. */
static uint64_t step_ns(double base, double row, uint32_t answers, uint32_t prompts) {
    return (uint64_t)(base + row * (answers + prompts));
}

static uint32_t go_on(infrt_step_time *time, double base, double row, uint32_t answers, int steps) {
    uint32_t rows = 0;
    for (int i = 0; i < steps; i++) {
        rows = infrt_step_time_rows(time, TARGET, MOST);
        infrt_step_time_learn(time, answers, rows, step_ns(base, row, answers, rows));
    }
    return rows;
}

static void expect_near_target(double base, double row, uint32_t answers, uint32_t rows) {
    const double ns = (double)step_ns(base, row, answers, rows);
    if (ns < 0.9 * TARGET_NS || ns > 1.05 * TARGET_NS) fail_msg("%u rows: %.0f ns", rows, ns);
}

static void test_finds_target(void **state) {
    (void)state;
    for (uint32_t answers = 1; answers <= 64; answers *= 4) {
        infrt_step_time known = {0}, unknown = {0};
        for (int i = 0; i < 20; i++)
            infrt_step_time_learn(&known, answers, 0, step_ns(2e6, 1e5, answers, 0));
        expect_near_target(2e6, 1e5, answers, go_on(&known, 2e6, 1e5, answers, 20));
        expect_near_target(2e6, 1e5, answers, go_on(&unknown, 2e6, 1e5, answers, 100)); /* no step without prompts */
        if (answers < 64) /* longer contexts; 64 alone would take all of it */
            expect_near_target(2e6, 3e5, answers, go_on(&known, 2e6, 3e5, answers, 60));
        if (answers > 1)
            expect_near_target(2e6, 1e5, 1, go_on(&known, 2e6, 1e5, 1, 100)); /* the others have ended */
    }
}

static void test_begins_small(void **state) {
    (void)state;
    infrt_step_time time = {0};
    assert_int_equal(infrt_step_time_rows(&time, TARGET, MOST), INFRT_STEP_ROWS_LEAST);
    assert_int_equal(infrt_step_time_rows(&time, TARGET, 3), 3);
    infrt_step_time_learn(&time, 0, 512, (uint64_t)512 * 100000); /* known from a prompt alone */
    assert_int_equal(infrt_step_time_rows(&time, TARGET, MOST), 200);
    assert_int_equal(infrt_step_time_rows(&time, TARGET, 100), 100);
    infrt_step_time_learn(&time, 1, 0, TARGET + 1); /* answers alone take too long: prompts go on */
    assert_int_equal(infrt_step_time_rows(&time, TARGET, MOST), INFRT_STEP_ROWS_LEAST);
}

/* One step that took a hundred times as long costs an eighth. */
static void test_delayed(void **state) {
    (void)state;
    infrt_step_time time = {0};
    const uint32_t before = go_on(&time, 2e6, 1e5, 8, 100);
    infrt_step_time_learn(&time, 8, before, 100 * TARGET);
    assert_true(infrt_step_time_rows(&time, TARGET, MOST) >= before * 8 / 9 - 1);
    infrt_step_time_learn(&time, 8, before, 0);
    assert_true(infrt_step_time_rows(&time, TARGET, MOST) <= MOST);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_finds_target),
                                       cmocka_unit_test(test_begins_small), cmocka_unit_test(test_delayed)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
