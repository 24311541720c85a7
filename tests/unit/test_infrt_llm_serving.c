/* What an engine with many clients does for each: salts, deadlines, bounded queues, a bounded time of steps. */
#include "engine.h"
#include "infrt_fake_answers.h"
#include "infrt_os.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <time.h>
#include <cmocka.h>

static infrt_llm *engine(infrt_llm_config config) {
    infrt_llm *llm;
    infrt_error error = {0};
    config.workers = 1;
    if (infrt_llm_open(&fake_llm, &config, &llm, &error) != INFRT_OK) fail_msg("%s", error.text);
    return llm;
}

static infrt_llm_id submit(infrt_llm *llm, const infrt_llm_request *request) {
    infrt_llm_id id;
    infrt_error error = {0};
    if (infrt_llm_submit(llm, request, &id, &error) != INFRT_OK) fail_msg("%s", error.text);
    return id;
}

static void expect_all_free(const infrt_llm *llm) {
    assert_int_equal(llm->pool.n_free, llm->pool.n_blocks);
    assert_int_equal(fake_wrongs, 0);
}

static infrt_llm_event finish(infrt_llm *llm, infrt_llm_id id, const int32_t *prompt, uint32_t n) {
    int32_t tokens[FAKE_CONTEXT];
    memcpy(tokens, prompt, n * sizeof *tokens);
    return fake_finish(llm, id, tokens, n);
}

static const int32_t prompt[150] = {3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5};

/* Requests find what those of the same salt left, and nothing else. */
static void test_salt(void **state) {
    (void)state;
    static const struct {
        uint64_t salt;
        uint32_t reused;
    } cases[] = {{0, 0},  {0, 96},
                 {1, 0},  {2, 0},
                 {1, 96}, {2, 96},
                 {0, 96}, {UINT64_C(1) << 63, 0},
                 {3, 0},  {UINT64_C(1) << 63, 96}};
    infrt_llm *llm = engine((infrt_llm_config){.kv_bytes = (uint64_t)40 * FAKE_BLOCK_BYTES});
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        infrt_llm_request request = {
            .tokens = prompt, .n_tokens = 100, .max_tokens = 5, .ignore_eos = true, .salt = cases[i].salt};
        infrt_llm_event event = finish(llm, submit(llm, &request), prompt, 100);
        assert_int_equal(event.n_reused, cases[i].reused);
        assert_int_equal(event.n_answer, 5);
        expect_all_free(llm);
    }
    infrt_llm_close(&llm);
}

static void sleep_until(uint64_t ns) {
    while (infrt_os_now_ns() < ns) {
        const struct timespec a_little = {.tv_nsec = 200000};
        nanosleep(&a_little, NULL);
    }
}

/* Waiting, in its prompt, in its answer; seen by a poll and by a step. */
static void test_deadline(void **state) {
    (void)state;
    infrt_llm *llm = engine((infrt_llm_config){.chunk = 8, .forgetful = true});
    for (int steps = 0; steps < 20; steps++) {
        infrt_llm_event event = {0};
        infrt_llm_request request = {.tokens = prompt, .n_tokens = 40, .ignore_eos = true};
        request.deadline_ns = infrt_os_now_ns() + 3000000;
        infrt_llm_id id = submit(llm, &request);
        for (int i = 0; i < steps; i++) assert_int_equal(infrt_llm_step(llm, NULL, NULL), INFRT_OK);
        sleep_until(request.deadline_ns);
        if (steps % 2) assert_int_equal(infrt_llm_step(llm, NULL, NULL), INFRT_OK);
        while (infrt_llm_poll(llm, id, &event)) {}
        assert_int_equal(event.finish, INFRT_LLM_DEADLINE);
        assert_true(event.n_answer <= (uint32_t)steps);
        expect_all_free(llm);
    }
    infrt_llm_request request = {.tokens = prompt, .n_tokens = 3, .max_tokens = 5, .ignore_eos = true};
    request.deadline_ns = UINT64_MAX;
    assert_int_equal(finish(llm, submit(llm, &request), prompt, 3).finish, INFRT_LLM_LENGTH);
    assert_string_equal(infrt_llm_finish_name(INFRT_LLM_DEADLINE), "deadline");
    infrt_llm_close(&llm);
}

/* Further tokens are refused while so many wait, and taken once they run. */
static void test_queue_tokens(void **state) {
    (void)state;
    infrt_llm *llm =
        engine((infrt_llm_config){.queue_tokens = 100, .kv_bytes = (uint64_t)40 * FAKE_BLOCK_BYTES});
    infrt_llm_request request = {.tokens = prompt, .n_tokens = 60, .max_tokens = 2, .ignore_eos = true};
    infrt_llm_id ids[2], refused;
    infrt_error error = {0};
    for (int i = 0; i < 2; i++) {
        ids[i] = submit(llm, &request); /* alone */
        assert_int_equal(infrt_llm_submit(llm, &request, &refused, &error), INFRT_ERR_BUSY);
        assert_int_equal(refused, 0);
        assert_non_null(strstr(error.text, "60 tokens wait; with 60 more they are over the 100"));
        assert_int_equal(infrt_exit_code(INFRT_ERR_BUSY), 4);
        assert_int_equal(infrt_llm_step(llm, NULL, NULL), INFRT_OK);
    }
    for (int i = 0; i < 2; i++) finish(llm, ids[i], prompt, 60);
    request.n_tokens = 150; /* more than the limit, but nobody else waits */
    ids[0] = submit(llm, &request);
    request.n_tokens = 1;
    assert_int_equal(infrt_llm_submit(llm, &request, &refused, &error), INFRT_ERR_BUSY);
    infrt_llm_cancel(llm, ids[0]);
    infrt_llm_step(llm, NULL, NULL);
    finish(llm, submit(llm, &request), prompt, 1);
    infrt_llm_close(&llm);
}

/* With a target that cannot be met prompts beside answers get the least, alone all; answers stay right. */
static void test_target(void **state) {
    (void)state;
    infrt_llm *llm =
        engine((infrt_llm_config){.target_itl_ns = 1, .kv_bytes = (uint64_t)40 * FAKE_BLOCK_BYTES});
    infrt_llm_request request = {.tokens = prompt, .n_tokens = 3, .max_tokens = 40, .ignore_eos = true};
    infrt_llm_step_info info;
    infrt_llm_id first = submit(llm, &request), second;
    assert_int_equal(infrt_llm_step(llm, &info, NULL), INFRT_OK);
    request.n_tokens = 150;
    second = submit(llm, &request);
    for (uint32_t left = 150; left > 0; left -= info.prompt_tokens) {
        assert_int_equal(infrt_llm_step(llm, &info, NULL), INFRT_OK);
        assert_int_equal(info.prompt_tokens, left < INFRT_STEP_ROWS_LEAST ? left : INFRT_STEP_ROWS_LEAST);
        assert_int_equal(info.tokens - info.prompt_tokens, 1);
    }
    finish(llm, first, prompt, 3);
    finish(llm, second, prompt, 150);
    request.n_tokens = 149; /* four blocks are there already */
    second = submit(llm, &request);
    assert_int_equal(infrt_llm_step(llm, &info, NULL), INFRT_OK);
    assert_int_equal(info.prompt_tokens, 149 - 128);
    infrt_llm_close(&llm);
}

/* What the model was compiled with holds unless the program says otherwise. */
static void test_defaults_of_the_model(void **state) {
    (void)state;
    infc_llm_info info = fake_llm_info;
    infc_model model = fake_llm;
    info.kv_bytes = (uint64_t)9 * FAKE_BLOCK_BYTES;
    info.target_itl_ns = 5000;
    info.forgetful = 1;
    model.llm = &info;
    for (int given = 0; given < 2; given++) {
        infrt_llm *llm;
        infrt_llm_config config = {.workers = 1};
        if (given) config.kv_bytes = (uint64_t)11 * FAKE_BLOCK_BYTES, config.target_itl_ns = 6000;
        assert_int_equal(infrt_llm_open(&model, &config, &llm, NULL), INFRT_OK);
        assert_int_equal(llm->pool.n_blocks, given ? 11 : 9);
        assert_int_equal(llm->scheduler.target_ns, given ? 6000 : 5000);
        infrt_llm_request request = {.tokens = prompt, .n_tokens = 100, .max_tokens = 2, .ignore_eos = true};
        for (int i = 0; i < 2; i++)
            assert_int_equal(finish(llm, submit(llm, &request), prompt, 100).n_reused, 0);
        infrt_llm_close(&llm);
    }
}

/* Four of the same prompt cost little more than one, also when the first is cancelled meanwhile. */
static void test_together(void **state) {
    (void)state;
    for (int cancelled_after = 0; cancelled_after < 4; cancelled_after++) {
        infrt_llm *llm = engine((infrt_llm_config){.chunk = 40, .kv_bytes = (uint64_t)40 * FAKE_BLOCK_BYTES});
        infrt_llm_request request = {.tokens = prompt, .n_tokens = 150, .max_tokens = 2, .ignore_eos = true};
        infrt_llm_step_info info;
        infrt_llm_id ids[4];
        uint32_t prompts = 0;
        for (int i = 0; i < 4; i++) ids[i] = submit(llm, &request);
        for (int step = 0; step < 12; step++) {
            if (cancelled_after && step == cancelled_after) infrt_llm_cancel(llm, ids[0]);
            assert_int_equal(infrt_llm_step(llm, &info, NULL), INFRT_OK);
            prompts += info.prompt_tokens;
        }
        /* What was computed of the block that the cancelled one was in is lost. */
        assert_in_range(prompts, 150 + 2 * 22, 150 + 3 * 22 + (cancelled_after ? 32 : 0));
        for (int i = 0; i < 4; i++) {
            infrt_llm_event event = finish(llm, ids[i], prompt, 150);
            assert_int_equal(event.finish, i == 0 && cancelled_after ? INFRT_LLM_CANCELLED : INFRT_LLM_LENGTH);
        }
        expect_all_free(llm);
        infrt_llm_close(&llm);
    }
}

/* How many of these have an answer. */
static int begun(infrt_llm *llm, const infrt_llm_id *ids, int n) {
    infrt_llm_event event;
    int count = 0;
    for (int i = 0; i < n; i++) count += infrt_llm_poll(llm, ids[i], &event);
    return count;
}

/* One that comes last is the next to run: of a lower priority, or of a tenant that has nothing yet. */
static void test_turns(void **state) {
    (void)state;
    for (int by_tenant = 0; by_tenant < 2; by_tenant++) {
        infrt_llm *llm =
            engine((infrt_llm_config){.forgetful = true, .kv_bytes = (uint64_t)40 * FAKE_BLOCK_BYTES});
        infrt_llm_request request = {.tokens = prompt, .n_tokens = 20, .max_tokens = 30, .ignore_eos = true};
        infrt_llm_id ids[9];
        request.tenant = "many";
        for (int i = 0; i < 8; i++) ids[i] = submit(llm, &request);
        assert_int_equal(infrt_llm_step(llm, NULL, NULL), INFRT_OK);
        if (by_tenant) request.tenant = "few";
        else request.priority = -1;
        ids[8] = submit(llm, &request);
        for (int step = 0; !begun(llm, ids + 8, 1); step++) {
            assert_true(step < 40);
            assert_int_equal(begun(llm, ids + 4, 4), 0);
            assert_int_equal(infrt_llm_step(llm, NULL, NULL), INFRT_OK);
        }
        infrt_llm_close(&llm);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_salt),
                                       cmocka_unit_test(test_deadline),
                                       cmocka_unit_test(test_queue_tokens),
                                       cmocka_unit_test(test_target),
                                       cmocka_unit_test(test_together),
                                       cmocka_unit_test(test_turns),
                                       cmocka_unit_test(test_defaults_of_the_model)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
