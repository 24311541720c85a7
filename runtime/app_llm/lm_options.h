/* lm_options.h - the command line of a language model: commands and flags. */
#ifndef INFRT_LM_OPTIONS_H
#define INFRT_LM_OPTIONS_H
#include "serve_flags.h"
#include "infrt_llm.h"

typedef enum infrt_lm_command {
    INFRT_LM_RUN = 1,
    INFRT_LM_CHAT = 2,
    INFRT_LM_BENCH = 4,
    INFRT_LM_TOKENIZE = 8,
    INFRT_LM_INFO = 16,
    INFRT_LM_VERIFY = 32,
    INFRT_LM_EVAL = 64,
    INFRT_LM_SERVE = 128,
    INFRT_LM_ALL = 255,
} infrt_lm_command;

/* Zero or null: not given. */
typedef struct infrt_lm_options {
    infrt_parsed parsed;
    const char *prompt, *prompt_file, *ids, *system, *overflow, *profile, *weights, *level, *data,
        *logits, *against, *adapter_root, *session, *session_root;
    infrt_serve_flags serve;
    bool chat, ignore_eos, pin, huge_pages, lock_memory;
    uint32_t max_tokens, top_k, logprobs, prompt_tokens, tokens, depth, batch, repeat, context,
        chunk, threads, key_tokens, key_adapters;
    uint64_t seed, kv_memory, key_sessions, target_itl; /* times: ns */
    float temperature, top_p, min_p, repetition_penalty, presence_penalty, frequency_penalty;
    infrt_words stop, logit_bias, adapter;
} infrt_lm_options;

extern const infrt_command_line infrt_lm_commands;

/* The settings of a request that the command line gives; `bias` is where logit biases go. */
infrt_status infrt_lm_settings(const infrt_lm_options *o, infrt_llm_bias bias[INFRT_LLM_BIASES],
                               infrt_llm_request *out, infrt_error *error);
/* "1,2,3" or "1 2 3" as ids, the caller's to free. */
infrt_status infrt_lm_ids(const char *text, int32_t **out, uint32_t *n, infrt_error *error);

#endif
