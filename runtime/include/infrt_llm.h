/* infrt_llm.h - language models as a library: requests go in, tokens and text come out.
 *
 *     infrt_error error = {0};
 *     infrt_llm *llm;
 *     infrt_llm_id id;
 *     infrt_llm_event event = {0};
 *     infrt_llm_request request = {.text = "The capital of France is", .max_tokens = 32};
 *     if (infrt_llm_open(smollm2_model(), NULL, &llm, &error) || infrt_llm_submit(llm, &request, &id, &error))
 *         return fprintf(stderr, "%s\n", error.text), infrt_exit_code(error.status);
 *     while (!event.finish && infrt_llm_step(llm, NULL, &error) == INFRT_OK)
 *         while (infrt_llm_poll(llm, id, &event)) fwrite(event.text, 1, event.text_bytes, stdout);
 *     infrt_llm_close(&llm);
 *
 * An engine belongs to one thread at a time; only infrt_llm_cancel may be called from others and from signal handlers.
 * What a request is answered does not depend on what else runs, on the number of workers or on `chunk`. Memory is
 * allocated by open; submit allocates and frees some for a prompt that is text; no other call does. See infrt.h, too.
 * SPDX-License-Identifier: MIT */
#ifndef INFRT_LLM_H
#define INFRT_LLM_H
#include "infrt.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct infrt_llm infrt_llm;

/* Zero in any field: the default. */
typedef struct infrt_llm_config {
    const char *weights; /* as for infrt_weights_open */
    uint32_t workers;    /* one per usable CPU */
    uint32_t context; /* most positions of one request, prompt and answer; the model's, or what the cache holds */
    uint32_t chunk;    /* most rows of one step; the model's */
    uint32_t requests; /* most at a time, running and waiting; 64 */
    uint64_t kv_bytes; /* of the key-value cache; the model's, else one request of the whole context, at most 2 GiB */
    bool huge_pages; /* weights copied into, and cache in, pages of 2 MiB where the system has them */
    bool lock_memory; /* weights, cache and arena are kept in memory (mlock) */
    bool touch_cache; /* open waits for the cache's pages, or steps do as they first use them */
    bool pin_workers; /* each worker to a CPU of its own, also the calling thread */
    bool forgetful;   /* what the cache holds of earlier requests is not used again */
    const infrt_watch *watch; /* told about every run; borrowed until close */
    uint32_t queue_tokens; /* most tokens of requests that wait, but for a request that waits alone; no limit */
    uint64_t target_itl_ns; /* how long a step with answers may take: as many rows of prompts as fit; the model's */
} infrt_llm_config;

/* Maps the weights, allocates the cache, starts the workers, loads the adapters of the spec key adapters.preload.
 * `model` and `config` (which may be null) are borrowed, the model until close. INFRT_ERR_USAGE: not a language model,
 * or a number out of range. `out` is given. */
infrt_status infrt_llm_open(const infc_model *model, const infrt_llm_config *config,
                            infrt_llm **out, infrt_error *error);
void infrt_llm_close(infrt_llm **llm); /* null is fine; leaves null */

/* ---- requests ----------------------------------------------------------------------------------- */

typedef struct infrt_llm_bias {
    int32_t token;
    float add; /* to its logit; -INFINITY: never */
} infrt_llm_bias;

/* How the next token is chosen; {0}: the most likely one. Penalties as OpenAI and Hugging Face define them. */
typedef struct infrt_llm_sampling {
    float temperature;        /* 0: the most likely */
    uint32_t top_k;           /* of the most likely; 0: all */
    float top_p;              /* the fewest that have this probability together; 0 or 1: all */
    float min_p;              /* those with at least this share of the largest probability */
    float repetition_penalty; /* divides positive logits of tokens in prompt and answer; 0 or 1: none */
    float presence_penalty, frequency_penalty; /* subtracted for tokens of the answer, once and for each time */
    uint64_t seed;                             /* the same seed gives the same answer */
    const infrt_llm_bias *bias;
    uint32_t n_bias;
} infrt_llm_sampling;

#define INFRT_LLM_LOGPROBS 20u /* most alternatives per token */
#define INFRT_LLM_BIASES 300u
#define INFRT_LLM_REQUESTS 65536u
#define INFRT_LLM_PRIORITY 100 /* the last; -INFRT_LLM_PRIORITY is the first */

/* UTF-8, each with a NUL. */
typedef struct infrt_llm_message {
    const char *role, *content; /* role: "system", "user", "assistant" */
} infrt_llm_message;

/* The prompt is one of: messages, as the model's own chat template puts them; text as it is; ids. No text that is given
 * becomes a control token. */
typedef struct infrt_llm_request {
    const infrt_llm_message *messages;
    uint32_t n_messages;
    const char *text; /* after the model's begin token, if it has one */
    const int32_t *tokens;
    uint32_t n_tokens;
    bool answers;        /* with tokens: the answer is a text of its own, as one to messages is */
    uint32_t max_tokens; /* of the answer; 0: until the context is full */
    bool ignore_eos;     /* go on after an end token */
    bool logprobs;
    uint32_t n_top_logprobs; /* alternatives told with each token, at most INFRT_LLM_LOGPROBS */
    infrt_llm_sampling sampling;
    const char *adapter; /* the name of one that was added; null: none */
    const char *const *stop; /* strings that end the answer and are not part of it: 8 of 1 to 128 bytes */
    uint32_t n_stop;
    int32_t priority; /* lower ones first: -INFRT_LLM_PRIORITY to INFRT_LLM_PRIORITY */
    const char *tenant; /* whom it is for: within a priority each gets the same share; null is one of them */
    uint64_t salt;        /* requests share what the cache holds only with those of the same salt */
    uint64_t deadline_ns; /* of the monotonic clock: ends with INFRT_LLM_DEADLINE then; 0: never */
} infrt_llm_request;

typedef uint64_t infrt_llm_id; /* never 0, never used again */

/* Puts a request at the end of the queue; copies all of it. An empty prompt stands for the model's begin token.
 * INFRT_ERR_USAGE: an empty one of a model that has no begin token, one with max_tokens longer than the context, an id
 * out of range, settings that make no sense; INFRT_ERR_DATA: the chat template refuses the messages; INFRT_ERR_BUSY:
 * there are `requests` already, poll some to their end, or `queue_tokens` would wait, step first. */
infrt_status infrt_llm_submit(infrt_llm *llm, const infrt_llm_request *request, infrt_llm_id *out,
                              infrt_error *error);

/* What one step did. */
typedef struct infrt_llm_step_info {
    uint32_t tokens;        /* rows computed; 0: there was nothing to do */
    uint32_t prompt_tokens; /* of these, of prompts (or computed again after the cache ran out) */
    uint32_t sampled;       /* tokens chosen */
    uint32_t running, waiting; /* requests after it */
    uint64_t begin_ns, end_ns;
} infrt_llm_step_info;

/* Computes the next token of every running request, and up to `chunk` rows in all of the prompts of others. Who runs is
 * chosen by priority (one that waits gains one level a second), tenant and arrival. When the cache is full, the last of
 * these gives its blocks back and waits. Requests that begin alike wait for the first of them, then share its blocks.
 * `out` may be null. A request with 256 events that nobody polls, or with more text than fits, is left out. After a
 * failure all requests end. */
infrt_status infrt_llm_step(infrt_llm *llm, infrt_llm_step_info *out, infrt_error *error);

typedef enum infrt_llm_finish {
    INFRT_LLM_GOES_ON = 0,
    INFRT_LLM_EOS,     /* an end token */
    INFRT_LLM_STOP,    /* a stop string */
    INFRT_LLM_LENGTH,  /* max_tokens */
    INFRT_LLM_CONTEXT, /* the context is full */
    INFRT_LLM_CANCELLED,
    INFRT_LLM_FAILED,   /* the model gave no number, or a step failed */
    INFRT_LLM_DEADLINE, /* deadline_ns has passed */
} infrt_llm_finish;
const char *infrt_llm_finish_name(infrt_llm_finish finish); /* "eos", "stop", ... */

typedef struct infrt_llm_logprob {
    int32_t token;
    float logprob;
} infrt_llm_logprob;

typedef struct infrt_llm_event {
    infrt_llm_finish finish; /* anything but GOES_ON: the last event; the id is then gone */
    int32_t token;           /* -1: the last event without a token */
    const char *text; /* whole characters, may be empty; not NUL-terminated; until the next call for this engine */
    size_t text_bytes;
    float logprob;        /* when asked for */
    uint32_t n_top, stop; /* stop, with INFRT_LLM_STOP: which of the request's stop strings */
    const infrt_llm_logprob *top; /* the most likely first; as `text` */
    uint32_t n_prompt, n_answer;  /* tokens so far */
    uint32_t n_reused; /* of the prompt: not computed, since an earlier request began with the same tokens */
    uint32_t n_preempted; /* how often it gave its part of the cache back, to be computed again */
    uint64_t begun_ns; /* when its prompt began to be computed, the last time; of the monotonic clock; 0: never */
} infrt_llm_event;

/* The next event of a request. False, and `out` as it was: none yet, or the id is gone. */
bool infrt_llm_poll(infrt_llm *llm, infrt_llm_id id, infrt_llm_event *out);
/* The request ends with INFRT_LLM_CANCELLED at the next poll or step. Unknown ids are ignored. */
void infrt_llm_cancel(infrt_llm *llm, infrt_llm_id id);

/* Told the logits [vocab] that follow the text up to `position`, valid during the call; false: enough. */
typedef bool (*infrt_llm_scored)(void *user, uint32_t position, const float *logits);
/* How the model goes on after each of the positions first, first + 1, .. n - 1 of a text, in order. While no request
 * runs: INFRT_ERR_USAGE otherwise, for an id out of range and for a text longer than the context. */
infrt_status infrt_llm_score(infrt_llm *llm, const int32_t *tokens, uint32_t n, uint32_t first,
                             infrt_llm_scored seen, void *user, infrt_error *error);

/* ---- sessions -------------------------------------------------------------------------------------- */

/* Writes what the cache holds of a request's prompt, which may be a whole conversation, to a file; of the request only
 * prompt, messages with their texts, adapter and salt count. The file is there as a whole or as it was. *out_tokens: in
 * whole blocks. Not while another thread steps; allocates meanwhile. INFRT_ERR_USAGE: the engine is `forgetful`. */
infrt_status infrt_llm_session_save(infrt_llm *llm, const infrt_llm_request *request,
                                    const char *path, uint32_t *out_tokens, infrt_error *error);
/* Puts it back: requests that begin with these tokens, of that adapter and salt, do not compute them again and are
 * answered with the same bits as if they had. As much as there is room for. INFRT_ERR_DATA: the file is damaged, or is
 * not of this model, these weights, this adapter; then nothing has changed. Whoever may write the file decides what is
 * answered. */
infrt_status infrt_llm_session_restore(infrt_llm *llm, const infrt_llm_request *request,
                                       const char *path, uint32_t *out_tokens, infrt_error *error);

/* ---- adapters (LoRA) ------------------------------------------------------------------------------ */

#define INFRT_LLM_ADAPTER_NAME \
    (INFC_ADAPTER_NAME + 1u) /* bytes of a name with its NUL; of INFC_ADAPTER_SIGNS */
typedef struct infrt_llm_adapter infrt_llm_adapter;
/* Reads a folder in PEFT's format. Any thread may do it while others step, until close; with DoRA it reads the model's
 * weights, for seconds. INFRT_ERR_USAGE: the model takes none; INFRT_ERR_DATA: what is in it is broken, is not
 * supported, or does not fit the model; the message names the key or the tensor. `out` is given: free it. */
infrt_status infrt_llm_adapter_read(const infrt_llm *llm, const char *folder,
                                    infrt_llm_adapter **out, infrt_error *error);
#define INFRT_LLM_ADAPTER_PARTS 8u
typedef struct infrt_llm_adapter_part {
    const char *folder;
    float weight; /* -1000 to 1000 */
} infrt_llm_adapter_part;
/* One adapter that adds the weighted sum of what these n add. Their ranks count together for each linear layer:
 * INFRT_ERR_DATA when that is more than the model takes, and for parts with DoRA. Else as infrt_llm_adapter_read. */
infrt_status infrt_llm_adapter_sum(const infrt_llm *llm, const infrt_llm_adapter_part *parts,
                                   uint32_t n, infrt_llm_adapter **out, infrt_error *error);
void infrt_llm_adapter_free(infrt_llm_adapter **adapter); /* null is fine; leaves null */
/* Requests submitted from now on may name it; copies it. One that has the name already is replaced: requests that began
 * with that one end with it. When there is no room, the one that was used longest ago and that no request needs goes,
 * but none of adapters.preload; INFRT_ERR_NO_MEMORY: there is none that may go. */
infrt_status infrt_llm_adapter_add(infrt_llm *llm, const char *name,
                                   const infrt_llm_adapter *adapter, infrt_error *error);
/* Both of it. */
infrt_status infrt_llm_adapter_load(infrt_llm *llm, const char *name, const char *folder, infrt_error *error);
/* The same of a text: a folder, or "0.7*FOLDER,0.3*FOLDER", a sum; INFRT_ERR_USAGE: a sum that is written otherwise. */
infrt_status infrt_llm_adapter_load_text(infrt_llm *llm, const char *name, const char *text, infrt_error *error);
/* No request may name it any more; those that did go on with it. INFRT_ERR_USAGE: there is none of that name. */
infrt_status infrt_llm_adapter_remove(infrt_llm *llm, const char *name, infrt_error *error);

typedef struct infrt_llm_adapter_facts {
    const char *name, *base; /* until the next call; "": it is draining; base: another model, if made for that */
    bool draining, pinned; /* removed or replaced, until its requests have ended; there from the start */
    uint32_t requests, running, rank, n_modules; /* that use it; and do not wait; the highest; linear layers changed */
    int64_t loaded;                              /* when; seconds since 1970 */
    uint64_t bytes, hash;                        /* of memory; XXH64 of it: weights and scales */
} infrt_llm_adapter_facts;
/* How many there are; the first `most` are told. */
uint32_t infrt_llm_adapters(const infrt_llm *llm, infrt_llm_adapter_facts *out, uint32_t most);

/* ---- facts -------------------------------------------------------------------------------------- */

/* The ids of a request's prompt: *out_n of them, of which the first `most` are written. Errors as of submit, but for
 * the length. Needs no engine; allocates for the time of the call. */
infrt_status infrt_llm_encode(const infc_model *model, const infrt_llm_request *request,
                              int32_t *ids, uint32_t most, uint32_t *out_n, infrt_error *error);

/* What this engine was opened with, after defaults. */
typedef struct infrt_llm_facts {
    uint32_t workers, context, chunk, requests, sequences; /* sequences: most that run at a time */
    uint32_t vocab, n_ids; /* n_ids: ids that the tokenizer has; logits beyond are never chosen */
    uint32_t kv_blocks, kv_blocks_free, block_positions;
    uint64_t kv_bytes, weights_bytes;
    uint32_t times_preempted;
} infrt_llm_facts;
void infrt_llm_describe(const infrt_llm *llm, infrt_llm_facts *out);

#ifdef __cplusplus
}
#endif
#endif
