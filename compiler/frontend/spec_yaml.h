/* spec_yaml.h - YAML as a small tree in which everything knows its place. A subset on purpose: one document,
 * text keys, each once; no anchors, aliases, tags. */
#ifndef INFC_SPEC_YAML_H
#define INFC_SPEC_YAML_H
#include "../base/cx.h"

typedef enum infc_yaml_kind { INFC_YAML_SCALAR, INFC_YAML_LIST, INFC_YAML_MAP } infc_yaml_kind;

typedef struct infc_yaml infc_yaml;

typedef struct infc_yaml_item {
    const char *key; /* null in a list */
    infc_loc key_loc;
    infc_yaml *value;
} infc_yaml_item;

struct infc_yaml {
    infc_yaml_kind kind;
    infc_loc loc;
    bool plain; /* a scalar without quotes */
    bool is_default;
    bool bad; /* a problem with it or inside it is recorded already */
    const char *text;
    infc_yaml_item *items;
    size_t n, cap;
    int64_t integer; /* what the check made of a scalar: the number, the index of a choice's value... */
    double number;
    const void *parsed; /* ... a target, labels, a regular expression */
};

/* Null when the text is no YAML or exceeds the limits; otherwise problems are recorded and marked bad. A
 * place given by `fixed` stands for all (null: file, line and column). An empty document is an empty map. */
infc_yaml *infc_yaml_parse(infc_cx *cx, const char *file, infc_bytes text, const infc_loc *fixed);

infc_yaml *infc_yaml_new(infc_cx *cx, infc_yaml_kind kind, infc_loc loc);
void infc_yaml_add(infc_cx *cx, infc_yaml *parent, const char *key, infc_loc key_loc, infc_yaml *value);
infc_yaml *infc_yaml_get(const infc_yaml *map, const char *key); /* or null */

/* `text` in quotes for a message: at most some 60 characters, nothing unprintable. */
const char *infc_yaml_quote(infc_cx *cx, const char *text);

#endif
