/* lm_chat.c - the command `chat`: a conversation, line by line. */
#define _GNU_SOURCE 1
#include "chat.h"
#include "engine_session.h"
#include "lm_answer.h"
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef enum overflow { OVERFLOW_STOP, OVERFLOW_ERROR, OVERFLOW_TRUNCATE } overflow;

/* ROOM_NONE: the conversation ends; ROOM_REFUSED: it goes on without the newest message, which can never fit. */
typedef enum room_made { ROOM_MADE, ROOM_NONE, ROOM_REFUSED } room_made;

typedef struct talk {
    infrt_lm_app *app;
    infrt_llm_message *messages; /* contents are the talk's own */
    uint32_t n, room, n_system;  /* n_system: 1 when the first is the system's */
    overflow policy;
    bool terminal; /* a person types */
    bool unsaved;  /* --session: the file does not have all of it */
} talk;

static infrt_status policy_read(const char *text, overflow *out, infrt_error *error) {
    static const char *const names[] = {"stop", "error", "truncate"};
    for (size_t i = 0; i < 3; i++)
        if (!text || strcmp(text, names[i]) == 0) {
            *out = (overflow)i;
            return INFRT_OK;
        }
    return infrt_fail(error, INFRT_ERR_USAGE, "--overflow %s: there are stop, error and truncate", text);
}

/* Takes `content`, which was allocated; frees it on failure, too. */
static infrt_status message_add(talk *t, const char *role, char *content) {
    if (content && t->n == t->room) {
        infrt_llm_message *more = realloc(t->messages, (t->room + 16) * 2 * sizeof *more);
        if (more) {
            t->messages = more;
            t->room = (t->room + 16) * 2;
        }
    }
    if (!content || t->n == t->room) {
        free(content);
        return infrt_fail(&t->app->error, INFRT_ERR_NO_MEMORY, "no memory for the conversation");
    }
    t->messages[t->n++] = (infrt_llm_message){role, content};
    return INFRT_OK;
}

/* One that nobody answered: a conversation does not go on after it. */
static void message_drop(talk *t) { free((void *)(uintptr_t)t->messages[--t->n].content); }

/* Forgets n messages after the system's. */
static void messages_forget(talk *t, uint32_t n) {
    for (uint32_t i = 0; i < n; i++) free((void *)(uintptr_t)t->messages[t->n_system + i].content);
    t->n -= n;
    memmove(&t->messages[t->n_system], &t->messages[t->n_system + n],
            (t->n - t->n_system) * sizeof *t->messages);
}

/* One line without its end, lines that end in a backslash joined; null at the end of input or when interrupted. Empty
 * where a NUL is in it, which would end what is answered. */
static char *line_read(const talk *t) {
    char *text = NULL, *line = NULL;
    size_t n = 0, room = 0;
    bool whole = true;
    for (bool more = true; more;) {
        if (t->terminal) fputs(n ? ". " : "> ", stdout), fflush(stdout);
        errno = 0;
        ssize_t got = getline(&line, &room, stdin);
        if (got < 0) break;
        if (got > 0 && line[got - 1] == '\n') line[--got] = 0;
        whole = whole && !memchr(line, 0, (size_t)got);
        more = got > 0 && line[got - 1] == '\\';
        if (more) line[got - 1] = '\n';
        char *joined = realloc(text, n + (size_t)got + 1);
        if (!joined) break;
        text = joined;
        memcpy(text + n, line, (size_t)got + 1);
        n += (size_t)got;
    }
    free(line);
    if (text && !whole) {
        infrt_shell_note(&t->app->shell,
                         "this message has a NUL, so it is no text: it is left out");
        *text = 0;
    }
    return text;
}

static bool text_print(void *self, const infrt_llm_event *event) {
    (void)self;
    fwrite(event->text, 1, event->text_bytes, stdout);
    return fflush(stdout) == 0;
}

/* Whether `messages` leave room for an answer; *tokens: what they have. */
static infrt_status fits(infrt_lm_app *app, infrt_llm_request request,
                         const infrt_llm_message *messages, uint32_t n, uint32_t *tokens, bool *out) {
    const uint32_t context = app->facts.context, needs = request.max_tokens ? request.max_tokens : 1;
    request.messages = messages;
    request.n_messages = n;
    const infrt_status status = infrt_llm_encode(app->model, &request, NULL, 0, tokens, &app->error);
    *out = status == INFRT_OK && *tokens < context && needs <= context - *tokens;
    return status;
}

/* The newest message on its own, after the system's. */
static infrt_status fits_alone(talk *t, const infrt_llm_request *request, uint32_t *tokens, bool *out) {
    infrt_llm_message alone[2] = {t->messages[0]};
    alone[t->n_system] = t->messages[t->n - 1];
    return fits(t->app, *request, alone, t->n_system + 1, tokens, out);
}

/* Makes room for the answer to the newest message, as the policy says. */
static infrt_status room_make(talk *t, const infrt_llm_request *request, room_made *made) {
    infrt_lm_app *app = t->app;
    const uint32_t context = app->facts.context, before = t->n;
    uint32_t tokens;
    bool room, possible;
    infrt_status status = fits(app, *request, t->messages, t->n, &tokens, &room);
    *made = ROOM_MADE;
    if (status != INFRT_OK || room) return status;
    if (t->policy == OVERFLOW_ERROR)
        return infrt_fail(&app->error, INFRT_ERR_USAGE,
                          "the conversation has %u tokens, which with an answer"
                          " is more than the context of %u",
                          tokens, context);
    status = fits_alone(t, request, &tokens, &possible);
    if (status != INFRT_OK) return status;
    if (!possible) {
        *made = ROOM_REFUSED;
        infrt_shell_note(&app->shell,
                         "this message makes %u tokens, which with an answer%s is more than the"
                         " context of %u: it is left out; say it in fewer words",
                         tokens, request->max_tokens ? " (--max-tokens)" : "", context);
        return INFRT_OK;
    }
    if (t->policy == OVERFLOW_STOP) {
        *made = ROOM_NONE;
        infrt_shell_note(&app->shell, "the context of %u tokens is full; the conversation ends (--overflow)", context);
        return INFRT_OK;
    }
    while (status == INFRT_OK && !room) {
        const uint32_t old = t->n - t->n_system - 1;
        messages_forget(t, old < 2 ? old : 2);
        status = fits(app, *request, t->messages, t->n, &tokens, &room);
    }
    if (status == INFRT_OK)
        infrt_shell_note(&app->shell, "the context is full: the oldest %u messages are forgotten",
                         before - t->n);
    return status;
}

/* ---- --session ---------------------------------------------------------------------------------- */

/* The messages of a session, whose roles become ours. */
static infrt_status messages_take(talk *t, const infrt_llm_session *session) {
    static const char *const roles[] = {"system", "user", "assistant"};
    const char *at = NULL;
    infrt_llm_message m;
    infrt_status status = INFRT_OK;
    while (status == INFRT_OK && infrt_llm_session_message(session, &at, &m)) {
        const char *role = NULL;
        for (size_t i = 0; i < 3; i++)
            if (strcmp(roles[i], m.role) == 0) role = roles[i];
        status = role ? message_add(t, role, strdup(m.content))
                      : infrt_fail(&t->app->error, INFRT_ERR_DATA, "%s: it has a message of \"%.32s\"",
                                   t->app->options.session, m.role);
    }
    t->n_system = t->n && t->messages[0].role == roles[0];
    return status;
}

/* What was said before, or the system's message. */
static infrt_status talk_begin(talk *t, const infrt_llm_request *request) {
    const char *system = t->app->options.system;
    infrt_llm_session *session;
    infrt_status status = infrt_lm_talk_restore(t->app, request, &session);
    if (status == INFRT_OK && session && !session->header.n_messages && infrt_llm_session_tokens(session))
        status = infrt_fail(&t->app->error, INFRT_ERR_USAGE,
                            "--session %s holds what `run` computed, which `chat` would replace: "
                            "give another file",
                            t->app->options.session);
    if (status == INFRT_OK && session) status = messages_take(t, session);
    infrt_llm_session_destroy(&session);
    if (status != INFRT_OK || (!t->n && !system)) return status;
    if (!t->n) {
        t->n_system = 1;
        return message_add(t, "system", strdup(system));
    }
    if (system && !(t->n_system && strcmp(t->messages[0].content, system) == 0))
        return infrt_fail(&t->app->error, INFRT_ERR_USAGE,
                          "%s: the conversation has another system message; leave --system out",
                          t->app->options.session);
    infrt_shell_note(&t->app->shell, "the conversation of %s goes on: %u messages",
                     t->app->options.session, t->n - t->n_system);
    return INFRT_OK;
}

/* Told once: no message would be short enough. */
static infrt_status system_check(talk *t, const infrt_llm_request *request) {
    infrt_lm_app *app = t->app;
    const infrt_llm_message least[] = {t->messages[0], {"user", ""}};
    uint32_t tokens;
    bool room;
    infrt_status status = fits(app, *request, least, 2, &tokens, &room);
    if (status != INFRT_OK || room) return status;
    return infrt_fail(
        &app->error, INFRT_ERR_USAGE,
        "the system message makes %u tokens, which with a question and an answer is more than the"
        " context of %u",
        tokens, app->facts.context);
}

/* Of nothing said the file has no tokens: a template may refuse it. */
static infrt_status talk_save(talk *t, const infrt_llm_request *request) {
    static const int32_t nothing;
    infrt_llm_request all = {.messages = t->messages, .n_messages = t->n, .adapter = request->adapter};
    if (t->n == t->n_system) {
        all.tokens = &nothing;
        all.n_tokens = 1;
    }
    const infrt_status status = infrt_lm_talk_save(t->app, &all);
    t->unsaved = status != INFRT_OK;
    return status;
}

/* ---- turns -------------------------------------------------------------------------------------- */

/* An answer that the context cut: what is there of it is part of the conversation. */
static infrt_status cut_tell(talk *t) {
    infrt_lm_app *app = t->app;
    if (t->policy == OVERFLOW_ERROR)
        return infrt_fail(&app->error, INFRT_ERR_USAGE,
                          "the answer does not fit the context of %u: it ends where that is full",
                          app->facts.context);
    infrt_shell_note(&app->shell, "the context of %u tokens is full: the answer ends there",
                     app->facts.context);
    return INFRT_OK;
}

static infrt_status turn(talk *t, char *said, infrt_llm_request request, bool *ended) {
    infrt_lm_app *app = t->app;
    infrt_lm_answer answer = {.keep_text = true, .tell = text_print};
    infrt_status status = message_add(t, "user", said);
    room_made room;
    if (status == INFRT_OK) status = room_make(t, &request, &room);
    if (status != INFRT_OK) return status;
    if (room != ROOM_MADE) {
        message_drop(t);
        *ended = room == ROOM_NONE;
        return INFRT_OK;
    }
    request.messages = t->messages;
    request.n_messages = t->n;
    status = infrt_lm_answer_get(app, &request, &answer);
    if (status != INFRT_OK) {
        infrt_lm_answer_free(&answer);
        return status;
    }
    if (infrt_lm_interrupted() == SIGTERM) *ended = true;
    fputs(t->terminal ? "\n\n" : "\n", stdout);
    if (fflush(stdout) != 0) *ended = true; /* nobody reads; told at the end */
    status = message_add(t, "assistant", answer.text);
    if (status == INFRT_OK && talk_save(t, &request) != INFRT_OK) { /* tried again at the end */
        infrt_shell_note(&app->shell, "not saved: %s", app->error.text);
        app->error = (infrt_error){0};
    }
    if (status == INFRT_OK && answer.finish == INFRT_LLM_CONTEXT) status = cut_tell(t);
    return status;
}

/* What begins with a slash is for the program. True: it was. */
static bool command_do(talk *t, const char *said, bool *ended) {
    if (strcmp(said, "/exit") == 0 || strcmp(said, "/quit") == 0) *ended = true;
    else if (strcmp(said, "/reset") == 0) {
        messages_forget(t, t->n - t->n_system);
        t->unsaved = true;
    } else if (strcmp(said, "/help") == 0)
        fputs("/reset forgets the conversation, /exit ends it; Ctrl-C stops an answer\n", stdout);
    else return false;
    return true;
}

static infrt_status talk_on(talk *t, const infrt_llm_request *request) {
    infrt_status status = INFRT_OK;
    bool ended = false;
    infrt_lm_interruptible(t->app->llm, 0);
    while (!ended && status == INFRT_OK) {
        char *said = line_read(t);
        int number = infrt_lm_interrupted();
        if (number == SIGINT && t->terminal) {
            free(said);
            fputs("\n(Ctrl-D or /exit ends)\n", stdout);
            clearerr(stdin);
            continue;
        }
        if (!said || number) {
            free(said);
            break;
        }
        if (!*said || command_do(t, said, &ended)) free(said);
        else status = turn(t, said, *request, &ended);
    }
    if (t->terminal) putchar('\n');
    return status == INFRT_OK && t->unsaved ? talk_save(t, request) : status;
}

infrt_status infrt_lm_chat(infrt_lm_app *app) {
    const infrt_chat *chat = app->model->llm->chat;
    talk t = {.app = app, .terminal = isatty(STDIN_FILENO)};
    infrt_llm_request request = {0};
    if (!chat || chat->why_not)
        return infrt_fail(&app->error, INFRT_ERR_USAGE, "%s has no chat template (%s); `run` continues a text",
                          app->model->name, chat ? chat->why_not : "its files have none");
    infrt_status status = policy_read(app->options.overflow, &t.policy, &app->error);
    if (status == INFRT_OK) status = infrt_lm_files_check(app);
    if (status == INFRT_OK)
        status = infrt_lm_settings(&app->options, app->bias, &request, &app->error);
    if (status == INFRT_OK) status = infrt_lm_open(app, (infrt_llm_config){.requests = 1});
    request.adapter = infrt_lm_adapter(app, 0);
    if (status == INFRT_OK) status = talk_begin(&t, &request);
    if (status == INFRT_OK && t.n_system) status = system_check(&t, &request);
    if (status == INFRT_OK) status = talk_on(&t, &request);
    while (t.n) message_drop(&t);
    free(t.messages);
    return status;
}
