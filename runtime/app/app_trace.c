/* app_trace.c - records and writes a timeline. */
#include "app_trace.h"
#include "app_json.h"
#include "infrt_os.h"
#include "output_file.h"

infrt_status infrt_trace_create(const infc_model *model, uint32_t n_workers, infrt_trace *out,
                                infrt_error *error) {
    const size_t line = INFC_ALIGN / sizeof(uint64_t); /* rows start on cache lines of their own */
    size_t row = (model->n_steps + 2 + line - 1) / line * line, plane = row * n_workers;
    *out = (infrt_trace){.model = model, .n_workers = n_workers, .row = row};
    out->block_bytes = 3 * plane * sizeof(uint64_t);
    out->block = infrt_os_block_create(out->block_bytes);
    if (!out->block) return infrt_fail(error, INFRT_ERR_NO_MEMORY, "no memory for a trace");
    out->from = out->block;
    out->to = out->from + plane;
    out->since = out->to + plane;
    return INFRT_OK;
}

void infrt_trace_destroy(infrt_trace *trace) {
    infrt_os_block_destroy(trace->block, trace->block_bytes);
    *trace = (infrt_trace){0};
}

void infrt_trace_begin(void *self, uint32_t worker) {
    infrt_trace *t = self;
    uint64_t *since = t->since + worker * t->row;
    for (uint32_t i = 0; i < t->model->n_steps; i++) t->to[worker * t->row + i] = 0;
    since[0] = since[1] = infrt_os_now_ns();
}

void infrt_trace_met(void *self, uint32_t worker) {
    infrt_trace *t = self;
    t->since[worker * t->row] = infrt_os_now_ns();
}

void infrt_trace_step(void *self, uint32_t step, uint32_t worker) {
    infrt_trace *t = self;
    size_t at = worker * t->row + step;
    if (step >= t->model->n_steps) return;
    t->from[at] = t->since[worker * t->row];
    t->since[worker * t->row] = t->to[at] = infrt_os_now_ns();
}

static void event_open(infrt_json *json, const char *name, const char *category, uint32_t worker,
                       double from_us, double us) {
    infrt_json_open(json, NULL, '{');
    infrt_json_string(json, "name", name);
    infrt_json_string(json, "cat", category);
    infrt_json_string(json, "ph", "X");
    infrt_json_float(json, "ts", from_us, 17);
    infrt_json_float(json, "dur", us, 17);
    infrt_json_uint(json, "pid", 1);
    infrt_json_uint(json, "tid", worker);
}

static void worker_name(infrt_json *json, uint32_t worker) {
    char name[32];
    snprintf(name, sizeof name, "worker %u", worker);
    infrt_json_open(json, NULL, '{');
    infrt_json_string(json, "name", "thread_name");
    infrt_json_string(json, "ph", "M");
    infrt_json_uint(json, "pid", 1);
    infrt_json_uint(json, "tid", worker);
    infrt_json_open(json, "args", '{');
    infrt_json_string(json, "name", name);
    infrt_json_close(json, '}');
    infrt_json_close(json, '}');
}

static void worker_write(infrt_json *json, const infrt_trace *t, uint32_t worker, uint64_t zero) {
    const uint64_t *from = t->from + worker * t->row, *to = t->to + worker * t->row;
    uint64_t last = t->since[worker * t->row + 1];
    worker_name(json, worker);
    for (uint32_t i = 0; i < t->model->n_steps; i++) {
        const infc_step_info *step = &t->model->steps[i];
        if (to[i] == 0) continue;
        if (step->barrier && from[i] > last) {
            event_open(json, "wait", "barrier", worker, (double)(last - zero) / 1e3,
                       (double)(from[i] - last) / 1e3);
            infrt_json_close(json, '}');
        }
        event_open(json, step->name, "step", worker, (double)(from[i] - zero) / 1e3,
                   (double)(to[i] - from[i]) / 1e3);
        infrt_json_open(json, "args", '{');
        infrt_json_uint(json, "step", i);
        infrt_json_string(json, "node", step->node);
        infrt_json_string(json, "kernel", step->kernel);
        infrt_json_uint(json, "flops", step->flops);
        infrt_json_uint(json, "bytes", step->bytes);
        infrt_json_close(json, '}');
        infrt_json_close(json, '}');
        last = to[i];
    }
}

infrt_status infrt_trace_write(const infrt_trace *trace, const char *path, infrt_error *error) {
    infrt_output_file file;
    infrt_status status = infrt_output_open(path, &file, error);
    if (status != INFRT_OK) return status;
    uint64_t zero = UINT64_MAX;
    for (uint32_t w = 0; w < trace->n_workers; w++)
        if (trace->since[w * trace->row + 1] < zero) zero = trace->since[w * trace->row + 1];
    infrt_json json = {.out = file.stream};
    infrt_json_open(&json, NULL, '{');
    infrt_json_string(&json, "displayTimeUnit", "ns");
    infrt_json_open(&json, "traceEvents", '[');
    for (uint32_t w = 0; w < trace->n_workers; w++) worker_write(&json, trace, w, zero);
    infrt_json_close(&json, ']');
    infrt_json_close(&json, '}');
    return infrt_output_close(&file, status, error);
}
