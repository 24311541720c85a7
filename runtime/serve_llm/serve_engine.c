/* serve_engine.c - see serve_engine.h. Letters first, then a step of all that runs, then its events. */
#define _GNU_SOURCE 1
#include "serve_engine.h"
#include "adapters.h"
#include "infrt_os.h"
#include "session_task.h"
#include <float.h>
#include <stdlib.h>
#include <string.h>

enum { STALLED_MS = 50, IDLE_MS = 1000 };

/* ---- jobs --------------------------------------------------------------------------------------- */

/* Each answer of each prompt draws with a generator of its own, the first of the first as `run --seed` does: equal
 * prompts of one request are as independent as the answers of one. */
static uint64_t seed_of(const infrt_serve_job *job, uint32_t choice) {
    const uint32_t prompt = job->choices[choice].prompt, i = choice % job->ask.n;
    return choice ? infc_check_random(job->seed, i, prompt) : job->seed;
}

static infrt_llm_request request_of(const infrt_serve_job *job, uint32_t choice) {
    const infrt_ask *a = &job->ask;
    const infrt_prompt *p = &a->prompts[job->choices[choice].prompt];
    return (infrt_llm_request){.tokens = p->ids,
                               .n_tokens = p->n_ids,
                               .answers = a->chat,
                               .max_tokens = a->max_tokens,
                               .ignore_eos = a->ignore_eos,
                               .logprobs = a->logprobs,
                               .n_top_logprobs = a->top_logprobs,
                               .sampling = {.temperature = a->temperature,
                                            .top_k = a->top_k,
                                            .top_p = a->top_p > 0 ? a->top_p : FLT_MIN, /* 0: the likeliest alone */
                                            .min_p = a->min_p,
                                            .repetition_penalty = a->repetition_penalty,
                                            .presence_penalty = a->presence_penalty,
                                            .frequency_penalty = a->frequency_penalty,
                                            .seed = seed_of(job, choice),
                                            .bias = a->bias,
                                            .n_bias = a->n_bias},
                               .priority = a->priority,
                               .tenant = job->tenant[0] ? job->tenant : NULL,
                               .salt = job->salt,
                               .deadline_ns = job->deadline_ns,
                               .adapter = job->adapter,
                               .stop = a->stop,
                               .n_stop = a->n_stop};
}

static const infrt_board_adapter *board_find(const infrt_board *b, const char *name) {
    for (uint32_t i = 0; i < b->n_adapters; i++)
        if (strcmp(b->adapters[i].name, name) == 0) return &b->adapters[i];
    return NULL;
}

static void job_begin(infrt_engine_thread *e, infrt_serve_job *job) {
    infrt_status status = INFRT_OK;
    for (uint32_t i = 0; i < job->n_choices && status == INFRT_OK; i++) {
        const infrt_llm_request request = request_of(job, i);
        status = infrt_llm_submit(e->llm, &request, &job->choices[i].id, &job->error);
        job->n_running += status == INFRT_OK;
    }
    if (status != INFRT_OK) atomic_store(&job->cancelled, true);
    job->adapter_gone = status != INFRT_OK && job->adapter && !board_find(&e->board, job->adapter);
    job->next_running = e->jobs;
    e->jobs = job;
}

/* One event goes on its way; false: no memory. */
static bool piece_send(infrt_engine_thread *e, infrt_serve_job *job, uint32_t choice,
                       const infrt_llm_event *event) {
    const size_t top_bytes = event->n_top * sizeof *event->top;
    infrt_piece *piece = malloc(sizeof *piece + top_bytes + event->text_bytes);
    if (!piece) return false;
    infrt_llm_logprob *top = (infrt_llm_logprob *)(piece + 1);
    char *text = (char *)(piece + 1) + top_bytes;
    *piece = (infrt_piece){.letter.kind = INFRT_LETTER_PIECE, .job = job, .choice = choice, .event = *event};
    if (top_bytes) memcpy(top, event->top, top_bytes);
    if (event->text_bytes) memcpy(text, event->text, event->text_bytes);
    piece->event.top = top;
    piece->event.text = text;
    infrt_mailbox_put(e->out, &piece->letter);
    return true;
}

static void choice_poll(infrt_engine_thread *e, infrt_serve_job *job, uint32_t i) {
    infrt_llm_event event;
    bool gone = atomic_load(&job->cancelled);
    if (gone) infrt_llm_cancel(e->llm, job->choices[i].id);
    while (infrt_llm_poll(e->llm, job->choices[i].id, &event)) {
        if (!gone && !piece_send(e, job, i, &event)) {
            gone = true;
            infrt_fail(&job->error, INFRT_ERR_NO_MEMORY, "there is no memory for the answer");
            atomic_store(&job->cancelled, true);
            infrt_llm_cancel(e->llm, job->choices[i].id);
        }
        if (!event.finish) continue;
        job->choices[i].id = 0;
        job->n_running--;
    }
}

/* Returns whether anything happened. */
static bool jobs_poll(infrt_engine_thread *e) {
    bool any = false;
    for (infrt_serve_job **at = &e->jobs, *job; (job = *at);) {
        if (!atomic_load(&job->stalled) || atomic_load(&job->cancelled))
            for (uint32_t i = 0; i < job->n_choices; i++)
                if (job->choices[i].id) choice_poll(e, job, i);
        if (job->n_running) {
            at = &job->next_running;
            continue;
        }
        any = true;
        *at = job->next_running;
        infrt_mailbox_put(e->out, &job->letter);
    }
    return any;
}

/* A step failed: each answer ends, and is told why. */
static void jobs_fail(infrt_engine_thread *e, const infrt_error *error) {
    for (infrt_serve_job *job = e->jobs; job; job = job->next_running)
        infrt_fail(&job->error, error->status, "%s", error->text);
}

/* ---- adapters ----------------------------------------------------------------------------------- */

/* The idle one that made room: it is on the board, and no longer there. */
static void evicted_note(infrt_engine_thread *e, infrt_adapter_change *change) {
    const infrt_board *b = &e->board;
    const uint32_t n = infrt_llm_adapters(e->llm, e->facts, b->adapters_room);
    for (uint32_t i = 0; i < b->n_adapters; i++) {
        const infrt_board_adapter *was = &b->adapters[i];
        bool there = !was->name[0] || strcmp(was->name, change->name) == 0;
        for (uint32_t k = 0; k < n && !there; k++) there = strcmp(e->facts[k].name, was->name) == 0;
        if (there) continue;
        memcpy(change->evicted, was->name, sizeof change->evicted);
        change->evicted_bytes = was->bytes;
    }
}

static void adapter_add(infrt_engine_thread *e, infrt_adapter_change *change, bool replaces) {
    const infrt_status status = infrt_llm_adapter_add(e->llm, change->name, change->adapter, &change->error);
    if (status == INFRT_ERR_NO_MEMORY) change->http_status = 409;
    if (status != INFRT_OK) return;
    change->result = replaces ? "replaced" : "loaded";
    evicted_note(e, change);
}

static void adapter_change(infrt_engine_thread *e, infrt_adapter_change *change) {
    const infrt_board_adapter *there = board_find(&e->board, change->name);
    infrt_error *error = &change->error;
    change->http_status = 400;
    if (change->removes) {
        if (!there) change->http_status = 404;
        change->bytes = there ? there->bytes : 0;
        change->result = "unloaded";
        infrt_llm_adapter_remove(e->llm, change->name, error);
    } else if (there && !change->in_place && there->hash != change->adapter->hash) {
        infrt_fail(error, INFRT_ERR_USAGE,
                   "The lora adapter '%s' has already been loaded. If you want to load the adapter "
                   "in place, set "
                   "'load_inplace' to True.",
                   change->name);
    } else if (!there || there->hash != change->adapter->hash) {
        adapter_add(e, change, there != NULL);
    } else {
        change->result = "unchanged";
    }
}

/* ---- the thread --------------------------------------------------------------------------------- */

static void board_write(infrt_engine_thread *e, const infrt_llm_step_info *info) {
    infrt_board *b = &e->board;
    const double now = infrt_os_date();
    infrt_llm_adapter_facts *facts = e->facts;
    const uint32_t n = infrt_llm_adapters(e->llm, facts, b->adapters_room);
    pthread_mutex_lock(&b->lock);
    infrt_llm_describe(e->llm, &b->facts);
    b->written = now;
    b->running = info->running;
    b->waiting = info->waiting;
    b->steps += info->tokens > 0;
    if (info->tokens) infrt_histogram_see(&b->step_sizes, infrt_counts, info->tokens);
    b->sampled_tokens += info->sampled;
    b->n_adapters = n;
    for (uint32_t i = 0; i < b->n_adapters; i++) {
        infrt_board_adapter *a = &b->adapters[i];
        *a = (infrt_board_adapter){.requests = facts[i].requests,
                                   .running = facts[i].running,
                                   .pinned = facts[i].pinned,
                                   .rank = facts[i].rank,
                                   .n_modules = facts[i].n_modules,
                                   .loaded = facts[i].loaded,
                                   .bytes = facts[i].bytes,
                                   .hash = facts[i].hash};
        strncpy(a->name, facts[i].name, sizeof a->name - 1);
        if (facts[i].base) strncpy(a->base, facts[i].base, sizeof a->base - 1);
    }
    pthread_mutex_unlock(&b->lock);
}

/* Returns whether to go on. */
static bool letters_take(infrt_engine_thread *e, uint32_t ms) {
    bool goes_on = true;
    for (infrt_letter *letter = infrt_mailbox_take(&e->in, ms), *next; letter; letter = next) {
        next = letter->next;
        if (letter->kind == INFRT_LETTER_STOP) goes_on = false;
        else if (letter->kind == INFRT_LETTER_SESSION) e->session = (infrt_session_task *)letter;
        else if (letter->kind == INFRT_LETTER_JOB) job_begin(e, (infrt_serve_job *)letter);
        else {
            adapter_change(e, (infrt_adapter_change *)letter);
            board_write(e, &(infrt_llm_step_info){.running = e->board.running, .waiting = e->board.waiting});
            infrt_mailbox_put(e->out, letter);
        }
    }
    return goes_on;
}

/* One slice, unless the thread ends. */
static void session_step(infrt_engine_thread *e, bool goes_on) {
    infrt_session_task *task = e->session;
    if (!task || (goes_on && infrt_session_task_step(task, e->llm))) return;
    e->session = NULL;
    infrt_mailbox_put(e->out, &task->letter);
}

static void *engine_main(void *self) {
    infrt_engine_thread *e = self;
    infrt_llm_step_info info = {0};
    uint32_t wait_ms = 0;
    bool goes_on = true;
    while (goes_on) {
        goes_on = letters_take(e, wait_ms);
        atomic_store(&e->busy_since_ns, infrt_os_now_ns());
        for (infrt_serve_job *job = e->jobs; !goes_on && job; job = job->next_running)
            atomic_store(&job->cancelled, true);
        const bool ended = jobs_poll(e); /* those that are no longer wanted go before the step */
        infrt_error error = {0};
        if (infrt_llm_step(e->llm, &info, &error) != INFRT_OK) jobs_fail(e, &error);
        jobs_poll(e);
        board_write(e, &info);
        session_step(e, goes_on);
        wait_ms = e->session || info.tokens || ended ? 0 : e->jobs ? STALLED_MS : IDLE_MS;
    }
    return NULL;
}

infrt_status infrt_engine_thread_start(infrt_engine_thread *e, infrt_llm *llm, const infc_model *model,
                                       infrt_mailbox *out, infrt_error *error) {
    const infc_adapter_info *adapters = model->llm->adapters;
    e->llm = llm;
    e->out = out;
    e->board.adapters_room = adapters ? adapters->max_loaded : 0;
    e->board.adapters = calloc(e->board.adapters_room + 1, sizeof *e->board.adapters);
    e->facts = calloc(e->board.adapters_room + 1, sizeof *e->facts);
    pthread_mutex_init(&e->board.lock, NULL);
    infrt_mailbox_init(&e->in, false);
    const bool memory = e->board.adapters && e->facts;
    if (memory) board_write(e, &(infrt_llm_step_info){0});
    e->started = memory && infrt_thread_start(&e->thread, "infrt-engine", engine_main, e);
    return e->started ? INFRT_OK : infrt_fail(error, INFRT_ERR_NO_MEMORY, "no thread for the engine");
}

void infrt_engine_thread_stop(infrt_engine_thread *e) {
    infrt_letter stop = {.kind = INFRT_LETTER_STOP};
    if (!e->llm) return;
    if (e->started) {
        infrt_mailbox_put(&e->in, &stop);
        pthread_join(e->thread, NULL);
    }
    infrt_mailbox_deinit(&e->in);
    pthread_mutex_destroy(&e->board.lock);
    free(e->board.adapters);
    free(e->facts);
    *e = (infrt_engine_thread){0};
}
