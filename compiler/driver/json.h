/* json.h - writes JSON to a buffer: commas, nesting and escapes are kept right here. */
#ifndef INFC_JSON_H
#define INFC_JSON_H
#include "../base/buf.h"
#include <stdbool.h>

typedef struct infc_json {
    infc_buf *out;
    int depth;
    uint64_t arrays; /* bit d: level d is an array */
    uint64_t not_empty;
} infc_json;

/* Initialise with {.out = out}. `key` is null inside an array and at the top. At most 60 levels. */
void infc_json_object(infc_json *json, const char *key);
void infc_json_array(infc_json *json, const char *key);
void infc_json_end(infc_json *json); /* of the innermost; a newline after the last */
void infc_json_text(infc_json *json, const char *key, const char *value); /* null pointer: null */
void infc_json_u64(infc_json *json, const char *key, uint64_t value);
void infc_json_i64(infc_json *json, const char *key, int64_t value);
void infc_json_f64(infc_json *json, const char *key, double value, int digits); /* significant digits */
void infc_json_bool(infc_json *json, const char *key, bool value);
void infc_json_null(infc_json *json, const char *key);
void infc_json_dims(infc_json *json, const char *key, const int64_t *dims, int rank); /* on one line */
/* A value that is JSON already. */
void infc_json_raw(infc_json *json, const char *key, const char *text);

#endif
