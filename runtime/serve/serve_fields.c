/* serve_fields.c - see serve_fields.h. */
#include "serve_fields.h"
#include <string.h>

bool infrt_key_find(infrt_key_set *set, const char *key, uint32_t *which) {
    uint32_t i = 0;
    while (i < set->n && strcmp(set->names[i], key) != 0) i++;
    *which = i < set->n ? i : INFRT_NO_KEY;
    if (i == set->n) return true;
    const bool first = !infrt_key_seen(set, i);
    set->seen |= UINT32_C(1) << i;
    return first;
}

bool infrt_inert_take(const infrt_inert_field *fields, infrt_json_reader *json, const char *key,
                      bool others, const char *why, infrt_refusal *refusal) {
    const infrt_inert_field *f = fields;
    while (f->name && strcmp(f->name, key) != 0) f++;
    const char next = infrt_json_next(json);
    const bool good = f->name ? !f->values || (next && strchr(f->values, next)) : others;
    if (good) return infrt_json_skip(json);
    return infrt_refuse(refusal, 400, key, "%.64s is not supported%s", key, f->name && f->why ? f->why : why);
}
