/* app_json.c - writes JSON. */
#include "app_json.h"
#include <inttypes.h>
#include <math.h>
#include <stddef.h>

/* How many bytes of a well-formed UTF-8 character start at p; 0 when none. */
static size_t utf8_bytes(const unsigned char *p) {
    uint32_t code, least;
    size_t n = p[0] < 0x80                   ? 1
               : p[0] >= 0xc2 && p[0] < 0xe0 ? 2
               : p[0] >= 0xe0 && p[0] < 0xf0 ? 3
               : p[0] >= 0xf0 && p[0] < 0xf5 ? 4
                                             : 0;
    if (n < 2) return n;
    code = p[0] & (0x7fu >> n);
    for (size_t i = 1; i < n; i++) {
        if ((p[i] & 0xc0) != 0x80) return 0;
        code = code << 6 | (p[i] & 0x3fu);
    }
    least = n == 2 ? 0x80 : n == 3 ? 0x800 : 0x10000;
    return code < least || code > 0x10ffff || (code >= 0xd800 && code < 0xe000) ? 0 : n;
}

void infrt_json_text(FILE *out, const char *text) {
    fputc('"', out);
    for (const unsigned char *p = (const unsigned char *)text; *p;) {
        size_t n = utf8_bytes(p);
        if (n == 0) {
            fputs("\\ufffd", out);
            p++;
        } else if (*p < 0x20 || *p == '"' || *p == '\\') {
            fprintf(out, *p < 0x20 ? "\\u%04x" : "\\%c", *p);
            p++;
        } else {
            fwrite(p, 1, n, out);
            p += n;
        }
    }
    fputc('"', out);
}

static void next(infrt_json *json, const char *key, bool plain) {
    if (json->more) fputs(plain && !key ? ", " : ",", json->out);
    json->in_a_line = plain && !key;
    if (json->depth && !json->in_a_line) fprintf(json->out, "\n%*s", (int)(2 * json->depth), "");
    if (key) {
        infrt_json_text(json->out, key);
        fputs(": ", json->out);
    }
    json->more = true;
}

void infrt_json_open(infrt_json *json, const char *key, char bracket) {
    next(json, key, false);
    fputc(bracket, json->out);
    json->depth++;
    json->more = false;
}

void infrt_json_close(infrt_json *json, char bracket) {
    json->depth--;
    if (json->more && !json->in_a_line) fprintf(json->out, "\n%*s", (int)(2 * json->depth), "");
    fputc(bracket, json->out);
    json->more = true;
    json->in_a_line = false;
    if (json->depth == 0) fputc('\n', json->out);
}

void infrt_json_string(infrt_json *json, const char *key, const char *value) {
    next(json, key, true);
    if (value) infrt_json_text(json->out, value);
    else fputs("null", json->out);
}

void infrt_json_uint(infrt_json *json, const char *key, uint64_t value) {
    next(json, key, true);
    fprintf(json->out, "%" PRIu64, value);
}

void infrt_json_int(infrt_json *json, const char *key, int64_t value) {
    next(json, key, true);
    fprintf(json->out, "%" PRId64, value);
}

void infrt_json_bool(infrt_json *json, const char *key, bool value) {
    next(json, key, true);
    fputs(value ? "true" : "false", json->out);
}

void infrt_json_hash(infrt_json *json, const char *key, uint64_t value) {
    next(json, key, true);
    fprintf(json->out, "\"%016" PRIx64 "\"", value);
}

void infrt_json_float(infrt_json *json, const char *key, double value, int digits) {
    next(json, key, true);
    if (isfinite(value)) fprintf(json->out, "%.*g", digits, value);
    else fputs("null", json->out);
}
