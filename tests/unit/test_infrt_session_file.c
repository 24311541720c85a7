/* Sessions: what a cache holds goes to a file and into another engine; what is no such file is refused. */
#include "engine.h"
#include "engine_session.h"
#include "infrt_fake_answers.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>
#include <cmocka.h>

static const int32_t prompt[150] = {3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5};
static char path[64];

static infrt_llm *engine(uint32_t blocks) {
    infrt_llm *llm;
    infrt_error error = {0};
    const infrt_llm_config config = {.workers = 1, .kv_bytes = (uint64_t)blocks * FAKE_BLOCK_BYTES};
    if (infrt_llm_open(&fake_llm, &config, &llm, &error) != INFRT_OK) fail_msg("%s", error.text);
    return llm;
}

/* Every token of the answer is the right one; returns how many of the prompt were there already. */
static uint32_t answer(infrt_llm *llm, uint32_t n, uint64_t salt, int32_t tokens[FAKE_CONTEXT]) {
    const infrt_llm_request request = {
        .tokens = prompt, .n_tokens = n, .max_tokens = 20, .ignore_eos = true, .salt = salt};
    infrt_llm_id id;
    assert_int_equal(infrt_llm_submit(llm, &request, &id, NULL), INFRT_OK);
    memcpy(tokens, prompt, n * sizeof *tokens);
    const infrt_llm_event event = fake_finish(llm, id, tokens, n);
    assert_int_equal(llm->pool.n_free, llm->pool.n_blocks);
    assert_int_equal(fake_wrongs, 0);
    return event.n_reused;
}

static uint32_t save(infrt_llm *llm, const int32_t *tokens, uint32_t n, uint64_t salt) {
    const infrt_llm_request all = {.tokens = tokens, .n_tokens = n, .salt = salt};
    infrt_error error = {0};
    uint32_t saved;
    if (infrt_llm_session_save(llm, &all, path, &saved, &error) != INFRT_OK)
        fail_msg("%s", error.text);
    return saved;
}

static infrt_status restore(infrt_llm *llm, uint64_t salt, uint32_t *n, infrt_error *error) {
    const infrt_llm_request like = {.salt = salt};
    *error = (infrt_error){0};
    return infrt_llm_session_restore(llm, &like, path, n, error);
}

/* 100 + 20 tokens, of which 119 were computed: three blocks. A conversation goes on as if it had never stopped. */
static void test_goes_on(void **state) {
    (void)state;
    int32_t tokens[FAKE_CONTEXT];
    infrt_error error;
    uint32_t n;
    infrt_llm *first = engine(20), *second = engine(20), *small = engine(7);
    assert_int_equal(answer(first, 100, 0, tokens), 0);
    assert_int_equal(save(first, tokens, 120, 0), 96);
    assert_int_equal(restore(second, 0, &n, &error), INFRT_OK);
    assert_int_equal(n, 96);
    assert_int_equal(second->pool.n_free, 20);
    assert_int_equal(answer(second, 100, 0, tokens), 96);
    assert_int_equal(restore(second, 0, &n, &error), INFRT_OK); /* what is there already is not doubled */
    assert_int_equal(answer(second, 150, 1, tokens), 0);        /* another salt does not see it */
    assert_int_equal(answer(small, 150, 2, tokens), 0);
    assert_int_equal(restore(small, 0, &n, &error), INFRT_OK); /* older ones make room */
    assert_int_equal(n, 96);
    assert_int_equal(answer(small, 130, 0, tokens), 96);
    infrt_llm_close(&first);
    infrt_llm_close(&second);
    infrt_llm_close(&small);
}

static infrt_llm_session *session_of(const infrt_llm *llm, const infrt_llm_request *request) {
    infrt_llm_session *s;
    assert_int_equal(infrt_llm_session_create(llm, request, &s, NULL), INFRT_OK);
    return s;
}

/* A block at a time, with an answer to something else after each, in a cache of 7 blocks: what these drive out ends a
 * session that is saved, and one that is restored; what is left of both is right. */
static void test_in_parts(void **state) {
    (void)state;
    int32_t tokens[FAKE_CONTEXT], others[FAKE_CONTEXT];
    for (uint32_t blocks = 7; blocks <= 20; blocks += 13) {
        infrt_llm *llm = engine(blocks), *second = engine(blocks);
        bool more = true;
        answer(llm, 100, 0, tokens);
        const infrt_llm_request all = {.tokens = tokens, .n_tokens = 120}, like = {0};
        infrt_llm_session *s = session_of(llm, &all);
        for (uint64_t salt = 1; more; salt++) {
            assert_int_equal(infrt_llm_session_fetch(llm, s, 1, &more, NULL), INFRT_OK);
            if (more) answer(llm, 150, salt, others);
        }
        const uint32_t saved = infrt_llm_session_tokens(s);
        assert_true(blocks == 7 ? saved == 32 : saved == 96);
        assert_int_equal(infrt_llm_session_write(s, path, NULL), INFRT_OK);
        infrt_llm_session_destroy(&s);
        s = session_of(second, &like);
        assert_int_equal(infrt_llm_session_read(s, path, "it", NULL), INFRT_OK);
        for (uint64_t salt = 1; infrt_llm_session_put(second, s, 1); salt++)
            answer(second, 40, salt, others);
        assert_int_equal(infrt_llm_session_tokens(s), saved);
        infrt_llm_session_destroy(&s);
        assert_int_equal(answer(second, 130, 0, tokens), saved);
        infrt_llm_close(&llm);
        infrt_llm_close(&second);
    }
}

/* A cache that is filled as fast as it is restored to: that ends, too. */
static void test_driven_out(void **state) {
    (void)state;
    int32_t tokens[FAKE_CONTEXT];
    infrt_llm *llm = engine(20), *small = engine(7);
    answer(llm, 100, 0, tokens);
    save(llm, tokens, 120, 0);
    const infrt_llm_request like = {0};
    infrt_llm_session *s = session_of(small, &like);
    assert_int_equal(infrt_llm_session_read(s, path, "it", NULL), INFRT_OK);
    for (uint64_t salt = 1; infrt_llm_session_put(small, s, 1); salt++) {
        assert_true(salt < 20);
        answer(small, 150, salt, tokens);
    }
    infrt_llm_session_destroy(&s);
    infrt_llm_close(&llm);
    infrt_llm_close(&small);
}

/* Messages go into the file and come back, beside ids; with nothing to compute there are no blocks. */
static void test_messages(void **state) {
    (void)state;
    static const infrt_llm_message said[] = {{"system", ""}, {"user", "a"}, {"assistant", "bc"}};
    int32_t tokens[FAKE_CONTEXT];
    infrt_error error = {0};
    infrt_llm *llm = engine(20);
    answer(llm, 100, 0, tokens);
    for (uint32_t n = 1; n <= 120; n += 119) {
        const infrt_llm_request all = {.messages = said, .n_messages = 3, .tokens = tokens, .n_tokens = n};
        uint32_t saved, i = 0;
        assert_int_equal(infrt_llm_session_save(llm, &all, path, &saved, &error), INFRT_OK);
        assert_int_equal(saved, n == 1 ? 0 : 96);
        const infrt_llm_request like = {0};
        infrt_llm_session *s = session_of(llm, &like);
        assert_int_equal(infrt_llm_session_read(s, path, "it", &error), INFRT_OK);
        infrt_llm_message m;
        for (const char *at = NULL; infrt_llm_session_message(s, &at, &m); i++) {
            assert_string_equal(m.role, said[i].role);
            assert_string_equal(m.content, said[i].content);
        }
        assert_int_equal(i, 3);
        infrt_llm_session_destroy(&s);
    }
    infrt_llm_close(&llm);
}

static void test_of_others(void **state) {
    (void)state;
    int32_t tokens[FAKE_CONTEXT];
    infrt_error error;
    uint32_t n;
    infrt_llm *llm = engine(20);
    answer(llm, 100, 5, tokens);
    assert_int_equal(save(llm, tokens, 120, 5), 96);
    assert_int_equal(restore(llm, 0, &n, &error), INFRT_ERR_DATA);
    assert_non_null(strstr(error.text, "another salt"));
    const infc_model other = {.source_sha256 = "01"};
    infc_model changed = fake_llm;
    changed.source_sha256 = other.source_sha256;
    llm->model = &changed;
    assert_int_equal(restore(llm, 5, &n, &error), INFRT_ERR_DATA);
    assert_non_null(strstr(error.text, "another model"));
    llm->model = &fake_llm;
    llm->weights.hash ^= 1;
    assert_int_equal(restore(llm, 5, &n, &error), INFRT_ERR_DATA);
    assert_non_null(strstr(error.text, "other weights"));
    llm->weights.hash ^= 1;
    assert_int_equal(restore(llm, 5, &n, &error), INFRT_OK);
    llm->reuse = false;
    assert_int_equal(restore(llm, 5, &n, &error), INFRT_ERR_USAGE);
    infrt_llm_close(&llm);
}

static void file_write(const char *bytes, size_t n) {
    FILE *out = fopen(path, "w");
    assert_non_null(out);
    assert_int_equal(fwrite(bytes, 1, n, out), n);
    fclose(out);
}

/* Cut at every length, each byte flipped: refused, and the cache is as it was. */
static void test_damaged(void **state) {
    (void)state;
    static char whole[4096], spoilt[4096];
    int32_t tokens[FAKE_CONTEXT];
    infrt_error error;
    uint32_t n;
    infrt_llm *llm = engine(20), *fresh = engine(20);
    answer(llm, 100, 0, tokens);
    save(llm, tokens, 120, 0);
    FILE *in = fopen(path, "r");
    const size_t bytes = fread(whole, 1, sizeof whole, in);
    fclose(in);
    assert_true(bytes > 600 && bytes < sizeof whole);
    for (size_t i = 0; i < bytes; i += i < 128 ? 1 : 13) {
        file_write(whole, i);
        assert_int_equal(restore(fresh, 0, &n, &error), INFRT_ERR_DATA);
        memcpy(spoilt, whole, bytes);
        spoilt[i] ^= 4;
        file_write(spoilt, bytes);
        assert_int_equal(restore(fresh, 0, &n, &error), INFRT_ERR_DATA);
        assert_int_equal(n, 0);
    }
    assert_int_equal(fresh->pool.n_named, 0);
    file_write(whole, bytes);
    assert_int_equal(restore(fresh, 0, &n, &error), INFRT_OK);
    infrt_llm_close(&llm);
    infrt_llm_close(&fresh);
}

/* What cannot be written leaves what was there. */
static void test_kept(void **state) {
    (void)state;
    int32_t tokens[FAKE_CONTEXT];
    infrt_error error = {0};
    uint32_t n;
    infrt_llm *llm = engine(20);
    answer(llm, 100, 0, tokens);
    const infrt_llm_request all = {.tokens = tokens, .n_tokens = 120};
    assert_int_equal(infrt_llm_session_save(llm, &all, "/dev/full/x", &n, &error), INFRT_ERR_IO);
    assert_int_equal(infrt_llm_session_save(llm, &all, "/nowhere/x", &n, NULL), INFRT_ERR_IO);
    assert_int_equal(n, 0);
    infrt_llm_close(&llm);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_goes_on),    cmocka_unit_test(test_in_parts),
        cmocka_unit_test(test_driven_out), cmocka_unit_test(test_messages),
        cmocka_unit_test(test_of_others),  cmocka_unit_test(test_damaged),
        cmocka_unit_test(test_kept),
    };
    snprintf(path, sizeof path, "/tmp/infrt-session-%ld", (long)getpid());
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    unlink(path);
    return failed;
}
