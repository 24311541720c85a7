/* engine.c - opens an engine, drives its model step by step, closes it. */
#include "engine.h"
#include "engine_memory.h"
#include "infrt_os.h"
#include <inttypes.h>
#include <string.h>

static infrt_status shape_check(const infc_model *model, infrt_error *error) {
    static const uint32_t ranks[STEP_INPUTS] = {1, 1, 1, 1, 2, 2};
    const infc_llm_info *info = model->llm;
    const uint32_t n = info->adapters ? STEP_INPUTS_ADAPTED : STEP_INPUTS;
    bool ok = info->struct_bytes >= sizeof *info && model->n_inputs == n && model->n_outputs == 1 &&
              model->n_sizes <= INFC_MAX_RANK && model->outputs[0].dtype == INFC_DTYPE_f32;
    for (uint32_t i = 0; i < STEP_INPUTS && ok; i++)
        ok = model->inputs[i].rank == ranks[i] &&
             model->inputs[i].dtype == (i == STEP_KV ? INFC_DTYPE_i8 : INFC_DTYPE_i32);
    for (uint32_t i = STEP_ADAPTS; i < n && ok; i++) ok = model->inputs[i].dtype == INFC_DTYPE_bool;
    ok = ok && info->vocab && info->context > 1 && info->chunk && info->max_sequences &&
         info->block_positions && info->block_bytes && info->block_bytes % INFC_ALIGN == 0 &&
         (uint64_t)info->max_blocks * info->block_positions >= info->context;
    if (ok) return INFRT_OK;
    return infrt_fail(error, INFRT_ERR_INTERNAL,
                      "%s: its inputs are not those of a language model's step", model->name);
}

/* Which of the model's sizes is dim 0 of `input`; -1: none. */
static int32_t size_of_input(const infc_model *model, uint32_t input) {
    for (uint32_t i = 0; i < model->n_sizes; i++)
        if (model->sizes[i].input == input && model->sizes[i].axis == 0) return (int32_t)i;
    return -1;
}

static infrt_status model_check(const infc_model *model, infrt_error *error) {
    infrt_status status = infrt_model_check(model, error);
    if (status != INFRT_OK) return status;
    if (!model->llm)
        return infrt_fail(error, INFRT_ERR_USAGE, "%s is not a language model", model->name);
    return shape_check(model, error);
}

static infrt_status at_most(const char *name, uint32_t value, uint32_t most, infrt_error *error) {
    if (value <= most) return INFRT_OK;
    return infrt_fail(error, INFRT_ERR_USAGE, "%s is %u: the model was compiled for at most %u",
                      name, value, most);
}

static infrt_status facts_choose(infrt_llm *llm, const infrt_llm_config *config, infrt_error *error) {
    const infc_llm_info *info = llm->info;
    infrt_llm_facts *f = &llm->facts;
    infrt_status status = at_most("context", config->context, info->context, error);
    if (status == INFRT_OK) status = at_most("chunk", config->chunk, info->chunk, error);
    if (status != INFRT_OK) return status;
    if (config->requests > INFRT_LLM_REQUESTS)
        return infrt_fail(error, INFRT_ERR_USAGE, "%u requests at a time: give at most %u",
                          config->requests, INFRT_LLM_REQUESTS);
    f->workers = config->workers ? config->workers : infrt_workers_available();
    f->chunk = config->chunk ? config->chunk : info->chunk;
    f->requests = config->requests ? config->requests : 64;
    f->sequences = info->max_sequences;
    f->vocab = info->vocab;
    f->n_ids = info->tokenizer && info->tokenizer->n_tokens < info->vocab ? info->tokenizer->n_tokens
                                                                          : info->vocab;
    f->block_positions = info->block_positions;
    status = infrt_kv_size(llm, config, error);
    return status;
}

static void scheduler_init(infrt_llm *llm, const infrt_llm_config *config) {
    infrt_scheduler *s = &llm->scheduler;
    s->chunk = llm->facts.chunk;
    s->sequences = llm->facts.sequences;
    s->most = llm->facts.requests;
    s->block_positions = llm->info->block_positions;
    s->target_ns = config->target_itl_ns ? config->target_itl_ns : llm->info->target_itl_ns;
    s->age_ns = INFRT_AGE_NS;
    infrt_batch_owner(llm);
}

static void inputs_place(infrt_llm *llm) {
    llm->size_tokens = size_of_input(llm->model, STEP_TOKENS);
    llm->size_rows = size_of_input(llm->model, STEP_LAST_ROWS);
    llm->size_blocks = size_of_input(llm->model, STEP_KV);
    for (uint32_t i = 0; i < llm->model->n_sizes; i++) llm->sizes[i] = llm->model->sizes[i].max;
    if (llm->size_blocks >= 0) llm->sizes[llm->size_blocks] = llm->facts.kv_blocks;
    if (llm->model->n_sizes) infrt_session_sizes(llm->session, llm->sizes);
}

infrt_status infrt_llm_open(const infc_model *model, const infrt_llm_config *config,
                            infrt_llm **out, infrt_error *error) {
    static const infrt_llm_config defaults;
    *out = NULL;
    if (!config) config = &defaults;
    infrt_status status = model_check(model, error);
    if (status != INFRT_OK) return status;
    infrt_llm *llm = infrt_os_block_create(sizeof *llm);
    if (!llm) return infrt_fail(error, INFRT_ERR_NO_MEMORY, "no memory for an engine");
    llm->model = model;
    llm->info = model->llm;
    llm->watch = config->watch;
    llm->reuse = !config->forgetful && !model->llm->forgetful;
    llm->queue_tokens = config->queue_tokens;
    status = facts_choose(llm, config, error);
    if (status == INFRT_OK)
        status = infrt_weights_open(model, config->weights, &llm->weights, error);
    if (status == INFRT_OK) status = infrt_engine_memory(llm, config, error);
    if (status == INFRT_OK)
        status = infrt_session_create(model, &llm->weights, llm->facts.workers, &llm->session, error);
    if (status == INFRT_OK) status = infrt_engine_place(llm, config, error);
    if (status == INFRT_OK) {
        llm->facts.weights_bytes = llm->weights.bytes;
        scheduler_init(llm, config);
        inputs_place(llm);
    }
    const infc_adapter_info *adapters = model->llm->adapters;
    for (uint64_t i = 0; status == INFRT_OK && adapters && i < adapters->n_preload; i++) {
        status = infrt_llm_adapter_load_text(llm, adapters->preload[i].name, adapters->preload[i].path, error);
        infrt_adapter_pin(llm, adapters->preload[i].name);
    }
    if (status != INFRT_OK) infrt_llm_close(&llm);
    *out = llm;
    return status;
}

void infrt_llm_close(infrt_llm **llm) {
    if (!llm || !*llm) return;
    infrt_session_destroy(&(*llm)->session);
    infrt_engine_memory_free(*llm);
    infrt_weights_close(&(*llm)->weights);
    infrt_os_block_destroy(*llm, sizeof **llm);
    *llm = NULL;
}

void infrt_llm_describe(const infrt_llm *llm, infrt_llm_facts *out) {
    *out = llm->facts;
    out->kv_blocks_free = llm->pool.n_free;
    out->times_preempted = llm->scheduler.n_preempted;
}

infrt_status infrt_batch_run(infrt_llm *llm, infrt_error *error) {
    const void *inputs[STEP_INPUTS_ADAPTED] = {llm->tokens,        llm->positions,    llm->slots,
                                               llm->last_rows,     llm->tables,       llm->kv,
                                               llm->adapter_slots, llm->adapters.pool};
    for (int i = 0; i < STEP_GROUPS; i++) inputs[STEP_ADAPTS + i] = &llm->adapts[i];
    void *outputs[1] = {llm->logits};
    if (llm->n_wanting == 0)
        llm->last_rows[0] = (int32_t)llm->n_rows - 1; /* at least one is computed */
    if (llm->size_tokens >= 0) llm->sizes[llm->size_tokens] = llm->n_rows;
    if (llm->size_rows >= 0) llm->sizes[llm->size_rows] = llm->n_wanting ? llm->n_wanting : 1;
    return infrt_session_run(llm->session, inputs, outputs, llm->watch, error);
}

/* After a step that failed nobody knows what the cache holds. */
static void all_fail(infrt_llm *llm) {
    for (uint32_t i = 0; i < llm->facts.requests; i++) {
        infrt_request *r = &llm->requests[i];
        if (infrt_request_lives(r)) infrt_answer_end(llm, r, INFRT_LLM_FAILED, -1);
    }
    infrt_kv_pool_forget(&llm->pool);
}

static void batch_take(infrt_llm *llm, infrt_llm_step_info *info) {
    for (uint32_t i = 0; i < llm->facts.requests; i++) {
        infrt_request *r = &llm->requests[i];
        if (r->job.state != INFRT_JOB_RUNNING) continue;
        r->job.n_computed += r->job.n_rows;
        infrt_request_name_blocks(llm, r);
    }
    for (uint32_t i = 0; i < llm->n_wanting; i++)
        infrt_answer_go_on(llm, llm->wanting[i], llm->logits + (size_t)i * llm->info->vocab);
    info->sampled = llm->n_wanting;
}

infrt_status infrt_llm_step(infrt_llm *llm, infrt_llm_step_info *out, infrt_error *error) {
    infrt_llm_step_info info = {.begin_ns = infrt_os_now_ns()};
    infrt_status status = INFRT_OK;
    infrt_requests_sweep(llm);
    infrt_batch_make(llm, &info);
    if (llm->n_rows) {
        status = infrt_batch_run(llm, error);
        if (status == INFRT_OK) batch_take(llm, &info);
        else all_fail(llm);
    }
    info.running = llm->scheduler.n_running;
    info.waiting = llm->scheduler.n_jobs - llm->scheduler.n_running;
    info.end_ns = infrt_os_now_ns();
    if (llm->n_rows && status == INFRT_OK)
        infrt_scheduler_took(&llm->scheduler, info.end_ns - info.begin_ns);
    if (out) *out = info;
    return status;
}
