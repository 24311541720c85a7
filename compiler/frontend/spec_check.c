#include "spec_check.h"
#include "../base/map.h"
#include "../../targets/target.h"
#include <stdarg.h>
#include <string.h>

enum { MAX_PROBLEMS = 100, MAX_SIBLINGS = 64, MAX_NAME = 500 };

static void record(infc_spec_check *check, infc_status status, infc_yaml *node, const char *path,
                   const char *format, va_list args) {
    node->bad = true;
    if (check->n_problems >= MAX_PROBLEMS) return;
    const char *text = infc_arena_vprintf(check->cx->arena, format, args);
    infc_fail(check->cx, status, node->loc, "%s%s%s%s", path, *path ? ": " : "", text,
              ++check->n_problems == MAX_PROBLEMS ? "; further problems are not shown" : "");
}

void infc_spec_problem(infc_spec_check *check, infc_yaml *node, const char *path, const char *format, ...) {
    va_list args;
    va_start(args, format);
    record(check, INFC_ERR_SPEC, node, path, format, args);
    va_end(args);
}

void infc_spec_unreadable(infc_spec_check *check, infc_yaml *node, const char *path, const char *format, ...) {
    va_list args;
    va_start(args, format);
    record(check, INFC_ERR_IO, node, path, format, args);
    va_end(args);
}

static bool is_nothing(const infc_yaml *node) {
    return node->kind == INFC_YAML_SCALAR && node->plain &&
           (!*node->text || strcmp(node->text, "~") == 0 || strcmp(node->text, "null") == 0);
}

void infc_spec_problem_expected(infc_spec_check *check, const infc_spec_key *key, const char *path,
                                infc_yaml *node) {
    const char *example = infc_spec_key_example(key);
    const char *got = node->kind == INFC_YAML_LIST  ? "a list"
                      : node->kind == INFC_YAML_MAP ? "a map"
                      : is_nothing(node)            ? "nothing"
                                                    : infc_yaml_quote(check->cx, node->text);
    infc_spec_problem(check, node, path, "expected %s%s%s; got %s", infc_spec_type_name(key->type),
                      *example ? ", for example " : "", example, got);
}

typedef struct siblings {
    const char *names[MAX_SIBLINGS];
    size_t n;
    infc_buf list; /* "a, b, c" */
} siblings;

static void sibling_add(siblings *s, const char *name) {
    if (s->n == MAX_SIBLINGS) return;
    s->names[s->n++] = name;
    infc_buf_printf(&s->list, "%s%s", s->list.len ? ", " : "", name);
}

static void unknown_key(infc_spec_check *check, const infc_spec_key *parent, const char *path,
                        infc_yaml_item *item) {
    siblings known = {.list = {.arena = check->cx->arena}};
    const char *elsewhere = NULL;
    for (size_t i = 0; i < infc_spec_key_count(); i++) {
        const infc_spec_key *key = infc_spec_key_at(i);
        if (infc_spec_key_is_below(key, parent)) sibling_add(&known, infc_spec_key_leaf(key));
        else if (!elsewhere && strcmp(infc_spec_key_leaf(key), item->key) == 0)
            elsewhere = key->path;
    }
    const char *nearest = infc_nearest(item->key, known.names, known.n);
    const char *quoted = infc_yaml_quote(check->cx, item->key);
    infc_yaml place = {.loc = item->key_loc};
    if (nearest) {
        infc_spec_problem(check, &place, path, "unknown key %s; did you mean \"%s\"?", quoted, nearest);
    } else if (elsewhere) {
        infc_spec_problem(check, &place, path, "unknown key %s here; did you mean %s?", quoted, elsewhere);
    } else {
        infc_spec_problem(check, &place, path, "unknown key %s; known here: %s", quoted,
                          infc_buf_str(&known.list));
    }
}

static const char *path_below(infc_spec_check *check, const char *path, const char *name) {
    if (strlen(name) > 100) name = "...";
    return infc_arena_printf(check->cx->arena, "%s%s%s", path, *path ? "." : "", name);
}

static void check_one(infc_spec_check *check, const infc_spec_key *key, const char *path, infc_yaml *node);

/* A choice that stands in the list already. Targets are compared by what they name; numbers may be equal. */
static void warn_doubled(infc_spec_check *check, const infc_spec_key *key, const char *path,
                         const infc_yaml *list) {
    if (key->type != INFC_SPEC_choice) return;
    infc_map seen = {.arena = check->cx->arena};
    for (size_t i = 0; i < list->n; i++) {
        const infc_yaml *node = list->items[i].value;
        if (node->bad) continue;
        if (infc_map_find(&seen, node->text, NULL))
            infc_warn(check->cx, node->loc, INFC_SPEC_DOUBLED, path, node->text);
        infc_map_put(&seen, node->text, 0);
    }
}

/* A key of form `some` holds a list afterwards, whatever the user wrote. */
static void check_some(infc_spec_check *check, const infc_spec_key *key, const char *path, infc_yaml_item *item) {
    infc_yaml *node = item->value;
    if (node->kind != INFC_YAML_LIST) {
        infc_yaml *list = infc_yaml_new(check->cx, INFC_YAML_LIST, node->loc);
        list->is_default = node->is_default;
        infc_yaml_add(check->cx, list, NULL, node->loc, node);
        item->value = list;
    } else if (node->n == 0 && key->type != INFC_SPEC_map) {
        infc_spec_problem(check, node, path, "the list is empty; expected at least one, for example %s",
                          infc_spec_key_example(key));
    }
    for (size_t i = 0; i < item->value->n; i++) {
        check_one(check, key, path, item->value->items[i].value);
        item->value->bad |= item->value->items[i].value->bad;
    }
    warn_doubled(check, key, path, item->value);
}

static void check_item(infc_spec_check *check, const infc_spec_key *parent, const char *path,
                       infc_yaml *map, infc_yaml_item *item) {
    const infc_spec_key *key = infc_spec_key_below(parent, item->key);
    const char *below = path_below(check, path, item->key);
    infc_yaml place = {.loc = item->key_loc};
    if (parent && parent->type == INFC_SPEC_names && strlen(item->key) > MAX_NAME) {
        infc_spec_problem(check, &place, path, "a name of more than %d bytes", MAX_NAME);
        item->value->bad = true;
    } else if (!key) {
        unknown_key(check, parent, path, item);
        item->value->bad = true;
    } else if (!key->done) {
        infc_spec_problem(check, &place, below, "not implemented yet; remove it");
        item->value->bad = true;
    } else if (key->many) {
        check_some(check, key, below, item);
    } else {
        check_one(check, key, below, item->value);
    }
    map->bad |= item->value->bad;
}

static infc_yaml *default_of(infc_spec_check *check, const infc_spec_key *key, infc_loc loc) {
    if (key->type == INFC_SPEC_map || key->type == INFC_SPEC_names) {
        return infc_yaml_new(check->cx, key->many ? INFC_YAML_LIST : INFC_YAML_MAP, loc);
    }
    if (!*key->fallback) return NULL;
    return infc_yaml_parse(check->cx, NULL,
                           (infc_bytes){(const uint8_t *)key->fallback, strlen(key->fallback)}, &loc);
}

/* Missing keys: required ones are problems, others get their defaults. */
static void complete(infc_spec_check *check, const infc_spec_key *parent, const char *path, infc_yaml *map) {
    for (size_t i = 0; i < infc_spec_key_count(); i++) {
        const infc_spec_key *key = infc_spec_key_at(i);
        const char *leaf = infc_spec_key_leaf(key);
        if (!infc_spec_key_is_below(key, parent) || !key->done || *leaf == '*') continue;
        if (infc_yaml_get(map, leaf)) continue;
        if (key->required) {
            const char *example = infc_spec_key_example(key);
            infc_spec_problem(check, map, path, "key \"%s\" is missing; add it%s%s%s%s", leaf,
                              *example ? ", for example  " : "", *example ? leaf : "",
                              *example ? ": " : "", example);
            continue;
        }
        infc_yaml *value = default_of(check, key, map->loc);
        if (!value) continue;
        value->is_default = true;
        infc_yaml_add(check->cx, map, leaf, map->loc, value);
    }
}

static void check_map(infc_spec_check *check, const infc_spec_key *key, const char *path, infc_yaml *node) {
    bool names = key && key->type == INFC_SPEC_names;
    if (!names && !node->bad) complete(check, key, path, node);
    for (size_t i = 0; i < node->n; i++) check_item(check, key, path, node, &node->items[i]);
}

static void check_one(infc_spec_check *check, const infc_spec_key *key, const char *path, infc_yaml *node) {
    bool wants_map = key->type == INFC_SPEC_map || key->type == INFC_SPEC_names;
    bool may_be_map = wants_map || key->type == INFC_SPEC_target || key->type == INFC_SPEC_dim;
    if (node->bad && node->kind == INFC_YAML_SCALAR) return;
    if (is_nothing(node)) {
        infc_spec_problem(check, node, path, "has no value; write one or remove the key");
        return;
    }
    if (node->kind == INFC_YAML_MAP && may_be_map) check_map(check, key, path, node);
    else if (wants_map) infc_spec_problem_expected(check, key, path, node);
    if (!wants_map && !node->bad) infc_spec_check_value(check, key, path, node);
}

void infc_spec_check_root(infc_spec_check *check, infc_yaml *root) {
    if (root->kind != INFC_YAML_MAP) {
        if (!root->bad)
            infc_spec_problem(check, root, "", "a spec is a map of keys, for example  model: model.onnx");
        return;
    }
    check_map(check, NULL, "", root);
}
