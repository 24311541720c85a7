/* chat_calls.c - filters, methods and tests of templates.
 * SPDX-License-Identifier: MIT */
#include "chat_state.h"
#include <string.h>

enum { UPPER, LOWER, CAPITALIZE, TITLE };

static const infrt_value undefined = {.type = INFRT_VALUE_UNDEFINED};

static int is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

static infrt_value cased(infrt_chat_state *s, const infrt_value *text, int how) {
    char *to = infrt_chat_alloc(s, text->n);
    infrt_value out = *text;
    if (!to) return out;
    for (size_t i = 0; i < text->n; i++) {
        const char c = text->text[i];
        const int first = how == TITLE ? i == 0 || !is_letter(text->text[i - 1]) : i == 0;
        const int up = how == UPPER || (how != LOWER && first);
        if ((unsigned char)c >= 0x80)
            return infrt_chat_wrong(s, "the case of letters other than ASCII is changed");
        to[i] = c;
        if (up && c >= 'a' && c <= 'z') to[i] = (char)(c - 'a' + 'A');
        if (!up && c >= 'A' && c <= 'Z') to[i] = (char)(c - 'A' + 'a');
    }
    out.text = to;
    return out;
}

static infrt_value replaced(infrt_chat_state *s, const infrt_value *text, const infrt_value *from,
                            const infrt_value *to) {
    infrt_value out = infrt_value_text("", 0, text->mark);
    size_t at = 0;
    if (from->n == 0) return infrt_chat_wrong(s, "an empty text is replaced");
    while (infrt_chat_step(s)) {
        const size_t found = infrt_value_find(text, at, from);
        const infrt_value before = infrt_value_part(text, at, found);
        out = infrt_value_join(s, &out, &before);
        if (found == text->n) break;
        out = infrt_value_join(s, &out, to);
        at = found + from->n;
    }
    return out;
}

static infrt_value joined(infrt_chat_state *s, const infrt_value *list, const infrt_value *between) {
    infrt_value out = infrt_value_text("", 0, 1);
    for (size_t i = 0; i < list->n && infrt_chat_step(s); i++) {
        const infrt_value item = infrt_value_string(s, &list->items[i]);
        if (i) out = infrt_value_join(s, &out, between);
        out = infrt_value_join(s, &out, &item);
    }
    return out;
}

static int ends(const infrt_value *text, const infrt_value *with, int at_end) {
    return with->n <= text->n &&
           memcmp(text->text + (at_end ? text->n - with->n : 0), with->text, with->n) == 0;
}

/* Methods of texts, and filters that make one of what they get first. */
static infrt_value text_call(infrt_chat_state *s, uint32_t function, const infrt_value *text,
                             const infrt_value *arguments, uint32_t n) {
    const infrt_value *first = n > 0 && arguments[0].type != INFRT_VALUE_NONE ? &arguments[0] : NULL;
    const int64_t most = n > 1 && infrt_value_is_number(&arguments[1]) ? arguments[1].number : -1;
    for (uint32_t i = 0; i < n && function != INFRT_CALL_split; i++)
        if (arguments[i].type != INFRT_VALUE_TEXT)
            return infrt_chat_wrong(s, "an argument is no text");
    if (first && first->type != INFRT_VALUE_TEXT)
        return infrt_chat_wrong(s, "an argument is no text");
    switch (function) {
    case INFRT_CALL_trim:
    case INFRT_CALL_strip: return infrt_value_strip(text, first, 3);
    case INFRT_CALL_lstrip: return infrt_value_strip(text, first, 1);
    case INFRT_CALL_rstrip: return infrt_value_strip(text, first, 2);
    case INFRT_CALL_upper: return cased(s, text, UPPER);
    case INFRT_CALL_lower: return cased(s, text, LOWER);
    case INFRT_CALL_capitalize: return cased(s, text, CAPITALIZE);
    case INFRT_CALL_title: return cased(s, text, TITLE);
    case INFRT_CALL_startswith: return infrt_value_bool(ends(text, first, 0));
    case INFRT_CALL_endswith: return infrt_value_bool(ends(text, first, 1));
    case INFRT_CALL_replace: return replaced(s, text, &arguments[0], &arguments[1]);
    case INFRT_CALL_split: return infrt_value_split(s, text, first, most);
    default: return *text;
    }
}

static infrt_value number_of(const infrt_value *value) {
    int64_t number = 0;
    if (infrt_value_is_number(value)) return infrt_value_int(value->number);
    for (size_t i = 0; value->type == INFRT_VALUE_TEXT && i < value->n; i++) {
        const char c = value->text[i];
        if (c < '0' || c > '9' || number > INT64_MAX / 10 - 1) return infrt_value_int(0);
        number = 10 * number + (c - '0');
    }
    return infrt_value_int(number);
}

static infrt_value reversed(infrt_chat_state *s, const infrt_value *list) {
    infrt_value out = infrt_value_list(s, list->n);
    for (size_t i = 0; i < out.n; i++) out.items[i] = list->items[list->n - 1 - i];
    return out;
}

static infrt_value pairs(infrt_chat_state *s, const infrt_value *message) {
    if (message->type != INFRT_VALUE_MESSAGE)
        return infrt_chat_wrong(s, "items() of a value that is no map");
    const infrt_value keys = infrt_value_items(s, message);
    infrt_value out = infrt_value_list(s, keys.n);
    for (size_t i = 0; i < out.n; i++) {
        out.items[i] = infrt_value_list(s, 2);
        if (out.items[i].n < 2) return out;
        out.items[i].items[0] = keys.items[i];
        out.items[i].items[1] = infrt_value_field(message, keys.items[i].text, keys.items[i].n);
    }
    return out;
}

static infrt_value field(const infrt_value *item, const infrt_value *name) {
    return item->type == INFRT_VALUE_MESSAGE ? infrt_value_field(item, name->text, name->n) : undefined;
}

static uint32_t test_named(const infrt_value *name) {
    static const char *const names[] = {
#define INFRT_X(name, text, arguments) text,
        INFRT_CHAT_TESTS(INFRT_X)
#undef INFRT_X
    };
    uint32_t test = 0;
    while (test < INFRT_N_TESTS &&
           (strlen(names[test]) != name->n || memcmp(names[test], name->text, name->n) != 0))
        test++;
    return test;
}

/* Items that pass a test, or are true; `attribute`: whose attribute does, which is named first. `wanted` 0: the
 * others. */
static infrt_value selected(infrt_chat_state *s, const infrt_value *list,
                            const infrt_value *arguments, uint32_t n, int attribute, int wanted) {
    const infrt_value *by = n > (uint32_t)attribute ? arguments + attribute : NULL,
                      *argument = n > (uint32_t)attribute + 1 ? by + 1 : &undefined;
    infrt_value out = infrt_value_list(s, list->n);
    const size_t room = out.n;
    out.n = 0;
    if ((attribute && arguments[0].type != INFRT_VALUE_TEXT) || (by && by->type != INFRT_VALUE_TEXT))
        return infrt_chat_wrong(s, "an argument of select is no text");
    const uint32_t test = by ? test_named(by) : 0;
    if (test == INFRT_N_TESTS) return infrt_chat_wrong(s, "select has no such test");
    for (size_t i = 0; i < room && infrt_chat_step(s); i++) {
        const infrt_value *item = &list->items[i], value = attribute ? field(item, &arguments[0]) : *item;
        const int passed = by ? infrt_chat_tested(s, test, &value, argument) : infrt_value_true(&value);
        if (passed == wanted) out.items[out.n++] = *item;
    }
    return out;
}

static infrt_value mapped(infrt_chat_state *s, const infrt_value *list, const infrt_value *name) {
    infrt_value out = infrt_value_list(s, list->n);
    if (name->type != INFRT_VALUE_TEXT) return infrt_chat_wrong(s, "an argument of map is no text");
    for (size_t i = 0; i < out.n; i++) out.items[i] = field(&list->items[i], name);
    return out;
}

static infrt_value list_call(infrt_chat_state *s, uint32_t function, const infrt_value *of,
                             const infrt_value *arguments, uint32_t n) {
    const infrt_value list = infrt_value_items(s, of);
    if (s->status) return undefined;
    switch (function) {
    case INFRT_CALL_first: return list.n ? list.items[0] : undefined;
    case INFRT_CALL_last: return list.n ? list.items[list.n - 1] : undefined;
    case INFRT_CALL_reverse: return reversed(s, &list);
    case INFRT_CALL_selectattr: return selected(s, &list, arguments, n, 1, 1);
    case INFRT_CALL_rejectattr: return selected(s, &list, arguments, n, 1, 0);
    case INFRT_CALL_select: return selected(s, &list, arguments, n, 0, 1);
    case INFRT_CALL_reject: return selected(s, &list, arguments, n, 0, 0);
    case INFRT_CALL_map: return mapped(s, &list, &arguments[0]);
    case INFRT_CALL_join: {
        const infrt_value between = n ? infrt_value_string(s, &arguments[0]) : infrt_value_text("", 0, 1);
        return joined(s, &list, &between);
    }
    case INFRT_CALL_length:
    case INFRT_CALL_count: return infrt_value_int((int64_t)list.n);
    default: return list;
    }
}

infrt_value infrt_chat_call(infrt_chat_state *s, uint32_t function, const infrt_value *of,
                            const infrt_value *arguments, uint32_t n) {
    const int absent = of->type == INFRT_VALUE_UNDEFINED ||
                       (n > 1 && infrt_value_true(&arguments[1]) && !infrt_value_true(of));
    switch (function) {
    case INFRT_CALL_default:
    case INFRT_CALL_d:
        if (!absent) return *of;
        return n ? arguments[0] : infrt_value_text("", 0, 1);
    case INFRT_CALL_tojson:
        return infrt_value_json(s, of, n && infrt_value_is_number(&arguments[0]) ? arguments[0].number : -1);
    case INFRT_CALL_int: return number_of(of);
    case INFRT_CALL_items: return pairs(s, of);
    case INFRT_CALL_get: {
        if (of->type != INFRT_VALUE_MESSAGE || arguments[0].type != INFRT_VALUE_TEXT)
            return infrt_chat_wrong(s, "get() of a value that is no map");
        const infrt_value found = infrt_value_field(of, arguments[0].text, arguments[0].n);
        if (found.type != INFRT_VALUE_UNDEFINED) return found;
        return n > 1 ? arguments[1] : (infrt_value){.type = INFRT_VALUE_NONE};
    }
    case INFRT_CALL_first:
    case INFRT_CALL_last:
    case INFRT_CALL_reverse:
    case INFRT_CALL_selectattr:
    case INFRT_CALL_rejectattr:
    case INFRT_CALL_select:
    case INFRT_CALL_reject:
    case INFRT_CALL_map:
    case INFRT_CALL_join:
    case INFRT_CALL_length:
    case INFRT_CALL_count:
    case INFRT_CALL_list: return list_call(s, function, of, arguments, n);
    default: {
        const infrt_value text = infrt_value_string(s, of);
        return s->status ? undefined : text_call(s, function, &text, arguments, n);
    }
    }
}

int infrt_chat_tested(infrt_chat_state *s, uint32_t test, const infrt_value *of, const infrt_value *argument) {
    const infrt_value_type type = of->type;
    const int64_t by = infrt_value_is_number(argument) ? argument->number : 0;
    switch (test) {
    case INFRT_TEST_defined: return type != INFRT_VALUE_UNDEFINED;
    case INFRT_TEST_undefined: return type == INFRT_VALUE_UNDEFINED;
    case INFRT_TEST_none: return type == INFRT_VALUE_NONE;
    case INFRT_TEST_string: return type == INFRT_VALUE_TEXT;
    case INFRT_TEST_number: return infrt_value_is_number(of);
    case INFRT_TEST_integer: return type == INFRT_VALUE_INT;
    case INFRT_TEST_boolean: return type == INFRT_VALUE_BOOL;
    case INFRT_TEST_true: return type == INFRT_VALUE_BOOL && of->number;
    case INFRT_TEST_false: return type == INFRT_VALUE_BOOL && !of->number;
    case INFRT_TEST_mapping: return type == INFRT_VALUE_MESSAGE;
    case INFRT_TEST_iterable:
    case INFRT_TEST_sequence:
        return type == INFRT_VALUE_UNDEFINED || type == INFRT_VALUE_TEXT ||
               type == INFRT_VALUE_LIST || type == INFRT_VALUE_MESSAGE;
    case INFRT_TEST_eq:
    case INFRT_TEST_equalto: return infrt_value_equal(of, argument);
    case INFRT_TEST_ne: return !infrt_value_equal(of, argument);
    case INFRT_TEST_in: return infrt_value_in(s, of, argument);
    default: break;
    }
    if (!infrt_value_is_number(of) || (test == INFRT_TEST_divisibleby && by == 0)) {
        (void)infrt_chat_wrong(s, "a test of numbers gets something else");
        return 0;
    }
    if (test == INFRT_TEST_divisibleby) return by == -1 || of->number % by == 0;
    return (of->number % 2 != 0) == (test == INFRT_TEST_odd);
}
