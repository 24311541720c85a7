/* serve_reply.h - pieces of answers as OpenAI's API has them: chunks of a stream, or one object at the end.
 * SPDX-License-Identifier: MIT */
#ifndef INFRT_SERVE_REPLY_H
#define INFRT_SERVE_REPLY_H
#include "serve_job.h"
#include "serve_text.h"

typedef struct infrt_said {          /* of one choice */
    infrt_out text, logprobs;        /* escaped for JSON; kept when it is not streamed */
    infrt_out top, numbers, offsets; /* /v1/completions: the lists beside the tokens' texts */
    uint32_t n_tokens;               /* told with their logarithms */
    uint32_t n_answer;               /* of the engine's count, end tokens included */
    uint32_t characters;             /* of the text so far */
    uint32_t n_reused, n_preempted;  /* tokens of its prompt from the cache; as the engine tells */
    infrt_llm_finish finish;
    uint32_t stop;              /* which string ended it */
    bool begun;                 /* its role was told */
    bool read;                  /* its prompt, and counted */
    uint64_t begun_ns;          /* when its prompt began to be computed; 0: never */
    uint64_t first_ns, last_ns; /* when its first and its last token came */
} infrt_said;

typedef struct infrt_reply {
    const infc_model *model;
    const infrt_serve_job *job;
    char id[48], name[2 * INFRT_LLM_ADAPTER_NAME]; /* "chatcmpl-..", the model as it is called */
    int64_t created;
    infrt_said *said; /* [n_choices] */
    uint32_t n_ended, n_prompt;
    uint32_t n_late; /* choices whose time was over before their first token */
    bool failed;
} infrt_reply;

infrt_reply *infrt_reply_create(const infc_model *model, const infrt_serve_job *job, const char *name,
                                int64_t created, uint64_t number); /* null: no memory */
void infrt_reply_destroy(infrt_reply **reply);
/* Takes a piece. When it is streamed what there is to send is added to `out`: "data: {..}\n\n" or nothing. */
void infrt_reply_take(infrt_reply *a, const infrt_piece *piece, infrt_out *out);
/* All choices have ended: the last chunks, with [DONE], or the whole object. */
void infrt_reply_end(infrt_reply *a, infrt_out *out);
/* Tokens of its prompts, each once, that came from the cache. */
uint32_t infrt_reply_cached(const infrt_reply *a);
/* Why it failed: which adapter gives no numbers, where it is of one. */
#define INFRT_FAILURE_TEXT (INFRT_LLM_ADAPTER_NAME + 128)
void infrt_reply_failure(const infrt_reply *a, char out[INFRT_FAILURE_TEXT]);
/* "stop", "length" or "abort" */
const char *infrt_finish_reason(infrt_llm_finish finish);

#endif
