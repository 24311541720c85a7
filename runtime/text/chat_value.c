/* chat_value.c - what values are, as Python and Jinja see them.
 * SPDX-License-Identifier: MIT */
#include "chat_state.h"
#include "utf8.h"
#include <string.h>

void *infrt_chat_alloc(infrt_chat_state *s, size_t bytes) {
    const size_t room = s->out->scratch_bytes - s->used, wanted = (bytes + 7) / 8 * 8;
    if (bytes > room || wanted > room) {
        if (!s->status) s->status = INFRT_CHAT_NO_ROOM;
        return NULL;
    }
    void *memory = (char *)s->out->scratch + s->used;
    s->used += wanted;
    return memory;
}

infrt_value infrt_chat_wrong(infrt_chat_state *s, const char *said) {
    if (!s->status) {
        s->status = INFRT_CHAT_TYPE;
        s->out->said = said;
        s->out->said_bytes = strlen(said);
    }
    return (infrt_value){.type = INFRT_VALUE_UNDEFINED};
}

infrt_value infrt_value_bool(int value) {
    return (infrt_value){.type = INFRT_VALUE_BOOL, .number = value != 0};
}

infrt_value infrt_value_int(int64_t value) {
    return (infrt_value){.type = INFRT_VALUE_INT, .number = value};
}

infrt_value infrt_value_text(const char *text, size_t n, uint32_t mark) {
    return (infrt_value){.type = INFRT_VALUE_TEXT, .text = text, .n = n, .mark = mark};
}

infrt_value infrt_value_list(infrt_chat_state *s, size_t n) {
    infrt_value *items = n <= s->out->scratch_bytes / sizeof *items ? infrt_chat_alloc(s, n * sizeof *items)
                                                                    : infrt_chat_alloc(s, SIZE_MAX);
    for (size_t i = 0; items && i < n; i++) items[i] = (infrt_value){.type = INFRT_VALUE_UNDEFINED};
    return (infrt_value){.type = INFRT_VALUE_LIST, .items = items, .n = items ? n : 0};
}

infrt_value infrt_value_part(const infrt_value *text, size_t begin, size_t end) {
    infrt_value part = *text;
    part.text += begin;
    part.n = end - begin;
    if (part.marks) part.marks += begin;
    return part;
}

infrt_value infrt_value_join(infrt_chat_state *s, const infrt_value *a, const infrt_value *b) {
    if (b->n == 0) return *a;
    if (a->n == 0) return *b;
    const int alike = !a->marks && !b->marks && a->mark == b->mark;
    const size_t n = a->n + b->n;
    char *text = n < a->n || n > SIZE_MAX / 2 ? NULL : infrt_chat_alloc(s, alike ? n : 2 * n);
    if (!text) return *a;
    infrt_value both = infrt_value_text(text, n, a->mark);
    memcpy(text, a->text, a->n);
    memcpy(text + a->n, b->text, b->n);
    if (alike) return both;
    unsigned char *marks = (unsigned char *)text + n;
    const infrt_value *parts[] = {a, b};
    both.marks = marks;
    for (int i = 0; i < 2; marks += parts[i++]->n) {
        if (parts[i]->marks) memcpy(marks, parts[i]->marks, parts[i]->n);
        else memset(marks, (int)parts[i]->mark, parts[i]->n);
    }
    return both;
}

static infrt_value decimal(infrt_chat_state *s, int64_t number) {
    char digits[24], *memory;
    size_t n = sizeof digits;
    uint64_t rest = number < 0 ? 0 - (uint64_t)number : (uint64_t)number;
    do digits[--n] = (char)('0' + rest % 10);
    while ((rest /= 10) > 0);
    if (number < 0) digits[--n] = '-';
    memory = infrt_chat_alloc(s, sizeof digits - n);
    if (memory) memcpy(memory, digits + n, sizeof digits - n);
    return infrt_value_text(memory, memory ? sizeof digits - n : 0, 1);
}

infrt_value infrt_value_string(infrt_chat_state *s, const infrt_value *value) {
    switch (value->type) {
    case INFRT_VALUE_UNDEFINED: return infrt_value_text("", 0, 1);
    case INFRT_VALUE_NONE: return infrt_value_text("None", 4, 1);
    case INFRT_VALUE_BOOL:
        return value->number ? infrt_value_text("True", 4, 1) : infrt_value_text("False", 5, 1);
    case INFRT_VALUE_INT: return decimal(s, value->number);
    case INFRT_VALUE_TEXT: return *value;
    default: return infrt_chat_wrong(s, "a list or a map is printed");
    }
}

int infrt_value_is_number(const infrt_value *value) {
    return value->type == INFRT_VALUE_BOOL || value->type == INFRT_VALUE_INT;
}

int infrt_value_true(const infrt_value *value) {
    if (infrt_value_is_number(value)) return value->number != 0;
    if (value->type == INFRT_VALUE_TEXT || value->type == INFRT_VALUE_LIST) return value->n > 0;
    return value->type > INFRT_VALUE_LIST;
}

int infrt_value_compare(const infrt_value *a, const infrt_value *b) {
    const size_t n = a->n < b->n ? a->n : b->n;
    const int order = n ? memcmp(a->text, b->text, n) : 0;
    return order ? order : (a->n > b->n) - (a->n < b->n);
}

/* Templates make control tokens of roles ('<|' + role + '|>'): the usual ones count as the template's own words. */
static infrt_value role_of(const infrt_chat_message *m) {
    static const struct {
        const char *name;
        size_t n;
    } usual[] = {{"system", 6}, {"user", 4}, {"assistant", 9}, {"tool", 4}};
    uint32_t mark = 0;
    for (size_t i = 0; i < sizeof usual / sizeof *usual; i++)
        if (usual[i].n == m->role_bytes && memcmp(usual[i].name, m->role, m->role_bytes) == 0)
            mark = 1;
    return infrt_value_text(m->role, m->role_bytes, mark);
}
static infrt_value content_of(const infrt_chat_message *m) {
    return infrt_value_text(m->content, m->content_bytes, 0);
}

int infrt_value_equal(const infrt_value *a, const infrt_value *b) {
    if (infrt_value_is_number(a) && infrt_value_is_number(b)) return a->number == b->number;
    if (a->type != b->type) return 0;
    switch (a->type) {
    case INFRT_VALUE_TEXT: return infrt_value_compare(a, b) == 0;
    case INFRT_VALUE_LIST:
        for (size_t i = 0; a->n == b->n && i < a->n; i++)
            if (!infrt_value_equal(&a->items[i], &b->items[i])) return 0;
        return a->n == b->n;
    case INFRT_VALUE_MESSAGE: {
        const infrt_value roles[] = {role_of(a->message), role_of(b->message)},
                          contents[] = {content_of(a->message), content_of(b->message)};
        return infrt_value_equal(&roles[0], &roles[1]) && infrt_value_equal(&contents[0], &contents[1]);
    }
    case INFRT_VALUE_SPACE:
    case INFRT_VALUE_LOOP: return a->items == b->items;
    default: return 1;
    }
}

size_t infrt_value_find(const infrt_value *text, size_t from, const infrt_value *what) {
    if (what->n == 0) return from;
    for (size_t at = from; at + what->n <= text->n; at++) {
        const char *next = memchr(text->text + at, what->text[0], text->n - what->n + 1 - at);
        if (!next) break;
        at = (size_t)(next - text->text);
        if (memcmp(next, what->text, what->n) == 0) return at;
    }
    return text->n;
}

infrt_value infrt_value_field(const infrt_value *message, const char *name, size_t n) {
    if (n == 4 && memcmp(name, "role", 4) == 0) return role_of(message->message);
    if (n == 7 && memcmp(name, "content", 7) == 0) return content_of(message->message);
    return (infrt_value){.type = INFRT_VALUE_UNDEFINED};
}

int infrt_value_in(infrt_chat_state *s, const infrt_value *what, const infrt_value *where) {
    switch (where->type) {
    case INFRT_VALUE_UNDEFINED: return 0;
    case INFRT_VALUE_TEXT:
        if (what->type != INFRT_VALUE_TEXT) break;
        return what->n == 0 || infrt_value_find(where, 0, what) < where->n;
    case INFRT_VALUE_LIST:
        for (size_t i = 0; i < where->n; i++)
            if (infrt_value_equal(what, &where->items[i])) return 1;
        return 0;
    case INFRT_VALUE_MESSAGE:
        return what->type == INFRT_VALUE_TEXT &&
               infrt_value_field(where, what->text, what->n).type != INFRT_VALUE_UNDEFINED;
    default: break;
    }
    (void)infrt_chat_wrong(s, "`in` of a value that holds no others of that type");
    return 0;
}

static infrt_value characters(infrt_chat_state *s, const infrt_value *text) {
    size_t n = 0, length;
    for (size_t at = 0; at < text->n; at += length, n++)
        (void)infrt_utf8_next(text->text + at, text->n - at, &length);
    infrt_value list = infrt_value_list(s, n);
    for (size_t i = 0, at = 0; i < list.n; i++, at += length) {
        (void)infrt_utf8_next(text->text + at, text->n - at, &length);
        list.items[i] = infrt_value_part(text, at, at + length);
    }
    return list;
}

infrt_value infrt_value_items(infrt_chat_state *s, const infrt_value *value) {
    switch (value->type) {
    case INFRT_VALUE_UNDEFINED: return infrt_value_list(s, 0);
    case INFRT_VALUE_LIST: return *value;
    case INFRT_VALUE_TEXT: return characters(s, value);
    case INFRT_VALUE_MESSAGE: {
        infrt_value keys = infrt_value_list(s, 2);
        if (keys.n)
            keys.items[0] = infrt_value_text("role", 4, 1),
            keys.items[1] = infrt_value_text("content", 7, 1);
        return keys;
    }
    default: return infrt_chat_wrong(s, "a loop over a value that holds no others");
    }
}
