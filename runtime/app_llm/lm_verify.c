/* lm_verify.c - the command `verify`: weights, CPU, and that an answer has the same bits with every number of
 * workers, in any chunks and in any batch. */
#include "app_checks.h"
#include "lm_app.h"
#include <inttypes.h>
#include <string.h>

enum { WORKERS_MIN = 2, WORKERS_MAX = 8, PROMPT = 40, ANSWER = 8, BATCH = 3 };

typedef struct verifier {
    infrt_lm_app *app;
    infrt_checks checks;
    uint32_t n_prompt, n_answer;
    uint64_t expected; /* hash of tokens and logarithms of their probabilities */
    bool have_expected;
} verifier;

static uint64_t hash_add(uint64_t hash, uint64_t value) {
    return infc_check_random(hash, value, 0);
}

/* Answers `batch` prompts together, and hashes the first answer; 0: it failed, and that was said. */
static uint64_t answer_hash(verifier *v, const char *name, infrt_llm *llm, uint32_t batch) {
    int32_t ids[PROMPT];
    infrt_llm_id answers[BATCH] = {0};
    infrt_llm_event event = {0};
    infrt_error error = {0};
    infrt_llm_facts facts;
    infrt_status status = INFRT_OK;
    uint64_t hash = INFC_CHECK_START;
    infrt_llm_describe(llm, &facts);
    for (uint32_t i = 0; i < batch && status == INFRT_OK; i++) {
        infrt_llm_request request = {.tokens = ids,
                                     .n_tokens = v->n_prompt > i ? v->n_prompt - i : 1,
                                     .max_tokens = v->n_answer,
                                     .logprobs = true};
        request.ignore_eos = true;
        for (uint32_t k = 0; k < v->n_prompt; k++)
            ids[k] = (int32_t)((infc_check_random(i, 1, k) >> 33) % facts.n_ids);
        status = infrt_llm_submit(llm, &request, &answers[i], &error);
    }
    for (uint32_t left = batch; left && status == INFRT_OK;) {
        status = infrt_llm_step(llm, NULL, &error);
        for (uint32_t i = 0; i < batch && status == INFRT_OK; i++)
            while (infrt_llm_poll(llm, answers[i], &event)) {
                uint32_t bits;
                memcpy(&bits, &event.logprob, sizeof bits);
                if (event.finish == INFRT_LLM_FAILED)
                    status = infrt_fail(&error, INFRT_ERR_DATA, "logits are no numbers");
                if (i == 0 && !event.finish)
                    hash = hash_add(hash_add(hash, (uint32_t)event.token), bits);
                left -= event.finish != INFRT_LLM_GOES_ON;
            }
    }
    if (status != INFRT_OK) infrt_check_report(&v->checks, false, name, "%.400s", error.text);
    return status == INFRT_OK ? hash : 0;
}

/* One engine, alone and in a batch. */
static void engine_verify(verifier *v, uint32_t workers, uint32_t chunk) {
    char name[32];
    infrt_llm *llm;
    infrt_error error = {0};
    const infc_llm_info *info = v->app->model->llm;
    uint64_t blocks = (v->n_prompt + v->n_answer) / info->block_positions + 1;
    infrt_llm_config config = {.weights = v->app->options.weights,
                               .workers = workers,
                               .chunk = chunk,
                               .context = v->n_prompt + v->n_answer,
                               .requests = BATCH,
                               .forgetful = true,
                               .kv_bytes = blocks * BATCH * info->block_bytes};
    snprintf(name, sizeof name, "workers %u", workers);
    if (infrt_llm_open(v->app->model, &config, &llm, &error) != INFRT_OK) {
        infrt_check_report(&v->checks, false, name, "%.400s", error.text);
        return;
    }
    uint32_t most = info->max_sequences < BATCH ? info->max_sequences : BATCH;
    bool ok = true;
    for (uint32_t batch = 1; batch <= most && ok; batch += 2) {
        uint64_t hash = answer_hash(v, name, llm, batch);
        if (hash == 0) ok = false;
        else if (v->have_expected && hash != v->expected)
            infrt_check_report(&v->checks, ok = false, name,
                               "chunks of %u, batch of %u: the answer hashes to %016" PRIx64
                               ", others to %016" PRIx64,
                               chunk, batch, hash, v->expected);
        if (ok) v->expected = hash, v->have_expected = true;
    }
    infrt_llm_close(&llm);
    if (ok)
        infrt_check_report(&v->checks, true, name,
                           "chunks of %u, alone and in a batch: the answer hashes to %016" PRIx64,
                           chunk, v->expected);
}

static void engines_verify(verifier *v) {
    const infc_llm_info *info = v->app->model->llm;
    uint32_t given = v->app->options.threads, available = infrt_workers_available();
    uint32_t most = given                     ? given
                    : available < WORKERS_MIN ? WORKERS_MIN
                    : available > WORKERS_MAX ? WORKERS_MAX
                                              : available;
    v->n_prompt = info->context > PROMPT + ANSWER ? PROMPT : info->context - 1;
    v->n_answer = info->context > PROMPT + ANSWER ? ANSWER : 1;
    for (uint32_t n = 1; n <= most; n++) engine_verify(v, n, info->chunk);
    if (info->chunk > 7) engine_verify(v, most, 7);
    engine_verify(v, 1, 1);
}

infrt_status infrt_lm_verify(infrt_lm_app *app) {
    verifier v = {.app = app};
    infrt_weights weights = {0};
    infrt_status status = infrt_weights_readable(app->options.weights, &app->error);
    if (status != INFRT_OK) return status;
    infrt_checks_begin(&v.checks, app->model, app->options.parsed.json);
    bool runnable = infrt_check_cpu(&v.checks, app->model);
    bool whole = infrt_check_weights(&v.checks, app->model, app->options.weights, &weights);
    infrt_weights_close(&weights);
    if (runnable && whole) engines_verify(&v);
    return infrt_checks_end(&v.checks);
}
