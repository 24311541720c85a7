/* app_bench.c - the command `bench`. Latencies are measured without probes; a second, shorter series with them
 * gives the share of each step. */
#include "app.h"
#include "app_json.h"
#include "app_trace.h"
#include "infrt_os.h"
#include <stdlib.h>
#include <string.h>

enum { SAMPLES_MAX = 1 << 20, WARM_RUNS_MIN = 3, PROBE_NS = 200 };

/* One measurement; per step: nanoseconds of all workers together, and of the slowest, added over the runs. */
typedef struct bench {
    uint64_t *ns, *busy, *slowest;
    uint32_t n, traced_runs;
    uint64_t startup_ns; /* from main to ready */
    uint64_t total;      /* workers' time from begin to their last step, added over the runs */
} bench;

static infrt_status bench_create(infrt_app *app, bench *b) {
    size_t steps = app->model->n_steps + (size_t)1;
    b->ns = malloc(SAMPLES_MAX * sizeof *b->ns);
    b->busy = calloc(steps, sizeof *b->busy);
    b->slowest = calloc(steps, sizeof *b->slowest);
    if (b->ns && b->busy && b->slowest) return INFRT_OK;
    return infrt_fail(&app->error, INFRT_ERR_NO_MEMORY, "no memory for samples");
}

static void bench_destroy(bench *b) {
    free(b->ns);
    free(b->busy);
    free(b->slowest);
}

static infrt_status measure(infrt_app *app, bench *b, double seconds) {
    uint64_t start = infrt_os_now_ns(), now = start, warm = (uint64_t)(seconds * 1e8), end;
    infrt_status status = INFRT_OK;
    for (uint32_t i = 0; status == INFRT_OK && (i < WARM_RUNS_MIN || now - start < warm); i++) {
        status = infrt_app_once(app, NULL);
        now = infrt_os_now_ns();
    }
    end = now + (uint64_t)(seconds * 1e9);
    while (status == INFRT_OK && b->n < SAMPLES_MAX && (b->n == 0 || now < end)) {
        uint64_t begin = infrt_os_now_ns();
        status = infrt_app_once(app, NULL);
        now = infrt_os_now_ns();
        b->ns[b->n++] = now - begin;
    }
    return status;
}

static void trace_add(const infrt_trace *t, bench *b) {
    for (uint32_t i = 0; i < t->model->n_steps; i++) {
        uint64_t slowest = 0;
        for (uint32_t w = 0; w < t->n_workers; w++) {
            size_t at = w * t->row + i;
            uint64_t ns = t->to[at] ? t->to[at] - t->from[at] : 0;
            b->busy[i] += ns;
            if (ns > slowest) slowest = ns;
        }
        b->slowest[i] += slowest;
    }
    for (uint32_t w = 0; w < t->n_workers; w++)
        b->total += t->since[w * t->row] - t->since[w * t->row + 1];
    b->traced_runs++;
}

static infrt_status trace_steps(infrt_app *app, bench *b, double seconds) {
    infrt_trace trace;
    infrt_status status =
        infrt_trace_create(app->model, infrt_session_workers(app->session), &trace, &app->error);
    if (status != INFRT_OK) return status;
    infrt_watch watch = {&trace, infrt_trace_begin, infrt_trace_met, infrt_trace_step};
    uint64_t now = infrt_os_now_ns(), end = now + (uint64_t)(seconds * 2e8);
    uint64_t usual = 2 * infrt_times_percentile(b->ns, b->n, 50) + PROBE_NS * (uint64_t)app->model->n_steps;
    do {
        uint64_t begin = now;
        status = infrt_app_once(app, &watch);
        now = infrt_os_now_ns();
        /* One that was interrupted says more about the machine than about a step. */
        if (now - begin <= usual || (b->traced_runs == 0 && now >= end)) trace_add(&trace, b);
    } while (status == INFRT_OK && now < end);
    infrt_trace_destroy(&trace);
    return status;
}

static double gflops(uint64_t flops, double ns) { return ns > 0 ? (double)flops / ns : 0; }

static double share(const bench *b, uint64_t ns) {
    return b->total ? (double)ns / (double)b->total : 0;
}

static void bench_text(const infrt_app *app, const bench *b) {
    const infc_model *m = app->model;
    char p50[INFRT_TIME_TEXT], p95[INFRT_TIME_TEXT], p99[INFRT_TIME_TEXT], least[INFRT_TIME_TEXT];
    uint64_t median = infrt_times_percentile(b->ns, b->n, 50), busy = 0;
    uint32_t workers = infrt_session_workers(app->session);
    printf("%s, %s, %u worker%s, %u runs, start-up %s\n", m->name, m->target, workers,
           workers == 1 ? "" : "s", b->n, infrt_time_text((double)b->startup_ns, p50));
    printf("p50 %s  p95 %s  p99 %s  fastest %s  %.2f GFLOP/s\n\n", infrt_time_text((double)median, p50),
           infrt_time_text((double)infrt_times_percentile(b->ns, b->n, 95), p95),
           infrt_time_text((double)infrt_times_percentile(b->ns, b->n, 99), p99),
           infrt_time_text((double)b->ns[0], least), gflops(infrt_model_flops(m), (double)median));
    printf("%7s %12s %8s  %s\n", "share", "time", "GFLOP/s", "step");
    for (uint32_t i = 0; i < m->n_steps; i++) {
        double ns = (double)b->slowest[i] / b->traced_runs;
        busy += b->busy[i];
        printf("%6.1f%% %12s %8.2f  %s: %s, %s\n", 100 * share(b, b->busy[i]),
               infrt_time_text(ns, least), gflops(m->steps[i].flops, ns), m->steps[i].name,
               m->steps[i].node ? m->steps[i].node : "", m->steps[i].kernel ? m->steps[i].kernel : "");
    }
    printf("%6.1f%% %12s %8s  waiting and between steps\n",
           100 * share(b, b->total > busy ? b->total - busy : 0), "", "");
}

static void bench_json(const infrt_app *app, const bench *b) {
    const infc_model *m = app->model;
    infrt_json json = {.out = stdout};
    uint64_t median = infrt_times_percentile(b->ns, b->n, 50);
    infrt_json_open(&json, NULL, '{');
    infrt_json_string(&json, "model", m->name);
    infrt_json_string(&json, "target", m->target);
    infrt_json_uint(&json, "workers", infrt_session_workers(app->session));
    infrt_json_uint(&json, "startup_ns", b->startup_ns);
    infrt_json_uint(&json, "runs", b->n);
    infrt_json_uint(&json, "min_ns", b->ns[0]);
    infrt_json_uint(&json, "p50_ns", median);
    infrt_json_uint(&json, "p95_ns", infrt_times_percentile(b->ns, b->n, 95));
    infrt_json_uint(&json, "p99_ns", infrt_times_percentile(b->ns, b->n, 99));
    infrt_json_float(&json, "gflops", gflops(infrt_model_flops(m), (double)median), 6);
    infrt_json_open(&json, "steps", '[');
    for (uint32_t i = 0; i < m->n_steps; i++) {
        double ns = (double)b->slowest[i] / b->traced_runs;
        infrt_json_open(&json, NULL, '{');
        infrt_json_string(&json, "name", m->steps[i].name);
        infrt_json_string(&json, "node", m->steps[i].node);
        infrt_json_string(&json, "kernel", m->steps[i].kernel);
        infrt_json_float(&json, "ns", ns, 9);
        infrt_json_float(&json, "share", share(b, b->busy[i]), 6);
        infrt_json_float(&json, "gflops", gflops(m->steps[i].flops, ns), 6);
        infrt_json_close(&json, '}');
    }
    infrt_json_close(&json, ']');
    infrt_json_close(&json, '}');
}

static void tell_made_up(infrt_error *error) {
    const size_t n = strlen(error->text);
    snprintf(error->text + n, sizeof error->text - n,
             ". bench makes its inputs up, which do not suit this model: give it real ones and "
             "time that with  "
             "run --inputs F.npz --repeat 100");
}

infrt_status infrt_app_bench(infrt_app *app) {
    double seconds = app->options.seconds > 0 ? app->options.seconds : 1;
    bench b = {0};
    infrt_status status = infrt_app_open(app, app->options.threads);
    b.startup_ns = infrt_os_now_ns() - app->begin_ns;
    if (status == INFRT_OK) status = bench_create(app, &b);
    if (status == INFRT_OK) {
        infrt_buffers_synthesize(&app->buffers, app->model->check_seed);
        status = measure(app, &b, seconds);
        if (status == INFRT_ERR_DATA) tell_made_up(&app->error);
    }
    if (status == INFRT_OK) infrt_times_sort(b.ns, b.n);
    if (status == INFRT_OK) status = trace_steps(app, &b, seconds);
    if (status == INFRT_OK) (app->options.parsed.json ? bench_json : bench_text)(app, &b);
    bench_destroy(&b);
    return status;
}
