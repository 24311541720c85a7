/* template_lex.c - words of a template, as Jinja's lexer finds them with trim_blocks and lstrip_blocks: the line end
 * after a block goes, and so do the spaces before one that is first in its line. */
#include <string.h>
#include "../../../runtime/core/utf8.h"
#include "template_tokens.h"

typedef struct lexer {
    infc_template *t;
    const char *text, *at;
    int line;
    bool line_begins; /* what is at `at` is first in its line */
} lexer;

/* Bytes of the white space that a text begins with; 0: none. */
static size_t space(const char *text) {
    size_t length = 1;
    const uint32_t c = *text ? infrt_utf8_next(text, strlen(text) < 4 ? strlen(text) : 4, &length) : 0;
    const bool is = (c >= 9 && c <= 13) || (c >= 0x1c && c <= 0x20) || c == 0x85 || c == 0xa0 ||
                    c == 0x1680 || (c >= 0x2000 && c <= 0x200a) || c == 0x2028 || c == 0x2029 ||
                    c == 0x202f || c == 0x205f || c == 0x3000;
    return is ? length : 0;
}

static void move(lexer *x, size_t n) {
    for (; n > 0; n--) x->line += *x->at++ == '\n';
}

static void skip_spaces(lexer *x) {
    for (size_t n; (n = space(x->at)) > 0;) {
        x->line_begins = n == 1 && *x->at == '\n';
        move(x, n);
    }
}

static void add(lexer *x, infc_template_kind kind, const char *text, size_t n) {
    infc_template *t = x->t;
    INFC_GROW(t->arena, t->tokens, t->n_tokens, t->cap_tokens);
    t->tokens[t->n_tokens++] = (infc_template_token){kind, x->line, {(const uint8_t *)text, n}};
}

static const char *next_tag(const char *at) {
    for (; *at; at++)
        if (at[0] == '{' && (at[1] == '%' || at[1] == '{' || at[1] == '#')) break;
    return at;
}

/* How much of the text before a tag stays. */
static size_t kept(const lexer *x, size_t n, bool print, char sign) {
    if (sign == '-') {
        size_t last = 0;
        for (size_t i = 0, length; i < n; i += length) {
            length = space(x->at + i);
            if (length == 0) last = i + 1, length = 1;
        }
        return last;
    }
    if (sign == '+' || print) return n;
    size_t line = n, at;
    while (line > 0 && x->at[line - 1] != '\n') line--;
    if (line == 0 && !x->line_begins) return n;
    for (at = line; at < n;) {
        const size_t length = space(x->at + at);
        if (length == 0) return n;
        at += length;
    }
    return line;
}

/* "-%}" and all white space after it, "+%}", "%}" and one line end after it. Bytes before the white space; 0: none. */
static size_t tag_end(lexer *x, const char *end, bool trims) {
    const char sign = *x->at;
    const size_t signs = sign == '-' || (sign == '+' && trims);
    if (strncmp(x->at + signs, end, 2) != 0) return 0;
    x->line_begins = false;
    return signs + 2;
}

static void after_tag(lexer *x, size_t n, bool trims) {
    const char sign = *x->at;
    move(x, n);
    if (sign == '-') skip_spaces(x);
    else if (trims && sign != '+' && *x->at == '\n') {
        move(x, 1);
        x->line_begins = true;
    }
}

static bool comment(lexer *x) {
    const int line = x->line;
    for (; *x->at; move(x, 1)) {
        const size_t n = tag_end(x, "#}", true);
        if (n == 0) continue;
        after_tag(x, n, true);
        return true;
    }
    return infc_template_wrong(x->t, line, "a comment does not end");
}

static int hex(char c) {
    static const char digits[] = "0123456789abcdef0123456789ABCDEF";
    const char *found = c ? strchr(digits, c) : NULL;
    return found ? (int)((found - digits) % 16) : -1;
}

/* \xHH, \uHHHH, \UHHHHHHHH, \ooo as characters. Returns what it takes of the text; 0: it is no such escape. */
static size_t number_escape(const char *at, infc_buf *out) {
    const size_t digits = *at == 'x' ? 2 : *at == 'u' ? 4 : *at == 'U' ? 8 : 0;
    uint32_t c = 0;
    size_t n = 0;
    char bytes[4];
    for (; digits && n < digits; n++) {
        if (hex(at[1 + n]) < 0) return 0;
        c = c << 4 | (uint32_t)hex(at[1 + n]);
    }
    for (; !digits && n < 3 && at[n] >= '0' && at[n] <= '7'; n++)
        c = c * 8 + (uint32_t)(at[n] - '0');
    if (n == 0 || c > 0x10ffff || (c >= 0xd800 && c < 0xe000)) return 0;
    infc_buf_put(out, bytes, infrt_utf8_put(c, bytes));
    return digits ? n + 1 : n;
}

/* What follows a backslash; returns how many bytes it takes. */
static size_t escape(const char *at, infc_buf *out) {
    static const char plain[] = "abfnrtv\\'\"", meant[] = "\a\b\f\n\r\t\v\\'\"";
    const char *found = *at ? strchr(plain, *at) : NULL;
    if (found) {
        infc_buf_put(out, &meant[found - plain], 1);
        return 1;
    }
    if (*at == '\n') return 1;
    const size_t n = number_escape(at, out);
    if (n == 0) infc_buf_puts(out, "\\");
    return n;
}

static bool string(lexer *x) {
    infc_buf out = {.arena = x->t->arena};
    const char quote = *x->at;
    const int line = x->line;
    move(x, 1);
    while (*x->at && *x->at != quote) {
        size_t n = 1;
        if (*x->at == '\\') {
            move(x, 1);
            n = escape(x->at, &out);
        } else infc_buf_put(&out, x->at, 1);
        for (; n > 0 && *x->at; n--) move(x, 1);
    }
    if (!*x->at) return infc_template_wrong(x->t, line, "a string does not end");
    move(x, 1);
    add(x, INFC_TEMPLATE_STRING, infc_buf_str(&out), out.len);
    return true;
}

static bool is_name(char c, bool first) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || (!first && c >= '0' && c <= '9');
}

static size_t word_length(const char *at) {
    static const char *const two[] = {"==", "!=", "<=", ">=", "//", "**"};
    size_t n = 0;
    if (is_name(*at, true) || (*at >= '0' && *at <= '9')) {
        while (is_name(at[n], false)) n++;
        return n;
    }
    for (size_t i = 0; i < sizeof two / sizeof *two; i++)
        if (strncmp(at, two[i], 2) == 0) return 2;
    return strchr("()[]{},.:|~+-*/%=<>", *at) ? 1 : 0;
}

/* A word inside a tag. */
static bool word(lexer *x, int *brackets) {
    const char c = *x->at;
    if (c == '\'' || c == '"') return string(x);
    const size_t n = word_length(x->at);
    if (n == 0)
        return infc_template_wrong(x->t, x->line, "a character that does not belong there: \"%.*s\"",
                                   (int)strcspn(x->at, "\n") < 20 ? (int)strcspn(x->at, "\n") : 20, x->at);
    *brackets += strchr("([{", c) != NULL;
    *brackets -= strchr(")]}", c) != NULL;
    add(x,
        is_name(c, true)       ? INFC_TEMPLATE_NAME
        : c >= '0' && c <= '9' ? INFC_TEMPLATE_NUMBER
                               : INFC_TEMPLATE_SIGN,
        x->at, n);
    move(x, n);
    return true;
}

/* {% ... %} or {{ ... }}. */
static bool tag(lexer *x, bool print) {
    const char *end = print ? "}}" : "%}";
    const int line = x->line;
    int brackets = 0;
    add(x, print ? INFC_TEMPLATE_PRINT : INFC_TEMPLATE_BLOCK, "", 0);
    for (;;) {
        while (space(x->at)) move(x, space(x->at));
        if (!*x->at) return infc_template_wrong(x->t, line, "a tag does not end");
        const size_t n = brackets <= 0 ? tag_end(x, end, !print) : 0;
        if (n > 0) {
            add(x, print ? INFC_TEMPLATE_PRINT_END : INFC_TEMPLATE_BLOCK_END, "", 0);
            after_tag(x, n, !print);
            return true;
        }
        if (!word(x, &brackets)) return false;
    }
}

/* One kind of line end, and none at the very end. */
static const char *lines(infc_arena *arena, const char *text) {
    infc_buf out = {.arena = arena};
    for (; *text; text++) {
        if (*text == '\r' && text[1] == '\n') continue;
        infc_buf_put(&out, *text == '\r' ? "\n" : text, 1);
    }
    if (out.len && out.data[out.len - 1] == '\n') out.data[--out.len] = 0;
    return infc_buf_str(&out);
}

bool infc_template_lex(infc_template *t, const char *text) {
    lexer x = {.t = t, .line = 1, .line_begins = true};
    x.at = x.text = lines(t->arena, text);
    while (*x.at) {
        const char *found = next_tag(x.at);
        const size_t n = (size_t)(found - x.at);
        const char sign = *found ? found[2] : 0;
        const size_t stays = *found ? kept(&x, n, found[1] == '{', sign) : n;
        if (stays) add(&x, INFC_TEMPLATE_DATA, x.at, stays);
        move(&x, n);
        if (!*found) break;
        move(&x, sign == '-' || sign == '+' ? 3 : 2);
        x.line_begins = false;
        if (!(found[1] == '#' ? comment(&x) : tag(&x, found[1] == '{'))) return false;
    }
    add(&x, INFC_TEMPLATE_END, "", 0);
    return true;
}
