/* Logits of a whole text over a fake model whose logits depend on every token that it finds through the tables. */
#include "infrt_fake_answers.h"

static void expect_all_free(const infrt_llm *llm) {
    infrt_llm_facts facts;
    infrt_llm_describe(llm, &facts);
    assert_int_equal(facts.kv_blocks_free, facts.kv_blocks);
    assert_int_equal(fake_wrongs, 0);
}

/* A request answers as ever. */
static void answer_one(infrt_llm *llm) {
    int32_t tokens[80] = {1, 2, 3};
    infrt_llm_id id;
    const infrt_llm_request request = {.tokens = tokens, .n_tokens = 3, .max_tokens = 70, .ignore_eos = true};
    assert_int_equal(infrt_llm_submit(llm, &request, &id, NULL), INFRT_OK);
    fake_finish(llm, id, tokens, 3);
}

typedef struct scored {
    const int32_t *tokens;
    uint32_t next, most;
} scored;

/* Each row of logits is that of its position, and they come in order. */
static bool score_seen(void *self, uint32_t position, const float *logits) {
    scored *s = self;
    uint64_t hash = fake_hash_start();
    int32_t cell = 0;
    assert_int_equal(position, s->next++);
    for (uint32_t i = 0; i <= position; i++)
        hash = fake_hash_add(hash, cell = fake_cell_of(cell, s->tokens[i]));
    for (uint32_t id = 0; id < FAKE_VOCAB; id++) assert_true(logits[id] == fake_logit(hash, id));
    return s->next < s->most;
}

static void test_score(void **state) {
    (void)state;
    int32_t text[FAKE_CONTEXT + 1], prompt[] = {1, 2, 3};
    infrt_error error = {0};
    for (uint32_t i = 0; i <= FAKE_CONTEXT; i++)
        text[i] = (int32_t)(infc_check_random(9, i, 0) % FAKE_VOCAB);
    for (uint32_t chunk = 1; chunk <= FAKE_CHUNK; chunk += 21) {
        infrt_llm *llm;
        const infrt_llm_config config = {.workers = 1, .chunk = chunk};
        assert_int_equal(infrt_llm_open(&fake_llm, &config, &llm, &error), INFRT_OK);
        answer_one(llm); /* leaves named blocks behind */
        static const uint32_t firsts[] = {0, 1, 100, FAKE_CONTEXT - 1, FAKE_CONTEXT};
        for (size_t i = 0; i < sizeof firsts / sizeof *firsts; i++) {
            scored s = {text, firsts[i], UINT32_MAX};
            assert_int_equal(infrt_llm_score(llm, text, FAKE_CONTEXT, firsts[i], score_seen, &s, &error), INFRT_OK);
            assert_int_equal(s.next, FAKE_CONTEXT);
            expect_all_free(llm);
        }
        scored some = {text, 5, 8};
        assert_int_equal(infrt_llm_score(llm, text, 60, 5, score_seen, &some, &error), INFRT_OK);
        assert_true(some.next == 8);
        answer_one(llm);
        assert_int_equal(infrt_llm_score(llm, text, FAKE_CONTEXT + 1, 0, score_seen, &some, &error), INFRT_ERR_USAGE);
        text[3] = FAKE_VOCAB;
        assert_int_equal(infrt_llm_score(llm, text, 5, 0, score_seen, &some, &error), INFRT_ERR_USAGE);
        text[3] = 0;
        fake_fails_at = 0;
        assert_true(infrt_llm_score(llm, text, 5, 0, score_seen, &some, &error) != INFRT_OK);
        expect_all_free(llm);
        infrt_llm_id id;
        infrt_llm_request request = {.tokens = prompt, .n_tokens = 3, .max_tokens = 2};
        assert_int_equal(infrt_llm_submit(llm, &request, &id, &error), INFRT_OK);
        assert_int_equal(infrt_llm_score(llm, text, 5, 0, score_seen, &some, &error), INFRT_ERR_USAGE);
        infrt_llm_close(&llm);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_score)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
