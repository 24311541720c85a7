/* template_expr.c - expressions, with the precedences of Jinja's parser: "or", "and", "not", comparisons, + and -, ~,
 * * and // and %, signs, then what follows a value: attributes, items, filters, tests. */
#include <stdlib.h>
#include <string.h>
#include "template_tokens.h"

static bool is_sign(const infc_template *t, const char *text) {
    return infc_template_is(t, INFC_TEMPLATE_SIGN, text);
}
static bool take_sign(infc_template *t, const char *text) {
    return infc_template_take(t, INFC_TEMPLATE_SIGN, text);
}
static bool need_sign(infc_template *t, const char *text) {
    return infc_template_need(t, INFC_TEMPLATE_SIGN, text);
}
static bool is_word(const infc_template *t, const char *text) {
    return infc_template_is(t, INFC_TEMPLATE_NAME, text);
}
static bool take_word(infc_template *t, const char *text) {
    return infc_template_take(t, INFC_TEMPLATE_NAME, text);
}

static uint32_t wrong(infc_template *t, const char *what) {
    const infc_template_token *now = infc_template_now(t);
    (void)infc_template_wrong(t, now->line, "%s: \"%.*s\"", what,
                              (int)(now->text.len < 40 ? now->text.len : 40),
                              (const char *)now->text.ptr);
    return 0;
}

static bool same(infc_bytes text, const char *other) {
    return text.len == strlen(other) && memcmp(text.ptr, other, text.len) == 0;
}

/* A node of one or two nodes; 0 when one of them is. */
static uint32_t of_two(infc_template *t, uint32_t op, uint32_t a, uint32_t b) {
    return a && b ? infc_template_node(t, (const uint32_t[]){op, a, b}, 3, 1, 2) : 0;
}
static uint32_t of_one(infc_template *t, uint32_t op, uint32_t a) {
    return a ? infc_template_node(t, (const uint32_t[]){op, a}, 2, 1, 1) : 0;
}

/* ---- arguments ------------------------------------------------------------------------------------------------- */

typedef struct arguments {
    uint32_t values[INFRT_CODE_ITEMS + 60];
    infc_bytes names[INFRT_CODE_ITEMS + 60]; /* empty: by place */
    uint32_t n;
} arguments;

/* After "(", up to and with ")". */
static bool read_arguments(infc_template *t, arguments *out) {
    out->n = 0;
    while (!take_sign(t, ")")) {
        if (out->n == sizeof out->values / sizeof *out->values)
            return wrong(t, "too many arguments") != 0;
        if (out->n && !need_sign(t, ",")) return false;
        if (take_sign(t, ")")) break;
        const infc_template_token *name = infc_template_now(t);
        out->names[out->n] = (infc_bytes){0};
        if (name->kind == INFC_TEMPLATE_NAME && name[1].kind == INFC_TEMPLATE_SIGN && same(name[1].text, "=")) {
            out->names[out->n] = name->text;
            t->at += 2;
        }
        if (!(out->values[out->n++] = infc_template_expression(t, true))) return false;
    }
    return true;
}

typedef struct function_facts {
    const char *name;
    uint8_t filter, method, least, most;
} function_facts;
static const function_facts functions[] = {
#define INFRT_X(name, filter, method, least, most) {#name, filter, method, least, most},
    INFRT_CHAT_FUNCTIONS(INFRT_X)
#undef INFRT_X
};

/* Where a named argument stands; -1: not known. */
static int place_of(const char *function, infc_bytes name) {
    static const struct {
        const char *function, *name;
        int place;
    } known[] = {{"tojson", "indent", 0},   {"default", "default_value", 0},
                 {"default", "boolean", 1}, {"split", "sep", 0},
                 {"split", "maxsplit", 1},  {"join", "d", 0},
                 {"map", "attribute", 0}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strcmp(known[i].function, function) == 0 && same(name, known[i].name))
            return known[i].place;
    return -1;
}

static uint32_t call(infc_template *t, uint32_t of, infc_bytes name, bool method) {
    const int line = infc_template_now(t)->line;
    uint32_t words[4 + INFRT_CODE_ITEMS] = {INFRT_OP_CALL}, id = 0, n = 0;
    arguments given = {.n = 0};
    while (id < INFRT_N_CALLS &&
           !(same(name, functions[id].name) && (method ? functions[id].method : functions[id].filter)))
        id++;
    if (id == INFRT_N_CALLS) {
        (void)infc_template_wrong(t, line, "the %s \"%.*s\" is not supported", method ? "method" : "filter",
                                  (int)(name.len < 40 ? name.len : 40), (const char *)name.ptr);
        return 0;
    }
    if (take_sign(t, "(") && !read_arguments(t, &given)) return 0;
    for (uint32_t i = 0; i < given.n; i++) {
        const int place = given.names[i].len ? place_of(functions[id].name, given.names[i])
                          : id == INFRT_CALL_tojson || id == INFRT_CALL_map ? -1
                                                                            : (int)i;
        if (place < 0 || place >= functions[id].most || words[4 + place])
            return wrong(t, "an argument is not supported, before");
        words[4 + place] = given.values[i];
        if ((uint32_t)place + 1 > n) n = (uint32_t)place + 1;
    }
    for (uint32_t i = 0; i < n; i++)
        if (!words[4 + i])
            words[4 + i] = infc_template_node(t, (const uint32_t[]){INFRT_OP_NONE}, 1, 1, 0);
    if (n < functions[id].least) return wrong(t, "an argument is missing, before");
    words[1] = id | (method ? (uint32_t)INFRT_CODE_METHOD : 0);
    words[2] = n, words[3] = of;
    return t->why ? 0 : infc_template_node(t, words, 4 + n, 3, 1 + n);
}

/* raise_exception, namespace, range; any other name is not defined, which is an error only where it is called. */
static uint32_t named_call(infc_template *t, infc_bytes name) {
    arguments given;
    uint32_t words[2 + 2 * (INFRT_CODE_ITEMS + 60)] = {0};
    if (!read_arguments(t, &given)) return 0;
    for (uint32_t i = 0; i < given.n && !same(name, "namespace"); i++)
        if (given.names[i].len && (same(name, "range") || same(name, "raise_exception")))
            return wrong(t, "an argument is not supported, before");
    if (same(name, "raise_exception") && given.n == 1)
        return of_one(t, INFRT_OP_RAISE, given.values[0]);
    words[1] = given.n;
    if (same(name, "range") && given.n >= 1 && given.n <= 3) {
        words[0] = INFRT_OP_RANGE;
        memcpy(words + 2, given.values, given.n * sizeof *words);
        return infc_template_node(t, words, 2 + given.n, 2, given.n);
    }
    if (same(name, "namespace")) {
        words[0] = INFRT_OP_SPACE;
        for (uint32_t i = 0; i < given.n; i++) {
            if (!given.names[i].len)
                return wrong(t, "a namespace of other than name=value, before");
            words[2 + i] = given.values[i];
            words[2 + given.n + i] = infc_template_slot(t, given.names[i]);
        }
        return infc_template_node(t, words, 2 + 2 * given.n, 2, given.n);
    }
    if (same(name, "dict") || same(name, "range") || same(name, "raise_exception") ||
        same(name, "cycler") || same(name, "joiner"))
        return wrong(t, "a function is not supported in this way, before");
    return infc_template_node(
        t, (const uint32_t[]){INFRT_OP_UNKNOWN, infc_template_place(t, name), (uint32_t)name.len}, 3, 1, 0);
}

/* ---- values ---------------------------------------------------------------------------------------------------- */

static uint32_t list(infc_template *t) {
    arguments items = {.n = 0};
    uint32_t words[2 + INFRT_CODE_ITEMS + 60] = {INFRT_OP_LIST};
    while (!take_sign(t, "]")) {
        if (items.n == sizeof items.values / sizeof *items.values)
            return wrong(t, "a list is too long");
        if (items.n && !need_sign(t, ",")) return 0;
        if (take_sign(t, "]")) break;
        if (!(items.values[items.n++] = infc_template_expression(t, true))) return 0;
    }
    words[1] = items.n;
    memcpy(words + 2, items.values, items.n * sizeof *words);
    return infc_template_node(t, words, 2 + items.n, 2, items.n);
}

static uint32_t number(infc_template *t, infc_bytes text) {
    uint64_t value = 0;
    for (size_t i = 0; i < text.len; i++) {
        if (text.ptr[i] < '0' || text.ptr[i] > '9' || text.len > 18)
            return wrong(t, "a number is not supported, before");
        value = 10 * value + (uint64_t)(text.ptr[i] - '0');
    }
    return infc_template_node(
        t, (const uint32_t[]){INFRT_OP_INT, (uint32_t)value, (uint32_t)(value >> 32)}, 3, 1, 0);
}

static uint32_t strings(infc_template *t) { /* those that stand beside each other are one */
    infc_buf all = {.arena = t->arena};
    for (; infc_template_now(t)->kind == INFC_TEMPLATE_STRING; t->at++)
        infc_buf_put(&all, infc_template_now(t)->text.ptr, infc_template_now(t)->text.len);
    return infc_template_constant(t, INFRT_OP_TEXT, infc_buf_bytes(&all));
}

static uint32_t word(infc_template *t, infc_bytes name) {
    static const struct {
        const char *name;
        uint32_t op, value;
    } known[] = {{"true", INFRT_OP_BOOL, 1},  {"True", INFRT_OP_BOOL, 1},
                 {"false", INFRT_OP_BOOL, 0}, {"False", INFRT_OP_BOOL, 0},
                 {"none", INFRT_OP_NONE, 0},  {"None", INFRT_OP_NONE, 0}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (same(name, known[i].name))
            return infc_template_node(t, (const uint32_t[]){known[i].op, known[i].value}, 2, 1, 0);
    if (take_sign(t, "(")) return named_call(t, name);
    return infc_template_node(t, (const uint32_t[]){INFRT_OP_NAME, infc_template_name(t, name)}, 2, 1, 0);
}

static uint32_t primary(infc_template *t) {
    const infc_template_token now = *infc_template_now(t);
    if (now.kind == INFC_TEMPLATE_STRING) return strings(t);
    if (now.kind == INFC_TEMPLATE_NAME || now.kind == INFC_TEMPLATE_NUMBER) {
        t->at++;
        return now.kind == INFC_TEMPLATE_NAME ? word(t, now.text) : number(t, now.text);
    }
    if (take_sign(t, "[")) return list(t);
    if (!take_sign(t, "(")) return wrong(t, "a value is expected where there is");
    const uint32_t inner = infc_template_expression(t, true);
    return inner && need_sign(t, ")") ? inner : 0;
}

/* ---- what follows a value -------------------------------------------------------------------------------------- */

/* One of start, stop, step, up to ":" or "]"; 0: it is left out. */
static uint32_t bound(infc_template *t) {
    return is_sign(t, ":") || is_sign(t, "]") ? 0 : infc_template_expression(t, true);
}

static uint32_t subscript(infc_template *t, uint32_t of) {
    uint32_t words[5] = {INFRT_OP_SLICE, of};
    words[2] = bound(t);
    if (!is_sign(t, ":")) {
        if (!need_sign(t, "]")) return 0;
        return of_two(t, INFRT_OP_ITEM, of, words[2]);
    }
    for (int i = 3; i < 5 && take_sign(t, ":"); i++) words[i] = bound(t);
    return need_sign(t, "]") && !t->why ? infc_template_node(t, words, 5, 1, 4) : 0;
}

static uint32_t attribute(infc_template *t, uint32_t of) {
    const infc_template_token now = *infc_template_now(t);
    if (now.kind != INFC_TEMPLATE_NAME)
        return wrong(t, "the name of an attribute is expected where there is");
    t->at++;
    if (is_sign(t, "(")) return call(t, of, now.text, true);
    return infc_template_node(t,
                              (const uint32_t[]){INFRT_OP_ATTR, of, infc_template_place(t, now.text),
                                                 (uint32_t)now.text.len, infc_template_slot(t, now.text)},
                              5, 1, 1);
}

static uint32_t postfix(infc_template *t, uint32_t value) {
    while (value) {
        if (take_sign(t, ".")) value = attribute(t, value);
        else if (take_sign(t, "[")) value = subscript(t, value);
        else if (is_sign(t, "(")) return wrong(t, "a call of a value is not supported");
        else break;
    }
    return value;
}

static uint32_t test(infc_template *t, uint32_t of) {
    static const struct {
        const char *name;
        int arguments;
    } tests[] = {
#define INFRT_X(id, name, arguments) {name, arguments},
        INFRT_CHAT_TESTS(INFRT_X)
#undef INFRT_X
    };
    const bool negated = take_word(t, "not");
    const infc_template_token now = *infc_template_now(t);
    uint32_t id = 0, argument = 0;
    while (id < INFRT_N_TESTS && !(now.kind == INFC_TEMPLATE_NAME && same(now.text, tests[id].name)))
        id++;
    if (id == INFRT_N_TESTS) return wrong(t, "this test is not supported");
    t->at++;
    if (is_word(t, "is")) return wrong(t, "a test of a test needs brackets, before");
    if (tests[id].arguments && !(argument = postfix(t, primary(t)))) return 0;
    const uint32_t node =
        infc_template_node(t, (const uint32_t[]){INFRT_OP_TEST, id, of, argument}, 4, 2, 2);
    return negated ? of_one(t, INFRT_OP_NOT, node) : node;
}

static uint32_t filters(infc_template *t, uint32_t value) {
    while (value) {
        if (take_sign(t, "|")) {
            const infc_template_token now = *infc_template_now(t);
            if (now.kind != INFC_TEMPLATE_NAME)
                return wrong(t, "the name of a filter is expected where there is");
            t->at++;
            value = call(t, value, now.text, false);
        } else if (take_word(t, "is")) value = test(t, value);
        else break;
    }
    return value;
}

/* ---- operators, the ones that bind most first ------------------------------------------------------------------ */

static uint32_t unary(infc_template *t) {
    int n = 0;
    while (take_sign(t, "-")) n++;
    uint32_t value = postfix(t, primary(t));
    for (; n > 0 && value; n--) value = of_one(t, INFRT_OP_NEG, value);
    return filters(t, value);
}

typedef struct operator {
    const char *sign;
    uint32_t op;
} operator;

static uint32_t op_of(infc_template *t, const operator *operators, size_t n) {
    for (size_t i = 0; i < n; i++)
        if (take_sign(t, operators[i].sign)) return operators[i].op;
    return 0;
}

static uint32_t product(infc_template *t) {
    static const operator operators[] = {{"*", INFRT_OP_MUL}, {"//", INFRT_OP_FLOOR}, {"%", INFRT_OP_MOD}};
    uint32_t value = unary(t), op;
    while (value && (op = op_of(t, operators, 3))) value = of_two(t, op, value, unary(t));
    if (value && (is_sign(t, "/") || is_sign(t, "**")))
        return wrong(t, "this operator is not supported");
    return value;
}

static uint32_t joined(infc_template *t) {
    uint32_t value = product(t);
    while (value && take_sign(t, "~")) value = of_two(t, INFRT_OP_JOIN, value, product(t));
    return value;
}

static uint32_t sum(infc_template *t) {
    static const operator operators[] = {{"+", INFRT_OP_ADD}, {"-", INFRT_OP_SUB}};
    uint32_t value = joined(t), op;
    while (value && (op = op_of(t, operators, 2))) value = of_two(t, op, value, joined(t));
    return value;
}

static uint32_t comparison(infc_template *t) {
    static const operator operators[] = {{"==", INFRT_OP_EQ}, {"!=", INFRT_OP_NE},
                                         {"<=", INFRT_OP_LE}, {">=", INFRT_OP_GE},
                                         {"<", INFRT_OP_LT},  {">", INFRT_OP_GT}};
    uint32_t value = sum(t), op;
    for (int n = 0; value; n++) {
        const infc_template_token *now = infc_template_now(t);
        const bool not_in = is_word(t, "not") && now[1].kind == INFC_TEMPLATE_NAME && same(now[1].text, "in");
        if (not_in) t->at++;
        op = take_word(t, "in") ? INFRT_OP_IN : op_of(t, operators, 6);
        if (!op) break;
        if (n > 0) return wrong(t, "a chain of comparisons is not supported, before");
        value = of_two(t, op, value, sum(t));
        if (not_in) value = of_one(t, INFRT_OP_NOT, value);
    }
    return value;
}

static uint32_t negation(infc_template *t) {
    int n = 0;
    while (take_word(t, "not")) n++;
    uint32_t value = comparison(t);
    for (; n > 0 && value; n--) value = of_one(t, INFRT_OP_NOT, value);
    return value;
}

static uint32_t conjunction(infc_template *t) {
    uint32_t value = negation(t);
    while (value && take_word(t, "and")) value = of_two(t, INFRT_OP_AND, value, negation(t));
    return value;
}

static uint32_t disjunction(infc_template *t) {
    uint32_t value = conjunction(t);
    while (value && take_word(t, "or")) value = of_two(t, INFRT_OP_OR, value, conjunction(t));
    return value;
}

/* Brackets within each other are what the parser recurses over. */
uint32_t infc_template_expression(infc_template *t, bool choices) {
    if (++t->nesting > INFRT_CODE_DEPTH)
        return wrong(t, "an expression is nested too deeply, before");
    uint32_t value = disjunction(t);
    while (value && choices && take_word(t, "if")) {
        const uint32_t condition = disjunction(t);
        uint32_t other = 0;
        if (condition && take_word(t, "else") && !(other = infc_template_expression(t, true)))
            return 0;
        value = condition ? infc_template_node(
                                t, (const uint32_t[]){INFRT_OP_CHOOSE, condition, value, other}, 4, 1, 3)
                          : 0;
    }
    t->nesting--;
    return value;
}
