/* embed_read.c - see embed_read.h. */
#include "embed_read.h"
#include "json_read.h"
#include "serve_fields.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { INPUT, MODEL, FORMAT, DIMENSIONS, TIMEOUT, N_KEYS };
static const char *const keys[] = {"input", "model", "encoding_format", "dimensions", "timeout"};

typedef struct reading {
    infrt_embed *out;
    infrt_refusal *refusal;
    uint64_t width;
    uint32_t most_ids, n_ids;
    size_t used, room; /* of texts */
    infrt_key_set keys;
} reading;

static bool text_take(reading *r, infrt_json_reader *json, const char **text) {
    char *at = r->out->texts + r->used;
    if (!infrt_json_string_read(json, at, r->room - r->used)) return false;
    r->used += strlen(at) + 1;
    *text = at;
    return true;
}

/* Null: no more are taken. */
static infrt_embed_text *input_add(reading *r) {
    infrt_embed *e = r->out;
    if (e->n_inputs < INFRT_EMBED_TEXTS) return &e->inputs[e->n_inputs++];
    infrt_refuse(r->refusal, 400, "input", "input: at most %d texts a request", INFRT_EMBED_TEXTS);
    return NULL;
}

static bool text_add(reading *r, infrt_json_reader *json) {
    infrt_embed_text *input = input_add(r);
    if (!input || !text_take(r, json, &input->text)) return false;
    input->bytes = strlen(input->text);
    if (input->bytes) return true;
    return infrt_refuse(r->refusal, 400, "input", "input[%u]: the text is empty", r->out->n_inputs - 1);
}

static bool id_take(void *self, infrt_json_reader *json, const char *key) {
    reading *r = self;
    infrt_embed_text *input = &r->out->inputs[r->out->n_inputs - 1];
    uint64_t id;
    (void)key;
    if (infrt_json_next(json) != '0' || !infrt_json_count(json, &id) || id > INT32_MAX)
        return infrt_refuse(r->refusal, 400, "input", "input[%u]: a list of token ids is needed, whole numbers from 0",
                            r->out->n_inputs - 1);
    if (input->n_ids == r->most_ids) {
        r->refusal->code = "context_length_exceeded";
        return infrt_refuse(r->refusal, 400, "input", "input[%u]: more token ids than the %u that the model takes",
                            r->out->n_inputs - 1, r->most_ids);
    }
    r->out->ids[r->n_ids++] = (int32_t)id; /* there are fewer than bytes in the body */
    input->n_ids++;
    return true;
}

static bool ids_add(reading *r, infrt_json_reader *json) {
    infrt_embed_text *input = input_add(r);
    if (!input) return false;
    input->first = r->n_ids;
    if (!infrt_json_array(json, id_take, r)) return false;
    return input->n_ids > 0 || infrt_refuse(r->refusal, 400, "input", "input[%u]: the list of token ids is empty",
                                            r->out->n_inputs - 1);
}

static bool element_take(void *self, infrt_json_reader *json, const char *key) {
    reading *r = self;
    const char next = infrt_json_next(json);
    const uint32_t n = r->out->n_inputs;
    const bool text = next == '"', first = n == 0;
    (void)key;
    if ((text || next == '[') && (first || text == (r->out->inputs[0].text != NULL)))
        return text ? text_add(r, json) : ids_add(r, json);
    return infrt_refuse(r->refusal, 400, "input",
                        "input[%u]: texts, or lists of token ids, are needed, all of one kind", n);
}

/* A list of numbers is one text. */
static bool list_is_ids(infrt_json_reader json) {
    json.at++;
    return infrt_json_next(&json) == '0';
}

static bool input_take(reading *r, infrt_json_reader *json) {
    const char next = infrt_json_next(json);
    if (next == '"') return text_add(r, json);
    if (next == '[')
        return list_is_ids(*json) ? ids_add(r, json) : infrt_json_array(json, element_take, r);
    return infrt_refuse(r->refusal, 400, "input", "input: a text, a list of texts, or token ids are needed");
}

static bool format_take(reading *r, infrt_json_reader *json) {
    char format[16];
    if (infrt_json_next(json) == '"' && infrt_json_string_read(json, format, sizeof format)) {
        r->out->base64 = strcmp(format, "base64") == 0;
        if (r->out->base64 || strcmp(format, "float") == 0) return true;
    }
    return infrt_refuse(r->refusal, 400, "encoding_format", "encoding_format: \"float\" or \"base64\" is needed");
}

static bool dimensions_take(reading *r, infrt_json_reader *json) {
    uint64_t n;
    if (infrt_json_next(json) == '0' && infrt_json_count(json, &n) && n == r->width) return true;
    return infrt_refuse(r->refusal, 400, "dimensions",
                        "dimensions: the vectors of this model have %" PRIu64
                        ", and are not cut; leave it out",
                        r->width);
}

/* Seconds, as of language models. */
static bool timeout_take(reading *r, infrt_json_reader *json) {
    double seconds;
    if (infrt_json_next(json) != '0' || !infrt_json_number(json, &seconds) || seconds < 0.001 || seconds > 86400)
        return infrt_refuse(r->refusal, 400, "timeout", "timeout: a number from 0.001 to 86400 is needed");
    r->out->timeout_ns = (uint64_t)(seconds * 1e9);
    return true;
}

/* What would make other vectors is refused by name; user, and what nobody knows, is passed over. */
static const infrt_inert_field others[] = {{"add_special_tokens", "tn", NULL},
                                           {"truncate_prompt_tokens", "n", NULL},
                                           {"input_type", "n", NULL},
                                           {"prompt_name", "n", NULL},
                                           {"instruction", "n", NULL},
                                           {"messages", "n", NULL},
                                           {NULL, NULL, NULL}};

static bool key_take(void *self, infrt_json_reader *json, const char *key) {
    reading *r = self;
    uint32_t which;
    if (!infrt_key_find(&r->keys, key, &which))
        return infrt_refuse(r->refusal, 400, key, "%s is there twice", key);
    if (which == INFRT_NO_KEY)
        return infrt_inert_take(others, json, key, true, " by this server; leave it out", r->refusal);
    if (infrt_json_next(json) == 'n') return infrt_json_word(json, "null");
    switch (which) {
    case INPUT: return input_take(r, json);
    case FORMAT: return format_take(r, json);
    case DIMENSIONS: return dimensions_take(r, json);
    case TIMEOUT: return timeout_take(r, json);
    default:
        if (infrt_json_next(json) != '"')
            return infrt_refuse(r->refusal, 400, key, "%s: a text is needed", key);
        return text_take(r, json, &r->out->model);
    }
}

bool infrt_embed_read(const char *body, size_t bytes, uint64_t width, uint32_t most_ids,
                      infrt_embed *out, infrt_refusal *refusal) {
    reading r = {.out = out,
                 .refusal = refusal,
                 .width = width,
                 .most_ids = most_ids,
                 .room = bytes + 1,
                 .keys = {.names = keys, .n = N_KEYS}};
    infrt_json_reader json;
    *out = (infrt_embed){0};
    out->texts = malloc(r.room); /* a text takes more bytes in JSON: its quotes */
    out->ids = malloc((bytes / 2 + 1) * sizeof *out->ids); /* a digit and a comma each */
    out->inputs = calloc(INFRT_EMBED_TEXTS, sizeof *out->inputs);
    if (!out->texts || !out->ids || !out->inputs) return infrt_refuse_memory(refusal);
    if (!infrt_body_read(&json, body, bytes, key_take, &r, refusal)) return false;
    if (out->n_inputs) return true;
    return infrt_refuse(refusal, 400, "input", "input is needed: a text, a list of texts, or token ids");
}

void infrt_embed_free(infrt_embed *embed) {
    free(embed->texts);
    free(embed->ids);
    free(embed->inputs);
    *embed = (infrt_embed){0};
}
