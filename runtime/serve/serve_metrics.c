/* serve_metrics.c - /metrics in Prometheus' text format: what all services count, then what this one does. */
#include "serve_server.h"
#include <inttypes.h>
#include <stdio.h>

const double infrt_seconds_fine[] = {1e-5,   2.5e-5, 5e-5, 1e-4, 2.5e-4, 5e-4,  1e-3,
                                     2.5e-3, 5e-3,   0.01, 0.02, 0.04,   0.075, 0.15,
                                     0.3,    0.6,    1.2,  2.5,  10,     60};
const double infrt_seconds_short[] = {0.001, 0.0025, 0.005, 0.01, 0.02, 0.04, 0.06, 0.08, 0.1, 0.25,
                                      0.5,   0.75,   1,     2.5,  5,    7.5,  10,   20,   40,  80};
const double infrt_seconds_long[] = {0.05, 0.1, 0.3, 0.5, 0.8, 1,  1.5, 2,   2.5, 5,
                                     10,   15,  20,  30,  40,  60, 120, 240, 960, 7680};
const double infrt_counts[] = {1,    2,    5,     10,    20,    50,     100,    200,    500, 1000,
                               2000, 5000, 10000, 20000, 50000, 100000, 200000, 500000, 1e6, 2e6};
const double infrt_counts_small[] = {1,  2,  3,  4,  5,  6,  7,  8,  9,  10,
                                     12, 16, 20, 24, 32, 40, 48, 56, 60, 64};

void infrt_histogram_see(infrt_histogram *h, const double bounds[INFRT_BUCKETS], double value) {
    int i = 0;
    while (i < INFRT_BUCKETS && value > bounds[i]) i++;
    h->counts[i]++;
    h->n++;
    h->sum += value;
}

void infrt_metric_help(infrt_out *out, const char *name, const char *type, const char *help) {
    if (help) infrt_out_format(out, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

void infrt_gauge_put(infrt_out *out, const char *model, const char *name, double value, const char *help) {
    infrt_metric_help(out, name, "gauge", help);
    infrt_out_format(out, "%s{model_name=\"%s\"} %.9g\n", name, model, value);
}

void infrt_counter_put(infrt_out *out, const char *model, const char *name, const char *labels,
                       uint64_t value, const char *help) {
    infrt_metric_help(out, name, "counter", help);
    infrt_out_format(out, "%s{%smodel_name=\"%s\"} %" PRIu64 "\n", name, labels, model, value);
}

void infrt_histogram_put(infrt_out *out, const char *model, const char *name, const infrt_histogram *h,
                         const double bounds[INFRT_BUCKETS], const char *help) {
    uint64_t sum = 0;
    infrt_metric_help(out, name, "histogram", help);
    for (int i = 0; i <= INFRT_BUCKETS; i++) {
        char bound[32] = "+Inf";
        sum += h->counts[i];
        if (i < INFRT_BUCKETS) snprintf(bound, sizeof bound, "%g", bounds[i]);
        infrt_out_format(out, "%s_bucket{model_name=\"%s\",le=\"%s\"} %" PRIu64 "\n", name, model, bound, sum);
    }
    infrt_out_format(out, "%s_sum{model_name=\"%s\"} %.9g\n%s_count{model_name=\"%s\"} %" PRIu64 "\n",
                     name, model, h->sum, name, model, h->n);
}

static void http_put(const infrt_server *s, infrt_out *out) {
    infrt_metric_help(out, "http_requests_total", "counter", "Requests by route and class of status.");
    for (uint32_t i = 0; i <= s->service->n_routes; i++)
        for (int k = 0; k < INFRT_STATUS_CLASSES; k++) {
            const infrt_route *route = i < s->service->n_routes ? &s->service->routes[i] : NULL;
            if (!s->metrics.http[i][k]) continue;
            infrt_out_format(
                out, "http_requests_total{handler=\"%s\",method=\"%s\",status=\"%dxx\"} %" PRIu64 "\n",
                route ? route->path : "none", route ? route->method : "", k, s->metrics.http[i][k]);
        }
}

void infrt_handle_metrics(infrt_conn *c) {
    static const char *const reasons[] = {"reason=\"queue\",",       "reason=\"rate\",",
                                          "reason=\"tokens\",",      "reason=\"adapters\",",
                                          "reason=\"connections\",", "reason=\"bodies\","},
                             *const phases[] = {"phase=\"waiting\",", "phase=\"streaming\","};
    infrt_server *s = c->server;
    const infrt_metrics *m = &s->metrics;
    const char *model = s->model->name;
    infrt_out out = {0};
    infrt_gauge_put(&out, model, "infrt_connections", s->n_connections, "Open connections.");
    infrt_gauge_put(&out, model, "infrt_ready", !s->draining && infrt_server_alive(s), "1 while requests are taken.");
    infrt_gauge_put(&out, model, "infrt_engine_still_seconds", (double)s->watch.still_ns / 1e9,
                    "For how long what computes has not gone on.");
    infrt_counter_put(&out, model, "infrt_request_failure_total", "", m->failed,
                      "Answers that the model failed to give.");
    for (int i = 0; i < INFRT_N_REJECTED; i++)
        infrt_counter_put(&out, model, "infrt_admission_rejected_total", reasons[i], m->rejected[i],
                          i ? NULL : "Requests that were turned away.");
    for (int i = 0; i < 2; i++)
        infrt_counter_put(&out, model, "infrt_client_disconnect_total", phases[i], m->disconnected[i],
                          i ? NULL : "Clients that left before their answer was there.");
    infrt_counter_put(&out, model, "infrt_log_dropped_total", "", s->log.dropped,
                      "Lines of the log that nobody took.");
    for (int i = 0; i < 2 && s->tls; i++)
        infrt_counter_put(&out, model, "infrt_tls_reload_total", i ? "result=\"bad\"," : "result=\"good\",",
                          m->tls_read[i], i ? NULL : "How often the certificate was read again.");
    for (int i = 0; i < 2 && infrt_keys_are_file(s->options->api_keys); i++)
        infrt_counter_put(&out, model, "infrt_keys_reload_total", i ? "result=\"bad\"," : "result=\"good\",",
                          m->keys_read[i], i ? NULL : "How often the API keys were read again.");
    infrt_histogram_put(&out, model, "http_request_duration_seconds", &m->http_times, infrt_seconds_long,
                        "From the end of a request's head to the end of its answer.");
    s->service->metrics(s, &out);
    http_put(s, &out);
    infrt_conn_reply(c, 200, "text/plain; version=0.0.4; charset=utf-8", &out, NULL);
    infrt_out_free(&out);
}
