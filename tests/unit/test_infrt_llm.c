/* The engine over a fake model whose logits depend on every token that it finds through the tables. */
#include "engine.h"
#include "infrt_fake_llm.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>
#include <cmocka.h>

enum { ANSWER_MOST = FAKE_CONTEXT };

typedef struct answer {
    infrt_llm_finish finish;
    uint32_t n;
    int32_t tokens[ANSWER_MOST];
} answer;

static infrt_llm *engine(infrt_llm_config config) {
    infrt_llm *llm;
    infrt_error error = {0};
    if (!config.workers) config.workers = 1;
    if (infrt_llm_open(&fake_llm, &config, &llm, &error) != INFRT_OK) fail_msg("%s", error.text);
    return llm;
}

static void drain(infrt_llm *llm, infrt_llm_id id, answer *out) {
    infrt_llm_event event;
    while (infrt_llm_poll(llm, id, &event)) {
        out->finish = event.finish;
        if (event.token >= 0 && !event.finish) out->tokens[out->n++] = event.token;
        assert_int_equal(event.n_answer, out->n + (event.finish && event.token >= 0));
    }
}

/* Every block has as many holders as tables have it. */
static void expect_blocks_owned(const infrt_llm *llm) {
    uint32_t *holders = llm->pool.counted;
    memset(holders, 0, llm->pool.n_blocks * sizeof *holders);
    for (uint32_t i = 0; i < llm->facts.requests; i++) {
        const infrt_request *r = &llm->requests[i];
        if (r->job.state != INFRT_JOB_RUNNING) continue;
        assert_true(llm->sequence_taken[r->sequence]);
        assert_true(r->job.n_blocks * FAKE_PER_BLOCK >= r->job.n_computed);
        for (uint32_t b = 0; b < r->job.n_blocks; b++)
            holders[llm->tables[r->sequence * FAKE_MAX_BLOCKS + b]]++;
    }
    assert_true(infrt_kv_pool_check(&llm->pool));
}

/* No block is held or lost, every sequence is free: a request of the whole context runs. */
static void expect_all_free(infrt_llm *llm) {
    infrt_llm_facts facts;
    infrt_llm_describe(llm, &facts);
    assert_int_equal(facts.kv_blocks_free, facts.kv_blocks);
    assert_int_equal(fake_wrongs, 0);
}

static uint64_t random_state;
static uint32_t random_below(uint32_t n) {
    return (uint32_t)(infc_check_random(42, random_state++, 0) >> 33) % n;
}

/* Many begin alike. */
static void prompt_make(int32_t *tokens, uint32_t n) {
    uint32_t same = random_below(2) ? random_below(n + 1) : 0, like = random_below(3);
    for (uint32_t i = 0; i < n; i++)
        tokens[i] = (int32_t)(i < same ? infc_check_random(like, i, 5) % FAKE_VOCAB : random_below(FAKE_VOCAB));
}

/* The answer as the model's definition gives it. */
static void expect_answer(const int32_t *prompt, uint32_t n_prompt, uint32_t limit, bool ignore_eos,
                          const answer *got) {
    int32_t tokens[FAKE_CONTEXT];
    uint32_t n = n_prompt;
    memcpy(tokens, prompt, n_prompt * sizeof *tokens);
    for (uint32_t i = 0; n < limit; i++) {
        int32_t next = fake_next(tokens, n);
        if (next == FAKE_EOS && !ignore_eos) {
            assert_int_equal(got->finish, INFRT_LLM_EOS);
            assert_int_equal(got->n, i);
            return;
        }
        assert_true(i < got->n);
        assert_int_equal(got->tokens[i], next);
        tokens[n++] = next;
    }
    assert_int_equal(got->n, limit - n_prompt);
    assert_true(got->finish == INFRT_LLM_LENGTH || got->finish == INFRT_LLM_CONTEXT);
}

static void run_one(infrt_llm *llm, const int32_t *prompt, uint32_t n, uint32_t max_tokens, bool ignore_eos) {
    answer got = {0};
    infrt_llm_id id;
    infrt_error error = {0};
    infrt_llm_request request = {.tokens = prompt, .n_tokens = n, .max_tokens = max_tokens, .ignore_eos = ignore_eos};
    if (infrt_llm_submit(llm, &request, &id, &error) != INFRT_OK) fail_msg("%s", error.text);
    for (int steps = 0; !got.finish; steps++) {
        assert_true(steps < 1000);
        assert_int_equal(infrt_llm_step(llm, NULL, &error), INFRT_OK);
        drain(llm, id, &got);
    }
    expect_answer(prompt, n, max_tokens ? n + max_tokens : FAKE_CONTEXT, ignore_eos, &got);
    assert_int_equal(got.finish == INFRT_LLM_CONTEXT, !max_tokens && got.n == FAKE_CONTEXT - n);
    expect_all_free(llm);
}

static void test_alone(void **state) {
    (void)state;
    static const uint32_t chunks[] = {1, 7, 32, 64};
    int32_t prompt[FAKE_CONTEXT];
    for (uint32_t workers = 1; workers <= 3; workers++)
        for (uint32_t c = 0; c < 4; c++) {
            infrt_llm *llm = engine((infrt_llm_config){.workers = workers, .chunk = chunks[c]});
            for (uint32_t n = 1; n < FAKE_CONTEXT; n += n < 70 ? 1 + n / 8 : 43) {
                prompt_make(prompt, n);
                run_one(llm, prompt, n, 0, true);
                run_one(llm, prompt, n, 1, false);
            }
            infrt_llm_close(NULL); /* null is fine */
            infrt_llm_adapter_free(NULL);
            infrt_session_destroy(NULL);
            infrt_workers_destroy(NULL);
            infrt_llm_close(&llm);
            assert_null(llm);
        }
}

/* ---- many requests at once ---- */

enum { MANY = 16 };

typedef struct client {
    infrt_llm_id id;
    int32_t prompt[FAKE_CONTEXT];
    uint32_t n, max_tokens, lives; /* steps until it is cancelled; 0: never */
    bool ignore_eos;
    answer got;
} client;

static const char *const tenants[] = {NULL, "", "other"};

static void client_start(infrt_llm *llm, client *c, bool may_cancel) {
    *c = (client){.n = 1 + random_below(random_below(4) ? 40 : FAKE_CONTEXT - 1),
                  .ignore_eos = random_below(2)};
    prompt_make(c->prompt, c->n);
    c->max_tokens =
        random_below(4) ? 1 + random_below(FAKE_CONTEXT - c->n < 60 ? FAKE_CONTEXT - c->n : 60) : 0;
    if (may_cancel && random_below(4) == 0) c->lives = 1 + random_below(50);
    infrt_error error = {0};
    infrt_llm_request request = {
        .tokens = c->prompt, .n_tokens = c->n, .max_tokens = c->max_tokens, .ignore_eos = c->ignore_eos};
    if (random_below(2)) { /* the answer depends on none of these */
        request.priority = (int32_t)random_below(5) - 2;
        request.tenant = tenants[random_below(3)];
        request.salt = random_below(2);
    }
    if (infrt_llm_submit(llm, &request, &c->id, &error) != INFRT_OK) fail_msg("%s", error.text);
}

static void client_end(client *c) {
    if (c->got.finish != INFRT_LLM_CANCELLED)
        expect_answer(c->prompt, c->n, c->max_tokens ? c->n + c->max_tokens : FAKE_CONTEXT,
                      c->ignore_eos, &c->got);
    else assert_true(c->lives > 0);
    c->id = 0;
}

/* Keeps `MANY` requests coming until `n` have come. */
static uint32_t storm(infrt_llm_config config, uint32_t n, bool may_cancel) {
    static client clients[MANY];
    infrt_llm *llm = engine(config);
    infrt_llm_facts facts;
    infrt_error error = {0};
    uint32_t n_left = n, busy = 0;
    memset(clients, 0, sizeof clients);
    do {
        for (uint32_t i = 0; i < MANY && n_left; i++)
            if (!clients[i].id && random_below(3) == 0)
                client_start(llm, &clients[i], may_cancel), n_left--;
        if (infrt_llm_step(llm, NULL, &error) != INFRT_OK) fail_msg("%s", error.text);
        expect_blocks_owned(llm);
        busy = 0;
        for (uint32_t i = 0; i < MANY; i++) {
            client *c = &clients[i];
            if (!c->id) continue;
            if (c->lives && --c->lives == 0) infrt_llm_cancel(llm, c->id), c->lives = UINT32_MAX;
            if (random_below(3) == 0) drain(llm, c->id, &c->got);
            if (c->got.finish) client_end(c);
            busy += c->id != 0;
        }
    } while (n_left || busy);
    infrt_llm_describe(llm, &facts);
    expect_all_free(llm);
    expect_blocks_owned(llm);
    infrt_llm_close(&llm);
    return facts.times_preempted;
}

static void test_many(void **state) {
    (void)state;
    static const uint32_t chunks[] = {1, 2, 7, 64};
    for (uint32_t c = 0; c < 4; c++) {
        /* Blocks for all, then so few that requests push each other out. */
        infrt_llm_config ample = {.chunk = chunks[c], .kv_bytes = (uint64_t)28 * FAKE_BLOCK_BYTES};
        ample.target_itl_ns = c % 2;
        storm(ample, 300, true);
        uint32_t preempted =
            storm((infrt_llm_config){.chunk = chunks[c], .kv_bytes = (uint64_t)FAKE_MAX_BLOCKS * FAKE_BLOCK_BYTES},
                  500, true);
        if (chunks[c] == 64) assert_true(preempted > 0);
    }
    storm((infrt_llm_config){.workers = 3, .chunk = 64, .kv_bytes = (uint64_t)9 * FAKE_BLOCK_BYTES}, 500, false);
}

/* What an earlier request had is not computed again, but for the last token; and the answer is the same. */
static void test_reuse(void **state) {
    (void)state;
    int32_t prompt[100];
    prompt_make(prompt, 100);
    for (int forgetful = 0; forgetful < 2; forgetful++) {
        infrt_llm *llm = engine((infrt_llm_config){.forgetful = forgetful});
        static const uint32_t lengths[] = {100, 100, 96, 97, 33, 32, 70, 100, 100, 100};
        static const uint32_t reused[] = {0, 96, 64, 96, 32, 0, 64, 32, 0, 32};
        for (int i = 0; i < 10; i++) {
            infrt_llm_request request = {
                .tokens = prompt, .n_tokens = lengths[i], .max_tokens = 1, .ignore_eos = true};
            infrt_llm_id id;
            infrt_llm_event event = {0};
            infrt_llm_step_info info = {0};
            uint32_t computed = 0;
            if (i == 7) prompt[40] ^= 1; /* in the second block */
            if (i == 8) prompt[0] ^= 1;  /* in the first */
            if (i == 9) prompt[40] ^= 1; /* the second is as it was, but not after this first one */
            assert_int_equal(infrt_llm_submit(llm, &request, &id, NULL), INFRT_OK);
            while (!infrt_llm_poll(llm, id, &event)) {
                assert_int_equal(infrt_llm_step(llm, &info, NULL), INFRT_OK);
                computed += info.tokens;
            }
            assert_int_equal(event.n_reused, forgetful ? 0 : reused[i]);
            assert_int_equal(computed, lengths[i] - event.n_reused);
            assert_int_equal(event.token, fake_next(prompt, lengths[i]));
            while (infrt_llm_poll(llm, id, &event)) {}
            expect_blocks_owned(llm);
        }
        infrt_llm_close(&llm);
    }
}

/* ---- cancelling, reading late ---- */

static void test_cancel(void **state) {
    (void)state;
    infrt_llm *llm = engine((infrt_llm_config){.chunk = 8, .forgetful = true});
    infrt_llm_event event = {0};
    infrt_error error = {0};
    int32_t prompt[40];
    prompt_make(prompt, 40);
    infrt_llm_request request = {.tokens = prompt, .n_tokens = 40, .ignore_eos = true};
    for (int steps = 0; steps < 12; steps++) { /* waiting, in its prompt, in its answer */
        infrt_llm_id id;
        assert_int_equal(infrt_llm_submit(llm, &request, &id, &error), INFRT_OK);
        for (int i = 0; i < steps; i++)
            assert_int_equal(infrt_llm_step(llm, NULL, &error), INFRT_OK);
        infrt_llm_cancel(llm, id);
        infrt_llm_cancel(llm, id + 1);
        if (steps % 2) assert_int_equal(infrt_llm_step(llm, NULL, &error), INFRT_OK);
        int n = 0;
        while (infrt_llm_poll(llm, id, &event)) n++;
        assert_int_equal(n, 1 + (steps > 4 ? steps - 4 : 0));
        assert_int_equal(event.finish, INFRT_LLM_CANCELLED);
        infrt_llm_cancel(llm, id); /* gone */
        expect_all_free(llm);
    }
    infrt_llm_close(&llm);
}

/* A request that nobody polls fills its events, is left out, and goes on when it is polled. */
static void test_unread(void **state) {
    (void)state;
    infrt_llm *llm = engine((infrt_llm_config){0});
    infrt_error error = {0};
    infrt_llm_step_info info;
    infrt_llm_id id;
    answer got = {0};
    int32_t prompt[3] = {1, 2, 3};
    infrt_llm_request request = {.tokens = prompt, .n_tokens = 3, .ignore_eos = true};
    assert_int_equal(infrt_llm_submit(llm, &request, &id, &error), INFRT_OK);
    for (int i = 0; i < 500; i++) assert_int_equal(infrt_llm_step(llm, &info, &error), INFRT_OK);
    assert_int_equal(info.tokens, 0);
    drain(llm, id, &got);
    expect_answer(prompt, 3, FAKE_CONTEXT, true, &got);
    infrt_llm_close(&llm);
}

/* ---- refusals ---- */

static void expect_refused(infrt_llm *llm, infrt_llm_request request, const char *words) {
    infrt_error error = {0};
    infrt_llm_id id;
    assert_int_equal(infrt_llm_submit(llm, &request, &id, &error), INFRT_ERR_USAGE);
    if (!strstr(error.text, words)) fail_msg("\"%s\" is not in: %s", words, error.text);
    assert_int_equal(id, 0);
}

static void test_refused(void **state) {
    (void)state;
    infrt_llm *llm = engine((infrt_llm_config){.kv_bytes = (uint64_t)3 * FAKE_BLOCK_BYTES});
    infrt_llm_facts facts;
    int32_t prompt[FAKE_CONTEXT] = {1, 2, 3}, outside[] = {3, FAKE_VOCAB}, negative[] = {-1};
    const char *stops[] = {"x"};
    infrt_llm_bias bias = {FAKE_VOCAB, 1};
    infrt_llm_describe(llm, &facts);
    assert_int_equal(facts.context, 96); /* what the cache holds */
    expect_refused(llm, (infrt_llm_request){.tokens = outside, .n_tokens = 2}, "ids of fake_lm are 0 to 49");
    expect_refused(llm, (infrt_llm_request){.tokens = negative, .n_tokens = 1}, "is -1");
    expect_refused(llm, (infrt_llm_request){.tokens = prompt, .n_tokens = 96}, "fills the context of 96");
    expect_refused(llm, (infrt_llm_request){.tokens = prompt, .n_tokens = 90, .max_tokens = 7}, "at most 6");
    expect_refused(llm, (infrt_llm_request){.text = "a"}, "no tokenizer");
    expect_refused(llm, (infrt_llm_request){.tokens = prompt, .n_tokens = 3, .stop = stops, .n_stop = 1}, "stop");
    expect_refused(llm, (infrt_llm_request){.tokens = prompt, .n_tokens = 3, .n_top_logprobs = 21}, "at most 20");
    infrt_llm_request request = {.tokens = prompt, .n_tokens = 3};
    request.priority = 101;
    expect_refused(llm, request, "priority is 101: give -100 to 100");
    request.priority = 0;
    request.sampling.temperature = -1;
    expect_refused(llm, request, "temperature is -1");
    request.sampling = (infrt_llm_sampling){.top_p = 0.0f / 0.0f};
    expect_refused(llm, request, "top_p");
    request.sampling = (infrt_llm_sampling){.bias = &bias, .n_bias = 1};
    expect_refused(llm, request, "token 50");
    run_one(llm, prompt, 3, 93, true);
    infrt_llm_close(&llm);
}

static void test_open_refused(void **state) {
    (void)state;
    static const struct {
        infrt_llm_config config;
        const char *words;
    } cases[] = {{{.context = 201}, "context is 201"},
                 {{.chunk = 65}, "chunk is 65"},
                 {{.kv_bytes = 127}, "holds no block"},
                 {{.kv_bytes = 128, .context = 33}, "a context of 33 takes 256 bytes"},
                 {{.workers = 2000}, "2000 workers"},
                 {{.requests = 1000000}, "at most 65536"}};
    infrt_llm *llm;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        infrt_error error = {0};
        assert_int_equal(infrt_llm_open(&fake_llm, &cases[i].config, &llm, &error), INFRT_ERR_USAGE);
        if (!strstr(error.text, cases[i].words)) fail_msg("%s", error.text);
        assert_null(llm);
    }
    infc_model other = fake_llm;
    other.llm = NULL;
    assert_int_equal(infrt_llm_open(&other, NULL, &llm, NULL), INFRT_ERR_USAGE);
    other = fake_llm;
    other.n_inputs = 5;
    assert_int_equal(infrt_llm_open(&other, NULL, &llm, NULL), INFRT_ERR_INTERNAL);
}

static void test_empty_and_full(void **state) {
    (void)state;
    infrt_llm *llm = engine((infrt_llm_config){.requests = 2});
    infrt_llm_id ids[3];
    infrt_error error = {0};
    answer got = {0};
    int32_t bos[] = {1};
    infrt_llm_request request = {.max_tokens = 2, .ignore_eos = true};
    for (int i = 0; i < 2; i++)
        assert_int_equal(infrt_llm_submit(llm, &request, &ids[i], &error), INFRT_OK);
    assert_int_equal(infrt_llm_submit(llm, &request, &ids[2], &error), INFRT_ERR_BUSY);
    assert_false(infrt_llm_poll(llm, ids[2], NULL));
    while (!got.finish) {
        assert_int_equal(infrt_llm_step(llm, NULL, NULL), INFRT_OK);
        drain(llm, ids[1], &got);
    }
    expect_answer(bos, 1, 3, true, &got);
    infrt_llm_close(&llm);
    infrt_llm_close(&llm);

    infc_llm_info info = fake_llm_info;
    infc_model model = fake_llm;
    info.bos = -1;
    model.llm = &info;
    infrt_llm_config config = {.workers = 1};
    assert_int_equal(infrt_llm_open(&model, &config, &llm, NULL), INFRT_OK);
    expect_refused(llm, request, "the prompt is empty");
    infrt_llm_close(&llm);
}

/* ---- when the model fails ---- */

static void test_model_fails(void **state) {
    (void)state;
    infrt_llm *llm = engine((infrt_llm_config){0});
    int32_t prompt[] = {1, 2, 3};
    infrt_llm_request request = {.tokens = prompt, .n_tokens = 3, .ignore_eos = true};
    infrt_llm_id id;
    infrt_llm_event event;
    infrt_error error = {0};
    fake_fails_at = 0;
    assert_int_equal(infrt_llm_submit(llm, &request, &id, &error), INFRT_OK);
    assert_int_equal(infrt_llm_step(llm, NULL, &error), INFRT_ERR_DATA);
    assert_true(infrt_llm_poll(llm, id, &event));
    assert_int_equal(event.finish, INFRT_LLM_FAILED);
    expect_all_free(llm);

    fake_nan = 1;
    assert_int_equal(infrt_llm_submit(llm, &request, &id, NULL), INFRT_OK);
    assert_int_equal(infrt_llm_step(llm, NULL, NULL), INFRT_OK);
    fake_nan = 0;
    assert_true(infrt_llm_poll(llm, id, &event));
    assert_int_equal(event.finish, INFRT_LLM_FAILED);
    run_one(llm, prompt, 3, 4, true);
    infrt_llm_close(&llm);
}

/* Random answers, too, depend on the request alone. */
static void test_seeds(void **state) {
    (void)state;
    int32_t prompt[] = {1, 2, 3};
    answer first[4] = {{0}};
    for (int together = 0; together < 2; together++) {
        infrt_llm *llm = engine((infrt_llm_config){.chunk = together ? 5 : 64});
        infrt_llm_id ids[4];
        answer got[4] = {{0}};
        for (uint32_t i = 0; i < 4; i++) {
            infrt_llm_request request = {.tokens = prompt, .n_tokens = 3, .max_tokens = 40, .ignore_eos = true};
            request.sampling =
                (infrt_llm_sampling){.temperature = 1, .seed = i, .top_p = 0.9f, .presence_penalty = 1};
            assert_int_equal(infrt_llm_submit(llm, &request, &ids[i], NULL), INFRT_OK);
            while (!together && !got[i].finish)
                infrt_llm_step(llm, NULL, NULL), drain(llm, ids[i], &got[i]);
        }
        for (uint32_t i = 0; i < 4; i++)
            while (!got[i].finish) infrt_llm_step(llm, NULL, NULL), drain(llm, ids[i], &got[i]);
        if (together) assert_memory_equal(got, first, sizeof got);
        memcpy(first, got, sizeof got);
        infrt_llm_close(&llm);
    }
    assert_memory_not_equal(first[0].tokens, first[1].tokens, 40 * sizeof(int32_t));
}

/* Whether the cache's last page is there before anyone wrote to it. */
static void test_touched(void **state) {
    (void)state;
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    for (int touched = 0; touched < 2; touched++) {
        unsigned char there = 2;
        infrt_llm *llm = engine((infrt_llm_config){.touch_cache = touched, .kv_bytes = 16 << 20});
        char *last = (char *)llm->kv_block + (llm->kv_block_bytes - 1) / page * page;
        assert_int_equal(mincore(last, 1, &there), 0);
        assert_int_equal(there & 1, touched);
        infrt_llm_close(&llm);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_alone),        cmocka_unit_test(test_reuse),
        cmocka_unit_test(test_many),         cmocka_unit_test(test_cancel),
        cmocka_unit_test(test_unread),       cmocka_unit_test(test_refused),
        cmocka_unit_test(test_open_refused), cmocka_unit_test(test_empty_and_full),
        cmocka_unit_test(test_model_fails),  cmocka_unit_test(test_seeds),
        cmocka_unit_test(test_touched),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
