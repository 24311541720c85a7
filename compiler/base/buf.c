#include "buf.h"
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Room for n more bytes and the NUL. */
static char *reserve(infc_buf *buf, size_t n) {
    size_t need;
    if (__builtin_add_overflow(buf->len, n, &need) || __builtin_add_overflow(need, 1u, &need)) {
        need = SIZE_MAX; /* more than there is: the arena says so */
    }
    if (need > buf->cap) {
        size_t cap = buf->cap ? buf->cap : 64;
        while (cap < need) cap = cap > SIZE_MAX / 2 ? SIZE_MAX : cap * 2;
        char *data = infc_arena_alloc(buf->arena, cap, 1);
        if (buf->len) memcpy(data, buf->data, buf->len);
        buf->data = data;
        buf->cap = cap;
    }
    return buf->data + buf->len;
}

void infc_buf_put(infc_buf *buf, const void *bytes, size_t n) {
    char *at = reserve(buf, n);
    if (n) memcpy(at, bytes, n);
    buf->len += n;
    buf->data[buf->len] = '\0';
}

void infc_buf_puts(infc_buf *buf, const char *text) { infc_buf_put(buf, text, strlen(text)); }

void infc_buf_printf(infc_buf *buf, const char *format, ...) {
    va_list args, again;
    va_start(args, format);
    va_copy(again, args);
    int length = vsnprintf(NULL, 0, format, args);
    va_end(args);
    if (length > 0) {
        char *at = reserve(buf, (size_t)length);
        vsnprintf(at, (size_t)length + 1, format, again);
        buf->len += (size_t)length;
    }
    va_end(again);
}

void infc_buf_indent(infc_buf *buf, int spaces) {
    if (spaces <= 0) return;
    memset(reserve(buf, (size_t)spaces), ' ', (size_t)spaces);
    buf->len += (size_t)spaces;
    buf->data[buf->len] = '\0';
}

/* Length of the well-formed UTF-8 sequence in the n > 0 bytes at p, or 0. */
static size_t utf8_length(const unsigned char *p, size_t n) {
    static const struct {
        unsigned char mask, lead, low, high; /* low, high: bounds of the second byte */
        size_t length;
    } forms[] = {
        {0xe0, 0xc0, 0x80, 0xbf, 2}, {0xff, 0xe0, 0xa0, 0xbf, 3}, {0xff, 0xed, 0x80, 0x9f, 3},
        {0xf0, 0xe0, 0x80, 0xbf, 3}, {0xff, 0xf0, 0x90, 0xbf, 4}, {0xff, 0xf4, 0x80, 0x8f, 4},
        {0xfc, 0xf0, 0x80, 0xbf, 4},
    };
    if (p[0] < 0x80) return 1;
    if (p[0] < 0xc2) return 0; /* a continuation, or longer than it need be */
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        if ((p[0] & forms[i].mask) != forms[i].lead) continue;
        if (n < forms[i].length || p[1] < forms[i].low || p[1] > forms[i].high) return 0;
        for (size_t k = 2; k < forms[i].length; k++) {
            if ((p[k] & 0xc0) != 0x80) return 0;
        }
        return forms[i].length;
    }
    return 0;
}

bool infc_text_is_utf8(const char *text, size_t n) {
    for (size_t i = 0; i < n;) {
        size_t length = utf8_length((const unsigned char *)text + i, n - i);
        if (length == 0) return false;
        i += length;
    }
    return true;
}

/* Bytes that are not UTF-8 become U+FFFD: names in hostile models must not break the JSON. */
void infc_buf_json_string(infc_buf *buf, const char *text) {
    infc_buf_puts(buf, "\"");
    const unsigned char *end = (const unsigned char *)text + strlen(text);
    for (const unsigned char *p = (const unsigned char *)text; p < end;) {
        size_t length = utf8_length(p, (size_t)(end - p));
        if (length > 1) {
            infc_buf_put(buf, p, length);
        } else if (length == 0) {
            infc_buf_puts(buf, "\\ufffd");
        } else if (*p == '"' || *p == '\\') {
            infc_buf_printf(buf, "\\%c", *p);
        } else if (*p == '\n') {
            infc_buf_puts(buf, "\\n");
        } else if (*p == '\t') {
            infc_buf_puts(buf, "\\t");
        } else if (*p < 0x20 || *p == 0x7f) {
            infc_buf_printf(buf, "\\u%04x", (unsigned)*p);
        } else {
            infc_buf_put(buf, p, 1);
        }
        p += length ? length : 1;
    }
    infc_buf_puts(buf, "\"");
}

const char *infc_buf_str(infc_buf *buf) { return buf->data ? buf->data : ""; }

infc_bytes infc_buf_bytes(const infc_buf *buf) {
    return (infc_bytes){(const uint8_t *)(buf->data ? buf->data : ""), buf->len};
}

uint64_t infc_little_endian(const uint8_t *bytes, size_t n) {
    uint64_t value = 0;
    while (n > 0) value = value << 8 | bytes[--n];
    return value;
}

void infc_buf_shell_word(infc_buf *buf, const char *text) {
    const bool plain =
        *text &&
        !text[strspn(text,
                     "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+./:,=@%")];
    if (!plain) infc_buf_puts(buf, "'");
    for (const char *p = text; *p; p++) {
        if (*p == '\'') infc_buf_puts(buf, "'\\''");
        else infc_buf_put(buf, p, 1);
    }
    if (!plain) infc_buf_puts(buf, "'");
}
