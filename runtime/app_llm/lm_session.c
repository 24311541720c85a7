/* lm_session.c - --session: what the cache holds is kept from one run of the program to the next. */
#define _GNU_SOURCE 1
#include "lm_answer.h"
#include <errno.h>
#include <string.h>
#include <unistd.h>

infrt_status infrt_lm_session_restore(infrt_lm_app *app, const infrt_llm_request *request) {
    const char *path = app->options.session;
    uint32_t n;
    if (!path || (access(path, F_OK) != 0 && errno == ENOENT))
        return INFRT_OK; /* it is made at the end */
    return infrt_llm_session_restore(app->llm, request, path, &n, &app->error);
}

infrt_status infrt_lm_session_save(infrt_lm_app *app, const infrt_llm_request *asked, int32_t *ids,
                                   const infrt_lm_answer *answer) {
    uint32_t n = answer->n_prompt;
    if (!app->options.session) return INFRT_OK;
    for (uint32_t i = 0; i < answer->n_tokens && n < app->facts.context; i++)
        ids[n++] = answer->tokens[i].id;
    const infrt_llm_request all = {.tokens = ids, .n_tokens = n, .adapter = asked->adapter};
    return infrt_llm_session_save(app->llm, &all, app->options.session, &n, &app->error);
}
