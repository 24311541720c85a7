/* serve_worker.c - see serve_worker.h. */
#include "serve_worker.h"
#include "adapters.h"
#include "engine_prompt.h"
#include "session_task.h"
#include <sha2.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Of /tokenize alone: without the ids around a text. */
static infrt_status text_encode(const infc_model *model, infrt_prompt *p, infrt_error *error) {
    const infrt_text_part whole = {strlen(p->text), 0};
    size_t n = 0;
    if (!model->llm->tokenizer)
        return infrt_fail(error, INFRT_ERR_USAGE, "%s has no tokenizer", model->name);
    const infrt_status status = infrt_text_encode(model, p->text, whole.bytes, &whole, 1, &p->ids, &n, error);
    p->n_ids = (uint32_t)n;
    return status;
}

infrt_status infrt_prompt_encode(const infc_model *model, const infrt_ask *ask, infrt_prompt *p,
                                 infrt_error *error) {
    const infrt_llm_request request = {.messages = ask->messages,
                                       .n_messages = ask->n_messages,
                                       .text = p->text,
                                       .tokens = p->ids,
                                       .n_tokens = p->n_ids};
    if (!ask->add_special && p->text)
        return text_encode(model, p, error);   /* a template says what is around messages */
    const uint32_t most = model->llm->context; /* of longer ones only the length is told */
    int32_t *ids = calloc((size_t)most + 1, sizeof *ids), *fitting;
    uint32_t n = 0;
    if (!ids) return infrt_fail(error, INFRT_ERR_NO_MEMORY, "no memory for %u tokens", most);
    const infrt_status status = infrt_llm_encode(model, &request, ids, most, &n, error);
    free(p->ids);
    fitting = realloc(ids, ((size_t)(n < most ? n : most) + 1) * sizeof *ids);
    p->ids = fitting ? fitting : ids;
    p->n_ids = n;
    return status;
}

void infrt_job_prepare(const infc_model *model, infrt_serve_job *job) {
    infrt_status status = INFRT_OK;
    for (uint32_t i = 0; i < job->ask.n_prompts && status == INFRT_OK && !atomic_load(&job->cancelled); i++)
        status = infrt_prompt_encode(model, &job->ask, &job->ask.prompts[i], &job->error);
}

void infrt_adapter_parts_close(infrt_adapter_part *parts, uint32_t n) {
    for (uint32_t i = 0; i < n; i++) {
        if (parts[i].fd >= 0) close(parts[i].fd);
        parts[i].fd = -1;
    }
}

static bool weights_check(void *self, uint32_t part, const char *path, const char *bytes, size_t n,
                          infrt_error *error) {
    const infrt_adapter_change *change = self;
    char is[SHA256_DIGEST_STRING_LENGTH];
    if (!change->parts[part].sha256[0]) return true;
    SHA256Data((const uint8_t *)bytes, n, is);
    if (strcmp(is, change->parts[part].sha256) == 0) return true;
    infrt_fail(error, INFRT_ERR_DATA, "%s: its SHA-256 is %s, not what expected_sha256 says", path, is);
    return false;
}

static void adapter_read(const infrt_llm *llm, infrt_adapter_change *change) {
    infrt_llm_adapter_part parts[INFRT_LLM_ADAPTER_PARTS];
    for (uint32_t i = 0; i < change->n_parts; i++)
        parts[i] = (infrt_llm_adapter_part){change->parts[i].folder, change->parts[i].weight};
    change->http_status = 400;
    const infrt_adapter_watch watch = {weights_check, change, &change->abandoned};
    if (atomic_load(&change->abandoned))
        infrt_fail(&change->error, INFRT_ERR_USAGE, "its client has left");
    else if (infrt_adapter_sum_watched(llm, parts, change->n_parts, watch, &change->adapter,
                                       &change->error) == INFRT_ERR_NO_MEMORY)
        change->http_status = 503;
    if (atomic_load(&change->abandoned) && change->error.text[0])
        change->http_status = 499; /* nobody is told but the log */
    infrt_adapter_parts_close(change->parts, change->n_parts);
}

static void *worker_main(void *self) {
    infrt_worker_thread *w = self;
    for (;;)
        for (infrt_letter *letter = infrt_mailbox_take(&w->in, 60000), *next; letter; letter = next) {
            next = letter->next;
            if (letter->kind == INFRT_LETTER_STOP) return NULL;
            if (letter->kind == INFRT_LETTER_PREPARE)
                infrt_job_prepare(w->model, (infrt_serve_job *)letter);
            else if (letter->kind == INFRT_LETTER_SESSION)
                infrt_session_task_load((infrt_session_task *)letter, w->model);
            else adapter_read(w->llm, (infrt_adapter_change *)letter);
            infrt_mailbox_put(w->out, letter);
        }
}

infrt_status infrt_worker_thread_start(infrt_worker_thread *w, const char *name, const infc_model *model,
                                       const infrt_llm *llm, infrt_mailbox *out, infrt_error *error) {
    w->model = model;
    w->llm = llm;
    w->out = out;
    infrt_mailbox_init(&w->in, false);
    w->started = infrt_thread_start(&w->thread, name, worker_main, w);
    return w->started ? INFRT_OK : infrt_fail(error, INFRT_ERR_NO_MEMORY, "no thread for the server");
}

void infrt_worker_thread_stop(infrt_worker_thread *w) {
    infrt_letter stop = {.kind = INFRT_LETTER_STOP};
    if (!w->model) return;
    if (w->started) {
        infrt_mailbox_put(&w->in, &stop);
        pthread_join(w->thread, NULL);
    }
    infrt_mailbox_deinit(&w->in);
    *w = (infrt_worker_thread){0};
}
