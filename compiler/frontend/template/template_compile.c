/* template_compile.c - statements of a template, and the program that is made. */
#include "template.h"
#include <stdarg.h>
#include <string.h>
#include "template_tokens.h"

enum { MOST_BYTES = 1 << 20, MOST_SLOTS = 64, MOST_STATEMENTS = 4096 };

bool infc_template_wrong(infc_template *t, int line, const char *format, ...) {
    va_list args;
    if (t->why) return false;
    va_start(args, format);
    t->why = infc_arena_printf(t->arena, "line %d: %s", line, infc_arena_vprintf(t->arena, format, args));
    va_end(args);
    return false;
}

/* ---- words ----------------------------------------------------------------------------------------------------- */

const infc_template_token *infc_template_now(const infc_template *t) { return &t->tokens[t->at]; }

bool infc_template_is(const infc_template *t, infc_template_kind kind, const char *text) {
    const infc_template_token *now = infc_template_now(t);
    return now->kind == kind && now->text.len == strlen(text) &&
           memcmp(now->text.ptr, text, now->text.len) == 0;
}

bool infc_template_take(infc_template *t, infc_template_kind kind, const char *text) {
    const bool is = infc_template_is(t, kind, text);
    t->at += is;
    return is;
}

bool infc_template_need(infc_template *t, infc_template_kind kind, const char *text) {
    const infc_template_token *now = infc_template_now(t);
    if (infc_template_take(t, kind, text)) return true;
    return infc_template_wrong(t, now->line, "\"%s\" is expected where there is \"%.*s\"",
                               kind == INFC_TEMPLATE_BLOCK_END   ? "%}"
                               : kind == INFC_TEMPLATE_PRINT_END ? "}}"
                                                                 : text,
                               (int)(now->text.len < 40 ? now->text.len : 40),
                               (const char *)now->text.ptr);
}

/* ---- nodes ----------------------------------------------------------------------------------------------------- */

static uint32_t add_word(infc_template *t, uint32_t word) {
    INFC_GROW(t->arena, t->code, t->n_code, t->cap_code);
    INFC_GROW(t->arena, t->depth, t->n_code, t->cap_depth);
    t->code[t->n_code] = word;
    t->depth[t->n_code] = 0;
    return (uint32_t)t->n_code++;
}

uint32_t infc_template_node(infc_template *t, const uint32_t *words, size_t n, size_t children, size_t n_children) {
    uint32_t depth = 0;
    if (t->why) return 0;
    for (size_t i = 0; i < n_children; i++) {
        const uint32_t child = words[children + i];
        if (child && t->depth[child] > depth) depth = t->depth[child];
    }
    if (depth >= INFRT_CODE_DEPTH) {
        (void)infc_template_wrong(t, infc_template_now(t)->line, "what ends here is nested too deeply");
        return 0;
    }
    const uint32_t at = add_word(t, words[0]);
    for (size_t i = 1; i < n; i++) (void)add_word(t, words[i]);
    t->depth[at] = depth + 1;
    return at;
}

/* Equal texts are stored once. */
uint32_t infc_template_place(infc_template *t, infc_bytes text) {
    const char *key = infc_arena_copy_string(t->arena, (const char *)text.ptr, text.len);
    size_t at;
    const bool whole = strlen(key) == text.len;
    if (whole && infc_map_find(&t->constants, key, &at)) return (uint32_t)at;
    at = t->texts.len;
    infc_buf_put(&t->texts, text.ptr, text.len);
    if (whole) infc_map_put(&t->constants, key, at);
    return (uint32_t)at;
}

uint32_t infc_template_constant(infc_template *t, uint32_t op, infc_bytes text) {
    return infc_template_node(t, (const uint32_t[]){op, infc_template_place(t, text), (uint32_t)text.len},
                              3, 1, 0);
}

static uint32_t numbered(infc_template *t, infc_map *map, infc_bytes name) {
    const char *key = infc_arena_copy_string(t->arena, (const char *)name.ptr, name.len);
    size_t id = map->n;
    if (!infc_map_find(map, key, &id)) infc_map_put(map, key, id);
    return (uint32_t)id;
}

uint32_t infc_template_name(infc_template *t, infc_bytes name) {
    return numbered(t, &t->names, name);
}

uint32_t infc_template_slot(infc_template *t, infc_bytes name) {
    const uint32_t slot = numbered(t, &t->slots, name);
    if (slot >= MOST_SLOTS)
        (void)infc_template_wrong(t, infc_template_now(t)->line, "too many names of attributes");
    return slot;
}

/* ---- statements ------------------------------------------------------------------------------------------------ */

static uint32_t block(infc_template *t, const char *const *ends);

static bool is_word(const infc_template *t, const char *text) {
    return infc_template_is(t, INFC_TEMPLATE_NAME, text);
}
static bool take_word(infc_template *t, const char *text) {
    return infc_template_take(t, INFC_TEMPLATE_NAME, text);
}
static bool end_tag(infc_template *t) { return infc_template_need(t, INFC_TEMPLATE_BLOCK_END, ""); }

static bool variable(infc_template *t, uint32_t *id, infc_bytes *name) {
    const infc_template_token *now = infc_template_now(t);
    if (now->kind != INFC_TEMPLATE_NAME)
        return infc_template_wrong(t, now->line, "the name of a variable is expected");
    *id = infc_template_name(t, now->text);
    if (name) *name = now->text;
    t->at++;
    return true;
}

/* After a block that ended at one of its words: takes the word. */
static bool ends_with(infc_template *t, const char *word) {
    return take_word(t, word) && end_tag(t);
}

static uint32_t if_statement(infc_template *t) {
    static const char *const ends[] = {"endif", "elif", "else", NULL}, *const last[] = {"endif", NULL};
    enum { MOST = 64 };
    uint32_t words[3 + 2 * MOST] = {INFRT_OP_IF}, n = 0;
    do {
        if (n == MOST)
            return infc_template_wrong(t, infc_template_now(t)->line, "too many branches");
        if (!(words[2 + 2 * n] = infc_template_expression(t, true)) || !end_tag(t)) return 0;
        if (!(words[3 + 2 * n++] = block(t, ends))) return 0;
    } while (take_word(t, "elif"));
    words[1] = n;
    if (take_word(t, "else") && (!end_tag(t) || !(words[2 + 2 * n] = block(t, last)))) return 0;
    return ends_with(t, "endif") ? infc_template_node(t, words, 3 + 2 * n, 2, 2 * n + 1) : 0;
}

static uint32_t for_statement(infc_template *t) {
    static const char *const ends[] = {"endfor", "else", NULL}, *const last[] = {"endfor", NULL};
    uint32_t words[7] = {INFRT_OP_FOR, 0, INFRT_OP_NO_NAME};
    if (!variable(t, &words[1], NULL)) return 0;
    if (infc_template_take(t, INFC_TEMPLATE_SIGN, ",") && !variable(t, &words[2], NULL)) return 0;
    if (!infc_template_need(t, INFC_TEMPLATE_NAME, "in")) return 0;
    if (!(words[3] = infc_template_expression(t, false))) return 0;
    if (take_word(t, "if") && !(words[4] = infc_template_expression(t, true))) return 0;
    t->loops++;
    if (!end_tag(t) || !(words[5] = block(t, ends))) return 0;
    t->loops--;
    if (take_word(t, "else") && (!end_tag(t) || !(words[6] = block(t, last)))) return 0;
    return ends_with(t, "endfor") ? infc_template_node(t, words, 7, 3, 4) : 0;
}

static uint32_t set_statement(infc_template *t) {
    static const char *const ends[] = {"endset", NULL};
    uint32_t id, value;
    infc_bytes name;
    if (!variable(t, &id, &name)) return 0;
    if (infc_template_take(t, INFC_TEMPLATE_SIGN, ".")) {
        const infc_template_token attribute = *infc_template_now(t);
        const uint32_t space = infc_template_node(t, (const uint32_t[]){INFRT_OP_NAME, id}, 2, 1, 0);
        if (!variable(t, &id, NULL) || !infc_template_need(t, INFC_TEMPLATE_SIGN, "=") ||
            !(value = infc_template_expression(t, true)) || !end_tag(t))
            return 0;
        return infc_template_node(
            t, (const uint32_t[]){INFRT_OP_SET_ATTR, infc_template_slot(t, attribute.text), space, value},
            4, 2, 2);
    }
    if (infc_template_take(t, INFC_TEMPLATE_SIGN, "=")) {
        if (!(value = infc_template_expression(t, true)) || !end_tag(t)) return 0;
        return infc_template_node(t, (const uint32_t[]){INFRT_OP_SET, id, value}, 3, 2, 1);
    }
    if (!end_tag(t) || !(value = block(t, ends)) || !ends_with(t, "endset")) return 0;
    return infc_template_node(t, (const uint32_t[]){INFRT_OP_CAPTURE, id, value}, 3, 2, 1);
}

static uint32_t jump(infc_template *t, uint32_t op) {
    if (t->loops == 0)
        return infc_template_wrong(t, infc_template_now(t)->line, "outside of a loop");
    return end_tag(t) ? infc_template_node(t, &op, 1, 1, 0) : 0;
}

/* After "{%". */
static uint32_t statement(infc_template *t) {
    static const char *const generation[] = {"endgeneration", NULL};
    const infc_template_token *now = infc_template_now(t);
    if (take_word(t, "if")) return if_statement(t);
    if (take_word(t, "for")) return for_statement(t);
    if (take_word(t, "set")) return set_statement(t);
    if (take_word(t, "break")) return jump(t, INFRT_OP_BREAK);
    if (take_word(t, "continue")) return jump(t, INFRT_OP_CONTINUE);
    if (take_word(t, "generation")) { /* marks what an assistant says, for training */
        uint32_t inner = 0;
        return end_tag(t) && (inner = block(t, generation)) && ends_with(t, "endgeneration") ? inner : 0;
    }
    return infc_template_wrong(t, now->line, "{%% %.*s %%} is not supported",
                               (int)(now->text.len < 40 ? now->text.len : 40),
                               (const char *)now->text.ptr);
}

/* Text, a print or a statement; 0: a problem. */
static uint32_t piece(infc_template *t) {
    const infc_template_token now = *infc_template_now(t);
    t->at++;
    if (now.kind == INFC_TEMPLATE_DATA) return infc_template_constant(t, INFRT_OP_PUT, now.text);
    if (now.kind == INFC_TEMPLATE_BLOCK) return statement(t);
    const uint32_t value = infc_template_expression(t, true);
    if (!value || !infc_template_need(t, INFC_TEMPLATE_PRINT_END, "")) return 0;
    return infc_template_node(t, (const uint32_t[]){INFRT_OP_PRINT, value}, 2, 1, 1);
}

/* Whether a tag begins with one of `ends`, or the template ends where there are none. */
static bool at_end(const infc_template *t, const char *const *ends) {
    if (!*ends) return infc_template_now(t)->kind == INFC_TEMPLATE_END;
    if (infc_template_now(t)->kind != INFC_TEMPLATE_BLOCK) return false;
    const infc_template after = {.tokens = t->tokens, .at = t->at + 1};
    for (; *ends; ends++)
        if (is_word(&after, *ends)) return true;
    return false;
}

/* Up to a tag with one of `ends`, whose word is then next; the first of them is the one that must come at last. No
 * `ends`: up to the end of the template. */
static uint32_t block(infc_template *t, const char *const *ends) {
    uint32_t *words = NULL;
    size_t n = 0, cap = 0;
    const int line = t->at ? t->tokens[t->at - 1].line : 1;
    if (++t->nesting > INFRT_CODE_DEPTH)
        return infc_template_wrong(t, line, "statements are nested too deeply");
    for (int head = 0; head < 2; head++) {
        INFC_GROW(t->arena, words, n, cap);
        words[n++] = INFRT_OP_BLOCK;
    }
    while (!at_end(t, ends)) {
        if (infc_template_now(t)->kind == INFC_TEMPLATE_END)
            return infc_template_wrong(
                t, line, "{%% %s %%} is missing: a block begins here and does not end", *ends);
        INFC_GROW(t->arena, words, n, cap);
        if (n == MOST_STATEMENTS || !(words[n++] = piece(t)))
            return infc_template_wrong(t, line, "a block of too many statements");
    }
    t->at += *ends != NULL;
    t->nesting--;
    words[1] = (uint32_t)(n - 2);
    return infc_template_node(t, words, n, 2, n - 2);
}

/* ---- the program ----------------------------------------------------------------------------------------------- */

static infc_bytes bytes_of(const char *text) {
    return (infc_bytes){(const uint8_t *)text, strlen(text)};
}

/* Variables that are there from the beginning, those that the template names: they are set before it. */
static uint32_t prelude(infc_template *t, const infc_template_text *texts, size_t n_texts, uint32_t body) {
    static const struct {
        const char *name;
        uint32_t op;
    } known[] = {{"messages", INFRT_OP_MESSAGES},
                 {"add_generation_prompt", INFRT_OP_ANSWER},
                 {"tools", INFRT_OP_NONE},
                 {"documents", INFRT_OP_NONE}};
    enum { KNOWN = sizeof known / sizeof *known, ROOM = 16 };
    uint32_t words[3 + KNOWN + ROOM] = {INFRT_OP_BLOCK};
    size_t n = 2;
    for (size_t i = 0; i < KNOWN + (n_texts < ROOM ? n_texts : ROOM); i++) {
        const bool text = i >= KNOWN;
        const char *name = text ? texts[i - KNOWN].name : known[i].name;
        if (!infc_map_find(&t->names, name, NULL)) continue;
        const uint32_t value =
            text ? infc_template_constant(t, INFRT_OP_TEXT, bytes_of(texts[i - KNOWN].text))
                 : infc_template_node(t, &known[i].op, 1, 1, 0);
        words[n++] = infc_template_node(
            t, (const uint32_t[]){INFRT_OP_SET, infc_template_name(t, bytes_of(name)), value}, 3, 2, 1);
    }
    words[n++] = body;
    words[1] = (uint32_t)(n - 2);
    return infc_template_node(t, words, n, 2, n - 2);
}

infrt_chat infc_template_compile(infc_arena *arena, const char *text,
                                 const infc_template_text *texts, size_t n_texts) {
    static const char *const none[] = {NULL};
    infc_template t = {.arena = arena,
                       .texts = {.arena = arena},
                       .names = {.arena = arena},
                       .slots = {.arena = arena},
                       .constants = {.arena = arena}};
    uint32_t root = 0;
    for (int i = 0; i < INFRT_CODE_BEGIN; i++) (void)add_word(&t, 0);
    (void)infc_template_name(&t, bytes_of("loop")); /* name 0 */
    if (strlen(text) > MOST_BYTES)
        (void)infc_template_wrong(&t, 1, "a template of more than a mebibyte");
    else if (infc_template_lex(&t, text)) root = block(&t, none);
    if (root) root = prelude(&t, texts, n_texts, root);
    if (!root) return (infrt_chat){.why_not = t.why ? t.why : "the template is not understood"};
    if (t.names.n > INFRT_CODE_NAMES / 2)
        return (infrt_chat){.why_not = "the template has too many variables"};
    t.code[INFRT_CODE_ROOT] = root;
    t.code[INFRT_CODE_SLOTS] = (uint32_t)t.slots.n;
    return (infrt_chat){.code = t.code,
                        .n_code = (uint32_t)t.n_code,
                        .texts = infc_buf_str(&t.texts),
                        .n_texts = (uint32_t)t.texts.len};
}
