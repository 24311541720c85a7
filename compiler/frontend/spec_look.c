/* spec_look.c - values of a checked spec by key. */
#include "spec_fill.h"
#include <string.h>

infc_yaml *infc_spec_get(const infc_yaml *map, const char *key) {
    infc_yaml *node = map && map->kind == INFC_YAML_MAP ? infc_yaml_get(map, key) : NULL;
    return node && !node->bad ? node : NULL;
}

static const infc_yaml *get_any(const infc_yaml *map, const char *key, infc_yaml_kind kind) {
    static const infc_yaml none;
    const infc_yaml *node = map->kind == INFC_YAML_MAP ? infc_yaml_get(map, key) : NULL;
    return node && node->kind == kind ? node : &none;
}

const infc_yaml *infc_spec_get_map(const infc_yaml *map, const char *key) {
    return get_any(map, key, INFC_YAML_MAP);
}

const infc_yaml *infc_spec_get_list(const infc_yaml *map, const char *key) {
    return get_any(map, key, INFC_YAML_LIST);
}

bool infc_spec_is(const infc_yaml *node, const char *text) {
    return node && strcmp(node->text, text) == 0;
}

bool infc_spec_key_among(infc_arena *arena, const char *keys, const char *key) {
    return strstr(keys, infc_arena_printf(arena, " %s ", key)) != NULL;
}

void infc_spec_check_kind(infc_spec_check *check, const infc_spec_kind *kinds, const char *path,
                          infc_yaml_item *item) {
    infc_arena *arena = check->cx->arena;
    const infc_yaml *map = item->value, *kind = infc_spec_get(map, "kind");
    while (kinds->kind && !infc_spec_is(kind, kinds->kind)) kinds++;
    for (size_t i = 0; i < map->n && kinds->kind; i++) {
        const infc_yaml_item *key = &map->items[i];
        if (key->value->is_default || strcmp(key->key, "kind") == 0) continue;
        if (!infc_spec_key_among(arena, kinds->keys, key->key))
            infc_spec_problem(check, key->value,
                              infc_arena_printf(arena, "%s.%s.%s", path, item->key, key->key),
                              "is not a key of kind %s; remove it", kinds->kind);
    }
}
