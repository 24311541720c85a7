/* session_task.h - one request about sessions, on its way through the threads: what needs the disk is the loading
 * thread's, what needs the cache the engine's, in slices between steps. SPDX-License-Identifier: MIT */
#ifndef INFRT_SESSION_TASK_H
#define INFRT_SESSION_TASK_H
#include "engine_session.h"
#include "mailbox.h"
#include "request_read.h"
#include "serve_text.h"
#include "session_folder.h"

typedef enum infrt_session_verb {
    INFRT_SESSION_SAVE,
    INFRT_SESSION_RESTORE,
    INFRT_SESSION_LIST,
    INFRT_SESSION_REMOVE,
    INFRT_N_SESSION_VERBS,
} infrt_session_verb;

typedef struct infrt_session_task {
    infrt_letter letter;
    void *owner; /* of the network thread: who waits for it; null: nobody any more */
    infrt_session_verb verb;
    uint32_t n_done; /* stages */
    infrt_ask ask;
    const char *adapter; /* in ask.texts; null: the base */
    uint64_t salt;
    int root; /* the server's */
    char folder[32], name[INFRT_SESSION_NAME];
    uint64_t most_bytes; /* of the folder */
    infrt_llm_session *session;
    uint64_t bytes;
    uint32_t tokens;
    infrt_out list; /* JSON */
    infrt_error error;
    int http_status; /* of the answer, when `error` says something */
} infrt_session_task;

/* Who does the next stage. */
typedef enum infrt_session_place {
    INFRT_SESSION_DONE,
    INFRT_SESSION_LOADER,
    INFRT_SESSION_ENGINE
} infrt_session_place;
infrt_session_place infrt_session_task_next(const infrt_session_task *task);
void infrt_session_task_load(infrt_session_task *task, const infc_model *model);
/* True: the stage needs a further slice. */
bool infrt_session_task_step(infrt_session_task *task, infrt_llm *llm);
void infrt_session_task_free(infrt_session_task *task);

#endif
