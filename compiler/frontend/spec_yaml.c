/* libyaml events become nodes by recursive descent; MAX_DEPTH bounds the recursion, MAX_NODES and MAX_BYTES
 * the memory. */
#include "spec_yaml.h"
#include "../base/map.h"
#include <string.h>
#include <yaml.h>

enum {
    MAX_BYTES = 4 << 20,
    MAX_NODES = 200000,
    MAX_DEPTH = 32,
    QUOTE_MAX = 60,
    MAX_PROBLEMS = 100
};

typedef struct reader {
    infc_cx *cx;
    const char *file;
    infc_bytes text;
    const infc_loc *fixed;
    size_t n_nodes, n_problems;
    yaml_parser_t parser; /* both are zero when there is nothing to delete */
    yaml_event_t event;
} reader;

static void reader_release(void *handle) {
    reader *r = handle;
    yaml_event_delete(&r->event);
    yaml_parser_delete(&r->parser);
}

static infc_loc loc_at(const reader *r, size_t line, size_t column) {
    if (r->fixed) return *r->fixed;
    return (infc_loc){.file = r->file, .line = (int)line + 1, .col = (int)column + 1};
}

static infc_loc loc_of(const reader *r, yaml_mark_t mark) {
    return loc_at(r, mark.line, mark.column);
}

infc_yaml *infc_yaml_new(infc_cx *cx, infc_yaml_kind kind, infc_loc loc) {
    infc_yaml *node = INFC_NEW(cx->arena, infc_yaml, 1);
    node->kind = kind;
    node->loc = loc;
    node->text = "";
    return node;
}

void infc_yaml_add(infc_cx *cx, infc_yaml *parent, const char *key, infc_loc key_loc, infc_yaml *value) {
    INFC_GROW(cx->arena, parent->items, parent->n, parent->cap);
    parent->items[parent->n++] = (infc_yaml_item){key, key_loc, value};
}

infc_yaml *infc_yaml_get(const infc_yaml *map, const char *key) {
    for (size_t i = 0; i < map->n; i++) {
        if (map->items[i].key && strcmp(map->items[i].key, key) == 0) return map->items[i].value;
    }
    return NULL;
}

const char *infc_yaml_quote(infc_cx *cx, const char *text) {
    infc_buf out = {.arena = cx->arena};
    size_t n = strlen(text), shown = n > QUOTE_MAX ? QUOTE_MAX : n;
    /* no half character */
    while (shown > 0 && shown < n && ((unsigned char)text[shown] & 0xc0) == 0x80) shown--;
    infc_buf_json_string(&out, infc_arena_copy_string(cx->arena, text, shown));
    if (shown < n) infc_buf_puts(&out, "...");
    return infc_buf_str(&out);
}

/* The tab in the white space that line `line` begins with; its column, or -1. */
static int leading_tab(infc_bytes text, size_t line) {
    const uint8_t *p = text.ptr, *end = text.ptr + text.len;
    for (; line > 0 && p < end; p++) line -= *p == '\n';
    for (int column = 0; p < end && (*p == ' ' || *p == '\t'); p++, column++) {
        if (*p == '\t') return column;
    }
    return -1;
}

static infc_status fail_unreadable(reader *r) {
    size_t line = 0, column = 0;
    for (size_t i = 0; i < r->parser.problem_offset && i < r->text.len; i++) {
        column = r->text.ptr[i] == '\n' ? 0 : column + 1;
        line += r->text.ptr[i] == '\n';
    }
    return infc_fail(r->cx, INFC_ERR_SPEC, loc_at(r, line, column),
                     "this byte is not text (%s); save the spec as UTF-8", r->parser.problem);
}

static infc_status fail_syntax(reader *r) {
    const yaml_parser_t *p = &r->parser;
    if (p->error == YAML_MEMORY_ERROR) {
        return infc_fail(r->cx, INFC_ERR_NO_MEMORY, INFC_NO_LOC, "not enough memory to read the spec");
    }
    if (p->error == YAML_READER_ERROR) return fail_unreadable(r);
    int tab = leading_tab(r->text, p->problem_mark.line);
    if (tab >= 0) {
        return infc_fail(r->cx, INFC_ERR_SPEC, loc_at(r, p->problem_mark.line, (size_t)tab),
                         "a tab in the indentation; YAML allows only spaces there");
    }
    const char *problem = p->problem ? p->problem : "syntax error";
    if (!p->context) {
        return infc_fail(r->cx, INFC_ERR_SPEC, loc_of(r, p->problem_mark), "not YAML: %s", problem);
    }
    return infc_fail(r->cx, INFC_ERR_SPEC, loc_of(r, p->problem_mark), "not YAML: %s, %s that begins in line %zu",
                     problem, p->context, p->context_mark.line + 1);
}

static infc_status next_event(reader *r) {
    if (r->n_problems >= MAX_PROBLEMS) {
        return infc_fail(r->cx, INFC_ERR_SPEC, loc_of(r, r->event.start_mark),
                         "too many problems; the rest is not read");
    }
    yaml_event_delete(&r->event);
    return yaml_parser_parse(&r->parser, &r->event) ? INFC_OK : fail_syntax(r);
}

/* Records a problem that is no reason to stop; after a hundred it is one. */
static void refuse(reader *r, infc_yaml *node, const char *what) {
    node->bad = true;
    if (r->n_problems++ < MAX_PROBLEMS) infc_fail(r->cx, INFC_ERR_SPEC, node->loc, "%s", what);
}

static void refuse_decoration(reader *r, infc_yaml *node, const yaml_char_t *anchor, const yaml_char_t *tag) {
    if (anchor)
        refuse(r, node, "anchors (&name) are not supported in a spec; write the value out where it is used");
    else if (tag) refuse(r, node, "tags (!name) are not supported in a spec; remove it");
}

static infc_status read_node(reader *r, size_t depth, infc_yaml **out);

static infc_status read_list(reader *r, size_t depth, infc_yaml *node) {
    for (;;) {
        infc_yaml *value;
        INFC_TRY(next_event(r));
        if (r->event.type == YAML_SEQUENCE_END_EVENT) return INFC_OK;
        INFC_TRY(read_node(r, depth, &value));
        infc_yaml_add(r->cx, node, NULL, value->loc, value);
    }
}

static infc_status read_map(reader *r, size_t depth, infc_yaml *node) {
    infc_map seen = {.arena = r->cx->arena};
    for (;;) {
        infc_yaml *key, *value;
        size_t line;
        INFC_TRY(next_event(r));
        if (r->event.type == YAML_MAPPING_END_EVENT) return INFC_OK;
        INFC_TRY(read_node(r, depth, &key));
        INFC_TRY(next_event(r));
        INFC_TRY(read_node(r, depth, &value));
        if (key->bad) continue;
        if (key->kind != INFC_YAML_SCALAR || !*key->text) {
            refuse(r, key, "a key must be text, for example  name: digits");
        } else if (infc_map_find(&seen, key->text, &line)) {
            const char *first = line ? infc_arena_printf(r->cx->arena, ", first in line %zu", line) : "";
            refuse(r, key,
                   infc_arena_printf(r->cx->arena, "key %s is given twice%s; remove one",
                                     infc_yaml_quote(r->cx, key->text), first));
            node->bad = true;
        } else {
            infc_map_put(&seen, key->text, (size_t)key->loc.line);
            infc_yaml_add(r->cx, node, key->text, key->loc, value);
        }
    }
}

static void read_scalar(reader *r, infc_yaml *node) {
    size_t n = r->event.data.scalar.length;
    node->plain = r->event.data.scalar.style == YAML_PLAIN_SCALAR_STYLE;
    node->text = infc_arena_copy_string(r->cx->arena, (const char *)r->event.data.scalar.value, n);
    if (strlen(node->text) != n) refuse(r, node, "text must not contain the character \\0");
}

/* The node that the current event begins. */
static infc_status read_node(reader *r, size_t depth, infc_yaml **out) {
    infc_loc loc = loc_of(r, r->event.start_mark);
    if (depth > MAX_DEPTH)
        return infc_fail(r->cx, INFC_ERR_SPEC, loc, "nested deeper than %d levels", MAX_DEPTH);
    if (++r->n_nodes > MAX_NODES) {
        return infc_fail(r->cx, INFC_ERR_SPEC, loc, "more than %d values; a spec is not for data", MAX_NODES);
    }
    infc_yaml *node = *out = infc_yaml_new(r->cx, INFC_YAML_SCALAR, loc);
    switch (r->event.type) {
    case YAML_SCALAR_EVENT:
        refuse_decoration(r, node, r->event.data.scalar.anchor, r->event.data.scalar.tag);
        read_scalar(r, node);
        return INFC_OK;
    case YAML_SEQUENCE_START_EVENT:
        node->kind = INFC_YAML_LIST;
        refuse_decoration(r, node, r->event.data.sequence_start.anchor, r->event.data.sequence_start.tag);
        return read_list(r, depth + 1, node);
    case YAML_MAPPING_START_EVENT:
        node->kind = INFC_YAML_MAP;
        refuse_decoration(r, node, r->event.data.mapping_start.anchor, r->event.data.mapping_start.tag);
        return read_map(r, depth + 1, node);
    default:
        refuse(r, node, "aliases (*name) are not supported in a spec; write the value out");
        return INFC_OK;
    }
}

static infc_status read_document(reader *r, infc_yaml **out) {
    *out = infc_yaml_new(r->cx, INFC_YAML_MAP, loc_at(r, 0, 0));
    INFC_TRY(next_event(r)); /* stream start */
    INFC_TRY(next_event(r));
    if (r->event.type == YAML_STREAM_END_EVENT) return INFC_OK;
    INFC_TRY(next_event(r)); /* the document's first */
    INFC_TRY(read_node(r, 0, out));
    INFC_TRY(next_event(r)); /* document end */
    INFC_TRY(next_event(r));
    if (r->event.type == YAML_STREAM_END_EVENT) return INFC_OK;
    return infc_fail(r->cx, INFC_ERR_SPEC, loc_of(r, r->event.start_mark),
                     "a second document begins here; a spec is one document");
}

infc_yaml *infc_yaml_parse(infc_cx *cx, const char *file, infc_bytes text, const infc_loc *fixed) {
    reader *r = INFC_NEW(cx->arena, reader, 1);
    if (text.len >= 3 && memcmp(text.ptr, "\xef\xbb\xbf", 3) == 0) { /* a byte order mark */
        text.ptr += 3;
        text.len -= 3;
    }
    *r = (reader){.cx = cx, .file = file, .text = text, .fixed = fixed};
    if (text.len > MAX_BYTES) {
        infc_fail(cx, INFC_ERR_SPEC, loc_at(r, 0, 0),
                  "%zu bytes are too many for a spec; the limit is %d", text.len, MAX_BYTES);
        return NULL;
    }
    infc_arena_defer(cx->arena, reader_release, r);
    if (!yaml_parser_initialize(&r->parser)) {
        infc_fail(cx, INFC_ERR_NO_MEMORY, INFC_NO_LOC, "not enough memory to read the spec");
        return NULL;
    }
    yaml_parser_set_encoding(&r->parser, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(&r->parser, text.ptr, text.len);
    infc_yaml *root;
    infc_status status = read_document(r, &root);
    reader_release(r);
    return status == INFC_OK ? root : NULL;
}
