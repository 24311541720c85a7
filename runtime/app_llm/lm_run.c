/* lm_run.c - the command `run`: one answer. */
#include "app_trace.h"
#include "lm_answer.h"
#include "tokenizer.h"
#include <stdlib.h>
#include <string.h>

/* Whole answers are streamed: text where there is a tokenizer, else ids; with --logprobs a line for each token. */
typedef struct stream {
    const infrt_lm_app *app;
    bool any; /* something was written, and what it ended with */
    char last;
} stream;

/* A piece of text in one line: what is not printable as in C. */
static void piece_print(const infrt_tokenizer *t, int32_t id) {
    size_t n = 0;
    const char *piece = t ? infrt_token_piece(t, id, &n) : NULL;
    putchar('"');
    for (size_t i = 0; i < n; i++) {
        unsigned char c = (unsigned char)piece[i];
        if (c == '\n') fputs("\\n", stdout);
        else if (c < 0x20 || c == 0x7f || c == '"' || c == '\\') printf("\\x%02x", c);
        else putchar(c);
    }
    putchar('"');
}

static void logprobs_print(const infrt_lm_app *app, const infrt_llm_event *event) {
    const infrt_tokenizer *t = app->model->llm->tokenizer;
    printf("%6d %8.4f ", event->token, (double)event->logprob);
    piece_print(t, event->token);
    for (uint32_t i = 0; i < event->n_top; i++) {
        printf("%s%d %.4f ", i ? ", " : "   of ", event->top[i].token, (double)event->top[i].logprob);
        piece_print(t, event->top[i].token);
    }
    putchar('\n');
}

static bool event_print(void *self, const infrt_llm_event *event) {
    stream *s = self;
    if (s->app->options.logprobs) {
        if (event->token >= 0 && !event->finish) logprobs_print(s->app, event);
    } else if (!s->app->model->llm->tokenizer) {
        if (event->token >= 0 && !event->finish)
            printf("%s%d", s->any ? " " : "", event->token), s->any = true;
    } else if (event->text_bytes) {
        fwrite(event->text, 1, event->text_bytes, stdout);
        s->any = true;
        s->last = event->text[event->text_bytes - 1];
    }
    return fflush(stdout) == 0;
}

static void ids_json(infrt_json *json, const char *key, const int32_t *ids, uint32_t n) {
    infrt_json_open(json, key, '[');
    for (uint32_t i = 0; i < n; i++) infrt_json_int(json, NULL, ids[i]);
    infrt_json_close(json, ']');
}

static void tokens_json(infrt_json *json, const infrt_lm_answer *a) {
    infrt_json_open(json, "tokens", '[');
    for (uint32_t i = 0; i < a->n_tokens; i++) infrt_json_int(json, NULL, a->tokens[i].id);
    infrt_json_close(json, ']');
    infrt_json_open(json, "logprobs", '[');
    for (uint32_t i = 0; i < a->n_tokens; i++)
        infrt_json_float(json, NULL, (double)a->tokens[i].logprob, 9);
    infrt_json_close(json, ']');
    if (!a->n_tokens || !a->tokens[0].n_top) return;
    infrt_json_open(json, "top_logprobs", '[');
    for (uint32_t i = 0; i < a->n_tokens; i++) {
        infrt_json_open(json, NULL, '[');
        for (uint32_t k = 0; k < a->tokens[i].n_top; k++) {
            infrt_json_open(json, NULL, '{');
            infrt_json_int(json, "token", a->tokens[i].top[k].token);
            infrt_json_float(json, "logprob", (double)a->tokens[i].top[k].logprob, 9);
            infrt_json_close(json, '}');
        }
        infrt_json_close(json, ']');
    }
    infrt_json_close(json, ']');
}

static void result_json(const infrt_lm_app *app, const infrt_lm_answer *a, const int32_t *prompt) {
    infrt_json json = {.out = stdout};
    infrt_json_open(&json, NULL, '{');
    infrt_json_string(&json, "model", app->model->name);
    infrt_json_string(&json, "text", app->model->llm->tokenizer ? a->text : NULL);
    infrt_json_string(&json, "finish", infrt_llm_finish_name(a->finish));
    ids_json(&json, "prompt", prompt, a->n_prompt);
    tokens_json(&json, a);
    infrt_json_uint(&json, "prompt_tokens", a->n_prompt);
    infrt_json_uint(&json, "reused_tokens", a->n_reused);
    infrt_json_uint(&json, "answer_tokens", a->n_answer);
    infrt_json_uint(&json, "startup_ns", a->submit_ns - app->begin_ns);
    infrt_json_uint(&json, "first_token_ns", a->first_ns ? a->first_ns - a->submit_ns : 0);
    infrt_json_float(&json, "per_token_ns",
                     a->n_answer > 1 ? (double)(a->end_ns - a->first_ns) / (a->n_answer - 1) : 0, 9);
    infrt_json_uint(&json, "workers", app->facts.workers);
    infrt_json_close(&json, '}');
}

static infrt_status answer_show(infrt_lm_app *app, const infrt_llm_request *request) {
    stream s = {.app = app};
    infrt_lm_answer answer = {.keep_text = app->options.parsed.json,
                              .keep_tokens = app->options.parsed.json || app->options.session};
    int32_t *prompt = calloc(app->facts.context, sizeof *prompt);
    uint32_t n;
    infrt_status status =
        prompt ? INFRT_OK : infrt_fail(&app->error, INFRT_ERR_NO_MEMORY, "no memory for the prompt");
    if (!app->options.parsed.json) {
        answer.tell = event_print;
        answer.self = &s;
    }
    if (status == INFRT_OK)
        status = infrt_llm_encode(app->model, request, prompt, app->facts.context, &n, &app->error);
    if (status == INFRT_OK) status = infrt_lm_session_restore(app, request);
    if (status == INFRT_OK) status = infrt_lm_answer_get(app, request, &answer);
    if (s.any && s.last != '\n') putchar('\n');
    fflush(stdout); /* before what goes to stderr; errors are told at the end */
    if (status == INFRT_OK && app->options.parsed.json) result_json(app, &answer, prompt);
    else if (status == INFRT_OK) infrt_lm_answer_times(app, &answer, stderr);
    if (status == INFRT_OK) status = infrt_lm_session_save(app, request, prompt, &answer);
    infrt_lm_answer_free(&answer);
    free(prompt);
    return status;
}

infrt_status infrt_lm_run(infrt_lm_app *app) {
    const infrt_lm_options *o = &app->options;
    infrt_lm_prompt prompt = {0};
    infrt_llm_request request = {0};
    infrt_trace trace = {0};
    infrt_watch watch = {&trace, infrt_trace_begin, infrt_trace_met, infrt_trace_step};
    uint32_t workers = o->threads ? o->threads : infrt_workers_available();
    infrt_status status = infrt_lm_files_check(app);
    if (status == INFRT_OK) status = infrt_lm_settings(o, app->bias, &request, &app->error);
    if (status == INFRT_OK) status = infrt_lm_prompt_read(app, &prompt, &request);
    if (status == INFRT_OK && o->profile)
        status = infrt_trace_create(app->model, workers, &trace, &app->error);
    if (status == INFRT_OK)
        status = infrt_lm_open(app, (infrt_llm_config){.requests = 1, .watch = o->profile ? &watch : NULL});
    request.adapter = infrt_lm_adapter(app, 0);
    if (status == INFRT_OK) status = answer_show(app, &request);
    if (status == INFRT_OK && o->profile)
        status = infrt_trace_write(&trace, o->profile, &app->error);
    infrt_llm_close(&app->llm);
    infrt_trace_destroy(&trace);
    infrt_lm_prompt_free(&prompt);
    return status;
}
