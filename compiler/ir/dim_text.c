/* dim_text.c - expressions and sizes as text, and back; and as C. */
#include "dim_node.h"
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* ---- printing ------------------------------------------------------------------------------------- */

static void put_node(infc_buf *out, const infc_dim_node *node, const char *const *names);

static void put_floor(infc_buf *out, const infc_dim_atom *atom, const char *const *names) {
    const infc_dim_node *over = infc_dim_node_of(atom->over);
    /* C rounds towards zero: shifted until there is nothing below it. */
    int64_t shift = names && over->least < 0 ? (-over->least + atom->by - 1) / atom->by : 0;
    infc_buf_puts(out, shift ? "(((" : "((");
    put_node(out, over, names);
    if (shift) infc_buf_printf(out, " + %lld", (long long)(shift * atom->by));
    infc_buf_printf(out, names ? ") / %lld)" : ")/%lld)", (long long)atom->by);
    if (shift) infc_buf_printf(out, " - %lld)", (long long)shift);
}

static void put_term(infc_buf *out, const infc_dim_term *term, uint64_t factor, const char *const *names) {
    bool whole[INFC_DIM_MAX_ATOMS] = {false}, first = true;
    for (int i = 0; i < term->n && !names; i++) { /* 32*(height/32) reads height */
        const infc_dim_atom *atom = term->atoms[i];
        uint64_t step = atom->size < 0 ? 1 : (uint64_t)atom->sizes->items[atom->size].step;
        whole[i] = factor % step == 0;
        if (whole[i]) factor /= step;
    }
    if (factor != 1) {
        infc_buf_printf(out, "%llu", (unsigned long long)factor);
        first = false;
    }
    for (int i = 0; i < term->n; i++) {
        const infc_dim_atom *atom = term->atoms[i];
        if (!first) infc_buf_puts(out, names ? " * " : "*");
        first = false;
        if (atom->size < 0) {
            put_floor(out, atom, names);
            continue;
        }
        const infc_size *size = &atom->sizes->items[atom->size];
        if (names) infc_buf_puts(out, names[atom->size]);
        else if (whole[i]) infc_buf_puts(out, size->name);
        else infc_buf_printf(out, "(%s/%lld)", size->name, (long long)size->step);
    }
}

static void put_node(infc_buf *out, const infc_dim_node *node, const char *const *names) {
    for (int i = 0; i < node->n; i++) {
        int64_t factor = node->terms[i].factor;
        if (i > 0) infc_buf_puts(out, factor < 0 ? " - " : " + ");
        else if (factor < 0) infc_buf_puts(out, "-");
        put_term(out, &node->terms[i], factor < 0 ? 0 - (uint64_t)factor : (uint64_t)factor, names);
    }
    if (node->constant > 0) infc_buf_printf(out, " + %lld", (long long)node->constant);
    if (node->constant < 0) infc_buf_printf(out, " - %llu", 0 - (unsigned long long)node->constant);
}

static const char *text_of(infc_arena *arena, int64_t dim, const char *const *names) {
    if (!infc_dim_open(dim)) return infc_arena_printf(arena, "%lld", (long long)dim);
    infc_buf out = {.arena = arena};
    put_node(&out, infc_dim_node_of(dim), names);
    return infc_buf_str(&out);
}

const char *infc_dim_text(infc_arena *arena, int64_t dim) { return text_of(arena, dim, NULL); }

const char *infc_dim_c(infc_arena *arena, int64_t dim, const char *const *names) {
    return text_of(arena, dim, names);
}

/* ---- parsing -------------------------------------------------------------------------------------- */

typedef struct parser {
    infc_dim_find *find;
    void *user;
    const char *at;
    int depth;
} parser;

static void skip_blanks(parser *p) {
    while (*p->at == ' ') p->at++;
}

static bool take(parser *p, char c) {
    skip_blanks(p);
    if (*p->at != c) return false;
    p->at++;
    return true;
}

static bool parse_number(const char **at, int64_t *out) {
    char *end;
    errno = 0;
    if (!isdigit((unsigned char)**at)) return false;
    *out = strtoll(*at, &end, 10);
    *at = end;
    return errno == 0;
}

static size_t name_length(const char *text) {
    size_t n = 0;
    if (isdigit((unsigned char)text[0]) || text[0] == '.') return 0;
    while (isalnum((unsigned char)text[n]) || text[n] == '_' || text[n] == '.') n++;
    return n;
}

static bool parse_sum(parser *p, int64_t *out);

static bool parse_factor(parser *p, int64_t *out) {
    if (take(p, '(')) {
        if (++p->depth > 4 * INFC_DIM_MAX_DEPTH) return false;
        bool ok = parse_sum(p, out) && take(p, ')');
        p->depth--;
        return ok;
    }
    size_t n = name_length(p->at);
    if (n == 0) return parse_number(&p->at, out);
    if (!p->find(p->user, p->at, n, out)) return false;
    p->at += n;
    return true;
}

static bool parse_product(parser *p, int64_t *out) {
    int64_t by;
    if (!parse_factor(p, out)) return false;
    for (;;) {
        if (take(p, '*')) {
            if (!parse_factor(p, &by)) return false;
            *out = infc_dim_mul(*out, by);
        } else if (take(p, '/')) {
            if (!parse_factor(p, &by) || infc_dim_open(by) || by < 1) return false;
            *out = infc_dim_floor(*out, by);
        } else {
            return true;
        }
    }
}

static bool parse_sum(parser *p, int64_t *out) {
    int64_t part;
    bool minus = take(p, '-');
    if (!parse_product(p, out)) return false;
    if (minus) *out = infc_dim_sub(0, *out);
    for (;;) {
        minus = take(p, '-');
        if (!minus && !take(p, '+')) return true;
        if (!parse_product(p, &part)) return false;
        *out = minus ? infc_dim_sub(*out, part) : infc_dim_add(*out, part);
    }
}

bool infc_dim_parse_names(infc_dim_find *find, void *user, const char *text, int64_t *out) {
    parser p = {.find = find, .user = user, .at = text};
    if (!parse_sum(&p, out)) return false;
    skip_blanks(&p);
    return *p.at == '\0' && *out != INFC_DIM_BAD;
}

static bool find_size(void *user, const char *text, size_t n, int64_t *out) {
    const infc_sizes *sizes = user;
    for (int i = 0; i < sizes->n; i++) {
        const char *name = sizes->items[i].name;
        if (strlen(name) != n || memcmp(name, text, n) != 0) continue;
        *out = sizes->dims[i];
        return true;
    }
    return false;
}

bool infc_dim_parse(infc_sizes *sizes, const char *text, int64_t *out) {
    return infc_dim_parse_names(find_size, sizes, text, out);
}

/* ---- sizes ---------------------------------------------------------------------------------------- */

const char *infc_size_text(infc_arena *arena, const infc_size *size) {
    const char *range = infc_arena_printf(arena, "%s: %lld..%lld", size->name, (long long)size->min,
                                          (long long)size->max);
    return size->step == 1 ? range : infc_arena_printf(arena, "%s by %lld", range, (long long)size->step);
}

bool infc_size_parse(infc_arena *arena, const char *text, infc_size *out) {
    size_t n = name_length(text);
    const char *at = text + n;
    *out = (infc_size){.name = infc_arena_copy_string(arena, text, n), .step = 1};
    if (n == 0 || strncmp(at, ": ", 2) != 0) return false;
    at += 2;
    if (!parse_number(&at, &out->min) || strncmp(at, "..", 2) != 0) return false;
    at += 2;
    if (!parse_number(&at, &out->max)) return false;
    if (strncmp(at, " by ", 4) == 0) {
        at += 4;
        if (!parse_number(&at, &out->step)) return false;
    }
    bool whole = out->step >= 1 && out->min % out->step == 0 && out->max % out->step == 0;
    return *at == '\0' && whole && out->min >= 1 && out->min < out->max && out->max <= INT64_C(1) << 40;
}
