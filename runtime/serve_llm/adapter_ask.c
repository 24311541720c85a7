/* adapter_ask.c - see adapter_ask.h. */
#include "adapter_ask.h"
#include "adapters.h"
#include "serve_fields.h"
#include <ctype.h>
#include <math.h>
#include <string.h>

enum { NAME, PATH, SUM, SHA256, IN_PLACE, N_KEYS };
static const char *const keys[] = {"lora_name", "lora_path", "sum", "expected_sha256", "load_inplace"};
enum { PART_PATH, PART_SHA256, PART_WEIGHT, N_PART_KEYS };
static const char *const part_keys[] = {"lora_path", "expected_sha256", "weight"};

/* Fields of vLLM and SGLang that change nothing here. What nobody knows is refused: it may be a check, misspelt. */
static const infrt_inert_field others[] = {{"pinned", "nf", ": those of --adapter and of the spec stay"},
                                           {"is_3d_lora_weight", "nf", NULL},
                                           {"added_tokens_config", "nf", NULL},
                                           {"lora_int_id", NULL, NULL},
                                           {NULL, NULL, NULL}};

typedef struct reading {
    infrt_adapter_ask *out;
    infrt_refusal *refusal;
    char sha256[65]; /* of lora_path; empty: not said */
    infrt_key_set keys, part_keys;
} reading;

static bool text_take(reading *r, infrt_json_reader *json, const char *key, char *out, size_t room) {
    infrt_json_reader whole = *json;
    if (infrt_json_next(json) != '"')
        return infrt_refuse(r->refusal, 400, key, "%s: a text is needed", key);
    if (infrt_json_string_read(json, out, room)) return true;
    out[0] = 0;
    if (!infrt_json_string_read(&whole, NULL, 0)) return false;
    return infrt_refuse(r->refusal, 400, key,
                        "%s: a text of at most %zu bytes without a NUL is needed", key, room - 1);
}

/* As sha256sum prints it. */
static bool digest_take(reading *r, infrt_json_reader *json, const char *key, char out[65]) {
    if (infrt_json_next(json) == 'n') return infrt_json_word(json, "null");
    if (!text_take(r, json, key, out, 65)) return false;
    const size_t n = strspn(out, "0123456789abcdefABCDEF");
    for (size_t i = 0; i < n; i++) out[i] = (char)tolower((unsigned char)out[i]);
    return (n == 64 && !out[64]) ||
           infrt_refuse(r->refusal, 400, key, "%s: 64 hexadecimal digits are needed", key);
}

/* ---- sums --------------------------------------------------------------------------------------- */

static bool part_key_take(void *self, infrt_json_reader *json, const char *key) {
    reading *r = self;
    infrt_asked_part *part = &r->out->parts[r->out->n - 1];
    uint32_t which;
    if (!infrt_key_find(&r->part_keys, key, &which))
        return infrt_refuse(r->refusal, 400, "sum", "sum[%u].%s is there twice", r->out->n - 1, key);
    switch (which) {
    case PART_PATH: return text_take(r, json, key, part->path, sizeof part->path);
    case PART_SHA256: return digest_take(r, json, key, part->sha256);
    case PART_WEIGHT:
        return (infrt_json_next(json) == '0' && infrt_json_number(json, &part->weight) &&
                fabs(part->weight) <= INFRT_ADAPTER_WEIGHT) ||
               infrt_refuse(r->refusal, 400, "sum", "sum: weight: a number from -%g to %g is needed",
                            INFRT_ADAPTER_WEIGHT, INFRT_ADAPTER_WEIGHT);
    default:
        return infrt_refuse(r->refusal, 400, "sum",
                            "sum: each has lora_path, weight and expected_sha256, not %.64s", key);
    }
}

static bool part_take(void *self, infrt_json_reader *json, const char *key) {
    reading *r = self;
    infrt_adapter_ask *a = r->out;
    (void)key;
    if (a->n == INFRT_LLM_ADAPTER_PARTS)
        return infrt_refuse(r->refusal, 400, "sum", "sum: at most %u adapters", INFRT_LLM_ADAPTER_PARTS);
    infrt_asked_part *part = &a->parts[a->n++];
    *part = (infrt_asked_part){.weight = 1.0};
    r->part_keys = (infrt_key_set){.names = part_keys, .n = N_PART_KEYS};
    if (infrt_json_next(json) != '{' || !infrt_json_object(json, part_key_take, r))
        return infrt_refuse(r->refusal, 400, "sum", "sum: a list of {\"lora_path\": .., \"weight\": ..} is needed");
    return part->path[0] || infrt_refuse(r->refusal, 400, "sum", "sum: lora_path is needed in each");
}

/* ---- the request -------------------------------------------------------------------------------- */

static bool folders_take(reading *r, infrt_json_reader *json, const char *key, bool sum) {
    infrt_adapter_ask *a = r->out;
    if (sum ? a->path : a->sum)
        return infrt_refuse(r->refusal, 400, key, "lora_path and sum are both there: give one of them");
    if (sum && infrt_json_next(json) != '[')
        return infrt_refuse(r->refusal, 400, key, "%s: a list is needed", key);
    a->path = !sum;
    a->sum = sum;
    if (sum) return infrt_json_array(json, part_take, r);
    a->n = 1;
    a->parts[0] = (infrt_asked_part){.weight = 1.0};
    return text_take(r, json, key, a->parts[0].path, sizeof a->parts[0].path);
}

static bool flag_take(reading *r, infrt_json_reader *json, const char *key, bool *out) {
    const char next = infrt_json_next(json);
    *out = next == 't';
    if (next != 't' && next != 'f')
        return infrt_refuse(r->refusal, 400, key, "%s: true or false is needed", key);
    return infrt_json_word(json, *out ? "true" : "false");
}

static bool key_take(void *self, infrt_json_reader *json, const char *key) {
    static const char why[] =
        "; there are lora_name, lora_path, sum, expected_sha256, load_inplace";
    reading *r = self;
    uint32_t which;
    if (!infrt_key_find(&r->keys, key, &which))
        return infrt_refuse(r->refusal, 400, key, "%s is there twice", key);
    if (which == INFRT_NO_KEY) return infrt_inert_take(others, json, key, false, why, r->refusal);
    if (infrt_json_next(json) == 'n') return infrt_json_word(json, "null");
    switch (which) {
    case NAME: return text_take(r, json, key, r->out->name, sizeof r->out->name);
    case SHA256: return digest_take(r, json, key, r->sha256);
    case IN_PLACE: return flag_take(r, json, key, &r->out->in_place);
    default: return folders_take(r, json, key, which == SUM);
    }
}

static bool whole_check(reading *r, bool loads) {
    infrt_adapter_ask *a = r->out;
    if (!a->name[0]) return infrt_refuse(r->refusal, 400, "lora_name", "lora_name is needed");
    if (loads && a->sum && !a->n)
        return infrt_refuse(r->refusal, 400, "sum", "sum: at least one adapter is needed");
    if (loads && (!a->n || !a->parts[0].path[0]))
        return infrt_refuse(r->refusal, 400, "lora_path", "lora_path is needed");
    if (r->sha256[0] && a->sum)
        return infrt_refuse(r->refusal, 400, "expected_sha256", "expected_sha256: of a sum each part has its own");
    if (a->path) memcpy(a->parts[0].sha256, r->sha256, sizeof r->sha256);
    return true;
}

bool infrt_adapter_ask_read(const char *body, size_t bytes, bool loads, infrt_adapter_ask *out,
                            infrt_refusal *refusal) {
    reading r = {.out = out, .refusal = refusal, .keys = {.names = keys, .n = N_KEYS}};
    infrt_json_reader json;
    *out = (infrt_adapter_ask){0};
    return infrt_body_read(&json, body, bytes, key_take, &r, refusal) && whole_check(&r, loads);
}

void infrt_adapter_source_put(const infrt_adapter_ask *ask, infrt_out *out) {
    for (uint32_t i = 0; i < ask->n; i++) {
        if (ask->sum) infrt_out_format(out, "%s%g*", i ? "," : "", ask->parts[i].weight);
        infrt_out_escaped(out, ask->parts[i].path, strlen(ask->parts[i].path));
    }
}
