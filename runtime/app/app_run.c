/* app_run.c - the command `run`. */
#include "app.h"
#include "app_dump.h"
#include "app_outputs.h"
#include "app_trace.h"
#include "infrt_os.h"
#include <stdlib.h>

/* What watches the runs; either part may be off. */
typedef struct recorder {
    infrt_trace trace;
    infrt_dump dump;
    bool tracing, dumping;
} recorder;

static void on_begin(void *self, uint32_t worker) {
    recorder *r = self;
    if (r->tracing) infrt_trace_begin(&r->trace, worker);
}
static void on_met(void *self, uint32_t worker) {
    recorder *r = self;
    if (r->tracing) infrt_trace_met(&r->trace, worker);
}
static void on_step(void *self, uint32_t step, uint32_t worker) {
    recorder *r = self;
    if (r->tracing) infrt_trace_step(&r->trace, step, worker);
    if (r->dumping) infrt_dump_step(&r->dump, step);
}

static infrt_status recorder_open(infrt_app *app, recorder *r) {
    infrt_status status = INFRT_OK;
    r->tracing = app->options.profile != NULL;
    r->dumping = app->options.dump.n > 0;
    if (r->dumping) status = infrt_dump_create(app, &r->dump);
    if (status == INFRT_OK && r->tracing)
        status = infrt_trace_create(app->model, infrt_session_workers(app->session), &r->trace, &app->error);
    return status;
}

static void recorder_close(recorder *r) {
    infrt_dump_destroy(&r->dump);
    infrt_trace_destroy(&r->trace);
}

static void times_text(const infrt_app *app, const infrt_run_times *times) {
    char first[INFRT_TIME_TEXT], second[INFRT_TIME_TEXT];
    uint32_t workers = infrt_session_workers(app->session);
    if (times->n == 1) fprintf(stderr, "run %s", infrt_time_text((double)times->ns[0], first));
    else
        fprintf(stderr, "%u runs, fastest %s, median %s", times->n,
                infrt_time_text((double)times->ns[0], first),
                infrt_time_text((double)infrt_times_percentile(times->ns, times->n, 50), second));
    fprintf(stderr, ", start-up %s, %u worker%s\n",
            infrt_time_text((double)times->startup_ns, first), workers, workers == 1 ? "" : "s");
}

/* From here to the last run nothing touches the heap. */
static infrt_status runs(infrt_app *app, recorder *r, infrt_run_times *times) {
    infrt_watch watch = {r, on_begin, on_met, on_step};
    infrt_status status = INFRT_OK;
    times->startup_ns = infrt_os_now_ns() - app->begin_ns;
    for (uint32_t i = 0; i < times->n && status == INFRT_OK; i++) {
        uint64_t begin = infrt_os_now_ns();
        status = infrt_app_once(app, r->tracing || r->dumping ? &watch : NULL);
        times->ns[i] = infrt_os_now_ns() - begin;
    }
    return status;
}

static infrt_status results_give(infrt_app *app, const recorder *r, infrt_run_times *times) {
    infrt_status status = infrt_outputs_write(app);
    if (status == INFRT_OK && r->dumping)
        status = infrt_dump_write(&r->dump, app->options.dump_to, &app->error);
    if (status == INFRT_OK && r->tracing)
        status = infrt_trace_write(&r->trace, app->options.profile, &app->error);
    if (status != INFRT_OK) return status;
    infrt_times_sort(times->ns, times->n);
    infrt_result_notes(app);
    if (app->options.parsed.json) infrt_result_json(app, times, stdout);
    else infrt_result_text(app, stdout);
    if (!app->options.parsed.json) times_text(app, times);
    return INFRT_OK;
}

infrt_status infrt_app_run(infrt_app *app) {
    const infrt_options *o = &app->options;
    recorder r = {0};
    uint32_t workers = o->dump.n ? 1 : o->threads;
    if ((o->dump.n > 0) != (o->dump_to != NULL))
        return infrt_fail(&app->error, INFRT_ERR_USAGE, "--dump-tensor and --dump-to go together");
    if (o->dump.n && o->threads > 1)
        return infrt_fail(&app->error, INFRT_ERR_USAGE, "--dump-tensor runs with one worker; leave out --threads");
    infrt_run_times times = {.n = o->repeat ? o->repeat : 1};
    infrt_status status = infrt_outputs_check_endings(app);
    if (status == INFRT_OK) status = infrt_app_open(app, workers);
    if (status == INFRT_OK) status = infrt_inputs_read(app);
    if (status == INFRT_OK) status = recorder_open(app, &r);
    if (status == INFRT_OK) status = infrt_outputs_check_files(app, r.dump.infos, r.dump.n);
    if (status == INFRT_OK) {
        times.ns = calloc(times.n, sizeof *times.ns);
        if (!times.ns) status = infrt_fail(&app->error, INFRT_ERR_NO_MEMORY, "no memory for times");
    }
    if (status == INFRT_OK) status = runs(app, &r, &times);
    if (status == INFRT_OK) status = results_give(app, &r, &times);
    recorder_close(&r);
    free(times.ns);
    return status;
}
