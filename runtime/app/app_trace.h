/* app_trace.h - when each worker did each step of one run. */
#ifndef INFRT_APP_TRACE_H
#define INFRT_APP_TRACE_H
#include "infrt.h"

/* Written by the workers, each in rows of its own; nothing is allocated during a run. A step's time starts
 * when its worker has left the barrier before it, so waiting is the gap between two steps. */
typedef struct infrt_trace {
    const infc_model *model;
    uint32_t n_workers;
    size_t row;      /* entries between two workers' rows */
    uint64_t *from;  /* [n_workers][row]: begin of each step */
    uint64_t *to;    /* ends; 0: the step did not run */
    uint64_t *since; /* [n_workers][row]: [0] when the worker became free, [1] when its run began */
    size_t block_bytes;
    void *block;
} infrt_trace;

infrt_status infrt_trace_create(const infc_model *model, uint32_t n_workers, infrt_trace *out, infrt_error *error);
void infrt_trace_destroy(infrt_trace *trace);
/* What an infrt_watch calls; `self` is the trace. */
void infrt_trace_begin(void *self, uint32_t worker);
void infrt_trace_met(void *self, uint32_t worker);
void infrt_trace_step(void *self, uint32_t step, uint32_t worker);

/* Chrome's trace format (chrome://tracing, ui.perfetto.dev): an event per step and worker, and the waits. */
infrt_status infrt_trace_write(const infrt_trace *trace, const char *path, infrt_error *error);

#endif
