/* session_task.c - see session_task.h: what the stages of a task do. */
#define _GNU_SOURCE 1
#include "session_task.h"
#include "serve_worker.h"
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { SLICE_BYTES = 1 << 20 }; /* of the cache at a time: well below a step's time */

typedef infrt_session_task task;

static void fail(task *t, int http_status, const char *text) {
    t->http_status = http_status;
    infrt_fail(&t->error, INFRT_ERR_USAGE, "%s", text);
}

static void fail_by_errno(task *t, const char *what) {
    const bool full = errno == ENOSPC || errno == EDQUOT || errno == EFBIG;
    char text[128];
    snprintf(text, sizeof text, "%s: %s", what, strerror(errno));
    fail(t,
         errno == ENOENT   ? 404
         : errno == EISDIR ? 409
         : full            ? 507
         : errno == ENOMEM ? 503
                           : 500,
         text);
}

/* The root may have been removed while we have it open. */
static int folder_open(task *t, bool make) {
    struct stat info;
    const int folder = infrt_session_folder_open(t->root, t->folder, make);
    if (folder < 0 && errno == ENOENT && fstat(t->root, &info) == 0 && info.st_nlink == 0) {
        fail(t, 503, "the folder of --session-root has been removed; start the server again");
        errno = ESTALE;
    }
    return folder;
}

/* What a function of the library says is the answer. */
static void status_take(task *t, infrt_status status) {
    t->http_status = status == INFRT_ERR_USAGE       ? 400
                     : status == INFRT_ERR_DATA      ? 422
                     : status == INFRT_ERR_NO_MEMORY ? 503
                                                     : 500;
}

static infrt_llm_request request_of(const task *t) {
    infrt_llm_request request = {.adapter = t->adapter, .salt = t->salt};
    if (t->verb != INFRT_SESSION_SAVE) return request;
    request.tokens = t->ask.prompts[0].ids;
    request.n_tokens = t->ask.prompts[0].n_ids;
    return request;
}

/* ---- the loading thread's ------------------------------------------------------------------------ */

static void prompt_encode(task *t, const infc_model *model) {
    infrt_prompt *p = &t->ask.prompts[0];
    status_take(t, infrt_prompt_encode(model, &t->ask, p, &t->error));
    if (!t->error.text[0] && p->n_ids > model->llm->context)
        fail(t, 400, "the prompt is longer than the context");
}

/* Whether there is room for it, beside what is there but for the one that it replaces. */
static bool room_is_left(task *t, int folder) {
    infrt_session_entry *all;
    uint32_t n;
    uint64_t bytes;
    char text[160];
    if (!infrt_session_folder_read(folder, &all, &n, &bytes)) {
        fail_by_errno(t, "the sessions cannot be read");
        return false;
    }
    uint32_t others = n;
    for (uint32_t i = 0; i < n; i++) {
        if (strcmp(all[i].name, t->name) != 0) continue;
        bytes -= all[i].bytes;
        others--;
    }
    free(all);
    if (t->bytes <= t->most_bytes && bytes <= t->most_bytes - t->bytes && others < INFRT_SESSIONS_MOST)
        return true;
    snprintf(text, sizeof text,
             "the session has %" PRIu64 " bytes; %" PRIu64 " of at most %" PRIu64
             " are taken by %u others, of at most %d: remove one first",
             t->bytes, bytes, t->most_bytes, others, INFRT_SESSIONS_MOST);
    fail(t, 507, text);
    return false;
}

static void file_write(task *t, const infc_model *model) {
    char path[INFRT_SESSION_PATH];
    infrt_error error = {0};
    (void)model;
    const int folder = folder_open(t, true);
    if (folder < 0) {
        if (errno != ESTALE) fail_by_errno(t, "the folder of sessions cannot be opened");
        if (t->http_status == 404) t->http_status = 500;
        return;
    }
    infrt_session_file_path(folder, t->name, path);
    if (room_is_left(t, folder) && infrt_llm_session_write(t->session, path, &error) != INFRT_OK)
        fail_by_errno(t, "the session cannot be written");
    close(folder);
}

static void no_such(task *t) {
    fail(t, 404, "there is no session of that name; /v1/sessions lists them");
}

static void file_read(task *t, const infc_model *model) {
    char path[64];
    (void)model;
    const int folder = folder_open(t, false);
    const int fd = folder >= 0 ? infrt_session_file_open(folder, t->name) : -1;
    const int why = errno;
    if (folder >= 0) close(folder);
    if (fd < 0 && why == ENOENT) no_such(t);
    else if (fd < 0 && why != ESTALE)
        fail(t, 422, "the session cannot be read: it is no plain file of this server");
    if (fd < 0) return;
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    const infrt_status status = infrt_llm_session_read(t->session, path, t->name, &t->error);
    status_take(t, status);
    t->bytes = t->session->header.bytes;
    close(fd);
}

static void name_put(infrt_out *out, const char *what, const char *name, size_t room) {
    const char *end = memchr(name, 0, room);
    infrt_out_format(out, ",\"%s\":", what);
    if (end && end > name) infrt_out_string(out, name, (size_t)(end - name));
    else infrt_out_text(out, "null");
}

/* What it was saved with, as its header says; null where it says nothing, or is none. */
static void owner_put(infrt_out *out, int folder, const char *name) {
    infrt_session_header h;
    const int fd = infrt_session_file_open(folder, name);
    const bool good = fd >= 0 && pread(fd, &h, sizeof h, 0) == (ssize_t)sizeof h &&
                      memcmp(h.magic, INFRT_SESSION_MAGIC, sizeof h.magic) == 0;
    if (fd >= 0) close(fd);
    if (!good) h = (infrt_session_header){0};
    name_put(out, "model", h.model_name, sizeof h.model_name);
    name_put(out, "adapter", h.adapter_name, sizeof h.adapter_name);
    infrt_out_text(out, "}");
}

static void files_list(task *t, const infc_model *model) {
    infrt_session_entry *all = NULL;
    uint32_t n = 0;
    uint64_t bytes = 0;
    (void)model;
    const int folder = folder_open(t, false);
    if (folder < 0 ? errno != ENOENT && errno != ESTALE : !infrt_session_folder_read(folder, &all, &n, &bytes))
        fail_by_errno(t, "the sessions cannot be read");
    infrt_out_text(&t->list, "{\"object\":\"list\",\"data\":[");
    for (uint32_t i = 0; i < n; i++) {
        infrt_out_format(&t->list,
                         "%s{\"object\":\"session\",\"name\":\"%s\","
                         "\"bytes\":%" PRIu64 ",\"modified\":%" PRId64,
                         i ? "," : "", all[i].name, all[i].bytes, all[i].modified);
        owner_put(&t->list, folder, all[i].name);
    }
    if (folder >= 0) close(folder);
    infrt_out_format(&t->list, "],\"bytes\":%" PRIu64 ",\"most_bytes\":%" PRIu64 "}\n", bytes, t->most_bytes);
    free(all);
}

static void file_remove(task *t, const infc_model *model) {
    (void)model;
    const int folder = folder_open(t, false);
    const bool gone = folder >= 0 && infrt_session_file_remove(folder, t->name);
    if (!gone && errno == ENOENT) no_such(t);
    else if (!gone && errno != ESTALE) fail_by_errno(t, "the session cannot be removed");
    if (folder >= 0) close(folder);
}

/* ---- the engine's -------------------------------------------------------------------------------- */

static bool session_make(task *t, infrt_llm *llm) {
    const infrt_llm_request request = request_of(t);
    status_take(t, infrt_llm_session_create(llm, &request, &t->session, &t->error));
    return false;
}

static bool cache_fetch(task *t, infrt_llm *llm) {
    bool more = false;
    char text[128];
    if (!t->session) session_make(t, llm);
    if (t->error.text[0]) return false;
    status_take(t, infrt_llm_session_fetch(llm, t->session, SLICE_BYTES, &more, &t->error));
    t->tokens = infrt_llm_session_tokens(t->session);
    t->bytes = infrt_llm_session_bytes(t->session);
    if (more || t->tokens || t->error.text[0]) return more;
    snprintf(text, sizeof text, "the cache has no %u tokens of this prompt: have it answered first, then save it",
             t->session->header.positions);
    fail(t, 409, text);
    return false;
}

static bool cache_put(task *t, infrt_llm *llm) {
    const bool more = infrt_llm_session_put(llm, t->session, SLICE_BYTES);
    t->tokens = infrt_llm_session_tokens(t->session);
    return more;
}

/* ---- the way ------------------------------------------------------------------------------------- */

typedef struct stage { /* one of both */
    void (*load)(task *t, const infc_model *model);
    bool (*step)(task *t, infrt_llm *llm);
} stage;

static const stage ways[INFRT_N_SESSION_VERBS][4] = {
    [INFRT_SESSION_SAVE] = {{prompt_encode, NULL}, {NULL, cache_fetch}, {file_write, NULL}},
    [INFRT_SESSION_RESTORE] = {{NULL, session_make}, {file_read, NULL}, {NULL, cache_put}},
    [INFRT_SESSION_LIST] = {{files_list, NULL}},
    [INFRT_SESSION_REMOVE] = {{file_remove, NULL}},
};

static const stage *stage_of(const task *t) { return &ways[t->verb][t->n_done]; }

infrt_session_place infrt_session_task_next(const task *t) {
    if (t->error.text[0] || t->list.failed) return INFRT_SESSION_DONE;
    return stage_of(t)->load   ? INFRT_SESSION_LOADER
           : stage_of(t)->step ? INFRT_SESSION_ENGINE
                               : INFRT_SESSION_DONE;
}

void infrt_session_task_load(task *t, const infc_model *model) {
    stage_of(t)->load(t, model);
    t->n_done++;
}

bool infrt_session_task_step(task *t, infrt_llm *llm) {
    const bool more = stage_of(t)->step(t, llm);
    t->n_done += !more;
    return more;
}

void infrt_session_task_free(task *t) {
    infrt_llm_session_destroy(&t->session);
    infrt_ask_free(&t->ask);
    infrt_out_free(&t->list);
    free(t);
}
