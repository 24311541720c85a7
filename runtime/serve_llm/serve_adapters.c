/* serve_adapters.c - adapters come and go while the server runs, by vLLM's routes. Folders are looked for below one
 * folder, step by step, and no step follows a link. */
#define _GNU_SOURCE 1
#include "serve_llm.h"
#include "adapter_ask.h"
#include "adapters.h"
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- folders ------------------------------------------------------------------------------------ */

/* What of a path lies below the root: the path itself, or after the root's own path. */
static const char *below_root(const infrt_serve_options *o, const char *path) {
    size_t n = strlen(o->adapter_root);
    while (n > 1 && o->adapter_root[n - 1] == '/') n--;
    if (path[0] != '/') return path;
    if (strncmp(path, o->adapter_root, n) != 0 || path[n] != '/') return NULL;
    return path + n + strspn(path + n, "/");
}

/* Opens it component by component. -1: errno says why, and *wrong bytes of the path end with the component that it is
 * about. */
static int folder_open(int root, const char *path, size_t *wrong) {
    const char *begin = path;
    int at = openat(root, ".", O_PATH | O_DIRECTORY | O_CLOEXEC);
    *wrong = 0;
    while (at >= 0 && *path) {
        char name[256];
        const size_t n = strcspn(path, "/");
        int next = -1;
        snprintf(name, sizeof name, "%.*s", (int)n, path);
        *wrong = (size_t)(path - begin) + n;
        if (n >= sizeof name) errno = ENOENT;
        else if (strcmp(name, "..") == 0) errno = EXDEV;
        else next = openat(at, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        const int why = errno;
        close(at);
        errno = why;
        at = next;
        path += n + strspn(path + n, "/");
    }
    return at;
}

static bool folder_refuse(infrt_refusal *refusal, const char *path, size_t n) {
    const int why = errno, shown = n > 200 ? 200 : (int)n;
    if (why == ENOENT)
        return infrt_refuse(refusal, 404, "lora_path",
                            "lora_path: there is no folder \"%.*s\" below --adapter-root; "
                            "give a path relative to it",
                            shown, path);
    const char *text = why == EXDEV ? "only folders below --adapter-root are read, without ..; "
                                      "give a path relative to it"
                       : why == ENOTDIR || why == ELOOP
                           ? "a link or no folder; no links are followed below --adapter-root: "
                             "give the folder's own path"
                           : "the server cannot open it";
    return infrt_refuse(refusal, 403, "lora_path", "lora_path: \"%.*s\": %s", shown, path, text);
}

/* Both files are there, and are no links. */
static bool files_check(int folder, const char *path, infrt_refusal *refusal) {
    static const char *const files[] = {"adapter_config.json", "adapter_model.safetensors"};
    for (int i = 0; i < 2; i++) {
        struct stat info;
        const bool there = fstatat(folder, files[i], &info, AT_SYMLINK_NOFOLLOW) == 0;
        if (there && S_ISREG(info.st_mode)) continue;
        return infrt_refuse(refusal, 404, "lora_path", "lora_path: \"%.200s\": %s %s", path, files[i],
                            there ? "is a link or no plain file; put the file itself there" : "is not there");
    }
    return true;
}

static bool folder_find(const infrt_llm_server *s, const char *path, int *out, infrt_refusal *refusal) {
    const char *below = s->root_fd >= 0 ? below_root(s->base.options, path) : NULL;
    size_t n;
    *out = -1;
    if (s->root_fd < 0)
        return infrt_refuse(refusal, 403, "lora_path",
                            "no adapter can be loaded: "
                            "start the server with --adapter-root FOLDER");
    if (!below || !*below)
        return infrt_refuse(refusal, 403, "lora_path",
                            "lora_path: \"%.200s\" is not below --adapter-root; "
                            "give a path relative to it",
                            path);
    *out = folder_open(s->root_fd, below, &n);
    if (*out < 0) return folder_refuse(refusal, below, n);
    if (files_check(*out, below, refusal)) return true;
    close(*out);
    *out = -1;
    return false;
}

static void folders_close(int *folders, uint32_t n) {
    for (uint32_t i = 0; i < n; i++)
        if (folders[i] >= 0) close(folders[i]);
}

/* All of them, or none stays open. */
static bool folders_find(const infrt_llm_server *s, const infrt_adapter_ask *a, int *folders,
                         infrt_refusal *refusal) {
    for (uint32_t i = 0; i < a->n; i++)
        if (!folder_find(s, a->parts[i].path, &folders[i], refusal)) {
            folders_close(folders, i);
            return false;
        }
    return true;
}

/* ---- changes ------------------------------------------------------------------------------------ */

static void change_free(infrt_adapter_change *change) {
    infrt_adapter_parts_close(change->parts, change->n_parts);
    infrt_llm_adapter_free(&change->adapter);
    infrt_out_free(&change->source);
    free(change);
}

/* What is told of it, before anything is done. */
static void change_begin(infrt_conn *c, const infrt_adapter_ask *a, bool removes, infrt_adapter_change *change) {
    *change = (infrt_adapter_change){.letter.kind = INFRT_LETTER_ADAPTER,
                                     .owner = c,
                                     .removes = removes,
                                     .in_place = a->in_place,
                                     .key = c->key,
                                     .result = "dropped", /* the server ended first */
                                     .begin_ns = c->begin_ns};
    memcpy(change->name, a->name, sizeof change->name);
    memcpy(change->request_id, c->request_id, sizeof change->request_id);
    infrt_adapter_source_put(a, &change->source);
}

static void change_start(infrt_conn *c, const infrt_adapter_ask *a, infrt_adapter_change *change,
                         const int *folders) {
    infrt_llm_server *s = infrt_llm_server_of(c);
    change->n_parts = change->removes ? 0 : a->n;
    for (uint32_t i = 0; i < change->n_parts; i++) {
        infrt_adapter_part *part = &change->parts[i];
        part->fd = folders[i];
        part->weight = (float)a->parts[i].weight;
        memcpy(part->sha256, a->parts[i].sha256, sizeof part->sha256);
        snprintf(part->path, sizeof part->path, "%.*s", (int)sizeof part->path - 1, a->parts[i].path);
        snprintf(part->folder, sizeof part->folder, "/proc/self/fd/%d", folders[i]);
    }
    ((infrt_llm_conn *)c)->change = change;
    s->n_changes++;
    infrt_mailbox_put(change->removes ? &s->engine.in : &s->loader.in, &change->letter);
}

/* Each holds folders open, and one is read at a time. */
static bool change_fits(infrt_llm_server *s, infrt_refusal *refusal) {
    if (s->n_changes < INFRT_CHANGES_MOST) return true;
    refusal->type = "overloaded_error";
    refusal->code = "queue_full";
    return infrt_refuse(refusal, 429, NULL, "%u adapters wait to be loaded; try again", s->n_changes);
}

/* What the model and the folders say to it. */
static bool change_check(infrt_conn *c, const infrt_adapter_ask *a, bool removes, int *folders,
                         infrt_refusal *refusal) {
    infrt_llm_server *s = infrt_llm_server_of(c);
    infrt_error error;
    if (infrt_adapters_needed(c->server->model, "", &error) != INFRT_OK)
        return infrt_refuse(refusal, 400, NULL, "%s", error.text);
    if (removes) return true;
    if (!infrt_adapter_name_is_free(c->server->model, a->name))
        return infrt_refuse(refusal, 400, "lora_name", "lora_name: \"%s\" names the base, %s; give another name",
                            a->name, c->server->model->name);
    if (!change_fits(s, refusal) || !folders_find(s, a, folders, refusal)) return false;
    if (infrt_quota_load(&s->base.quotas, c->key, a->name, infrt_adapter_there, s, refusal))
        return true;
    folders_close(folders, a->n);
    return false;
}

static void change_ask(infrt_conn *c, bool removes) {
    infrt_llm_server *s = infrt_llm_server_of(c);
    infrt_refusal refusal = {0};
    infrt_adapter_ask a;
    int folders[INFRT_LLM_ADAPTER_PARTS];
    infrt_adapter_change *change = calloc(1, sizeof *change);
    const char *body = c->body.at ? c->body.at : "";
    const bool read = infrt_adapter_ask_read(body, c->body.n, !removes, &a, &refusal);
    infrt_out_free(&c->body);
    if (change) change_begin(c, &a, removes, change);
    else infrt_refuse_memory(&refusal);
    if (change && read && change_check(c, &a, removes, folders, &refusal)) {
        change_start(c, &a, change, folders);
        return;
    }
    s->base.metrics.rejected[INFRT_REJECTED_ADAPTERS] += refusal.status == 429;
    if (change) {
        infrt_change_log(s, change, &refusal);
        change_free(change);
    }
    infrt_conn_refuse(c, &refusal);
}

void infrt_handle_adapter_load(infrt_conn *c) { change_ask(c, false); }
void infrt_handle_adapter_unload(infrt_conn *c) { change_ask(c, true); }

/* Why it failed; a folder has the client's name for it. */
static void change_refusal(const infrt_adapter_change *change, infrt_refusal *refusal) {
    const char *text = change->error.text, *at = NULL;
    const infrt_adapter_part *part = change->parts;
    for (uint32_t i = 0; i < change->n_parts && !at; i++) {
        part = &change->parts[i];
        at = strstr(text, part->folder);
        if (at && at[strlen(part->folder)] != '/') at = NULL; /* of .../1 and .../12 */
    }
    if (change->http_status == 404) {
        refusal->type = "not_found_error";
        refusal->code = "model_not_found";
    }
    infrt_refuse(refusal, change->http_status,
                 at                           ? "lora_path"
                 : change->http_status == 409 ? NULL
                                              : "lora_name",
                 "%.*s%s%s", at ? (int)(at - text) : 0, text, at ? part->path : "",
                 at ? at + strlen(part->folder) : text);
}

static void change_reply(infrt_conn *c, const infrt_adapter_change *change, const infrt_refusal *refusal) {
    infrt_out body = {0};
    ((infrt_llm_conn *)c)->change = NULL;
    if (refusal->status) {
        infrt_conn_refuse(c, refusal);
        return;
    }
    infrt_out_format(&body, "Success: LoRA adapter '%s' %s successfully.", change->name,
                     change->removes ? "removed" : "added");
    if (change->adapter && change->adapter->base[0])
        infrt_out_format(&body, " Warning: it says that it was made for %s, and this is %s: answers may make no sense.",
                         change->adapter->base, c->server->model->source);
    infrt_conn_reply(c, 200, "text/plain; charset=utf-8", &body, NULL);
    infrt_out_free(&body);
}

void infrt_change_letter(infrt_llm_server *s, infrt_adapter_change *change) {
    infrt_conn *c = change->owner;
    infrt_refusal refusal = {0};
    const bool read = change->adapter && !change->error.text[0] && !change->told;
    if (read && s->engine.started) {
        change->told = true;
        infrt_mailbox_put(&s->engine.in, &change->letter);
        return;
    }
    s->n_changes--;
    if (!change->removes)
        infrt_quota_loaded(&s->base.quotas, change->key, change->name, !change->error.text[0],
                           infrt_adapter_there, s);
    if (change->adapter) change->bytes = change->adapter->bytes;
    if (change->error.text[0]) change_refusal(change, &refusal);
    infrt_change_log(s, change, &refusal);
    if (c) change_reply(c, change, &refusal);
    change_free(change);
}

void infrt_handle_adapters(infrt_conn *c) {
    infrt_board *b = &infrt_llm_server_of(c)->engine.board;
    infrt_out body = {0};
    infrt_out_text(&body, "{\"object\":\"list\",\"data\":[");
    pthread_mutex_lock(&b->lock);
    for (uint32_t i = 0; i < b->n_adapters; i++) {
        const infrt_board_adapter *a = &b->adapters[i];
        infrt_out_format(
            &body,
            "%s{\"name\":\"%s\",\"state\":\"%s\",\"rank\":%u,\"modules\":%u,\"bytes\":%" PRIu64
            ",\"hash\":\"%016" PRIx64 "\",\"requests\":%u,\"pinned\":%s",
            i ? "," : "", a->name, a->name[0] ? "ready" : "draining", a->rank, a->n_modules,
            a->bytes, a->hash, a->requests, a->pinned ? "true" : "false");
        if (a->base[0]) infrt_out_text(&body, ",\"made_for\":");
        if (a->base[0]) infrt_out_string(&body, a->base, strlen(a->base));
        infrt_out_text(&body, "}");
    }
    pthread_mutex_unlock(&b->lock);
    infrt_out_format(
        &body, "],\"max_loaded\":%u,\"lora_path\":%s}\n",
        c->server->model->llm->adapters ? c->server->model->llm->adapters->max_loaded : 0,
        infrt_llm_server_of(c)->root_fd < 0
            ? "null"
            : "\"of a folder below --adapter-root, relative to it, with adapter_config.json and "
              "adapter_model.safetensors\"");
    infrt_conn_json(c, 200, &body);
}
