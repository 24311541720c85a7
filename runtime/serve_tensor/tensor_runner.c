/* tensor_runner.c - see tensor_runner.h. */
#include "tensor_runner.h"
#include "infrt_os.h"
#include <string.h>

/* ---- the queue ---------------------------------------------------------------------------------- */

typedef struct taken {
    infrt_tensor_job *job;
    infrt_unit *unit;
    int64_t row;
} taken;

typedef struct batch {
    taken at[INFRT_RUN_UNITS];
    uint32_t n;
    int64_t rows;
} batch;

static void append(infrt_tensor_job ***end, infrt_tensor_job *job) {
    job->next = NULL;
    **end = job;
    *end = &job->next;
}

static void job_unlink(infrt_runners *r, infrt_tensor_job **link) {
    *link = (*link)->next;
    r->ready_end = &r->ready;
    while (*r->ready_end) r->ready_end = &(*r->ready_end)->next;
}

static int64_t rows_of(const infrt_runners *r, const infrt_unit *unit) {
    return r->batch_size < 0 ? 1 : unit->sizes[r->batch_size];
}

/* Whether a unit can share the run of those that are there: all sizes but the rows are the same. */
static bool unit_fits(const infrt_runners *r, const batch *b, const infrt_unit *unit) {
    const infc_model *m = r->model;
    if (!b->n) return true;
    if (r->batch_size < 0 || b->n == INFRT_RUN_UNITS ||
        b->rows + rows_of(r, unit) > m->sizes[r->batch_size].max)
        return false;
    for (uint32_t i = 0; i < m->n_sizes; i++)
        if ((int)i != r->batch_size && unit->sizes[i] != b->at[0].unit->sizes[i]) return false;
    return true;
}

/* Takes what fits, from the jobs in turn: who has more than fits goes to the end. `lock` is held. */
static void units_gather(infrt_runners *r, batch *b) {
    for (infrt_tensor_job **link = &r->ready, *job; (job = *link);) {
        while (job->n_begun < job->n_units && unit_fits(r, b, &job->units[job->n_begun])) {
            infrt_unit *unit = &job->units[job->n_begun++];
            b->at[b->n++] = (taken){job, unit, b->rows};
            b->rows += rows_of(r, unit);
        }
        if (job->n_begun == job->n_units) job_unlink(r, link);
        else link = &job->next;
    }
    if (r->ready && r->ready->n_begun && r->ready->next) {
        infrt_tensor_job *first = r->ready;
        job_unlink(r, &r->ready);
        append(&r->ready_end, first);
    }
}

static bool is_full(const infrt_runners *r, const batch *b) {
    return r->batch_size < 0 || b->rows >= r->model->sizes[r->batch_size].max || b->n == INFRT_RUN_UNITS;
}

/* ---- work --------------------------------------------------------------------------------------- */

static void job_return(infrt_runners *r, infrt_tensor_job *job) {
    infrt_mailbox_put(r->out, &job->letter);
}

/* Whether it is no longer to be run; one whose time is over is refused. `lock` is held. */
static bool is_over(infrt_tensor_job *job) {
    if (!job->refusal.status && job->timeout_ns && infrt_os_now_ns() - job->begin_ns >= job->timeout_ns) {
        job->refusal.type = "timeout_error";
        job->refusal.code = "deadline_exceeded";
        infrt_refuse(&job->refusal, 504, job->embeds ? "timeout" : "parameters.timeout",
                     "the time that an answer may take was over before its run");
    }
    return job->refusal.status != 0 || atomic_load(&job->cancelled);
}

/* Reads one body. `lock` is held, and let go meanwhile. */
static void body_read(infrt_runners *r, infrt_runner *runner) {
    infrt_tensor_job *job = r->unread;
    r->unread = job->next;
    if (!r->unread) r->unread_end = &r->unread;
    pthread_mutex_unlock(&r->lock);
    atomic_store(&runner->busy_since_ns, infrt_os_now_ns());
    if (!is_over(job))
        infrt_tensor_job_read(r->model, &r->embedder, job); /* nobody else has it yet */
    const bool goes_on = job->n_units && !is_over(job);
    if (!goes_on) job_return(r, job);
    pthread_mutex_lock(&r->lock);
    if (!goes_on) return;
    job->ready_ns = infrt_os_now_ns();
    append(&r->ready_end, job);
    pthread_cond_signal(&r->came);
}

infrt_status infrt_runner_run(infrt_runner *runner, void *const *inputs, infrt_error *error) {
    return infrt_session_run(runner->session, (const void *const *)inputs, runner->buffers.outputs, NULL, error);
}

static void error_take(infrt_tensor_job *job, const infrt_error *error) {
    const bool asked = error->status == INFRT_ERR_DATA;
    if (!asked) job->refusal.type = "server_error";
    infrt_refuse(&job->refusal, asked ? 400 : 500, NULL, "%s", error->text);
}

/* Runs the units [from, to) of a batch in one run. */
static void units_run(infrt_runners *r, infrt_runner *runner, batch *b, uint32_t from, uint32_t to) {
    taken *first = &b->at[from];
    const bool lone = to - from == 1 && !first->job->embeds; /* in place */
    infrt_error error = {0};
    int64_t rows = 0;
    memcpy(runner->sizes, first->unit->sizes, sizeof runner->sizes);
    for (uint32_t i = from; i < to; i++) {
        b->at[i].row = rows;
        rows += rows_of(r, b->at[i].unit);
        if (!lone)
            infrt_tensor_unit_fill(r->model, &r->embedder, b->at[i].job, b->at[i].unit,
                                   b->at[i].row, runner->buffers.inputs);
    }
    if (r->batch_size >= 0) runner->sizes[r->batch_size] = rows;
    const uint64_t begin = infrt_os_now_ns();
    const infrt_status status =
        infrt_runner_run(runner, lone ? first->job->infer.inputs : runner->buffers.inputs, &error);
    const uint64_t took = infrt_os_now_ns() - begin;
    if (status != INFRT_OK && to - from > 1) { /* whose fault it is shows alone */
        for (uint32_t i = from; i < to; i++) units_run(r, runner, b, i, i + 1);
        return;
    }
    for (uint32_t i = from; i < to; i++) {
        infrt_tensor_job *job = b->at[i].job;
        pthread_mutex_lock(&r->lock); /* another runner may have units of the same job */
        if (!job->queue_ns) job->queue_ns = begin - job->ready_ns + 1;
        if (i == from || b->at[i - 1].job != job)
            job->run_ns += took; /* a job's units are neighbours */
        if ((uint32_t)rows > job->rows) job->rows = (uint32_t)rows;
        if (status != INFRT_OK) error_take(job, &error);
        pthread_mutex_unlock(&r->lock);
        if (status == INFRT_OK)
            infrt_tensor_unit_take(r->model, &r->embedder, job, b->at[i].unit, b->at[i].row,
                                   runner->buffers.outputs);
    }
}

static bool job_done(infrt_runners *r, infrt_tensor_job *job) {
    pthread_mutex_lock(&r->lock);
    const bool done = ++job->n_done == job->n_units;
    pthread_mutex_unlock(&r->lock);
    return done;
}

/* Units of clients that have left, of jobs that failed or are too late, are not run. */
static void batch_run(infrt_runners *r, infrt_runner *runner, batch *b) {
    uint32_t n = 0;
    atomic_store(&runner->busy_since_ns, infrt_os_now_ns());
    infrt_tensor_job *dead[INFRT_RUN_UNITS];
    uint32_t n_dead = 0;
    for (uint32_t i = 0; i < b->n; i++) {
        infrt_tensor_job *job = b->at[i].job;
        pthread_mutex_lock(&r->lock);
        const bool over = is_over(job);
        pthread_mutex_unlock(&r->lock);
        if (over) dead[n_dead++] = job;
        else b->at[n++] = b->at[i];
    }
    if (n) units_run(r, runner, b, 0, n);
    for (uint32_t i = 0; i < n + n_dead; i++) {
        infrt_tensor_job *job = i < n ? b->at[i].job : dead[i - n];
        if (!job_done(r, job)) continue;
        if (!job->refusal.status && !atomic_load(&job->cancelled))
            infrt_tensor_job_end(r->model, &r->embedder, job);
        job_return(r, job);
    }
    atomic_store(&runner->busy_since_ns, 0);
}

static void *runner_main(void *self) {
    infrt_runner *runner = self;
    infrt_runners *r = runner->team;
    pthread_mutex_lock(&r->lock);
    while (!r->stops) {
        batch b;
        b.n = 0;
        b.rows = 0;
        if (!r->unread && !r->ready) {
            atomic_store(&runner->busy_since_ns, 0);
            pthread_cond_wait(&r->came, &r->lock);
            continue;
        }
        if (r->unread) {
            body_read(r, runner);
            continue;
        }
        const uint64_t deadline = r->ready->ready_ns + r->wait_ns;
        units_gather(r, &b);
        while (r->wait_ns && !is_full(r, &b) && !r->ready && !r->stops && infrt_os_now_ns() < deadline) {
            if (r->unread) body_read(r, runner);
            else infrt_cond_wait(&r->came, &r->lock, deadline); /* unless something comes */
            units_gather(r, &b);
        }
        pthread_mutex_unlock(&r->lock);
        batch_run(r, runner, &b);
        pthread_mutex_lock(&r->lock);
    }
    pthread_mutex_unlock(&r->lock);
    return NULL;
}

void infrt_runners_put(infrt_runners *r, infrt_tensor_job *job) {
    pthread_mutex_lock(&r->lock);
    append(&r->unread_end, job);
    pthread_cond_signal(&r->came);
    pthread_mutex_unlock(&r->lock);
}

/* ---- start and end ------------------------------------------------------------------------------ */

static infrt_status runner_open(infrt_runners *r, infrt_runner *runner, uint32_t workers, infrt_error *error) {
    runner->team = r;
    infrt_status status = infrt_buffers_create(r->model, &runner->buffers, error);
    if (status == INFRT_OK)
        status = infrt_session_create(r->model, r->weights, workers, &runner->session, error);
    if (status != INFRT_OK) return status;
    for (uint32_t i = 0; i < r->model->n_sizes; i++) runner->sizes[i] = r->model->sizes[i].max;
    if (r->model->n_sizes) infrt_session_sizes(runner->session, runner->sizes);
    infrt_buffers_synthesize(&runner->buffers, 1);
    return infrt_runner_run(runner, runner->buffers.inputs, error);
}

infrt_status infrt_runners_start(infrt_runners *r, const infc_model *model, const infrt_weights *weights,
                                 uint32_t n, uint32_t workers, infrt_mailbox *out, infrt_error *error) {
    infrt_status status = INFRT_OK;
    bool apart = true;
    r->model = model;
    r->weights = weights;
    r->out = out;
    pthread_mutex_init(&r->lock, NULL);
    infrt_cond_init(&r->came);
    r->unread_end = &r->unread;
    r->ready_end = &r->ready;
    for (uint32_t i = 0; i < n && status == INFRT_OK; i++, r->n++)
        status = runner_open(r, &r->runner[i], workers, error);
    r->batch_size = infrt_batch_size_find(model);
    if (status == INFRT_OK && r->batch_size >= 0)
        status = infrt_rows_check(&r->runner[0], &apart, error);
    if (!apart) r->batch_size = -1;
    for (uint32_t i = 0; i < n && status == INFRT_OK; i++) {
        r->runner[i].started =
            infrt_thread_start(&r->runner[i].thread, "runner", runner_main, &r->runner[i]);
        if (!r->runner[i].started)
            status = infrt_fail(error, INFRT_ERR_NO_MEMORY, "no thread for the server");
    }
    return status;
}

static void jobs_return(infrt_runners *r, infrt_tensor_job *jobs) {
    for (infrt_tensor_job *job = jobs, *next; job; job = next) {
        next = job->next;
        job_return(r, job);
    }
}

void infrt_runners_stop(infrt_runners *r) {
    if (!r->model) return;
    pthread_mutex_lock(&r->lock);
    r->stops = true;
    pthread_cond_broadcast(&r->came);
    pthread_mutex_unlock(&r->lock);
    for (uint32_t i = 0; i < r->n; i++) {
        if (r->runner[i].started) pthread_join(r->runner[i].thread, NULL);
        infrt_session_destroy(&r->runner[i].session);
        infrt_buffers_destroy(&r->runner[i].buffers);
    }
    jobs_return(r, r->unread);
    jobs_return(r, r->ready);
    pthread_cond_destroy(&r->came);
    pthread_mutex_destroy(&r->lock);
    r->model = NULL;
}

uint64_t infrt_runners_busy_since(infrt_runners *r) {
    uint64_t oldest = 0;
    for (uint32_t i = 0; i < r->n; i++) {
        const uint64_t since = atomic_load(&r->runner[i].busy_since_ns);
        if (since && (!oldest || since < oldest)) oldest = since;
    }
    return oldest;
}
