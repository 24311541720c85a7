/* lm_prompt.c - what the user gives as a prompt. */
#include "chat.h"
#include "lm_app.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* More text than any context holds. */
enum { TEXT_MOST = 1 << 28, TEXT_FIRST = 1 << 16 };

static infrt_status stream_read(FILE *file, const char *name, char **out, infrt_error *error) {
    size_t room = TEXT_FIRST, n = 0, got;
    char *text = malloc(room), *more;
    while (text && (got = fread(text + n, 1, room - 1 - n, file)) > 0) {
        n += got;
        if (memchr(text + n - got, 0, got)) break; /* no text, and perhaps without an end */
        if (n < room - 1) continue;
        more = n < TEXT_MOST ? realloc(text, room *= 2) : NULL;
        if (!more) free(text);
        text = more;
    }
    if (!text)
        return infrt_fail(error, INFRT_ERR_NO_MEMORY, "%s: more text than fits into memory", name);
    text[n] = 0;
    infrt_status status = INFRT_OK;
    if (ferror(file))
        status = infrt_fail(error, INFRT_ERR_IO, "%s: cannot read: %s", name, strerror(errno));
    else if (strlen(text) != n)
        status = infrt_fail(error, INFRT_ERR_DATA, "%s: has a NUL at byte %zu; give a text", name,
                            strlen(text));
    if (status == INFRT_OK) *out = text;
    else free(text);
    return status;
}

infrt_status infrt_lm_text_read(const char *path, char **out, infrt_error *error) {
    if (!path) return stream_read(stdin, "standard input", out, error);
    FILE *file = fopen(path, "r");
    if (!file) return infrt_fail(error, INFRT_ERR_IO, "%s: cannot open: %s", path, strerror(errno));
    infrt_status status = stream_read(file, path, out, error);
    fclose(file);
    return status;
}

/* As it is, or with --chat and --system as messages. */
static infrt_status text_place(infrt_lm_app *app, const char *text, infrt_lm_prompt *out,
                               infrt_llm_request *request) {
    const infrt_lm_options *o = &app->options;
    const infrt_chat *chat = app->model->llm->chat;
    uint32_t n = 0;
    request->text = text;
    if (!o->chat && !o->system) return INFRT_OK;
    if (!chat || chat->why_not)
        return infrt_fail(&app->error, INFRT_ERR_USAGE, "%s needs a chat template (%s); put all into the prompt",
                          o->system ? "--system" : "--chat",
                          chat ? chat->why_not : "this model's files have none");
    request->text = NULL;
    if (o->system) out->messages[n++] = (infrt_llm_message){"system", o->system};
    out->messages[n++] = (infrt_llm_message){"user", text};
    request->messages = out->messages;
    request->n_messages = n;
    return INFRT_OK;
}

infrt_status infrt_lm_prompt_read(infrt_lm_app *app, infrt_lm_prompt *out, infrt_llm_request *request) {
    const infrt_lm_options *o = &app->options;
    infrt_status status = INFRT_OK;
    int given = (o->prompt != NULL) + (o->prompt_file != NULL) + (o->ids != NULL);
    bool from_stdin = o->prompt && strcmp(o->prompt, "-") == 0;
    if (given != 1)
        return infrt_fail(&app->error, INFRT_ERR_USAGE, "give %s of --prompt, --prompt-file and --tokens",
                          given ? "only one" : "one");
    if (o->ids) {
        if (o->system || o->chat)
            return infrt_fail(&app->error, INFRT_ERR_USAGE, "%s goes with a text, not with --tokens",
                              o->system ? "--system" : "--chat");
        request->tokens = NULL;
        status = infrt_lm_ids(o->ids, &out->ids, &request->n_tokens, &app->error);
        request->tokens = out->ids;
        return status;
    }
    if (o->prompt_file || from_stdin)
        status = infrt_lm_text_read(o->prompt_file, &out->text, &app->error);
    return status == INFRT_OK ? text_place(app, out->text ? out->text : o->prompt, out, request) : status;
}

void infrt_lm_prompt_free(infrt_lm_prompt *prompt) {
    free(prompt->text);
    free(prompt->ids);
    *prompt = (infrt_lm_prompt){0};
}
