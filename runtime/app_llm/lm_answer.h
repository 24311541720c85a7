/* lm_answer.h - one answer from submit to its end, with its times. */
#ifndef INFRT_LM_ANSWER_H
#define INFRT_LM_ANSWER_H
#include "lm_app.h"

typedef struct infrt_lm_token {
    int32_t id;
    float logprob;
    uint32_t n_top;
    infrt_llm_logprob top[INFRT_LLM_LOGPROBS];
} infrt_lm_token;

/* Start from {0}; ends with infrt_lm_answer_free. */
typedef struct infrt_lm_answer {
    infrt_llm_finish finish;
    uint32_t n_prompt, n_reused, n_answer;
    uint64_t submit_ns, first_ns, end_ns; /* first: when the first token was there; 0: none came */
    char *text;                           /* all of it, with a NUL; kept when `keep_text` */
    size_t text_bytes, text_room;
    infrt_lm_token *tokens; /* when `keep_tokens` */
    uint32_t n_tokens, tokens_room;
    bool keep_text, keep_tokens;
    /* Called for each event; false: the answer is cancelled. May be null. */
    bool (*tell)(void *self, const infrt_llm_event *event);
    void *self;
} infrt_lm_answer;

/* Submits and steps until the answer ends. SIGINT and SIGTERM cancel it. */
infrt_status infrt_lm_answer_get(infrt_lm_app *app, const infrt_llm_request *request, infrt_lm_answer *answer);
/* INFRT_ERR_DATA: what to say of a request, of this adapter or null, that failed before this token. */
infrt_status infrt_lm_no_number(infrt_lm_app *app, const char *adapter, uint32_t position);
void infrt_lm_answer_free(infrt_lm_answer *answer);
/* lm_session.c: what the file of --session has, if there is one, goes into the cache; the prompt ids[n_prompt] and its
 * answer go from there into the file. `ids` has room for a context. Without --session nothing happens. */
infrt_status infrt_lm_session_restore(infrt_lm_app *app, const infrt_llm_request *request);
infrt_status infrt_lm_session_save(infrt_lm_app *app, const infrt_llm_request *asked, int32_t *ids,
                                   const infrt_lm_answer *answer);
/* The same of a conversation: *out is what the file has, null when there is none; the caller destroys it. Its messages
 * are written, too. */
struct infrt_llm_session;
infrt_status infrt_lm_talk_restore(infrt_lm_app *app, const infrt_llm_request *request,
                                   struct infrt_llm_session **out);
infrt_status infrt_lm_talk_save(infrt_lm_app *app, const infrt_llm_request *all);
/* "12 prompt tokens in 80 ms (150/s), ..." */
void infrt_lm_answer_times(const infrt_lm_app *app, const infrt_lm_answer *answer, FILE *out);

#endif
