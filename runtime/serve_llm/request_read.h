/* request_read.h - the bodies of POST /v1/chat/completions, /v1/completions, /tokenize, /detokenize, and of those that
 * save and restore sessions. Every limit is checked before memory is taken; a value of another type, or out of range,
 * is refused with its path.
 * SPDX-License-Identifier: MIT */
#ifndef INFRT_REQUEST_READ_H
#define INFRT_REQUEST_READ_H
#include "infrt_llm.h"
#include "serve_refusal.h"

enum {
    INFRT_ASK_N = 16,       /* answers to one prompt */
    INFRT_ASK_PROMPTS = 64, /* of one request */
    INFRT_ASK_CHOICES = 64, /* answers in all */
    INFRT_ASK_MESSAGES = 2048,
    INFRT_ASK_PARTS = 64, /* of the content of one message */
    INFRT_ASK_STOP = 8,
};

typedef enum infrt_ask_route { /* what a field belongs to: bits */
                               INFRT_ASK_CHAT = 1,
                               INFRT_ASK_TEXT = 2,
                               INFRT_ASK_TOKENIZE = 4,
                               INFRT_ASK_DETOKENIZE = 8,
                               INFRT_ASK_SAVE = 16,
                               INFRT_ASK_RESTORE = 32,
} infrt_ask_route;

typedef struct infrt_prompt {
    const char *text; /* null: ids, or messages */
    int32_t *ids;     /* owned */
    uint32_t n_ids;
} infrt_prompt;

/* Texts lie in `texts`, with NULs. */
typedef struct infrt_ask {
    infrt_ask_route route;
    bool chat;           /* messages are what it begins with */
    const char *model;   /* null: not said */
    const char *session; /* its name; null: not said */
    infrt_llm_message *messages;
    uint32_t n_messages, messages_room;
    infrt_prompt *prompts; /* chat: one, whose ids come from the messages */
    uint32_t n_prompts;
    uint32_t max_tokens, max_completion_tokens; /* 0: not said */
    uint32_t n, top_logprobs, top_k;
    bool stream, include_usage, continuous_usage, logprobs, echo, ignore_eos, seeded, add_special;
    uint64_t seed;
    int32_t priority;       /* lower ones first */
    const char *cache_salt; /* null: none */
    float timeout;          /* seconds; 0: not said */
    float temperature, top_p, min_p, repetition_penalty, presence_penalty, frequency_penalty;
    infrt_llm_bias *bias;
    uint32_t n_bias;
    const char *stop[INFRT_ASK_STOP];
    uint32_t n_stop;
    char *texts;
    size_t texts_used, texts_room;
} infrt_ask;

/* `most_ids`: longer prompts of ids are refused; `n_vocab`: ids are below. False: `refusal` says why. To be freed in
 * any case. Safe for any bytes. */
bool infrt_ask_read(const char *body, size_t bytes, infrt_ask_route route, uint32_t most_ids,
                    uint32_t n_vocab, infrt_ask *out, infrt_refusal *refusal);
void infrt_ask_free(infrt_ask *ask);

#endif
