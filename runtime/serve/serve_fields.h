/* serve_fields.h - the keys that an object of a request may have. SPDX-License-Identifier: MIT */
#ifndef INFRT_SERVE_FIELDS_H
#define INFRT_SERVE_FIELDS_H
#include "serve_refusal.h"

enum { INFRT_NO_KEY = 32 /* and the most that a set has */ };

/* The known keys of one object, each of which may come once: two readers could take a second one differently. */
typedef struct infrt_key_set {
    const char *const *names; /* [n] */
    uint32_t n, seen;         /* seen: bits */
} infrt_key_set;

/* Which of them it is, or INFRT_NO_KEY. False: it was there before. */
bool infrt_key_find(infrt_key_set *set, const char *key, uint32_t *which);
static inline bool infrt_key_seen(const infrt_key_set *set, uint32_t which) {
    return set->seen >> which & 1;
}

/* A field that other servers have and this one has not, and the values with which that makes no difference. */
typedef struct infrt_inert_field {
    const char *name;   /* null: the last */
    const char *values; /* signs of infrt_json_next; null: any */
    const char *why;    /* it is refused otherwise; null: for the same reason as all */
} infrt_inert_field;

/* Takes such a field, and any that nobody knows if `others` may be there. False: it is refused, as "KEY is not
 * supported" and why. */
bool infrt_inert_take(const infrt_inert_field *fields, infrt_json_reader *json, const char *key,
                      bool others, const char *why, infrt_refusal *refusal);

#endif
