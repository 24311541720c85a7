/* serve_llm.c - see infrt_serve.h: the server of a language model. One thread has all connections, one the engine, two
 * do what takes long; they share nothing but letters and the board. */
#define _GNU_SOURCE 1
#include "serve_llm.h"
#include "session_folder.h"
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* One short answer, so that what is needed of the weights is in memory and the first client does not wait for it. */
static infrt_status warm_up(infrt_llm *llm, const infc_model *model, infrt_error *error) {
    const int32_t first = model->llm->bos >= 0 ? model->llm->bos : 0;
    const infrt_llm_request request = {.tokens = &first, .n_tokens = 1, .max_tokens = 1, .ignore_eos = true};
    infrt_llm_event event = {0};
    infrt_llm_id id;
    infrt_status status = infrt_llm_submit(llm, &request, &id, error);
    while (status == INFRT_OK && !event.finish) {
        status = infrt_llm_step(llm, NULL, error);
        while (infrt_llm_poll(llm, id, &event)) {}
    }
    return status;
}

static infrt_status root_open(const char *flag, const char *root, int *out, infrt_error *error) {
    if (!root) return INFRT_OK;
    *out = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (*out >= 0) return INFRT_OK;
    return infrt_fail(error, INFRT_ERR_IO, "%s %s: %s", flag, root, strerror(errno));
}

/* That each key can save there is found out now, not when the first does. A disk that is full may have room again. */
static infrt_status session_root_check(const infrt_llm_server *s, infrt_error *error) {
    const infrt_keys *keys = &s->base.keys;
    for (uint32_t key = keys->n ? 1 : 0; s->session_root >= 0 && key <= keys->n; key++) {
        char folder[32];
        infrt_key_folder(keys, key, folder, sizeof folder);
        if (infrt_session_folder_check(s->session_root, folder) || errno == ENOSPC || errno == EDQUOT)
            continue;
        return infrt_fail(
            error, INFRT_ERR_IO,
            "--session-root %s: no session can be saved in its folder %s: %s (as user %ld); "
            "let that user write there (chown, chmod), or give another folder",
            s->base.options->session_root, folder, strerror(errno), (long)geteuid());
    }
    return INFRT_OK;
}

/* Those of the command line and of the spec: their names, and a line of the log for each. */
static infrt_status adapters_check(infrt_llm_server *s, infrt_llm *llm, infrt_error *error) {
    const infc_model *model = s->base.model;
    infrt_status status = INFRT_OK;
    const uint32_t n = infrt_llm_adapters(llm, NULL, 0);
    infrt_llm_adapter_facts *facts = calloc((size_t)n + 1, sizeof *facts);
    if (!facts) return infrt_fail(error, INFRT_ERR_NO_MEMORY, "no memory for the server");
    infrt_llm_adapters(llm, facts, n);
    for (uint32_t i = 0; i < n && status == INFRT_OK; i++)
        if (!infrt_adapter_name_is_free(model, facts[i].name))
            status =
                infrt_fail(error, INFRT_ERR_USAGE,
                           "the adapter \"%s\" (--adapter or adapters.preload) names the base, %s; "
                           "give --adapter NAME=DIR, or adapters.preload, another name",
                           facts[i].name, model->name);
    if (status == INFRT_OK) infrt_adapters_log(s, facts, n);
    free(facts);
    return status;
}

static infrt_status threads_start(infrt_llm_server *s, infrt_llm *llm, infrt_error *error) {
    infrt_status status =
        infrt_worker_thread_start(&s->preparer, "infrt-prepare", s->base.model, llm, &s->base.in, error);
    if (status == INFRT_OK)
        status = infrt_worker_thread_start(&s->loader, "infrt-load", s->base.model, llm, &s->base.in, error);
    if (status == INFRT_OK)
        status = infrt_engine_thread_start(&s->engine, llm, s->base.model, &s->base.in, error);
    return status;
}

static void server_free(infrt_llm_server *s) {
    infrt_conns_close(&s->base); /* their jobs are cancelled */
    infrt_worker_thread_stop(&s->preparer);
    infrt_worker_thread_stop(&s->loader);
    infrt_engine_thread_stop(&s->engine);
    infrt_server_free(&s->base);
    if (s->root_fd >= 0) close(s->root_fd);
    if (s->session_root >= 0) close(s->session_root);
    free(s);
}

infrt_status infrt_serve_llm(infrt_llm *llm, const infc_model *model,
                             const infrt_serve_options *options, infrt_error *error) {
    infrt_llm_server *s = calloc(1, sizeof *s);
    if (!s) return infrt_fail(error, INFRT_ERR_NO_MEMORY, "no memory for the server");
    infrt_llm_describe(llm, &s->facts);
    s->root_fd = s->session_root = -1;
    infrt_status status = infrt_server_open(&s->base, &infrt_llm_service, model, options, error);
    if (status == INFRT_OK)
        status = root_open("--adapter-root", options->adapter_root, &s->root_fd, error);
    if (status == INFRT_OK)
        status = root_open("--session-root", options->session_root, &s->session_root, error);
    if (status == INFRT_OK) status = session_root_check(s, error);
    if (status == INFRT_OK) infrt_folders_log(s);
    if (status == INFRT_OK) status = adapters_check(s, llm, error);
    if (status == INFRT_OK) status = warm_up(llm, model, error);
    if (status == INFRT_OK) status = threads_start(s, llm, error);
    if (status == INFRT_OK) status = infrt_server_run(&s->base, error);
    server_free(s);
    return status;
}
