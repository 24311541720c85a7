/* buf.h - a growing text or byte buffer on an arena. */
#ifndef INFC_BUF_H
#define INFC_BUF_H
#include "arena.h"
#include <stdbool.h>

typedef struct infc_bytes { /* borrowed */
    const uint8_t *ptr;
    size_t len;
} infc_bytes;

typedef struct infc_buf {
    infc_arena *arena;
    char *data; /* NUL kept after len; null until the first write */
    size_t len, cap;
} infc_buf;

void infc_buf_put(infc_buf *buf, const void *bytes, size_t n);
void infc_buf_puts(infc_buf *buf, const char *text);
void infc_buf_printf(infc_buf *buf, const char *format, ...)
    __attribute__((format(printf, 2, 3), nonnull(2)));
void infc_buf_indent(infc_buf *buf, int spaces);
void infc_buf_json_string(infc_buf *buf, const char *text); /* quoted and escaped */
void infc_buf_shell_word(infc_buf *buf, const char *text); /* quoted where a shell would not take it as it is */
/* The number that n <= 8 bytes are, the lowest first. */
uint64_t infc_little_endian(const uint8_t *bytes, size_t n);
bool infc_text_is_utf8(const char *text, size_t n);
const char *infc_buf_str(infc_buf *buf); /* never null */
infc_bytes infc_buf_bytes(const infc_buf *buf);

#endif
