/* session.c - one block of memory and one team of workers for the runs of a model. */
#include "infrt_os.h"
#include "workers.h"
#include <inttypes.h>
#include <string.h>

struct infrt_session {
    const infc_model *model;
    infrt_workers *workers;
    void *arena;
    uint64_t arena_bytes;
    size_t block_bytes;
    const void *weights;
    const int64_t *sizes;
    /* Of the run in progress: */
    const void *const *inputs;
    void *const *outputs;
    const infrt_watch *watch;
    _Atomic int result; /* the first that was not INFC_RUN_OK */
};

static void watched_wait(void *self, uint32_t worker) {
    const infrt_session *session = self;
    const infc_barrier *barrier = infrt_workers_barrier(session->workers);
    barrier->wait(barrier->self, worker);
    session->watch->met(session->watch->self, worker);
}

static void run_part(void *self, uint32_t worker) {
    infrt_session *session = self;
    const infrt_watch *watch = session->watch;
    infc_barrier barrier = {watched_wait, session};
    infc_probe probe = {watch ? watch->step : NULL, watch ? watch->self : NULL};
    infc_call call = {
        .weights = session->weights,
        .arena = session->arena,
        .inputs = session->inputs,
        .outputs = session->outputs,
        .worker = worker,
        .n_workers = infrt_workers_count(session->workers),
        .barrier = infrt_workers_barrier(session->workers),
        .probe = probe.step ? &probe : NULL,
        .sizes = session->sizes,
    };
    if (call.barrier && watch && watch->met) call.barrier = &barrier;
    if (watch && watch->begin) watch->begin(watch->self, worker);
    int result = session->model->run(&call), none = INFC_RUN_OK;
    if (result != INFC_RUN_OK) atomic_compare_exchange_strong(&session->result, &none, result);
}

infrt_status infrt_session_create(const infc_model *model, const infrt_weights *weights,
                                  uint32_t workers, infrt_session **out, infrt_error *error) {
    const bool chosen = workers > 0;
    *out = NULL;
    if (!chosen) workers = infrt_workers_default(model);
    if (workers > INFRT_MAX_WORKERS)
        return infrt_fail(error, INFRT_ERR_USAGE, "%u workers: give 1 to %u", workers, INFRT_MAX_WORKERS);
    if (model->weights_bytes && !weights->data)
        return infrt_fail(error, INFRT_ERR_USAGE, "%s: the weights are not open", model->name);
    uint64_t arena_bytes, block_bytes;
    size_t head = (sizeof(infrt_session) + INFC_ALIGN - 1) / INFC_ALIGN * INFC_ALIGN;
    if (__builtin_mul_overflow(model->arena_bytes_per_worker, workers, &arena_bytes) ||
        __builtin_add_overflow(arena_bytes, model->arena_bytes, &arena_bytes) ||
        __builtin_add_overflow(arena_bytes, head + INFC_OVER_READ, &block_bytes) || block_bytes > SIZE_MAX / 2)
        return infrt_fail(error, INFRT_ERR_NO_MEMORY,
                          "%s: an arena for %u workers does not fit the address space", model->name, workers);
    /* Not touched here: the first run does so, every worker where it writes. */
    infrt_session *session = infrt_os_block_reserve((size_t)block_bytes, block_bytes >= INFRT_OS_HUGE_FROM);
    if (!session)
        return infrt_fail(error, INFRT_ERR_NO_MEMORY,
                          "%s: no memory for an arena of %" PRIu64 " bytes", model->name, arena_bytes);
    session->model = model;
    session->arena = (char *)session + head;
    session->arena_bytes = arena_bytes;
    session->block_bytes = (size_t)block_bytes;
    session->weights = weights->data;
    infrt_status status =
        (chosen ? infrt_workers_create : infrt_workers_create_fitting)(workers, &session->workers, error);
    if (status != INFRT_OK) infrt_session_destroy(&session);
    *out = session;
    return status;
}

infrt_status infrt_session_run(infrt_session *session, const void *const *inputs,
                               void *const *outputs, const infrt_watch *watch, infrt_error *error) {
    session->inputs = inputs;
    session->outputs = outputs;
    session->watch = watch;
    atomic_store(&session->result, INFC_RUN_OK);
    infrt_workers_run(session->workers, run_part, session);
    int result = atomic_load(&session->result);
    if (result == INFC_RUN_BAD_INDEX)
        return infrt_fail(
            error, INFRT_ERR_DATA,
            "%s: an index is out of range: a token id or the like, in an input or computed from "
            "one, is not below the number of rows that it chooses from, or a sequence_lens is not "
            "within the steps",
            session->model->name);
    if (result == INFC_RUN_TOO_LONG)
        return infrt_fail(
            error, INFRT_ERR_DATA,
            "%s: a loop goes on after the most trips that the model was compiled for; "
            "raise loops.max_trips of its spec",
            session->model->name);
    if (result != INFC_RUN_OK)
        return infrt_fail(error, INFRT_ERR_INTERNAL, "%s: the model's code refused the call (%d)",
                          session->model->name, result);
    return INFRT_OK;
}

void infrt_session_sizes(infrt_session *session, const int64_t *sizes) { session->sizes = sizes; }

void *infrt_session_arena(const infrt_session *session) { return session->arena; }

uint64_t infrt_session_arena_bytes(const infrt_session *session) { return session->arena_bytes; }

uint32_t infrt_session_workers(const infrt_session *session) {
    return infrt_workers_count(session->workers);
}

void infrt_session_each(infrt_session *session, void (*task)(void *self, uint32_t worker), void *self) {
    infrt_workers_run(session->workers, task, self);
}

void infrt_session_destroy(infrt_session **session) {
    if (!session || !*session) return;
    infrt_workers_destroy(&(*session)->workers);
    infrt_os_block_destroy(*session, (*session)->block_bytes);
    *session = NULL;
}
