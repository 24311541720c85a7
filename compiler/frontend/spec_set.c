#include "spec_set.h"
#include "spec_check.h"
#include <string.h>

static const infc_loc set_loc = {.file = INFC_SPEC_SET_FILE};

static bool has_keys_below(const infc_spec_key *key) {
    for (size_t i = 0; i < infc_spec_key_count(); i++) {
        if (infc_spec_key_is_below(infc_spec_key_at(i), key)) return true;
    }
    return false;
}

/* How much of `path` is the next key. Names given by the user may have dots: there all but the last part is
 * the name where keys follow it, else all of it. */
static size_t next_part(const infc_spec_key *parent, const char *path) {
    if (!parent || parent->type != INFC_SPEC_names) return strcspn(path, ".");
    const infc_spec_key *key = infc_spec_key_below(parent, path);
    const char *last = strrchr(path, '.');
    return key->type == INFC_SPEC_map && has_keys_below(key) && last ? (size_t)(last - path) : strlen(path);
}

/* The child `key` of a map, made when it is not there. */
static infc_yaml *descend(infc_cx *cx, infc_yaml *map, const char *key) {
    infc_yaml *child = infc_yaml_get(map, key);
    if (child) return child;
    child = infc_yaml_new(cx, INFC_YAML_MAP, set_loc);
    infc_yaml_add(cx, map, key, set_loc, child);
    return child;
}

static void assign(infc_cx *cx, infc_yaml *map, const char *key, infc_yaml *value) {
    for (size_t i = 0; i < map->n; i++) {
        if (strcmp(map->items[i].key, key) != 0) continue;
        map->items[i].value = value;
        map->items[i].key_loc = set_loc;
        return;
    }
    infc_yaml_add(cx, map, key, set_loc, value);
}

/* The value is YAML, so that lists can be given; an empty document is no value. */
static infc_yaml *parse_value(infc_cx *cx, const char *text) {
    if (text[strspn(text, " ")]) {
        infc_bytes bytes = {(const uint8_t *)text, strlen(text)};
        return infc_yaml_parse(cx, INFC_SPEC_SET_FILE, bytes, &set_loc);
    }
    infc_yaml *nothing = infc_yaml_new(cx, INFC_YAML_SCALAR, set_loc);
    nothing->plain = true;
    return nothing;
}

void infc_spec_set_apply(infc_cx *cx, infc_yaml *root, const char *assignment) {
    const char *equals = strchr(assignment, '=');
    if (!equals || equals == assignment) {
        infc_fail(cx, INFC_ERR_SPEC, set_loc, "expected key=value, for example  --set precision.weights=int8; got %s",
                  infc_yaml_quote(cx, assignment));
        return;
    }
    char *path = infc_arena_copy_string(cx->arena, assignment, (size_t)(equals - assignment));
    infc_yaml *value = parse_value(cx, equals + 1);
    const infc_spec_key *key = NULL;
    infc_yaml *at = root;
    while (value && at->kind == INFC_YAML_MAP) {
        size_t n = next_part(key, path);
        const char *part = infc_arena_copy_string(cx->arena, path, n);
        if (n == 0) break;
        key = infc_spec_key_below(key, part);
        if (!path[n] || !key) { /* the check says what it thinks of an unknown key */
            assign(cx, at, part, value);
            return;
        }
        at = descend(cx, at, part);
        path += n + 1;
    }
    if (value) {
        infc_fail(cx, INFC_ERR_SPEC, set_loc, "%s: there is no such key to set", infc_yaml_quote(cx, assignment));
    }
}
