/* lm_tokenize.c - the command `tokenize`: ids of a text, text of ids. */
#include "lm_app.h"
#include "tokenizer.h"
#include <stdlib.h>
#include <string.h>

/* Each id with what it stands for; in text, what is not printable as \xNN. */
static void piece_text(const infrt_tokenizer *t, int32_t id, FILE *out) {
    size_t n;
    const char *piece = infrt_token_piece(t, id, &n);
    fprintf(out, "%7d ", id);
    for (size_t i = 0; piece && i < n; i++) {
        unsigned char c = (unsigned char)piece[i];
        if (c < 0x20 || c == 0x7f || c == '\\') fprintf(out, "\\x%02x", c);
        else fputc(c, out);
    }
    fprintf(out, "%s\n", infrt_token_flags(t, id) & INFRT_TOKEN_CONTROL ? "   (control)" : "");
}

static void pieces_json(infrt_json *json, const infrt_tokenizer *t, const int32_t *ids, uint32_t n) {
    char piece[512];
    infrt_json_open(json, "ids", '[');
    for (uint32_t i = 0; i < n; i++) infrt_json_int(json, NULL, ids[i]);
    infrt_json_close(json, ']');
    infrt_json_open(json, "pieces", '[');
    for (uint32_t i = 0; i < n; i++) {
        size_t bytes = 0;
        const char *from = infrt_token_piece(t, ids[i], &bytes);
        if (bytes > sizeof piece - 1) bytes = sizeof piece - 1;
        if (bytes) memcpy(piece, from, bytes);
        piece[bytes] = 0;
        infrt_json_string(json, NULL, piece);
    }
    infrt_json_close(json, ']');
}

/* What the ids say when they are decoded, control tokens included. */
static char *ids_decode(const infrt_tokenizer *t, const int32_t *ids, uint32_t n) {
    size_t bytes = infrt_decode(t, ids, n, 1, NULL, 0);
    char *text = malloc(bytes + 1);
    if (!text) return NULL;
    infrt_decode(t, ids, n, 1, text, bytes);
    text[bytes] = 0;
    return text;
}

static infrt_status ids_show(infrt_lm_app *app, const int32_t *ids, uint32_t n) {
    const infrt_tokenizer *t = app->model->llm->tokenizer;
    infrt_json json = {.out = stdout};
    char *text = ids_decode(t, ids, n);
    if (!text) return infrt_fail(&app->error, INFRT_ERR_NO_MEMORY, "no memory for the text");
    if (app->options.parsed.json) {
        infrt_json_open(&json, NULL, '{');
        infrt_json_uint(&json, "tokens", n);
        pieces_json(&json, t, ids, n);
        infrt_json_string(&json, "text", text);
        infrt_json_close(&json, '}');
    } else if (app->options.ids) {
        puts(text);
    } else {
        for (uint32_t i = 0; i < n; i++) piece_text(t, ids[i], stdout);
    }
    free(text);
    return INFRT_OK;
}

infrt_status infrt_lm_tokenize(infrt_lm_app *app) {
    infrt_lm_prompt prompt = {0};
    infrt_llm_request request = {0};
    int32_t *ids = NULL;
    uint32_t n = 0;
    if (!app->model->llm->tokenizer)
        return infrt_fail(&app->error, INFRT_ERR_USAGE, "%s has no tokenizer", app->model->name);
    infrt_status status = infrt_lm_prompt_read(app, &prompt, &request);
    if (status == INFRT_OK)
        status = infrt_llm_encode(app->model, &request, NULL, 0, &n, &app->error);
    if (status == INFRT_OK) {
        ids = calloc((size_t)n + 1, sizeof *ids);
        if (!ids) status = infrt_fail(&app->error, INFRT_ERR_NO_MEMORY, "no memory for %u ids", n);
    }
    if (status == INFRT_OK)
        status = infrt_llm_encode(app->model, &request, ids, n, &n, &app->error);
    if (status == INFRT_OK) status = ids_show(app, ids, n);
    free(ids);
    infrt_lm_prompt_free(&prompt);
    return status;
}
