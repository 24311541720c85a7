#include "options.h"
#include "../base/map.h"
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_OPTIONS = 32 };

typedef struct parser {
    infc_cx *cx;
    const char *command;
    const infc_option *options;
    size_t n_options;
    infc_args *args;
    size_t cap_operands;
    uint32_t given; /* bit i: option i was given */
} parser;

static infc_status refuse_option(const parser *p, const char *name, size_t length, const char *shown) {
    const char *names[MAX_OPTIONS + 1] = {"help"};
    size_t n = 1;
    for (size_t i = 0; i < p->n_options; i++) names[n++] = p->options[i].name;
    const char *text = infc_arena_copy_string(p->cx->arena, name, length);
    const char *nearest = infc_nearest(text, names, n);
    return infc_fail(p->cx, INFC_ERR_SPEC, INFC_NO_LOC, "unknown option %s%s%s; see infc %s --help",
                     shown, nearest ? "; nearest: --" : "", nearest ? nearest : "", p->command);
}

static const infc_option *find_long(const parser *p, const char *name, size_t length) {
    for (size_t i = 0; i < p->n_options; i++) {
        const char *known = p->options[i].name;
        if (strlen(known) == length && memcmp(known, name, length) == 0) return &p->options[i];
    }
    return NULL;
}

static const infc_option *find_letter(const parser *p, char letter) {
    for (size_t i = 0; i < p->n_options; i++) {
        if (p->options[i].letter == letter) return &p->options[i];
    }
    return NULL;
}

static infc_status store_number(parser *p, const infc_option *o, const char *value) {
    char *end;
    errno = 0;
    double number = strtod(value, &end);
    if (end == value || *end || errno || !(number > 0) || isinf(number)) {
        return infc_fail(p->cx, INFC_ERR_SPEC, INFC_NO_LOC, "--%s: \"%s\" is not a number above 0",
                         o->name, value);
    }
    *(double *)(void *)((char *)p->args->values + o->offset) = number;
    return INFC_OK;
}

static infc_status store(parser *p, const infc_option *o, const char *value) {
    void *field = (char *)p->args->values + o->offset;
    uint32_t bit = 1u << (o - p->options);
    bool again = p->given & bit;
    p->given |= bit;
    switch (o->kind) {
    case INFC_OPTION_FLAG: *(bool *)field = true; return INFC_OK;
    case INFC_OPTION_LIST: {
        infc_texts *list = field;
        INFC_GROW(p->cx->arena, list->items, list->n, list->cap);
        list->items[list->n++] = value;
        return INFC_OK;
    }
    case INFC_OPTION_TEXT:
    case INFC_OPTION_NUMBER: break;
    }
    if (again) {
        return infc_fail(p->cx, INFC_ERR_SPEC, INFC_NO_LOC, "--%s is given twice; give it once", o->name);
    }
    if (o->kind == INFC_OPTION_NUMBER) return store_number(p, o, value);
    *(const char **)field = value;
    return INFC_OK;
}

/* One option at argv[i]; returns how many words it took. */
static int parse_option(parser *p, int argc, char **argv, int i) {
    const char *word = argv[i];
    bool is_long = word[1] == '-';
    const char *name = is_long ? word + 2 : word + 1;
    size_t length = is_long ? strcspn(name, "=") : 1;
    const char *inline_value = is_long && name[length] == '=' ? name + length + 1 : NULL;
    const infc_option *o = is_long ? find_long(p, name, length) : find_letter(p, *name);
    if (!is_long && name[1]) o = NULL; /* -ofile and -abc are not spelled that way here */
    if (!o) {
        refuse_option(p, name, is_long ? length : strlen(name), word);
        return 1;
    }
    if (o->kind == INFC_OPTION_FLAG) {
        if (inline_value)
            infc_fail(p->cx, INFC_ERR_SPEC, INFC_NO_LOC, "--%s takes no value", o->name);
        store(p, o, NULL);
        return 1;
    }
    const char *value = inline_value ? inline_value : i + 1 < argc ? argv[i + 1] : NULL;
    bool looks_like_option =
        value && !inline_value && value[0] == '-' && value[1] && !isdigit((unsigned char)value[1]);
    if (!value || !*value || looks_like_option) {
        infc_fail(p->cx, INFC_ERR_SPEC, INFC_NO_LOC, "%s needs a value: --%s %s", word, o->name, o->value);
        return value && !*value && !inline_value ? 2 : 1;
    }
    store(p, o, value);
    return inline_value ? 1 : 2;
}

infc_status infc_args_parse(infc_cx *cx, const char *command, const infc_option *options,
                            size_t n_options, int argc, char **argv, infc_args *out) {
    parser p = {.cx = cx, .command = command, .options = options, .n_options = n_options, .args = out};
    size_t mark = cx->n_diags;
    bool only_operands = false;
    for (int i = 0; i < argc && strcmp(argv[i], "--") != 0; i++) {
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0) {
            out->help = true;
            return INFC_OK;
        }
    }
    for (int i = 0; i < argc;) {
        if (!only_operands && strcmp(argv[i], "--") == 0) {
            only_operands = true;
            i++;
        } else if (only_operands || argv[i][0] != '-' || !argv[i][1]) {
            INFC_GROW(cx->arena, out->operands, out->n_operands, p.cap_operands);
            out->operands[out->n_operands++] = argv[i++];
        } else {
            i += parse_option(&p, argc, argv, i);
        }
    }
    return infc_diags_status(cx, mark);
}

void infc_options_help(const infc_option *options, size_t n_options, infc_buf *out) {
    enum { COLUMN = 26 };
    for (size_t i = 0; i < n_options; i++) {
        const infc_option *o = &options[i];
        size_t start = out->len;
        if (o->letter) infc_buf_printf(out, "  -%c, --%s", o->letter, o->name);
        else infc_buf_printf(out, "  --%s", o->name);
        if (o->value) infc_buf_printf(out, " %s", o->value);
        int width = (int)(out->len - start);
        if (width < COLUMN) infc_buf_indent(out, COLUMN - width);
        else {
            infc_buf_puts(out, "\n");
            infc_buf_indent(out, COLUMN);
        }
        for (const char *line = o->help; *line;) {
            size_t length = strcspn(line, "\n");
            infc_buf_put(out, line, length);
            infc_buf_puts(out, "\n");
            line += length;
            if (*line) {
                line++;
                infc_buf_indent(out, COLUMN);
            }
        }
    }
}
