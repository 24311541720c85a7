/* serve_routes.c - which part of the server a request is for, whether it may come in, and its line in the log. */
#include "serve_server.h"
#include "infrt_os.h"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

static bool path_is(const infrt_conn *c, const infrt_route *r) {
    const size_t n = strlen(r->path);
    return r->how & INFRT_ROUTE_BELOW ? c->path_bytes > n && memcmp(c->path, r->path, n) == 0
                                      : c->path_bytes == n && memcmp(c->path, r->path, n) == 0;
}

/* HEAD is GET without the body of its reply (RFC 9110 9.3.2). */
static bool method_is(const infrt_conn *c, const infrt_route *r) {
    return infrt_http_is_method(&c->http, r->method) ||
           (strcmp(r->method, "GET") == 0 && infrt_http_is_method(&c->http, "HEAD"));
}

/* 0: found; else the status, with the methods of the path, which 405 has to tell. */
static int route_find(infrt_conn *c, infrt_refusal *refusal) {
    const infrt_service *service = c->server->service;
    c->path = c->http.head + c->http.target;
    const char *query = memchr(c->path, '?', c->http.target_bytes);
    c->path_bytes = query ? (size_t)(query - c->path) : c->http.target_bytes;
    for (uint32_t i = 0; i < service->n_routes; i++) {
        const infrt_route *route = &service->routes[i];
        if (!path_is(c, route)) continue;
        if (method_is(c, route)) {
            c->route = route;
            return 0;
        }
        const size_t n = strlen(refusal->allow);
        snprintf(refusal->allow + n, sizeof refusal->allow - n, "%s%s", n ? ", " : "",
                 strcmp(route->method, "GET") == 0 ? "GET, HEAD" : route->method);
    }
    return refusal->allow[0] ? 405 : 404;
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

static bool is_type(const char *text, size_t n, const char *type) {
    const size_t own = strlen(type);
    return n >= own && strncasecmp(text, type, own) == 0 && (n == own || text[own] == ';' || text[own] == ' ');
}

static bool type_fits(const infrt_conn *c) {
    size_t n;
    const char *text = infrt_http_find(&c->http, "content-type", &n);
    if (!text) return c->route->how & INFRT_ROUTE_BYTES;
    return is_type(text, n, "application/json") ||
           ((c->route->how & INFRT_ROUTE_BYTES) && is_type(text, n, "application/octet-stream"));
}

bool infrt_request_admit(infrt_conn *c) {
    infrt_refusal refusal = {0};
    size_t n;
    request_id_take(c);
    const int wrong = route_find(c, &refusal);
    const char *key = infrt_http_find(&c->http, "authorization", &n);
    const bool open = c->route && (c->route->how & INFRT_ROUTE_OPEN);
    infrt_server *s = c->server;
    c->key = infrt_keys_find(&s->keys, key, n);
    if (!open && s->keys.n && !c->key) { /* first of all */
        refusal.type = "authentication_error";
        refusal.code = "invalid_api_key";
        infrt_refuse(&refusal, 401, NULL, "an API key is needed: Authorization: Bearer KEY");
    } else if (wrong) {
        infrt_refuse(&refusal, wrong, NULL, wrong == 405 ? "%.*s takes %s" : "there is no %.*s",
                     (int)c->path_bytes, c->path, refusal.allow);
    } else if (infrt_http_is_method(&c->http, "POST") && !type_fits(c)) {
        infrt_refuse(&refusal, 415, NULL, "Content-Type: application/json is needed");
    } else if (infrt_http_is_method(&c->http, "POST") &&
               !infrt_quota_request(&s->quotas, c->key, infrt_os_now_ns(), &refusal)) {
        s->metrics.rejected[INFRT_REJECTED_RATE]++;
    }
    if (!refusal.status) return true;
    if (c->http.has_body) c->close = true; /* it is not read */
    infrt_conn_refuse(c, &refusal);
    return false;
}

/* ---- log ---------------------------------------------------------------------------------------- */

static double ms_since(uint64_t begin, uint64_t end) {
    return end > begin ? (double)(end - begin) / 1e6 : 0;
}

void infrt_request_log(infrt_conn *c, int status) {
    infrt_out out = {0};
    const infrt_service *service = c->server->service;
    if (c->broken) status = 500;
    const uint32_t route = c->route ? (uint32_t)(c->route - service->routes) : service->n_routes;
    c->server->metrics.http[route][status / 100 < INFRT_STATUS_CLASSES ? status / 100 : 0]++;
    if (c->route && (c->route->how & INFRT_ROUTE_OPEN) && status == 200)
        return; /* probes come all the time */
    infrt_histogram_see(&c->server->metrics.http_times, infrt_seconds_long,
                        ms_since(c->begin_ns, infrt_os_now_ns()) / 1e3);
    infrt_out_text(&out, "{\"event\":\"request\",\"request_id\":");
    infrt_out_string(&out, c->request_id, strlen(c->request_id));
    infrt_out_format(&out, ",\"method\":\"%.*s\",\"path\":", (int)c->http.method_bytes, c->http.head);
    infrt_out_string(&out, c->path_bytes ? c->path : "", c->path_bytes);
    infrt_out_format(&out, ",\"status\":%d,\"ms\":%.3f", status, ms_since(c->begin_ns, infrt_os_now_ns()));
    if (c->code) infrt_out_format(&out, ",\"code\":\"%s\"", c->code);
    service->log(c, &out);
    infrt_out_text(&out, "}\n");
    infrt_log_put(&c->server->log, &out);
    infrt_out_free(&out);
}
