/* serve_adapters.c - adapters come and go while the server runs, by vLLM's routes. Folders are looked for below one
 * folder, step by step, and no step follows a link. */
#define _GNU_SOURCE 1
#include "serve_llm.h"
#include "adapters.h"
#include "json_read.h"
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct asked_part {
    infrt_refusal *refusal;
    char path[1024], sha256[65];
    double weight;
} asked_part;

typedef struct asked {
    infrt_refusal *refusal;
    char name[INFRT_LLM_ADAPTER_NAME];
    asked_part parts[INFRT_LLM_ADAPTER_PARTS]; /* lora_path: one */
    uint32_t n;
    char sha256[65];          /* of lora_path; empty: not said */
    bool path, sum, in_place; /* path, sum: there are such keys */
} asked;

/* ---- requests ----------------------------------------------------------------------------------- */

static bool text_take(infrt_refusal *refusal, infrt_json_reader *json, const char *key, char *out, size_t room) {
    if (infrt_json_next(json) != '"')
        return infrt_refuse(refusal, 400, key, "%s: a text is needed", key);
    if (out[0]) return infrt_refuse(refusal, 400, key, "%s is there twice", key);
    infrt_json_reader whole = *json;
    if (infrt_json_string_read(json, out, room)) return true;
    if (!infrt_json_string_read(&whole, NULL, 0)) return false;
    return infrt_refuse(refusal, 400, key,
                        "%s: a text of at most %zu bytes without a NUL is needed", key, room - 1);
}

/* As sha256sum prints it. */
static bool digest_take(infrt_refusal *refusal, infrt_json_reader *json, const char *key, char out[65]) {
    if (infrt_json_next(json) == 'n') return infrt_json_word(json, "null");
    if (!text_take(refusal, json, key, out, 65)) return false;
    const size_t n = strspn(out, "0123456789abcdefABCDEF");
    for (size_t i = 0; i < n; i++) out[i] = (char)tolower((unsigned char)out[i]);
    return (n == 64 && !out[64]) ||
           infrt_refuse(refusal, 400, key, "%s: 64 hexadecimal digits are needed", key);
}

static bool part_key_take(void *self, infrt_json_reader *json, const char *key) {
    asked_part *part = self;
    if (strcmp(key, "lora_path") == 0)
        return text_take(part->refusal, json, key, part->path, sizeof part->path);
    if (strcmp(key, "expected_sha256") == 0)
        return digest_take(part->refusal, json, key, part->sha256);
    if (strcmp(key, "weight") != 0)
        return infrt_refuse(part->refusal, 400, "sum",
                            "sum: each has lora_path, weight and expected_sha256, not %.64s", key);
    return (infrt_json_next(json) == '0' && infrt_json_number(json, &part->weight) &&
            fabs(part->weight) <= INFRT_ADAPTER_WEIGHT) ||
           infrt_refuse(part->refusal, 400, "sum", "sum: weight: a number from -%g to %g is needed",
                        INFRT_ADAPTER_WEIGHT, INFRT_ADAPTER_WEIGHT);
}

static bool part_take(void *self, infrt_json_reader *json, const char *key) {
    asked *a = self;
    (void)key;
    if (a->n == INFRT_LLM_ADAPTER_PARTS)
        return infrt_refuse(a->refusal, 400, "sum", "sum: at most %u adapters", INFRT_LLM_ADAPTER_PARTS);
    asked_part *part = &a->parts[a->n++];
    *part = (asked_part){.refusal = a->refusal, .weight = 1.0};
    if (infrt_json_next(json) != '{' || !infrt_json_object(json, part_key_take, part))
        return infrt_refuse(a->refusal, 400, "sum", "sum: a list of {\"lora_path\": .., \"weight\": ..} is needed");
    if (part->path[0]) return true;
    return infrt_refuse(a->refusal, 400, "sum", "sum: lora_path is needed in each");
}

/* Fields of vLLM and SGLang that change nothing here. What nobody knows is refused: it may be a check, misspelt. */
static bool other_take(const asked *a, infrt_json_reader *json, const char *key) {
    const bool none = infrt_json_next(json) == 'n' || infrt_json_next(json) == 'f';
    if (none && (strcmp(key, "pinned") == 0 || strcmp(key, "is_3d_lora_weight") == 0 ||
                 strcmp(key, "added_tokens_config") == 0))
        return infrt_json_skip(json);
    if (strcmp(key, "lora_int_id") == 0) return infrt_json_skip(json);
    if (strcmp(key, "pinned") == 0)
        return infrt_refuse(a->refusal, 400, key, "pinned is not supported: those of --adapter and of the spec stay");
    return infrt_refuse(a->refusal, 400, key,
                        "%.64s is not supported; there are lora_name, lora_path, sum, "
                        "expected_sha256, load_inplace",
                        key);
}

static bool key_take(void *self, infrt_json_reader *json, const char *key) {
    asked *a = self;
    if (strcmp(key, "lora_name") == 0)
        return text_take(a->refusal, json, key, a->name, sizeof a->name);
    if (strcmp(key, "lora_path") == 0 && (a->path || a->sum))
        return infrt_refuse(a->refusal, 400, key, "%s is there twice, or beside sum", key);
    if (strcmp(key, "lora_path") == 0) {
        a->path = true;
        a->n = 1;
        a->parts[0] = (asked_part){.weight = 1.0};
        return text_take(a->refusal, json, key, a->parts[0].path, sizeof a->parts[0].path);
    }
    if (strcmp(key, "sum") == 0 && infrt_json_next(json) == 'n') return infrt_json_skip(json);
    if (strcmp(key, "sum") == 0) {
        if (a->path || a->sum || infrt_json_next(json) != '[')
            return infrt_refuse(a->refusal, 400, key, "sum: a list is needed, once, and no lora_path beside it");
        a->sum = true;
        return infrt_json_array(json, part_take, a);
    }
    if (strcmp(key, "expected_sha256") == 0) return digest_take(a->refusal, json, key, a->sha256);
    if (strcmp(key, "load_inplace") != 0) return other_take(a, json, key);
    if (infrt_json_next(json) == 'n') return infrt_json_skip(json);
    a->in_place = infrt_json_next(json) == 't';
    if (infrt_json_next(json) != 't' && infrt_json_next(json) != 'f')
        return infrt_refuse(a->refusal, 400, key, "%s: true or false is needed", key);
    return infrt_json_skip(json);
}

static bool asked_read(infrt_conn *c, bool needs_path, asked *a) {
    infrt_json_reader json;
    if (!infrt_body_read(&json, c->body.at ? c->body.at : "", c->body.n, key_take, a, a->refusal))
        return false;
    if (!a->name[0]) return infrt_refuse(a->refusal, 400, "lora_name", "lora_name is needed");
    if (needs_path && a->sum && !a->n)
        return infrt_refuse(a->refusal, 400, "sum", "sum: at least one adapter is needed");
    if (needs_path && (!a->n || !a->parts[0].path[0]))
        return infrt_refuse(a->refusal, 400, "lora_path", "lora_path is needed");
    if (needs_path && !infrt_adapter_name_is_free(c->server->model, a->name))
        return infrt_refuse(a->refusal, 400, "lora_name", "lora_name: \"%s\" names the base, %s; give another name",
                            a->name, c->server->model->name);
    infrt_error error;
    if (infrt_adapters_needed(c->server->model, "", &error) != INFRT_OK)
        return infrt_refuse(a->refusal, 400, NULL, "%s", error.text);
    if (a->sha256[0] && a->sum)
        return infrt_refuse(a->refusal, 400, "expected_sha256", "expected_sha256: of a sum each part has its own");
    if (!a->sum) memcpy(a->parts[0].sha256, a->sha256, sizeof a->sha256);
    if (!needs_path) a->n = 0;
    return true;
}

/* ---- folders ------------------------------------------------------------------------------------ */

/* What of a path lies below the root: the path itself, or after the root's own path. */
static const char *below_root(const infrt_serve_options *o, const char *path) {
    size_t n = strlen(o->adapter_root);
    while (n > 1 && o->adapter_root[n - 1] == '/') n--;
    if (path[0] != '/') return path;
    if (strncmp(path, o->adapter_root, n) != 0 || path[n] != '/') return NULL;
    return path + n + strspn(path + n, "/");
}

/* Opens it component by component. -1: errno says why. */
static int folder_open(int root, const char *path) {
    int at = openat(root, ".", O_PATH | O_DIRECTORY | O_CLOEXEC);
    while (at >= 0 && *path) {
        char name[256];
        const size_t n = strcspn(path, "/");
        int next = -1;
        snprintf(name, sizeof name, "%.*s", (int)n, path);
        if (n >= sizeof name || strcmp(name, "..") == 0) errno = EACCES;
        else next = openat(at, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        const int why = errno;
        close(at);
        errno = why;
        at = next;
        path += n + strspn(path + n, "/");
    }
    return at;
}

static bool file_is_plain(int folder, const char *name) {
    struct stat info;
    return fstatat(folder, name, &info, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(info.st_mode);
}

static bool folder_find(const infrt_llm_server *s, const char *path, int *out, infrt_refusal *refusal) {
    const char *below = s->root_fd >= 0 ? below_root(s->base.options, path) : NULL;
    *out = -1;
    if (s->root_fd < 0)
        return infrt_refuse(refusal, 403, "lora_path",
                            "no adapter can be loaded: "
                            "start the server with --adapter-root FOLDER");
    if (!below || !*below)
        return infrt_refuse(refusal, 403, "lora_path",
                            "lora_path: only folders below --adapter-root are read; "
                            "give a path relative to it");
    *out = folder_open(s->root_fd, below);
    if (*out < 0 && errno != ENOENT)
        return infrt_refuse(refusal, 403, "lora_path",
                            "lora_path: only folders below --adapter-root are read, without links");
    if (*out >= 0 && file_is_plain(*out, "adapter_config.json") && file_is_plain(*out, "adapter_model.safetensors"))
        return true;
    if (*out >= 0) close(*out);
    *out = -1;
    return infrt_refuse(refusal, 404, "lora_path",
                        "lora_path: there is no folder with adapter_config.json and "
                        "adapter_model.safetensors, which are no links");
}

static void folders_close(int *folders, uint32_t n) {
    for (uint32_t i = 0; i < n; i++)
        if (folders[i] >= 0) close(folders[i]);
}

/* All of them, or none stays open. */
static bool folders_find(const infrt_llm_server *s, const asked *a, int *folders, infrt_refusal *refusal) {
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
    free(change);
}

static void change_start(infrt_conn *c, const asked *a, bool removes, int *folders) {
    infrt_llm_server *s = infrt_llm_server_of(c);
    infrt_refusal refusal = {0};
    infrt_adapter_change *change = calloc(1, sizeof *change);
    if (!change) {
        folders_close(folders, a->n);
        if (!removes)
            infrt_quota_loaded(&s->base.quotas, c->key, a->name, false, infrt_adapter_there, s);
        infrt_refuse_memory(&refusal);
        infrt_conn_refuse(c, &refusal);
        return;
    }
    *change = (infrt_adapter_change){
        .letter.kind = INFRT_LETTER_ADAPTER, .owner = c, .removes = removes, .n_parts = removes ? 0 : a->n};
    change->in_place = a->in_place;
    change->key = c->key;
    memcpy(change->name, a->name, sizeof change->name);
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
    infrt_mailbox_put(removes ? &s->engine.in : &s->loader.in, &change->letter);
}

/* Each holds folders open, and one is read at a time. */
static bool change_fits(infrt_llm_server *s, infrt_refusal *refusal) {
    if (s->n_changes < INFRT_CHANGES_MOST) return true;
    refusal->type = "overloaded_error";
    refusal->code = "queue_full";
    return infrt_refuse(refusal, 429, NULL, "%u adapters wait to be loaded; try again", s->n_changes);
}

static void change_ask(infrt_conn *c, bool removes) {
    infrt_refusal refusal = {0};
    asked a = {.refusal = &refusal};
    int folders[INFRT_LLM_ADAPTER_PARTS];
    infrt_llm_server *s = infrt_llm_server_of(c);
    const bool found = asked_read(c, !removes, &a) &&
                       (removes || (change_fits(s, &refusal) && folders_find(s, &a, folders, &refusal)));
    infrt_out_free(&c->body);
    if (found && (removes || infrt_quota_load(&s->base.quotas, c->key, a.name, infrt_adapter_there, s, &refusal))) {
        change_start(c, &a, removes, folders);
        return;
    }
    if (found) folders_close(folders, a.n);
    s->base.metrics.rejected[INFRT_REJECTED_ADAPTERS] += refusal.status == 429;
    infrt_conn_refuse(c, &refusal);
}

void infrt_handle_adapter_load(infrt_conn *c) { change_ask(c, false); }
void infrt_handle_adapter_unload(infrt_conn *c) { change_ask(c, true); }

static void change_reply(infrt_conn *c, const infrt_adapter_change *change) {
    infrt_refusal refusal = {0};
    infrt_out body = {0};
    ((infrt_llm_conn *)c)->change = NULL;
    if (change->error.text[0]) { /* a folder has the client's name for it */
        const char *text = change->error.text, *at = NULL;
        const infrt_adapter_part *part = change->parts;
        for (uint32_t i = 0; i < change->n_parts && !at; i++) {
            part = &change->parts[i];
            at = strstr(text, part->folder);
            if (at && at[strlen(part->folder)] != '/') at = NULL; /* of .../1 and .../12 */
        }
        if (change->http_status == 404) {
            refusal.type = "not_found_error";
            refusal.code = "model_not_found";
        }
        infrt_refuse(&refusal, change->http_status,
                     at                           ? "lora_path"
                     : change->http_status == 409 ? NULL
                                                  : "lora_name",
                     "%.*s%s%s", at ? (int)(at - text) : 0, text, at ? part->path : "",
                     at ? at + strlen(part->folder) : text);
        infrt_conn_refuse(c, &refusal);
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
    if (c) change_reply(c, change);
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
    infrt_out_format(&body, "],\"max_loaded\":%u}\n",
                     c->server->model->llm->adapters ? c->server->model->llm->adapters->max_loaded : 0);
    infrt_conn_json(c, 200, &body);
}
