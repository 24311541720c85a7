/* chat_eval.c - expressions of templates.
 * SPDX-License-Identifier: MIT */
#include "chat_state.h"
#include "utf8.h"
#include <string.h>

static const infrt_value undefined = {.type = INFRT_VALUE_UNDEFINED};

static infrt_value loop_field(const infrt_value *loop, const char *name, size_t n) {
    const int64_t at = loop->number, all = (int64_t)loop->n;
    const struct {
        const char *name;
        infrt_value value;
    } fields[] = {
        {"index", infrt_value_int(at + 1)},
        {"index0", infrt_value_int(at)},
        {"first", infrt_value_bool(at == 0)},
        {"last", infrt_value_bool(at + 1 == all)},
        {"length", infrt_value_int(all)},
        {"revindex", infrt_value_int(all - at)},
        {"revindex0", infrt_value_int(all - at - 1)},
        {"previtem", at > 0 ? loop->items[at - 1] : undefined},
        {"nextitem", at + 1 < all ? loop->items[at + 1] : undefined},
    };
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
        if (strlen(fields[i].name) == n && memcmp(fields[i].name, name, n) == 0)
            return fields[i].value;
    return undefined;
}

static infrt_value attribute(infrt_chat_state *s, const infrt_value *of, const char *name, size_t n, uint32_t slot) {
    switch (of->type) {
    case INFRT_VALUE_UNDEFINED: return infrt_chat_wrong(s, "an attribute of an undefined value");
    case INFRT_VALUE_MESSAGE: return infrt_value_field(of, name, n);
    case INFRT_VALUE_SPACE: return slot < of->n ? of->items[slot] : undefined;
    case INFRT_VALUE_LOOP: return loop_field(of, name, n);
    default: return undefined;
    }
}

static infrt_value item(infrt_chat_state *s, const infrt_value *of, const infrt_value *key) {
    if (of->type == INFRT_VALUE_UNDEFINED)
        return infrt_chat_wrong(s, "an item of an undefined value");
    if (of->type == INFRT_VALUE_MESSAGE && key->type == INFRT_VALUE_TEXT)
        return infrt_value_field(of, key->text, key->n);
    if ((of->type != INFRT_VALUE_LIST && of->type != INFRT_VALUE_TEXT) || !infrt_value_is_number(key))
        return undefined;
    const infrt_value list = infrt_value_items(s, of);
    const int64_t at = key->number < 0 ? key->number + (int64_t)list.n : key->number;
    return at >= 0 && at < (int64_t)list.n ? list.items[at] : undefined;
}

/* A number that a slice names; 0: it names none. */
static int bound(infrt_chat_state *s, uint32_t node, int64_t *out) {
    const infrt_value value = node ? infrt_chat_eval(s, node) : undefined;
    if (node == 0 || value.type == INFRT_VALUE_NONE) return 0;
    if (!infrt_value_is_number(&value) || value.number > INT32_MAX || value.number < INT32_MIN)
        (void)infrt_chat_wrong(s, "a bound of a slice is no number of 32 bits");
    *out = value.number;
    return 1;
}

/* [start:stop:step] of n items, as Python clamps it. */
static int64_t clamp(int64_t at, int64_t n, int64_t step) {
    if (at < 0) at += n;
    if (at < 0) return step > 0 ? 0 : -1;
    return at < n ? at : step > 0 ? n : n - 1;
}

static infrt_value slice(infrt_chat_state *s, const infrt_value *of, const uint32_t *code) {
    int64_t start = 0, stop = 0, step = 1, count = 0;
    if (of->type == INFRT_VALUE_UNDEFINED)
        return infrt_chat_wrong(s, "a slice of an undefined value");
    const infrt_value list = infrt_value_items(s, of);
    const int64_t n = (int64_t)list.n;
    (void)bound(s, code[4], &step);
    start = bound(s, code[2], &start) ? clamp(start, n, step) : step > 0 ? 0 : n - 1;
    stop = bound(s, code[3], &stop) ? clamp(stop, n, step) : step > 0 ? n : -1;
    if (step == 0) return infrt_chat_wrong(s, "a slice with step 0");
    for (int64_t at = start; step > 0 ? at < stop : at > stop; at += step) count++;
    infrt_value out = infrt_value_list(s, (size_t)count);
    for (size_t i = 0; i < out.n; i++) out.items[i] = list.items[start + (int64_t)i * step];
    if (of->type != INFRT_VALUE_TEXT) return out;
    infrt_value text = infrt_value_text("", 0, of->mark);
    for (size_t i = 0; i < out.n && infrt_chat_step(s); i++)
        text = infrt_value_join(s, &text, &out.items[i]);
    return text;
}

static infrt_value arithmetic(infrt_chat_state *s, uint32_t op, int64_t a, int64_t b) {
    int64_t out = 0;
    int wrong = 0;
    switch (op) {
    case INFRT_OP_ADD: wrong = __builtin_add_overflow(a, b, &out); break;
    case INFRT_OP_SUB: wrong = __builtin_sub_overflow(a, b, &out); break;
    case INFRT_OP_MUL: wrong = __builtin_mul_overflow(a, b, &out); break;
    default:
        if (b == 0 || (b == -1 && a == INT64_MIN)) return infrt_chat_wrong(s, "a division by 0");
        out = op == INFRT_OP_MOD ? a % b : a / b;
        if (a % b != 0 && (a % b < 0) != (b < 0))
            out += op == INFRT_OP_MOD ? b : -1; /* towards minus infinity */
    }
    return wrong ? infrt_chat_wrong(s, "a number is too large") : infrt_value_int(out);
}

static infrt_value both_lists(infrt_chat_state *s, const infrt_value *a, const infrt_value *b) {
    infrt_value out = infrt_value_list(s, a->n + b->n);
    for (size_t i = 0; i < out.n; i++) out.items[i] = i < a->n ? a->items[i] : b->items[i - a->n];
    return out;
}

static infrt_value compared(infrt_chat_state *s, uint32_t op, const infrt_value *a, const infrt_value *b) {
    int order = 0;
    if (infrt_value_is_number(a) && infrt_value_is_number(b))
        order = (a->number > b->number) - (a->number < b->number);
    else if (a->type == INFRT_VALUE_TEXT && b->type == INFRT_VALUE_TEXT)
        order = infrt_value_compare(a, b);
    else return infrt_chat_wrong(s, "values that have no order are compared");
    switch (op) {
    case INFRT_OP_LT: return infrt_value_bool(order < 0);
    case INFRT_OP_LE: return infrt_value_bool(order <= 0);
    case INFRT_OP_GT: return infrt_value_bool(order > 0);
    default: return infrt_value_bool(order >= 0);
    }
}

static infrt_value two(infrt_chat_state *s, uint32_t op, const infrt_value *a, const infrt_value *b) {
    switch (op) {
    case INFRT_OP_EQ: return infrt_value_bool(infrt_value_equal(a, b));
    case INFRT_OP_NE: return infrt_value_bool(!infrt_value_equal(a, b));
    case INFRT_OP_IN: return infrt_value_bool(infrt_value_in(s, a, b));
    case INFRT_OP_JOIN: {
        const infrt_value texts[] = {infrt_value_string(s, a), infrt_value_string(s, b)};
        return s->status ? undefined : infrt_value_join(s, &texts[0], &texts[1]);
    }
    case INFRT_OP_ADD:
        if (a->type == INFRT_VALUE_TEXT && b->type == INFRT_VALUE_TEXT)
            return infrt_value_join(s, a, b);
        if (a->type == INFRT_VALUE_LIST && b->type == INFRT_VALUE_LIST) return both_lists(s, a, b);
        break;
    case INFRT_OP_SUB:
    case INFRT_OP_MUL:
    case INFRT_OP_FLOOR:
    case INFRT_OP_MOD: break;
    default: return compared(s, op, a, b);
    }
    if (infrt_value_is_number(a) && infrt_value_is_number(b))
        return arithmetic(s, op, a->number, b->number);
    return infrt_chat_wrong(s, "values of types that do not go together are added or multiplied");
}

static infrt_value call(infrt_chat_state *s, const uint32_t *code) {
    infrt_value arguments[INFRT_CODE_ITEMS];
    const uint32_t function = code[1] & ~(uint32_t)INFRT_CODE_METHOD, n = code[2];
    const infrt_value of = infrt_chat_eval(s, code[3]);
    for (uint32_t i = 0; i < n; i++) arguments[i] = infrt_chat_eval(s, code[4 + i]);
    if (s->status) return undefined;
    if (code[1] & INFRT_CODE_METHOD && of.type != INFRT_VALUE_TEXT && of.type != INFRT_VALUE_MESSAGE)
        return infrt_chat_wrong(s, "a method of a value that has none");
    return infrt_chat_call(s, function, &of, arguments, n);
}

static infrt_value range(infrt_chat_state *s, const uint32_t *code) {
    int64_t bounds[3] = {0, 0, 1};
    const uint32_t n = code[1];
    for (uint32_t i = 0; i < n; i++) {
        const infrt_value value = infrt_chat_eval(s, code[2 + i]);
        if (!infrt_value_is_number(&value) || value.number > INT32_MAX || value.number < INT32_MIN)
            return infrt_chat_wrong(s, "a range of values that are no numbers of 32 bits");
        bounds[n == 1 ? 1 : i] = value.number;
    }
    const int64_t step = bounds[2], way = step > 0 ? bounds[1] - bounds[0] : bounds[0] - bounds[1];
    if (step == 0) return infrt_chat_wrong(s, "a range with step 0");
    const int64_t by = step > 0 ? step : -step, count = way > 0 ? (way + by - 1) / by : 0;
    infrt_value list = infrt_value_list(s, (size_t)count);
    for (size_t i = 0; i < list.n; i++)
        list.items[i] = infrt_value_int(bounds[0] + (int64_t)i * step);
    return list;
}

static infrt_value space(infrt_chat_state *s, const uint32_t *code) {
    infrt_value out = infrt_value_list(s, s->chat->code[INFRT_CODE_SLOTS]);
    out.type = INFRT_VALUE_SPACE;
    for (uint32_t i = 0; i < code[1]; i++) {
        const infrt_value value = infrt_chat_eval(s, code[2 + i]);
        if (out.n) out.items[code[2 + code[1] + i]] = value;
    }
    return out;
}

static infrt_value list_of(infrt_chat_state *s, const uint32_t *code) {
    infrt_value list = infrt_value_list(s, code[1]);
    for (size_t i = 0; i < list.n; i++) {
        const infrt_value value = infrt_chat_eval(s, code[2 + i]);
        list.items[i] = value;
    }
    return list;
}

static infrt_value variable(const infrt_chat_state *s, uint32_t id) {
    for (uint32_t i = s->n_variables; i > 0; i--)
        if (s->variables[i - 1].id == id) return s->variables[i - 1].value;
    return undefined;
}

static infrt_value raise(infrt_chat_state *s, uint32_t node) {
    const infrt_value said = infrt_chat_eval(s, node);
    const infrt_value text = infrt_value_string(s, &said);
    if (s->status) return undefined;
    s->status = INFRT_CHAT_REFUSED;
    s->out->said = text.text;
    s->out->said_bytes = text.n;
    return undefined;
}

/* Constants, and what needs no operands evaluated first. */
static infrt_value leaf(infrt_chat_state *s, const uint32_t *code) {
    switch (code[0]) {
    case INFRT_OP_NONE: return (infrt_value){.type = INFRT_VALUE_NONE};
    case INFRT_OP_BOOL: return infrt_value_bool((int)code[1]);
    case INFRT_OP_INT: return infrt_value_int((int64_t)((uint64_t)code[2] << 32 | code[1]));
    case INFRT_OP_TEXT: return infrt_value_text(s->chat->texts + code[1], code[2], 1);
    case INFRT_OP_MESSAGES: return s->messages;
    case INFRT_OP_ANSWER: return infrt_value_bool(s->answer);
    case INFRT_OP_NAME: return variable(s, code[1]);
    case INFRT_OP_LIST: return list_of(s, code);
    case INFRT_OP_RANGE: return range(s, code);
    case INFRT_OP_SPACE: return space(s, code);
    case INFRT_OP_RAISE: return raise(s, code[1]);
    default: return infrt_chat_wrong(s, "a function is called that is not defined");
    }
}

/* Those of which some operands may not be looked at. */
static infrt_value choice(infrt_chat_state *s, const uint32_t *code) {
    const infrt_value first = infrt_chat_eval(s, code[1]);
    const int yes = infrt_value_true(&first);
    switch (code[0]) {
    case INFRT_OP_NOT: return infrt_value_bool(!yes);
    case INFRT_OP_AND: return yes ? infrt_chat_eval(s, code[2]) : first;
    case INFRT_OP_OR: return yes ? first : infrt_chat_eval(s, code[2]);
    default: break;
    }
    const uint32_t taken = yes ? code[2] : code[3];
    return taken ? infrt_chat_eval(s, taken) : undefined;
}

infrt_value infrt_chat_eval(infrt_chat_state *s, uint32_t node) {
    const uint32_t *code = s->chat->code + node;
    infrt_value a, b = undefined;
    if (!infrt_chat_step(s)) return undefined;
    switch (code[0]) {
    case INFRT_OP_NOT:
    case INFRT_OP_AND:
    case INFRT_OP_OR:
    case INFRT_OP_CHOOSE: return choice(s, code);
    case INFRT_OP_CALL: return call(s, code);
    case INFRT_OP_TEST:
        a = infrt_chat_eval(s, code[2]);
        if (code[3]) b = infrt_chat_eval(s, code[3]);
        return s->status ? undefined : infrt_value_bool(infrt_chat_tested(s, code[1], &a, &b));
    case INFRT_OP_ATTR:
        a = infrt_chat_eval(s, code[1]);
        return s->status ? undefined : attribute(s, &a, s->chat->texts + code[2], code[3], code[4]);
    case INFRT_OP_SLICE:
        a = infrt_chat_eval(s, code[1]);
        return s->status ? undefined : slice(s, &a, code);
    case INFRT_OP_NEG:
        a = infrt_chat_eval(s, code[1]);
        if (!infrt_value_is_number(&a))
            return infrt_chat_wrong(s, "minus of a value that is no number");
        return arithmetic(s, INFRT_OP_SUB, 0, a.number);
    default: break;
    }
    if (code[0] != INFRT_OP_ITEM && (code[0] < INFRT_OP_ADD || code[0] > INFRT_OP_IN))
        return leaf(s, code);
    a = infrt_chat_eval(s, code[1]);
    b = infrt_chat_eval(s, code[2]);
    if (s->status) return undefined;
    return code[0] == INFRT_OP_ITEM ? item(s, &a, &b) : two(s, code[0], &a, &b);
}
