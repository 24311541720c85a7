/* serve_sessions.c - sessions: what the cache holds of a prompt goes to a file of the server and comes back, by routes
 * of our own. One at a time is under way, so that one is in memory; the others wait. */
#include "serve_llm.h"
#include "session_task.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WAITING_MOST = 64, NAME_BYTES = sizeof "/v1/sessions/" - 1 };

/* ---- what is asked ------------------------------------------------------------------------------- */

static bool name_take(infrt_session_task *t, const char *name, size_t n, infrt_refusal *refusal) {
    snprintf(t->name, sizeof t->name, "%.*s", (int)(n < sizeof t->name ? n : 0), name);
    if (infrt_session_name_is_good(t->name)) return true;
    return infrt_refuse(refusal, 400, "name", "name: 1 to %d letters, digits and . _ - are needed, no . _ - first",
                        INFRT_SESSION_NAME - 1);
}

/* Of save and restore. */
static bool body_take(infrt_conn *c, infrt_session_task *t, infrt_refusal *refusal) {
    infrt_llm_server *s = infrt_llm_server_of(c);
    const infrt_ask_route route = t->verb == INFRT_SESSION_SAVE ? INFRT_ASK_SAVE : INFRT_ASK_RESTORE;
    infrt_ask *a = &t->ask;
    if (!infrt_ask_read(c->body.at ? c->body.at : "", c->body.n, route, s->facts.context, s->facts.n_ids, a, refusal))
        return false;
    if (a->model && !infrt_model_find(s, a->model, &t->adapter))
        return infrt_refuse_model(refusal, a->model);
    if (a->cache_salt) t->salt = infrt_text_number(a->cache_salt, strlen(a->cache_salt));
    if (!a->session)
        return infrt_refuse(refusal, 400, "name", "name is needed: what the session is called");
    return name_take(t, a->session, strlen(a->session), refusal);
}

static bool asked_take(infrt_conn *c, infrt_session_task *t, infrt_refusal *refusal) {
    const infrt_llm_server *s = infrt_llm_server_of(c);
    if (s->session_root < 0)
        return infrt_refuse(refusal, 403, NULL, "there are no sessions: start the server with --session-root FOLDER");
    if (s->base.draining || !infrt_server_alive(&s->base)) {
        refusal->type = "unavailable_error";
        return infrt_refuse(refusal, 503, NULL,
                            s->base.draining ? "the server is shutting down" : "the engine stands still");
    }
    if (t->verb == INFRT_SESSION_REMOVE) {
        if (!name_take(t, c->path + NAME_BYTES, c->path_bytes - NAME_BYTES, refusal)) return false;
    } else if (t->verb != INFRT_SESSION_LIST && !body_take(c, t, refusal)) {
        return false;
    }
    if (s->n_sessions < WAITING_MOST) return true;
    refusal->type = "overloaded_error";
    refusal->code = "queue_full";
    return infrt_refuse(refusal, 429, NULL, "%u sessions wait to be saved or restored; try again", s->n_sessions);
}

/* ---- their way ----------------------------------------------------------------------------------- */

/* Hands it to who does its next stage; false: it has ended. */
static bool task_forward(infrt_llm_server *s, infrt_session_task *t) {
    const infrt_session_place place = infrt_session_task_next(t);
    if (place == INFRT_SESSION_DONE) return false;
    if (!t->owner && !t->n_done) { /* what has begun goes on */
        infrt_fail(&t->error, INFRT_ERR_USAGE, "its client has left");
        return false;
    }
    if (!s->engine.started || !s->loader.started) { /* the server ends */
        infrt_fail(&t->error, INFRT_ERR_USAGE, "the server is shutting down");
        t->http_status = 503;
        return false;
    }
    infrt_mailbox_put(place == INFRT_SESSION_ENGINE ? &s->engine.in : &s->loader.in, &t->letter);
    return true;
}

static void task_reply(infrt_conn *c, infrt_session_task *t) {
    infrt_refusal refusal = {0};
    infrt_out body = {0};
    ((infrt_llm_conn *)c)->session = NULL;
    if (t->list.failed) infrt_refuse_memory(&refusal);
    if (t->error.text[0]) {
        refusal.code = t->http_status == 404   ? "session_not_found"
                       : t->http_status == 507 ? "sessions_full"
                                               : NULL;
        infrt_refuse(&refusal, t->http_status, t->verb == INFRT_SESSION_LIST ? NULL : "name", "%s",
                     t->error.text);
    }
    if (refusal.status) {
        infrt_conn_refuse(c, &refusal);
        return;
    }
    if (t->verb == INFRT_SESSION_LIST) {
        infrt_conn_json(c, 200, &t->list);
        return;
    }
    infrt_out_format(&body, "{\"object\":\"session\",\"name\":\"%s\",", t->name);
    if (t->verb == INFRT_SESSION_REMOVE) infrt_out_text(&body, "\"deleted\":true}\n");
    else infrt_out_format(&body, "\"tokens\":%u,\"bytes\":%" PRIu64 "}\n", t->tokens, t->bytes);
    infrt_conn_json(c, 200, &body);
}

static void task_end(infrt_llm_server *s, infrt_session_task *t) {
    const bool good = !t->error.text[0];
    if (good && t->verb == INFRT_SESSION_SAVE) s->metrics.session_saved += t->tokens;
    if (good && t->verb == INFRT_SESSION_RESTORE) s->metrics.session_restored += t->tokens;
    if (t->owner) task_reply(t->owner, t);
    infrt_session_task_free(t);
    s->n_sessions--;
}

void infrt_session_letter(infrt_llm_server *s, infrt_session_task *t) {
    while (t && !task_forward(s, t)) {
        task_end(s, t);
        t = s->sessions;
        if (t) s->sessions = (infrt_session_task *)t->letter.next;
    }
}

static void task_queue(infrt_llm_server *s, infrt_session_task *t) {
    infrt_letter **end = (infrt_letter **)(void *)&s->sessions;
    while (*end) end = &(*end)->next;
    t->letter.next = NULL;
    *end = &t->letter;
}

static void task_ask(infrt_conn *c, infrt_session_verb verb) {
    infrt_llm_server *s = infrt_llm_server_of(c);
    infrt_refusal refusal = {0};
    infrt_session_task *t = calloc(1, sizeof *t);
    if (!t) infrt_refuse_memory(&refusal);
    else {
        t->letter.kind = INFRT_LETTER_SESSION;
        t->owner = c;
        t->verb = verb;
        t->root = s->session_root;
        t->most_bytes = s->base.options->key_sessions;
        infrt_key_folder(&s->base.keys, c->key, t->folder, sizeof t->folder);
    }
    if (!t || !asked_take(c, t, &refusal)) {
        infrt_conn_refuse(c, &refusal);
        if (t) infrt_session_task_free(t);
        return;
    }
    infrt_out_free(&c->body);
    ((infrt_llm_conn *)c)->session = t;
    if (s->n_sessions++) task_queue(s, t);
    else infrt_session_letter(s, t);
}

void infrt_handle_session_save(infrt_conn *c) { task_ask(c, INFRT_SESSION_SAVE); }
void infrt_handle_session_restore(infrt_conn *c) { task_ask(c, INFRT_SESSION_RESTORE); }
void infrt_handle_sessions(infrt_conn *c) { task_ask(c, INFRT_SESSION_LIST); }
void infrt_handle_session_remove(infrt_conn *c) { task_ask(c, INFRT_SESSION_REMOVE); }
