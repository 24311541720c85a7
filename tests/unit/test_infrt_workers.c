/* Workers and sessions: every team size, oversubscribed or not, gives the same answer many times over. */
#include "infrt_fake_model.h"
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <cmocka.h>
#include <pthread.h>

typedef struct sum_job {
    const infc_barrier *barrier;
    uint32_t n, wrong;
    uint32_t slots[16], rounds;
} sum_job;

/* Each round: write your slot, meet, check everybody's slot, meet. Plain memory: TSan sees a missing edge. */
static void sum_task(void *self, uint32_t worker) {
    sum_job *job = self;
    for (uint32_t round = 1; round <= job->rounds; round++) {
        job->slots[worker] = round * 100 + worker;
        if (job->barrier) job->barrier->wait(job->barrier->self, worker);
        for (uint32_t i = 0; i < job->n; i++)
            if (job->slots[i] != round * 100 + i)
                __atomic_fetch_add(&job->wrong, 1, __ATOMIC_RELAXED);
        if (job->barrier) job->barrier->wait(job->barrier->self, worker);
    }
}

static void test_barriers(void **state) {
    (void)state;
    const uint32_t sizes[] = {1, 2, 4, 7};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        infrt_workers *team;
        infrt_error error = {0};
        assert_int_equal(infrt_workers_create(sizes[i], &team, &error), INFRT_OK);
        assert_int_equal(infrt_workers_count(team), sizes[i]);
        assert_true((infrt_workers_barrier(team) == NULL) == (sizes[i] == 1));
        for (int run = 0; run < 50; run++) {
            sum_job job = {.barrier = infrt_workers_barrier(team), .n = sizes[i], .rounds = 20};
            infrt_workers_run(team, sum_task, &job);
            assert_int_equal(job.wrong, 0);
        }
        infrt_workers_destroy(&team);
        assert_null(team);
    }
}

static void test_team_sizes_refused(void **state) {
    (void)state;
    infrt_workers *team;
    infrt_error error = {0};
    assert_int_equal(infrt_workers_create(0, &team, &error), INFRT_ERR_USAGE);
    assert_non_null(strstr(error.text, "0 workers"));
    assert_int_equal(infrt_workers_create(INFRT_MAX_WORKERS + 1, &team, NULL), INFRT_ERR_USAGE);
    assert_null(team);
    infrt_workers_destroy(&team);
}

static void test_default_workers(void **state) {
    (void)state;
    infc_model model = fake_model_make();
    assert_int_equal(infrt_model_flops(&model), 3 * FAKE_X);
    assert_int_equal(infrt_workers_default(&model), 1);
    infc_step_info big = {.flops = UINT64_C(1) << 50};
    model.steps = &big;
    model.n_steps = 1;
    assert_int_equal(infrt_workers_default(&model), infrt_workers_available());
    assert_true(infrt_workers_available() >= 1);
}

static void test_session_same_answer(void **state) {
    (void)state;
    infc_model model = fake_model_make();
    fake_payload payload = fake_payload_make(0.5f);
    infrt_weights weights = {.data = &payload, .bytes = sizeof payload};
    float x[FAKE_X], y[FAKE_Y];
    for (int i = 0; i < FAKE_X; i++) x[i] = (float)i;
    for (uint32_t n = 1; n <= 7; n += 2) {
        infrt_session *session;
        infrt_error error = {0};
        assert_int_equal(infrt_session_create(&model, &weights, n, &session, &error), INFRT_OK);
        assert_int_equal((uintptr_t)infrt_session_arena(session) % INFC_ALIGN, 0);
        assert_int_equal(infrt_session_arena_bytes(session), model.arena_bytes);
        for (int run = 0; run < 200; run++) {
            memset(infrt_session_arena(session), run, (size_t)infrt_session_arena_bytes(session));
            memset(y, 0xff, sizeof y);
            assert_int_equal(infrt_session_run(session, (const void *[]){x}, (void *[]){y}, NULL, &error), INFRT_OK);
            for (int i = 0; i < FAKE_Y; i++)
                assert_true(y[i] == fake_expected(i / FAKE_S, i % FAKE_S, 0.5f));
        }
        infrt_session_destroy(&session);
        assert_null(session);
    }
}

static void test_session_chooses(void **state) {
    (void)state;
    infc_model model = fake_model_make();
    fake_payload payload = fake_payload_make(0.5f);
    infrt_weights weights = {.data = &payload, .bytes = sizeof payload};
    infrt_session *session;
    assert_int_equal(infrt_session_create(&model, &weights, 0, &session, NULL), INFRT_OK);
    assert_int_equal(infrt_session_workers(session), infrt_workers_default(&model));
    infrt_session_destroy(&session);
}

typedef struct counts {
    uint32_t begin[4], met[4], step[4][2];
} counts;
static void on_begin(void *self, uint32_t worker) { ((counts *)self)->begin[worker]++; }
static void on_met(void *self, uint32_t worker) { ((counts *)self)->met[worker]++; }
static void on_step(void *self, uint32_t step, uint32_t worker) {
    ((counts *)self)->step[worker][step]++;
}

static void test_watch_sees_each_step_and_barrier(void **state) {
    (void)state;
    infc_model model = fake_model_make();
    fake_payload payload = fake_payload_make(0);
    infrt_weights weights = {.data = &payload, .bytes = sizeof payload};
    float x[FAKE_X] = {0}, y[FAKE_Y];
    for (uint32_t n = 1; n <= 4; n++) {
        infrt_session *session;
        counts seen = {0};
        infrt_watch watch = {.self = &seen, .begin = on_begin, .met = on_met, .step = on_step};
        assert_int_equal(infrt_session_create(&model, &weights, n, &session, NULL), INFRT_OK);
        assert_int_equal(infrt_session_run(session, (const void *[]){x}, (void *[]){y}, &watch, NULL), INFRT_OK);
        for (uint32_t w = 0; w < 4; w++) {
            assert_int_equal(seen.begin[w], w < n);
            assert_int_equal(seen.met[w], n > 1 && w < n);
            assert_int_equal(seen.step[w][0], w < n);
            assert_int_equal(seen.step[w][1], w < n);
        }
        infrt_session_destroy(&session);
    }
}

static int refusing_run(const infc_call *call) {
    return call->worker == call->n_workers - 1 ? INFC_RUN_BAD_ARGUMENT : INFC_RUN_OK;
}

static void test_session_failures(void **state) {
    (void)state;
    infc_model model = fake_model_make();
    fake_payload payload = fake_payload_make(0);
    infrt_weights weights = {.data = &payload, .bytes = sizeof payload}, none = {0};
    infrt_session *session;
    infrt_error error = {0};
    assert_int_equal(infrt_session_create(&model, &none, 1, &session, &error), INFRT_ERR_USAGE);
    model.arena_bytes_per_worker = UINT64_MAX / 2;
    error.status = INFRT_OK;
    assert_int_equal(infrt_session_create(&model, &weights, 4, &session, &error), INFRT_ERR_NO_MEMORY);
    assert_null(session);

    model = fake_model_make();
    model.run = refusing_run;
    error = (infrt_error){0};
    assert_int_equal(infrt_session_create(&model, &weights, 2, &session, &error), INFRT_OK);
    assert_int_equal(infrt_session_run(session, NULL, NULL, NULL, &error), INFRT_ERR_INTERNAL);
    assert_int_equal(infrt_exit_code(error.status), 70);
    infrt_session_destroy(&session);
}

static const char *needs_avx512(void) { return "avx512f"; }

static void test_model_check(void **state) {
    (void)state;
    infc_model model = fake_model_make();
    infrt_error error = {0};
    assert_int_equal(infrt_model_check(&model, &error), INFRT_OK);
    model.cpu_missing = needs_avx512;
    assert_int_equal(infrt_model_check(&model, &error), INFRT_ERR_CPU);
    assert_non_null(strstr(error.text, "this binary needs avx512f"));
    assert_non_null(strstr(error.text, "this CPU lacks it"));
    assert_non_null(strstr(error.text, "--target"));
    assert_int_equal(infrt_exit_code(error.status), 4);
    model.abi = INFC_ABI_VERSION + 1;
    assert_int_equal(infrt_model_check(&model, NULL), INFRT_ERR_DATA);
    model.abi = INFC_ABI_VERSION;
    model.struct_bytes -= 8;
    assert_int_equal(infrt_model_check(&model, NULL), INFRT_ERR_DATA);
}

/* Two programs' worth of sessions side by side: nothing is shared but model and weights. */
static void *other_thread(void *argument) {
    test_session_same_answer(argument);
    return NULL;
}
static void test_sessions_in_threads(void **state) {
    pthread_t threads[3];
    for (int i = 0; i < 3; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, other_thread, state), 0);
    for (int i = 0; i < 3; i++) pthread_join(threads[i], NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_barriers),
        cmocka_unit_test(test_team_sizes_refused),
        cmocka_unit_test(test_default_workers),
        cmocka_unit_test(test_session_same_answer),
        cmocka_unit_test(test_session_chooses),
        cmocka_unit_test(test_watch_sees_each_step_and_barrier),
        cmocka_unit_test(test_session_failures),
        cmocka_unit_test(test_model_check),
        cmocka_unit_test(test_sessions_in_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
