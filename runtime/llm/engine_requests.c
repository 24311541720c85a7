/* engine_requests.c - requests come, are asked about, and go. */
#include "engine.h"
#include "infrt_hash.h"
#include "infrt_os.h"
#include <inttypes.h>
#include <string.h>

const char *infrt_llm_finish_name(infrt_llm_finish finish) {
    switch (finish) {
    case INFRT_LLM_GOES_ON: return "";
    case INFRT_LLM_EOS: return "eos";
    case INFRT_LLM_STOP: return "stop";
    case INFRT_LLM_LENGTH: return "length";
    case INFRT_LLM_CONTEXT: return "context";
    case INFRT_LLM_CANCELLED: return "cancelled";
    case INFRT_LLM_FAILED: return "failed";
    case INFRT_LLM_DEADLINE: return "deadline";
    }
    return "?";
}

/* An id is the place of the request and how often requests have come: never 0, never the same. */
static infrt_request *place_of(const infrt_llm *llm, infrt_llm_id id) {
    uint32_t place = (uint32_t)id;
    return id >> 32 && place < llm->facts.requests ? &llm->requests[place] : NULL;
}

infrt_request *infrt_request_find(infrt_llm *llm, infrt_llm_id id) {
    infrt_request *r = place_of(llm, id);
    return r && atomic_load(&r->id) == id ? r : NULL;
}

void infrt_llm_cancel(infrt_llm *llm, infrt_llm_id id) {
    infrt_request *r = place_of(llm, id);
    if (r && atomic_load(&r->id) == id) atomic_store(&r->cancelled, id);
}

bool infrt_request_lives(const infrt_request *r) {
    return r->job.state == INFRT_JOB_WAITING || r->job.state == INFRT_JOB_RUNNING;
}

/* Whether it ends for a reason from outside, and is ended then. */
static bool end_if_called_off(infrt_llm *llm, infrt_request *r) {
    if (!infrt_request_lives(r)) return false;
    if (atomic_load(&r->cancelled) == atomic_load(&r->id))
        infrt_answer_end(llm, r, INFRT_LLM_CANCELLED, -1);
    else if (r->deadline_ns && infrt_os_now_ns() >= r->deadline_ns)
        infrt_answer_end(llm, r, INFRT_LLM_DEADLINE, -1);
    return r->job.state == INFRT_JOB_DONE;
}

/* What was polled makes room for what comes. */
static void text_move_up(infrt_request *r) {
    memmove(r->text, r->text + r->text_begin, r->text_end - r->text_begin);
    r->text_end -= r->text_begin;
    r->text_free -= r->text_begin;
    r->text_begin = 0;
}

/* For a further event and its text. */
static bool has_room(const infrt_llm *llm, const infrt_request *r) {
    if (r->n_events == INFRT_LLM_EVENTS) return false;
    if (!llm->info->tokenizer) return true;
    return llm->text_room - r->text_end >= infrt_detokenizer_room(llm->info->tokenizer) + 8;
}

void infrt_requests_sweep(infrt_llm *llm) {
    for (uint32_t i = 0; i < llm->facts.requests; i++) {
        infrt_request *r = &llm->requests[i];
        if (!infrt_request_lives(r) || end_if_called_off(llm, r)) continue;
        if (r->n_events == 0 && r->text_begin) text_move_up(r);
        r->job.ready = has_room(llm, r);
    }
}

static infrt_status settings_check(const infrt_llm *llm, const infrt_llm_request *request, infrt_error *error) {
    infrt_status status = infrt_sampling_check(&request->sampling, llm->facts.n_ids, error);
    if (status != INFRT_OK) return status;
    if (request->priority < -INFRT_LLM_PRIORITY || request->priority > INFRT_LLM_PRIORITY)
        return infrt_fail(error, INFRT_ERR_USAGE, "priority is %d: give %d to %d, the lower the sooner",
                          request->priority, -INFRT_LLM_PRIORITY, INFRT_LLM_PRIORITY);
    if (request->n_top_logprobs > INFRT_LLM_LOGPROBS)
        return infrt_fail(error, INFRT_ERR_USAGE, "%u alternatives to each token: at most %u are told",
                          request->n_top_logprobs, INFRT_LLM_LOGPROBS);
    if (request->adapter && infrt_adapters_find(&llm->adapters, request->adapter) == INFRT_NO_ADAPTER)
        return infrt_fail(error, INFRT_ERR_USAGE, "there is no adapter \"%.128s\"", request->adapter);
    if (request->n_stop && !llm->info->tokenizer)
        return infrt_fail(error, INFRT_ERR_USAGE,
                          "%s has no tokenizer, so no text that a stop string could end", llm->model->name);
    return INFRT_OK;
}

static infrt_status prompt_take(infrt_llm *llm, const infrt_llm_request *request, infrt_request *r,
                                infrt_error *error) {
    uint32_t context = llm->facts.context;
    infrt_status status = infrt_llm_encode(llm->model, request, r->tokens, context, &r->job.n_prompt, error);
    if (status != INFRT_OK) return status;
    if (r->job.n_prompt >= context)
        return infrt_fail(error, INFRT_ERR_USAGE, "the prompt of %u tokens fills the context of %u",
                          r->job.n_prompt, context);
    r->max_given = request->max_tokens > 0;
    if (r->max_given && request->max_tokens > context - r->job.n_prompt)
        return infrt_fail(
            error, INFRT_ERR_USAGE,
            "a prompt of %u tokens and an answer of %u are more than the context of %u; ask "
            "for at most %u",
            r->job.n_prompt, request->max_tokens, context, context - r->job.n_prompt);
    r->limit = r->max_given ? r->job.n_prompt + request->max_tokens : context;
    r->job.n = r->job.n_prompt;
    return INFRT_OK;
}

static infrt_status queue_check(const infrt_llm *llm, uint32_t n, infrt_error *error) {
    uint64_t waiting = 0;
    for (uint32_t i = 0; i < llm->facts.requests && llm->queue_tokens; i++)
        if (llm->requests[i].job.state == INFRT_JOB_WAITING) waiting += llm->requests[i].job.n;
    if (waiting == 0 || waiting + n <= llm->queue_tokens) return INFRT_OK;
    return infrt_fail(error, INFRT_ERR_BUSY,
                      "%" PRIu64 " tokens wait; with %u more they are over the %u of queue_tokens",
                      waiting, n, llm->queue_tokens);
}

static void job_take(infrt_llm *llm, const infrt_llm_request *request, infrt_job *job) {
    job->priority = request->priority;
    job->order = ++llm->n_arrived;
    job->arrived_ns = infrt_os_now_ns();
    job->n_computed = job->n_blocks = 0;
    job->ready = true;
    infrt_scheduler_add(&llm->scheduler, job,
                        request->tenant ? infrt_hash64(request->tenant, strlen(request->tenant)) | 1 : 0);
}

static void settings_take(infrt_llm *llm, const infrt_llm_request *request, infrt_request *r) {
    r->sampling = request->sampling;
    r->sampling.bias = r->bias;
    if (request->sampling.n_bias)
        memcpy(r->bias, request->sampling.bias, request->sampling.n_bias * sizeof *r->bias);
    r->ignore_eos = request->ignore_eos;
    r->logprobs = request->logprobs;
    r->n_top = request->n_top_logprobs;
    r->n_named = r->n_reused = 0;
    r->adapter = request->adapter ? infrt_adapters_find(&llm->adapters, request->adapter) : INFRT_NO_ADAPTER;
    infrt_adapters_hold(&llm->adapters, r->adapter);
    r->salt = request->salt;
    r->deadline_ns = request->deadline_ns;
    r->begun_ns = 0;
    r->text_begin = r->text_free = r->text_end = 0;
    r->event_first = r->n_events = 0;
    r->finish = INFRT_LLM_GOES_ON;
    if (llm->info->tokenizer)
        infrt_detokenizer_init(&r->detokenizer, llm->info->tokenizer, 0,
                               !request->messages && !request->answers);
}

infrt_status infrt_llm_submit(infrt_llm *llm, const infrt_llm_request *request, infrt_llm_id *out,
                              infrt_error *error) {
    infrt_request *r = llm->requests, *end = r + llm->facts.requests;
    *out = 0;
    while (r < end && r->job.state != INFRT_JOB_FREE) r++;
    if (r == end)
        return infrt_fail(error, INFRT_ERR_BUSY,
                          "there are %u requests already; poll some to their end, or open for more",
                          llm->facts.requests);
    infrt_status status = settings_check(llm, request, error);
    if (status == INFRT_OK && !infrt_stop_init(&r->stop, request->stop, request->n_stop))
        status = infrt_fail(error, INFRT_ERR_USAGE, "stop strings: at most %d, each of 1 to %d bytes",
                            INFRT_STOP_STRINGS, INFRT_STOP_BYTES);
    if (status == INFRT_OK) status = prompt_take(llm, request, r, error);
    if (status == INFRT_OK) status = queue_check(llm, r->job.n, error);
    if (status != INFRT_OK) return status;
    settings_take(llm, request, r);
    job_take(llm, request, &r->job);
    *out = (r->job.order << 32) | (uint64_t)(r - llm->requests);
    atomic_store(&r->cancelled, 0);
    atomic_store(&r->id, *out);
    return INFRT_OK;
}

static void finish_tell(infrt_request *r, infrt_llm_event *out) {
    out->finish = r->finish;
    out->token = r->finish_token;
    out->stop = r->finish == INFRT_LLM_STOP ? r->stop.found : 0;
    out->text_bytes = r->text_end - r->text_begin;
    r->job.state = INFRT_JOB_FREE;
    atomic_store(&r->id, 0);
}

static void chosen_tell(infrt_request *r, infrt_llm_event *out) {
    const infrt_llm_chosen *event = &r->events[r->event_first];
    r->event_first = (r->event_first + 1) % INFRT_LLM_EVENTS;
    r->n_events--;
    r->text_begin += event->text_bytes;
    out->token = event->token;
    out->text_bytes = event->text_bytes;
    out->logprob = event->logprob;
    out->top = event->top;
    out->n_top = event->n_top;
    out->n_answer -= r->n_events + (r->job.state == INFRT_JOB_DONE && r->finish_token >= 0);
}

bool infrt_llm_poll(infrt_llm *llm, infrt_llm_id id, infrt_llm_event *out) {
    infrt_request *r = infrt_request_find(llm, id);
    if (!r) return false;
    end_if_called_off(llm, r);
    if (r->n_events == 0 && r->job.state != INFRT_JOB_DONE) return false;
    *out = (infrt_llm_event){.text = r->text + r->text_begin,
                             .n_prompt = r->job.n_prompt,
                             .n_reused = r->n_reused,
                             .n_preempted = r->job.n_preempted,
                             .begun_ns = r->begun_ns,
                             .n_answer = r->job.n - r->job.n_prompt};
    if (r->n_events) chosen_tell(r, out);
    else finish_tell(r, out);
    return true;
}
