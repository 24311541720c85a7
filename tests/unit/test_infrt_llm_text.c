/* Answers as text: whole characters, stop strings, prompts that are text. */
#include "infrt_fake_tokenizer.h"
#include "infrt_llm.h"
#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

static infc_llm_info info;
static infc_model model;

typedef struct told {
    infrt_llm_finish finish;
    uint32_t n;
    char text[4096];
    int32_t ids[FAKE_CONTEXT];
} told;

static told ask(infrt_llm *llm, const infrt_llm_request *request) {
    told t = {0};
    infrt_llm_id id;
    infrt_llm_event event;
    infrt_error error = {0};
    size_t n = 0;
    if (infrt_llm_submit(llm, request, &id, &error) != INFRT_OK) fail_msg("%s", error.text);
    while (!t.finish) {
        if (infrt_llm_step(llm, NULL, &error) != INFRT_OK) fail_msg("%s", error.text);
        while (infrt_llm_poll(llm, id, &event)) {
            t.finish = event.finish;
            memcpy(t.text + n, event.text, event.text_bytes);
            n += event.text_bytes;
            if (event.token >= 0 && !event.finish) t.ids[t.n++] = event.token;
            if (event.text_bytes) assert_true(((unsigned char)event.text[0] & 0xc0) != 0x80);
        }
    }
    assert_int_equal(fake_wrongs, 0);
    return t;
}

static infrt_llm *engine(void) {
    infrt_llm *llm;
    infrt_llm_config config = {.workers = 1};
    infrt_error error = {0};
    model = fake_text_model(&info);
    if (infrt_llm_open(&model, &config, &llm, &error) != INFRT_OK) fail_msg("%s", error.text);
    return llm;
}

static void test_prompt(void **state) {
    (void)state;
    infrt_llm *llm = engine();
    const int32_t expected[] = {1, 10, 11, 31, 32}; /* <s> h i and the two bytes of é */
    int32_t ids[8] = {0};
    uint32_t n;
    infrt_llm_request request = {.text = "hi\xc3\xa9", .max_tokens = 20, .ignore_eos = true};
    assert_int_equal(infrt_llm_encode(&model, &request, ids, 8, &n, NULL), INFRT_OK);
    assert_int_equal(n, 5);
    assert_memory_equal(ids, expected, sizeof expected);
    told t = ask(llm, &request);
    int32_t all[FAKE_CONTEXT];
    memcpy(all, expected, sizeof expected);
    for (uint32_t i = 0; i < 20; i++) {
        all[5 + i] = fake_next(all, 5 + i);
        assert_int_equal(t.ids[i], all[5 + i]);
    }
    infrt_llm_close(&llm);
}

static void test_text(void **state) {
    (void)state;
    infrt_llm *llm = engine();
    char text[4096];
    for (int32_t first = 0; first < FAKE_VOCAB; first++) {
        infrt_llm_request request = {.tokens = &first, .n_tokens = 1, .ignore_eos = first % 2};
        told t = ask(llm, &request);
        fake_text(t.ids, t.n, text);
        assert_string_equal(t.text, text);
    }
    infrt_llm_close(&llm);
}

static void test_stops(void **state) {
    (void)state;
    infrt_llm *llm = engine();
    uint32_t stopped = 0;
    for (int32_t first = 0; first < FAKE_VOCAB; first++)
        for (uint32_t length = 1; length <= 3; length++) {
            infrt_llm_request request = {.tokens = &first, .n_tokens = 1, .ignore_eos = true};
            told whole = ask(llm, &request);
            char stop[4] = {0}, *at;
            size_t n = strlen(whole.text);
            memcpy(stop, whole.text + n / 2, length);
            bool characters = true; /* stop strings are characters */
            for (uint32_t i = 0; i < length; i++)
                characters = characters && (unsigned char)stop[i] < 0x80;
            if (!characters) continue;
            const char *stops[] = {"never said", stop};
            request.stop = stops;
            request.n_stop = 2;
            told t = ask(llm, &request);
            at = strstr(whole.text, stop);
            assert_int_equal(t.finish, INFRT_LLM_STOP);
            assert_int_equal(strlen(t.text), (size_t)(at - whole.text));
            assert_memory_equal(t.text, whole.text, (size_t)(at - whole.text));
            stopped++;
        }
    assert_true(stopped > 100);
    /* What might have begun one is told when the answer ends otherwise. */
    for (uint32_t most = 1; most < 20; most++) {
        infrt_llm_request request = {.text = "x", .ignore_eos = true, .max_tokens = most};
        told whole = ask(llm, &request);
        char stop[64];
        snprintf(stop, sizeof stop, "%.60s#", whole.text);
        const char *stops[] = {stop};
        request.stop = stops;
        request.n_stop = 1;
        told t = ask(llm, &request);
        assert_string_equal(t.text, whole.text);
        assert_int_equal(t.finish, INFRT_LLM_LENGTH);
    }
    infrt_llm_close(&llm);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_prompt), cmocka_unit_test(test_text),
                                       cmocka_unit_test(test_stops)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
