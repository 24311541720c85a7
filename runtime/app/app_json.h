/* app_json.h - writes JSON: indented, numbers of an array in one line, valid UTF-8, keys in the order of calls. */
#ifndef INFRT_APP_JSON_H
#define INFRT_APP_JSON_H
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* Start from {.out = file}. `key` is null inside arrays and at the top. */
typedef struct infrt_json {
    FILE *out;
    uint32_t depth;
    bool more;      /* something precedes at this depth */
    bool in_a_line; /* and it is a plain element of an array */
} infrt_json;

void infrt_json_text(FILE *out, const char *text); /* a string with its quotes, in one line */
void infrt_json_open(infrt_json *json, const char *key, char bracket); /* '{' or '[' */
void infrt_json_close(infrt_json *json, char bracket); /* '}' or ']'; a newline after the last */
void infrt_json_string(infrt_json *json, const char *key, const char *value); /* null: null */
void infrt_json_uint(infrt_json *json, const char *key, uint64_t value);
void infrt_json_int(infrt_json *json, const char *key, int64_t value);
void infrt_json_bool(infrt_json *json, const char *key, bool value);
void infrt_json_hash(infrt_json *json, const char *key, uint64_t value); /* 16 hex digits, a string */
/* With `digits` significant digits (9 tell every f32 apart, 17 every f64); what is not finite as null. */
void infrt_json_float(infrt_json *json, const char *key, double value, int digits);

#endif
