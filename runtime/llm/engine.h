/* engine.h - inside of an engine: requests, sequences, the batch of one step.
 *
 * A request waits, runs, is done, and its place is free again once its last event was polled. While it runs it has a
 * row of `tables`: its sequence. When it does is the scheduler's choice. */
#ifndef INFRT_ENGINE_H
#define INFRT_ENGINE_H
#include "tokenizer.h"
#include "infrt_llm.h"
#include "adapters.h"
#include "kv_pool.h"
#include "sampler.h"
#include "scheduler.h"
#include "stop.h"
#include <stdatomic.h>

enum { INFRT_LLM_EVENTS = 256 };

/* Inputs of the model's step, in the order of its table. */
enum {
    STEP_TOKENS,
    STEP_POSITIONS,
    STEP_SLOTS,
    STEP_LAST_ROWS,
    STEP_TABLES,
    STEP_KV,
    STEP_INPUTS,
    STEP_ADAPTER_SLOTS = STEP_INPUTS, /* these and the bools after them: of models that take adapters */
    STEP_ADAPTER_POOL,
    STEP_ADAPTS,
    STEP_GROUPS = 4,
    STEP_INPUTS_ADAPTED = STEP_ADAPTS + STEP_GROUPS,
};

/* A token that was chosen, with the text that it set free. */
typedef struct infrt_llm_chosen {
    int32_t token;
    float logprob;
    uint32_t text_bytes, n_top;
    infrt_llm_logprob top[INFRT_LLM_LOGPROBS];
} infrt_llm_chosen;

typedef struct infrt_request {
    infrt_job job;                  /* first: the scheduler's view */
    _Atomic uint64_t id, cancelled; /* cancelled: the id that was */
    int32_t *tokens;                /* [context]: the job's */
    uint32_t limit;                 /* most tokens */
    uint32_t sequence; /* running: row of `tables`, of which n_blocks entries are set */
    uint32_t n_named, n_reused; /* running: full blocks that the cache knows; tokens that it had when it began */
    uint64_t name; /* of the last of these; without any, of what the cache is of: 0, or of an adapter */
    int32_t adapter; /* slot, held until the request is done; INFRT_NO_ADAPTER: none */
    infrt_llm_sampling sampling;
    bool ignore_eos, logprobs, max_given;
    uint32_t n_top;
    infrt_stop stop;
    infrt_detokenizer detokenizer;
    /* text[text_begin, text_free) belongs to events, [text_free, text_end) may begin a stop string. */
    char *text;
    uint32_t text_begin, text_free, text_end;
    infrt_llm_chosen *events; /* [INFRT_LLM_EVENTS], a ring */
    uint32_t event_first, n_events;
    infrt_llm_finish finish;
    int32_t finish_token;
    infrt_llm_bias *bias; /* [INFRT_LLM_BIASES] */
    uint64_t salt, deadline_ns, begun_ns;
} infrt_request;

struct infrt_llm {
    const infc_model *model;
    const infc_llm_info *info;
    infrt_llm_facts facts;
    const infrt_watch *watch;
    infrt_weights weights;
    infrt_session *session;
    infrt_kv_pool pool;
    infrt_sampler sampler;
    infrt_adapters adapters;
    infrt_request *requests; /* [facts.requests] */
    bool *sequence_taken;    /* [facts.sequences] */
    uint64_t n_arrived;
    uint32_t queue_tokens; /* most that wait; 0: no limit */
    infrt_scheduler scheduler;
    bool reuse;         /* blocks that hold the beginning of a prompt already */
    uint32_t text_room; /* of each request */
    /* Of the step: */
    int32_t *tokens, *positions, *slots, *adapter_slots; /* [chunk] */
    uint8_t adapts[STEP_GROUPS];
    int32_t *last_rows;      /* [sequences] */
    infrt_request **wanting; /* [sequences]: whose logits row i of the output is */
    int32_t *tables;         /* [sequences][max_blocks] */
    void *kv;
    float *logits; /* [sequences][vocab] */
    uint32_t n_rows, n_wanting;
    int64_t sizes[INFC_MAX_RANK];
    int32_t size_tokens, size_rows, size_blocks; /* which of the model's sizes */
    /* What the above lies in: */
    void *kv_block, *step_block, *request_block;
    size_t kv_block_bytes, step_block_bytes, request_block_bytes;
};

/* engine_batch.c: what the scheduler has done by the engine. */
void infrt_batch_owner(infrt_llm *llm);
/* Chooses what this step computes and fills the inputs; llm->n_rows is 0 when there is nothing. */
void infrt_batch_make(infrt_llm *llm, infrt_llm_step_info *info);
/* engine.c: one step of the model over the llm->n_rows rows of the inputs, with logits of the llm->n_wanting rows that
 * llm->last_rows names. */
infrt_status infrt_batch_run(infrt_llm *llm, infrt_error *error);
/* After the step: the running request has its full blocks named. */
void infrt_request_name_blocks(infrt_llm *llm, infrt_request *r);

/* engine_requests.c */
infrt_request *infrt_request_find(infrt_llm *llm, infrt_llm_id id); /* null: gone */
bool infrt_request_lives(const infrt_request *r);                   /* waits or runs */
/* Ends those that were cancelled or are too late, and finds out which have room for a further token. */
void infrt_requests_sweep(infrt_llm *llm);

/* engine_answer.c: chooses the next token from its logits, and ends the request when that was the last. */
void infrt_answer_go_on(infrt_llm *llm, infrt_request *r, const float *logits);
void infrt_answer_end(infrt_llm *llm, infrt_request *r, infrt_llm_finish finish, int32_t token);

#endif
