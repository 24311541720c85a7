/* request_values.c - the values of a request that are one number, word or list. */
#include "request_values.h"
#include "serve_fields.h"
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool infrt_take_wrong(infrt_reading *r, const char *needed) {
    const char *is;
    switch (infrt_json_next(&r->json)) {
    case '{': is = "an object"; break;
    case '[': is = "a list"; break;
    case '"': is = "a text"; break;
    case '0': is = "this number"; break;
    case 't':
    case 'f': is = "true or false"; break;
    case 'n': is = "null"; break;
    default: return infrt_json_refuse(&r->json, "no value");
    }
    return infrt_refuse(r->refusal, 400, r->path, "%s: %s is needed, not %s", r->path, needed, is);
}

bool infrt_take_twice(infrt_reading *r) {
    return infrt_refuse(r->refusal, 400, r->path, "%s is there twice", r->path);
}

size_t infrt_path_key(infrt_reading *r, const char *key) {
    const size_t n = strlen(r->path);
    snprintf(r->path + n, sizeof r->path - n, ".%.40s", key);
    return n;
}

size_t infrt_path_index(infrt_reading *r, uint32_t index) {
    const size_t n = strlen(r->path);
    snprintf(r->path + n, sizeof r->path - n, "[%u]", index);
    return n;
}

const char *infrt_take_text(infrt_reading *r, const char *needed) {
    infrt_ask *a = r->ask;
    char *text = a->texts + a->texts_used;
    if (infrt_json_next(&r->json) != '"') return infrt_take_wrong(r, needed), NULL;
    if (!infrt_json_string_read(&r->json, text, a->texts_room - a->texts_used)) return NULL;
    a->texts_used += strlen(text) + 1;
    return text;
}

bool infrt_take_NAME(infrt_reading *r, void *out, double least, double most) {
    (void)least;
    (void)most;
    const char *text = infrt_take_text(r, "a text");
    *(const char **)out = text;
    return text != NULL;
}

bool infrt_take_BOOL(infrt_reading *r, void *out, double least, double most) {
    (void)least;
    (void)most;
    const char next = infrt_json_next(&r->json);
    if (next != 't' && next != 'f') return infrt_take_wrong(r, "true or false");
    *(bool *)out = next == 't';
    return infrt_json_word(&r->json, next == 't' ? "true" : "false");
}

/* A number that may be written 1.0 and is whole. */
static bool whole(infrt_reading *r, double least, double most, double *out) {
    char needed[80];
    const infrt_json_reader before = r->json;
    snprintf(needed, sizeof needed, "a whole number from %.0f to %.0f", least, most);
    if (infrt_json_next(&r->json) != '0') return infrt_take_wrong(r, needed);
    if (!infrt_json_number(&r->json, out)) return false;
    if (*out >= least && *out <= most && *out == floor(*out)) return true;
    r->json = before;
    return infrt_take_wrong(r, needed);
}

bool infrt_take_COUNT(infrt_reading *r, void *out, double least, double most) {
    double value;
    if (!whole(r, least, most, &value)) return false;
    *(uint32_t *)out = (uint32_t)value;
    return true;
}

bool infrt_take_SIGNED(infrt_reading *r, void *out, double least, double most) {
    double value;
    if (!whole(r, least, most, &value)) return false;
    *(int32_t *)out = (int32_t)value;
    return true;
}

/* -1 and 0 stand for all. */
bool infrt_take_TOP_K(infrt_reading *r, void *out, double least, double most) {
    double value;
    if (!whole(r, least, most, &value)) return false;
    *(uint32_t *)out = value > 0 ? (uint32_t)value : 0;
    return true;
}

/* Of /v1/completions: how many alternatives; 0 still asks for the token's own. */
bool infrt_take_LOGPROBS(infrt_reading *r, void *out, double least, double most) {
    r->ask->logprobs = true;
    return infrt_take_COUNT(r, out, least, most);
}

bool infrt_take_SEED(infrt_reading *r, void *out, double least, double most) {
    /* as OpenAI has it */
    static const char needed[] = "a whole number from -9223372036854775808 to 9223372036854775807";
    char digits[24] = "";
    double value;
    (void)least;
    (void)most;
    const infrt_json_reader before = r->json;
    if (infrt_json_next(&r->json) != '0') return infrt_take_wrong(r, needed);
    const char *from = r->json.at;
    if (!infrt_json_number(&r->json, &value)) return false;
    const size_t n = (size_t)(r->json.at - from);
    if (n < sizeof digits) memcpy(digits, from, n);
    errno = 0;
    long long seed = strtoll(digits, NULL, 10);
    const bool plain = digits[0] && !strpbrk(digits, ".eE") && !errno;
    if (!plain)
        seed = fabs(value) <= 9007199254740992.0 ? (long long)value : 0; /* 1e5 and 1.0 are whole, too */
    *(uint64_t *)out = (uint64_t)seed;
    r->ask->seeded = true;
    if (plain || (double)seed == value) return true;
    r->json = before;
    return infrt_take_wrong(r, needed);
}

bool infrt_take_NUMBER(infrt_reading *r, void *out, double least, double most) {
    char needed[80];
    double value;
    const infrt_json_reader before = r->json;
    snprintf(needed, sizeof needed, "a number from %g to %g", least, most);
    if (infrt_json_next(&r->json) != '0') return infrt_take_wrong(r, needed);
    if (!infrt_json_number(&r->json, &value)) return false;
    *(float *)out = (float)value;
    if (value >= least && value <= most) return true;
    r->json = before;
    return infrt_take_wrong(r, needed);
}

typedef struct options_reader {
    infrt_reading *r;
    infrt_key_set keys;
} options_reader;

static bool option_take(void *self, infrt_json_reader *json, const char *key) {
    options_reader *o = self;
    infrt_reading *r = o->r;
    bool *const out[] = {&r->ask->include_usage, &r->ask->continuous_usage};
    uint32_t which;
    const bool first = infrt_key_find(&o->keys, key, &which);
    if (which == INFRT_NO_KEY) return infrt_json_skip(json);
    const size_t n = infrt_path_key(r, key);
    if (!first) return infrt_take_twice(r);
    const bool null = infrt_json_next(json) == 'n';
    if (null ? !infrt_json_word(json, "null") : !infrt_take_BOOL(r, out[which], 0, 0)) return false;
    r->path[n] = 0;
    return true;
}

bool infrt_take_OPTIONS(infrt_reading *r, void *out, double least, double most) {
    static const char *const names[] = {"include_usage", "continuous_usage_stats" /* vLLM's */};
    options_reader o = {.r = r, .keys = {.names = names, .n = 2}};
    (void)out;
    (void)least;
    (void)most;
    if (infrt_json_next(&r->json) != '{') return infrt_take_wrong(r, "an object");
    return infrt_json_object(&r->json, option_take, &o);
}

static bool stop_take(void *self, infrt_json_reader *json, const char *key) {
    infrt_reading *r = self;
    infrt_ask *a = r->ask;
    (void)json;
    (void)key;
    if (a->n_stop == INFRT_ASK_STOP)
        return infrt_refuse(r->refusal, 400, "stop", "stop: at most %d texts", INFRT_ASK_STOP);
    const size_t n = infrt_path_index(r, a->n_stop);
    const char *text = infrt_take_text(r, "a text");
    if (!text) return false;
    r->path[n] = 0;
    if (!text[0] || strlen(text) > 128)
        return infrt_refuse(r->refusal, 400, "stop", "stop: texts of 1 to 128 bytes are needed");
    a->stop[a->n_stop++] = text;
    return true;
}

bool infrt_take_STOP(infrt_reading *r, void *out, double least, double most) {
    (void)out;
    (void)least;
    (void)most;
    switch (infrt_json_next(&r->json)) {
    case '"': return stop_take(r, &r->json, NULL);
    case '[': return infrt_json_array(&r->json, stop_take, r);
    default: return infrt_take_wrong(r, "a text or a list of texts");
    }
}

static bool bias_take(void *self, infrt_json_reader *json, const char *key) {
    infrt_reading *r = self;
    infrt_ask *a = r->ask;
    char *end;
    const unsigned long token = key[0] >= '0' && key[0] <= '9' ? strtoul(key, &end, 10) : (end = NULL, 0ul);
    (void)json;
    const size_t n = infrt_path_key(r, key);
    if (!end || *end || token >= r->n_vocab)
        return infrt_refuse(r->refusal, 400, "logit_bias", "%s: keys are token ids below %u", r->path, r->n_vocab);
    if (a->n_bias == INFRT_LLM_BIASES)
        return infrt_refuse(r->refusal, 400, "logit_bias", "logit_bias: at most %u", INFRT_LLM_BIASES);
    for (uint32_t i = 0; i < a->n_bias; i++)
        if (a->bias[i].token == (int32_t)token)
            return infrt_refuse(r->refusal, 400, "logit_bias", "%s is there twice", r->path);
    a->bias[a->n_bias].token = (int32_t)token;
    if (!infrt_take_NUMBER(r, &a->bias[a->n_bias].add, -100, 100)) return false;
    if (a->bias[a->n_bias].add == -100.0f) a->bias[a->n_bias].add = -INFINITY; /* OpenAI: a ban */
    a->n_bias++;
    r->path[n] = 0;
    return true;
}

bool infrt_take_BIAS(infrt_reading *r, void *out, double least, double most) {
    (void)out;
    (void)least;
    (void)most;
    if (infrt_json_next(&r->json) != '{') return infrt_take_wrong(r, "an object of token ids");
    r->ask->bias = calloc(INFRT_LLM_BIASES, sizeof *r->ask->bias);
    if (!r->ask->bias) return infrt_refuse_memory(r->refusal);
    return infrt_json_object(&r->json, bias_take, r);
}
