/* serve_metrics.c - /metrics in Prometheus' text format, from serve_metrics.def. */
#include "serve_server.h"
#include <inttypes.h>
#include <stdio.h>

static const double SECONDS_SHORT[] = {0.001, 0.0025, 0.005, 0.01, 0.02, 0.04, 0.06,
                                       0.08,  0.1,    0.25,  0.5,  0.75, 1,    2.5,
                                       5,     7.5,    10,    20,   40,   80};
static const double SECONDS_LONG[] = {0.05, 0.1, 0.3, 0.5, 0.8, 1,  1.5, 2,   2.5, 5,
                                      10,   15,  20,  30,  40,  60, 120, 240, 960, 7680};
static const double COUNTS[] = {1,    2,    5,     10,    20,    50,     100,    200,    500, 1000,
                                2000, 5000, 10000, 20000, 50000, 100000, 200000, 500000, 1e6, 2e6};
static const double COUNTS_SMALL[] = {1,  2,  3,  4,  5,  6,  7,  8,  9,  10,
                                      12, 16, 20, 24, 32, 40, 48, 56, 60, 64};

static const double *bounds_of(const infrt_metrics *m, const infrt_histogram *h) {
#define INFRT_HISTOGRAM(member, name, buckets, help) \
    if (h == &m->member) return buckets;
#include "serve_metrics.def"
    return COUNTS;
}

void infrt_metrics_see(infrt_metrics *m, infrt_histogram *which, double value) {
    const double *bounds = bounds_of(m, which);
    int i = 0;
    while (i < INFRT_BUCKETS && value > bounds[i]) i++;
    which->counts[i]++;
    which->n++;
    which->sum += value;
}

static void help_put(infrt_out *out, const char *name, const char *type, const char *help) {
    if (help) infrt_out_format(out, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

static void histogram_put(const infrt_server *s, const infrt_histogram *h, const char *name, infrt_out *out) {
    const double *bounds = bounds_of(&s->metrics, h);
    uint64_t sum = 0;
    for (int i = 0; i <= INFRT_BUCKETS; i++) {
        char bound[32] = "+Inf";
        sum += h->counts[i];
        if (i < INFRT_BUCKETS) snprintf(bound, sizeof bound, "%g", bounds[i]);
        infrt_out_format(out, "%s_bucket{model_name=\"%s\",le=\"%s\"} %" PRIu64 "\n", name,
                         s->model->name, bound, sum);
    }
    infrt_out_format(out, "%s_sum{model_name=\"%s\"} %.9g\n%s_count{model_name=\"%s\"} %" PRIu64 "\n",
                     name, s->model->name, h->sum, name, s->model->name, h->n);
}

static void http_put(const infrt_server *s, infrt_out *out) {
    help_put(out, "http_requests_total", "counter", "Requests by route and class of status.");
    for (uint32_t i = 0; i <= infrt_n_routes; i++)
        for (int k = 0; k < INFRT_STATUS_CLASSES; k++) {
            const bool known = i < infrt_n_routes;
            if (!s->metrics.http[i][k]) continue;
            infrt_out_format(out, "http_requests_total{handler=\"%s\",method=\"%s\",status=\"%dxx\"} %" PRIu64 "\n",
                             known ? infrt_routes[i].path : "none",
                             known ? infrt_routes[i].method : "", k, s->metrics.http[i][k]);
        }
}

static void adapters_put(const infrt_server *s, const infrt_board *b, infrt_out *out) {
    const char *comma = "";
    if (!s->model->llm->adapters) return;
    help_put(out, "vllm:lora_requests_info", "gauge", "Adapters that answers are being made with.");
    infrt_out_format(out, "vllm:lora_requests_info{max_lora=\"%u\",waiting_lora_adapters=\"\",running_lora_adapters=\"",
                     s->model->llm->adapters->max_loaded);
    for (uint32_t i = 0; i < b->n_adapters; i++) {
        if (!b->adapters[i].requests || !b->adapters[i].name[0]) continue;
        infrt_out_format(out, "%s%s", comma, b->adapters[i].name);
        comma = ",";
    }
    infrt_out_format(out, "\"} %" PRIu64 "\n", b->steps);
}

void infrt_handle_metrics(infrt_conn *c) {
    infrt_server *s = c->server;
    infrt_board *b = &s->engine.board;
    infrt_metrics *m = &s->metrics;
    infrt_out out = {0};
    pthread_mutex_lock(&b->lock);
    m->preempted = b->facts.times_preempted;
#define INFRT_GAUGE(title, value, help)   \
    help_put(&out, title, "gauge", help); \
    infrt_out_format(&out, "%s{model_name=\"%s\"} %.9g\n", title, s->model->name, (double)(value));
#define INFRT_COUNTER(member, title, labels, help) \
    help_put(&out, title, "counter", help);        \
    infrt_out_format(&out, "%s{%smodel_name=\"%s\"} %" PRIu64 "\n", title, labels, s->model->name, m->member);
#define INFRT_HISTOGRAM(member, title, buckets, help) \
    help_put(&out, title, "histogram", help);         \
    histogram_put(s, &m->member, title, &out);
#include "serve_metrics.def"
    adapters_put(s, b, &out);
    infrt_out_format(
        &out,
        "# HELP vllm:cache_config_info What the cache is.\n# TYPE vllm:cache_config_info gauge\n"
        "vllm:cache_config_info{model_name=\"%s\",block_size=\"%u\",num_blocks=\"%u\",cache_dtype="
        "\"%s\"} 1\n",
        s->model->name, b->facts.block_positions, b->facts.kv_blocks, s->model->llm->kv_format);
    pthread_mutex_unlock(&b->lock);
    http_put(s, &out);
    const bool failed = out.failed;
    infrt_conn_reply(c, 200, "text/plain; version=0.0.4; charset=utf-8", &out, NULL);
    if (!failed) infrt_out_free(&out);
}
