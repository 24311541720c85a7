/* llm_routes.c - what the server of a language model answers, and its part of the log. */
#include "serve_llm.h"
#include "session_task.h"
#include <inttypes.h>
#include <string.h>

static void handle_elsewhere(infrt_conn *c) {
    infrt_refusal refusal = {.type = "not_supported_error"};
    infrt_refuse(&refusal, 501, NULL, "%.*s is not supported; there are /v1/chat/completions and /v1/completions",
                 (int)c->path_bytes, c->path);
    infrt_conn_refuse(c, &refusal);
}

static const infrt_route routes[] = {
    {"POST", "/v1/chat/completions", infrt_handle_chat, 0},
    {"POST", "/v1/completions", infrt_handle_completions, 0},
    {"GET", "/v1/models", infrt_handle_models, 0},
    {"GET", "/v1/models/", infrt_handle_model, INFRT_ROUTE_BELOW},
    {"POST", "/tokenize", infrt_handle_tokenize, 0},
    {"POST", "/detokenize", infrt_handle_detokenize, 0},
    INFRT_ROUTES_OF_ALL,
    {"POST", "/v1/load_lora_adapter", infrt_handle_adapter_load, 0},
    {"POST", "/v1/unload_lora_adapter", infrt_handle_adapter_unload, 0},
    {"GET", "/v1/lora_adapters", infrt_handle_adapters, 0},
    {"POST", "/v1/sessions/save", infrt_handle_session_save, 0},
    {"POST", "/v1/sessions/restore", infrt_handle_session_restore, 0},
    {"GET", "/v1/sessions", infrt_handle_sessions, 0},
    {"DELETE", "/v1/sessions/", infrt_handle_session_remove, INFRT_ROUTE_BELOW},
    {"POST", "/v1/embeddings", handle_elsewhere, 0},
    {"POST", "/v1/responses", handle_elsewhere, 0},
    {"POST", "/v1/messages", handle_elsewhere, 0},
    {"GET", "/v2", handle_elsewhere, 0},
    {"GET", "/v2/", handle_elsewhere, INFRT_ROUTE_BELOW},
    {"POST", "/v2/", handle_elsewhere, INFRT_ROUTE_BELOW},
};
_Static_assert(sizeof routes / sizeof *routes < INFRT_ROUTES_MOST, "counted by route");

/* What was drawn with, after defaults: with the seed the same answers come again. */
static void sampling_log(const infrt_serve_job *job, infrt_out *out) {
    const infrt_ask *a = &job->ask;
    infrt_out_format(out,
                     ",\"priority\":%d,\"sampling\":{\"temperature\":%g,\"top_p\":%g,\"top_k\":%u,"
                     "\"min_p\":%g,\"repetition_penalty\":%g,\"presence_penalty\":%g,"
                     "\"frequency_penalty\":%g,\"max_tokens\":%u,\"seed\":%" PRId64 "}",
                     (int)a->priority, (double)a->temperature, (double)a->top_p, a->top_k,
                     (double)a->min_p, (double)a->repetition_penalty, (double)a->presence_penalty,
                     (double)a->frequency_penalty, a->max_tokens, (int64_t)job->seed);
}

static void answer_log(const infrt_conn *c, infrt_out *out) {
    const infrt_llm_conn *own = (const infrt_llm_conn *)c;
    const infrt_reply *r = own->reply;
    uint32_t n = 0, n_preempted = 0;
    if (!r) return;
    for (uint32_t i = 0; i < r->job->n_choices; i++) {
        n += r->said[i].n_answer;
        n_preempted += r->said[i].n_preempted;
    }
    infrt_out_text(out, ",\"model\":");
    infrt_out_string(out, r->name, strlen(r->name));
    infrt_out_format(out, ",\"stream\":%s,\"n\":%u,\"prompt_tokens\":%u,\"cached_tokens\":%u,\"answer_tokens\":%u",
                     r->job->ask.stream ? "true" : "false", r->job->n_choices, r->n_prompt,
                     infrt_reply_cached(r), n);
    sampling_log(r->job, out);
    infrt_out_format(out, ",\"preemptions\":%u", n_preempted);
    if (r->said[0].begun_ns > r->job->queued_ns)
        infrt_out_format(out, ",\"queue_ms\":%.3f", (double)(r->said[0].begun_ns - r->job->queued_ns) / 1e6);
    if (own->first_ns > c->begin_ns)
        infrt_out_format(out, ",\"ttft_ms\":%.3f", (double)(own->first_ns - c->begin_ns) / 1e6);
    if (r->failed) {
        char why[INFRT_FAILURE_TEXT];
        infrt_reply_failure(r, why);
        infrt_out_text(out, ",\"error\":");
        infrt_out_string(out, why, strlen(why));
    }
    if (r->n_ended == r->job->n_choices)
        infrt_out_format(out, ",\"finish_reason\":\"%s\"", infrt_finish_reason(r->said[0].finish));
}

/* ---- the service -------------------------------------------------------------------------------- */

static void letter_take(infrt_server *s, infrt_letter *letter) {
    infrt_llm_server *own = (infrt_llm_server *)s;
    switch (letter->kind) {
    case INFRT_LETTER_PREPARE: infrt_job_letter(own, (infrt_serve_job *)letter, true); break;
    case INFRT_LETTER_JOB: infrt_job_letter(own, (infrt_serve_job *)letter, false); break;
    case INFRT_LETTER_PIECE: infrt_piece_letter(own, (infrt_piece *)letter); break;
    case INFRT_LETTER_SESSION: infrt_session_letter(own, (infrt_session_task *)letter); break;
    default: infrt_change_letter(own, (infrt_adapter_change *)letter);
    }
}

static bool is_idle(const infrt_server *s) {
    const infrt_llm_server *own = (const infrt_llm_server *)s;
    return !own->n_answers && !own->n_changes && !own->n_sessions;
}

static uint64_t busy_since(infrt_server *s) {
    return atomic_load(&((infrt_llm_server *)s)->engine.busy_since_ns);
}

bool infrt_others_let_go(infrt_llm_conn *c) {
    const bool any = c->change || c->session;
    if (c->change) {
        c->change->owner = NULL;
        atomic_store(&c->change->abandoned, true);
    }
    if (c->session) c->session->owner = NULL;
    c->change = NULL;
    c->session = NULL;
    return any;
}

static void client_left(infrt_conn *c) {
    infrt_llm_conn *own = (infrt_llm_conn *)c;
    if (own->job) infrt_job_abandon(own);
    infrt_others_let_go(own);
    infrt_reply_destroy(&own->reply);
}

static void error_put(const infrt_conn *c, const infrt_refusal *refusal, infrt_out *out) {
    (void)c;
    infrt_error_json(refusal, out);
}

const infrt_service infrt_llm_service = {
    .routes = routes,
    .n_routes = sizeof routes / sizeof *routes,
    .conn_bytes = sizeof(infrt_llm_conn),
    .letter = letter_take,
    .idle = is_idle,
    .busy_since_ns = busy_since,
    .fail = infrt_jobs_fail,
    .left = client_left,
    .flow = infrt_job_flow,
    .log = answer_log,
    .metrics = infrt_llm_metrics_put,
    .error_put = error_put,
};
