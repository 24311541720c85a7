/* template_tokens.h - a template as words, and what compiling it shares. */
#ifndef INFC_TEMPLATE_TOKENS_H
#define INFC_TEMPLATE_TOKENS_H
#include "../../../runtime/text/chat_code.h"
#include "../../base/buf.h"
#include "../../base/map.h"
#include "template.h"

typedef enum infc_template_kind {
    INFC_TEMPLATE_END, /* of the template */
    INFC_TEMPLATE_DATA,
    INFC_TEMPLATE_BLOCK, /* {% */
    INFC_TEMPLATE_BLOCK_END,
    INFC_TEMPLATE_PRINT, /* {{ */
    INFC_TEMPLATE_PRINT_END,
    INFC_TEMPLATE_NAME,
    INFC_TEMPLATE_STRING, /* its escapes are resolved */
    INFC_TEMPLATE_NUMBER,
    INFC_TEMPLATE_SIGN /* text: "(", "==", ... */
} infc_template_kind;

typedef struct infc_template_token {
    infc_template_kind kind;
    int line;
    infc_bytes text;
} infc_template_token;

typedef struct infc_template {
    infc_arena *arena;
    const char *why; /* the first problem; null: none */
    infc_template_token *tokens;
    size_t n_tokens, cap_tokens, at;
    uint32_t *code, *depth; /* depth: of the node that begins there */
    size_t n_code, cap_code, cap_depth;
    int nesting, loops; /* around what is being parsed */
    infc_buf texts;
    infc_map names, slots, constants; /* constants: where a text is */
} infc_template;

/* Records the problem unless there is one; returns false. */
bool infc_template_wrong(infc_template *t, int line, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* template_lex.c */
bool infc_template_lex(infc_template *t, const char *text);

const infc_template_token *infc_template_now(const infc_template *t);
bool infc_template_is(const infc_template *t, infc_template_kind kind, const char *text);
bool infc_template_take(infc_template *t, infc_template_kind kind, const char *text); /* if it is that */
bool infc_template_need(infc_template *t, infc_template_kind kind, const char *text);

/* A node; operands from `children` on, `n_children` of them, are nodes themselves. 0 when there is a problem. */
uint32_t infc_template_node(infc_template *t, const uint32_t *words, size_t n, size_t children, size_t n_children);
uint32_t infc_template_constant(infc_template *t, uint32_t op, infc_bytes text); /* TEXT or PUT */
uint32_t infc_template_name(infc_template *t, infc_bytes name);
uint32_t infc_template_slot(infc_template *t, infc_bytes name);
uint32_t infc_template_place(infc_template *t, infc_bytes text); /* in texts */

/* template_expr.c: 0 when there is a problem. `choices`: "a if b else c" may be it. */
uint32_t infc_template_expression(infc_template *t, bool choices);

#endif
