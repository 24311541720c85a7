#include "json.h"
#include <inttypes.h>
#include <math.h>

static void begin_value(infc_json *j, const char *key) {
    if (j->depth > 0) {
        infc_buf_puts(j->out, (j->not_empty >> j->depth & 1) ? ",\n" : "\n");
        j->not_empty |= (uint64_t)1 << j->depth;
        infc_buf_indent(j->out, 2 * j->depth);
    }
    if (!key) return;
    infc_buf_json_string(j->out, key);
    infc_buf_puts(j->out, ": ");
}

static void open_level(infc_json *j, const char *key, bool array) {
    begin_value(j, key);
    infc_buf_puts(j->out, array ? "[" : "{");
    uint64_t bit = (uint64_t)1 << ++j->depth;
    j->arrays = array ? j->arrays | bit : j->arrays & ~bit;
    j->not_empty &= ~bit;
}

void infc_json_object(infc_json *j, const char *key) { open_level(j, key, false); }
void infc_json_array(infc_json *j, const char *key) { open_level(j, key, true); }

void infc_json_end(infc_json *j) {
    bool array = j->arrays >> j->depth & 1, any = j->not_empty >> j->depth & 1;
    j->depth--;
    if (any) {
        infc_buf_puts(j->out, "\n");
        infc_buf_indent(j->out, 2 * j->depth);
    }
    infc_buf_puts(j->out, array ? "]" : "}");
    if (j->depth == 0) infc_buf_puts(j->out, "\n");
}

void infc_json_text(infc_json *j, const char *key, const char *value) {
    begin_value(j, key);
    if (value) infc_buf_json_string(j->out, value);
    else infc_buf_puts(j->out, "null");
}

void infc_json_u64(infc_json *j, const char *key, uint64_t value) {
    begin_value(j, key);
    infc_buf_printf(j->out, "%" PRIu64, value);
}

void infc_json_i64(infc_json *j, const char *key, int64_t value) {
    begin_value(j, key);
    infc_buf_printf(j->out, "%" PRId64, value);
}

void infc_json_f64(infc_json *j, const char *key, double value, int digits) {
    begin_value(j, key);
    if (isfinite(value)) infc_buf_printf(j->out, "%.*g", digits, value);
    else infc_buf_puts(j->out, "null"); /* JSON has no infinities */
}

void infc_json_bool(infc_json *j, const char *key, bool value) {
    begin_value(j, key);
    infc_buf_puts(j->out, value ? "true" : "false");
}

void infc_json_null(infc_json *j, const char *key) {
    begin_value(j, key);
    infc_buf_puts(j->out, "null");
}

void infc_json_dims(infc_json *j, const char *key, const int64_t *dims, int rank) {
    begin_value(j, key);
    infc_buf_puts(j->out, "[");
    for (int i = 0; i < rank; i++) infc_buf_printf(j->out, "%s%" PRId64, i ? ", " : "", dims[i]);
    infc_buf_puts(j->out, "]");
}

void infc_json_raw(infc_json *j, const char *key, const char *text) {
    begin_value(j, key);
    infc_buf_puts(j->out, text);
}
