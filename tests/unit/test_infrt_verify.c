/* The command verify finds models that are wrong in the ways it looks for, and passes one that is right. */
#include "infrt_fake_program.h"

/* The recorded result: inputs by the self-check's rule, the model's arithmetic done again here. */
static uint64_t recorded_hash(uint64_t seed) {
    float y[FAKE_Y];
    for (uint64_t i = 0; i < FAKE_Y; i++) {
        y[i] = 0.5f;
        for (uint64_t c = 0; c < FAKE_C; c++)
            y[i] += 2 * infc_check_f32(seed, 0, (i / FAKE_S * FAKE_C + c) * FAKE_S + i % FAKE_S) + 1;
    }
    return infc_check_hash_f32(INFC_CHECK_START, y, FAKE_Y);
}

static void expect_failure(const infc_model *model, const char *words) {
    assert_int_equal(program_run(model, "verify --threads 2"), 1);
    expect_has(caught_out, "FAIL");
    expect_has(caught_out, words);
}

static void test_right(void **state) {
    (void)state;
    infc_model model = fake_program_make();
    model.check_seed = 7;
    model.check_hash = recorded_hash(7);
    expect_fine(&model, "verify");
    expect_has(caught_out, "ok   weights      128 bytes");
    expect_has(caught_out, "ok   workers 4    outputs hash to");
    expect_has(caught_out, "as recorded: 15 runs over 5 kinds of old memory");
    expect_fine(&model, "verify --threads 3 --json");
    expect_has(caught_out, "\"name\": \"workers 3\"");
    expect_has(caught_out, "\"ok\": true\n}");
}

static void test_nothing_recorded(void **state) {
    (void)state;
    infc_model model = fake_program_make();
    expect_fine(&model, "verify --threads 1");
    expect_has(caught_out, "skipped: the compiler recorded no result");
    fake_payload other = fake_payload_make(3);
    put_file("w.weights", &other, sizeof other);
    model.check_hash = recorded_hash(0);
    expect_fine(&model, "verify --threads 1 --weights w.weights");
    expect_has(caught_out, "skipped: these are other weights");
}

static void test_other_result(void **state) {
    (void)state;
    infc_model model = fake_program_make();
    model.check_hash = recorded_hash(0) ^ 1;
    expect_failure(&model, "the compiler recorded");
}

static void test_damaged_weights(void **state) {
    (void)state;
    infc_model model = fake_program_make();
    program_weights.bias[3] = 1;
    expect_failure(&model, "the weights are damaged");
    model = fake_program_make();
    model.weights_hash ^= 1;
    expect_failure(&model, "but the code was compiled with");
}

/* Reads arena memory that it has not written. */
static int stale_run(const infc_call *call) {
    int status = fake_run(call);
    if (call->worker == 0) ((float *)call->outputs[0])[0] = ((const float *)call->arena)[1];
    return status;
}
/* Gives another result when shared. */
static int divided_run(const infc_call *call) {
    int status = fake_run(call);
    if (call->n_workers > 1 && call->worker == 0) ((float *)call->outputs[0])[0] = 42;
    return status;
}
/* Leaves an output element as it was. */
static int partial_run(const infc_call *call) {
    float *y = call->outputs[0], before = y[FAKE_Y - 1];
    int status = fake_run(call);
    y[FAKE_Y - 1] = before;
    return status;
}
/* Writes after its output. */
static int overrun_run(const infc_call *call) {
    int status = fake_run(call);
    ((float *)call->outputs[0])[FAKE_Y] = 0;
    return status;
}
static int failing_run(const infc_call *call) {
    (void)call;
    return INFC_RUN_BAD_ARGUMENT;
}

#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define RACES_ARE_REPORTED
#endif
#endif

static void test_wrong_code(void **state) {
    (void)state;
#ifdef RACES_ARE_REPORTED
    skip(); /* these are wrong on purpose, and their workers race */
#endif
    static const struct {
        int (*run)(const infc_call *call);
        const char *words;
    } faults[] = {
        {stale_run, "(memory held ffffffff before)"},
        {divided_run, "FAIL workers 2"},
        {partial_run, "(memory held"},
        {overrun_run, "wrote outside of its outputs"},
        {failing_run, "the model's code refused the call"},
    };
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        infc_model model = fake_program_make();
        model.run = faults[i].run;
        expect_failure(&model, faults[i].words);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_right),        cmocka_unit_test(test_nothing_recorded),
        cmocka_unit_test(test_other_result), cmocka_unit_test(test_damaged_weights),
        cmocka_unit_test(test_wrong_code),
    };
    if (!mkdtemp(work_dir)) return 1;
    return program_tests_end(cmocka_run_group_tests(tests, NULL, NULL));
}
