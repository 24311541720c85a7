/* serve_routes.c - which part of the server a request is for, whether it may come in, and its line in the log. */
#include "serve_server.h"
#include "infrt_os.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static void handle_elsewhere(infrt_conn *c) {
    infrt_refusal refusal = {.type = "not_supported_error"};
    infrt_refuse(&refusal, 501, NULL, "%.*s is not supported; there are /v1/chat/completions and /v1/completions",
                 (int)c->path_bytes, c->path);
    infrt_conn_refuse(c, &refusal);
}

const infrt_route infrt_routes[] = {
    {"POST", "/v1/chat/completions", infrt_handle_chat, false, false},
    {"POST", "/v1/completions", infrt_handle_completions, false, false},
    {"GET", "/v1/models", infrt_handle_models, false, false},
    {"GET", "/v1/models/", infrt_handle_model, false, true},
    {"POST", "/tokenize", infrt_handle_tokenize, false, false},
    {"POST", "/detokenize", infrt_handle_detokenize, false, false},
    {"GET", "/health", infrt_handle_health, true, false},
    {"GET", "/health/ready", infrt_handle_ready, true, false},
    {"GET", "/metrics", infrt_handle_metrics, false, false},
    {"GET", "/version", infrt_handle_version, false, false},
    {"POST", "/v1/load_lora_adapter", infrt_handle_adapter_load, false, false},
    {"POST", "/v1/unload_lora_adapter", infrt_handle_adapter_unload, false, false},
    {"GET", "/v1/lora_adapters", infrt_handle_adapters, false, false},
    {"POST", "/v1/embeddings", handle_elsewhere, false, false},
    {"POST", "/v1/responses", handle_elsewhere, false, false},
    {"POST", "/v1/messages", handle_elsewhere, false, false},
    {"POST", "/v2/", handle_elsewhere, false, true},
};
const uint32_t infrt_n_routes = sizeof infrt_routes / sizeof *infrt_routes;
_Static_assert(sizeof infrt_routes / sizeof *infrt_routes < INFRT_ROUTES_MOST, "counted by route");

static bool path_is(const infrt_conn *c, const infrt_route *r) {
    const size_t n = strlen(r->path);
    return r->prefix ? c->path_bytes > n && memcmp(c->path, r->path, n) == 0
                     : c->path_bytes == n && memcmp(c->path, r->path, n) == 0;
}

/* 0: found; else the status. */
static int route_find(infrt_conn *c) {
    const infrt_route *other = NULL;
    c->path = c->http.head + c->http.target;
    const char *query = memchr(c->path, '?', c->http.target_bytes);
    c->path_bytes = query ? (size_t)(query - c->path) : c->http.target_bytes;
    for (uint32_t i = 0; i < infrt_n_routes; i++) {
        if (!path_is(c, &infrt_routes[i])) continue;
        if (infrt_http_is_method(&c->http, infrt_routes[i].method)) {
            c->route = &infrt_routes[i];
            return 0;
        }
        other = &infrt_routes[i];
    }
    return other ? 405 : 404;
}

/* The client's id where it is short and plain; else one of our own. */
static void request_id_take(infrt_conn *c) {
    static const char plain[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.:";
    size_t n, good = 0;
    const char *id = infrt_http_find(&c->http, "x-request-id", &n);
    while (id && good < n && strchr(plain, id[good])) good++;
    const uint64_t number = infc_check_random(c->server->random, ++c->server->n_requests, 0);
    if (id && n > 0 && good == n && n < sizeof c->request_id)
        snprintf(c->request_id, sizeof c->request_id, "%.*s", (int)n, id);
    else snprintf(c->request_id, sizeof c->request_id, "%016" PRIx64, number);
}

static bool is_json(const infrt_conn *c) {
    static const char type[] = "application/json";
    size_t n;
    const char *text = infrt_http_find(&c->http, "content-type", &n);
    const size_t own = sizeof type - 1;
    return text && n >= own && strncasecmp(text, type, own) == 0 &&
           (n == own || text[own] == ';' || text[own] == ' ');
}

bool infrt_request_admit(infrt_conn *c) {
    infrt_refusal refusal = {0};
    size_t n;
    request_id_take(c);
    const int wrong = route_find(c);
    const char *key = infrt_http_find(&c->http, "authorization", &n);
    if (!(c->route && c->route->open) && !infrt_keys_allow(&c->server->keys, key, n)) { /* first of all */
        refusal.type = "authentication_error";
        refusal.code = "invalid_api_key";
        infrt_refuse(&refusal, 401, NULL, "an API key is needed: Authorization: Bearer KEY");
    } else if (wrong) {
        infrt_refuse(&refusal, wrong, NULL, wrong == 405 ? "%.*s takes another method" : "there is no %.*s",
                     (int)c->path_bytes, c->path);
    } else if (infrt_http_is_method(&c->http, "POST") && !is_json(c)) {
        infrt_refuse(&refusal, 415, NULL, "Content-Type: application/json is needed");
    }
    if (!refusal.status) return true;
    if (c->http.has_body) c->close = true; /* it is not read */
    infrt_conn_refuse(c, &refusal);
    return false;
}

void infrt_request_handle(infrt_conn *c) { c->route->handle(c); }

/* ---- log ---------------------------------------------------------------------------------------- */

static double ms_since(uint64_t begin, uint64_t end) {
    return end > begin ? (double)(end - begin) / 1e6 : 0;
}

static void answer_log(const infrt_conn *c, infrt_out *out) {
    const infrt_reply *r = c->reply;
    uint32_t n = 0;
    for (uint32_t i = 0; i < r->job->n_choices; i++) n += r->said[i].n_answer;
    infrt_out_text(out, ",\"model\":");
    infrt_out_string(out, r->name, strlen(r->name));
    infrt_out_format(out, ",\"stream\":%s,\"n\":%u,\"prompt_tokens\":%u,\"cached_tokens\":%u,\"answer_tokens\":%u",
                     r->job->ask.stream ? "true" : "false", r->job->n_choices, r->n_prompt, r->n_cached, n);
    if (c->first_ns) infrt_out_format(out, ",\"ttft_ms\":%.3f", ms_since(c->begin_ns, c->first_ns));
    if (r->n_ended == r->job->n_choices)
        infrt_out_format(out, ",\"finish_reason\":\"%s\"", infrt_finish_reason(r->said[0].finish));
}

void infrt_request_log(infrt_conn *c, int status) {
    infrt_out out = {0};
    const uint32_t route = c->route ? (uint32_t)(c->route - infrt_routes) : infrt_n_routes;
    c->server->metrics.http[route][status / 100 < INFRT_STATUS_CLASSES ? status / 100 : 0]++;
    if (c->route && c->route->open && status == 200) return; /* probes come all the time */
    infrt_out_text(&out, "{\"event\":\"request\",\"request_id\":");
    infrt_out_string(&out, c->request_id, strlen(c->request_id));
    infrt_out_format(&out, ",\"method\":\"%.*s\",\"path\":", (int)c->http.method_bytes, c->http.head);
    infrt_out_string(&out, c->path_bytes ? c->path : "", c->path_bytes);
    infrt_out_format(&out, ",\"status\":%d,\"ms\":%.3f", status, ms_since(c->begin_ns, infrt_os_now_ns()));
    if (c->reply) answer_log(c, &out);
    infrt_out_text(&out, "}\n");
    if (!out.failed) fwrite(out.at, 1, out.n, stderr);
    infrt_out_free(&out);
}
