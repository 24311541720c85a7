/* Between ready and the result nothing is allocated: malloc and its kin are counted while a session runs, and
 * while the command `run` is inside the model. */
#include "infrt_fake_program.h"
#include <stdatomic.h>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || !defined(__GLIBC__)
#define COUNTED 0 /* a sanitizer's own malloc stands in the way */
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || __has_feature(memory_sanitizer)
#define COUNTED 0
#else
#define COUNTED 1
#endif
#else
#define COUNTED 1
#endif

static _Atomic int counting, n_calls;

#if COUNTED
void *__libc_malloc(size_t bytes);
void *__libc_calloc(size_t n, size_t bytes);
void *__libc_realloc(void *memory, size_t bytes);
void __libc_free(void *memory);

static void count(void) {
    if (atomic_load(&counting)) atomic_fetch_add(&n_calls, 1);
}
void *malloc(size_t bytes) { return count(), __libc_malloc(bytes); }
void *calloc(size_t n, size_t bytes) { return count(), __libc_calloc(n, bytes); }
void *realloc(void *memory, size_t bytes) { return count(), __libc_realloc(memory, bytes); }
void free(void *memory) {
    count();
    __libc_free(memory);
}
#endif

static void test_counter_counts(void **state) {
    (void)state;
    atomic_store(&counting, 1);
    void *volatile memory = malloc(10);
    free(memory);
    atomic_store(&counting, 0);
    assert_int_equal(atomic_exchange(&n_calls, 0), COUNTED ? 2 : 0);
}

static void test_session_runs(void **state) {
    (void)state;
    infc_model model = fake_model_make();
    fake_payload payload = fake_payload_make(0);
    infrt_weights weights = {.data = &payload, .bytes = sizeof payload};
    float x[FAKE_X] = {0}, y[FAKE_Y];
    for (uint32_t n = 1; n <= 4; n++) {
        infrt_session *session;
        assert_int_equal(infrt_session_create(&model, &weights, n, &session, NULL), INFRT_OK);
        atomic_store(&counting, 1);
        for (int run = 0; run < 20; run++)
            infrt_session_run(session, (const void *[]){x}, (void *[]){y}, NULL, NULL);
        atomic_store(&counting, 0);
        assert_int_equal(atomic_exchange(&n_calls, 0), 0);
        infrt_session_destroy(&session);
    }
}

/* Counts from the first call of the model's code to the last return; exit code 9 when something allocated. */
static int runs_left;
static int watched_run(const infc_call *call) {
    atomic_store(&counting, 1);
    int status = fake_run(call);
    if (--runs_left == 0) {
        atomic_store(&counting, 0);
        if (atomic_load(&n_calls)) _exit(9);
    }
    return status;
}

static void test_command_run(void **state) {
    (void)state;
    infc_model model = fake_program_make();
    float x[FAKE_X] = {0};
    put_file("x.raw", x, sizeof x);
    model.run = watched_run;
    runs_left = 10;
    expect_fine(&model,
                "run --input x.raw --repeat 10 --dump-tensor all --dump-to m.npz --profile t.json");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_counter_counts),
        cmocka_unit_test(test_session_runs),
        cmocka_unit_test(test_command_run),
    };
    if (!mkdtemp(work_dir)) return 1;
    return program_tests_end(cmocka_run_group_tests(tests, NULL, NULL));
}
