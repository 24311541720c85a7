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
