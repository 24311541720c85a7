/* lm_bench.c - the command `bench`: prompts and answers of made-up tokens.
 *
 * Prompts: the time from submit to the first token, of the fastest and of the median of a few. Answers: `batch` of them
 * at a time, each after `depth` tokens; every step that gives all of them one token is measured on its own. */
#include "app_times.h"
#include "app_trace.h"
#include "infrt_os.h"
#include "lm_answer.h"
#include <inttypes.h>
#include <stdlib.h>

enum { ANSWERS = 100 /* seeds of the batch begin there */ };

typedef struct bench {
    infrt_lm_app *app;
    uint32_t n_prompt, n_answer, depth, batch, repeat, context, answer_context;
    int32_t *ids;          /* [context] */
    infrt_llm_id *answers; /* [batch] */
    uint32_t *n_tokens;    /* [batch], of each answer */
    uint64_t *first_ns;    /* [repeat], ascending in the end */
    uint64_t *step_ns;     /* [n_answer], ascending in the end */
    uint64_t depth_ns;     /* the prompts of all answers */
    uint64_t rest_ns;      /* all the steps together */
} bench;

static infrt_status plan(infrt_lm_app *app, bench *b) {
    const infrt_lm_options *o = &app->options;
    const infc_llm_info *info = app->model->llm;
    *b = (bench){.app = app,
                 .n_prompt = o->prompt_tokens ? o->prompt_tokens : 512,
                 .n_answer = o->tokens ? o->tokens : 128,
                 .depth = o->depth ? o->depth : 1,
                 .batch = o->batch ? o->batch : 1,
                 .repeat = o->repeat ? o->repeat : 3};
    if (b->batch > info->max_sequences)
        return infrt_fail(&app->error, INFRT_ERR_USAGE, "--batch %u: the model was compiled for at most %u sequences",
                          b->batch, info->max_sequences);
    uint64_t whole = (uint64_t)b->depth + b->n_answer + 1;
    whole += (b->batch - UINT64_C(1)) * (b->depth / info->chunk + 1); /* those that go on while others are read */
    b->answer_context = whole < info->context ? (uint32_t)whole : info->context;
    if (!o->prompt_tokens && b->n_prompt >= info->context) b->n_prompt = info->context - 1;
    if (b->n_prompt + (uint64_t)1 > whole) whole = b->n_prompt + (uint64_t)1;
    if (whole > info->context)
        return infrt_fail(&app->error, INFRT_ERR_USAGE,
                          "%llu tokens of prompt and answer are more than the context of %u",
                          (unsigned long long)whole, info->context);
    b->context = (uint32_t)whole;
    b->ids = calloc(b->context, sizeof *b->ids);
    b->answers = calloc(b->batch, sizeof *b->answers);
    b->n_tokens = calloc(b->batch, sizeof *b->n_tokens);
    b->first_ns = calloc(b->repeat, sizeof *b->first_ns);
    b->step_ns = calloc(b->n_answer, sizeof *b->step_ns);
    if (!b->ids || !b->answers || !b->n_tokens || !b->first_ns || !b->step_ns)
        return infrt_fail(&app->error, INFRT_ERR_NO_MEMORY, "no memory for samples");
    return INFRT_OK;
}

static void bench_free(bench *b) {
    free(b->ids);
    free(b->answers);
    free(b->n_tokens);
    free(b->first_ns);
    free(b->step_ns);
}

/* Of requests of so many tokens that run together: each is let in only with a block to spare for those that run. */
static uint64_t cache_bytes(const bench *b, uint32_t tokens, uint32_t n) {
    const infc_llm_info *info = b->app->model->llm;
    const uint64_t blocks = tokens / info->block_positions + (tokens % info->block_positions != 0);
    return (blocks * n + n - 1) * info->block_bytes;
}

/* Answers that wait for each other's blocks would not be a batch. */
static infrt_status cache_check(const bench *b) {
    const uint64_t given = b->app->options.kv_memory, prompt = cache_bytes(b, b->context, 1),
                   answers = cache_bytes(b, b->answer_context, b->batch),
                   needed = prompt > answers ? prompt : answers;
    if (given == 0 || given >= needed) return INFRT_OK;
    return infrt_fail(&b->app->error, INFRT_ERR_USAGE,
                      "--kv-memory %" PRIu64
                      ": a batch of %u of %u tokens each, and a prompt of %u, take %" PRIu64
                      " bytes of cache; give that much",
                      given, b->batch, b->answer_context, b->n_prompt, needed);
}

static infrt_status bench_open(bench *b, const infrt_watch *watch) {
    infrt_llm_config config = {.requests = b->batch,
                               .forgetful = true,
                               .touch_cache = true, /* as it is once a server has run for a while */
                               .context = b->context,
                               .kv_bytes = cache_bytes(b, b->context, b->batch),
                               .watch = watch};
    const infrt_status status = cache_check(b);
    return status == INFRT_OK ? infrt_lm_open(b->app, config) : status;
}

/* `seed` also says whose adapter it takes. */
static infrt_status submit(bench *b, uint32_t n_prompt, uint32_t n_answer, uint64_t seed, infrt_llm_id *out) {
    infrt_llm_request request = {.tokens = b->ids,
                                 .n_tokens = n_prompt,
                                 .max_tokens = n_answer,
                                 .ignore_eos = true,
                                 .adapter = infrt_lm_adapter(b->app, (uint32_t)seed)};
    for (uint32_t i = 0; i < n_prompt; i++)
        b->ids[i] = (int32_t)((infc_check_random(seed, 0, i) >> 33) % b->app->facts.n_ids);
    return infrt_llm_submit(b->app->llm, &request, out, &b->app->error);
}

/* Reads away what there is, and counts the tokens that came; a request that failed gives no more. `seed`: of submit. */
static infrt_status drain(bench *b, infrt_llm_id id, uint64_t seed, uint32_t *n_tokens) {
    infrt_llm_event event = {0};
    while (infrt_llm_poll(b->app->llm, id, &event)) *n_tokens += event.token >= 0;
    if (event.finish != INFRT_LLM_FAILED) return INFRT_OK;
    return infrt_lm_no_number(b->app, infrt_lm_adapter(b->app, (uint32_t)seed),
                              event.n_prompt + event.n_answer);
}

static infrt_status prompts_measure(bench *b) {
    infrt_status status = INFRT_OK;
    for (uint32_t i = 0; i <= b->repeat && status == INFRT_OK; i++) { /* the first one warms up */
        infrt_llm_id id;
        uint32_t n = 0;
        uint64_t begin = infrt_os_now_ns();
        status = submit(b, b->n_prompt, 1, i, &id);
        while (status == INFRT_OK && n == 0) {
            status = infrt_llm_step(b->app->llm, NULL, &b->app->error);
            if (status == INFRT_OK) status = drain(b, id, i, &n);
        }
        if (i) b->first_ns[i - 1] = infrt_os_now_ns() - begin;
    }
    return status;
}

/* How many answers have a token, of all. */
static infrt_status drain_all(bench *b, uint32_t *n) {
    infrt_status status = INFRT_OK;
    *n = 0;
    for (uint32_t i = 0; i < b->batch && status == INFRT_OK; i++) {
        status = drain(b, b->answers[i], ANSWERS + i, &b->n_tokens[i]);
        *n += b->n_tokens[i] > 0;
    }
    return status;
}

static infrt_status answers_begin(bench *b) {
    infrt_status status = INFRT_OK;
    uint64_t begin = infrt_os_now_ns();
    for (uint32_t i = 0; i < b->batch && status == INFRT_OK; i++)
        status = submit(b, b->depth, b->context - b->depth, ANSWERS + i, &b->answers[i]);
    for (uint32_t n = 0; status == INFRT_OK && n < b->batch;) {
        status = infrt_llm_step(b->app->llm, NULL, &b->app->error);
        if (status == INFRT_OK) status = drain_all(b, &n);
    }
    b->depth_ns = infrt_os_now_ns() - begin;
    return status;
}

static infrt_status answers_measure(bench *b) {
    infrt_llm_step_info info;
    infrt_status status = answers_begin(b);
    uint32_t measured = 0, n;
    while (status == INFRT_OK && measured < b->n_answer) {
        uint64_t begin = infrt_os_now_ns();
        status = infrt_llm_step(b->app->llm, &info, &b->app->error);
        if (status != INFRT_OK || info.tokens < b->batch)
            break; /* some have come to the end of the context */
        if ((status = drain_all(b, &n)) != INFRT_OK) break;
        uint64_t ns = infrt_os_now_ns() - begin;
        b->step_ns[measured++] = ns;
        b->rest_ns += ns;
    }
    for (uint32_t i = 0; i < b->batch; i++) infrt_llm_cancel(b->app->llm, b->answers[i]);
    b->n_answer = measured;
    if (status == INFRT_OK && measured == 0)
        status = infrt_fail(&b->app->error, INFRT_ERR_DATA, "%s gave no token; see `verify`",
                            b->app->model->name);
    return status;
}

static double per_second(double n, uint64_t ns) { return ns ? n * 1e9 / (double)ns : 0; }

static void bench_text(const bench *b) {
    const infc_model *m = b->app->model;
    const infrt_llm_facts *f = &b->app->facts;
    char a[INFRT_TIME_TEXT], c[INFRT_TIME_TEXT], d[INFRT_TIME_TEXT], e[INFRT_TIME_TEXT];
    uint64_t first = infrt_times_percentile(b->first_ns, b->repeat, 50);
    printf("%s, %s, weights %s, cache %s, %u worker%s\n", m->name, m->isa, m->llm->format,
           m->llm->kv_format, f->workers, f->workers == 1 ? "" : "s");
    printf("prompt  %8.1f tokens/s   %u tokens, first token after %s (fastest %s)\n",
           per_second(b->n_prompt, first), b->n_prompt, infrt_time_text((double)first, a),
           infrt_time_text((double)b->first_ns[0], c));
    printf("answer  %8.1f tokens/s   %u tokens after %u, batch %u; per token p50 %s  p95 %s  p99 "
           "%s  fastest %s\n",
           per_second((double)b->n_answer * b->batch, b->rest_ns), b->n_answer, b->app->options.depth,
           b->batch, infrt_time_text((double)infrt_times_percentile(b->step_ns, b->n_answer, 50), a),
           infrt_time_text((double)infrt_times_percentile(b->step_ns, b->n_answer, 95), c),
           infrt_time_text((double)infrt_times_percentile(b->step_ns, b->n_answer, 99), d),
           infrt_time_text((double)b->step_ns[0], e));
    printf("memory  %.1f MiB weights, %.1f MiB cache, %.1f MiB resident at most\n",
           (double)f->weights_bytes / 1048576, (double)f->kv_bytes / 1048576,
           (double)infrt_os_peak_rss() / 1048576);
}

static void bench_json(const bench *b) {
    const infc_model *m = b->app->model;
    infrt_json json = {.out = stdout};
    uint64_t first = infrt_times_percentile(b->first_ns, b->repeat, 50);
    infrt_json_open(&json, NULL, '{');
    infrt_json_string(&json, "model", m->name);
    infrt_json_string(&json, "isa", m->isa);
    infrt_json_string(&json, "format", m->llm->format);
    infrt_json_string(&json, "kv_format", m->llm->kv_format);
    infrt_json_uint(&json, "workers", b->app->facts.workers);
    infrt_json_uint(&json, "prompt_tokens", b->n_prompt);
    infrt_json_float(&json, "prompt_tokens_per_second", per_second(b->n_prompt, first), 6);
    infrt_json_uint(&json, "first_token_p50_ns", first);
    infrt_json_uint(&json, "first_token_min_ns", b->first_ns[0]);
    infrt_json_uint(&json, "context", b->app->options.depth);
    infrt_json_uint(&json, "batch", b->batch);
    infrt_json_uint(&json, "adapters", b->app->options.adapter.n);
    infrt_json_uint(&json, "answer_tokens", b->n_answer);
    infrt_json_float(&json, "answer_tokens_per_second",
                     per_second((double)b->n_answer * b->batch, b->rest_ns), 6);
    infrt_json_uint(&json, "context_ns", b->depth_ns);
    infrt_json_uint(&json, "per_token_p50_ns", infrt_times_percentile(b->step_ns, b->n_answer, 50));
    infrt_json_uint(&json, "per_token_p95_ns", infrt_times_percentile(b->step_ns, b->n_answer, 95));
    infrt_json_uint(&json, "per_token_p99_ns", infrt_times_percentile(b->step_ns, b->n_answer, 99));
    infrt_json_uint(&json, "per_token_min_ns", b->step_ns[0]);
    infrt_json_uint(&json, "weights_bytes", b->app->facts.weights_bytes);
    infrt_json_uint(&json, "kv_bytes", b->app->facts.kv_bytes);
    infrt_json_uint(&json, "peak_rss_bytes", infrt_os_peak_rss());
    infrt_json_close(&json, '}');
}

infrt_status infrt_lm_bench(infrt_lm_app *app) {
    const infrt_lm_options *o = &app->options;
    infrt_trace trace = {0};
    infrt_watch watch = {&trace, infrt_trace_begin, infrt_trace_met, infrt_trace_step};
    uint32_t workers = o->threads ? o->threads : infrt_workers_available();
    bench b = {0};
    infrt_status status = infrt_lm_files_check(app);
    if (status == INFRT_OK) status = plan(app, &b);
    if (status == INFRT_OK && o->profile)
        status = infrt_trace_create(app->model, workers, &trace, &app->error);
    if (status == INFRT_OK) status = bench_open(&b, o->profile ? &watch : NULL);
    if (status == INFRT_OK) status = prompts_measure(&b);
    if (status == INFRT_OK) status = answers_measure(&b);
    if (status == INFRT_OK) {
        infrt_times_sort(b.first_ns, b.repeat);
        infrt_times_sort(b.step_ns, b.n_answer);
        (o->parsed.json ? bench_json : bench_text)(&b);
    }
    if (status == INFRT_OK && o->profile)
        status = infrt_trace_write(&trace, o->profile, &app->error);
    infrt_llm_close(&app->llm);
    infrt_trace_destroy(&trace);
    bench_free(&b);
    return status;
}
