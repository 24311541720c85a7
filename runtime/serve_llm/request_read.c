/* request_read.c - see request_read.h: a table of fields over the JSON reader of the runtime. */
#include "request_read.h"
#include "request_values.h"
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    CHAT = INFRT_ASK_CHAT,
    TEXT = INFRT_ASK_TEXT,
    BOTH = CHAT | TEXT,
    TOKENIZE = INFRT_ASK_TOKENIZE,
    DETOKENIZE = INFRT_ASK_DETOKENIZE,
    SAVE = INFRT_ASK_SAVE,
    RESTORE = INFRT_ASK_RESTORE,
    SESSION = SAVE | RESTORE,
    TEMPLATED = BOTH | TOKENIZE | SAVE, /* what messages become */
    ALL = BOTH | TOKENIZE | DETOKENIZE | SESSION
};

typedef struct field {
    unsigned routes;
    const char *name;
    infrt_take_value *take; /* null: refused but for `values` */
    double least, most;
    size_t at; /* in infrt_ask */
    const char *values;
} field;

static const field fields[] = {
#define INFRT_FIELD(routes, name, kind, least, most, member) \
    {routes, name, infrt_take_##kind, least, most, offsetof(infrt_ask, member), NULL},
#define INFRT_REFUSED(routes, name, values) {routes, name, NULL, 0, 0, 0, values},
#include "request_fields.def"
#undef INFRT_FIELD
#undef INFRT_REFUSED
};
enum { N_FIELDS = sizeof fields / sizeof *fields };

/* The value without white space, as far as it has room; only short ones are compared. */
static void squeeze(const char *from, const char *to, char out[64]) {
    size_t n = 0;
    for (; from < to && n < 63; from++)
        if (*from != ' ' && *from != '\t' && *from != '\n' && *from != '\r') out[n++] = *from;
    out[n] = 0;
}

/* 1 and 1.0 are one number. */
static bool is_number(infrt_json_reader *from, const char *value) {
    double number;
    char *end;
    const double wanted = strtod(value, &end);
    return end != value && !*end && infrt_json_next(from) == '0' &&
           infrt_json_number(from, &number) && number == wanted;
}

static bool refused_take(infrt_reading *r, const char *values) {
    char text[64];
    infrt_json_reader before = r->json;
    if (!infrt_json_skip(&r->json)) return false;
    squeeze(before.at, r->json.at, text);
    if (values[0] && (strcmp(text, values) == 0 || is_number(&before, values))) return true;
    return infrt_refuse(r->refusal, 400, r->path, "%s is not supported by this server%s%s", r->path,
                        values[0] ? "; leave it out, or give " : "; leave it out", values);
}

static bool field_take(void *self, infrt_json_reader *json, const char *key) {
    infrt_reading *r = self;
    for (size_t i = 0; i < N_FIELDS; i++) {
        const field *f = &fields[i];
        if (!(f->routes & r->ask->route) || strcmp(f->name, key) != 0) continue;
        snprintf(r->path, sizeof r->path, "%s", key);
        if (r->seen[i]) return infrt_take_twice(r);
        r->seen[i] = true;
        if (infrt_json_next(json) == 'n') return infrt_json_word(json, "null");
        if (!f->take) return refused_take(r, f->values);
        return f->take(r, (char *)r->ask + f->at, f->least, f->most);
    }
    return infrt_json_skip(json);
}

static bool prompt_check(infrt_reading *r) {
    infrt_ask *a = r->ask;
    const unsigned route = a->route;
    if (route == CHAT && !a->n_messages)
        return infrt_refuse(r->refusal, 400, "messages", "messages is needed: a list with at least one message");
    if (route == TEXT && !a->n_prompts)
        return infrt_refuse(r->refusal, 400, "prompt", "prompt is needed: a text, a list of texts, or token ids");
    if ((route == TOKENIZE || route == SAVE) && (a->n_messages > 0) + a->n_prompts != 1)
        return infrt_refuse(r->refusal, 400, "prompt", "either a prompt or messages are needed");
    if (route == TOKENIZE && a->n_prompts && !a->prompts[0].text)
        return infrt_refuse(r->refusal, 400, "prompt", "prompt: a text is needed");
    if (route == DETOKENIZE && !a->n_prompts)
        return infrt_refuse(r->refusal, 400, "tokens", "tokens is needed: a list of token ids");
    a->chat = a->n_messages > 0;
    if (a->chat) a->n_prompts = 1;
    return true;
}

/* What belongs together. */
static bool whole_check(infrt_reading *r) {
    infrt_ask *a = r->ask;
    if (!prompt_check(r)) return false;
    if (a->chat && a->top_logprobs && !a->logprobs)
        return infrt_refuse(r->refusal, 400, "top_logprobs", "top_logprobs needs logprobs: true");
    if (a->max_completion_tokens) a->max_tokens = a->max_completion_tokens;
    if (a->continuous_usage && !a->include_usage)
        return infrt_refuse(r->refusal, 400, "stream_options.continuous_usage_stats",
                            "stream_options.continuous_usage_stats needs include_usage: true");
    if (a->include_usage && !a->stream)
        return infrt_refuse(r->refusal, 400, "stream_options", "stream_options needs stream: true");
    if (a->echo && (a->logprobs || a->stream))
        return infrt_refuse(r->refusal, 400, "echo", "echo is not supported with logprobs or stream");
    if (a->n_prompts * a->n > INFRT_ASK_CHOICES)
        return infrt_refuse(r->refusal, 400, "n", "%u prompts with n %u: at most %d answers in all",
                            a->n_prompts, a->n, INFRT_ASK_CHOICES);
    return true;
}

bool infrt_ask_read(const char *body, size_t bytes, infrt_ask_route route, uint32_t most_ids,
                    uint32_t n_vocab, infrt_ask *out, infrt_refusal *refusal) {
    bool seen[N_FIELDS] = {0};
    infrt_reading r = {.ask = out, .refusal = refusal, .most_ids = most_ids, .n_vocab = n_vocab, .seen = seen};
    *out = (infrt_ask){
        .route = route, .n = 1, .temperature = 1, .top_p = 1, .repetition_penalty = 1, .add_special = true};
    out->texts_room = bytes + 1; /* a text takes more bytes in JSON: its quotes */
    out->texts = malloc(out->texts_room);
    out->prompts = calloc(INFRT_ASK_PROMPTS, sizeof *out->prompts);
    if (!out->texts || !out->prompts) return infrt_refuse_memory(refusal);
    return infrt_body_read(&r.json, body, bytes, field_take, &r, refusal) && whole_check(&r);
}

void infrt_ask_free(infrt_ask *ask) {
    for (uint32_t i = 0; i < ask->n_prompts; i++) free(ask->prompts[i].ids);
    free(ask->prompts);
    free(ask->messages);
    free(ask->bias);
    free(ask->texts);
    *ask = (infrt_ask){0};
}
