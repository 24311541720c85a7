/* serve_worker.h - threads for what takes long and needs no engine: tokenising long prompts, reading adapters.
 * SPDX-License-Identifier: MIT */
#ifndef INFRT_SERVE_WORKER_H
#define INFRT_SERVE_WORKER_H
#include "serve_job.h"

typedef struct infrt_worker_thread {
    const infc_model *model;
    const infrt_llm *llm;   /* of which only what never changes is read */
    infrt_mailbox in, *out; /* out: where letters go back to */
    pthread_t thread;
    bool started;
} infrt_worker_thread;

infrt_status infrt_worker_thread_start(infrt_worker_thread *w, const char *name, const infc_model *model,
                                       const infrt_llm *llm, infrt_mailbox *out, infrt_error *error);
void infrt_worker_thread_stop(infrt_worker_thread *w); /* all letters have come back; {0} is fine */

/* The ids of one of the prompts; n_ids counts all of them, also where there are more than the context has, which are
 * then not there. */
infrt_status infrt_prompt_encode(const infc_model *model, const infrt_ask *ask,
                                 infrt_prompt *prompt, infrt_error *error);
/* The prompts of a job become ids; job->error says what is wrong with them. */
void infrt_job_prepare(const infc_model *model, infrt_serve_job *job);

#endif
