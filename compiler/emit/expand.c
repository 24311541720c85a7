/* expand.c - the template language. A template is text with three additions:
 *
 *   ${expr}                        a name gives its text, anything else its integer value
 *   $for NAME in expr..expr        up to $end, once per integer; the second bound is excluded
 *   $if expr  $else  $end          non-zero is true
 *
 * Directives stand alone on their line. Expressions are integers, names, ( ), + - * / % and comparisons. The text
 * is split into lines once; run() walks a range of them and calls itself for the bodies of blocks. */
#include "expand.h"
#include <string.h>

enum { MAX_DEPTH = 16, MAX_TRIPS = 4096, MAX_OUTPUT = 16 << 20 };

typedef struct line {
    const char *text;
    size_t len;
} line;

typedef struct template {
    infc_cx *cx;
    const char *file;
    line *lines;
    size_t n_lines, cap_lines;
    infc_expand_var *vars; /* a stack: given ones, then loop variables */
    size_t n_vars, cap_vars;
    infc_buf *out;
} template;

/* An expression being read: [at, end) of line `row`. */
typedef struct cursor {
    template *t;
    size_t row;
    const char *at, *end;
    int depth;
} cursor;

static infc_status fail(const template *t, size_t row, const char *what, const char *text, size_t len) {
    infc_loc loc = {.file = t->file, .line = (int)row + 1};
    return infc_fail(t->cx, INFC_ERR_INTERNAL, loc, "%s: \"%.*s\"", what, (int)(len > 60 ? 60 : len), text);
}

/* ---- expressions ---------------------------------------------------------------------------------------- */

static bool is_name_char(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

static void skip_blanks(cursor *c) {
    while (c->at < c->end && *c->at == ' ') c->at++;
}

static bool take(cursor *c, const char *token) {
    size_t n = strlen(token);
    skip_blanks(c);
    if ((size_t)(c->end - c->at) < n || memcmp(c->at, token, n) != 0) return false;
    c->at += n;
    return true;
}

static size_t take_name(cursor *c, const char **out_name) {
    skip_blanks(c);
    *out_name = c->at;
    while (c->at < c->end && is_name_char(*c->at)) c->at++;
    return (size_t)(c->at - *out_name);
}

static const infc_expand_var *find(const template *t, const char *name, size_t n) {
    for (size_t i = t->n_vars; i-- > 0;)
        if (strlen(t->vars[i].name) == n && memcmp(t->vars[i].name, name, n) == 0)
            return &t->vars[i];
    return NULL;
}

static bool parse_integer(const char *text, size_t n, int64_t *out) {
    *out = 0;
    for (size_t i = 0; i < n; i++) {
        if (text[i] < '0' || text[i] > '9' || *out > 1000000000) return false;
        *out = *out * 10 + (text[i] - '0');
    }
    return n > 0;
}

static infc_status compare(cursor *c, int64_t *out);

static infc_status primary(cursor *c, int64_t *out) {
    if (c->depth >= MAX_DEPTH)
        return fail(c->t, c->row, "expression nested too deeply", c->at, (size_t)(c->end - c->at));
    c->depth++;
    if (take(c, "(")) {
        INFC_TRY(compare(c, out));
        if (!take(c, ")")) return fail(c->t, c->row, "missing )", c->at, (size_t)(c->end - c->at));
    } else if (take(c, "-")) {
        INFC_TRY(primary(c, out));
        *out = -*out;
    } else {
        const char *name;
        size_t n = take_name(c, &name);
        if (n == 0) return fail(c->t, c->row, "not an expression", c->at, (size_t)(c->end - c->at));
        if (!parse_integer(name, n, out)) {
            const infc_expand_var *var = find(c->t, name, n);
            if (!var) return fail(c->t, c->row, "unknown name", name, n);
            bool negative = var->text[0] == '-';
            if (!parse_integer(var->text + negative, strlen(var->text + negative), out))
                return fail(c->t, c->row, "not an integer", name, n);
            if (negative) *out = -*out;
        }
    }
    c->depth--;
    return INFC_OK;
}

static infc_status product(cursor *c, int64_t *out) {
    INFC_TRY(primary(c, out));
    for (;;) {
        int64_t right;
        char op = take(c, "*") ? '*' : take(c, "/") ? '/' : take(c, "%") ? '%' : '\0';
        if (!op) return INFC_OK;
        INFC_TRY(primary(c, &right));
        if (op != '*' && right <= 0)
            return fail(c->t, c->row, "divisor is not positive", c->at, (size_t)(c->end - c->at));
        if (op == '*' && __builtin_mul_overflow(*out, right, out))
            return fail(c->t, c->row, "product too large", c->at, (size_t)(c->end - c->at));
        if (op == '/') *out /= right;
        if (op == '%') *out %= right;
    }
}

static infc_status sum(cursor *c, int64_t *out) {
    INFC_TRY(product(c, out));
    for (;;) {
        int64_t right;
        char op = take(c, "+") ? '+' : take(c, "-") ? '-' : '\0';
        if (!op) return INFC_OK;
        INFC_TRY(product(c, &right));
        if (op == '+' ? __builtin_add_overflow(*out, right, out) : __builtin_sub_overflow(*out, right, out))
            return fail(c->t, c->row, "sum too large", c->at, (size_t)(c->end - c->at));
    }
}

static infc_status compare(cursor *c, int64_t *out) {
    static const char *const ops[] = {"==", "!=", "<=", ">=", "<", ">"};
    int64_t a, b;
    INFC_TRY(sum(c, &a));
    *out = a;
    for (int op = 0; op < 6; op++) {
        if (!take(c, ops[op])) continue;
        INFC_TRY(sum(c, &b));
        const bool results[] = {a == b, a != b, a <= b, a >= b, a<b, a> b};
        *out = results[op];
        break;
    }
    return INFC_OK;
}

/* ---- lines ---------------------------------------------------------------------------------------------- */

/* The directive of a line ("for", "if", "else", "end"), or none; c is left after it. */
static bool directive(template *t, size_t row, const char *name, cursor *c) {
    *c = (cursor){t, row, t->lines[row].text, t->lines[row].text + t->lines[row].len, 0};
    const char *word;
    if (!take(c, "$") || c->at == c->end || *c->at == '{') return false;
    size_t n = take_name(c, &word);
    return n == strlen(name) && memcmp(word, name, n) == 0;
}

static infc_status at_end(cursor *c) {
    skip_blanks(c);
    if (c->at != c->end) return fail(c->t, c->row, "left over", c->at, (size_t)(c->end - c->at));
    return INFC_OK;
}

/* The lines of the block that opens at `row`: its $else (or its $end) and its $end. */
static infc_status block_bounds(template *t, size_t row, size_t *out_else, size_t *out_end) {
    cursor c;
    int depth = 0;
    *out_else = 0;
    for (size_t i = row + 1; i < t->n_lines; i++) {
        if (directive(t, i, "for", &c) || directive(t, i, "if", &c)) depth++;
        if (directive(t, i, "else", &c) && depth == 0) *out_else = i;
        if (directive(t, i, "end", &c) && depth-- == 0) {
            *out_end = i;
            if (!*out_else) *out_else = i;
            return INFC_OK;
        }
    }
    return fail(t, row, "block without $end", t->lines[row].text, t->lines[row].len);
}

static infc_status substitute(template *t, size_t row) {
    const char *at = t->lines[row].text, *end = at + t->lines[row].len;
    while (at < end) {
        const char *dollar = memchr(at, '$', (size_t)(end - at));
        if (!dollar) dollar = end;
        infc_buf_put(t->out, at, (size_t)(dollar - at));
        at = dollar;
        if (at == end) break;
        const char *close = memchr(at, '}', (size_t)(end - at));
        if (end - at < 2 || at[1] != '{' || !close)
            return fail(t, row, "not ${expr}", at, (size_t)(end - at));
        const infc_expand_var *var = find(t, at + 2, (size_t)(close - at - 2));
        if (var) {
            infc_buf_puts(t->out, var->text);
        } else {
            int64_t value;
            cursor c = {t, row, at + 2, close, 0};
            INFC_TRY(compare(&c, &value));
            INFC_TRY(at_end(&c));
            infc_buf_printf(t->out, "%lld", (long long)value);
        }
        at = close + 1;
    }
    infc_buf_puts(t->out, "\n");
    if (t->out->len > MAX_OUTPUT) return fail(t, row, "output too large", t->file, strlen(t->file));
    return INFC_OK;
}

static infc_status run(template *t, size_t first, size_t last, int depth);

static infc_status run_for(template *t, cursor *c, size_t end, int depth) {
    const char *name;
    int64_t from, to;
    size_t n = take_name(c, &name);
    if (n == 0 || !take(c, "in "))
        return fail(t, c->row, "not $for NAME in a..b", name, (size_t)(c->end - name));
    INFC_TRY(compare(c, &from));
    if (!take(c, ".."))
        return fail(t, c->row, "not $for NAME in a..b", name, (size_t)(c->end - name));
    INFC_TRY(compare(c, &to));
    INFC_TRY(at_end(c));
    if (to > from && to - from > MAX_TRIPS) return fail(t, c->row, "loop too long", name, n);
    size_t row = c->row, var = t->n_vars;
    INFC_GROW(t->cx->arena, t->vars, t->n_vars, t->cap_vars);
    t->vars[t->n_vars++].name = infc_arena_copy_string(t->cx->arena, name, n);
    for (int64_t i = from; i < to; i++) {
        t->vars[var].text = infc_arena_printf(t->cx->arena, "%lld", (long long)i);
        INFC_TRY(run(t, row + 1, end, depth + 1));
    }
    t->n_vars--;
    return INFC_OK;
}

static infc_status run(template *t, size_t first, size_t last, int depth) {
    if (depth > MAX_DEPTH)
        return fail(t, first, "blocks nested too deeply", t->file, strlen(t->file));
    for (size_t row = first; row < last; row++) {
        cursor c;
        size_t otherwise, end;
        if (directive(t, row, "for", &c)) {
            INFC_TRY(block_bounds(t, row, &otherwise, &end));
            if (otherwise != end) return fail(t, otherwise, "$else in $for", "$else", 5);
            INFC_TRY(run_for(t, &c, end, depth));
            row = end;
        } else if (directive(t, row, "if", &c)) {
            int64_t value;
            INFC_TRY(block_bounds(t, row, &otherwise, &end));
            INFC_TRY(compare(&c, &value));
            INFC_TRY(at_end(&c));
            if (value) INFC_TRY(run(t, row + 1, otherwise, depth + 1));
            else INFC_TRY(run(t, otherwise + (otherwise < end), end, depth + 1));
            row = end;
        } else if (directive(t, row, "else", &c) || directive(t, row, "end", &c)) {
            return fail(t, row, "no block is open here", t->lines[row].text, t->lines[row].len);
        } else {
            INFC_TRY(substitute(t, row));
        }
    }
    return INFC_OK;
}

infc_status infc_expand(infc_cx *cx, const char *file, infc_bytes text, const infc_expand_var *vars,
                        size_t n_vars, infc_buf *out) {
    template t = {.cx = cx, .file = file, .out = out};
    const char *at = (const char *)text.ptr, *end = at + text.len;
    while (at < end) {
        const char *stop = memchr(at, '\n', (size_t)(end - at));
        if (!stop) stop = end;
        INFC_GROW(cx->arena, t.lines, t.n_lines, t.cap_lines);
        t.lines[t.n_lines++] = (line){at, (size_t)(stop - at)};
        at = stop < end ? stop + 1 : end;
    }
    for (size_t i = 0; i < n_vars; i++) {
        INFC_GROW(cx->arena, t.vars, t.n_vars, t.cap_vars);
        t.vars[t.n_vars++] = vars[i];
    }
    return run(&t, 0, t.n_lines, 0);
}
