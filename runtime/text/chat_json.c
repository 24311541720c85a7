/* chat_json.c - a value as JSON, as json.dumps(..., ensure_ascii=False) of Python writes it. All of it counts as
 * said by the messages.
 * SPDX-License-Identifier: MIT */
#include "chat_state.h"
#include <string.h>

typedef struct writer {
    infrt_chat_state *s;
    char *to; /* null: it is only counted */
    size_t n;
    int64_t indent; /* negative: all on one line */
} writer;

static void put(writer *w, const char *text, size_t n) {
    if (w->to) memcpy(w->to + w->n, text, n);
    w->n += n;
}

static void put_text(writer *w, const infrt_value *text) {
    static const char plain[] = "\"\\\n\r\t\b\f", letters[] = "\"\\nrtbf", digits[] = "0123456789abcdef";
    put(w, "\"", 1);
    for (size_t i = 0; i < text->n; i++) {
        const unsigned char c = (unsigned char)text->text[i];
        const char *found = c ? strchr(plain, c) : NULL;
        char escape[6] = {'\\', 'u', '0', '0', digits[c >> 4], digits[c & 15]};
        if (found) {
            escape[1] = letters[found - plain];
            put(w, escape, 2);
        } else if (c < 0x20) put(w, escape, 6);
        else put(w, text->text + i, 1);
    }
    put(w, "\"", 1);
}

static void put_value(writer *w, const infrt_value *value, int depth);

static void put_line(writer *w, int depth) {
    if (w->indent < 0) return;
    put(w, "\n", 1);
    for (int64_t i = 0; i < w->indent * depth; i++) put(w, " ", 1);
}

/* [items], or {"role": .., "content": ..}. */
static void put_items(writer *w, const infrt_value *items, const infrt_value *keys, size_t n, int depth) {
    put(w, keys ? "{" : "[", 1);
    for (size_t i = 0; i < n; i++) {
        if (i) put(w, ", ", w->indent < 0 ? 2 : 1);
        put_line(w, depth + 1);
        if (keys) {
            put_text(w, &keys[i]);
            put(w, ": ", 2);
        }
        put_value(w, &items[i], depth + 1);
    }
    if (n) put_line(w, depth);
    put(w, keys ? "}" : "]", 1);
}

static void put_message(writer *w, const infrt_value *value, int depth) {
    const infrt_value keys[] = {infrt_value_text("role", 4, 1), infrt_value_text("content", 7, 1)},
                      items[] = {infrt_value_field(value, "role", 4), infrt_value_field(value, "content", 7)};
    put_items(w, items, keys, 2, depth);
}

static void put_value(writer *w, const infrt_value *value, int depth) {
    const size_t used = w->s->used;
    switch (depth > INFRT_CODE_DEPTH ? INFRT_VALUE_LOOP : value->type) {
    case INFRT_VALUE_NONE: put(w, "null", 4); break;
    case INFRT_VALUE_BOOL: put(w, value->number ? "true" : "false", value->number ? 4 : 5); break;
    case INFRT_VALUE_TEXT: put_text(w, value); break;
    case INFRT_VALUE_LIST: put_items(w, value->items, NULL, value->n, depth); break;
    case INFRT_VALUE_MESSAGE: put_message(w, value, depth); break;
    case INFRT_VALUE_INT: {
        const infrt_value digits = infrt_value_string(w->s, value);
        put(w, digits.text, digits.n);
        if (!w->to) w->s->used = used;
        break;
    }
    default: (void)infrt_chat_wrong(w->s, "tojson of a value that JSON has no word for");
    }
}

infrt_value infrt_value_json(infrt_chat_state *s, const infrt_value *value, int64_t indent) {
    enum { MOST_INDENT = 16 };
    writer w = {.s = s, .indent = indent};
    if (indent > MOST_INDENT) return infrt_chat_wrong(s, "tojson with an indent above 16");
    put_value(&w, value, 0);
    if (s->status) return infrt_value_text("", 0, 0);
    w.to = infrt_chat_alloc(s, w.n);
    if (!w.to) return infrt_value_text("", 0, 0);
    w.n = 0;
    put_value(&w, value, 0);
    return infrt_value_text(w.to, w.n, 0);
}
