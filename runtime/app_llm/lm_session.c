/* lm_session.c - --session: what the cache holds is kept from one run of the program to the next. */
#define _GNU_SOURCE 1
#include "engine_session.h"
#include "infrt_os.h"
#include "lm_answer.h"
#include <errno.h>
#include <unistd.h>

infrt_status infrt_lm_talk_restore(infrt_lm_app *app, const infrt_llm_request *request,
                                   infrt_llm_session **out) {
    const char *path = app->options.session;
    const infrt_llm_request like = {.adapter = request->adapter};
    *out = NULL;
    /* Told before there is an answer that would not be kept. */
    infrt_status status = path ? infrt_os_file_replaceable(path, &app->error) : INFRT_OK;
    if (!path || status != INFRT_OK || (access(path, F_OK) != 0 && errno == ENOENT))
        return status; /* it is made at the end */
    status = infrt_llm_session_create(app->llm, &like, out, &app->error);
    if (status == INFRT_OK) status = infrt_llm_session_read(*out, path, path, &app->error);
    if (status == INFRT_OK) infrt_llm_session_put(app->llm, *out, UINT64_MAX);
    return status;
}

/* A conversation would be gone afterwards: `run` writes none. */
infrt_status infrt_lm_session_restore(infrt_lm_app *app, const infrt_llm_request *request) {
    infrt_llm_session *session;
    infrt_status status = infrt_lm_talk_restore(app, request, &session);
    if (session && status == INFRT_OK && session->header.n_messages)
        status = infrt_fail(&app->error, INFRT_ERR_USAGE,
                            "--session %s holds a conversation of %u messages, which `run` would "
                            "replace: go on with it "
                            "by chat --session %s, or give another file",
                            app->options.session, session->header.n_messages, app->options.session);
    infrt_llm_session_destroy(&session);
    return status;
}

infrt_status infrt_lm_talk_save(infrt_lm_app *app, const infrt_llm_request *all) {
    uint32_t n;
    if (!app->options.session) return INFRT_OK;
    return infrt_llm_session_save(app->llm, all, app->options.session, &n, &app->error);
}

/* A file that is there is not replaced by nothing. */
static infrt_status blocks_save(infrt_lm_app *app, const infrt_llm_request *all) {
    const char *path = app->options.session;
    infrt_llm_session *session;
    bool more;
    infrt_status status = infrt_llm_session_create(app->llm, all, &session, &app->error);
    if (status == INFRT_OK)
        status = infrt_llm_session_fetch(app->llm, session, UINT64_MAX, &more, &app->error);
    if (status == INFRT_OK && infrt_llm_session_tokens(session) == 0 && access(path, F_OK) == 0)
        infrt_shell_note(&app->shell, "--session %s is left as it is: prompt and answer fill no block of %u tokens",
                         path, app->facts.block_positions);
    else if (status == INFRT_OK) status = infrt_llm_session_write(session, path, &app->error);
    infrt_llm_session_destroy(&session);
    return status;
}

infrt_status infrt_lm_session_save(infrt_lm_app *app, const infrt_llm_request *asked, int32_t *ids,
                                   const infrt_lm_answer *answer) {
    uint32_t n = answer->n_prompt;
    for (uint32_t i = 0; i < answer->n_tokens && n < app->facts.context; i++)
        ids[n++] = answer->tokens[i].id;
    const infrt_llm_request all = {.tokens = ids, .n_tokens = n, .adapter = asked->adapter};
    return app->options.session ? blocks_save(app, &all) : INFRT_OK;
}
