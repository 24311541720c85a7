#include "c_text.h"
#include <string.h>

static const char *newline_from(const char *p, const char *end) {
    const char *found = memchr(p, '\n', (size_t)(end - p));
    return found ? found : end;
}

/* Past the literal that begins at p; an open one ends with its line. */
static const char *after_literal(const char *p, const char *end) {
    const char quote = *p++;
    for (; p < end && *p != '\n'; p++) {
        if (*p == quote) return p + 1;
        if (*p == '\\' && p + 1 < end) p++;
    }
    return p;
}

/* Past the comment that begins at p; an open one goes on to the end. */
static const char *after_comment(const char *p, const char *end) {
    if (p[1] == '/') {
        do p = newline_from(p + 1, end);
        while (p < end && p[-1] == '\\');
        return p;
    }
    const char *found = memmem(p + 2, (size_t)(end - p) - 2, "*/", 2);
    return found ? found + 2 : end;
}

infc_bytes infc_c_without_comments(infc_arena *arena, infc_bytes text) {
    const char *p = (const char *)text.ptr, *end = p + text.len;
    char *out = INFC_NEW(arena, char, text.len + 1), *to = out;
    while (p < end) {
        if (*p == '"' || *p == '\'') {
            const char *after = after_literal(p, end);
            while (p < after) *to++ = *p++;
        } else if (*p == '/' && p + 1 < end && (p[1] == '*' || p[1] == '/')) {
            const char *after = after_comment(p, end);
            *to++ = ' ';
            for (; p < after; p++)
                if (*p == '\n') *to++ = '\n';
        } else {
            *to++ = *p++;
        }
    }
    return (infc_bytes){(const uint8_t *)out, (size_t)(to - out)};
}
