/* serve_text.c - see serve_text.h. */
#include "serve_text.h"
#include "utf8.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void infrt_out_free(infrt_out *out) {
    free(out->at);
    *out = (infrt_out){0};
}

static bool reserve(infrt_out *out, size_t more) {
    size_t room = out->room ? out->room : 256;
    if (out->failed) return false;
    if (more <= out->room - out->n) return true;
    while (room - out->n < more && room <= SIZE_MAX / 4) room *= 2;
    char *at = room - out->n < more ? NULL : realloc(out->at, room);
    if (!at) {
        infrt_out_free(out);
        out->failed = true;
        return false;
    }
    out->at = at;
    out->room = room;
    return true;
}

void infrt_out_add(infrt_out *out, const char *bytes, size_t n) {
    if (!n || !reserve(out, n)) return;
    memcpy(out->at + out->n, bytes, n);
    out->n += n;
}

void infrt_out_text(infrt_out *out, const char *text) { infrt_out_add(out, text, strlen(text)); }

void infrt_out_format(infrt_out *out, const char *format, ...) {
    va_list args, again;
    va_start(args, format);
    va_copy(again, args);
    const int n = vsnprintf(NULL, 0, format, args);
    if (n > 0 && reserve(out, (size_t)n + 1)) {
        vsnprintf(out->at + out->n, (size_t)n + 1, format, again);
        out->n += (size_t)n;
    }
    out->failed = out->failed || n < 0;
    va_end(again);
    va_end(args);
}

void infrt_out_escaped(infrt_out *out, const char *text, size_t n) {
    static const char from[] = "\"\\\b\f\n\r\t", to[] = "\"\\bfnrt";
    for (size_t i = 0, length; i < n; i += length) {
        const unsigned char c = (unsigned char)text[i];
        const char *known = c ? memchr(from, c, sizeof from - 1) : NULL;
        const uint32_t code = infrt_utf8_next(text + i, n - i, &length);
        if (known) infrt_out_add(out, (const char[]){'\\', to[known - from]}, 2);
        else if (c < 0x20 || c == 0x7f) infrt_out_format(out, "\\u%04x", c);
        else if (code == INFRT_UTF8_BAD) infrt_out_add(out, "\xef\xbf\xbd", 3);
        else infrt_out_add(out, text + i, length);
    }
}

void infrt_out_string(infrt_out *out, const char *text, size_t n) {
    infrt_out_add(out, "\"", 1);
    infrt_out_escaped(out, text, n);
    infrt_out_add(out, "\"", 1);
}

void infrt_out_logprob(infrt_out *out, float value) {
    const float finite = value >= -9999.0f ? value : -9999.0f; /* NaN is not */
    infrt_out_format(out, "%.9g", (double)(finite > 9999.0f ? 9999.0f : finite));
}
