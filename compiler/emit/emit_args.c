#include "emit_unit.h"
#include <stdarg.h>
#include <string.h>

enum { LINE_MAX_CHARS = 100, CLOSING = 4 }; /* room for ") {" after the last item */

infc_emit_args infc_emit_args_begin(infc_buf *out, int indent) {
    return (infc_emit_args){.out = out, .indent = indent};
}

static size_t column(infc_buf *out) {
    const char *text = infc_buf_str(out), *newline = strrchr(text, '\n');
    return newline ? out->len - (size_t)(newline + 1 - text) : out->len;
}

void infc_emit_arg(infc_emit_args *args, const char *format, ...) {
    va_list list;
    va_start(list, format);
    const char *item = infc_arena_vprintf(args->out->arena, format, list);
    va_end(list);
    if (args->begun) infc_buf_puts(args->out, ",");
    if (args->begun && column(args->out) + 1 + strlen(item) + CLOSING > LINE_MAX_CHARS) {
        infc_buf_puts(args->out, "\n");
        infc_buf_indent(args->out, args->indent);
    } else if (args->begun) {
        infc_buf_puts(args->out, " ");
    }
    infc_buf_puts(args->out, item);
    args->begun = true;
}
