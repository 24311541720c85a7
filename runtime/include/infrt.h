/* infrt.h - the small runtime: maps the weights of a model, owns the memory of its runs and a team of
 * threads to run it with. Needs libc, libm and pthreads only. Language models: infrt_llm.h, on top of this.
 *
 *     infrt_error error = {0};
 *     infrt_weights weights;
 *     infrt_session *session;
 *     if (infrt_model_check(&model, &error) || infrt_weights_open(&model, NULL, &weights, &error) ||
 *         infrt_session_create(&model, &weights, infrt_workers_default(&model), &session, &error))
 *         return fprintf(stderr, "%s\n", error.text), infrt_exit_code(error.status);
 *     infrt_session_run(session, inputs, outputs, NULL, &error);
 *
 * Conventions: sizes are bytes, times nanoseconds of the monotonic clock. Functions that can fail return
 * a status and record the first failure in `error` (which may be null). Nothing here prints or exits.
 * Pointers are borrowed for the call unless it says otherwise. There are no mutable globals.
 * SPDX-License-Identifier: MIT */
#ifndef INFRT_H
#define INFRT_H
#include "infc_abi.h"
#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

#define INFRT_MAX_WORKERS 1024u

typedef enum infrt_status {
    INFRT_OK = 0,
    INFRT_ERR_CHECK,     /* a check that was asked for did not hold: exit 1 */
    INFRT_ERR_USAGE,     /* an argument out of range, an unknown flag: exit 2 */
    INFRT_ERR_DATA,      /* malformed data, or data that is not what the model takes: exit 3 */
    INFRT_ERR_IO,        /* files, disk, permissions: exit 4 */
    INFRT_ERR_NO_MEMORY, /* exit 4 */
    INFRT_ERR_CPU,       /* this CPU lacks a feature that the code needs: exit 4 */
    INFRT_ERR_INTERNAL,  /* our own bug: exit 70 */
    INFRT_ERR_BUSY,      /* full for now, try again later: exit 4 */
} infrt_status;

/* The first failure: what is wrong, where, and what to do. Start from {0}. */
typedef struct infrt_error {
    infrt_status status;
    char text[1024];
} infrt_error;

/* Records a failure unless `error` already holds one, or is null. Returns `status`. */
infrt_status infrt_fail(infrt_error *error, infrt_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* The process exit code that documents `status`. */
int infrt_exit_code(infrt_status status);

/* ---- model -------------------------------------------------------------------------------------- */

/* Whether this runtime and this CPU can run `model`. Call it before anything below.
 * INFRT_ERR_DATA: another ABI version; INFRT_ERR_CPU: names the missing feature. */
infrt_status infrt_model_check(const infc_model *model, infrt_error *error);
/* A copy of `model` that runs one of its levels of code, and whose target and isa are that: the one named, or with a
 * null name the newest that this CPU has. What the copy points to is the model's.
 * INFRT_ERR_USAGE: it has no such level; INFRT_ERR_CPU: names the missing feature. */
infrt_status infrt_model_level(const infc_model *model, const char *name, infc_model *out, infrt_error *error);
/* Sum over the steps; flops of one run. */
uint64_t infrt_model_flops(const infc_model *model);

/* ---- weights ------------------------------------------------------------------------------------ */

/* A read-only view of a payload: an infc_weights_header and what follows it. INFC_OVER_READ bytes after
 * its end may be read. Shared freely between sessions and threads. */
typedef struct infrt_weights {
    const void *data; /* the header, INFC_ALIGN aligned: infc_call.weights; null if the model has none */
    uint64_t bytes; /* of header and tensors */
    uint64_t hash;  /* as the header states it */
    void *map;      /* private: what to unmap, or null */
    size_t map_bytes;
} infrt_weights;

/* Finds and maps the weights of `model`: those of the file `path` (a weights file, or a binary that ends
 * in a payload of weights). If path is null: the embedded ones, else the payload at the end of the running
 * program, else MODEL.weights beside it. Checks magic, sizes against the file's size, alignment and
 * layout_hash; does not read the tensors. `out` is set on success, and given: close it after the last
 * session that uses it.
 * INFRT_ERR_IO: cannot open or map; INFRT_ERR_DATA: truncated, foreign, or of another layout. */
infrt_status infrt_weights_open(const infc_model *model, const char *path, infrt_weights *out, infrt_error *error);
/* Reads all of it: INFRT_ERR_DATA unless its XXH64 is the one in its header. About 10 GB/s. */
infrt_status infrt_weights_check_hash(const infrt_weights *weights, infrt_error *error);
void infrt_weights_close(infrt_weights *weights); /* may be {0}; leaves {0} */

/* ---- workers ------------------------------------------------------------------------------------ */

/* A team of n workers: the caller's thread is worker 0, the others are threads of the team. Between and
 * inside runs they spin for at most 100 us when n is within the usable CPUs, then sleep; where spinning keeps
 * being in vain they sleep at once. One run at a time. */
typedef struct infrt_workers infrt_workers;

/* How many CPUs this process may keep busy, at least 1: the smaller of its affinity mask and its cgroup
 * CPU quota (v1 or v2, of every enclosing group, rounded down). Reads /proc and /sys, about 100 us. */
uint32_t infrt_workers_available(void);
/* How many workers are worth it for `model`: one per 10 MFLOP of a run, within infrt_workers_available.
 * Below 20 MFLOP (about 1 ms) starting threads and meeting at barriers costs more than it saves. */
uint32_t infrt_workers_default(const infc_model *model);

/* n in 1..INFRT_MAX_WORKERS; n = 1 starts no thread. Signals stay with the caller's threads.
 * INFRT_ERR_USAGE, INFRT_ERR_NO_MEMORY. `out` is given: destroy it. */
infrt_status infrt_workers_create(uint32_t n, infrt_workers **out, infrt_error *error);
/* Calls task(self, worker) once on every worker; returns when all have. What the caller wrote before is
 * visible to them, what they wrote is visible after. */
void infrt_workers_run(infrt_workers *team, void (*task)(void *self, uint32_t worker), void *self);
/* The barrier of a run: every worker of the team must call it equally often. Null when n = 1. */
const infc_barrier *infrt_workers_barrier(const infrt_workers *team);
uint32_t infrt_workers_count(const infrt_workers *team);
void infrt_workers_destroy(infrt_workers **team); /* not during a run; null is fine; leaves null */

/* ---- sessions ----------------------------------------------------------------------------------- */

/* The memory and threads of runs of one model, one run at a time. Model and weights are borrowed until it
 * is destroyed and can be shared by many sessions. */
typedef struct infrt_session infrt_session;

/* Told what happens during a run, on the worker's own thread; a null function is not called. */
typedef struct infrt_watch {
    void *self;
    void (*begin)(void *self, uint32_t worker);               /* before the first step */
    void (*met)(void *self, uint32_t worker);                 /* after each barrier */
    void (*step)(void *self, uint32_t step, uint32_t worker); /* after each step */
} infrt_watch;

/* Allocates everything that a run needs, in one block from the OS; the first run fills it with pages. workers: 0 for
 * infrt_workers_default. `out` is given. INFRT_ERR_USAGE (workers), INFRT_ERR_NO_MEMORY. */
infrt_status infrt_session_create(const infc_model *model, const infrt_weights *weights,
                                  uint32_t workers, infrt_session **out, infrt_error *error);
/* One run; allocates nothing. inputs[i], outputs[i]: row-major, of the bytes and in the order of the model's
 * tables, natural alignment. INFRT_ERR_INTERNAL: the model's code refused the call. */
infrt_status infrt_session_run(infrt_session *session, const void *const *inputs,
                               void *const *outputs, const infrt_watch *watch, infrt_error *error);
/* For models with sizes known only at run time, before the first run: one for each of model->sizes, within its
 * bounds; borrowed. */
void infrt_session_sizes(infrt_session *session, const int64_t *sizes);
/* The arena of the last run, where model->tensors[i].offset points; the session's own. */
void *infrt_session_arena(const infrt_session *session);
uint64_t infrt_session_arena_bytes(const infrt_session *session);
uint32_t infrt_session_workers(const infrt_session *session);
/* Calls task(self, worker) once on every worker, between runs. */
void infrt_session_each(infrt_session *session, void (*task)(void *self, uint32_t worker), void *self);
void infrt_session_destroy(infrt_session **session); /* null is fine; leaves null */

#ifdef __cplusplus
}
#endif
#endif
